// The new shares of variants: proportional to the probability of being the best, with a floor, in whole percent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextDayIn } from '../../reading/split-tests/tests.ts'
import { isWorthwhile, sharesOf } from './shares.ts'

test('shares are proportional to the probability of being the best, at least 5 each, and add up to 100', () => {
  assert.deepEqual(sharesOf([0.7, 0.3]), [70, 30])
  assert.deepEqual(sharesOf([1, 0]), [95, 5])
  assert.deepEqual(sharesOf([0.9, 0.1, 0]), [86, 9, 5])
  assert.deepEqual(sharesOf([0.96, 0.02, 0.02]), [90, 5, 5])
  // Five percent for two of them leave under five for the third.
  assert.deepEqual(sharesOf([0.05, 0.001, 0.001, 0.948]), [5, 5, 5, 85])
  assert.deepEqual(sharesOf([1, 1, 1]), [34, 33, 33])
  assert.deepEqual(sharesOf(Array.from({ length: 20 }, (_, at) => (at === 3 ? 1 : 0))), Array(20).fill(5))
  for (let at = 0; at < 200; at += 1) {
    const shares = sharesOf(Array.from({ length: 2 + (at % 19) }, (_, of) => ((at * 37 + of * 101) % 97) / 97 + 1e-4))
    assert.equal(
      shares.reduce((sum, each) => sum + each, 0),
      100,
    )
    assert.ok(
      shares.every(share => share >= 5 && Number.isInteger(share)),
      shares.join(),
    )
  }
})

test('a change of one point of a hundred is worthwhile, a smaller one is not', () => {
  assert.equal(isWorthwhile([60, 40], [61, 39]), true)
  assert.equal(isWorthwhile([1, 1], [50, 50]), false)
  assert.equal(isWorthwhile([605, 395], [61, 39]), false)
})

test('a day in a time zone has 23 hours when the clocks go forward, and 25 when they go back', () => {
  const hours = (zone: string, at: string) => (nextDayIn(zone, Date.parse(at)) - Date.parse(at)) / 3_600_000
  assert.deepEqual(
    [
      hours('Europe/Berlin', '2026-03-28T12:00:00Z'),
      hours('Europe/Berlin', '2026-10-24T12:00:00Z'),
      hours('UTC', '2026-03-28T12:00:00Z'),
    ],
    [23, 25, 24],
  )
})
