/** One subscriber: their click, the bots that know them, and their history. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import {
  countSubscribers,
  forgetSubscriber,
  listSubscribers,
  readSubscriber,
} from '../../../telegram/subscribers/api.ts'
import type { WireReply } from '../../../contract/endpoint.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { ago, country, exactMoney, moment, NONE } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Loaded, PageHeader, Setting } from '../../ground/ui/page.tsx'
import { sentence } from '../../ground/ui/plain-words.ts'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { amountWords } from '../payments/amount.ts'
import { sourceWords, SubscriberBadge } from './state.tsx'

type SubscriberDetail = WireReply<typeof readSubscriber>

const route = getRouteApi('/inside/subscribers/$id')

export function SubscriberPage() {
  const { id } = route.useParams()
  const person = useQuery(ask(readSubscriber, { params: { id } }))
  return (
    <>
      <BackLink to="/subscribers">Subscribers</BackLink>
      <Loaded query={person} title="Subscriber">
        {known => <Person known={known} />}
      </Loaded>
    </>
  )
}

function Person({ known }: { known: SubscriberDetail }) {
  const { subscriber, bots, click, events, payments, tasks, channels, broadcasts } = known
  const { name, telegram_user_id, state, language, last_seen_at, source, created_at } = subscriber
  const seen = last_seen_at === null ? 'not seen since' : `last seen ${ago(last_seen_at)}`
  return (
    <>
      <PageHeader
        title={name ?? telegram_user_id}
        words={
          <span className="flex flex-wrap items-center gap-2">
            <SubscriberBadge state={state} />
            {[
              name === null ? null : telegram_user_id,
              language,
              `${sourceWords(source).toLowerCase()} ${ago(created_at)}`,
              seen,
            ]
              .filter(part => part !== null)
              .join(' · ')}
          </span>
        }
      />
      <Setting title="Click" words="From the latest start, launch or payment that had a click.">
        <ClickWords click={click} />
      </Setting>
      <Setting title="Bots" words="The workspace’s bots that this person has used.">
        <ul className="flex flex-col gap-1.5">
          {bots.map(bot => (
            <li key={bot.id} className="flex items-center gap-2">
              <Link to="/bots/$id" params={{ id: bot.id }} className="hover:text-accent">
                @{bot.username}
              </Link>
              <SubscriberBadge state={bot.state} />
            </li>
          ))}
        </ul>
      </Setting>
      <HistorySection title="Events" words="Conversions on their clicks." heads={['Type', 'Payout']}>
        {events.map(({ id, at, type, payout, click_id }) => (
          <HistoryRow key={id} at={at}>
            <Cell>
              <Link to="/clicks/$id" params={{ id: click_id }} className="hover:text-accent">
                {inWords(type)}
              </Link>
            </Cell>
            <Cell faint={payout === null}>{payout === null ? NONE : exactMoney(payout)}</Cell>
          </HistoryRow>
        ))}
      </HistorySection>
      <HistorySection title="Payments" words="Through bots." heads={['Amount', 'Payout', '']}>
        {payments.map(({ id, at, amount, currency, payout, refunded_at }) => (
          <HistoryRow key={id} at={at}>
            <Cell>{amountWords(amount, currency)}</Cell>
            <Cell faint={payout === null}>{payout === null ? NONE : exactMoney(payout)}</Cell>
            <Cell>{refunded_at !== null && <Badge tone="warn">Refunded {ago(refunded_at)}</Badge>}</Cell>
          </HistoryRow>
        ))}
      </HistorySection>
      <HistorySection title="Channels" words="Channels they joined." heads={['Channel', 'State', 'Attribution']}>
        {channels.map(({ id, at, title, state: membership, certainty }) => (
          <HistoryRow key={id} at={at}>
            <Cell>{title}</Cell>
            <Cell>{sentence(membership)}</Cell>
            <Cell faint={certainty === null}>{certainty === null ? NONE : sentence(certainty)}</Cell>
          </HistoryRow>
        ))}
      </HistorySection>
      <HistorySection title="Broadcasts" words="Sent to them." heads={['Broadcast', 'Outcome']}>
        {broadcasts.map(({ broadcast_id, at, name: broadcast, state: outcome, reason }) => (
          <HistoryRow key={broadcast_id} at={at}>
            <Cell>{broadcast}</Cell>
            <Cell>{reason === null ? sentence(outcome) : `${sentence(outcome)}: ${reason}`}</Cell>
          </HistoryRow>
        ))}
      </HistorySection>
      <HistorySection title="Bot actions" words="In the last seven days." heads={['Action', 'Outcome']}>
        {tasks.map(({ id, at, kind, state: outcome, reason }) => (
          <HistoryRow key={id} at={at}>
            <Cell>{sentence(kind.replaceAll('_', ' '))}</Cell>
            <Cell>{reason === null ? sentence(outcome) : `${sentence(outcome)}: ${reason}`}</Cell>
          </HistoryRow>
        ))}
      </HistorySection>
      <Setting
        title="Forget"
        danger
        words="In every bot, channel and broadcast of this workspace. Conversions and charges keep the Telegram id."
      >
        <ForgetPart known={known} />
      </Setting>
    </>
  )
}

function ClickWords({ click }: { click: SubscriberDetail['click'] }) {
  if (click === null)
    return <p className="text-ink-soft">No click: they found the bot themselves, or used a link without a click id.</p>
  const { id, at, campaign, campaign_id, country: code } = click
  return (
    <p>
      <Link to="/clicks/$id" params={{ id }} className="text-accent hover:underline">
        Click of {moment(at)}
      </Link>
      {campaign !== null && campaign_id !== null && (
        <>
          {' '}
          in{' '}
          <Link to="/campaigns/$id" params={{ id: campaign_id }} className="hover:text-accent">
            {campaign}
          </Link>
        </>
      )}
      {code !== null && `, ${country(code)}`}
    </p>
  )
}

/** A table of one kind of history, newest first; hidden if empty. */
function HistorySection(props: {
  title: string
  words: string
  heads: readonly string[]
  children: readonly ReactNode[]
}) {
  const { title, words, heads, children } = props
  if (children.length === 0) return undefined
  return (
    <Setting wide title={title} words={words}>
      <Table caption={title}>
        <thead>
          <tr>
            <Head stay>When</Head>
            {heads.map(head => (
              <Head key={head}>{head}</Head>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </Table>
    </Setting>
  )
}

const HistoryRow = ({ at, children }: { at: string; children: ReactNode }) => (
  <Row>
    <RowHead stay title={moment(at)}>
      {ago(at)}
    </RowHead>
    {children}
  </Row>
)

function ForgetPart({ known: { subscriber } }: { known: SubscriberDetail }) {
  const { id, name, telegram_user_id } = subscriber
  const confirm = useConfirm()
  const navigate = useNavigate()
  const { role } = useActive()
  const forget = () =>
    confirm({
      title: `Forget ${name ?? telegram_user_id}?`,
      words:
        'Their Telegram id is erased in every bot, channel, join request, broadcast and payment. Conversions and charges keep it, so that each person is counted and billed once. If they write to a bot again, they become a new subscriber.',
      action: 'Forget this person',
      deed: async () => {
        await call(forgetSubscriber, { params: { id } })
        await navigate({ to: '/subscribers' })
        notify('Person forgotten')
      },
      refresh: [listSubscribers, countSubscribers],
    })
  return (
    <Button look="danger" reason={reasonAgainst(forgetSubscriber, role)} onClick={forget}>
      Forget this person
    </Button>
  )
}
