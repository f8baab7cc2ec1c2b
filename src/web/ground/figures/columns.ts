/** The columns of the report's table: what each shows, and what it sorts by. */
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts'
import { inWords } from '../rungs.ts'
import { count, moneyOrNone, NONE, percent, perUnit } from './figures.ts'
import { type Measures, measure, numberOf, type Report, type Totals } from './measures.ts'
import type { Goal } from './search.ts'

export type Line = { row: Totals; measures: Measures }

export type Column = {
  id: string
  title: string
  /** What the heading means, where that is not plain. */
  means?: string
  text: (line: Line) => string
  number: (line: Line) => number | undefined
  /** Shown in red or green by its sign. */
  signed?: true
  needsCost?: true
}

type Counter = 'clicks' | 'landed' | 'started' | 'registered' | 'lead' | 'deposit' | 'ftd'

const counter = (id: Counter, title: string, means?: string): Column => ({
  id,
  title,
  ...(means === undefined ? {} : { means }),
  text: ({ row }) => count(row[id]),
  number: ({ row }) => row[id],
})

/** Types whose clicks have a column among the rungs. */
const ON_RUNGS: readonly EventType[] = ['land', 'bot_start', 'registration', 'lead', 'deposit', 'ftd']
const OFF_RUNGS = EVENT_TYPES.filter(type => !ON_RUNGS.includes(type))

const ofType = (type: EventType): Column => ({
  id: type,
  title: inWords(type),
  means: 'Conversions: each counts, however many its click has',
  text: ({ row }) => count(row.conversions[type] ?? 0),
  number: ({ row }) => row.conversions[type] ?? 0,
})

const COLUMNS: readonly Column[] = [
  counter('clicks', 'Clicks'),
  counter('landed', 'Landed'),
  counter('started', 'Started'),
  counter('registered', 'Reg.', 'Registered'),
  counter('lead', 'Lead'),
  counter('deposit', 'Deposit'),
  counter('ftd', 'FTD'),
  {
    id: 'goal',
    title: 'Conv.',
    text: ({ measures }) => count(measures.goal),
    number: ({ measures }) => measures.goal,
  },
  { id: 'cr', title: 'CR', text: ({ measures }) => percent(measures.cr), number: ({ measures }) => measures.cr },
  {
    id: 'epc',
    title: 'EPC',
    means: 'Revenue per click',
    text: ({ measures }) => perUnit(measures.epc),
    number: ({ measures }) => measures.epc,
  },
  {
    id: 'revenue',
    title: 'Revenue',
    text: ({ row }) => moneyOrNone(row.revenue),
    number: ({ row }) => Number(row.revenue),
  },
  {
    id: 'cost',
    title: 'Cost',
    needsCost: true,
    text: ({ measures }) => moneyOrNone(measures.cost),
    number: ({ measures }) => numberOf(measures.cost),
  },
  {
    id: 'profit',
    title: 'Profit',
    signed: true,
    needsCost: true,
    text: ({ measures }) => moneyOrNone(measures.profit),
    number: ({ measures }) => numberOf(measures.profit),
  },
  {
    id: 'roi',
    title: 'ROI',
    signed: true,
    needsCost: true,
    text: ({ measures }) => percent(measures.roi, true),
    number: ({ measures }) => measures.roi,
  },
  {
    id: 'cpc',
    title: 'CPC',
    means: 'Cost per click',
    needsCost: true,
    text: ({ measures }) => perUnit(measures.cpc),
    number: ({ measures }) => measures.cpc,
  },
  {
    id: 'cpa',
    title: 'CPA',
    means: 'Cost per conversion of the goal',
    needsCost: true,
    text: ({ measures }) => perUnit(measures.cpa),
    number: ({ measures }) => measures.cpa,
  },
  {
    id: 'hold',
    title: 'Hold',
    means: 'On hold: worth this much if it is approved',
    text: ({ row }) => moneyOrNone(row.revenue_pending),
    number: ({ row }) => numberOf(row.revenue_pending),
  },
  {
    id: 'approval',
    title: 'Approved',
    means:
      'Of the conversions that were decided, so many were approved; the others were rejected, refunded or charged back',
    text: ({ measures }) => percent(measures.approval),
    number: ({ measures }) => measures.approval,
  },
  {
    id: 'source',
    title: 'Cost from',
    means: 'manual: entered by hand; api: by a key; link: what the clicks themselves cost; mixed: of several',
    needsCost: true,
    text: ({ row }) => row.cost_source ?? NONE,
    number: () => undefined,
  },
]

const VERDICTS: readonly string[] = ['hold', 'approval']

const WITHOUT_SPEND: ReadonlySet<Report['dimension']> = new Set([
  'geo',
  'offer',
  'local_day',
  'local_hour',
  'local_weekday_hour',
])

/** Spend is known by campaign, day of UTC and sub1. */
export const hasSpend = (dimension: Report['dimension']): boolean => !WITHOUT_SPEND.has(dimension)

/**
 * Geo, offer and the days and hours of a time zone have no cost to divide. Conversions that raise no click to a rung have columns of
 * their own where there are any; so have holds and approvals where something was held or refused.
 */
export function columnsOf(dimension: Report['dimension'], totals: Totals): readonly Column[] {
  const { conversions, pending = 0, rejected = 0 } = totals
  const [hasCost, isJudged] = [hasSpend(dimension), pending > 0 || rejected > 0]
  const known = COLUMNS.filter(({ needsCost, id }) => (hasCost || !needsCost) && (isJudged || !VERDICTS.includes(id)))
  const types = OFF_RUNGS.filter(type => conversions[type] !== undefined)
  return known.flatMap(column => (column.id === 'goal' ? [...types.map(ofType), column] : [column]))
}

export const lineOf = (row: Totals, goal: Goal): Line => ({ row, measures: measure(row, goal) })

/** What a column's heading says of the order, and what pressing it asks for: the largest first, the smallest first, then neither. */
export function orderBy(id: string, sort: string | undefined) {
  const now = sort === `-${id}` ? ('desc' as const) : sort === id ? ('asc' as const) : undefined
  return { now, next: now === undefined ? `-${id}` : now === 'desc' ? id : undefined }
}

/** Rows in the order of a column, what has no value last; undefined leaves the server's order. */
export function sorted<L extends Line>(lines: readonly L[], sort: string | undefined): readonly L[] {
  const id = sort?.replace('-', '')
  const type = OFF_RUNGS.find(one => one === id)
  const column = type === undefined ? COLUMNS.find(one => one.id === id) : ofType(type)
  if (sort === undefined || column === undefined) return lines
  const direction = sort.startsWith('-') ? -1 : 1
  return lines.toSorted((one, other) => {
    const [a, b] = [column.number(one), column.number(other)]
    if (a === undefined || b === undefined) return (a === undefined ? 1 : 0) - (b === undefined ? 1 : 0)
    return (a - b) * direction
  })
}
