// Variants whose weights were moved are compared within each time of constant weights.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparedCounts, type CountedVariant } from './strata.ts'

/** So many matured visitors of whom so many converted, with these payouts in turn. */
function counted(matured: number, conversions: number, payouts: readonly number[] = [10]): CountedVariant {
  const all = Array.from({ length: conversions }, (_, at) => payouts[at % payouts.length] ?? 0)
  const sum = (of: (payout: number) => number) => all.reduce((so, payout) => so + of(payout), 0)
  const sums = { revenue: sum(payout => payout), squares: sum(payout => payout ** 2) }
  return { visitors: matured, matured, conversions, ...sums, most: Math.max(0, ...all) }
}

const isNear = (is: number, must: number, what: string) =>
  assert.ok(Math.abs(is - must) <= 1e-9 * Math.max(1, Math.abs(must)), `${what}: ${is} is not ${must}`)

test('without moves the counts are the counts', () => {
  const [a, b] = [counted(1000, 40, [10, 20]), counted(3, 0)]
  assert.deepEqual(comparedCounts([[a], [b]]), [a, b])
})

test('rates are standardized by the visitors of all variants, with the variance of that estimate', () => {
  // The second time converts three times as well, and both variants do so.
  const times = [
    [counted(1000, 20), counted(500, 60)],
    [counted(200, 8), counted(4000, 960)],
  ]
  for (const [at, one] of comparedCounts(times).entries()) {
    const [first, second] = times[at] ?? []
    assert.ok(first && second)
    const [w1, w2] = [1200 / 5700, 4500 / 5700]
    const [p1, p2] = [first.conversions / first.matured, second.conversions / second.matured]
    const rate = w1 * p1 + w2 * p2
    isNear(one.conversions / one.matured, rate, 'rate')
    isNear(one.revenue / one.conversions, 10, 'payout')
    // The times' ratio is estimated from both variants, so the variance is near the textbook's, not equal to it.
    const variance = (w1 ** 2 * p1 * (1 - p1)) / first.matured + (w2 ** 2 * p2 * (1 - p2)) / second.matured
    const ratio = (rate * (1 - rate)) / one.matured / variance
    assert.ok(ratio > 0.8 && ratio < 1.25, `${ratio}`)
    // All payouts are the same.
    isNear(one.squares / one.conversions, (one.revenue / one.conversions) ** 2, 'squares')
  }
})

test('equal times make one', () => {
  const [a, b] = [counted(500, 20, [5, 15]), counted(1500, 90, [10, 30])]
  const [one, other] = comparedCounts([
    [a, a, a],
    [b, b, b],
  ])
  for (const [is, of] of [
    [one, a],
    [other, b],
  ] as const)
    for (const figure of ['matured', 'conversions', 'revenue', 'squares'] as const)
      isNear(is?.[figure] ?? 0, 3 * of[figure], figure)
})

test('a time in which a variant has too few matured visitors is left out', () => {
  const [a, b] = [counted(500, 20), counted(500, 30)]
  const none = counted(0, 0)
  assert.deepEqual(
    comparedCounts([
      [a, counted(19, 19), none],
      [b, counted(900, 1), none],
    ]),
    [a, b],
  )
  const [few, more] = [counted(2, 1), counted(12, 3)]
  assert.deepEqual(
    comparedCounts([
      [few, more],
      [b, b],
    ]),
    [more, b],
    'none has enough: the one with the most counts',
  )
})

test('variants without conversions, or with nothing else, have figures', () => {
  const none = counted(100, 0)
  const all = counted(100, 100)
  for (const one of comparedCounts([
    [none, none],
    [all, all],
    [counted(100, 0), counted(100, 50)],
  ]))
    for (const value of Object.values(one)) assert.ok(Number.isFinite(value) && value >= 0, JSON.stringify(one))
})
