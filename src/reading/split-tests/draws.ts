// Random draws with a fixed seed, so that the same figures always give the same result.
import type { Beta } from './beta.ts'

type Random = () => number

/** Numbers between 0 and 1, both excluded (mulberry32). */
function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 0.5) / 2 ** 32
  }
}

const normal = (random: Random): number => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())

/** A draw of the gamma distribution for a shape of at least 1, by the method of Marsaglia and Tsang. */
export function drawGamma(random: Random, shape: number): number {
  const d = shape - 1 / 3
  const c = 1 / Math.sqrt(9 * d)
  for (;;) {
    const x = normal(random)
    const v = (1 + c * x) ** 3
    if (v > 0 && Math.log(random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v
  }
}

/** A draw of a conversion rate. */
export function drawBeta(random: Random, { a, b }: Beta): number {
  const of = drawGamma(random, a)
  return of / (of + drawGamma(random, b))
}

const DRAWS = 20_000
const SEED = 0x51_1c_e5

/** For each variant: how often it is the best in these draws, and by how much the best is better on average; and the range that holds 90 % of its draws. */
export function compareByDraws(variants: readonly ((random: Random) => number)[]): Drawn[] {
  const random = seededRandom(SEED)
  const drawn = variants.map(() => new Float64Array(DRAWS))
  const sums = variants.map(() => ({ best: 0, loss: 0 }))
  for (let draw = 0; draw < DRAWS; draw += 1) {
    const values = variants.map(of => of(random))
    const most = Math.max(...values)
    for (const [at, sum] of sums.entries()) {
      const value = values[at] ?? 0
      const kept = drawn[at]
      if (kept !== undefined) kept[draw] = value
      if (value === most) sum.best += 1
      sum.loss += most - value
    }
  }
  return sums.map(({ best, loss }, at) => {
    const sorted = (drawn[at] ?? new Float64Array(DRAWS)).sort()
    const at90 = (part: number) => sorted[Math.floor(part * DRAWS)] ?? 0
    return { best: best / DRAWS, loss: loss / DRAWS, from: at90(0.05), to: at90(0.95) }
  })
}

type Drawn = { readonly best: number; readonly loss: number; readonly from: number; readonly to: number }
