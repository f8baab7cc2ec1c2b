/** Whom bots may write to, and how that stands. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Users } from 'lucide-react'
import { useState } from 'react'
import { EVENT_TYPES } from '../../../contract/event-types.ts'
import { importSubscribers, listSubscribers, SOURCES, STATES } from '../../../telegram/subscribers/api.ts'
import { ask } from '../../ground/call.ts'
import { CampaignChoice, useCampaignNames } from '../../ground/campaign-choice.tsx'
import { ago, moment, NONE } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import { BetweenDays } from '../../ground/ui/between-days.tsx'
import { buttonLook } from '../../ground/ui/button.tsx'
import { Choice } from '../../ground/ui/choice.tsx'
import { AddButton, ClearFilters, List, useListAddress } from '../../ground/ui/list.tsx'
import { EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { dayAfter, dayBegins } from '../../ground/ui/period.ts'
import { SearchField } from '../../ground/ui/search-field.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { BotChoice, useBots } from '../bots/bot-choice.tsx'
import { ImportDialog } from './import-dialog.tsx'
import { sourceWords, stateWords, SubscriberBadge, type SubscriberRow } from './state.tsx'

const route = getRouteApi('/inside/subscribers')

export function SubscribersPage() {
  const address = useListAddress(route.useSearch())
  const { search, narrow, clear } = address
  const [importing, setImporting] = useState(false)
  const { bot, campaign, state, source, event, q, from, to, cursor } = search
  const people = useQuery({
    ...ask(listSubscribers, {
      query: {
        bot_id: bot,
        campaign_id: campaign,
        state,
        source,
        event,
        telegram_user_id: q !== undefined && /^\d{1,19}$/.test(q) ? q : undefined,
        from: from && dayBegins(from),
        to: to && dayAfter(to),
        cursor,
      },
    }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PageHeader title="Subscribers" words="Who has started a bot or written to it: whom it may write to.">
        <SearchField
          label="Number at Telegram"
          placeholder="Number at Telegram"
          value={q}
          onSeek={sought => narrow({ q: sought })}
        />
        <BotChoice bot={bot} onChange={chosen => narrow({ bot: chosen })} />
        <Choice
          label="State"
          any="Any state"
          options={STATES}
          words={stateWords}
          value={state}
          onChange={chosen => narrow({ state: chosen })}
        />
        <CampaignChoice campaign={campaign} onChange={chosen => narrow({ campaign: chosen })} />
        <Choice
          label="Came by"
          any="Any way"
          options={SOURCES}
          words={sourceWords}
          value={source}
          onChange={chosen => narrow({ source: chosen })}
        />
        <Choice
          label="Has"
          any="Any event"
          options={EVENT_TYPES}
          words={inWords}
          value={event}
          onChange={chosen => narrow({ event: chosen })}
        />
        <BetweenDays happened="First heard of" search={search} onChange={narrow} />
        <ClearFilters
          isNarrowed={[bot, campaign, state, source, event, q, from, to].some(one => one !== undefined)}
          onClear={clear}
        />
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
            words="Whoever starts one of your bots is one. People who started it before Sluice knew it can be imported by their numbers."
          >
            <Link to="/bots" className={buttonLook('plain')}>
              Bots
            </Link>
          </EmptyState>
        }
      >
        {rows => <SubscriberTable rows={rows} />}
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
          <Head stay>Person</Head>
          <Head>State</Head>
          <Head>Bot</Head>
          <Head>Campaign</Head>
          <Head>Came by</Head>
          <Head>Language</Head>
          <Head>Last seen</Head>
          <Head>First heard of</Head>
        </tr>
      </thead>
      <tbody>
        {rows.map(
          ({ id, name, telegram_user_id, state, bot_id, campaign_id, source, language, last_seen_at, created_at }) => (
            <Row key={id}>
              <RowHead stay>
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
