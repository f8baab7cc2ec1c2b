/** The columns of lists with figures: what each shows, and what it sorts by. */
import { type FigureKey, figureOf, headOf } from '../../../contract/figures.ts'
import { count, moneyOrNone, percent, perUnit } from './figures.ts'
import { type Measures, measure, numberOf, type Totals } from './measures.ts'
import type { Goal } from './search.ts'

export type FigureLine = {
  row: Totals
  measures: Measures
  /** Its figures are unknown and shown as dashes. */
  isUnknown?: boolean
}

type Column = {
  id: string
  title: string
  /** The tooltip of the heading. */
  means?: string
  text: (line: FigureLine) => string
  number: (line: FigureLine) => number | undefined
  /** Shown in red or green by its sign. */
  signed?: true
}

const headingOf = (key: FigureKey) => ({ title: headOf(key), means: figureOf(key).means })

/** The columns of the campaign list, in order. Other lists show some of them. */
export const LIST_COLUMNS: readonly Column[] = [
  {
    id: 'clicks',
    ...headingOf('clicks'),
    text: ({ row }) => count(row.clicks),
    number: ({ row }) => row.clicks,
  },
  {
    id: 'conversions',
    ...headingOf('conversions'),
    text: ({ measures }) => count(measures.conversions),
    number: ({ measures }) => measures.conversions,
  },
  { id: 'cr', ...headingOf('cr'), text: ({ measures }) => percent(measures.cr), number: ({ measures }) => measures.cr },
  {
    id: 'epc',
    ...headingOf('epc'),
    text: ({ measures }) => perUnit(measures.epc),
    number: ({ measures }) => measures.epc,
  },
  {
    id: 'revenue',
    ...headingOf('revenue'),
    text: ({ row }) => moneyOrNone(row.revenue),
    number: ({ row }) => Number(row.revenue),
  },
  {
    id: 'cost',
    ...headingOf('cost'),
    text: ({ measures }) => moneyOrNone(measures.cost),
    number: ({ measures }) => numberOf(measures.cost),
  },
  {
    id: 'profit',
    ...headingOf('profit'),
    signed: true,
    text: ({ measures }) => moneyOrNone(measures.profit),
    number: ({ measures }) => numberOf(measures.profit),
  },
  {
    id: 'roi',
    ...headingOf('roi'),
    signed: true,
    text: ({ measures }) => percent(measures.roi, true),
    number: ({ measures }) => measures.roi,
  },
]

export const lineOf = (row: Totals, goal: Goal): FigureLine => ({ row, measures: measure(row, goal) })

/** A column's current order, and the `sort` that pressing its heading sets: largest first, smallest first, then none. */
export function orderBy(id: string, sort: string | undefined) {
  const now = sort === `-${id}` ? ('desc' as const) : sort === id ? ('asc' as const) : undefined
  return { now, next: now === undefined ? `-${id}` : now === 'desc' ? id : undefined }
}

/** Rows sorted by a column, dashes last. Without `sort` the server's order stays. */
export function sorted<L extends FigureLine>(lines: readonly L[], sort: string | undefined): readonly L[] {
  const id = sort?.replace('-', '')
  const column = LIST_COLUMNS.find(one => one.id === id)
  if (sort === undefined || column === undefined) return lines
  const direction = sort.startsWith('-') ? -1 : 1
  const valueOf = (line: L) => (line.isUnknown === true ? undefined : column.number(line))
  return lines.toSorted((one, other) => {
    const [a, b] = [valueOf(one), valueOf(other)]
    if (a === undefined || b === undefined) return (a === undefined ? 1 : 0) - (b === undefined ? 1 : 0)
    return (a - b) * direction
  })
}
