import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { toUuid } from '../../src/contract/ids.ts'
import { assertAudit, assertBooks, drained } from '../support/audit.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { type FaultGround, faultGround, SECONDS } from '../support/fault-ground.ts'
import { Load } from '../support/load.ts'
import type { Sluice } from '../support/sluice.ts'

const ORGANIZATIONS = 8
const KILL_EVERY_MS = 1500

let fresh: FreshDatabase
let ground: FaultGround
/** One process serves, one serves and delivers, one only delivers. */
const ROLES = ['serve', 'all', 'work'] as const
const processes: Sluice[] = []
const start = (number: number) => ground.start(number, { ROLE: ROLES[number] ?? 'all' })

before(async () => {
  fresh = await freshDatabase()
  ground = await faultGround(fresh.database, fresh.url, ORGANIZATIONS)
  for (const number of ROLES.keys()) processes.push(await start(number))
})
after(async () => {
  await ground.end()
  await fresh.drop()
})

const address = () => processes[Math.floor(Math.random() * 2)]?.address ?? assert.fail()

test('servers and workers killed again and again under load: the audit is exact', async () => {
  // A killed process never answers, so senders do not wait long.
  const load = new Load({ address, patience_ms: 20_000 })
  const until = performance.now() + SECONDS * 1000
  const running = load.run(until, 24, ground.targets)
  let kills = 0
  for (let turn = 0; performance.now() < until - KILL_EVERY_MS; turn += 1) {
    await sleep(KILL_EVERY_MS)
    const number = turn % ROLES.length
    await processes[number]?.kill()
    kills += 1
    processes[number] = await start(number)
  }
  await running
  await load.enough(ground.targets)
  assert.ok(kills > 0)
  // Deliveries of killed processes are due after their leases. No process works while leases are made to expire.
  await Promise.all(processes.map(one => one.stop()))
  await ground.mature()
  for (const number of ROLES.keys()) processes[number] = await start(number)
  await drained(fresh.database.reads, ground.receiver)
  const { targets, receiver } = ground
  await assertAudit(fresh.database.reads, load, { targets, receiver, address: address() })
})

test('one conversion sent 200 times at once to two processes is one event, one charge, one set of deliveries', async () => {
  const target = ground.targets[0] ?? assert.fail()
  const load = new Load({ address })
  const clickId = (await load.click(target)) ?? assert.fail()
  for (let round = 0; round < 5; round += 1) {
    const body = { clickId, type: 'ftd', nonce: `round ${round}`, payload: { telegram_user_id: `race ${round}` } }
    // A sender that waits too long is answered 503, and retries.
    const report = async (tries = 0): ReturnType<Load['report']> => {
      const told = await load.report(target, body)
      return told === 'unknown' && tries < 10 ? await report(tries + 1) : told
    }
    const answers = await Promise.all(Array.from({ length: 200 }, () => report()))
    const ids = new Set(answers.map(told => (typeof told === 'object' ? told.id : told)))
    assert.equal(ids.size, 1, [...ids].join(' '))
    const { rows } = await fresh.database.reads.query(
      `select (select count(*) from events where id = $1) as events, (select count(*) from ledger where event_id = $1) as charges,
        (select count(*) from deliveries where event_id = $1) as deliveries`,
      [toUuid([...ids][0] ?? '')],
    )
    assert.deepEqual(rows, [{ events: '1', charges: '1', deliveries: '1' }])
  }
  assert.deepEqual(load.unexpected, [])
  await assertBooks(fresh.database.reads)
})

test('without Redis an Idempotency-Key sent to two processes at once is one event: each answers 201 with its row, or 409', async () => {
  const target = ground.targets[0] ?? assert.fail()
  const load = new Load({ address })
  const clickId = (await load.click(target)) ?? assert.fail()
  for (let round = 0; round < 20; round += 1) {
    const body = JSON.stringify({ clickId, type: 'ftd', payload: { telegram_user_id: `header ${round}` } })
    const headers = { 'x-api-key': target.key, 'idempotency-key': `header ${round}` }
    const serving = processes.slice(0, 2)
    const answers = await Promise.all(
      [...serving, ...serving].map(one => fetch(`${one.address}/api/events`, { method: 'POST', headers, body })),
    )
    const told = await Promise.all(
      answers.map(async one => [one.status, (await one.json()) as { id?: string }] as const),
    )
    assert.ok(
      told.every(([status]) => status === 201 || status === 409),
      JSON.stringify(told),
    )
    const ids = new Set(told.flatMap(([status, { id }]) => (status === 201 ? [id] : [])))
    assert.equal(ids.size, 1, 'there is exactly one event')
    const { rows } = await fresh.database.reads.query(
      `select (select count(*)::int from events where org_id = $1 and nonce = $2) as events,
        (select count(*)::int from ledger l join events e on e.org_id = l.org_id and e.id = l.event_id
          where e.org_id = $1 and e.nonce = $2) as charges`,
      [target.org_id, `header ${round}`],
    )
    assert.deepEqual(rows, [{ events: 1, charges: 1 }])
  }
  await assertBooks(fresh.database.reads)
})
