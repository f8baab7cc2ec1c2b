/** What sums come to: exact counts and amounts, and quotients of them. */
import { type ExploreMeasures, type Measure, UNIQUE_VISITORS } from '../../contract/explore.ts'
import { fromUnits } from '../../contract/decimals.ts'
import type { Question } from './question.ts'
import type { Sums } from './scan.ts'

const MILLIONTHS = 6
const BILLIONTHS = 9

/** At least two decimals, as amounts are read. */
function amount(units: bigint, places: number): string {
  const text = fromUnits(units, places)
  const decimals = text.split('.')[1]?.length ?? 0
  if (decimals >= 2) return text
  return decimals === 0 ? `${text}.00` : `${text}0`
}

/** An amount (in billionths) for each of a number, to six decimals, rounded half away from zero; null for none. */
function each(billionths: bigint, number: bigint): string | null {
  if (number === 0n) return null
  const isNegative = billionths < 0n !== number < 0n
  const [above, below] = [billionths < 0n ? -billionths : billionths, (number < 0n ? -number : number) * 1000n]
  const rounded = (2n * above + below) / (2n * below)
  return amount(isNegative ? -rounded : rounded, MILLIONTHS)
}

const share = (above: bigint, below: bigint): number | null => (below === 0n ? null : Number(above) / Number(below))

/** The measures that were asked for. */
export function measuresOf(
  sums: Sums,
  { measures, count_pending }: Pick<Question, 'measures' | 'count_pending'>,
): ExploreMeasures {
  return Object.fromEntries(measures.map(measure => [measure, measureOf(sums, measure, count_pending)]))
}

function measureOf(sums: Sums, measure: Measure, count_pending: boolean): number | string | null {
  // Revenue is kept in millionths, cost in billionths.
  const revenue = () => sums.revenue * 1000n
  const conversions = () => sums.conversions + (count_pending ? sums.conversions_pending : 0n)
  switch (measure) {
    case 'conversions':
      return Number(conversions())
    case 'revenue':
    case 'revenue_pending':
      return amount(sums[measure], MILLIONTHS)
    case 'cost':
      return amount(sums.cost, BILLIONTHS)
    case 'profit':
      return amount(revenue() - sums.cost, BILLIONTHS)
    case 'epc':
      return each(revenue(), sums.clicks)
    case 'cpc':
      return each(sums.cost, sums.clicks)
    case 'cpa':
      return each(sums.cost, conversions())
    case 'cr':
      return share(conversions(), sums.clicks)
    case 'roi':
      return share(revenue() - sums.cost, sums.cost)
    case 'approval_rate':
      return share(sums.approved, sums.approved + sums.rejected)
    case UNIQUE_VISITORS:
      // Not counted, where of some day nothing tells one visitor from another.
      return sums.unique_visitors === undefined ? null : Number(sums.unique_visitors)
    default:
      return Number(sums[measure])
  }
}
