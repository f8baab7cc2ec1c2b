/** One spend account: whether it is read, what it cost, what of it is nobody's, and its connection. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { ChevronLeft, RefreshCw } from 'lucide-react'
import {
  deleteSpendAccount,
  listSpendAccounts,
  PROVIDER_LABELS,
  readSpendAccount,
  syncSpendAccount,
  updateSpendAccount,
} from '../../../money/spend-accounts/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { ago, moment } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Asked, PageHeader, Setting } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { ConnectionForm } from './connection-form.tsx'
import { DaysTable, UnmatchedTable } from './spent.tsx'
import { AccountState, isMoving, LOOK_AGAIN_MS } from './state.tsx'
import type { AccountRead } from './typed.ts'

const route = getRouteApi('/inside/ad-spend/accounts/$id')

export function SpendAccountPage() {
  const { id } = route.useParams()
  const account = useQuery({
    ...ask(readSpendAccount, { params: { id } }),
    refetchInterval: ({ state }) => (state.data !== undefined && isMoving(state.data) ? LOOK_AGAIN_MS : 60_000),
  })
  return (
    <>
      <Link to="/ad-spend/accounts" className="mb-2 inline-flex items-center gap-1 text-ink-soft hover:text-ink">
        <ChevronLeft aria-hidden className="size-3.5" />
        Spend accounts
      </Link>
      <Asked query={account} title="Spend account">
        {found => <AccountDetail account={found} />}
      </Asked>
    </>
  )
}

function AccountDetail({ account }: { account: AccountRead }) {
  const { provider, external_id, currency, timezone, last_30_days } = account
  const bills = currency === null ? '' : `, bills in ${currency} by the days of ${timezone}`
  return (
    <>
      <PageHeader title={account.name} words={`${PROVIDER_LABELS[provider]} account ${external_id}${bills}.`} />
      <Setting title="State" words="Today and yesterday are read every hour, each night the last 7 days.">
        <StatePart account={account} />
      </Setting>
      <Setting
        wide
        title="Unmatched spend"
        words="Of the last 30 days: ids no click has carried. It is in no report, and is booked once a click carries the id."
      >
        <UnmatchedTable unmatched={account.unmatched} sum={last_30_days} />
      </Setting>
      <Setting
        wide
        title="Days"
        words="By UTC day, as the platform says. Estimated: an hour of its zone lies in two days."
      >
        <DaysTable days={account.days} />
      </Setting>
      <Setting title="Connection" words="The token is kept encrypted. Left empty, it stays as it is.">
        <ConnectionForm key={account.updated_at} account={account} />
      </Setting>
      <Setting
        title="Disconnect"
        danger
        words="The token is destroyed. What was booked stays, unless you take it back."
      >
        <DisconnectPart account={account} />
      </Setting>
    </>
  )
}

function StatePart({ account }: { account: AccountRead }) {
  const { id, state, fault, synced_at, next_sync_at } = account
  const { role } = useActive()
  const refresh = useRefresh()
  const change = useMutation({
    mutationFn: (deed: 'read' | 'active' | 'off') =>
      deed === 'read'
        ? call(syncSpendAccount, { params: { id }, body: {} })
        : call(updateSpendAccount, { params: { id }, body: { state: deed } }),
    onSuccess: () => refresh(readSpendAccount, listSpendAccounts),
  })
  const reason = reasonAgainst(updateSpendAccount, role)
  const last = synced_at === null ? 'not read yet' : `last read ${ago(synced_at)}`
  const next = state === 'off' || isMoving(account) ? '' : `, again at ${moment(next_sync_at)}`
  return (
    <div className="flex flex-col items-start gap-3">
      <p className="flex flex-wrap items-center gap-2">
        <AccountState {...account} />
        <span className="text-ink-soft">
          {last}
          {next}
        </span>
      </p>
      {fault !== null && (
        <Note kind="warning">
          <strong>{fault.error}</strong>
          <br />
          {fault.hint} Since {moment(fault.since)}.
        </Note>
      )}
      <RefusalNote refused={change.error} />
      <div className="flex gap-2">
        {state === 'active' && (
          <Button icon={RefreshCw} reason={reason} pending={change.isPending} onClick={() => change.mutate('read')}>
            Read now
          </Button>
        )}
        <Button
          reason={reason}
          pending={change.isPending}
          onClick={() => change.mutate(state === 'active' ? 'off' : 'active')}
        >
          {state === 'active' ? 'Switch off' : 'Switch on'}
        </Button>
      </div>
    </div>
  )
}

function DisconnectPart({ account: { id, name } }: { account: AccountRead }) {
  const confirm = useConfirm()
  const navigate = useNavigate()
  const { role } = useActive()
  const reason = reasonAgainst(deleteSpendAccount, role)
  const disconnect = (take_back: 'true' | 'false') =>
    confirm({
      title: take_back === 'true' ? `Disconnect ${name} and take its spend back?` : `Disconnect ${name}?`,
      words:
        take_back === 'true'
          ? 'Its token is destroyed, and all it has ever booked leaves the reports. Connected again, it brings back the last 30 days.'
          : 'Its token is destroyed. What it has booked stays in the reports. Connected again, it goes on where it was.',
      action: take_back === 'true' ? 'Disconnect and take back' : 'Disconnect',
      deed: async () => {
        await call(deleteSpendAccount, { params: { id }, query: { take_back } })
        await navigate({ to: '/ad-spend/accounts' })
        notify(`${name} is disconnected`)
      },
      refresh: [listSpendAccounts],
    })
  return (
    <div className="flex flex-wrap gap-2">
      <Button look="danger" reason={reason} onClick={() => disconnect('false')}>
        Disconnect account
      </Button>
      <Button look="danger-quiet" reason={reason} onClick={() => disconnect('true')}>
        Disconnect and take its spend back
      </Button>
    </div>
  )
}
