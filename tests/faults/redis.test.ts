import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertAudit, drained } from '../support/audit.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { type FaultGround, faultGround, SECONDS } from '../support/fault-ground.ts'
import { Load } from '../support/load.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import type { Sluice } from '../support/sluice.ts'

let fresh: FreshDatabase
let redis: TestRedis
let ground: FaultGround
let sluice: Sluice
before(async () => {
  fresh = await freshDatabase()
  redis = await startRedis()
  ground = await faultGround(fresh.database, fresh.url, 2)
  sluice = await ground.start(0, { REDIS_URL: redis.url })
})
after(async () => {
  await ground.end()
  redis.end()
  await fresh.drop()
})

test('Redis dies and freezes under load: conversions are refused and not stored, reads and redirects work, the audit is exact', async () => {
  const load = new Load({ address: () => sluice.address, isRefusalCertain: true })
  const until = performance.now() + SECONDS * 1000
  const running = load.run(until, 8, ground.targets)
  const faults = [
    { begin: () => redis.kill(), end: () => redis.start() },
    { begin: () => redis.freeze(), end: async () => redis.thaw() },
  ]
  for (const { begin, end } of faults) {
    await sleep(SECONDS * 150)
    begin()
    await refused(load)
    await sleep(SECONDS * 150)
    await end()
    await accepted(load)
  }
  await running
  await load.enough(ground.targets)
  await drained(fresh.database.reads, ground.receiver)
  const { targets, receiver } = ground
  await assertAudit(fresh.database.reads, load, { targets, receiver, address: sluice.address })
})

const target = () => ground.targets[0] ?? assert.fail()
let nonces = 0

/** Asserts that without Redis conversions are refused, while visitors are redirected and the feed is read. */
async function refused(load: Load): Promise<void> {
  await eventually('conversions are refused', async () => {
    const clickId = (await load.click(target())) ?? assert.fail('a visitor gets on')
    const nonce = `refused ${(nonces += 1)}`
    return (await load.report(target(), { clickId, type: 'lead', nonce })) === 'refused'
  })
  const feed = await fetch(`${sluice.address}/api/v1/clicks`, { headers: { 'x-api-key': target().key } })
  assert.equal(feed.status, 200, await feed.text())
}

async function accepted(load: Load): Promise<void> {
  await eventually('conversions are accepted again', async () => {
    const clickId = (await load.click(target())) ?? assert.fail('a visitor gets on')
    const nonce = `accepted ${(nonces += 1)}`
    return typeof (await load.report(target(), { clickId, type: 'lead', nonce })) === 'object'
  })
}
