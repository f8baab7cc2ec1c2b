/** Computes measures from sums: exact counts and amounts, and their quotients. */
import type { ExploreMeasures } from '../../contract/explore-answer.ts'
import { isEventRevenue, type Measure, UNIQUE_VISITORS, WITHOUT_COST } from '../../contract/explore-measures.ts'
import { fromUnits } from '../../contract/decimals.ts'
import { figureOf } from '../../contract/figures.ts'
import type { ParsedQuestion } from './question.ts'
import { isOfCost, isOfKnownCost, quotientOf, type Sums, totalOf } from './sums.ts'

const MILLIONTHS = 6
/** Fine enough that the shares of a million clicks, rounded down, miss their amount by at most a millionth of a dollar. */
const TRILLIONTHS = 12
const MILLION = 1_000_000n

/** An amount as a decimal string with at least two decimals. */
function amount(units: bigint, places: number): string {
  const text = fromUnits(units, places)
  const decimals = text.split('.')[1]?.length ?? 0
  if (decimals >= 2) return text
  return decimals === 0 ? `${text}.00` : `${text}0`
}

/** An amount (in trillionths) divided by a count, to six decimals, rounded half away from zero; null for a count of 0. */
function each(trillionths: bigint, number: bigint): string | null {
  if (number === 0n) return null
  const isNegative = trillionths < 0n !== number < 0n
  const [above, below] = [trillionths < 0n ? -trillionths : trillionths, (number < 0n ? -number : number) * MILLION]
  const rounded = (2n * above + below) / (2n * below)
  return amount(isNegative ? -rounded : rounded, MILLIONTHS)
}

const share = (above: bigint, below: bigint): number | null => (below === 0n ? null : Number(above) / Number(below))

/** The measures of the question; with any measure of cost also how much of the cost is unknown. */
export function measuresOfSums(
  sums: Sums,
  { measures, count_pending }: Pick<ParsedQuestion, 'measures' | 'count_pending'>,
): ExploreMeasures {
  const answeredMeasures = measures.some(isOfCost) ? new Set([...measures, ...WITHOUT_COST]) : measures
  return Object.fromEntries([...answeredMeasures].map(measure => [measure, measureOf(sums, measure, count_pending)]))
}

/** In billionths where those are whole: a double has fewer digits than a large amount in trillionths. */
const finest = (above: bigint, below: bigint): [bigint, bigint] =>
  above % 1000n === 0n && below % 1000n === 0n ? [above / 1000n, below / 1000n] : [above, below]

/** Whether the cost of any click of a row is known. It is for a row without clicks. */
const isCostKnown = ({ clicks, cost, clicks_without_cost }: Sums): boolean =>
  clicks === 0n || cost !== 0n || clicks_without_cost < clicks

function measureOf(sums: Sums, measure: Measure, count_pending: boolean): number | string | null {
  // Not counted where the visitors of some day were anonymised.
  if (measure === UNIQUE_VISITORS) return sums.unique_visitors === undefined ? null : Number(sums.unique_visitors)
  if (isOfKnownCost(measure) && !isCostKnown(sums)) return null
  if (isEventRevenue(measure) && sums.without_amounts !== 0n) return null
  const { above, below } = quotientOf(measure, count_pending)
  const { unit } = figureOf(measure)
  const { places } = above
  const total = totalOf(sums, above, places)
  if (below === undefined) return unit === 'count' ? Number(total) : amount(total, places)
  if (unit === 'money_each') return each(totalOf(sums, above, TRILLIONTHS), totalOf(sums, below, 0))
  return share(...finest(total, totalOf(sums, below, places)))
}
