/** Connecting an ad account: the platform, the account's id there, and the credential. */
import { useNavigate } from '@tanstack/react-router'
import { AD_PLATFORM_LABELS, AD_PLATFORMS } from '../../../contract/ad-platforms.ts'
import { AdAccountDraft, createAdAccount, listAdAccounts } from '../../../outgoing/ad-accounts/api.ts'
import { call } from '../../ground/call.ts'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { useRequestDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { CredentialField, SettingsFields } from './fields.tsx'
import { PLATFORM_FORMS } from './platforms.ts'
import {
  adAccountFormOf,
  type AdAccountRequest,
  credentialsOf,
  fieldOf,
  reportingOf,
  settingsOf,
} from './form-values.ts'

export function ConnectAdAccount({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Connect ad account"
      description="Conversions are reported to it from now on."
    >
      <ConnectForm onClose={onClose} />
    </Dialog>
  )
}

function ConnectForm({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const form = useRequestDraft({
    schema: AdAccountDraft,
    values: adAccountFormOf(),
    fieldOf,
    requestOf: typed => {
      const { platform, name } = typed
      const parts = { settings: settingsOf(typed), ...reportingOf(typed), credentials: credentialsOf(typed) }
      return { platform, name, ...parts } as AdAccountRequest
    },
  })
  const { nextStep } = PLATFORM_FORMS[form.watch('platform')]
  return (
    <DraftForm
      form={form}
      action="Connect"
      endpoint={createAdAccount}
      deed={body => call(createAdAccount, { body })}
      refresh={[listAdAccounts]}
      onClose={onClose}
      onSaved={({ id, name }) => {
        notify(`${name} is connected`, 'Send a test event to check it.')
        void navigate({ to: '/ad-accounts/$id', params: { id } })
      }}
    >
      <SelectField label="Platform" {...form.register('platform', { onChange: () => form.clearErrors() })}>
        {AD_PLATFORMS.map(one => (
          <option key={one} value={one}>
            {AD_PLATFORM_LABELS[one]}
          </option>
        ))}
      </SelectField>
      <TextField
        label="Name"
        hint="Its name in Sluice."
        autoComplete="off"
        error={form.formState.errors.name?.message}
        {...form.register('name')}
      />
      <CredentialField form={form} />
      <SettingsFields form={form} />
      {nextStep !== undefined && (
        <Note>
          <strong>Next:</strong> {nextStep}
        </Note>
      )}
    </DraftForm>
  )
}
