/** Ad accounts: the accounts conversions are reported to, and the state of each. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Radio } from 'lucide-react'
import { useState } from 'react'
import { AD_PLATFORM_LABELS } from '../../../contract/ad-platforms.ts'
import { createAdAccount, listAdAccounts } from '../../../outgoing/ad-accounts/api.ts'
import { ask } from '../../ground/call.ts'
import { day } from '../../ground/figures/figures.ts'
import { AddButton, List, useListAddress } from '../../ground/ui/list.tsx'
import { EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { ConnectAdAccount } from './connect-dialog.tsx'
import { PLATFORM_FORMS } from './platforms.ts'
import { AdAccountBadge } from './state.tsx'
import type { AdAccountRow } from './form-values.ts'

const route = getRouteApi('/inside/ad-accounts')

export function AdAccountsPage() {
  const address = useListAddress(route.useSearch())
  const accounts = useQuery({
    ...ask(listAdAccounts, { query: { ...address.search, limit: 200 } }),
    placeholderData: keepPreviousData,
  })
  const [connecting, setConnecting] = useState(false)
  const connect = (
    <AddButton endpoint={createAdAccount} onClick={() => setConnecting(true)}>
      Connect account
    </AddButton>
  )
  return (
    <>
      <PageHeader
        title="Ad accounts"
        words="Each conversion is reported to its campaign’s ad account, or else to the account of the platform whose click id the click carries."
      >
        {connect}
      </PageHeader>
      <List
        query={accounts}
        address={address}
        what="ad accounts"
        empty={
          <EmptyState
            icon={Radio}
            title="No ad accounts yet"
            words="Report conversions to Meta, TikTok or Google, so that they find more people who convert."
          >
            {connect}
          </EmptyState>
        }
      >
        {rows => (
          <>
            <AmbiguousAccounts accounts={rows} />
            <AccountTable accounts={rows} />
          </>
        )}
      </List>
      <ConnectAdAccount open={connecting} onClose={() => setConnecting(false)} />
    </>
  )
}

/** Sluice does not guess between two accounts of a platform. This note says so before conversions go missing. */
function AmbiguousAccounts({ accounts }: { accounts: readonly AdAccountRow[] }) {
  const inUse = accounts.filter(({ state }) => state !== 'off')
  const crowded = [...Map.groupBy(inUse, ({ platform }) => platform)].filter(([, list]) => list.length > 1)
  if (crowded.length === 0) return null
  const names = crowded.map(([platform]) => AD_PLATFORM_LABELS[platform]).join(' and ')
  return (
    <div className="mb-4">
      <Note>
        <strong>There are several accounts at {names}.</strong> Only campaigns that name one of them report to it: a
        click id alone does not say which to use.
      </Note>
    </div>
  )
}

const idOf = ({ platform, settings }: AdAccountRow): string =>
  String((settings as Readonly<Record<string, unknown>>)[PLATFORM_FORMS[platform].id.field])

function AccountTable({ accounts }: { accounts: readonly AdAccountRow[] }) {
  return (
    <Table caption="Ad accounts">
      <thead>
        <tr>
          <Head stay>Name</Head>
          <Head>State</Head>
          <Head>Platform</Head>
          <Head>Account id</Head>
          <Head>Credential</Head>
          <Head numeric>Events sent</Head>
          <Head>Connected</Head>
        </tr>
      </thead>
      <tbody>
        {accounts.map(account => (
          <Row key={account.id}>
            <RowHead stay>
              <Link to="/ad-accounts/$id" params={{ id: account.id }} className="hover:underline">
                {account.name}
              </Link>
            </RowHead>
            <Cell className="max-w-80 truncate" title={account.state_reason ?? undefined}>
              <AdAccountBadge state={account.state} />
              {account.state_reason !== null && <span className="ml-2 text-ink-faint">{account.state_reason}</span>}
            </Cell>
            <Cell>{AD_PLATFORM_LABELS[account.platform]}</Cell>
            <Cell className="font-mono text-sm">{idOf(account)}</Cell>
            <Cell className="max-w-64 truncate font-mono text-sm">{account.credential_hint}</Cell>
            <Cell numeric>{Object.keys(account.event_map).length}</Cell>
            <Cell>{day(account.created_at)}</Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}
