/** The form of one part of a page: its fields, a refusal where it happened, and the deed below. */
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { RefusalNote } from './refusal.tsx'

type PartFormProps = {
  /** What the button says. */
  action: string
  onSubmit: () => void
  save: { isPending: boolean; error: Error | null }
  /** Why it may not be saved: its fields are shown, and cannot be changed. */
  reason: string | undefined
  children: ReactNode
}

export function PartForm({ action, onSubmit, save, reason, children }: PartFormProps) {
  return (
    <form
      noValidate
      onSubmit={event => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <fieldset disabled={reason !== undefined} className="flex min-w-0 flex-col gap-4">
        {children}
        <RefusalNote refused={save.error} />
        <Button type="submit" look="primary" className="self-start" pending={save.isPending} reason={reason}>
          {action}
        </Button>
      </fieldset>
    </form>
  )
}
