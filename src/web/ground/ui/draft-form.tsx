/** The form of a dialog that saves a draft: the fields, a refusal where it happened, and Cancel beside the deed. */
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { FieldValues, UseFormReturn } from 'react-hook-form'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { reasonAgainst, useActive } from '../active.ts'
import { DialogBody, DialogForm, SaveFoot } from './dialog.tsx'
import { submits } from './draft.ts'
import { useRefresh } from './refresh.ts'
import { RefusalNote } from './refusal.tsx'

type DraftFormProps<In extends FieldValues, Saved> = {
  form: UseFormReturn<In, unknown, In>
  /** What the button says. */
  action: string
  /** The endpoint that `deed` calls: who may not call it cannot press the button and is told why. */
  endpoint: Endpoint
  deed: (typed: In) => Promise<Saved>
  /** What shows the saved, and is read anew before the dialog closes. */
  refresh: readonly Endpoint[]
  onClose: () => void
  /** After the dialog is closed: tells the news, or goes where the saved is. */
  onSaved: (saved: Saved) => void
  className?: string
  children: ReactNode
}

export function DraftForm<In extends FieldValues, Saved>(props: DraftFormProps<In, Saved>) {
  const { form, action, endpoint, deed, refresh, onClose, onSaved, className, children } = props
  const { role } = useActive()
  const again = useRefresh()
  const save = useMutation({
    mutationFn: deed,
    // What was typed may be a secret, and is of no use once the dialog is closed.
    gcTime: 0,
    onSuccess: async saved => {
      await again(...refresh)
      onClose()
      onSaved(saved)
    },
  })
  return (
    <DialogForm onSubmit={submits(form, typed => save.mutate(typed))}>
      <DialogBody {...(className === undefined ? {} : { className })}>
        {children}
        <RefusalNote refused={save.error} />
      </DialogBody>
      <SaveFoot action={action} pending={save.isPending} reason={reasonAgainst(endpoint, role)} onCancel={onClose} />
    </DialogForm>
  )
}
