/** The report as a table: one line per campaign, country, sub1, offer or day, and the totals always in sight. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { clsx } from 'clsx'
import { Download, Inbox } from 'lucide-react'
import { DIMENSIONS, type Dimension, readReportAsMember } from '../../../reading/reports/api.ts'
import { ask } from '../../ground/call.ts'
import { type Column, columnsOf, type Line, lineOf, orderBy, sorted } from '../../ground/figures/columns.ts'
import { country, day } from '../../ground/figures/figures.ts'
import type { Row as ReportRow, Totals } from '../../ground/figures/measures.ts'
import type { Goal, OverviewSearch } from '../../ground/figures/search.ts'
import { boundsOf, type Days } from '../../ground/figures/window.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Asked, EmptyState, Section, Waiting } from '../../ground/ui/page.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { download, reportCsv } from './csv.ts'

const WORDS: Record<Dimension, string> = {
  campaign: 'Campaign',
  geo: 'Country',
  sub1: 'sub1',
  offer: 'Offer',
  day: 'Day',
}

type PartProps = { search: OverviewSearch; days: Days; goal: Goal; onChange: (changes: OverviewSearch) => void }

export function ReportPart({ search, days, goal, onChange }: PartProps) {
  const dimension = search.by ?? 'campaign'
  const query = {
    dimension,
    ...boundsOf(days),
    ...(search.campaign === undefined ? {} : { campaign_id: search.campaign }),
  }
  const report = useQuery({ ...ask(readReportAsMember, { query }), placeholderData: keepPreviousData })
  const data = report.data
  return (
    <Section
      title="Report"
      aside={
        <div className="flex flex-wrap items-center gap-2">
          <DimensionSwitch now={dimension} />
          <Button
            icon={Download}
            size="sm"
            reason={data === undefined || data.rows.length === 0 ? 'There are no rows to save.' : undefined}
            onClick={() =>
              data !== undefined &&
              download(
                `sluice-${data.dimension}-${days.from}-${days.to}.csv`,
                reportCsv(data.dimension, data.rows, goal),
              )
            }
          >
            CSV
          </Button>
        </div>
      }
    >
      <Asked query={report} waiting={<Waiting className="h-72" />}>
        {({ dimension: shown, rows, totals, truncated, hint }) => (
          <>
            {truncated && (
              <Note kind="warning">
                <strong>Only the first {rows.length} rows are shown.</strong> {hint} The totals cover everything.
              </Note>
            )}
            {rows.length === 0 ? (
              <EmptyState
                icon={Inbox}
                title="No clicks in these days"
                words="Clicks appear here the moment they are made. Choose other days, or send traffic to a campaign’s address."
              />
            ) : (
              <div
                className={clsx('transition-opacity', truncated && 'mt-3', report.isPlaceholderData && 'opacity-60')}
              >
                <ReportTable
                  dimension={shown}
                  rows={rows}
                  totals={totals}
                  goal={goal}
                  sort={search.sort}
                  onSort={sort => onChange({ sort })}
                />
                {(shown === 'geo' || shown === 'offer') && (
                  <p className="mt-2 text-sm text-ink-faint">
                    Spend is recorded by campaign, day and sub1, so there is no cost by {WORDS[shown].toLowerCase()}.
                  </p>
                )}
              </div>
            )}
          </>
        )}
      </Asked>
    </Section>
  )
}

function DimensionSwitch({ now }: { now: Dimension }) {
  return (
    <nav aria-label="Rows of the report" className="flex rounded-md border border-line bg-sunken p-0.5">
      {DIMENSIONS.map(dimension => (
        <Link
          key={dimension}
          from="/"
          to="."
          search={before => ({ ...before, by: dimension === 'campaign' ? undefined : dimension, sort: undefined })}
          replace
          resetScroll={false}
          aria-current={dimension === now ? 'true' : undefined}
          className={clsx(
            'flex h-6 items-center rounded-sm px-2 text-sm font-medium pointer-coarse:h-8',
            dimension === now ? 'bg-raised text-ink shadow-[0_1px_2px_var(--shade)]' : 'text-ink-soft hover:text-ink',
          )}
        >
          {WORDS[dimension]}
        </Link>
      ))}
    </nav>
  )
}

type TableProps = {
  dimension: Dimension
  rows: readonly ReportRow[]
  totals: Totals
  goal: Goal
  sort: string | undefined
  onSort: (sort: string | undefined) => void
}

function ReportTable({ dimension, rows, totals, goal, sort, onSort }: TableProps) {
  const columns = columnsOf(dimension)
  const lines = sorted(
    rows.map(row => ({ ...lineOf(row, goal), key: row.key, label: row.label })),
    sort,
  )
  const most = Math.max(1, ...rows.map(row => row.clicks))
  return (
    <Table caption={`Report by ${WORDS[dimension]}`} className="max-h-[34rem]">
      <thead>
        <tr>
          <Head stay>{WORDS[dimension]}</Head>
          {columns.map(column => (
            <ColumnHead key={column.id} column={column} goal={goal} sort={sort} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <tbody>
        {lines.map(line => (
          <Row key={line.key}>
            <RowHead stay className="max-w-36 truncate sm:max-w-56" title={line.label}>
              <Label dimension={dimension} id={line.key} label={line.label} />
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
      <tfoot className="sticky bottom-0 z-10 font-semibold">
        <tr className="[&>*]:border-t [&>*]:border-line-strong/50 [&>*]:bg-sunken">
          <RowHead stay className="bg-sunken! font-semibold!">
            Total
          </RowHead>
          {columns.map(column => (
            <Figure key={column.id} column={column} line={lineOf(totals, goal)} />
          ))}
        </tr>
      </tfoot>
    </Table>
  )
}

type ColumnHeadProps = { column: Column; goal: Goal } & Pick<TableProps, 'sort' | 'onSort'>

function ColumnHead({ column, goal, sort, onSort }: ColumnHeadProps) {
  const title = column.id === 'cr' ? `${goal} per click` : column.means
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

function Figure({ column, line }: { column: Column; line: Line }) {
  const text = column.text(line)
  const value = column.number(line)
  const sign = column.signed && value !== undefined && value !== 0 ? (value > 0 ? 'text-good' : 'text-bad') : undefined
  return (
    <Cell numeric faint={text === '0' || text === '—'} className={sign}>
      {text}
    </Cell>
  )
}

function Label({ dimension, id, label }: { dimension: Dimension; id: string; label: string }) {
  if (dimension === 'day') return day(id)
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
