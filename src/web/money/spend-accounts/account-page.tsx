/** One spend account: its state, its spend by day, its unmatched spend, and its connection. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { RefreshCw } from 'lucide-react'
import {
  deleteSpendAccount,
  listSpendAccounts,
  PROVIDER_LABELS,
  readSpendAccount,
  syncSpendAccount,
  updateSpendAccount,
} from '../../../money/spend-accounts/api.ts'
import { MINUTE_MS } from '../../../contract/days.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { ago, moment } from '../../ground/figures/figures.ts'
import { ObjectHistory } from '../../ground/history/object-history.tsx'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Loaded, PageHeader, Setting } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { ConnectionForm } from './connection-form.tsx'
import { DaysTable, UnmatchedTable } from './spent.tsx'
import { SpendAccountBadge, isReadSoon, POLL_MS } from './state.tsx'
import type { SpendAccountDetail } from './form-values.ts'

const route = getRouteApi('/inside/ad-spend/accounts/$id')

export function SpendAccountPage() {
  const { id } = route.useParams()
  const account = useQuery({
    ...ask(readSpendAccount, { params: { id } }),
    refetchInterval: ({ state }) => (state.data !== undefined && isReadSoon(state.data) ? POLL_MS : MINUTE_MS),
  })
  return (
    <>
      <BackLink to="/ad-spend/accounts">Spend accounts</BackLink>
      <Loaded query={account} title="Spend account">
        {found => <AccountDetail account={found} />}
      </Loaded>
      <ObjectHistory kind="spend_account" id={id} />
    </>
  )
}

function AccountDetail({ account }: { account: SpendAccountDetail }) {
  const { provider, external_id, currency, timezone, last_30_days } = account
  const bills = currency === null ? '' : `, billed in ${currency}, time zone ${timezone}`
  return (
    <>
      <PageHeader title={account.name} words={`${PROVIDER_LABELS[provider]} account ${external_id}${bills}.`} />
      <Setting title="State" words="Today and yesterday are read every hour, the last 7 days every night.">
        <StatePart account={account} />
      </Setting>
      <Setting
        wide
        title="Unmatched spend"
        words="Spend of the last 30 days by ids that no click carries. Reports leave it out until a click carries the id."
      >
        <UnmatchedTable unmatched={account.unmatched} sum={last_30_days} />
      </Setting>
      <Setting
        wide
        title="Days"
        words="By UTC day, as the platform reports it. Estimated: an hour of the account’s time zone spans two UTC days."
      >
        <DaysTable days={account.days} />
      </Setting>
      <Setting title="Connection" words="The token is stored encrypted. Leave it blank to keep it.">
        <ConnectionForm key={account.updated_at} account={account} />
      </Setting>
      <Setting title="Disconnect" danger words="The token is deleted. Recorded spend stays unless you take it back.">
        <DisconnectPart account={account} />
      </Setting>
    </>
  )
}

function StatePart({ account }: { account: SpendAccountDetail }) {
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
  const next = state === 'off' || isReadSoon(account) ? '' : `, again at ${moment(next_sync_at)}`
  return (
    <div className="flex flex-col items-start gap-3">
      <p className="flex flex-wrap items-center gap-2">
        <SpendAccountBadge {...account} />
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

function DisconnectPart({ account: { id, name } }: { account: SpendAccountDetail }) {
  const confirm = useConfirm()
  const navigate = useNavigate()
  const { role } = useActive()
  const reason = reasonAgainst(deleteSpendAccount, role)
  const disconnect = (take_back: 'true' | 'false') =>
    confirm({
      title: take_back === 'true' ? `Disconnect ${name} and take its spend back?` : `Disconnect ${name}?`,
      words:
        take_back === 'true'
          ? 'Its token is deleted, and all its spend leaves the reports. Connecting it again brings back the last 30 days.'
          : 'Its token is deleted. Its recorded spend stays in the reports. If you connect it again, it continues where it stopped.',
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
