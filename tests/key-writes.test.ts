// Rules of every write by key, not only of conversions: its size, its quota, and the refusal while
// quotas cannot be counted.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Endpoint, rightOf } from '../src/contract/endpoint.ts'
import { ALL_RIGHTS } from '../src/contract/rights.ts'
import { newId, seedKey, seedOrganization, startHouse, type TestHouse, toWireId } from './support/house.ts'
import { startRedis } from './support/redis.ts'

const MIB = 1024 * 1024

let house: TestHouse
let key: string
before(async () => {
  house = await startHouse({}, { quotas: { writes: 1000 } })
  key = (await seedKey(house.database, await seedOrganization(house.database), { rights: ALL_RIGHTS })).secret
})
after(() => house.end())

type Write = { route: string; method: 'POST'; url: string }

/** Every route a key may write to, with unknown ids. */
function writes(): Write[] {
  return house.furnished
    .map(({ endpoint }) => endpoint as Endpoint)
    .filter(({ access, route }) => rightOf(access) !== undefined && !route.startsWith('GET '))
    .map(({ route }) => {
      const [method, path] = route.split(' ') as ['POST', string]
      return { route, method, url: path.replaceAll(/:\w+/g, toWireId(newId())) }
    })
}

test('a body over 1 MiB is refused on every write, by its header and by its real bytes', async () => {
  const json = { 'content-type': 'application/json' }
  for (const { route, method, url } of writes()) {
    const said = await house.call(method, url, { key, headers: { ...json, 'content-length': String(MIB + 1) } })
    const sent = await house.call(method, url, { key, headers: json, payload: Buffer.alloc(MIB + 1, 0x20) })
    for (const reply of [said, sent]) {
      assert.equal(reply.statusCode, 413, route)
      assert.equal(reply.data()['error'], 'payload too large', route)
    }
  }
})

test('every write spends a quota and returns what is left', async () => {
  for (const { route, method, url } of writes()) {
    const { headers } = await house.call(method, url, { key, body: {} })
    assert.equal(headers['x-ratelimit-limit'], route === 'POST /api/events' ? '1800' : '1000', route)
    assert.ok(Number(headers['x-ratelimit-remaining']) >= 0, route)
  }
})

test('while quotas cannot be counted, every write is refused and both reads work', async t => {
  const redis = await startRedis()
  t.after(() => redis.end())
  const blind = await startHouse({ REDIS_URL: redis.url })
  t.after(() => blind.end())
  const holder = await seedKey(blind.database, await seedOrganization(blind.database), { rights: ALL_RIGHTS })
  redis.kill()
  for (const { route, method, url } of writes()) {
    const reply = await blind.call(method, url, { key: holder.secret, body: {} })
    assert.deepEqual([reply.statusCode, reply.data()['error']], [503, 'service unavailable'], route)
    assert.equal(reply.headers['retry-after'], '60', route)
    assert.equal(reply.headers['x-ratelimit-limit'], undefined, route)
  }
  for (const url of ['/api/v1/clicks', '/api/v1/report?dimension=day&date_from=2026-01-01&date_to=2026-01-02'])
    assert.equal((await blind.call('GET', url, { key: holder.secret })).statusCode, 200, url)
})
