/** The joins report of a channel: clicks, joins, stays, costs and attribution, as totals and by row. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { z } from 'zod'
import { type ChannelReport, readChannelReport } from '../../../telegram/members/api.ts'
import { ask } from '../../ground/call.ts'
import { certaintyName, CertaintyBar } from '../../ground/certainty.tsx'
import { count, country, money, NONE, percent, perUnit, ratio, shortDay } from '../../ground/figures/figures.ts'
import { useNow } from '../../ground/figures/now.ts'
import { daysOf, type Range } from '../../ground/figures/window.ts'
import { DaysChoice } from '../../ground/figures/window-controls.tsx'
import { MINUTE_MS, dayOf } from '../../../contract/days.ts'
import { SelectField } from '../../ground/ui/field.tsx'
import { Loaded, Section, Waiting } from '../../ground/ui/page.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'

type Report = z.input<typeof ChannelReport>
type Figures = Report['totals']
type Dimension = Report['dimension']

const DIMENSIONS: Record<Dimension, string> = {
  day: 'Day',
  campaign: 'Campaign',
  sub1: 'Sub1',
  geo: 'Country',
  certainty: 'Attribution',
}

type ChosenDays = { range?: Range | undefined; from?: string | undefined; to?: string | undefined }
type ChannelProps = { channel: { readonly id: string; readonly username: string | null } }

export function ChannelFigures({ channel }: ChannelProps) {
  const [chosen, setChosen] = useState<ChosenDays>({ range: '30d' })
  const [dimension, setDimension] = useState<Dimension>('day')
  // UTC days, because spend is booked by UTC day.
  const today = dayOf(useNow())
  const days = daysOf(chosen, today)
  const report = useQuery({
    ...ask(readChannelReport, {
      params: { id: channel.id },
      query: { dimension, date_from: days.from, date_to: days.to },
    }),
    placeholderData: keepPreviousData,
    refetchInterval: MINUTE_MS,
  })
  return (
    <Section
      title="Joins"
      words="By UTC day, with clicks and cost of the campaigns that lead here."
      aside={
        <DaysChoice
          search={chosen}
          days={days}
          today={today}
          areUtc
          onChange={changes => setChosen({ range: changes.range ?? '7d', from: changes.from, to: changes.to })}
        />
      }
    >
      {channel.username !== null && (
        <div className="mb-3">
          <Note kind="warning">
            <strong>This channel is public.</strong> People can join without an invite link, and such joins can be
            attributed only by the person. Make the channel private for certain attribution.
          </Note>
        </div>
      )}
      <Loaded query={report} what="channel" waiting={<Waiting className="h-72" />}>
        {found => (
          <>
            <div className="mb-4 overflow-hidden rounded-lg border border-line bg-surface">
              <Totals totals={found.totals} />
              <div className="border-t border-line px-3.5 py-3">
                <CertaintyBar shares={found.certainty} />
              </div>
            </div>
            <div className="mb-2 flex justify-end">
              <SelectField
                label="Rows"
                hideLabel
                toolbar
                value={dimension}
                onChange={event => setDimension(event.target.value as Dimension)}
              >
                {Object.entries(DIMENSIONS).map(([one, words]) => (
                  <option key={one} value={one}>
                    {`By ${words.toLowerCase()}`}
                  </option>
                ))}
              </SelectField>
            </div>
            <ReportTable report={found} />
          </>
        )}
      </Loaded>
    </Section>
  )
}

/** A cost per person; a dash where it is unknown. */
export const costPerPerson = (text: string | null, sign = ''): string =>
  text === null ? NONE : `${sign}${perUnit(Number(text))}`

function Totals({ totals }: { totals: Figures }) {
  const { clicks, requests, joins, organic, stays, left, cost, cost_per_join, cost_per_stayer } = totals
  const { matured, stayed } = stays[7]
  const stay = ratio(stayed, matured)
  const tiles: [label: string, value: string, words: string, title?: string][] = [
    ['Clicks', clicks === null ? NONE : count(clicks), ''],
    ['Requests', count(requests), ''],
    ['Joins', count(joins), clicks === null ? '' : `${percent(ratio(joins, clicks))} of clicks`],
    ['Organic', count(organic), 'no click'],
    ['Left', count(left), joins === 0 ? '' : `${percent(ratio(left, joins))} of joins`],
    [
      'Stayed 7 days',
      percent(stay),
      matured === 0 ? 'no join is 7 days old' : `${count(stayed)} of ${count(matured)}`,
      'Of joins at least seven days old',
    ],
    ['Cost', cost === null ? NONE : `$${money(cost)}`, ''],
    ['Cost per join', costPerPerson(cost_per_join, '$'), ''],
    [
      'Cost per stayer',
      costPerPerson(cost_per_stayer, '$'),
      '7 days',
      'Cost per join divided by the share that stayed 7 days',
    ],
  ]
  return (
    <dl className="grid grid-cols-2 gap-px bg-line sm:grid-cols-3 xl:grid-cols-9" aria-label="Figures of these days">
      {tiles.map(([label, value, words, title]) => (
        <div
          key={label}
          className="min-w-0 bg-surface px-3.5 pt-2.5 pb-2 last:max-sm:col-span-2 xl:px-2.5"
          title={title}
        >
          <dt className="truncate text-sm text-ink-soft">{label}</dt>
          <dd className="text-lg font-semibold tracking-tight whitespace-nowrap">{value}</dd>
          <dd className="h-4.5 truncate text-sm text-ink-faint xl:text-xs xl:leading-4.5">{words}</dd>
        </div>
      ))}
    </dl>
  )
}

function ReportTable({ report }: { report: Report }) {
  const { dimension, rows, not_broken_down, truncated } = report
  if (rows.length === 0) return <p className="text-ink-soft">No joins and no spend on these days.</p>
  const ordered = dimension === 'day' ? rows.toReversed() : rows
  const hasCost = dimension !== 'geo' && dimension !== 'certainty'
  return (
    <>
      <Table caption={`Joins by ${DIMENSIONS[dimension].toLowerCase()}`} className="max-h-[32rem]">
        <thead>
          <tr>
            <Head stay>{DIMENSIONS[dimension]}</Head>
            {dimension !== 'certainty' && <Head numeric>Clicks</Head>}
            <Head numeric>Requests</Head>
            <Head numeric>Joins</Head>
            {dimension !== 'certainty' && <Head numeric>Organic</Head>}
            <Head numeric>Left</Head>
            <Head numeric>1 day</Head>
            <Head numeric>7 days</Head>
            <Head numeric>30 days</Head>
            {hasCost && (
              <>
                <Head numeric>Cost, $</Head>
                <Head numeric>Cost/join, $</Head>
                <Head numeric>Cost/stayer, $</Head>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {ordered.map(row => (
            <Row key={row.key}>
              <RowHead stay className="max-w-60 truncate font-normal!">
                {labelOf(dimension, row)}
              </RowHead>
              {dimension !== 'certainty' && <Cell numeric>{count(row.clicks ?? 0)}</Cell>}
              <Cell numeric>{count(row.requests)}</Cell>
              <Cell numeric>{count(row.joins)}</Cell>
              {dimension !== 'certainty' && <Cell numeric>{count(row.organic)}</Cell>}
              <Cell numeric>{count(row.left)}</Cell>
              <StayCell stay={row.stays[1]} />
              <StayCell stay={row.stays[7]} />
              <StayCell stay={row.stays[30]} />
              {hasCost && (
                <>
                  <Cell numeric>{row.cost === null ? NONE : money(row.cost)}</Cell>
                  <Cell numeric>{costPerPerson(row.cost_per_join)}</Cell>
                  <Cell numeric>{costPerPerson(row.cost_per_stayer)}</Cell>
                </>
              )}
            </Row>
          ))}
        </tbody>
      </Table>
      <p className="mt-2 text-sm text-ink-faint">
        1, 7 and 30 days: the share of people who stayed so long, of joins that are at least so old.
        {not_broken_down !== null && ` $${money(not_broken_down)} of the cost was booked without a sub1.`}
        {truncated && ' Only the first rows are shown; the totals cover all.'}
      </p>
    </>
  )
}

function labelOf(dimension: Dimension, { key, label }: Report['rows'][number]): ReactNode {
  if (dimension === 'day') return shortDay(key)
  if (dimension === 'certainty') return certaintyName(key as Parameters<typeof certaintyName>[0])
  return dimension === 'geo' && key !== '' ? country(key) : label
}

function StayCell({ stay: { matured, stayed } }: { stay: Figures['stays'][7] }) {
  return (
    <Cell numeric faint={matured === 0} title={`${count(stayed)} of ${count(matured)}`}>
      {percent(ratio(stayed, matured))}
    </Cell>
  )
}
