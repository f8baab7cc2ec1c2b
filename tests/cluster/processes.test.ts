// Two serving processes on a cluster, with Redis: each applies the changes and quotas of the other.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { toWireId } from '../../src/contract/ids.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { type FaultGround, faultGround } from '../support/fault-ground.ts'
import { seedKey, seedOrganization } from '../support/house.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { isSharded } from '../support/sharded.ts'
import type { Sluice } from '../support/sluice.ts'

const skip = isSharded ? false : 'npm run test:citus gives it a cluster'
let fresh: FreshDatabase
let ground: FaultGround
let redis: TestRedis
let one: Sluice
let other: Sluice
let key = ''

if (!skip) {
  before(async () => {
    fresh = await freshDatabase()
    ground = await faultGround(fresh.database, fresh.url, 2)
    redis = await startRedis()
    const place = await seedOrganization(fresh.database)
    key = (await seedKey(fresh.database, place, { rights: ['campaigns', 'events', 'clicks'] })).secret
    const env = { ROLE: 'serve', REDIS_URL: redis.url }
    one = await ground.start(0, env)
    other = await ground.start(1, env)
  })
  after(async () => {
    await ground.end()
    redis.end()
    await fresh.drop()
  })
}

const post = ({ address }: Sluice, path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${address}${path}`, { method: 'POST', headers: { 'x-api-key': key, ...headers }, body: JSON.stringify(body) })

test('a campaign created at one process is served by the other at once', { skip }, async () => {
  const destination = { type: 'redirect', url: 'https://example.com/?c={click_id}' }
  const made = await post(one, '/api/campaigns', { name: 'Live', key: 'live-there', destination })
  assert.equal(made.status, 201, await made.text())
  const { status } = await fetch(`${other.address}/c/live-there`, { redirect: 'manual' })
  assert.equal(status, 302)
})

test('both processes share one quota', { skip }, async () => {
  const left = async ({ address }: Sluice) => {
    const answer = await fetch(`${address}/api/v1/clicks?limit=1`, { headers: { 'x-api-key': key } })
    return Number(answer.headers.get('x-ratelimit-remaining'))
  }
  const first = await left(one)
  assert.deepEqual([await left(other), await left(one), await left(other)], [first - 1, first - 2, first - 3])
})

test('an Idempotency-Key sent to both at once is one event: each answers 201 with its row, or 409', {
  skip,
}, async () => {
  const visit = await fetch(`${one.address}/c/live-there`, { redirect: 'manual' })
  const clickId = new URL(visit.headers.get('location') ?? '').searchParams.get('c')
  for (let round = 0; round < 10; round += 1) {
    const headers = { 'idempotency-key': `round ${round}` }
    const answers = await Promise.all(
      [one, other, one, other].map(at => post(at, '/api/events', { clickId, type: 'lead' }, headers)),
    )
    const told = await Promise.all(
      answers.map(async answer => [answer.status, (await answer.json()) as { id?: string }] as const),
    )
    assert.ok(
      told.every(([status]) => status === 201 || status === 409),
      JSON.stringify(told),
    )
    assert.equal(new Set(told.flatMap(([, { id }]) => id ?? [])).size, 1)
  }
  const { rows } = await fresh.database.reads.query<{ click_id: string; events: number }>(
    `select click_id, count(*)::int as events from events group by 1`,
  )
  assert.deepEqual(
    rows.map(row => [toWireId(row.click_id), row.events]),
    [[clickId, 10]],
  )
})
