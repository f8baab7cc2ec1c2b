// The figures of split tests come out as published, the same each time, and only for people.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedKey, type TestHouse, useHouse } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { estimateRates } from './split-tests.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})

after(() => house.end())

const ROUTE = '/api/split-tests/figures'
type Estimate = { mean: number; from: number; to: number; best: number; loss: number }

const isNear = (is: number | undefined, must: number, within: number, what: string) =>
  assert.ok(is !== undefined && Math.abs(is - must) <= within, `${what}: ${is} is not ${must}`)

test('two variants have the figures of the closed forms', async () => {
  const { cookie } = await seedSignedIn(house)
  const variants = [
    { visitors: 1000, conversions: 100 },
    { visitors: 1000, conversions: 120 },
  ]
  const reply = await house.call('POST', ROUTE, { cookie, body: { variants } })
  assert.equal(reply.statusCode, 200, reply.body)
  const [a, b] = reply.json<{ variants: Estimate[] }>().variants
  isNear(b?.best, 0.92318, 5e-6, 'best')
  isNear((a?.best ?? 0) + (b?.best ?? 0), 1, 1e-9, 'sum of best')
  isNear(b?.loss, 0.000485, 1e-6, 'loss of taking B')
  isNear(a?.loss, 0.020445, 1e-6, 'loss of keeping A')
  isNear(a?.mean, 101 / 1002, 1e-12, 'mean')
})

test('the closed forms agree with numerical integration, also without conversions and with many', () => {
  const density = (a: number, b: number, x: number) => (a - 1) * Math.log(x) + (b - 1) * Math.log1p(-x)
  for (const [one, other] of [
    [
      { visitors: 40, conversions: 0 },
      { visitors: 60, conversions: 3 },
    ],
    [
      { visitors: 900, conversions: 450 },
      { visitors: 500, conversions: 240 },
    ],
    [
      { visitors: 20_000, conversions: 700 },
      { visitors: 21_000, conversions: 690 },
    ],
  ] as const) {
    const STEPS = 200_000
    const grid = [one, other].map(({ visitors, conversions }) => {
      const logs = Array.from({ length: STEPS }, (_, at) =>
        density(conversions + 1, visitors - conversions + 1, (at + 0.5) / STEPS),
      )
      const most = logs.reduce((so, log) => Math.max(so, log), -Infinity)
      const weights = logs.map(log => Math.exp(log - most))
      const sum = weights.reduce((so, weight) => so + weight, 0)
      return weights.map(weight => weight / sum)
    })
    // At each x of one: the probability that the other is below, and the mean of how far it is below.
    let [best, gain, below, sumBelow] = [0, 0, 0, 0]
    const quantiles: number[] = []
    let cumulated = 0
    for (let at = 0; at < STEPS; at += 1) {
      const x = (at + 0.5) / STEPS
      const [own = 0, others = 0] = [grid[0]?.[at], grid[1]?.[at]]
      best += own * (below + others / 2)
      gain += own * (x * below - sumBelow)
      below += others
      sumBelow += others * x
      for (const probability of [0.05, 0.95])
        if (cumulated < probability && cumulated + own >= probability) quantiles.push(x)
      cumulated += own
    }
    const [figures, second] = estimateRates([one, other])
    isNear(figures?.best, best, 1e-6, 'best')
    isNear(second?.loss, gain, 1e-6, 'loss')
    isNear(figures?.from, quantiles[0] ?? 0, 1e-5, 'from')
    isNear(figures?.to, quantiles[1] ?? 0, 1e-5, 'to')
  }
})

test('draws for more than two variants agree with the closed forms, and are the same each time', () => {
  const [a, b] = [
    { visitors: 1000, conversions: 100 },
    { visitors: 1000, conversions: 120 },
  ]
  const hopeless = { visitors: 100_000, conversions: 10 }
  const drawn = estimateRates([a, b, hopeless])
  const closed = estimateRates([a, b])
  assert.deepEqual(drawn, estimateRates([a, b, hopeless]))
  for (const at of [0, 1]) {
    isNear(drawn[at]?.best, closed[at]?.best ?? 0, 0.01, 'best')
    isNear(drawn[at]?.loss, closed[at]?.loss ?? 0, 0.0005, 'loss')
  }
  assert.equal(drawn[2]?.best, 0)
})

test('a wrong question is 400, and keys get no figures', async () => {
  const { org_id, user_id, cookie } = await seedSignedIn(house)
  const good = { visitors: 10, conversions: 1 }
  const wrong = [
    [good],
    Array.from({ length: 11 }, () => good),
    [good, { visitors: 10, conversions: 11 }],
    [good, { visitors: -1, conversions: 0 }],
    [good, { visitors: 1.5, conversions: 0 }],
  ]
  for (const variants of wrong)
    assert.equal((await house.call('POST', ROUTE, { cookie, body: { variants } })).statusCode, 400)
  const key = await seedKey(house.database, { org_id, user_id })
  const reply = await house.call('POST', ROUTE, { key: key.secret, body: { variants: [good, good] } })
  assert.equal(reply.statusCode, 403)
  assert.equal(reply.json<{ code: string }>().code, 'api_key_resource_forbidden')
})

test('ten million visitors take a moment', () => {
  const started = performance.now()
  estimateRates([
    { visitors: 10_000_000, conversions: 500_000 },
    { visitors: 10_000_000, conversions: 501_000 },
  ])
  assert.ok(performance.now() - started < 2000)
})
