/** The list of Telegram bots: link, mode, subscribers, and whether starts are recorded. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Bot as BotIcon } from 'lucide-react'
import { createBot, listBots } from '../../../telegram/bots/api.ts'
import type { WireReply } from '../../../contract/endpoint.ts'
import { countSubscribers } from '../../../telegram/subscribers/api.ts'
import { ask } from '../../ground/call.ts'
import { ago, count, day, NONE } from '../../ground/figures/figures.ts'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { useListAddress } from '../../ground/ui/list.tsx'
import { ListPage } from '../../ground/ui/list-page.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { AddBotDialog } from './add-dialog.tsx'
import { type BotRow, StartsBadge } from './state.tsx'

const route = getRouteApi('/inside/bots')

export function BotsPage() {
  const address = useListAddress(route.useSearch())
  const bots = useQuery({ ...ask(listBots, { query: address.search }), placeholderData: keepPreviousData })
  return (
    <ListPage
      title="Bots"
      words="Starts through a bot’s link are recorded automatically on the click that led there."
      query={bots}
      address={address}
      empty={{
        icon: BotIcon,
        words:
          'Add a bot by its BotFather token, and send a campaign to its link. If your own program runs the bot, it keeps receiving all updates.',
      }}
      add={{
        endpoint: createBot,
        words: 'Add bot',
        dialog: ({ open, onClose }) => <AddBotDialog open={open} onClose={onClose} />,
      }}
    >
      {rows => <BotTable bots={rows} />}
    </ListPage>
  )
}

function BotTable({ bots }: { bots: readonly BotRow[] }) {
  const counts = useQuery(ask(countSubscribers)).data?.data
  return (
    <Table caption="Bots">
      <thead>
        <tr>
          <Head stay>Bot</Head>
          <Head>Starts</Head>
          <Head>Last update</Head>
          <Head>Run by</Head>
          <Head numeric title="People whose latest start is within the last seven days">
            Started, 7 d
          </Head>
          <Head numeric title="Subscribers the bot can message">
            Reachable
          </Head>
          <Head numeric title="Subscribers who have blocked the bot">
            Blocked
          </Head>
          <Head numeric title="Updates that Telegram has not delivered yet">
            Waiting
          </Head>
          <Head>Link for campaigns</Head>
          <Head>Added</Head>
        </tr>
      </thead>
      <tbody>
        {bots.map(bot => (
          <BotLine key={bot.id} bot={bot} counts={counts?.find(({ bot_id }) => bot_id === bot.id)} />
        ))}
      </tbody>
    </Table>
  )
}

type Counts = WireReply<typeof countSubscribers>['data'][number]

function CountCell({ id, value, state }: { id: string; value: number | undefined; state?: 'reachable' | 'blocked' }) {
  return (
    <Cell numeric faint={!value}>
      {value ? (
        <Link to="/subscribers" search={{ bot: id, state }} className="hover:text-accent">
          {count(value)}
        </Link>
      ) : (
        NONE
      )}
    </Cell>
  )
}

function BotLine({ bot, counts }: { bot: BotRow; counts: Counts | undefined }) {
  const { id, username, name, mode, relay_host, pending_updates, last_update_at, link, created_at } = bot
  return (
    <Row>
      <RowHead stay>
        <Link to="/bots/$id" params={{ id }} className="hover:text-accent" title={name ?? undefined}>
          @{username}
        </Link>
      </RowHead>
      <Cell>
        <StartsBadge bot={bot} />
      </Cell>
      <Cell faint={last_update_at === null}>{last_update_at === null ? NONE : ago(last_update_at)}</Cell>
      <Cell>{relay_host ?? (mode === 'own' ? 'Sluice' : 'Your program')}</Cell>
      <CountCell id={id} value={counts?.started_7d} />
      <CountCell id={id} value={counts?.reachable} state="reachable" />
      <CountCell id={id} value={counts?.blocked} state="blocked" />
      <Cell numeric faint={pending_updates === null || pending_updates === 0}>
        {pending_updates === null ? NONE : count(pending_updates)}
      </Cell>
      <Cell>
        <span className="flex items-center gap-1">
          <span className="max-w-40 truncate font-mono text-sm text-ink-soft" title={link}>
            {link}
          </span>
          <CopyButton text={link} look="quiet" about={`the link of ${username}`} />
        </span>
      </Cell>
      <Cell>{day(created_at)}</Cell>
    </Row>
  )
}
