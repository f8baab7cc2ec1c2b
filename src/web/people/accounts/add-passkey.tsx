/**
 * The dialog that adds a passkey: it asks for a name and opens the browser's own dialog. A person's first second factor also yields
 * recovery codes, which are shown here.
 */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { z } from 'zod'
import { PasskeyDraft } from '../../../people/second-factor/api.ts'
import { Refused } from '../../ground/call.ts'
import { DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { useFactorRefresh } from './factor.ts'
import { makePasskey, registerPasskey } from './passkey.ts'
import { CodesDialog } from './recovery-codes.tsx'

const Draft = z.object({ name: PasskeyDraft.shape.name, password: z.string() })
type DraftFields = z.input<typeof Draft>

export function AddPasskey({ onClose }: { onClose: () => void }) {
  const refreshFactors = useFactorRefresh()
  const end = () => {
    onClose()
    void refreshFactors()
  }
  const form = useDraft<DraftFields>(Draft, { name: '', password: '' })
  const [codes, setCodes] = useState<readonly string[]>()
  const add = useMutation({
    mutationFn: async ({ name, password }: DraftFields) =>
      registerPasskey(name, await makePasskey(password === '' ? undefined : password)),
    gcTime: 0,
    onSuccess: recoveryCodes => {
      notify('The passkey is added', 'It signs you in without your password.')
      if (recoveryCodes === null) end()
      else setCodes(recoveryCodes)
    },
  })
  const needsPassword = useNeedsPassword(add.error)
  return (
    <CodesDialog
      codes={codes}
      onSaved={end}
      open
      onClose={onClose}
      title="Add a passkey"
      description="The browser asks where to keep it: this device, your phone, a password manager or a security key."
    >
      <DialogForm onSubmit={submits(form, draft => add.mutate(draft))}>
        <DialogBody>
          <TextField
            label="Name"
            hint="A name you will recognise, for example “Phone”."
            autoComplete="off"
            error={form.formState.errors.name?.message}
            {...form.register('name')}
          />
          {needsPassword && <PasswordField {...form.register('password')} />}
          <RefusalNote refused={shownRefusal(add.error)} />
        </DialogBody>
        <SaveFoot action="Add passkey" pending={add.isPending} onCancel={onClose} />
      </DialogForm>
    </CodesDialog>
  )
}

const asksForPassword = (error: Error | null) =>
  error instanceof Refused && (error.code === 'PASSWORD_REQUIRED' || error.code === 'INVALID_PASSWORD')

/** Whether the person must type their password because the session is too old. The first refusal says so. */
export function useNeedsPassword(error: Error | null): boolean {
  const [isNeeded, setNeeded] = useState(false)
  if (!isNeeded && asksForPassword(error)) setNeeded(true)
  return isNeeded
}

/** The refusal to show. `PASSWORD_REQUIRED` is left out, because the password field that then appears says it. */
export const shownRefusal = (error: Error | null) =>
  error instanceof Refused && error.code === 'PASSWORD_REQUIRED' ? null : error

export function PasswordField(props: React.ComponentProps<'input'>) {
  return (
    <TextField
      {...props}
      label="Your password"
      hint="Required again, because you signed in a while ago."
      type="password"
      autoComplete="current-password"
    />
  )
}
