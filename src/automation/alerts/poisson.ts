/** Whether a count is lower than chance explains. */

/** A probability, and the number of standard deviations below which a normal count is with this probability. */
type Bound = { readonly chance: number; readonly deviations: number }

/** A count is told if so few come by chance this rarely. */
const TOLD: Bound = { chance: 0.001, deviations: 3.0902 }
/** What was told goes on as long as so few come by chance this rarely. With one bound for both, a small fall would begin and end again and again. */
const GOES_ON: Bound = { chance: 0.05, deviations: 1.6449 }
/** A fall is over if so many would come this rarely if it went on. */
const RECOVERED: Bound = { chance: 0.01, deviations: 2.3263 }
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

/** Whether so many as `seen` hardly come by chance where `expected` are expected. */
export function isMore(seen: number, expected: number): boolean {
  const { chance, deviations } = RECOVERED
  if (expected > MANY) return seen > expected + deviations * Math.sqrt(expected)
  return seen > expected && (expected === 0 || 1 - atMost(seen - 1, expected) < chance)
}

/**
 * Whether `seen` is below what the same hours of earlier weeks suggest: their mean is expected. Where these weeks differ from each other by more than
 * chance, as clicks of large campaigns do, a count as far from the mean as the weeks themselves is not told. `isOpen`: whether the fall was told and is
 * not over.
 */
export function isFall(seen: number, weeks: readonly number[], isOpen = false): boolean {
  const { chance, deviations } = isOpen ? GOES_ON : TOLD
  const expected = averageOf(weeks)
  if (seen >= expected) return false
  const spread = spreadOf(weeks.filter(count => count > 0))
  if (spread <= expected && expected <= MANY) return atMost(seen, expected) < chance
  return seen < expected - deviations * Math.sqrt(Math.max(spread, expected))
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
