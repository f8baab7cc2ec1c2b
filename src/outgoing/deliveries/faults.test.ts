// The worker while processes die, are suspended, or lose their database.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import test, { after, afterEach } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import {
  attemptsOf,
  deliveryOf,
  ORG,
  seedDelivery,
  seedOutboxRule,
  untilInState,
} from '../../../tests/support/outbox.ts'
import { startProxy } from '../../../tests/support/proxy.ts'
import { startReceiver } from '../../../tests/support/receiver.ts'
import { readConfig } from '../../ground/config.ts'
import { connect } from '../../ground/db/connect.ts'
import { postbackLane } from '../postbacks/lane.ts'
import { openDeliveryWorker, type DeliveryWorkerOptions } from './worker.ts'

const fresh: FreshDatabase = await freshDatabase()
const { kysely: db, worker: pool } = fresh.database
const config = readConfig({ ALLOW_PRIVATE_TARGETS: 'true' })
const log = pino({ level: 'silent' })
const children = new Set<ChildProcess>()
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  await pool.query('truncate deliveries, delivery_attempts, events, clicks, postback_rules, failing_targets')
})
after(() => fresh.drop())

/** Short, so that deliveries of a dead process are due again soon. */
const TERMS: DeliveryWorkerOptions = {
  lease_ms: 1500,
  deadlines: { headers_ms: 1000, total_ms: 1000 },
  delays: [1, 1, 1, 1, 1, 1, 1, 1],
}

function startChild(): ChildProcess {
  const script = join(import.meta.dirname, '../../../tests/support/deliver.ts')
  const child = spawn(process.execPath, [script, JSON.stringify(fresh.connection), JSON.stringify(TERMS)], {
    stdio: 'inherit',
  })
  children.add(child)
  child.once('close', () => children.delete(child))
  return child
}

test('workers killed in the middle of their calls lose nothing, and repeat only what was under way', async () => {
  const receiver = await startReceiver(async (_, response) => {
    await sleep(15)
    response.end('ok')
  })
  const rules = await Promise.all(
    [1, 2, 3, 4].map(n => seedOutboxRule(db, { url: `${receiver.origin}/${n}?e={event_id}` })),
  )
  const seeded = []
  for (let i = 0; i < 240; i += 1) seeded.push(await seedDelivery(db, { target_id: rules[i % 4] ?? '' }))
  for (let kill = 1; kill <= 6; kill += 1) {
    const child = startChild()
    await receiver.arrived(Math.min(kill * 30, 200))
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  startChild()
  for (const { id } of seeded) await untilInState(db, id, 'delivered')
  const { rows } = await pool.query<{ lost: number; made: number }>(
    'select count(*)::int as made, (count(*) filter (where status is null))::int as lost from delivery_attempts',
  )
  const [{ lost, made } = { lost: 0, made: 0 }] = rows
  const urls = new Set(receiver.arrivals.map(({ url }) => url))
  assert.equal(urls.size, 240)
  assert.ok(
    receiver.arrivals.length - urls.size <= lost,
    `${receiver.arrivals.length - urls.size} repeated, ${lost} attempts got no answer`,
  )
  assert.ok(receiver.arrivals.length <= made)
  await receiver.close()
})

test('a process that sleeps past its lease does not undo what another one has done meanwhile', async () => {
  const answer = Promise.withResolvers<void>()
  const receiver = await startReceiver(async (_, response) => {
    if (receiver.arrivals.length > 1) return void response.end('second')
    await answer.promise
    response.writeHead(500).end('first')
  })
  const { id } = await seedDelivery(db, { target_id: await seedOutboxRule(db, { url: receiver.origin }) })
  const sleeper = startChild()
  await receiver.arrived(1)
  sleeper.kill('SIGSTOP')
  // Usually its first one; on a busy machine a lease may have run out before its call.
  const { attempts } = await deliveryOf(db, id)
  // With long deadlines, so that one call is enough.
  const worker = openDeliveryWorker({ config, database: fresh.database, log }, [postbackLane])
  await untilInState(db, id, 'delivered')
  answer.resolve()
  sleeper.kill('SIGCONT')
  const isWritten = async () => (await attemptsOf(db, id))[attempts - 1]?.finished_at !== null
  await eventually('the sleeper wakes', isWritten)
  assert.equal((await untilInState(db, id, 'delivered')).attempts, attempts + 1)
  assert.equal(receiver.arrivals.length, 2)
  await worker.close()
  await receiver.close()
})

test('an outcome outlives an outage of the database: the call is not made again', async () => {
  const proxy = await startProxy(fresh.connection)
  const database = connect([proxy.connection], { log, isBehind: false })
  const answer = Promise.withResolvers<void>()
  const receiver = await startReceiver(async (_, response) => {
    await answer.promise
    response.end('ok')
  })
  const { id } = await seedDelivery(db, { target_id: await seedOutboxRule(db, { url: receiver.origin }) })
  const worker = openDeliveryWorker({ config, database, log }, [postbackLane])
  await receiver.arrived(1)
  proxy.set('cut')
  answer.resolve()
  await sleep(1500)
  assert.equal(
    (await db.selectFrom('deliveries').select('state').where('id', '=', id).executeTakeFirstOrThrow()).state,
    'pending',
  )
  proxy.set('flow')
  const row = await untilInState(db, id, 'delivered')
  assert.equal(row.attempts, 1)
  const next = await seedDelivery(db, { target_id: row.target_id })
  await untilInState(db, next.id, 'delivered')
  assert.equal(receiver.arrivals.length, 2)
  await worker.close()
  await database.close()
  await proxy.close()
  await receiver.close()
})

/** Deliveries of two organizations to one receiver, which answers each with the word behind its path. */
async function seedTwo() {
  const receiver = await startReceiver(({ url }, response) => void response.end(url.slice(1)))
  const seed = async (org_id: number, word: string) =>
    seedDelivery(db, { org_id, target_id: await seedOutboxRule(db, { org_id, url: `${receiver.origin}/${word}` }) })
  return { receiver, sick: await seed(ORG, 'sick'), healthy: await seed(ORG + 1, 'healthy') }
}

test('an organization whose claims fail keeps no other waiting', async () => {
  const { receiver, sick, healthy } = await seedTwo()
  let isSick = true
  const lane: typeof postbackLane = {
    ...postbackLane,
    compose: (client, org_id, due) =>
      isSick && org_id === ORG ? client.query('select 1/0').then(() => []) : postbackLane.compose(client, org_id, due),
  }
  const worker = openDeliveryWorker({ config, database: fresh.database, log }, [lane])
  await untilInState(db, healthy.id, 'delivered')
  assert.equal((await deliveryOf(db, sick.id)).attempts, 0)
  isSick = false
  assert.equal((await untilInState(db, sick.id, 'delivered')).attempts, 1)
  assert.equal(receiver.arrivals.length, 2)
  await worker.close()
  await receiver.close()
})

test('an outcome that cannot be stored keeps no other waiting, and nothing is called again', async () => {
  const { receiver, sick, healthy } = await seedTwo()
  const beside = await seedDelivery(db, { target_id: await seedOutboxRule(db, { url: `${receiver.origin}/well` }) })
  await pool.query(`alter table delivery_attempts add constraint no_sick check (answer is distinct from 'sick')`)
  const worker = openDeliveryWorker({ config, database: fresh.database, log }, [postbackLane])
  for (const { id } of [healthy, beside]) await untilInState(db, id, 'delivered')
  await receiver.arrived(3)
  assert.equal((await deliveryOf(db, sick.id)).state, 'pending')
  await pool.query('alter table delivery_attempts drop constraint no_sick')
  assert.equal((await untilInState(db, sick.id, 'delivered')).attempts, 1)
  assert.equal(receiver.arrivals.length, 3)
  await worker.close()
  await receiver.close()
})
