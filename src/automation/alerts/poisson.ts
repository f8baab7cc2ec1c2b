/** Whether a count is lower than chance explains. */

/** The probability below which a count is told. */
const BOUND = 0.001
/** The number of standard deviations below which a normal count is with the same probability. */
const DEVIATIONS = 3.0902
/** Above it the normal distribution is used, which is then equal to three digits. */
const MANY = 5000

/** The logarithms of factorials, as far as they were needed. */
const LOG_FACTORIALS = [0]
function logFactorial(n: number): number {
  for (let at = LOG_FACTORIALS.length; at <= n; at += 1)
    LOG_FACTORIALS.push((LOG_FACTORIALS[at - 1] ?? 0) + Math.log(at))
  return LOG_FACTORIALS[n] ?? 0
}

/** The probability of at most `seen` where `expected` are expected, by Poisson's distribution. */
export function atMost(seen: number, expected: number): number {
  let sum = 0
  for (let count = 0; count <= seen; count += 1)
    sum += Math.exp(count * Math.log(expected) - expected - logFactorial(count))
  return sum
}

/**
 * Whether `seen` is below what the same hours of earlier weeks suggest: their mean is expected. Where these weeks differ from each other by more than
 * chance, as clicks of large campaigns do, a count as far from the mean as the weeks themselves is not told.
 */
export function isFall(seen: number, weeks: readonly number[]): boolean {
  const expected = averageOf(weeks)
  if (seen >= expected) return false
  const spread = spreadOf(weeks.filter(count => count > 0))
  if (spread <= expected && expected <= MANY) return atMost(seen, expected) < BOUND
  return seen < expected - DEVIATIONS * Math.sqrt(Math.max(spread, expected))
}

/** The mean of counts; 0 of none. */
export const averageOf = (counts: readonly number[]): number =>
  counts.reduce((sum, count) => sum + count, 0) / Math.max(1, counts.length)

/** The variance of a sample; 0 of a single count. */
function spreadOf(counts: readonly number[]): number {
  if (counts.length < 2) return 0
  const mean = averageOf(counts)
  return counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / (counts.length - 1)
}
