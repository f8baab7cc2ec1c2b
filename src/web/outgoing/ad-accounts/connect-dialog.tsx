/** Connecting an ad account: the platform, the account's id there, and the credential. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { AD_PLATFORM_LABELS, AD_PLATFORMS, type AdPlatform } from '../../../contract/ad-platforms.ts'
import { AdAccountDraft, createAdAccount, listAdAccounts } from '../../../outgoing/ad-accounts/api.ts'
import { call } from '../../ground/call.ts'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { CredentialField, SettingsFields } from './fields.tsx'
import { PLATFORM_FORMS } from './platforms.ts'
import {
  credentialsOf,
  type AdAccountRequest,
  type AdAccountFaults,
  adAccountFaultsOf,
  settingsOf,
  reportingOf,
  type AdAccountForm,
  adAccountFormOf,
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
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [platform, setPlatform] = useState<AdPlatform>('meta')
  const [typed, setTyped] = useState<AdAccountForm>(adAccountFormOf())
  const [faults, setFaults] = useState<AdAccountFaults>({})
  const connect = useMutation({
    mutationFn: (body: AdAccountRequest) => call(createAdAccount, { body }),
    gcTime: 0,
    onSuccess: async ({ id, name }) => {
      await queries.invalidateQueries({ queryKey: [listAdAccounts.route] })
      onClose()
      notify(`${name} is connected`, 'Send a test event to check it.')
      await navigate({ to: '/ad-accounts/$id', params: { id } })
    },
  })
  const submit = () => {
    const body = {
      platform,
      name: typed.name,
      settings: settingsOf(platform, typed),
      ...reportingOf(platform, typed),
      credentials: credentialsOf(platform, typed),
    }
    const checked = AdAccountDraft.safeParse(body)
    setFaults(checked.success ? {} : adAccountFaultsOf(checked.error))
    if (checked.success) connect.mutate(body as AdAccountRequest)
  }
  const fields = {
    platform,
    typed,
    faults,
    onChange: (changed: Partial<AdAccountForm>) => setTyped({ ...typed, ...changed }),
  }
  const { nextStep } = PLATFORM_FORMS[platform]
  return (
    <DialogForm onSubmit={submit}>
      <DialogBody>
        <SelectField
          label="Platform"
          value={platform}
          onChange={event => {
            setPlatform(event.target.value as AdPlatform)
            setFaults({})
          }}
        >
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
          error={faults.name}
          value={typed.name}
          onChange={event => fields.onChange({ name: event.target.value })}
        />
        <CredentialField {...fields} />
        <SettingsFields {...fields} />
        {nextStep !== undefined && (
          <Note>
            <strong>Next:</strong> {nextStep}
          </Note>
        )}
        <RefusalNote refused={connect.error} />
      </DialogBody>
      <SaveFoot action="Connect" pending={connect.isPending} onCancel={onClose} />
    </DialogForm>
  )
}
