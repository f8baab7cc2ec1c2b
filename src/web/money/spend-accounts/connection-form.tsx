/** The connection of a spend account: its name, its token, and the campaigns its spend is assigned to. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import {
  listSpendAccounts,
  readSpendAccount,
  SpendAccountChanges,
  updateSpendAccount,
} from '../../../money/spend-accounts/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { notify } from '../../ground/ui/toast.tsx'
import { isChanged, useUnsaved } from '../../ground/ui/unsaved.ts'
import { NameField, AssignmentFields, TokenField } from './fields.tsx'
import {
  type SpendAccountRow,
  type SpendAccountPatch,
  type SpendAccountFaults,
  spendAccountFaultsOf,
  assignmentOf,
  type SpendAccountForm,
  spendAccountFormOf,
} from './form-values.ts'

export function ConnectionForm({ account }: { account: SpendAccountRow }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const [typed, setTyped] = useState<SpendAccountForm>(spendAccountFormOf(account))
  const [faults, setFaults] = useState<SpendAccountFaults>({})
  const reason = reasonAgainst(updateSpendAccount, role)
  const save = useMutation({
    mutationFn: (body: SpendAccountPatch) => call(updateSpendAccount, { params: { id: account.id }, body }),
    gcTime: 0,
    onSuccess: async saved => {
      setTyped(spendAccountFormOf(saved))
      await refresh(readSpendAccount, listSpendAccounts)
      notify(`${saved.name} is saved`)
    },
  })
  useUnsaved(isChanged(typed, spendAccountFormOf(account)), 'the connection')
  const submit = () => {
    const token = typed.access_token === '' ? {} : { access_token: typed.access_token }
    const body = { name: typed.name, ...token, ...assignmentOf(typed) }
    const checked = SpendAccountChanges.safeParse(body)
    setFaults(checked.success ? {} : spendAccountFaultsOf(checked.error))
    if (checked.success) save.mutate(body)
  }
  const fields = { typed, faults, onChange: (changed: Partial<SpendAccountForm>) => setTyped({ ...typed, ...changed }) }
  return (
    <PartForm action="Save connection" onSubmit={submit} save={save} reason={reason}>
      <NameField {...fields} />
      <p className="text-ink-soft">
        Current token: <code className="font-mono text-sm">{account.token_hint}</code>
      </p>
      <TokenField {...fields} />
      <AssignmentFields {...fields} />
    </PartForm>
  )
}
