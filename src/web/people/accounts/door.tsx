/** The frame of the pages before the dashboard: first run, sign-in, invitation, password. */
import { type ReactNode, useEffect } from 'react'
import { Wordmark } from '../../ground/ui/mark.tsx'

export function Door({ title, words, children }: { title: string; words?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Sluice`
  }, [title])
  return (
    <div className="relative isolate flex min-h-dvh flex-col overflow-hidden">
      <Water />
      <main className="mx-auto flex w-full max-w-[25rem] flex-1 flex-col justify-center px-4 py-10 pb-36">
        <div className="mb-7">
          <Wordmark />
        </div>
        <h1 className="text-2xl tracking-tight">{title}</h1>
        {words !== undefined && <p className="mt-1 text-ink-soft">{words}</p>}
        <div className="mt-5">{children}</div>
      </main>
    </div>
  )
}

/** The picture of a sluice gate at the foot of the page. */
function Water() {
  return (
    <svg
      aria-hidden
      viewBox="0 0 1440 180"
      preserveAspectRatio="xMidYMax slice"
      className="absolute inset-x-0 bottom-0 -z-10 h-32 w-full"
      fill="none"
    >
      <path d="M0 70c60-9 120-9 180 0s120 9 180 0 120-9 180 0 120 9 180 0V180H0z" className="fill-accent/25" />
      <path d="M720 128c60-7 120-7 180 0s120 7 180 0 120-7 180 0 120 7 180 0V180H720z" className="fill-accent/25" />
      <path d="M0 100c60-9 120-9 180 0s120 9 180 0 120-9 180 0 120 9 180 0V180H0z" className="fill-accent/20" />
      <path d="M720 146c60-7 120-7 180 0s120 7 180 0 120-7 180 0 120 7 180 0V180H720z" className="fill-accent/20" />
      <path d="M712 34h16v92h-16z" className="fill-ink" />
      <path d="M706 14v166M734 14v166" className="stroke-ink" strokeWidth="5" strokeLinecap="round" />
    </svg>
  )
}

export function FormStack({
  onSubmit,
  children,
}: {
  onSubmit: (event: React.SyntheticEvent) => void
  children: ReactNode
}) {
  return (
    <form noValidate onSubmit={onSubmit} className="flex flex-col gap-4 [&_.control]:h-9 [&_button[type=submit]]:h-9">
      {children}
    </form>
  )
}
