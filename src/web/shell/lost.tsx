/** The pages for an unknown address and for a page that failed. */
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { Button, buttonLook } from '../ground/ui/button.tsx'
import { PageHeader } from '../ground/ui/page.tsx'
import { RefusalNote } from '../ground/ui/refusal.tsx'
import { Door } from '../people/accounts/door.tsx'

const NOT_FOUND = {
  title: 'Page not found',
  words: 'The address may be mistyped, or the object it names was removed.',
} as const

const ToOverview = () => (
  <Link to="/" className={buttonLook('plain')}>
    To the overview
  </Link>
)

/** Outside of the dashboard's frame. */
export function NotFound() {
  return (
    <Door {...NOT_FOUND}>
      <ToOverview />
    </Door>
  )
}

/** The same within the dashboard's frame. */
export function NotFoundInside() {
  return (
    <>
      <PageHeader {...NOT_FOUND} />
      <ToOverview />
    </>
  )
}

export function PageFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  return (
    <div className="mx-auto flex max-w-lg flex-col items-start gap-4 px-4 py-16">
      <h1 className="text-2xl">This page could not be opened</h1>
      <RefusalNote
        refused={error instanceof Error ? error : new Error('The page failed for an unknown reason')}
        className="w-full"
      />
      <Button
        onClick={() => {
          reset()
          void router.invalidate()
        }}
      >
        Try again
      </Button>
    </div>
  )
}
