/** The parts of a page: header, sections, settings, empty states, and the states of a query. */
import { clsx } from 'clsx'
import { type LucideIcon, SearchX } from 'lucide-react'
import { type ReactNode, useEffect, useId } from 'react'
import { Refused } from '../call.ts'
import { Button } from './button.tsx'
import { RefusalNote } from './refusal.tsx'

export function PageHeader({ title, words, children }: { title: string; words?: ReactNode; children?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Sluice`
  }, [title])
  return (
    <header className="mb-5 flex flex-wrap items-end gap-x-6 gap-y-3">
      <div className="min-w-0 flex-1 basis-64">
        <h1 className="text-2xl tracking-tight">{title}</h1>
        {words !== undefined && <p className="mt-0.5 max-w-prose text-ink-soft">{words}</p>}
      </div>
      {children !== undefined && (
        // On a phone the controls of one line fill it.
        <div className="flex flex-wrap items-end gap-2 max-sm:w-full max-sm:[&>:not(:only-child)]:grow">{children}</div>
      )}
    </header>
  )
}

/** A titled part of a page. */
export function Section({
  title,
  words,
  aside,
  children,
  className,
}: {
  title: string
  words?: ReactNode
  aside?: ReactNode
  children: ReactNode
  className?: string
}) {
  const id = useId()
  return (
    <section aria-labelledby={id} className={clsx('mb-8', className)}>
      <div className="mb-2.5 flex flex-wrap items-end gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-56">
          <h2 id={id} className="text-lg">
            {title}
          </h2>
          {words !== undefined && <p className="max-w-prose text-ink-soft">{words}</p>}
        </div>
        {aside}
      </div>
      {children}
    </section>
  )
}

/** A section of settings: words on the left, the form in a card on the right. */
export function Setting({
  title,
  words,
  children,
  danger,
  wide,
}: {
  title: string
  words?: ReactNode
  children: ReactNode
  danger?: boolean
  /** For a table, which is wider than a form. */
  wide?: boolean
}) {
  const id = useId()
  return (
    <section
      aria-labelledby={id}
      className="grid gap-x-10 gap-y-3 border-t border-line py-6 lg:grid-cols-[16rem_minmax(0,1fr)]"
    >
      <div>
        <h2 id={id} className={clsx('text-lg', danger && 'text-bad')}>
          {title}
        </h2>
        {words !== undefined && <p className="mt-1 text-ink-soft">{words}</p>}
      </div>
      <div className={clsx('min-w-0', wide ? 'max-w-4xl' : 'max-w-2xl')}>{children}</div>
    </section>
  )
}

export function EmptyState({
  icon: Icon,
  title,
  words,
  children,
}: {
  icon: LucideIcon
  title: string
  words?: ReactNode
  children?: ReactNode
}) {
  return (
    <div className="flex flex-col items-center rounded-lg border border-dashed border-line-strong/50 px-6 py-10 text-center">
      <Icon aria-hidden className="mb-3 size-6 text-accent" strokeWidth={1.5} />
      <p className="font-semibold">{title}</p>
      {words !== undefined && <p className="mt-1 max-w-md text-ink-soft">{words}</p>}
      {children !== undefined && <div className="mt-4 flex gap-2">{children}</div>}
    </div>
  )
}

/** A grey placeholder while something loads. */
export function Waiting({ className = 'h-40' }: { className?: string }) {
  return (
    <output
      aria-label="Loading"
      className={clsx('block rounded-lg bg-sunken', className)}
      style={{ animation: 'sheen 1.4s ease-in-out infinite' }}
    />
  )
}

/** Shown if the address names an object that this workspace does not have. */
function NotHere({ what }: { what: string }) {
  return (
    <EmptyState
      icon={SearchX}
      title={`This ${what} was not found`}
      words="It was deleted, or it is in another of your workspaces: choose that workspace in the menu, then open the address again."
    />
  )
}

type Query<T> = { data: T | undefined; error: Error | null; refetch?: () => unknown; isFetching?: boolean }

type LoadedProps<T> = {
  query: Query<T>
  /** The page title shown with an error, if `children` would have shown one. */
  title?: string
  /** What is loaded, such as "offer", if a heading stands above already. */
  what?: string
  waiting?: ReactNode
  children: (data: T) => ReactNode
}

/** A query's state: a placeholder while it loads, its error, or `children` with its data. */
export function Loaded<T>({ query, title, what = title?.toLowerCase(), waiting, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data)
  if (query.error === null) return waiting ?? <Waiting />
  if (what !== undefined && query.error instanceof Refused && query.error.status === 404)
    return (
      <>
        {title !== undefined && <PageHeader title={title} />}
        <NotHere what={what} />
      </>
    )
  const isPassing = query.error instanceof Refused && (query.error.status === 0 || query.error.status >= 500)
  return (
    <>
      {title !== undefined && <PageHeader title={title} />}
      <RefusalNote refused={query.error} />
      {isPassing && query.refetch !== undefined && (
        <Button className="mt-3" pending={query.isFetching} onClick={() => void query.refetch?.()}>
          Try again
        </Button>
      )}
    </>
  )
}
