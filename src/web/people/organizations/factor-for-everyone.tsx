/** Asking everyone in the workspace for a second factor. */
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listMembers, requireSecondFactor } from '../../../people/organizations/api.ts'
import { myOrganizations, reasonAgainst, type Workspace } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { Switch } from '../../ground/ui/switch.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { whoIsSignedIn } from '../accounts/session.ts'

export function FactorForEveryone({ workspace }: { workspace: Workspace }) {
  const queries = useQueryClient()
  const confirm = useConfirm()
  const mine = useSuspenseQuery(whoIsSignedIn).data?.user.twoFactorEnabled ?? false
  const { requires_second_factor: on, role } = workspace
  const turn = async (required: boolean) => {
    await call(requireSecondFactor, { body: { required } })
    await queries.invalidateQueries({ queryKey: myOrganizations.queryKey })
    notify(required ? 'Everyone is asked for a second factor' : 'Nobody is asked for a second factor')
  }
  const cease = useMutation({ mutationFn: () => turn(false) })
  const askAll = async () => {
    const { data } = await queries.fetchQuery(ask(listMembers))
    const without = data.filter(one => one.has_second_factor === false).map(({ name }) => name)
    confirm({
      title: 'Ask everyone for a second factor?',
      words:
        without.length === 0 ? (
          'Everyone here has one.'
        ) : (
          <>
            <strong>{new Intl.ListFormat('en').format(without)}</strong>{' '}
            {without.length === 1 ? 'has none and is' : 'have none and are'} kept out from now on, until they have set
            one up. Their keys go on.
          </>
        ),
      action: 'Ask everyone',
      look: 'primary',
      deed: () => turn(true),
    })
  }
  const reason = reasonAgainst(requireSecondFactor, role) ?? (mine || on ? undefined : 'Set up one for yourself first.')
  return (
    <div className="flex flex-col items-start gap-2">
      <div className="flex items-center gap-2">
        <Switch
          label="Ask everyone for a second factor"
          on={on}
          pending={cease.isPending}
          reason={reason}
          onTurn={next => (next ? void askAll() : cease.mutate())}
        />
        <span>{on ? 'Everyone is asked for one' : 'Everyone as they like'}</span>
      </div>
      {!mine && role !== 'member' && (
        <p className="text-sm text-ink-faint">
          You have none yourself:{' '}
          <Link to="/settings/profile" className="text-accent underline-offset-2 hover:underline">
            set one up
          </Link>{' '}
          first.
        </p>
      )}
      <RefusalNote refused={cease.error} />
    </div>
  )
}
