// For tests of the worker: inserts rules and deliveries with their click and conversion, and opens workers.
import assert from 'node:assert/strict'
import { afterEach } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { pino } from 'pino'
import { newId } from '../../src/contract/ids.ts'
import { readConfig } from '../../src/ground/config.ts'
import type { Tables } from '../../src/ground/db/tables.ts'
import type { Lane } from '../../src/outgoing/deliveries/lane.ts'
import {
  openDeliveryWorker,
  type DeliveryWorker,
  type DeliveryWorkerOptions,
} from '../../src/outgoing/deliveries/worker.ts'
import { postbackLane } from '../../src/outgoing/postbacks/lane.ts'
import { useDatabase } from './database.ts'
import { type Receiver, startReceiver } from './receiver.ts'

type Db = Kysely<Tables>
export const ORG = 7

/** The time of everything that is inserted here. */
const CREATED_AT = '2026-03-01T00:00:00Z'
export const CREATED_SECONDS = Date.parse(CREATED_AT) / 1000

type RuleSeed = { org_id?: number; url: string; method?: 'GET' | 'POST'; active?: boolean; deleted_at?: string }

/** Inserts a postback rule for leads. Returns its id. */
export async function seedOutboxRule(
  db: Db,
  { org_id = ORG, url, method = 'GET', active = true, deleted_at }: RuleSeed,
): Promise<string> {
  const now = new Date().toISOString()
  const row = { org_id, id: newId(), event_type: 'lead', url, method, active, created_at: now, updated_at: now }
  await db
    .insertInto('postback_rules')
    .values({ ...row, deleted_at: deleted_at ?? null })
    .execute()
  return row.id
}

type DeliverySeed = {
  org_id?: number
  target_id: string
  kind?: string
  state?: string
  click?: Record<string, string>
  run_at?: string
  /** The time in its id, Unix ms. Ids of the same millisecond have no order. */
  at?: number
}
export type SeededDelivery = { id: string; event_id: string; click_id: string }

/** Inserts a click, its conversion and the delivery. */
export async function seedDelivery(db: Db, seed: DeliverySeed): Promise<SeededDelivery> {
  const { org_id = ORG, target_id, kind = 'postback', state = 'pending', click = {}, run_at = CREATED_AT, at } = seed
  const [id, event_id, click_id] = [newId(at), newId(), newId()]
  const marks = { status: 4, stages: 17, tracked: true, test: false, suppressed_delivery: false }
  await db
    .insertInto('clicks')
    .values({ org_id, id: click_id, ...marks, ...click })
    .execute()
  const event = {
    org_id,
    id: event_id,
    click_id,
    type: 'lead',
    payout_is_explicit: false,
    person_id: newId(),
    source: 'api',
  }
  await db
    .insertInto('events')
    .values({ ...event, created_at: CREATED_AT })
    .execute()
  const row = { org_id, id, event_id, kind, target_id, state, click_id, attempts: 0, created_at: CREATED_AT, run_at }
  await db.insertInto('deliveries').values(row).execute()
  return { id, event_id, click_id }
}

export const deliveryOf = (db: Db, id: string) =>
  db.selectFrom('deliveries').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

export const attemptsOf = (db: Db, id: string) =>
  db.selectFrom('delivery_attempts').selectAll().where('delivery_id', '=', id).orderBy('number').execute()

/** Waits until the delivery is in this state, unclaimed, after that many attempts. */
export async function untilInState(db: Db, id: string, state: string, attempts = 0): ReturnType<typeof deliveryOf> {
  const deadline = performance.now() + 60_000
  for (;;) {
    const row = await deliveryOf(db, id)
    if (row.state === state && row.lease_token === null && row.attempts >= attempts) return row
    assert.ok(
      performance.now() < deadline,
      `the delivery is ${row.state} after ${row.attempts} attempts: ${row.reason}`,
    )
    await sleep(10)
  }
}

type WorkerParts = { readonly lanes?: readonly Lane[]; readonly env?: Record<string, string> }

/**
 * A database for all tests of a file, with functions to open workers and receivers. After each test, everything it opened is closed, the last first,
 * and its rows are deleted. Use it at the top of the file: `const { db, pool, receiver, work } = await useOutbox()`.
 */
export async function useOutbox() {
  const { database } = await useDatabase()
  const { kysely: db, worker: pool } = database
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close()
    await pool.query('truncate deliveries, delivery_attempts, events, clicks, postback_rules, failing_targets')
  })
  const closing = <T extends { close(): Promise<void> }>(one: T): T => {
    open.push(one)
    return one
  }
  return {
    database,
    db,
    pool,
    /** Closes it after the test. */
    closing,
    receiver: async (...options: Parameters<typeof startReceiver>): Promise<Receiver> =>
      closing(await startReceiver(...options)),
    /** Opens a worker of these lanes (default: postbacks). It may call private addresses unless `env` says otherwise. */
    work: (
      options: DeliveryWorkerOptions = {},
      { lanes = [postbackLane], env = {} }: WorkerParts = {},
    ): DeliveryWorker => {
      const config = readConfig({ ALLOW_PRIVATE_TARGETS: 'true', ...env })
      return closing(openDeliveryWorker({ config, database, log: pino({ level: 'silent' }) }, lanes, options))
    },
  }
}
