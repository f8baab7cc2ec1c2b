/** The lines of the report under their heads, what no row can be charged with, and the totals always in sight. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { dayOf } from '../../../contract/days.ts'
import { type Column, columnsOf, type Line, lineOf, orderBy, sorted } from '../../ground/figures/columns.ts'
import { country, day, moneyOrNone } from '../../ground/figures/figures.ts'
import type { Report, Totals } from '../../ground/figures/measures.ts'
import { useNow } from '../../ground/figures/now.ts'
import type { Goal } from '../../ground/figures/search.ts'
import { isFigure } from '../../../contract/figures.ts'
import { meansOf, useGoalWords } from '../../ground/figures/goals.ts'
import { inWords } from '../../ground/rungs.ts'
import { useNameOfSub1 } from '../../ground/source-choice.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { dayAt, isUtc } from '../../ground/zone.ts'
import { tintOf } from '../explore/shades.ts'
import { NOT_BROKEN_DOWN } from './csv.ts'

export const WORDS: Record<Report['dimension'], string> = {
  campaign: 'Campaign',
  geo: 'Country',
  sub1: 'sub1',
  offer: 'Offer',
  day: 'Day',
  local_day: 'Day',
  local_hour: 'Hour',
  local_weekday_hour: 'Hour of the week',
}

type TableProps = {
  report: Report
  goal: Goal
  campaign: string | undefined
  sort: string | undefined
  onSort: (sort: string | undefined) => void
}

export function ReportTable({ report, goal, campaign, sort, onSort }: TableProps) {
  const { dimension, rows, totals, not_broken_down } = report
  const [showsAll, setShowsAll] = useState(false)
  const now = useNow()
  const today = dimension === 'local_day' ? dayAt(now) : dayOf(now)
  const all = columnsOf(dimension, totals)
  const words = useGoalWords(goal, campaign)
  const nameOfSub1 = useNameOfSub1(campaign)
  const empty = all.filter(column => isEmpty(column, totals, goal))
  const columns = showsAll ? all : all.filter(column => !empty.includes(column))
  const lines = sorted(
    rows.map(row => ({ ...lineOf(row, goal), key: row.key, label: row.label })),
    sort,
  )
  const most = Math.max(1, ...rows.map(row => row.clicks))
  return (
    <>
      <Table
        caption={`Report by ${WORDS[dimension]}`}
        className="max-h-[max(16rem,calc(100dvh-7rem))] [&_td:not(:last-child)]:px-2 [&_th:not(:first-child,:last-child)]:px-2"
      >
        <thead>
          <tr>
            <Head stay>
              {dimension === 'sub1' && nameOfSub1 !== undefined
                ? nameOfSub1
                : dimension === 'day' && !isUtc()
                  ? 'Day (UTC)'
                  : WORDS[dimension]}
            </Head>
            {columns.map(column => (
              <ColumnHead key={column.id} column={column} goal={words} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(line => (
            <Row key={line.key}>
              <RowHead stay className="max-w-36 truncate sm:max-w-56" title={line.label}>
                <Label dimension={dimension} id={line.key} label={line.label} />
                {(dimension === 'day' || dimension === 'local_day') && line.key === today && (
                  <span className="font-normal text-ink-faint"> so far</span>
                )}
                <span
                  aria-hidden
                  className="absolute bottom-0 left-0 h-0.5 bg-chart-1/60"
                  style={{ width: `${(line.row.clicks / most) * 100}%` }}
                />
              </RowHead>
              {columns.map(column => (
                <Figure key={column.id} column={column} line={line} />
              ))}
            </Row>
          ))}
        </tbody>
        <tfoot className="sticky bottom-0 z-10">
          {not_broken_down !== null && <Undivided columns={columns} spend={not_broken_down} />}
          <tr className="font-semibold [&>*]:border-t [&>*]:border-line-strong/50 [&>*]:bg-sunken">
            <RowHead stay className="bg-sunken! font-semibold!">
              Total
            </RowHead>
            {columns.map(column => (
              <Figure key={column.id} column={column} line={lineOf(totals, goal)} isTotal />
            ))}
          </tr>
        </tfoot>
      </Table>
      {empty.length > 0 && (
        <p className="mt-2 text-sm text-ink-faint">
          {`${showsAll ? 'The same in every row' : 'Folded, the same in every row'}: ${names(empty, totals)}. `}
          <button
            type="button"
            onClick={() => setShowsAll(!showsAll)}
            className="font-medium text-accent underline-offset-2 hover:underline"
          >
            {showsAll ? 'Fold' : 'Show'}
          </button>
        </p>
      )}
    </>
  )
}

/** The columns of types that are called otherwise there. */
const RUNG_OF: Partial<Record<Goal, string>> = { bot_start: 'started', registration: 'registered' }

const STAGES = new Set(['landed', 'started', 'registered', 'lead', 'deposit', 'ftd'])

/** A stage that no click came to, other than the goal; and where cost is from, where all of it is from one place. */
function isEmpty({ id }: Column, totals: Totals, goal: Goal): boolean {
  if (id === 'source') return totals.cost_source !== 'mixed'
  return STAGES.has(id) && id !== (RUNG_OF[goal] ?? goal) && totals[id as 'lead'] === 0
}

const SPOKEN = new Intl.ListFormat('en')

const names = (columns: readonly Column[], { cost_source }: Totals) =>
  SPOKEN.format(
    columns.map(({ id, title }) => (id === 'source' ? `${title} (${cost_source ?? 'none'})` : `${inWords(id)} (0)`)),
  )

/** Spend that no row is charged with: what it brought in is unknown, so it has no ROI and no CPA. */
function Undivided({ columns, spend }: { columns: readonly Column[]; spend: NonNullable<Report['not_broken_down']> }) {
  const text = (id: string) => (id === 'cost' ? moneyOrNone(spend.cost) : id === 'source' ? spend.cost_source : '')
  return (
    <tr className="[&>*]:border-t [&>*]:border-line [&>*]:bg-surface">
      <RowHead stay className="font-normal! text-ink-soft" title="Spend that was recorded without a sub1">
        {NOT_BROKEN_DOWN}
      </RowHead>
      {columns.map(({ id }) => (
        <Cell key={id} numeric>
          {text(id)}
        </Cell>
      ))}
    </tr>
  )
}

type ColumnHeadProps = { column: Column; goal: string } & Pick<TableProps, 'sort' | 'onSort'>

function ColumnHead({ column, goal, sort, onSort }: ColumnHeadProps) {
  const title = isFigure(column.id) ? meansOf(column.id, goal) : column.means
  if (column.id === 'source')
    return (
      <Head numeric title={title}>
        {column.title}
      </Head>
    )
  const { now, next } = orderBy(column.id, sort)
  return (
    <Head numeric title={title} sort={{ now, onSort: () => onSort(next) }}>
      {column.title}
    </Head>
  )
}

function Figure({ column, line, isTotal = false }: { column: Column; line: Line; isTotal?: boolean }) {
  const text = column.text(line)
  const value = column.number(line)
  const isSigned = column.signed && value !== undefined && value !== 0
  const tint = column.id === 'roi' && !isTotal ? tintOf(value) : undefined
  return (
    <Cell
      numeric
      faint={text === '0' || text === '—' || (column.id === 'cr' && value === 0)}
      className={isSigned ? (value > 0 ? 'text-good' : 'text-bad') : undefined}
      style={tint}
    >
      {text}
    </Cell>
  )
}

function Label({ dimension, id, label }: { dimension: Report['dimension']; id: string; label: string }) {
  if (dimension === 'day' || dimension === 'local_day') return day(id)
  if (id === '') return <span className="font-normal text-ink-faint">{label}</span>
  if (dimension === 'geo')
    return (
      <>
        {country(id)} <span className="font-normal text-ink-faint">{id}</span>
      </>
    )
  if (dimension !== 'campaign') return label
  return (
    <Link
      from="/"
      to="."
      search={before => ({ ...before, campaign: id, by: 'day' as const, sort: undefined })}
      resetScroll={false}
      className="underline-offset-2 hover:underline"
    >
      {label}
    </Link>
  )
}
