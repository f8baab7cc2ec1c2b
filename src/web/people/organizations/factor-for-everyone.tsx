/** The switch that requires a second factor of everyone in the workspace. */
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listMembers, listOrganizations, requireSecondFactor } from '../../../people/organizations/api.ts'
import { reasonAgainst, type Workspace } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { Switch } from '../../ground/ui/switch.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { whoIsSignedIn } from '../accounts/session.ts'

export function FactorForEveryone({ workspace }: { workspace: Workspace }) {
  const queries = useQueryClient()
  const refresh = useRefresh()
  const confirm = useConfirm()
  const mine = useSuspenseQuery(whoIsSignedIn).data?.user.twoFactorEnabled ?? false
  const { requires_second_factor: on, role } = workspace
  const setRequired = async (required: boolean) => {
    await call(requireSecondFactor, { body: { required } })
    await refresh(listOrganizations)
    notify(required ? 'A second factor is now required' : 'A second factor is no longer required')
  }
  const stopRequiring = useMutation({ mutationFn: () => setRequired(false) })
  const confirmRequiring = async () => {
    const { data } = await queries.fetchQuery(ask(listMembers))
    const without = data.filter(one => one.has_second_factor === false).map(({ name }) => name)
    confirm({
      title: 'Require a second factor?',
      words:
        without.length === 0 ? (
          'Every member already has one.'
        ) : (
          <>
            <strong>{new Intl.ListFormat('en').format(without)}</strong>{' '}
            {without.length === 1 ? 'has none and is' : 'have none and are'} locked out of this workspace until they set
            one up. Their keys keep working.
          </>
        ),
      action: 'Require it',
      look: 'primary',
      deed: () => setRequired(true),
    })
  }
  const reason =
    reasonAgainst(requireSecondFactor, role) ?? (mine || on ? undefined : 'Set up your own second factor first.')
  return (
    <div className="flex flex-col items-start gap-2">
      <div className="flex items-center gap-2">
        <Switch
          label="Require a second factor"
          on={on}
          pending={stopRequiring.isPending}
          reason={reason}
          onTurn={next => (next ? void confirmRequiring() : stopRequiring.mutate())}
        />
        <span>{on ? 'Required for everyone' : 'Optional'}</span>
      </div>
      {!mine && role !== 'member' && (
        <p className="text-sm text-ink-faint">
          You have no second factor:{' '}
          <Link to="/settings/profile" className="text-accent underline-offset-2 hover:underline">
            set one up
          </Link>{' '}
          first.
        </p>
      )}
      <RefusalNote refused={stopRequiring.error} />
    </div>
  )
}
