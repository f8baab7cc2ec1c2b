/** The sums that measures are computed from, in SQL over the local files: their columns, and the order of rows. */
import {
  ALL_MEASURES,
  COST_MEASURES,
  type EventMeasure,
  isEventRevenue,
  KNOWN_COST_MEASURES,
  type Measure,
  UNIQUE_VISITORS,
  WITHOUT_COST,
} from '../../contract/explore-measures.ts'
import { toUnits } from '../../contract/decimals.ts'
import { figureOf } from '../../contract/figures.ts'
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

/** How many decimals of a sum are kept: money is summed in millionths of a dollar, costs in trillionths. */
export function placesOf(sum: Sum): number {
  if (sum === 'cost') return 12
  return sum !== 'without_amounts' && figureOf(sum).unit === 'money' ? 6 : 0
}

/** Sums that are added, or subtracted (-1). `places` is the most decimals of any of them. */
type Terms = { readonly of: readonly (readonly [sum: Sum, sign: 1n | -1n])[]; readonly places: number }

function termsIn(formula: string, count_pending: boolean): Terms {
  const of = Array.from(formula.matchAll(/(- )?([a-z]\w*)/g), ([, minus, name]) => {
    const sums = name === 'conversions' && count_pending ? CONVERSIONS : [name as Sum]
    return sums.map(sum => [sum, minus === undefined ? 1n : -1n] as const)
  }).flat()
  return { of, places: Math.max(...of.map(([sum]) => placesOf(sum))) }
}

const power = (places: number): bigint => 10n ** BigInt(places)

/** The value of terms with so many decimals, no fewer than theirs. */
export const totalOf = (sums: Sums, { of }: Terms, places: number): bigint =>
  of.reduce((all, [sum, sign]) => all + sign * sums[sum] * power(places - placesOf(sum)), 0n)

/** The same in SQL, with their own decimals. */
function totalInSql({ of, places }: Terms): string {
  const terms = of.map(([sum, sign]) => {
    const finer = places - placesOf(sum)
    return `${sign < 0n ? '- ' : '+ '}${sum}${finer === 0 ? '' : ` * ${power(finer)}`}`
  })
  return terms.join(' ').replace(/^\+ /, '')
}

/** A measure as its formula says: terms, or terms divided by others. */
type Quotient = { readonly above: Terms; readonly below?: Terms }

function quotientIn(measure: Measure, count_pending: boolean): Quotient {
  const [above = '', below] = (figureOf(measure).formula ?? measure).split(' / ')
  return {
    above: termsIn(above, count_pending),
    ...(below !== undefined && { below: termsIn(below, count_pending) }),
  }
}

const quotients = [false, true].map(
  count_pending => new Map(ALL_MEASURES.map(measure => [measure, quotientIn(measure, count_pending)])),
)

/** How a measure is computed from sums. Unique visitors are counted like a sum. */
export const quotientOf = (measure: Measure, count_pending: boolean): Quotient =>
  quotients[count_pending ? 1 : 0]?.get(measure) as Quotient

function madeOf(measure: Measure): readonly Sum[] {
  if (measure === UNIQUE_VISITORS) return []
  if (isEventRevenue(measure)) return [measure, 'without_amounts']
  const { above, below } = quotientOf(measure, true)
  return [...above.of, ...(below?.of ?? [])].map(([sum]) => sum)
}

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

function fractionOf(measure: Measure, count_pending: boolean): Fraction {
  const { above, below } = quotientOf(measure, count_pending)
  if (below === undefined) return { above: totalInSql(above), unit: power(above.places) }
  return { above: totalInSql(above), below: totalInSql(below), unit: power(above.places - below.places) }
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

const ORDERS: Readonly<Record<ExploreHaving['op'], (left: bigint, right: bigint) => boolean>> = {
  lt: (left, right) => left < right,
  lte: (left, right) => left <= right,
  gt: (left, right) => left > right,
  gte: (left, right) => left >= right,
  eq: (left, right) => left === right,
  ne: (left, right) => left !== right,
}

/** Whether sums pass a filter, as `holds` says in SQL. */
export function passes(sums: Sums, { measure, op, value }: ExploreHaving): boolean {
  const { clicks, cost, clicks_without_cost } = sums
  if (isOfKnownCost(measure) && cost === 0n && clicks_without_cost >= clicks) return false
  const { above, below } = quotientOf(measure, false)
  const divisor = below === undefined ? 1n : totalOf(sums, below, below.places)
  if (divisor <= 0n) return false
  const unit = power(above.places - (below?.places ?? 0))
  return ORDERS[op](totalOf(sums, above, above.places) * power(PLACES), toUnits(value, PLACES) * unit * divisor)
}
