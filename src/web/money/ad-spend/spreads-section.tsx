/** The amounts spread over clicks: how much of each counts, and taking one back. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { listSpreads, type Spread, takeBackSpread } from '../../../money/ad-spend/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { useCampaignNames } from '../../ground/campaign-choice.tsx'
import { ago, count, exactMoney, moment } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Section } from '../../ground/ui/page.tsx'
import { Pager } from '../../ground/ui/pager.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'

type SpreadRow = z.input<typeof Spread>

export function SpreadsSection({ campaign }: { campaign: string | undefined }) {
  const [cursor, setCursor] = useState<string>()
  const spreads = useQuery({
    ...ask(listSpreads, { query: { campaign_id: campaign, cursor, limit: 20 } }),
    placeholderData: keepPreviousData,
  })
  if (spreads.data === undefined || (spreads.data.data.length === 0 && cursor === undefined)) return null
  return (
    <Section
      title="Spread over clicks"
      words="Amounts divided over the clicks of a time window, by UTC day and sub1. Spend recorded by day overrides them."
      className="mt-8"
    >
      <SpreadsTable rows={spreads.data.data} />
      <Pager cursor={cursor} next={spreads.data.next_cursor} onGo={setCursor} />
    </Section>
  )
}

function SpreadsTable({ rows }: { rows: readonly SpreadRow[] }) {
  const nameOf = useCampaignNames(rows.map(({ campaign_id }) => campaign_id))
  return (
    <Table caption="Amounts spread over clicks">
      <thead>
        <tr>
          <Head stay>Campaign</Head>
          <Head>From</Head>
          <Head>Until</Head>
          <Head numeric>Clicks</Head>
          <Head numeric>Amount, $</Head>
          <Head>State</Head>
          <Head>By</Head>
          <ActionHead />
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <Row key={row.id}>
            <RowHead stay className="max-w-60 truncate">
              {row.sub1 === '' ? nameOf(row.campaign_id) : `${nameOf(row.campaign_id)}, sub1 ${row.sub1}`}
            </RowHead>
            <Cell>{moment(row.from)}</Cell>
            <Cell>{moment(row.to)}</Cell>
            <Cell numeric>{count(row.clicks)}</Cell>
            <Cell
              numeric
              faint={row.taken_back_at !== null}
              title={
                row.original === null
                  ? undefined
                  : `${exactMoney(row.original.original_amount)} ${row.original.currency}`
              }
            >
              {exactMoney(row.amount)}
            </Cell>
            <Cell>{stateOf(row)}</Cell>
            <Cell title={moment(row.created_at)}>{`${row.created_by ?? 'Someone'}, ${ago(row.created_at)}`}</Cell>
            <ActionCell>
              {row.taken_back_at === null && <TakeBack row={row} of={nameOf(row.campaign_id) ?? 'its campaign'} />}
            </ActionCell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

function stateOf({ amount, counting, taken_back_at, taken_back_by }: SpreadRow): string {
  if (taken_back_at !== null) return `Taken back by ${taken_back_by ?? 'someone'}, ${ago(taken_back_at)}`
  return exactMoney(counting) === exactMoney(amount) ? 'Counts' : `$${exactMoney(counting)} of it counts`
}

function TakeBack({ row, of }: { row: SpreadRow; of: string }) {
  const { role } = useActive()
  const confirm = useConfirm()
  return (
    <Button
      size="sm"
      look="quiet"
      reason={reasonAgainst(takeBackSpread, role)}
      aria-label={`Take back $${exactMoney(row.amount)} of ${of}`}
      onClick={() =>
        confirm({
          title: `Take back $${exactMoney(row.amount)}?`,
          words: `Reports no longer count it as a cost of ${of}. To restore it, spread it again.`,
          action: 'Take back',
          look: 'danger',
          deed: () => call(takeBackSpread, { params: { id: row.id } }),
          refresh: [listSpreads],
          news: 'The amount is taken back',
        })
      }
    >
      Take back
    </Button>
  )
}
