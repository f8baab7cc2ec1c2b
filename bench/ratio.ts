// Ratios that are measured in turns: Sluice and its reference one after another in many short windows, because other load on the machine
// changes by the second.

/** The median of the windows' ratios, and the limits that hold the true median with a probability of at least 95 % (fewer than six windows: all of them). */
export type Ratio = { median: number; low: number; high: number; windows: number }

/** The interval is that of the sign test, which assumes nothing about how the ratios are distributed. @throws without a ratio, or if one is not a number */
export function ratioOf(ratios: readonly number[]): Ratio {
  if (ratios.length === 0 || !ratios.every(Number.isFinite)) throw new Error('a ratio could not be measured')
  const sorted = ratios.toSorted((one, other) => one - other)
  const left = leftOut(sorted.length)
  return {
    median: median(sorted),
    low: sorted[left] ?? Number.NaN,
    high: sorted[sorted.length - 1 - left] ?? Number.NaN,
    windows: sorted.length,
  }
}

/** The ratios of two series of the same windows. */
export function ratiosOf(ours: readonly number[], reference: readonly number[]): Ratio {
  return ratioOf(ours.map((value, at) => value / (reference[at] ?? Number.NaN)))
}

/** How many values may be left out at each end, so that at most 2.5 % of tosses of `count` coins have as few heads. */
function leftOut(count: number): number {
  let tail = 0.5 ** count
  let term = tail
  let left = 0
  while (tail <= 0.025) {
    left += 1
    term = (term * (count - left + 1)) / left
    tail += term
  }
  return Math.max(0, left - 1)
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
