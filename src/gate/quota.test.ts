import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { eventually } from '../../tests/support/eventually.ts'
import { openTestHouse, seedKey, seedOrganization, startHouse, type TestHouse } from '../../tests/support/house.ts'
import { startRedis, type TestRedis } from '../../tests/support/redis.ts'
import { openQuotas } from './quota.ts'
import { openRedis } from './redis.ts'

const EVENT = { clickId: '{click_id}', type: 'lead' }

test('keys of one organization share its quota, and answers show the rest of it', async t => {
  const house = await startHouse({}, { quotas: { events: 3 } })
  t.after(() => house.end())
  const acme = await seedOrganization(house.database)
  const other = await seedKey(house.database, await seedOrganization(house.database))
  const keys = [await seedKey(house.database, acme), await seedKey(house.database, acme)].map(({ secret }) => secret)
  const send = (key: string | undefined) => house.call('POST', '/api/events', { ...(key ? { key } : {}), body: EVENT })
  const before_ms = Date.now()
  const answers = [await send(keys[0]), await send(keys[1]), await send(keys[0]), await send(keys[1])]
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [403, 403, 403, 429],
  )
  assert.deepEqual(
    answers.map(({ headers }) => headers['x-ratelimit-remaining']),
    ['2', '1', '0', '0'],
  )
  const refused = answers[3]
  assert.equal(refused?.data()['code'], undefined)
  assert.equal(refused?.headers['x-ratelimit-limit'], '3')
  assert.ok(Number(refused?.headers['retry-after']) >= 1 && Number(refused?.headers['retry-after']) <= 60)
  const reset_ms = Number(refused?.headers['x-ratelimit-reset']) * 1000
  assert.ok(reset_ms > before_ms && reset_ms <= Date.now() + 61_000)
  assert.equal((await send(other.secret)).statusCode, 403)
})

test('reads are refused with a code when their quota is used up', async t => {
  const house = await startHouse({}, { quotas: { clicks: 1, report: 1 } })
  t.after(() => house.end())
  const acme = await seedOrganization(house.database)
  const { secret } = await seedKey(house.database, acme, { rights: ['clicks', 'report'] })
  for (const route of ['/api/v1/clicks', '/api/v1/report?dimension=day&date_from=2026-01-01&date_to=2026-01-02']) {
    assert.equal((await house.call('GET', route, { key: secret })).statusCode, 200)
    const refused = await house.call('GET', route, { key: secret })
    assert.deepEqual([refused.statusCode, refused.data()['code']], [429, 'rate_limited'])
  }
})

test('a body that cannot be parsed costs no quota', async t => {
  const house = await startHouse({}, { quotas: { events: 1 } })
  t.after(() => house.end())
  const { secret } = await seedKey(house.database, await seedOrganization(house.database))
  for (let n = 0; n < 3; n += 1)
    assert.equal((await house.call('POST', '/api/events', { key: secret, payload: '{' })).statusCode, 400)
  assert.equal((await house.call('POST', '/api/events', { key: secret, body: EVENT })).statusCode, 403)
})

let redis: TestRedis
let house: TestHouse
let second: TestHouse
let key: string

before(async () => {
  redis = await startRedis()
  house = await startHouse({ REDIS_URL: redis.url }, { quotas: { events: 10 } })
  second = await openTestHouse(
    house.database,
    { REDIS_URL: redis.url, DATA_DIR: house.ground.config.dataDir },
    { quotas: { events: 10 } },
  )
  const acme = await seedOrganization(house.database)
  key = (await seedKey(house.database, acme, { rights: ['events', 'clicks', 'offers'] })).secret
})
after(async () => {
  await second.end()
  await house.end()
  redis.end()
})

test('two processes with one Redis count together, exactly', async () => {
  const ask = async (key_: string) =>
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        (n % 2 === 0 ? house : second).call('POST', '/api/events', { key: key_, body: EVENT }),
      ),
    )
  let answers = await ask(key)
  // If Redis answered too late on a busy machine, it may have counted the request, so the test continues with a new organization.
  for (let tries = 0; tries < 10 && answers.some(({ statusCode }) => statusCode === 503); tries += 1) {
    const other = await seedOrganization(house.database)
    answers = await ask((await seedKey(house.database, other, { rights: ['events'] })).secret)
  }
  assert.equal(answers.filter(({ statusCode }) => statusCode === 403).length, 10)
  assert.equal(answers.filter(({ statusCode }) => statusCode === 429).length, 20)
})

async function assertOutage(): Promise<void> {
  for (const [method, route] of [
    ['POST', '/api/events'],
    ['POST', '/api/offers'],
  ] as const) {
    const refused = await house.call(method, route, { key, body: EVENT })
    assert.equal(refused.statusCode, 503)
    assert.equal(refused.data()['error'], 'service unavailable')
    assert.equal(refused.headers['retry-after'], '60')
    assert.deepEqual(
      Object.keys(refused.headers).filter(name => name.startsWith('x-ratelimit')),
      [],
    )
  }
  assert.equal((await house.call('GET', '/api/v1/clicks', { key })).statusCode, 200)
}

async function recovered(): Promise<void> {
  await eventually('writes are taken again', async () => {
    return (await house.call('POST', '/api/offers', { key, body: {} })).statusCode !== 503
  })
}

test('while Redis hangs or is down, writes by key answer 503 and reads pass; both recover without a restart', async () => {
  redis.freeze()
  await assertOutage()
  redis.thaw()
  await recovered()
  redis.kill()
  await assertOutage()
  await redis.start()
  await recovered()
})

test('a process that was busy does not mistake its delay for a silent Redis', async t => {
  const client = openRedis(redis.url, house.ground.log)
  t.after(() => client.disconnect())
  await once(client, 'ready')
  const quotas = openQuotas(client, { events: 100 })
  const told: Record<string, string> = {}
  const spend = () => quotas.spend('events', 7, { header: (name, value) => void (told[name] = value) })
  await spend()
  const spending = Promise.all(Array.from({ length: 20 }, spend))
  // Redis has answered long before, but the process was too busy to read it.
  for (const until = performance.now() + 400; performance.now() < until; );
  await spending
  assert.equal(told['x-ratelimit-remaining'], '79')
})
