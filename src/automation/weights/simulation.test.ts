// Simulated tests with automatic weights: how much they earn compared with equal weights, and which variant they believe to be the best.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../../contract/days.ts'
import type { CountedVariant } from '../../reading/split-tests/strata.ts'
import { judge } from '../../reading/split-tests/verdict.ts'
import { isWorthwhile, sharesOf } from './shares.ts'

const [RATE, BETTER, PAYOUT, A_DAY, DAYS] = [0.04, 1.2, 20, 500, 30]
/** Two days of seven convert so much better. */
const WEEKEND = 1.5
/** Visitors are compared this many days after they came. */
const MATURING_DAYS = 1
const TESTS = process.env['SLUICE_TEST_ALL'] ? 200 : 2

/** Numbers between 0 and 1, the same in every run. */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
}

const NOTHING: CountedVariant = { visitors: 0, matured: 0, conversions: 0, revenue: 0, squares: 0, most: 0 }

function plus(counted: CountedVariant, visitors: number, conversions: number): CountedVariant {
  const all = counted.conversions + conversions
  const sums = { revenue: all * PAYOUT, squares: all * PAYOUT ** 2, most: PAYOUT }
  const matured = counted.matured + visitors
  return { visitors: matured, matured, conversions: all, ...sums }
}

type Ran = { readonly earned: number; readonly best: number; readonly shares: readonly number[] }

/** Runs one test of two variants, the second one better. `earned` is what its visitors brought, weights moved each day or never. */
function run(random: () => number, isAutomatic: boolean): Ran {
  const normal = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
  const counts: CountedVariant[][] = [[NOTHING], [NOTHING]]
  const waiting: (readonly [time: number, visitors: readonly number[], conversions: readonly number[]])[] = []
  let shares: readonly number[] = [50, 50]
  let [earned, best] = [0, 0]
  for (let day = 1; day <= DAYS; day += 1) {
    const time = (counts[0]?.length ?? 1) - 1
    const visitors = shares.map(share => Math.round((A_DAY * share) / 100))
    const conversions = visitors.map((count, at) => {
      const rate = RATE * (at === 0 ? 1 : BETTER) * (day % 7 < 2 ? WEEKEND : 1)
      return Math.min(count, Math.max(0, Math.round(count * rate + Math.sqrt(count * rate * (1 - rate)) * normal())))
    })
    earned += conversions.reduce((sum, each) => sum + each * PAYOUT, 0)
    waiting.push([time, visitors, conversions])
    const matured = waiting.length > MATURING_DAYS ? waiting.shift() : undefined
    for (const [at, times] of counts.entries())
      if (matured !== undefined)
        times[matured[0]] = plus(times[matured[0]] ?? NOTHING, matured[1][at] ?? 0, matured[2][at] ?? 0)
    if (!isAutomatic && day < DAYS) continue
    const judged = judge({
      test: { id: 'landings', of: 'landings', node: null },
      since_ms: 0,
      now_ms: day * DAY_MS,
      kept: undefined,
      variants: counts.map((counted, at) => ({ id: String(at), name: String(at), weight: shares[at] ?? 0, counted })),
    })
    best = judged.variants[1]?.epv.best ?? 0
    if (!isAutomatic || judged.variants.reduce((sum, { conversions: of }) => sum + of, 0) < 50) continue
    const next = sharesOf(judged.variants.map(({ epv }) => epv.best))
    if (!isWorthwhile(shares, next)) continue
    shares = next
    for (const times of counts) times.push(NOTHING)
  }
  return { earned, best, shares }
}

test(`in ${TESTS} tests of a 20 % better variant, automatic weights earn more than equal ones`, t => {
  const random = numbersFrom(11)
  const mean = (ran: readonly Ran[], of: (one: Ran) => number) =>
    ran.reduce((sum, one) => sum + of(one), 0) / ran.length
  const equal = Array.from({ length: TESTS }, () => run(random, false))
  const moved = Array.from({ length: TESTS }, () => run(random, true))
  const more = mean(moved, ({ earned }) => earned) / mean(equal, ({ earned }) => earned) - 1
  // All visitors with the better variant, against half of them.
  const most = BETTER / ((1 + BETTER) / 2) - 1
  const percent = (part: number) => `${(part * 100).toFixed(1)} %`
  t.diagnostic(
    `automatic weights earn ${percent(more)} more in ${DAYS} days, of ${percent(most)} at most; at the end the better variant has ${percent(mean(moved, ({ shares }) => (shares[1] ?? 0) / 100))} of the visitors, and is believed to be the best in ${percent(mean(moved, ({ best }) => Number(best > 0.5)))} of the tests (equal weights: ${percent(mean(equal, ({ best }) => Number(best > 0.5)))})`,
  )
  assert.ok(more > 0, percent(more))
  assert.ok(mean(moved, ({ best }) => best) > 0.5)
})
