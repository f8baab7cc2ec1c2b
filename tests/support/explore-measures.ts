// The figures of a recounted row: sums of the database, and their quotients. Exact except for shares.
import type { ExploreMeasures } from '../../src/contract/explore-answer.ts'
import type { ExploreHaving } from '../../src/contract/explore.ts'
import {
  COST_MEASURES,
  type EventMeasure,
  type EventRevenue,
  type Measure,
  WITHOUT_COST,
} from '../../src/contract/explore-measures.ts'

/** The types whose events are counted; no click has the last one. */
export const COUNTED_TYPES = ['lead', 'ftd', 'purchase', 'custom_1', 'first_dm'] as const
export const COUNTED_EVENTS = COUNTED_TYPES.map(type => `events_${type}` as const satisfies EventMeasure)
export const COUNTED_REVENUES = COUNTED_TYPES.map(type => `revenue_${type}` as const satisfies EventRevenue)

const COUNTS = [
  'clicks',
  'new_visitors',
  'landed',
  'started',
  'registered',
  'lead',
  'deposit',
  'ftd',
  'conversions',
  'conversions_pending',
  'conversions_rejected',
  'approved',
  'pending',
  'rejected',
  'unread_costs',
  'clicks_without_cost',
  ...COUNTED_EVENTS,
] as const
const MONEY = ['revenue', 'revenue_pending', 'cost', 'revenue_without_cost', ...COUNTED_REVENUES] as const

/** A row of the database: numbers as text. */
export type Counted = { readonly [name in (typeof COUNTS)[number] | (typeof MONEY)[number] | 'visitors']: string }

const reached = ['landed', 'started', 'registered', 'lead', 'deposit', 'ftd'].map(
  (name, at) => `count(*) filter (where stages >> ${at + 1} & 1 = 1) as ${name}`,
)

/** SQL of the sums over clicks. */
export const SUMS = [
  'count(*) as clicks',
  'count(*) filter (where visitor_is_new) as new_visitors',
  ...reached,
  ...['conversions', 'conversions_pending', 'conversions_rejected', ...COUNTED_EVENTS, ...COUNTED_REVENUES].map(
    name => `coalesce(sum(${name}), 0) as ${name}`,
  ),
  ...['approved', 'pending', 'rejected', 'revenue', 'revenue_pending'].map(
    name => `coalesce(sum(${name}), 0) as ${name}`,
  ),
  'coalesce(sum(case when cost_counts then cost end), 0) as cost',
  'count(*) filter (where cost_counts and cost is null) as unread_costs',
  'count(*) filter (where (cost_counts and cost is not null) is not true) as clicks_without_cost',
  'coalesce(sum(revenue) filter (where (cost_counts and cost is not null) is not true), 0) as revenue_without_cost',
  'count(distinct visitor_id) as visitors',
].join(', ')

/** In billionths, the finest unit of costs. */
const PLACES = 9
const ONE = 10n ** BigInt(PLACES)

function billionths(text: string): bigint {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.')
  const units = BigInt(whole) * ONE + BigInt(fraction.slice(0, PLACES).padEnd(PLACES, '0'))
  return text.startsWith('-') ? -units : units
}

/** A decimal string with at least `least` decimals. */
function decimal(units: bigint, least = 2): string {
  const size = units < 0n ? -units : units
  const fraction = (size % ONE).toString().padStart(PLACES, '0').replace(/0+$/, '').padEnd(least, '0')
  return `${units < 0n ? '-' : ''}${size / ONE}.${fraction}`
}

const NOTHING = Object.fromEntries([...COUNTS, ...MONEY, 'visitors'].map(name => [name, '0'])) as Counted

/** The difference of two sums. Visitors are kept as they are, because they cannot be subtracted. */
export function minus(one: Counted = NOTHING, other: Counted = NOTHING): Counted {
  const less = COUNTS.map(name => [name, String(BigInt(one[name]) - BigInt(other[name]))] as const)
  const money = MONEY.map(name => [name, decimal(billionths(one[name]) - billionths(other[name]))] as const)
  return { ...one, ...Object.fromEntries([...less, ...money]) }
}

const isMoney = (name: string): name is (typeof MONEY)[number] => (MONEY as readonly string[]).includes(name)
const isCount = (name: string): name is (typeof COUNTS)[number] => (COUNTS as readonly string[]).includes(name)

/** A measure as a fraction of whole numbers in the same unit; undefined for measures that are not quotients. */
function fractionOf(counted: Counted, measure: Measure): readonly [above: bigint, below: bigint] | undefined {
  const [revenue, cost] = [billionths(counted.revenue), billionths(counted.cost)]
  const [clicks, conversions] = [BigInt(counted.clicks), BigInt(counted.conversions)]
  const [approved, rejected] = [BigInt(counted.approved), BigInt(counted.rejected)]
  switch (measure) {
    case 'epc':
      return [revenue, clicks]
    case 'cpc':
      return [cost, clicks]
    case 'cpa':
      return [cost, conversions]
    case 'cr':
      return [conversions, clicks]
    case 'roi':
      return [revenue - cost, cost]
    case 'approval_rate':
      return [approved, approved + rejected]
    default:
      return undefined
  }
}

const profitOf = ({ revenue, cost }: Counted): bigint => billionths(revenue) - billionths(cost)

/** A cost that is unknown for every click is unknown; without clicks it is 0. These clicks have no booked spend. */
const isUnknown = ({ clicks, clicks_without_cost }: Counted, measure: Measure): boolean =>
  ['cost', 'profit', 'cpc', 'cpa', 'roi'].includes(measure) && BigInt(clicks) > 0n && clicks === clicks_without_cost

/** The value that rows are sorted by; null if unknown. */
export function valueOf(counted: Counted, measure: Measure): number | bigint | null {
  if (isUnknown(counted, measure)) return null
  if (measure === 'unique_visitors') return BigInt(counted.visitors)
  if (measure === 'profit') return profitOf(counted)
  if (isCount(measure)) return BigInt(counted[measure])
  if (isMoney(measure)) return billionths(counted[measure])
  const [above, below] = fractionOf(counted, measure) ?? [0n, 0n]
  return below === 0n ? null : Number(above) / Number(below)
}

const SHARES: readonly Measure[] = ['cr', 'roi', 'approval_rate']

/** Whether a figure matches a filter, exactly; null matches none. */
export function holdsOf(counted: Counted, { measure, op, value }: ExploreHaving): boolean {
  if (isUnknown(counted, measure)) return false
  const whole = isCount(measure)
    ? BigInt(counted[measure])
    : measure === 'unique_visitors'
      ? BigInt(counted.visitors)
      : undefined
  const money = isMoney(measure) ? billionths(counted[measure]) : measure === 'profit' ? profitOf(counted) : undefined
  const [above, below] =
    whole !== undefined ? [whole, 1n] : money !== undefined ? [money, 1n] : (fractionOf(counted, measure) ?? [0n, 0n])
  if (below === 0n) return false
  const figure = whole !== undefined || SHARES.includes(measure) ? above * ONE : above
  const difference = figure - billionths(value) * below
  const signs = {
    lt: difference < 0n,
    lte: difference <= 0n,
    gt: difference > 0n,
    gte: difference >= 0n,
    eq: difference === 0n,
    ne: difference !== 0n,
  }
  return signs[op]
}

/** The measures as an answer has them. */
export function measuresOf(counted: Counted = NOTHING, measures: readonly Measure[]): ExploreMeasures {
  const isOfCost = measures.some(measure => COST_MEASURES.some(one => one === measure))
  const said = isOfCost ? new Set([...measures, ...WITHOUT_COST]) : measures
  const told = [...said].map(measure => {
    if (isUnknown(counted, measure)) return [measure, null]
    if (measure === 'unique_visitors') return [measure, Number(counted.visitors)]
    if (isCount(measure)) return [measure, Number(counted[measure])]
    if (isMoney(measure)) return [measure, decimal(billionths(counted[measure]))]
    if (measure === 'profit') return [measure, decimal(profitOf(counted))]
    const [above, below] = fractionOf(counted, measure) ?? [0n, 0n]
    if (below === 0n) return [measure, null]
    if (SHARES.includes(measure)) return [measure, Number(above) / Number(below)]
    return [measure, sixPlaces(above, below)]
  })
  return Object.fromEntries(told)
}

/** A quotient of billionths, rounded half away from zero to six decimals, with at least two decimals. */
function sixPlaces(above: bigint, below: bigint): string {
  const size = above < 0n ? -above : above
  const millionths = (size * 2n + below * 1000n) / (below * 2000n)
  return decimal((above < 0n ? -millionths : millionths) * 1000n)
}
