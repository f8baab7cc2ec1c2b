/** The columns of lists with figures: what each shows, and what it sorts by. */
import { type FigureKey, figureOf, headOf } from '../../../contract/figures.ts'
import { count, moneyOrNone, percent, perUnit } from './figures.ts'
import { type Measures, measure, numberOf, type Totals } from './measures.ts'
import type { Goal } from './search.ts'

export type Line = {
  row: Totals
  measures: Measures
  /** Its figures are not known, and shown as dashes. */
  isUnknown?: boolean
}

type Column = {
  id: string
  title: string
  /** What the heading means, where that is not plain. */
  means?: string
  text: (line: Line) => string
  number: (line: Line) => number | undefined
  /** Shown in red or green by its sign. */
  signed?: true
}

const called = (key: FigureKey) => ({ title: headOf(key), means: figureOf(key).means })

/** Those of the list of campaigns, in their order; other lists have some of them. */
export const COLUMNS: readonly Column[] = [
  {
    id: 'clicks',
    ...called('clicks'),
    text: ({ row }) => count(row.clicks),
    number: ({ row }) => row.clicks,
  },
  {
    id: 'conversions',
    ...called('conversions'),
    text: ({ measures }) => count(measures.conversions),
    number: ({ measures }) => measures.conversions,
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
    text: ({ measures }) => moneyOrNone(measures.cost),
    number: ({ measures }) => numberOf(measures.cost),
  },
  {
    id: 'profit',
    ...called('profit'),
    signed: true,
    text: ({ measures }) => moneyOrNone(measures.profit),
    number: ({ measures }) => numberOf(measures.profit),
  },
  {
    id: 'roi',
    ...called('roi'),
    signed: true,
    text: ({ measures }) => percent(measures.roi, true),
    number: ({ measures }) => measures.roi,
  },
]

export const lineOf = (row: Totals, goal: Goal): Line => ({ row, measures: measure(row, goal) })

/** What a column's heading says of the order, and what pressing it asks for: the largest first, the smallest first, then neither. */
export function orderBy(id: string, sort: string | undefined) {
  const now = sort === `-${id}` ? ('desc' as const) : sort === id ? ('asc' as const) : undefined
  return { now, next: now === undefined ? `-${id}` : now === 'desc' ? id : undefined }
}

/** Rows in the order of a column, what is shown as a dash last; undefined leaves the server's order. */
export function sorted<L extends Line>(lines: readonly L[], sort: string | undefined): readonly L[] {
  const id = sort?.replace('-', '')
  const column = COLUMNS.find(one => one.id === id)
  if (sort === undefined || column === undefined) return lines
  const direction = sort.startsWith('-') ? -1 : 1
  const valueOf = (line: L) => (line.isUnknown === true ? undefined : column.number(line))
  return lines.toSorted((one, other) => {
    const [a, b] = [valueOf(one), valueOf(other)]
    if (a === undefined || b === undefined) return (a === undefined ? 1 : 0) - (b === undefined ? 1 : 0)
    return (a - b) * direction
  })
}
