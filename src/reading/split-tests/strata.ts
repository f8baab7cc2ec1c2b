// Compares variants by strata: the times between two moves of the weights. Within a time visitors are shared at random, so its variants are compared
// fairly. Totals over times are not: a weekend that converts well would favour the variant that had more of it. Pure.

/**
 * The visitors of a variant. Of the matured ones, in US dollars: `revenue`, the sum of its `squares`, and the revenue of the visitor who brought `most`.
 */
export type CountedVariant = {
  readonly visitors: number
  readonly matured: number
  readonly conversions: number
  readonly revenue: number
  readonly squares: number
  readonly most: number
}

/** A time in which a variant has fewer matured visitors says too little about it. */
const LEAST_MATURED = 20

/** The counts of all variants in one time. */
type Stratum = readonly CountedVariant[]

/** `counts` has the times of each variant. Totals are what is shown. */
export const plainCounts = (times: readonly CountedVariant[]): CountedVariant =>
  times.reduce((all, one) => ({
    visitors: all.visitors + one.visitors,
    matured: all.matured + one.matured,
    conversions: all.conversions + one.conversions,
    revenue: all.revenue + one.revenue,
    squares: all.squares + one.squares,
    most: Math.max(all.most, one.most),
  }))

/**
 * The counts by which variants are compared. Of one time they are its own counts. Of several, each variant's rate and earnings are standardized: the
 * means of its times, weighted by the matured visitors that all variants had then. The result is a variant of one time with the same rate and
 * earnings and with the variances that these estimates have. Times in which a variant has too few matured visitors are left out; if no time has
 * enough, the one with the most counts.
 */
export function comparedCounts(counts: readonly (readonly CountedVariant[])[]): CountedVariant[] {
  const strata = (counts[0] ?? []).map((_, time): Stratum => counts.flatMap(times => times[time] ?? []))
  const enough = strata.filter(stratum => leastOf(stratum) >= LEAST_MATURED)
  const used = enough.length > 0 ? enough : [strata.toSorted(byMost)[0] ?? []]
  const [only, ...others] = used
  if (only !== undefined && others.length === 0) return [...only]
  const all = sumOf(used.flat(), 'matured')
  const converted = sumOf(used.flat(), 'conversions')
  const parts = used.map(stratum => {
    const matured = sumOf(stratum, 'matured')
    // How much better or worse than the mean a visitor of this time converts, whichever variant they get.
    const ratio = converted === 0 ? 1 : sumOf(stratum, 'conversions') / matured / (converted / all)
    return { share: matured / all, ratio, stratum }
  })
  return counts.map((_, variant) => {
    const own = parts.flatMap(({ stratum, ...part }) => {
      const counted = stratum[variant]
      return counted === undefined ? [] : [{ ...part, counted }]
    })
    return standardized(own)
  })
}

const leastOf = (stratum: Stratum): number => Math.min(...stratum.map(({ matured }) => matured))
const sumOf = (counts: readonly CountedVariant[], of: 'matured' | 'conversions'): number =>
  counts.reduce((sum, one) => sum + one[of], 0)
const byMost = (one: Stratum, other: Stratum): number =>
  leastOf(other) - leastOf(one) || sumOf(other, 'matured') - sumOf(one, 'matured')

type Part = { readonly share: number; readonly ratio: number; readonly counted: CountedVariant }

/**
 * One variant over its times. The variance of a time is that of the variant's standardized rate times the time's ratio, not of its own few
 * conversions, which would say that a time without any is known exactly.
 */
function standardized(parts: readonly Part[]): CountedVariant {
  const mean = (of: 'conversions' | 'revenue' | 'squares') =>
    parts.reduce((sum, { share, counted }) => sum + (share * counted[of]) / counted.matured, 0)
  const [rate, earned, squares] = [mean('conversions'), mean('revenue'), mean('squares')]
  const spread = (of: (ratio: number) => number) =>
    parts.reduce((sum, { share, ratio, counted }) => sum + (share ** 2 / counted.matured) * of(ratio), 0)
  // The variance of the rate, divided by the rate.
  const variance = spread(ratio => ratio * Math.max(0, 1 - rate * ratio))
  const matured = rate < 1 && variance > 0 ? (1 - rate) / variance : 1 / spread(() => 1)
  const conversions = rate * matured
  const revenue = earned * matured
  // The relative variance of the earnings, beyond that of the rate: because payouts differ.
  const beyond = earned === 0 ? 0 : Math.max(0, spread(ratio => ratio) * (squares / earned ** 2 - 1 / rate))
  const own = earned === 0 ? 0 : revenue ** 2 * (1 / conversions + beyond)
  return { visitors: matured, matured, conversions, revenue, squares: own, most: 0 }
}
