import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId, startHouse } from '../../tests/support/house.ts'
import { seedDelivery, seedRule, until } from '../../tests/support/outbox.ts'
import { seedSignedIn } from '../../tests/support/people.ts'
import { startReceiver } from '../../tests/support/receiver.ts'
import { releaseHeld } from './release.ts'

test('what is held for an empty balance goes out after a top-up, in order, and is not touched before', async () => {
  const house = await startHouse()
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
  const target_id = await seedRule(db, { org_id, url: `${there.origin}/{event_id}` })
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
  assert.equal(await releaseHeld(pool), 0)
  await setBalance('0')
  for (const { id } of held) await until(db, id, 'delivered')
  const last = await seedDelivery(db, { org_id, target_id, state: 'held' })
  await setBalance('-5', false)
  await until(db, last.id, 'delivered')
  assert.equal(there.arrivals.length, 6)
  await until(db, other.id, 'held')
  await house.end()
  await there.close()
})
