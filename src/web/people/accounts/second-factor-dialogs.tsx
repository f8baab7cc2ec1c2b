/** The dialogs that remove the app, rename or remove a passkey, and make new recovery codes. */
import { type UseMutationResult, useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { PasskeyName } from '../../../people/second-factor/api.ts'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { PasswordField, shownRefusal, useNeedsPassword } from './add-passkey.tsx'
import { type Factor, useFactorRefresh } from './factor.ts'
import { CodesDialog } from './recovery-codes.tsx'
import { postAuth } from './session.ts'

type Closes = { onClose: () => void }

/** Says what removing the last second factor changes. */
function LastFactorNote({ factor }: { factor: Factor }) {
  const asking = factor.required_by
  return (
    <Note kind="warning">
      <strong>Your password alone will sign you in</strong>, and the recovery codes stop working.
      {asking.length > 0 &&
        ` ${new Intl.ListFormat('en').format(asking)} ${asking.length === 1 ? 'locks' : 'lock'} you out until you set up another.`}
    </Note>
  )
}

type PasswordFormProps = {
  deed: UseMutationResult<unknown, Error, string>
  action: string
  look?: 'primary' | 'danger'
  children?: ReactNode
} & Closes

/** A form whose only field is the password. */
function PasswordForm({ deed, action, look = 'primary', children, onClose }: PasswordFormProps) {
  const [password, setPassword] = useState('')
  return (
    <DialogForm onSubmit={() => deed.mutate(password)}>
      <DialogBody>
        {children}
        <TextField
          label="Your password"
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={event => setPassword(event.target.value)}
        />
        <RefusalNote refused={deed.error} />
      </DialogBody>
      <SaveFoot
        action={action}
        look={look}
        pending={deed.isPending}
        reason={password === '' ? 'Type your password first.' : undefined}
        onCancel={onClose}
      />
    </DialogForm>
  )
}

export function RemoveApp({ factor, onClose }: { factor: Factor } & Closes) {
  const refreshFactors = useFactorRefresh()
  const remove = useMutation({
    mutationFn: (password: string) => postAuth('/two-factor/disable', { password }),
    gcTime: 0,
    onSuccess: async () => {
      await refreshFactors()
      onClose()
      notify('The app is removed')
    },
  })
  return (
    <Dialog open onClose={onClose} title="Remove the app?">
      <PasswordForm deed={remove} action="Remove the app" look="danger" onClose={onClose}>
        {factor.passkeys.length === 0 ? (
          <LastFactorNote factor={factor} />
        ) : (
          <p className="text-ink-soft">
            Signing in no longer asks for its codes. Your passkeys and recovery codes keep working.
          </p>
        )}
      </PasswordForm>
    </Dialog>
  )
}

type RenameProps = { passkey: Factor['passkeys'][number] } & Closes

export function RenamePasskey({ passkey: { id, name }, onClose }: RenameProps) {
  const refreshFactors = useFactorRefresh()
  const form = useDraft<{ name: string }>(PasskeyName.pick({ name: true }), { name })
  const rename = useMutation({
    mutationFn: (draft: { name: string }) => postAuth('/passkey/rename', { id, name: draft.name }),
    onSuccess: async (_done, draft) => {
      await refreshFactors()
      onClose()
      notify(`${name} is now called ${draft.name.trim()}`)
    },
  })
  return (
    <Dialog open onClose={onClose} title={`Rename ${name}`}>
      <DialogForm onSubmit={submits(form, draft => rename.mutate(draft))}>
        <DialogBody>
          <TextField
            label="Name"
            hint="This changes the name in Sluice only, not on the device that stores the passkey."
            autoComplete="off"
            error={form.formState.errors.name?.message}
            {...form.register('name')}
          />
          <RefusalNote refused={rename.error} />
        </DialogBody>
        <SaveFoot action="Rename" pending={rename.isPending} onCancel={onClose} />
      </DialogForm>
    </Dialog>
  )
}

type RemovalProps = { factor: Factor; passkey: Factor['passkeys'][number] } & Closes

export function RemovePasskey({ factor, passkey, onClose }: RemovalProps) {
  const refreshFactors = useFactorRefresh()
  const [password, setPassword] = useState('')
  const remove = useMutation({
    mutationFn: () =>
      postAuth('/passkey/remove', { id: passkey.id, ...(password === '' ? {} : { currentPassword: password }) }),
    gcTime: 0,
    onSuccess: async () => {
      await refreshFactors()
      onClose()
      notify(`${passkey.name} is removed`)
    },
  })
  const needsPassword = useNeedsPassword(remove.error)
  const isLast = !factor.app && factor.passkeys.length === 1
  return (
    <Dialog open onClose={onClose} title={`Remove ${passkey.name}?`}>
      <DialogForm onSubmit={() => remove.mutate()}>
        <DialogBody>
          <p className="text-ink-soft">
            It no longer signs you in. It stays on its device until you remove it there too.
          </p>
          {isLast && <LastFactorNote factor={factor} />}
          {needsPassword && <PasswordField value={password} onChange={event => setPassword(event.target.value)} />}
          <RefusalNote refused={shownRefusal(remove.error)} />
        </DialogBody>
        <SaveFoot action="Remove" look="danger" pending={remove.isPending} onCancel={onClose} />
      </DialogForm>
    </Dialog>
  )
}

export function NewCodes({ onClose }: Closes) {
  const refreshFactors = useFactorRefresh()
  const make = useMutation({
    mutationFn: async (password: string) =>
      (await postAuth('/two-factor/generate-backup-codes', { password })) as { recoveryCodes: string[] },
    gcTime: 0,
  })
  const end = () => {
    onClose()
    void refreshFactors()
  }
  return (
    <CodesDialog
      codes={make.data?.recoveryCodes}
      onSaved={end}
      open
      onClose={onClose}
      title="Make new recovery codes?"
      description="Your current codes stop working."
    >
      <PasswordForm deed={make} action="Make new codes" onClose={onClose} />
    </CodesDialog>
  )
}
