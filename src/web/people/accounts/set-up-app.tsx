/** The dialog that sets up an authenticator app: the password, the QR code with a first code, then the recovery codes. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { z } from 'zod'
import { AppBegin, AppProof } from '../../../people/second-factor/api.ts'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { QrCode } from './qr-code.tsx'
import { CodesDialog } from './recovery-codes.tsx'
import { useFactorRefresh } from './factor.ts'
import { postAuth } from './session.ts'

type AppSetup = { totpURI: string; recoveryCodes: string[] | null }

export function SetUpApp({ onClose }: { onClose: () => void }) {
  const refreshFactors = useFactorRefresh()
  const [setup, setSetup] = useState<AppSetup>()
  const [codes, setCodes] = useState<readonly string[]>()
  const end = () => {
    onClose()
    void refreshFactors()
  }
  const proven = () => {
    notify('The app is set up', 'From now on, signing in asks for its code.')
    if (setup?.recoveryCodes == null) end()
    else setCodes(setup.recoveryCodes)
  }
  return (
    <CodesDialog
      codes={codes}
      onSaved={end}
      open
      onClose={onClose}
      title="Set up an app"
      description="Any authenticator app works: Aegis, 2FAS, Google Authenticator, 1Password …"
    >
      {setup === undefined ? (
        <PasswordStep onBegun={setSetup} onClose={onClose} />
      ) : (
        <ProofStep totpURI={setup.totpURI} onProven={proven} onClose={onClose} />
      )}
    </CodesDialog>
  )
}

function PasswordStep({ onBegun, onClose }: { onBegun: (setup: AppSetup) => void; onClose: () => void }) {
  const form = useDraft(AppBegin, { password: '' })
  const begin = useMutation({
    mutationFn: async (draft: z.input<typeof AppBegin>) => (await postAuth('/two-factor/enable', draft)) as AppSetup,
    // The secret must not stay in the cache of mutations.
    gcTime: 0,
    onSuccess: onBegun,
  })
  return (
    <DialogForm onSubmit={submits(form, draft => begin.mutate(draft))}>
      <DialogBody>
        <TextField
          label="Your password"
          type="password"
          autoComplete="current-password"
          error={form.formState.errors.password?.message}
          {...form.register('password')}
        />
        <RefusalNote refused={begin.error} />
      </DialogBody>
      <SaveFoot action="Continue" pending={begin.isPending} onCancel={onClose} />
    </DialogForm>
  )
}

type ProofProps = { totpURI: string; onProven: () => void; onClose: () => void }

function ProofStep({ totpURI, onProven, onClose }: ProofProps) {
  const form = useDraft(AppProof, { code: '' })
  const prove = useMutation({
    mutationFn: (draft: z.input<typeof AppProof>) => postAuth('/two-factor/verify-totp', draft),
    onSuccess: onProven,
  })
  const secret = new URL(totpURI).searchParams.get('secret') ?? ''
  return (
    <DialogForm onSubmit={submits(form, draft => prove.mutate(draft))}>
      <DialogBody>
        <div className="flex flex-wrap items-start gap-4">
          <QrCode text={totpURI} label="QR code for the app" />
          <div className="flex min-w-0 flex-1 basis-40 flex-col items-start gap-2 text-ink-soft">
            <p>Scan it with the app. If the app is on this device or has no camera, enter this secret instead:</p>
            <code className="font-mono text-sm break-all text-ink">{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
            <CopyButton text={secret} label="Copy secret" />
          </div>
        </div>
        <TextField
          label="Code shown by the app"
          inputMode="numeric"
          autoComplete="one-time-code"
          className="[&_input]:font-mono"
          error={form.formState.errors.code?.message}
          data-typed-first
          {...form.register('code')}
        />
        <RefusalNote refused={prove.error} />
      </DialogBody>
      <SaveFoot action="Set up" pending={prove.isPending} onCancel={onClose} />
    </DialogForm>
  )
}
