/** Connecting a spend account: the platform, the account number, a token that may read, and the campaigns to assign spend to. */
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import {
  createSpendAccount,
  listSpendAccounts,
  PROVIDER_LABELS,
  PROVIDERS,
  SpendAccountDraft,
} from '../../../money/spend-accounts/api.ts'
import { call } from '../../ground/call.ts'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { NameField, AssignmentFields, TokenField } from './fields.tsx'
import {
  type SpendAccountRequest,
  type SpendAccountFaults,
  spendAccountFaultsOf,
  assignmentOf,
  type SpendAccountForm,
  spendAccountFormOf,
} from './form-values.ts'

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
  const refresh = useRefresh()
  const navigate = useNavigate()
  const [typed, setTyped] = useState<SpendAccountForm>(spendAccountFormOf())
  const [faults, setFaults] = useState<SpendAccountFaults>({})
  const connect = useMutation({
    mutationFn: (body: SpendAccountRequest) => call(createSpendAccount, { body }),
    // The variables hold a token, so they are dropped when the dialog closes.
    gcTime: 0,
    onSuccess: async ({ id, name }) => {
      await refresh(listSpendAccounts)
      onClose()
      notify(`${name} is connected`, 'Its spend is being read.')
      await navigate({ to: '/ad-spend/accounts/$id', params: { id } })
    },
  })
  const submit = () => {
    const { provider, external_id, name, access_token } = typed
    const body = { provider, external_id, name, access_token, ...assignmentOf(typed) }
    const checked = SpendAccountDraft.safeParse(body)
    setFaults(checked.success ? {} : spendAccountFaultsOf(checked.error))
    if (checked.success) connect.mutate(body)
  }
  const fields = { typed, faults, onChange: (changed: Partial<SpendAccountForm>) => setTyped({ ...typed, ...changed }) }
  return (
    <DialogForm onSubmit={submit}>
      <DialogBody>
        <div className="grid grid-cols-2 gap-4">
          <SelectField
            label="Platform"
            value={typed.provider}
            onChange={event => fields.onChange({ provider: event.target.value as SpendAccountForm['provider'] })}
          >
            {PROVIDERS.map(one => (
              <option key={one} value={one}>
                {PROVIDER_LABELS[one]}
              </option>
            ))}
          </SelectField>
          <NameField {...fields} />
        </div>
        <TextField
          label="Account number"
          autoComplete="off"
          hint={NUMBER_HINTS[typed.provider]}
          error={faults.external_id}
          value={typed.external_id}
          onChange={event => fields.onChange({ external_id: event.target.value })}
        />
        <TokenField {...fields} />
        <AssignmentFields {...fields} />
        <RefusalNote refused={connect.error} />
      </DialogBody>
      <SaveFoot action="Connect" pending={connect.isPending} onCancel={onClose} />
    </DialogForm>
  )
}
