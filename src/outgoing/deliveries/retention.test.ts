// The log of attempts is deleted some time after its delivery ended; the delivery and its outcome stay.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, openTestHouse, seedKey, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedClick, tally } from '../../../tests/support/intake.ts'
import { attemptsOf, deliveryOf, seedDelivery, seedOutboxRule, untilInState } from '../../../tests/support/outbox.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { type Receiver, startReceiver } from '../../../tests/support/receiver.ts'
import { DAY_MS } from '../../contract/days.ts'
import type { Trace } from '../../reading/traces/api.ts'
import { dropOldAttempts } from './retention.ts'

let house: TestHouse
let owner: SignedIn
let other: SignedIn
let receiver: Receiver
before(async () => {
  house = await startHouse({ KEEP_ATTEMPTS_DAYS: 'forever' })
  owner = await seedSignedIn(house)
  other = await seedSignedIn(house)
  receiver = await startReceiver()
})
after(async () => {
  await house.end()
  await receiver.close()
})

type Past = { org_id?: number; state?: string; attempts?: number; ended_days_ago?: number | null; target_id?: string }

/** A delivery created 100 days ago, with its log. */
async function seedPast(past: Past = {}): Promise<{ id: string; event_id: string; click_id: string }> {
  const { org_id = owner.org_id, state = 'delivered', attempts = 1, ended_days_ago = 100, target_id = newId() } = past
  const { kysely: db } = house.database
  // Inserted as ended, because the house's worker would claim it otherwise.
  const made = await seedDelivery(db, { org_id, target_id, state: 'delivered' })
  const id = newId(Date.now() - 100 * DAY_MS)
  const finished_at = ended_days_ago === null ? null : new Date(Date.now() - ended_days_ago * DAY_MS).toISOString()
  const run_at = new Date(Date.now() + DAY_MS).toISOString()
  await db
    .updateTable('deliveries')
    .set({ id, state, attempts, finished_at, run_at })
    .where('org_id', '=', org_id)
    .where('id', '=', made.id)
    .execute()
  const log = { org_id, delivery_id: id, method: 'GET', url: 'https://tracker.example/', status: 200, answer: 'ok' }
  const rows = Array.from({ length: attempts }, (_, at) => ({ ...log, number: at + 1, started_at: run_at }))
  if (rows.length > 0) await db.insertInto('delivery_attempts').values(rows).execute()
  return { ...made, id }
}

const numbersOf = async (id: string) =>
  (await attemptsOf(house.database.kysely, id)).map(({ number }: { number: number }) => number)
const read = async (id: string) => {
  const reply = await house.call('GET', `/api/deliveries/${toWireId(id)}`, owner)
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json<{ attempts: number; attempts_dropped: number; history: { number: number }[]; state: string }>()
}

test('the log of what ended long ago goes, in portions, of every organization; what waits or ended lately keeps it', async () => {
  const poor = await seedSignedIn(house)
  // With a balance the worker would unhold the deliveries.
  await house.database.worker.query('update balances set balance = -1, hold_when_empty = true where org_id = $1', [
    poor.org_id,
  ])
  const old = await Promise.all([
    seedPast({ attempts: 3 }),
    seedPast({ attempts: 8, state: 'failed' }),
    seedPast({ org_id: other.org_id }),
  ])
  const kept = await Promise.all([
    seedPast({ ended_days_ago: 89, attempts: 2 }),
    seedPast({ state: 'pending', ended_days_ago: null, attempts: 2 }),
    seedPast({ org_id: poor.org_id, state: 'held', ended_days_ago: null, attempts: 2 }),
  ])
  const was = await Promise.all([...old, ...kept].map(({ id }) => deliveryOf(house.database.kysely, id)))
  assert.equal(await dropOldAttempts(house.database.worker, 90, { batch: 2 }), 12)
  for (const { id } of old) assert.deepEqual(await numbersOf(id), [])
  for (const { id } of kept) assert.deepEqual(await numbersOf(id), [1, 2])
  const is = await Promise.all([...old, ...kept].map(({ id }) => deliveryOf(house.database.kysely, id)))
  assert.deepEqual(is, was)
  assert.equal(await dropOldAttempts(house.database.worker, 90), 0)
})

test('a delivery and a trace say how many attempts are no longer in the log', async () => {
  const { id, click_id } = await seedPast({ attempts: 3 })
  const never = await seedPast({ attempts: 0, state: 'skipped' })
  assert.deepEqual([(await read(id)).attempts_dropped, (await read(never.id)).attempts_dropped], [0, 0])
  await dropOldAttempts(house.database.worker, 90)
  const { attempts, attempts_dropped, history, state } = await read(id)
  assert.deepEqual([attempts, attempts_dropped, history, state], [3, 3, [], 'delivered'])
  assert.equal((await read(never.id)).attempts_dropped, 0)
  const trace = (await house.call('GET', `/api/clicks/${toWireId(click_id)}/trace`, owner)).json<Trace>()
  assert.deepEqual(
    trace.deliveries.map(one => [one.id, one.attempts_dropped, one.history]),
    [[toWireId(id), 3, []]],
  )
})

test('a delivery whose log has gone is sent again, and its attempts are counted on', async () => {
  const target_id = await seedOutboxRule(house.database.kysely, {
    org_id: owner.org_id,
    url: `${receiver.origin}/again`,
  })
  const { id } = await seedPast({ target_id, attempts: 2, state: 'failed' })
  await dropOldAttempts(house.database.worker, 90)
  const reply = await house.call('POST', `/api/deliveries/${toWireId(id)}/resend`, owner)
  assert.equal(reply.statusCode, 200, reply.body)
  await untilInState(house.database.kysely, id, 'delivered', 3)
  const { attempts, attempts_dropped, history } = await read(id)
  assert.deepEqual([attempts, attempts_dropped, history.map(({ number }) => number)], [3, 2, [3]])
  assert.equal(receiver.arrivals.filter(({ url }) => url === '/again').length, 1)
  // It ended a moment ago, so what is left of its log stays.
  assert.equal(await dropOldAttempts(house.database.worker, 90), 0)
})

test('an attempt that begins while the log is deleted stays', async () => {
  const { id } = await seedPast({ target_id: newId() })
  const client = await house.database.worker.connect()
  await client.query('begin')
  const mine = [owner.org_id, id]
  await client.query(
    `update deliveries set state = 'pending', finished_at = null, attempts = 2, run_at = now() + interval '1 day'
     where org_id = $1 and id = $2`,
    mine,
  )
  await client.query(
    `insert into delivery_attempts (org_id, delivery_id, number, started_at, method, url) values ($1, $2, 2, now(), 'GET', 'x')`,
    mine,
  )
  const dropping = dropOldAttempts(house.database.worker, 90)
  await client.query('commit')
  client.release()
  await dropping
  assert.ok((await numbersOf(id)).includes(2))
})

test('a rule that calls once per person does not call again when the log of the first call has gone', async () => {
  const { secret: key } = await seedKey(house.database, owner, { rights: ['events'] })
  const url = `${receiver.origin}/once?c={click_id}`
  const body = { event_type: 'ftd', url, method: 'GET', once_per_person: true }
  assert.equal((await house.call('POST', '/api/postbacks', { ...owner, body })).statusCode, 201)
  const send = async () => {
    const clickId = toWireId(await seedClick(house.database, owner.org_id))
    const sent = { clickId, type: 'ftd', payload: { telegram_user_id: 4711 } }
    assert.equal((await house.call('POST', '/api/events', { key, body: sent })).statusCode, 201)
  }
  await send()
  const once = () => receiver.arrivals.filter(({ url: called }) => called.startsWith('/once')).length
  await eventually('all was delivered', async () => once() === 1 && (await pendingOf(owner.org_id)) === 0)
  await dropOldAttempts(house.database.worker, 90, { now: Date.now() + 91 * DAY_MS })
  const before = await tally(house.database, owner.org_id)
  await send()
  const is = await tally(house.database, owner.org_id)
  assert.deepEqual([is.deliveries - before.deliveries, is.charges - before.charges, once()], [0, 0, 1])
})

test('a worker deletes by itself what KEEP_ATTEMPTS_DAYS no longer keeps', async () => {
  const old = await seedPast({ ended_days_ago: 8 })
  const lately = await seedPast({ ended_days_ago: 6 })
  const worker = await openTestHouse(house.database, { ROLE: 'work', KEEP_ATTEMPTS_DAYS: '7' })
  try {
    await eventually('the attempts were dropped', async () => (await numbersOf(old.id)).length === 0)
    assert.deepEqual(await numbersOf(lately.id), [1])
  } finally {
    await worker.end()
  }
})

async function pendingOf(org_id: number): Promise<number> {
  const { rows } = await house.database.reads.query<{ count: number }>(
    `select count(*)::int as count from deliveries where org_id = $1 and state = 'pending' and run_at <= now() + interval '1 hour'`,
    [org_id],
  )
  return rows[0]?.count ?? 0
}
