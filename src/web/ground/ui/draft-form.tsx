/** The form of a dialog that saves a draft: the fields, the save error, and Cancel beside the button. */
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { FieldValues, UseFormReturn } from 'react-hook-form'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { reasonAgainst, useActive } from '../active.ts'
import { DialogBody, DialogForm, SaveFoot } from './dialog.tsx'
import { submits } from './draft.ts'
import { useRefresh } from './refresh.ts'
import { RefusalNote } from './refusal.tsx'

type DraftFormProps<Values extends FieldValues, Request, Saved> = {
  form: UseFormReturn<Values, unknown, Request>
  /** What the button says. */
  action: string
  /** The endpoint that `deed` calls. People who may not call it see a disabled button with the reason. */
  endpoint: Endpoint
  deed: (request: Request) => Promise<Saved>
  /** The endpoints that show what was saved. They are read again before the dialog closes. */
  refresh: readonly Endpoint[]
  onClose: () => void
  /** Called after the dialog is closed: notifies, or opens what was saved. */
  onSaved: (saved: Saved) => void
  className?: string
  children: ReactNode
}

export function DraftForm<Values extends FieldValues, Request, Saved>(props: DraftFormProps<Values, Request, Saved>) {
  const { form, action, endpoint, deed, refresh, onClose, onSaved, className, children } = props
  const { role } = useActive()
  const again = useRefresh()
  const save = useMutation({
    mutationFn: deed,
    // The request may hold a secret, so it is not cached once the dialog is closed.
    gcTime: 0,
    onSuccess: async saved => {
      await again(...refresh)
      onClose()
      onSaved(saved)
    },
  })
  return (
    <DialogForm onSubmit={submits(form, request => save.mutate(request))}>
      <DialogBody {...(className === undefined ? {} : { className })}>
        {children}
        <RefusalNote refused={save.error} />
      </DialogBody>
      <SaveFoot action={action} pending={save.isPending} reason={reasonAgainst(endpoint, role)} onCancel={onClose} />
    </DialogForm>
  )
}
