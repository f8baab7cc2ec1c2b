/** The sums that measures are computed from, in SQL over the local files: their columns, and the order of rows. */
import {
  COST_MEASURES,
  type EventMeasure,
  isEventRevenue,
  KNOWN_COST_MEASURES,
  type Measure,
  WITHOUT_COST,
} from '../../contract/explore-measures.ts'
import { toUnits } from '../../contract/decimals.ts'
import type { ExploreHaving } from '../../contract/explore.ts'
import type { ScanRow } from './engine.ts'
import { nameOfPair, PAIR_SIZE, type Pair, type Paired, PAIRS } from './pairs.ts'
import type { ParsedQuestion } from './question.ts'

/** The column of each sum, except paired sums (pairs.ts) and sums of a single event type. */
const MADE_IN: Readonly<Record<Exclude<Sum, Paired | EventMeasure>, string>> = {
  clicks: 'sign',
  rejected: 'rejected',
  conversions_rejected: 'conversions_rejected',
  revenue: 'revenue',
  revenue_pending: 'revenue_pending',
  cost: 'cost',
  clicks_without_cost: 'without_cost',
  revenue_without_cost: 'revenue_without_cost',
  without_amounts: 'without_amounts',
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
  | 'without_amounts'
  | Paired
  | EventMeasure

export type Sums = Readonly<Record<Sum, bigint>> & { readonly unique_visitors?: bigint }

/** Both, because a question may count pending conversions too. */
const CONVERSIONS = ['conversions', 'conversions_pending'] as const

/** The sums that a measure is computed from, unless it is itself a sum. */
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

const madeOf = (measure: Measure): readonly Sum[] =>
  isEventRevenue(measure) ? [measure, 'without_amounts'] : (MADE_OF[measure] ?? [measure as Sum])

/** The sums that a question needs. Clicks are always included. */
export function sumsOfQuestion(question: Pick<ParsedQuestion, 'measures' | 'levels'>): Sum[] {
  const sorts = question.levels.flatMap(({ sort }) => (sort.by === 'key' ? [] : [sort.by]))
  const measures = [...question.measures, ...sorts]
  const costs: readonly Sum[] = measures.some(isOfCost) ? ['cost', ...WITHOUT_COST] : []
  return [...new Set<Sum>(['clicks', ...measures.flatMap(madeOf), ...costs])]
}

/** Whether the measure needs the cost of clicks. */
export const isOfCost = (measure: Measure) => (COST_MEASURES as readonly Measure[]).includes(measure)

/** Whether these columns include the cost. */
export const haveCost = (columns: readonly string[]): boolean => columns.includes('cost')

const pairOf = (sum: Sum): Pair | undefined => PAIRS.find(pair => pair.some(name => name === sum))

/** The column of a sum that is not paired. */
const ownColumnOf = (sum: Sum): string => MADE_IN[sum as keyof typeof MADE_IN] ?? sum

/** The columns that these sums are read from. */
export const madeIn = (sums: readonly Sum[]): string[] => [
  ...new Set(
    sums.map(sum => {
      const pair = pairOf(sum)
      return pair === undefined ? ownColumnOf(sum) : nameOfPair(pair)
    }),
  ),
]

/** SQL that sums columns under their own names. */
export const summed = (columns: readonly string[]): string =>
  columns.map(column => `coalesce(sum(${column}), 0) as ${column}`).join(', ')

/** SQL of the sums by their names, over summed columns. */
export const named = (sums: readonly Sum[]): string => sums.map(sum => `${oneOf(sum)} as ${sum}`).join(', ')

function oneOf(sum: Sum): string {
  const pair = pairOf(sum)
  if (pair === undefined) return ownColumnOf(sum)
  const both = `${nameOfPair(pair)}::bigint`
  const low = `(((${both} + ${PAIR_SIZE / 2}) & ${PAIR_SIZE - 1}) - ${PAIR_SIZE / 2})`
  return pair[0] === sum ? low : `((${both} - ${low}) // ${PAIR_SIZE})`
}

/** A row's sums; all 0 where there is no row. */
export function sumsIn(row: ScanRow | undefined, sums: readonly Sum[]): Sums {
  return Object.fromEntries(sums.map(name => [name, BigInt((row?.[name] as bigint | number | undefined) ?? 0)])) as Sums
}

/** A measure in SQL over sums: `above`, or `above / below`. Sums are whole numbers, and `unit` is the number that means a measure of 1. */
type Fraction = { readonly above: string; readonly below?: string; readonly unit: bigint }

const [COUNT, MILLIONTHS, TRILLIONTHS] = [1n, 1_000_000n, 1_000_000_000_000n]

function fractionOf(measure: Measure, count_pending: boolean): Fraction {
  const conversions = count_pending ? '(conversions + conversions_pending)' : 'conversions'
  switch (measure) {
    case 'conversions':
      return { above: conversions, unit: COUNT }
    case 'revenue':
    case 'revenue_pending':
    case 'revenue_without_cost':
      return { above: measure, unit: MILLIONTHS }
    case 'cost':
      return { above: 'cost', unit: TRILLIONTHS }
    case 'profit':
      return { above: 'revenue * 1000000 - cost', unit: TRILLIONTHS }
    case 'epc':
      return { above: 'revenue', below: 'clicks', unit: MILLIONTHS }
    case 'cpc':
      return { above: 'cost', below: 'clicks', unit: TRILLIONTHS }
    case 'cpa':
      return { above: 'cost', below: conversions, unit: TRILLIONTHS }
    case 'cr':
      return { above: conversions, below: 'clicks', unit: COUNT }
    case 'roi':
      return { above: 'revenue * 1000000 - cost', below: 'cost', unit: COUNT }
    case 'approval_rate':
      return { above: 'approved', below: 'approved + rejected', unit: COUNT }
    default:
      return { above: measure, unit: isEventRevenue(measure) ? MILLIONTHS : COUNT }
  }
}

/** Whether the measure is null if no cost is known. */
export const isOfKnownCost = (measure: Measure) => (KNOWN_COST_MEASURES as readonly Measure[]).includes(measure)
const IS_COST_KNOWN = '(cost <> 0 or clicks_without_cost < clicks)'

/** The condition over sums under which a measure is known; undefined if it always is. */
function isKnown(measure: Measure): string | undefined {
  if (isOfKnownCost(measure)) return IS_COST_KNOWN
  return isEventRevenue(measure) ? 'without_amounts = 0' : undefined
}

/** The expression that rows are ordered by, over sums. These are whole numbers, so every engine computes the same quotients. */
export function orderOf(measure: Measure | 'key', count_pending: boolean): string {
  if (measure === 'key') return 'word'
  const { above, below } =
    // In billionths: a double has fewer digits than a large amount in trillionths.
    measure === 'roi'
      ? { above: 'revenue * 1000 - cost // 1000', below: 'cost // 1000' }
      : fractionOf(measure, count_pending)
  const value = below === undefined ? above : `(${above})::double / nullif(${below}, 0)::double`
  // Unknown values come last.
  const known = isKnown(measure)
  return known === undefined ? value : `case when ${known} then ${value} end`
}

const SIGNS: Readonly<Record<ExploreHaving['op'], string>> = {
  lt: '<',
  lte: '<=',
  gt: '>',
  gte: '>=',
  eq: '=',
  ne: '<>',
}
/** The most decimals of a filter value. */
const PLACES = 6

/** The condition of a filter, over sums. It compares the exact figure; a figure that is null passes no filter. */
export function holds({ measure, op, value }: ExploreHaving, count_pending: boolean): string {
  const { above, below, unit } = fractionOf(measure, count_pending)
  const known = isKnown(measure)
  const compared = `(${above})::hugeint * ${10 ** PLACES} ${SIGNS[op]} (${toUnits(value, PLACES) * unit})::hugeint`
  return [
    ...(known === undefined ? [] : [known]),
    ...(below === undefined ? [compared] : [`(${below}) > 0`, `${compared} * (${below})`]),
  ].join(' and ')
}
