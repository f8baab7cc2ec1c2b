/** Spend accounts: the ad platform accounts whose spend is read, and the state of each. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { createSpendAccount, listSpendAccounts, PROVIDER_LABELS } from '../../../money/spend-accounts/api.ts'
import { ask } from '../../ground/call.ts'
import { ago, count, exactMoney, moment, NONE } from '../../ground/figures/figures.ts'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { AddButton, List, useListAddress } from '../../ground/ui/list.tsx'
import { EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { ConnectSpendAccount } from './connect-dialog.tsx'
import { SpendAccountBadge, isReadSoon, POLL_MS } from './state.tsx'
import type { SpendAccountRow } from './form-values.ts'

const route = getRouteApi('/inside/ad-spend/accounts')

export function SpendAccountsPage() {
  const address = useListAddress(route.useSearch())
  const accounts = useQuery({
    ...ask(listSpendAccounts, { query: { ...address.search, limit: 200 } }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.data.some(isReadSoon) ? POLL_MS : false),
  })
  const [connecting, setConnecting] = useState(false)
  const connect = (
    <AddButton endpoint={createSpendAccount} onClick={() => setConnecting(true)}>
      Connect account
    </AddButton>
  )
  return (
    <>
      <BackLink to="/ad-spend">Ad spend</BackLink>
      <PageHeader
        title="Spend accounts"
        words="The platform’s ad cost is read every hour and matched by the ids your clicks carry. Spend you record yourself overrides it."
      >
        {connect}
      </PageHeader>
      <List
        query={accounts}
        address={address}
        what="spend accounts"
        empty={
          <EmptyState
            icon={RefreshCw}
            title="No spend accounts yet"
            words="Pull spend from Meta and TikTok automatically instead of importing files."
          >
            {connect}
          </EmptyState>
        }
      >
        {rows => <AccountTable accounts={rows} />}
      </List>
      <ConnectSpendAccount open={connecting} onClose={() => setConnecting(false)} />
    </>
  )
}

function AccountTable({ accounts }: { accounts: readonly SpendAccountRow[] }) {
  return (
    <Table caption="Spend accounts">
      <thead>
        <tr>
          <Head stay>Name</Head>
          <Head>State</Head>
          <Head>Platform</Head>
          <Head>Account number</Head>
          <Head numeric>30 days, $</Head>
          <Head numeric>Unmatched, $</Head>
          <Head>Last read</Head>
        </tr>
      </thead>
      <tbody>
        {accounts.map(account => (
          <AccountRow key={account.id} account={account} />
        ))}
      </tbody>
    </Table>
  )
}

function AccountRow({ account }: { account: SpendAccountRow }) {
  const { id, name, provider, external_id, fault, synced_at, last_30_days } = account
  const { spent, unmatched, unmatched_ids } = last_30_days
  return (
    <Row>
      <RowHead stay>
        <Link to="/ad-spend/accounts/$id" params={{ id }} className="hover:underline">
          {name}
        </Link>
      </RowHead>
      <Cell className="max-w-80 truncate" title={fault === null ? undefined : `${fault.error} ${fault.hint}`}>
        <SpendAccountBadge {...account} />
        {fault !== null && <span className="ml-2 text-ink-faint">{fault.error}</span>}
      </Cell>
      <Cell>{PROVIDER_LABELS[provider]}</Cell>
      <Cell className="font-mono text-sm">{external_id}</Cell>
      <Cell numeric>{exactMoney(spent)}</Cell>
      <Cell numeric faint={unmatched_ids === 0} title={unmatched_ids === 0 ? undefined : `${count(unmatched_ids)} ids`}>
        {unmatched_ids === 0 ? NONE : exactMoney(unmatched)}
      </Cell>
      <Cell faint={synced_at === null} title={synced_at === null ? undefined : moment(synced_at)}>
        {synced_at === null ? NONE : ago(synced_at)}
      </Cell>
    </Row>
  )
}
