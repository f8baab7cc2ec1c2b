/** The sums that measures are made of, in SQL over the local files: which columns they are made in, and what rows are ordered by. */
import { COST_MEASURES, type Measure, WITHOUT_COST } from '../../contract/explore.ts'
import type { Found } from './engine.ts'
import { nameOfPair, PAIR_SIZE, type Pair, type Paired, PAIRS } from './pairs.ts'
import type { Question } from './question.ts'

/** What sums are made of, as `local.ts` keeps it: one number of a click each, or two in one. */
const MADE_IN: Readonly<Record<Exclude<Sum, Paired>, string>> = {
  clicks: 'sign',
  rejected: 'rejected',
  conversions_rejected: 'conversions_rejected',
  revenue: 'revenue',
  revenue_pending: 'revenue_pending',
  cost: 'cost',
  clicks_without_cost: 'without_cost',
  revenue_without_cost: 'revenue_without_cost',
}
export type Sum =
  | 'clicks'
  | 'rejected'
  | 'conversions_rejected'
  | 'revenue'
  | 'revenue_pending'
  | 'cost'
  | 'clicks_without_cost'
  | 'revenue_without_cost'
  | Paired

export type Sums = Readonly<Record<Sum, bigint>> & { readonly unique_visitors?: bigint }

/** Both, because a question may count those on hold as well. */
const CONVERSIONS = ['conversions', 'conversions_pending'] as const

/** The sums a measure is made of. */
const MADE_OF: Readonly<Partial<Record<Measure, readonly Sum[]>>> = {
  conversions: CONVERSIONS,
  profit: ['revenue', 'cost'],
  epc: ['revenue'],
  cpc: ['cost'],
  cpa: ['cost', ...CONVERSIONS],
  cr: CONVERSIONS,
  roi: ['revenue', 'cost'],
  approval_rate: ['approved', 'rejected'],
  unique_visitors: [],
}

/** The sums that a question needs, clicks always among them. */
export function sumsOfQuestion(question: Pick<Question, 'measures' | 'levels'>): Sum[] {
  const sorts = question.levels.flatMap(({ sort }) => (sort.by === 'key' ? [] : [sort.by]))
  const measures = [...question.measures, ...sorts]
  const costs: readonly Sum[] = measures.some(isOfCost) ? ['cost', ...WITHOUT_COST] : []
  return [...new Set<Sum>(['clicks', ...measures.flatMap(measure => MADE_OF[measure] ?? [measure as Sum]), ...costs])]
}

/** Whether this is made of the cost of clicks. */
export const isOfCost = (measure: Measure) => (COST_MEASURES as readonly Measure[]).includes(measure)

/** Whether these columns say anything of the cost. */
export const haveCost = (columns: readonly string[]): boolean => columns.includes('cost')

const pairOf = (sum: Sum): Pair | undefined => PAIRS.find(pair => pair.some(name => name === sum))

/** The columns that these sums are made in. */
export const madeIn = (sums: readonly Sum[]): string[] => [
  ...new Set(
    sums.map(sum => {
      const pair = pairOf(sum)
      return pair === undefined ? MADE_IN[sum as keyof typeof MADE_IN] : nameOfPair(pair)
    }),
  ),
]

/** The sums of such columns under their own names. */
export const summed = (columns: readonly string[]): string =>
  columns.map(column => `coalesce(sum(${column}), 0) as ${column}`).join(', ')

/** The sums by their names, out of columns that were summed. */
export const named = (sums: readonly Sum[]): string => sums.map(sum => `${oneOf(sum)} as ${sum}`).join(', ')

function oneOf(sum: Sum): string {
  const pair = pairOf(sum)
  if (pair === undefined) return MADE_IN[sum as keyof typeof MADE_IN]
  const both = `${nameOfPair(pair)}::bigint`
  const low = `(((${both} + ${PAIR_SIZE / 2}) & ${PAIR_SIZE - 1}) - ${PAIR_SIZE / 2})`
  return pair[0] === sum ? low : `((${both} - ${low}) // ${PAIR_SIZE})`
}

/** A found row's sums; none where there is no row. */
export function sumsIn(row: Found | undefined, sums: readonly Sum[]): Sums {
  return Object.fromEntries(sums.map(name => [name, BigInt((row?.[name] as bigint | number | undefined) ?? 0)])) as Sums
}

/** What rows are ordered by, of columns that hold sums: whole numbers, so that the quotients are the same wherever they are made. */
export function orderOf(measure: Measure | 'key', count_pending: boolean): string {
  const conversions = count_pending ? '(conversions + conversions_pending)' : 'conversions'
  const ratio = (above: string, below: string) => `(${above})::double / nullif(${below}, 0)::double`
  // What is not known comes last.
  const known = (value: string) => `case when cost <> 0 or clicks_without_cost < clicks then ${value} end`
  switch (measure) {
    case 'key':
      return 'word'
    case 'conversions':
      return conversions
    case 'cost':
      return known('cost')
    case 'profit':
      return known('revenue * 1000000 - cost')
    case 'epc':
      return ratio('revenue', 'clicks')
    case 'cpc':
      return known(ratio('cost', 'clicks'))
    case 'cpa':
      return known(ratio('cost', conversions))
    case 'cr':
      return ratio(conversions, 'clicks')
    case 'roi':
      return known(ratio('revenue * 1000 - cost // 1000', 'cost // 1000'))
    case 'approval_rate':
      return ratio('approved', 'approved + rejected')
    default:
      return measure
  }
}
