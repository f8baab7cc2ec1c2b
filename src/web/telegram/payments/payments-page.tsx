/** The list of payments through bots, with the payouts they were recorded as. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Star } from 'lucide-react'
import type { z } from 'zod'
import { KINDS, listPayments, type Payment } from '../../../telegram/payments/api.ts'
import { ask } from '../../ground/call.ts'
import { ago, day, exactMoney, moment, NONE } from '../../ground/figures/figures.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { BetweenDays } from '../../ground/ui/between-days.tsx'
import { buttonLook } from '../../ground/ui/button.tsx'
import { Choice } from '../../ground/ui/choice.tsx'
import { ClearFilters, List, useListAddress } from '../../ground/ui/list.tsx'
import { EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { isoDayAfter, isoDayBegins } from '../../ground/ui/period.ts'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { BotChoice } from '../bots/bot-choice.tsx'
import { amountWords } from './amount.ts'

type PaymentRow = z.input<typeof Payment>

const route = getRouteApi('/inside/payments')

const KIND_WORDS: Record<(typeof KINDS)[number], string> = {
  one_off: 'One-off',
  first: 'Subscription, first payment',
  renewal: 'Subscription, renewal',
}

export function PaymentsPage() {
  const address = useListAddress(route.useSearch())
  const { search, narrow, clear } = address
  const { bot, kind, refunded, from, to, cursor } = search
  const payments = useQuery({
    ...ask(listPayments, {
      query: {
        bot_id: bot,
        kind,
        is_refunded: refunded === undefined ? undefined : refunded === 'yes' ? 'true' : 'false',
        from: from && isoDayBegins(from),
        to: to && isoDayAfter(to),
        cursor,
      },
    }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PageHeader
        title="Payments"
        words="Payments through bots. Each is recorded on the payer’s click; Stars are converted at the bot’s rate."
      >
        <BotChoice bot={bot} onChange={chosen => narrow({ bot: chosen })} />
        <Choice
          label="Kind"
          any="Any kind"
          options={KINDS}
          words={one => KIND_WORDS[one]}
          value={kind}
          onChange={chosen => narrow({ kind: chosen })}
        />
        <Choice
          label="Refunded"
          any="Refunded or not"
          options={['yes', 'no'] as const}
          words={one => (one === 'yes' ? 'Refunded' : 'Not refunded')}
          value={refunded}
          onChange={chosen => narrow({ refunded: chosen })}
        />
        <BetweenDays happened="Paid" search={search} onChange={narrow} />
        <ClearFilters isNarrowed={[bot, kind, refunded, from, to].some(one => one !== undefined)} onClear={clear} />
      </PageHeader>
      <List
        query={payments}
        address={address}
        what="payments"
        empty={
          <EmptyState
            icon={Star}
            title="No payments yet"
            words="Payments in Stars and other currencies through your bots appear here automatically. Set the value of a Star on the bot’s page."
          >
            <Link to="/bots" className={buttonLook('plain')}>
              Bots
            </Link>
          </EmptyState>
        }
      >
        {rows => <PaymentTable rows={rows} />}
      </List>
    </>
  )
}

function PaymentTable({ rows }: { rows: readonly PaymentRow[] }) {
  return (
    <Table caption="Payments">
      <thead>
        <tr>
          <Head stay>Paid</Head>
          <Head numeric>Amount</Head>
          <Head numeric>Payout</Head>
          <Head>Kind</Head>
          <Head>State</Head>
          <Head>Bot</Head>
          <Head>Person</Head>
          <Head>Click</Head>
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <Row key={row.id}>
            <RowHead stay title={moment(row.paid_at)}>
              {ago(row.paid_at)}
            </RowHead>
            <Cell numeric>{amountWords(row.amount, row.currency)}</Cell>
            <Cell numeric faint={row.payout === null}>
              {row.payout === null ? NONE : exactMoney(row.payout)}
            </Cell>
            <Cell>{KIND_WORDS[row.kind]}</Cell>
            <Cell>
              <PaymentState row={row} />
            </Cell>
            <Cell>@{row.bot}</Cell>
            <Cell faint={row.subscriber_id === null}>
              {row.subscriber_id === null ? (
                NONE
              ) : (
                <Link to="/subscribers/$id" params={{ id: row.subscriber_id }} className="hover:text-accent">
                  Subscriber
                </Link>
              )}
            </Cell>
            <Cell faint={row.click_id === null}>
              {row.click_id === null ? (
                NONE
              ) : (
                <Link to="/clicks/$id" params={{ id: row.click_id }} className="font-mono text-sm hover:text-accent">
                  …{row.click_id.slice(-6)}
                </Link>
              )}
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

function PaymentState({ row: { refunded_at, cancelled_at, expires_at, found_by } }: { row: PaymentRow }) {
  return (
    <span className="flex items-center gap-1.5">
      {refunded_at !== null ? (
        <Badge tone="warn" title={moment(refunded_at)}>
          Refunded
        </Badge>
      ) : cancelled_at !== null ? (
        <Badge title={moment(cancelled_at)}>Cancelled</Badge>
      ) : expires_at === null ? (
        <Badge tone="good">Paid</Badge>
      ) : (
        <Badge tone="good">Until {day(expires_at)}</Badge>
      )}
      {found_by === 'look' && (
        <Badge tone="accent" title="Telegram sent no update; the payment was found in the bot’s Star transactions">
          Found later
        </Badge>
      )}
    </span>
  )
}
