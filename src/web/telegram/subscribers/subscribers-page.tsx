/** The list of subscribers: everyone who has used a bot, and whether the bot can message them. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Users } from 'lucide-react'
import { useState } from 'react'
import { exportSubscribers, importSubscribers, listSubscribers } from '../../../telegram/subscribers/api.ts'
import { changeSubscribers } from '../../../people/bulk/api.ts'
import { ask } from '../../ground/call.ts'
import { useCampaignNames } from '../../ground/campaign-choice.tsx'
import { ago, moment, NONE } from '../../ground/figures/figures.ts'
import { WithActs } from '../../ground/many/act-bar.tsx'
import { SelectBox, SelectPage } from '../../ground/many/selection.tsx'
import { buttonLook } from '../../ground/ui/button.tsx'
import { AddButton, List, useListAddress } from '../../ground/ui/list.tsx'
import { EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { SaveCsv } from '../../ground/save-csv.tsx'
import { isoDayAfter, isoDayBegins } from '../../ground/ui/period.ts'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { useBots } from '../bots/bot-choice.tsx'
import { ImportDialog } from './import-dialog.tsx'
import { SubscriberFilters } from './subscriber-filters.tsx'
import { sourceWords, SubscriberBadge, type SubscriberRow } from './state.tsx'

const route = getRouteApi('/inside/subscribers')

export function SubscribersPage() {
  const address = useListAddress(route.useSearch())
  const { search } = address
  const [importing, setImporting] = useState(false)
  const { bot, campaign, state, source, event, lacks, country, sub1, language, channel, outside } = search
  const { q, from, to, cursor } = search
  const query = {
    bot_id: bot,
    campaign_id: campaign,
    state,
    source,
    event,
    has_no_event: lacks,
    geo: country,
    sub1,
    language,
    channel_in: channel,
    channel_not_in: outside,
    telegram_user_id: q !== undefined && /^\d{1,19}$/.test(q) ? q : undefined,
    from: from && isoDayBegins(from),
    to: to && isoDayAfter(to),
  }
  const people = useQuery({
    ...ask(listSubscribers, { query: { ...query, cursor } }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PageHeader title="Subscribers" words="People who started a bot or wrote to it, and whether it can message them.">
        <SubscriberFilters address={address} />
        <SaveCsv endpoint={exportSubscribers} query={query} name="subscribers" />
        <AddButton endpoint={importSubscribers} onClick={() => setImporting(true)}>
          Import
        </AddButton>
      </PageHeader>
      <List
        query={people}
        address={address}
        what="subscribers"
        empty={
          <EmptyState
            icon={Users}
            title="No subscribers yet"
            words="Everyone who starts one of your bots becomes a subscriber. Import people who started it before by their Telegram ids."
          >
            <Link to="/bots" className={buttonLook('plain')}>
              Bots
            </Link>
          </EmptyState>
        }
      >
        {rows => (
          <WithActs
            endpoint={changeSubscribers}
            what="subscribers"
            acts={[]}
            filter={query}
            hasMore={cursor !== undefined || people.data?.next_cursor !== null}
          >
            <SubscriberTable rows={rows} />
          </WithActs>
        )}
      </List>
      <ImportDialog open={importing} onClose={() => setImporting(false)} bot={bot} />
    </>
  )
}

function SubscriberTable({ rows }: { rows: readonly SubscriberRow[] }) {
  const bots = useBots()
  const nameOf = useCampaignNames(rows.map(({ campaign_id }) => campaign_id))
  return (
    <Table caption="Subscribers">
      <thead>
        <tr>
          <Head stay>
            <SelectPage />
            Person
          </Head>
          <Head>State</Head>
          <Head>Bot</Head>
          <Head>Campaign</Head>
          <Head>Source</Head>
          <Head>Language</Head>
          <Head>Last seen</Head>
          <Head>First seen</Head>
        </tr>
      </thead>
      <tbody>
        {rows.map(
          ({ id, name, telegram_user_id, state, bot_id, campaign_id, source, language, last_seen_at, created_at }) => (
            <Row key={id}>
              <RowHead stay>
                <SelectBox id={id} name={name ?? telegram_user_id} />
                <Link to="/subscribers/$id" params={{ id }} className="hover:text-accent">
                  {name ?? <span className="font-mono text-sm">{telegram_user_id}</span>}
                </Link>
              </RowHead>
              <Cell>
                <SubscriberBadge state={state} />
              </Cell>
              <Cell>@{bots.find(one => one.id === bot_id)?.username ?? '…'}</Cell>
              <Cell faint={campaign_id === null}>{nameOf(campaign_id) ?? NONE}</Cell>
              <Cell>{sourceWords(source)}</Cell>
              <Cell faint={language === null}>{language ?? NONE}</Cell>
              <Cell faint={last_seen_at === null} title={last_seen_at === null ? undefined : moment(last_seen_at)}>
                {last_seen_at === null ? NONE : ago(last_seen_at)}
              </Cell>
              <Cell title={moment(created_at)}>{ago(created_at)}</Cell>
            </Row>
          ),
        )}
      </tbody>
    </Table>
  )
}
