// New weights of a split test, from the probability of each variant that it is the best. Pure.

/** In whole percent, like the new weights. */
const FLOOR = 5

/** The shares in whole percent: in proportion to `best`, but at least 5 for each. For at most 20 variants. */
export function sharesOf(best: readonly number[]): number[] {
  const floored = new Set<number>()
  for (;;) {
    const free = 100 - FLOOR * floored.size
    const sum = best.reduce((all, each, at) => (floored.has(at) ? all : all + each), 0)
    const shares = best.map((each, at) => (floored.has(at) ? FLOOR : (each / sum) * free))
    const low = shares.flatMap((share, at) => (share < FLOOR && !floored.has(at) ? [at] : []))
    if (low.length === 0) return inWhole(shares)
    for (const at of low) floored.add(at)
  }
}

/** Whole numbers with the same sum: the largest fractions are rounded up. */
function inWhole(shares: readonly number[]): number[] {
  const whole = shares.map(Math.floor)
  const missing = 100 - whole.reduce((sum, each) => sum + each, 0)
  const byFraction = shares
    .map((share, at) => ({ at, fraction: share - Math.floor(share) }))
    .toSorted((a, b) => b.fraction - a.fraction)
  for (const { at } of byFraction.slice(0, missing)) whole[at] = (whole[at] ?? 0) + 1
  return whole
}

/** A smaller change is none. */
const LEAST_POINTS = 1

/** Whether the weights would change by at least one point of a hundred. */
export function isWorthwhile(weights: readonly number[], shares: readonly number[]): boolean {
  const all = weights.reduce((sum, each) => sum + each, 0)
  return weights.some((weight, at) => Math.abs((weight / all) * 100 - (shares[at] ?? 0)) > LEAST_POINTS - 1e-9)
}
