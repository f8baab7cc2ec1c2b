// The database's work per delivery does not grow with the queue: statements are planned once, while the queue is short.
import assert from 'node:assert/strict'
import test from 'node:test'
import { ORG, seedDelivery, seedOutboxRule, useOutbox } from '../../../tests/support/outbox.ts'
import { newId } from '../../contract/ids.ts'
import { postbackLane } from '../postbacks/lane.ts'
import { claimDeliveries } from './claim.ts'
import { finishDeliveries } from './finish.ts'
import { type ClaimedDelivery } from './held.ts'

const { db, pool } = await useOutbox()
const QUEUE = 3000
/** Enough for the planner to settle on one plan for all values. */
const ROUNDS = 12

/** The number of index entries of the outbox that were read. */
async function entriesRead(): Promise<number> {
  const client = await pool.connect()
  try {
    await client.query('select pg_stat_force_next_flush()')
    const { rows } = await client.query<{ read: string }>(
      `select sum(idx_tup_read) + (select sum(seq_tup_read) from pg_stat_user_tables where relname = 'deliveries') as read
       from pg_stat_user_indexes where relname = 'deliveries'`,
    )
    return Number(rows[0]?.read)
  } finally {
    client.release()
  }
}

const delivered = (one: ClaimedDelivery) => ({
  ...one,
  finished_at: new Date().toISOString(),
  status: 200,
  error: null,
  answer: 'ok',
  state: 'delivered' as const,
  reason: null,
  failure: null,
  delay_ms: 0,
  isCounted: true,
  isBroken: false,
})

async function deliverOne(target_id: string): Promise<void> {
  const { claimed } = await claimDeliveries(pool, postbackLane, [{ org_id: ORG, target_id, most: 1 }])
  assert.equal(claimed.length, 1)
  assert.equal((await finishDeliveries(pool, [postbackLane], claimed.map(delivered))).kept, 1)
}

test('a claim and its outcome read a few rows, however many wait', async () => {
  const target_id = await seedOutboxRule(db, { url: 'http://127.0.0.1:9/' })
  for (let round = 0; round < ROUNDS; round += 1) await seedDelivery(db, { target_id })
  for (let round = 0; round < ROUNDS; round += 1) await deliverOne(target_id)
  const { event_id } = await seedDelivery(db, { target_id })
  const ids = Array.from({ length: QUEUE }, () => newId())
  await pool.query(
    `insert into events (org_id, id, click_id, type, payout_is_explicit, person_id, source, created_at)
     select org_id, fresh.id, click_id, type, payout_is_explicit, person_id, source, created_at
     from events cross join unnest($2::uuid[]) as fresh (id) where org_id = $1 and events.id = $3`,
    [ORG, ids, event_id],
  )
  await pool.query(
    `insert into deliveries (org_id, id, event_id, kind, target_id, state, click_id, run_at, attempts, created_at)
     select org_id, fresh.id, fresh.id, kind, target_id, state, click_id, run_at, attempts, created_at
     from deliveries cross join unnest($2::uuid[]) as fresh (id) where org_id = $1 and event_id = $3`,
    [ORG, ids, event_id],
  )
  const before = await entriesRead()
  for (let round = 0; round < ROUNDS; round += 1) await deliverOne(target_id)
  const perDelivery = ((await entriesRead()) - before) / ROUNDS
  assert.ok(perDelivery < QUEUE / 10, `${perDelivery} entries for each of them`)
})
