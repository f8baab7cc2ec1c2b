/** Connecting a spend account: the platform, the account number, a token that may read, and the campaigns to assign spend to. */
import { useNavigate } from '@tanstack/react-router'
import {
  createSpendAccount,
  listSpendAccounts,
  PROVIDER_LABELS,
  PROVIDERS,
  SpendAccountDraft,
} from '../../../money/spend-accounts/api.ts'
import { call } from '../../ground/call.ts'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { useRequestDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { NameField, AssignmentFields, TokenField } from './fields.tsx'
import { assignmentOf, type SpendAccountForm, spendAccountFormOf, type SpendAccountRequest } from './form-values.ts'

export function ConnectSpendAccount({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Connect spend account"
      description="Its last 30 days are read at once, and new spend every hour."
    >
      <ConnectForm onClose={onClose} />
    </Dialog>
  )
}

const NUMBER_HINTS: Readonly<Record<SpendAccountForm['provider'], string>> = {
  meta: 'Ads Manager: the number behind the account’s name.',
  tiktok: 'Ads Manager: the advertiser’s number under the account’s name.',
}

function ConnectForm({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const form = useRequestDraft({
    schema: SpendAccountDraft,
    values: spendAccountFormOf(),
    requestOf: (typed): SpendAccountRequest => {
      const { provider, external_id, name, access_token } = typed
      return { provider, external_id, name, access_token, ...assignmentOf(typed) }
    },
  })
  return (
    <DraftForm
      form={form}
      action="Connect"
      endpoint={createSpendAccount}
      deed={body => call(createSpendAccount, { body })}
      refresh={[listSpendAccounts]}
      onClose={onClose}
      onSaved={({ id, name }) => {
        notify(`${name} is connected`, 'Its spend is being read.')
        void navigate({ to: '/ad-spend/accounts/$id', params: { id } })
      }}
    >
      <div className="grid grid-cols-2 gap-4">
        <SelectField label="Platform" {...form.register('provider')}>
          {PROVIDERS.map(one => (
            <option key={one} value={one}>
              {PROVIDER_LABELS[one]}
            </option>
          ))}
        </SelectField>
        <NameField form={form} />
      </div>
      <TextField
        label="Account number"
        autoComplete="off"
        hint={NUMBER_HINTS[form.watch('provider')]}
        error={form.formState.errors.external_id?.message}
        {...form.register('external_id')}
      />
      <TokenField form={form} />
      <AssignmentFields form={form} />
    </DraftForm>
  )
}
