/** Connecting a spend account: the platform, its number there, a token that may read, and whose the spend is. */
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
import { NameField, OwnerFields, TokenField } from './fields.tsx'
import { type Draft, type Faults, faultsOf, ownerOf, type Typed, typedOf } from './typed.ts'

export function ConnectDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Connect spend account"
      description="Its last 30 days are read at once, then it is read every hour."
    >
      <ConnectForm onClose={onClose} />
    </Dialog>
  )
}

const NUMBER_HINTS: Readonly<Record<Typed['provider'], string>> = {
  meta: 'Ads Manager: the number behind the account’s name.',
  tiktok: 'Ads Manager: the advertiser’s number under the account’s name.',
}

function ConnectForm({ onClose }: { onClose: () => void }) {
  const refresh = useRefresh()
  const navigate = useNavigate()
  const [typed, setTyped] = useState<Typed>(typedOf())
  const [faults, setFaults] = useState<Faults>({})
  const connect = useMutation({
    mutationFn: (body: Draft) => call(createSpendAccount, { body }),
    // What was typed holds a token, and is of no use once the dialog is closed.
    gcTime: 0,
    onSuccess: async ({ id, name }) => {
      await refresh(listSpendAccounts)
      onClose()
      notify(`${name} is connected`, 'It is being read.')
      await navigate({ to: '/ad-spend/accounts/$id', params: { id } })
    },
  })
  const submit = () => {
    const { provider, external_id, name, access_token } = typed
    const body = { provider, external_id, name, access_token, ...ownerOf(typed) }
    const checked = SpendAccountDraft.safeParse(body)
    setFaults(checked.success ? {} : faultsOf(checked.error))
    if (checked.success) connect.mutate(body)
  }
  const fields = { typed, faults, onChange: (changed: Partial<Typed>) => setTyped({ ...typed, ...changed }) }
  return (
    <DialogForm onSubmit={submit}>
      <DialogBody>
        <div className="grid grid-cols-2 gap-4">
          <SelectField
            label="Platform"
            value={typed.provider}
            onChange={event => fields.onChange({ provider: event.target.value as Typed['provider'] })}
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
        <OwnerFields {...fields} />
        <RefusalNote refused={connect.error} />
      </DialogBody>
      <SaveFoot action="Connect" pending={connect.isPending} onCancel={onClose} />
    </DialogForm>
  )
}
