import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { untilWaiting } from '../../tests/support/blocked.ts'
import {
  openTestHouse,
  type SeededOrganization,
  seedKey,
  seedOrganization,
  startHouse,
  type TestHouse,
} from '../../tests/support/house.ts'
import { startRedis, type TestRedis } from '../../tests/support/redis.ts'
import { type Once, openOnce } from './once.ts'
import { openRedis } from './redis.ts'

let redis: TestRedis
let house: TestHouse
let second: TestHouse
let acme: SeededOrganization
let key: string

before(async () => {
  redis = await startRedis()
  house = await startHouse({ REDIS_URL: redis.url }, { budget_ms: 1500 })
  second = await openTestHouse(house.database, { REDIS_URL: redis.url, DATA_DIR: house.ground.config.dataDir })
  acme = await seedOrganization(house.database)
  key = (await seedKey(house.database, acme, { rights: ['events'] })).secret
})
after(async () => {
  await second.end()
  await house.end()
  redis.end()
})

/** If Redis answers too late, as on a busy machine, nothing was done, and the request is sent again. */
async function report(to: TestHouse, idempotency_key?: string, tries = 0): ReturnType<TestHouse['call']> {
  const answer = await to.call('POST', '/api/events', {
    key,
    body: { clickId: '01h455vb4pex5vsknk084sn02q', type: 'lead' },
    headers: idempotency_key === undefined ? {} : { 'idempotency-key': idempotency_key },
  })
  return answer.statusCode === 503 && tries < 10 ? await report(to, idempotency_key, tries + 1) : answer
}

/** Locks the row that every conversion of the organization locks first, while `during` runs. */
async function whileLocked(during: () => Promise<void>): Promise<void> {
  const client = house.database.dedicated()
  await client.connect()
  try {
    await client.query('begin')
    await client.query('select 1 from balances where org_id = $1 for update', [acme.org_id])
    await during()
  } finally {
    await client.query('rollback')
    await client.end()
  }
}

test('a second request with the same Idempotency-Key is refused while the first is in flight, in this process and in another', async () => {
  let first: ReturnType<typeof report> | undefined
  await whileLocked(async () => {
    // In the process with the real budget: the short one could run out before the others have asked.
    first = report(second, 'same')
    await untilWaiting(house.database, 1)
    for (const to of [second, house]) {
      const twin = await report(to, 'same')
      assert.deepEqual([twin.statusCode, twin.data()['code']], [409, undefined])
    }
    // Another key, and no key at all, wait for their turn instead.
    const others = [report(house, 'other'), report(house)]
    assert.equal(await Promise.race([...others, sleep(100, 'waiting')]), 'waiting')
  })
  assert.equal((await first)?.statusCode, 403)
  assert.equal((await report(second, 'same')).statusCode, 403)
})

test('an Idempotency-Key stays taken while its work runs, even for more than a second and for another process', async () => {
  let first: ReturnType<typeof report> | undefined
  await whileLocked(async () => {
    first = report(second, 'slow')
    await untilWaiting(house.database, 1)
    await sleep(1200)
    // If the key were free, it would wait for the row.
    const twin = await Promise.race([report(house, 'slow'), sleep(10_000, undefined, { ref: false })])
    assert.equal(twin?.statusCode, 409)
  })
  assert.equal((await first)?.statusCode, 403)
})

test('a request with Idempotency-Key that exceeds its budget answers 504 and records nothing; then the key is free', async () => {
  await whileLocked(async () => {
    const late = await report(house, 'late')
    assert.equal(late.statusCode, 504)
    assert.ok(Number(late.headers['x-ratelimit-remaining']) > 0)
  })
  const again = await report(house, 'late')
  assert.ok([403, 409].includes(again.statusCode))
})

test('an Idempotency-Key is free again after an answer that Redis was too slow for', async t => {
  const client = openRedis(redis.url, house.ground.log)
  t.after(() => client.disconnect())
  await once(client, 'ready')
  const [one, other] = [openOnce(client), openOnce(client)]
  const run = (guard: Once) => guard.run(acme.org_id, 'not heard', performance.now(), () => Promise.resolve('done'))
  redis.freeze()
  const blind = await run(one).finally(() => redis.thaw())
  assert.deepEqual([blind, await run(other)], ['done', 'done'])
})

test('an Idempotency-Key that is empty, too long or sent twice is refused', async () => {
  for (const sent of ['', 'k'.repeat(129)]) assert.equal((await report(house, sent)).statusCode, 400)
  assert.equal((await report(second, 'k'.repeat(128))).statusCode, 403)
})

test('the real budget is 55 seconds: 504 after it, 409 meanwhile, and an answer once the key is free', {
  skip: !process.env['SLUICE_TEST_ALL'],
}, async () => {
  await whileLocked(async () => {
    const began = performance.now()
    const late = report(second, 'budget')
    await sleep(20_000)
    assert.equal((await report(second, 'budget')).statusCode, 409)
    assert.equal((await late).statusCode, 504)
    const waited_ms = performance.now() - began
    assert.ok(waited_ms >= 55_000 && waited_ms < 65_000, `${waited_ms} ms`)
  })
  await sleep(2000)
  assert.equal((await report(second, 'budget')).statusCode, 403)
})
