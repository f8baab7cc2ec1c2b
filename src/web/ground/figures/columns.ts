/** The columns of the report's table: what each shows, and what it sorts by. */
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts'
import { type FigureKey, figureOf, headOf } from '../../../contract/figures.ts'
import { inWords } from '../rungs.ts'
import { count, moneyOrNone, NONE, percent, perUnit } from './figures.ts'
import { type Measures, measure, numberOf, type Report, type Totals } from './measures.ts'
import type { Goal } from './search.ts'

export type Line = {
  row: Totals
  measures: Measures
  /** Its figures are not known, and shown as dashes. */
  isUnknown?: boolean
}

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

const called = (key: FigureKey) => ({ title: headOf(key), means: figureOf(key).means })

const counter = (id: Counter): Column => ({
  id,
  ...called(id),
  text: ({ row }) => count(row[id]),
  number: ({ row }) => row[id],
})

/** Types whose clicks have a column among the rungs. */
const ON_RUNGS: readonly EventType[] = ['land', 'bot_start', 'registration', 'lead', 'deposit', 'ftd']
const OFF_RUNGS = EVENT_TYPES.filter(type => !ON_RUNGS.includes(type))

const ofType = (type: EventType): Column => ({
  id: type,
  title: inWords(type),
  means: 'Approved conversions of this type: each counts, however many its click has',
  text: ({ row }) => count(row.by_type[type]?.approved ?? 0),
  number: ({ row }) => row.by_type[type]?.approved ?? 0,
})

const COLUMNS: readonly Column[] = [
  counter('clicks'),
  counter('landed'),
  counter('started'),
  counter('registered'),
  counter('lead'),
  counter('deposit'),
  counter('ftd'),
  {
    id: 'conversions',
    ...called('conversions'),
    text: ({ measures }) => count(measures.conversions),
    number: ({ measures }) => measures.conversions,
  },
  {
    id: 'conversions_pending',
    ...called('conversions_pending'),
    text: ({ measures }) => count(measures.pending),
    number: ({ measures }) => measures.pending,
  },
  {
    id: 'conversions_rejected',
    ...called('conversions_rejected'),
    text: ({ measures }) => count(measures.rejected),
    number: ({ measures }) => measures.rejected,
  },
  { id: 'cr', ...called('cr'), text: ({ measures }) => percent(measures.cr), number: ({ measures }) => measures.cr },
  {
    id: 'epc',
    ...called('epc'),
    text: ({ measures }) => perUnit(measures.epc),
    number: ({ measures }) => measures.epc,
  },
  {
    id: 'revenue',
    ...called('revenue'),
    text: ({ row }) => moneyOrNone(row.revenue),
    number: ({ row }) => Number(row.revenue),
  },
  {
    id: 'cost',
    ...called('cost'),
    needsCost: true,
    text: ({ measures }) => moneyOrNone(measures.cost),
    number: ({ measures }) => numberOf(measures.cost),
  },
  {
    id: 'profit',
    ...called('profit'),
    signed: true,
    needsCost: true,
    text: ({ measures }) => moneyOrNone(measures.profit),
    number: ({ measures }) => numberOf(measures.profit),
  },
  {
    id: 'roi',
    ...called('roi'),
    signed: true,
    needsCost: true,
    text: ({ measures }) => percent(measures.roi, true),
    number: ({ measures }) => measures.roi,
  },
  {
    id: 'cpc',
    ...called('cpc'),
    needsCost: true,
    text: ({ measures }) => perUnit(measures.cpc),
    number: ({ measures }) => measures.cpc,
  },
  {
    id: 'cpa',
    ...called('cpa'),
    needsCost: true,
    text: ({ measures }) => perUnit(measures.cpa),
    number: ({ measures }) => measures.cpa,
  },
  {
    id: 'revenue_pending',
    ...called('revenue_pending'),
    text: ({ row }) => moneyOrNone(row.revenue_pending),
    number: ({ row }) => numberOf(row.revenue_pending),
  },
  {
    id: 'approval_rate',
    ...called('approval_rate'),
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

const VERDICTS: readonly string[] = ['conversions_pending', 'conversions_rejected', 'revenue_pending', 'approval_rate']

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
  const { by_type, pending = 0, rejected = 0 } = totals
  const [hasCost, isJudged] = [hasSpend(dimension), pending > 0 || rejected > 0]
  const known = COLUMNS.filter(({ needsCost, id }) => (hasCost || !needsCost) && (isJudged || !VERDICTS.includes(id)))
  const types = OFF_RUNGS.filter(type => by_type[type] !== undefined)
  return known.flatMap(column => (column.id === 'conversions' ? [...types.map(ofType), column] : [column]))
}

export const lineOf = (row: Totals, goal: Goal): Line => ({ row, measures: measure(row, goal) })

/** What a column's heading says of the order, and what pressing it asks for: the largest first, the smallest first, then neither. */
export function orderBy(id: string, sort: string | undefined) {
  const now = sort === `-${id}` ? ('desc' as const) : sort === id ? ('asc' as const) : undefined
  return { now, next: now === undefined ? `-${id}` : now === 'desc' ? id : undefined }
}

/** Rows in the order of a column, what is shown as a dash last; undefined leaves the server's order. */
export function sorted<L extends Line>(lines: readonly L[], sort: string | undefined): readonly L[] {
  const id = sort?.replace('-', '')
  const type = OFF_RUNGS.find(one => one === id)
  const column = type === undefined ? COLUMNS.find(one => one.id === id) : ofType(type)
  if (sort === undefined || column === undefined) return lines
  const direction = sort.startsWith('-') ? -1 : 1
  const valueOf = (line: L) => (line.isUnknown === true ? undefined : column.number(line))
  return lines.toSorted((one, other) => {
    const [a, b] = [valueOf(one), valueOf(other)]
    if (a === undefined || b === undefined) return (a === undefined ? 1 : 0) - (b === undefined ? 1 : 0)
    return (a - b) * direction
  })
}
