// Simulated tests that somebody looks at every day and ends as soon as they are decided: keeping the winner loses less than the rules promise.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../../contract/days.ts'
import { judge } from './verdict.ts'

const [RATE, PAYOUT, A_DAY, LONGEST_DAYS] = [0.04, 20, 1000, 60]
const isWhole = Boolean(process.env['SLUICE_TEST_ALL'])
const TESTS = isWhole ? 1000 : 12

/** Numbers between 0 and 1, the same in every run. */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
}

/** Runs one test: the index of the variant that is kept, and on which day; undefined if it is not decided. */
function run(rates: readonly number[], random: () => number): { kept: number; day: number } | undefined {
  const normal = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
  const conversions = rates.map(() => 0)
  for (let day = 1; day <= LONGEST_DAYS; day += 1) {
    for (const [at, rate] of rates.entries()) {
      const came = Math.round(A_DAY * rate + Math.sqrt(A_DAY * rate * (1 - rate)) * normal())
      conversions[at] = (conversions[at] ?? 0) + Math.max(0, came)
    }
    if (day < 7) continue
    const { winner } = judge({
      test: { id: 'landings', of: 'landings', node: null },
      since_ms: 0,
      now_ms: day * DAY_MS,
      kept: undefined,
      variants: conversions.map((count, at) => {
        const visitors = day * A_DAY
        const counted = { visitors, matured: visitors, conversions: count, most: PAYOUT }
        const sums = { revenue: count * PAYOUT, squares: count * PAYOUT ** 2 }
        return { id: String(at), name: String(at), weight: 1, counted: [{ ...counted, ...sums }] }
      }),
    })
    if (winner !== null) return { kept: Number(winner), day }
  }
  return undefined
}

test(`of ${TESTS} tests that are looked at daily, those that keep a winner lose under 1 % on average`, t => {
  const random = numbersFrom(7)
  const losses: number[] = []
  const days: number[] = []
  let wrong = 0
  for (let at = 0; at < TESTS; at += 1) {
    const rates = [RATE, RATE * (1 + (random() - 0.5) * 0.2)]
    const ended = run(rates, random)
    if (ended === undefined) continue
    const best = Math.max(...rates)
    const loss = (best - (rates[ended.kept] ?? 0)) / best
    losses.push(loss)
    days.push(ended.day)
    if (loss > 0) wrong += 1
  }
  const mean = losses.reduce((sum, loss) => sum + loss, 0) / losses.length
  const meanDays = days.reduce((sum, day) => sum + day, 0) / days.length
  t.diagnostic(
    `${losses.length} of ${TESTS} decided after ${meanDays.toFixed(1)} days, ${wrong} for the lesser variant; mean loss ${(mean * 100).toFixed(3)} %`,
  )
  assert.ok(losses.length > TESTS / 2)
  assert.ok(mean < 0.01, `mean loss ${mean}`)

  let named = 0
  for (let at = 0; at < TESTS; at += 1) if (run([RATE, RATE], random) !== undefined) named += 1
  t.diagnostic(`of ${TESTS} tests of two equal variants, ${named} name a winner within ${LONGEST_DAYS} days`)
})
