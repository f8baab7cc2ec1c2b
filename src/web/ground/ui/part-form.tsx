/** The form of one part of a page: its fields, the save error, and the button below. */
import { clsx } from 'clsx'
import type { ReactNode, SyntheticEvent } from 'react'
import { Button } from './button.tsx'
import { RefusalNote } from './refusal.tsx'

type PartFormProps = {
  /** What the button says. */
  action: string
  onSubmit: (event: SyntheticEvent) => void
  save: { isPending: boolean; error: Error | null }
  /** Why it may not be saved: its fields are shown, but cannot be changed. */
  reason?: string | undefined
  className?: string
  children: ReactNode
}

export function PartForm({ action, onSubmit, save, reason, className, children }: PartFormProps) {
  return (
    <form
      noValidate
      className={clsx('flex min-w-0 flex-col gap-4', className)}
      onSubmit={event => {
        event.preventDefault()
        onSubmit(event)
      }}
    >
      <fieldset disabled={reason !== undefined} className="flex min-w-0 flex-col gap-4">
        {children}
      </fieldset>
      <RefusalNote refused={save.error} />
      {/* Outside of the fieldset, so that the keyboard reaches its reason. */}
      <Button type="submit" look="primary" className="self-start" pending={save.isPending} reason={reason}>
        {action}
      </Button>
    </form>
  )
}
