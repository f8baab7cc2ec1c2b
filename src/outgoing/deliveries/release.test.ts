import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raceInto } from '../../../tests/support/blocked.ts'
import { freshDatabase } from '../../../tests/support/database.ts'
import { newId, seedOrganization, useHouse } from '../../../tests/support/house.ts'
import { seedClicks, seedRule } from '../../../tests/support/intake.ts'
import { openQueue } from '../../../tests/support/organization-queue.ts'
import { seedDelivery, seedOutboxRule, untilInState } from '../../../tests/support/outbox.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { startReceiver } from '../../../tests/support/receiver.ts'
import { moveBalance } from '../../money/billing/billing.ts'
import { auditBooks } from '../../reading/audit/audit.ts'
import { unholdDeliveries } from './release.ts'

test('what is held for an empty balance goes out after a top-up, in order, and is not touched before', async () => {
  const house = await useHouse()
  const there = await startReceiver()
  const { kysely: db, worker: pool } = house.database
  const { org_id } = await seedSignedIn(house)
  const poor = await seedSignedIn(house)
  const setBalance = (balance: string, hold_when_empty = true) =>
    db.updateTable('balances').set({ balance, hold_when_empty }).where('org_id', '=', org_id).execute()
  await setBalance('-0.000001')
  await db
    .updateTable('balances')
    .set({ balance: '-1', hold_when_empty: true })
    .where('org_id', '=', poor.org_id)
    .execute()
  const target_id = await seedOutboxRule(db, { org_id, url: `${there.origin}/{event_id}` })
  const held = []
  for (let i = 0; i < 5; i += 1)
    held.push(
      await seedDelivery(db, {
        org_id,
        target_id,
        state: 'held',
        run_at: new Date(Date.now() - 10_000 + i).toISOString(),
      }),
    )
  const other = await seedDelivery(db, { org_id: poor.org_id, target_id: newId(), state: 'held' })
  assert.equal(await unholdDeliveries(pool), 0)
  await setBalance('0')
  for (const { id } of held) await untilInState(db, id, 'delivered')
  const last = await seedDelivery(db, { org_id, target_id, state: 'held' })
  await setBalance('-5', false)
  await untilInState(db, last.id, 'delivered')
  assert.equal(there.arrivals.length, 6)
  await untilInState(db, other.id, 'held')
  await house.end()
  await there.close()
})

/** An organization that holds deliveries, with a price of a dollar and a rule for leads, in its own database. */
async function seedHolding(balance: string) {
  const fresh = await freshDatabase()
  const { database } = fresh
  const { org_id } = await seedOrganization(database, { balance, price: '1' })
  await database.kysely.updateTable('balances').set({ hold_when_empty: true }).where('org_id', '=', org_id).execute()
  await seedRule(database, org_id, { event_type: 'lead' })
  const states = async () => {
    const { rows } = await database.reads.query<{ id: string; state: string }>(
      'select id, state from deliveries where org_id = $1 order by id',
      [org_id],
    )
    return rows.map(({ state }) => state)
  }
  const topUp = (amount: string) =>
    moveBalance(database.kysely, org_id, { kind: 'top_up', amount, note: null, created_by: null, nonce: null })
  return { database, org_id, states, topUp, drop: () => fresh.drop() }
}

test('a long queue is released in portions, the oldest first', async () => {
  const { database, org_id, states, topUp, drop } = await seedHolding('-1')
  const queue = openQueue(database)
  for (const click of await seedClicks(database, org_id, 3)) await queue.send(org_id, click, {})
  assert.deepEqual(await states(), ['held', 'held', 'held'])
  // Copies of one of them, in the order of their ids.
  await database.worker.query(
    `insert into deliveries (org_id, id, event_id, kind, target_id, state, click_id, run_at, attempts, created_at)
    select org_id, ('ffffffff-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, event_id, kind, gen_random_uuid(), state, click_id,
      run_at, attempts, created_at
    from deliveries cross join generate_series(1, 599) n
    where org_id = $1 and id = (select min(id::text)::uuid from deliveries where org_id = $1)`,
    [org_id],
  )
  await topUp('4')
  assert.equal(await unholdDeliveries(database.worker), 500)
  const after = await states()
  assert.deepEqual(
    [after.slice(0, 500), after.slice(500)].map(part => [...new Set(part)]),
    [['pending'], ['held']],
  )
  assert.deepEqual([await unholdDeliveries(database.worker), await unholdDeliveries(database.worker)], [102, 0])
  await queue.close()
  await drop()
})

test('a balance that falls below zero again in the middle of the release holds what is left', async () => {
  const { database, org_id, states, drop } = await seedHolding('-1')
  const queue = openQueue(database)
  for (const click of await seedClicks(database, org_id, 2)) await queue.send(org_id, click, {})
  await queue.close()
  await database.worker.query('update balances set balance = 0 where org_id = $1', [org_id])
  // The release has found the organization before the pending charge is committed.
  const fall = `update balances set balance = -1 where org_id = ${org_id}`
  assert.deepEqual(await raceInto(database, fall, [() => unholdDeliveries(database.worker)]), [0])
  assert.deepEqual(await states(), ['held', 'held'])
  await drop()
})

test('conversions and top-ups at once: while below zero everything waits, afterwards nothing does, and the books hold', async () => {
  const { database, org_id, states, topUp, drop } = await seedHolding('5')
  const queue = openQueue(database)
  const clicks = await seedClicks(database, org_id, 40)
  const work = clicks.flatMap((click, at) => [
    queue.send(org_id, click, {}),
    ...(at % 8 === 0 ? [topUp('2'), unholdDeliveries(database.worker)] : []),
  ])
  await Promise.all(work)
  // 5 and 10 were there for 40 persons.
  assert.ok((await states()).includes('held'))
  assert.equal(await unholdDeliveries(database.worker), 0)
  await topUp('24.999999')
  assert.equal(await unholdDeliveries(database.worker), 0)
  await topUp('0.000001')
  assert.ok((await unholdDeliveries(database.worker)) > 0)
  assert.deepEqual(await states(), Array(40).fill('pending'))
  assert.deepEqual(await auditBooks(database.reads, org_id), [])
  await queue.close()
  await drop()
})
