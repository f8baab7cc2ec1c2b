/** The connection of a spend account: its name, its token, and the campaigns its spend is assigned to. */
import { useMutation } from '@tanstack/react-query'
import {
  listSpendAccounts,
  readSpendAccount,
  SpendAccountChanges,
  updateSpendAccount,
} from '../../../money/spend-accounts/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { submits, useRequestDraft } from '../../ground/ui/draft.ts'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { notify } from '../../ground/ui/toast.tsx'
import { useUnsaved } from '../../ground/ui/unsaved.ts'
import { NameField, AssignmentFields, TokenField } from './fields.tsx'
import { assignmentOf, spendAccountFormOf, type SpendAccountPatch, type SpendAccountRow } from './form-values.ts'

export function ConnectionForm({ account }: { account: SpendAccountRow }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const form = useRequestDraft({
    schema: SpendAccountChanges,
    values: spendAccountFormOf(account),
    requestOf: (typed): SpendAccountPatch => {
      const token = typed.access_token === '' ? {} : { access_token: typed.access_token }
      return { name: typed.name, ...token, ...assignmentOf(typed) }
    },
  })
  const save = useMutation({
    mutationFn: (body: SpendAccountPatch) => call(updateSpendAccount, { params: { id: account.id }, body }),
    // The request may hold a token, so it is not cached.
    gcTime: 0,
    onSuccess: async saved => {
      form.reset(spendAccountFormOf(saved))
      await refresh(readSpendAccount, listSpendAccounts)
      notify(`${saved.name} is saved`)
    },
  })
  useUnsaved(form.formState.isDirty, 'the connection')
  return (
    <PartForm
      action="Save connection"
      onSubmit={submits(form, body => save.mutate(body))}
      save={save}
      reason={reasonAgainst(updateSpendAccount, role)}
    >
      <NameField form={form} />
      <p className="text-ink-soft">
        Current token: <code className="font-mono text-sm">{account.token_hint}</code>
      </p>
      <TokenField form={form} />
      <AssignmentFields form={form} />
    </PartForm>
  )
}
