/**
 * Compares the half hours of each organization with its days, and completes half hours that do not add up to their day from the clicks. They do not
 * for days older than half hours, and for days that a process of an earlier version counts. Deletes half hours that are too old. Reports do not
 * wait for this: they count such days from the clicks. Owns `slot_checks`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import { inTransaction } from '../../ground/db/transaction.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'
import { COMPLETE_DAY, DIFFERING_DAYS, SLOTS_KEPT_DAYS } from './slots.ts'

const PAUSE_MS = 600_000
/** One process's check within a pause is enough. */
const CHECKED_MS = PAUSE_MS / 3

const NEXT = (among: Among) =>
  `select org_id from report_day where org_id > $1${among('org_id')} order by org_id limit 1`
const CLAIM = `
  insert into slot_checks as c (org_id, checked_at) values ($1, $2)
  on conflict (org_id) do update set checked_at = excluded.checked_at where c.checked_at <= $3
  returning org_id`
/** The row is also the lock of the organization's half hours. */
const LOCK = `
  insert into slot_checks as c (org_id, checked_at) values ($1, $2)
  on conflict (org_id) do update set checked_at = excluded.checked_at`
const FORGET = 'delete from report_slot where org_id = $1 and day < $2::date'

/** Opens the periodic check; any number of processes may run it. */
export function openSlotChecks({ database, log }: Pick<Ground, 'database' | 'log'>): Rounds {
  return openRounds(
    'reports/complete-slots',
    PAUSE_MS,
    signal => checkSlots(database.worker, { apart_ms: CHECKED_MS, signal }),
    error => log.warn({ err: error }, 'could not complete half hours, reports stay correct; retrying'),
  )
}

type How = { readonly apart_ms?: number; readonly signal?: AbortSignal }

/**
 * Checks every organization that was not checked within `apart_ms`, and completes its half hours, latest day first.
 * @throws database errors
 */
async function checkSlots(pool: pg.Pool, { apart_ms = 0, signal }: How = {}): Promise<void> {
  for await (const org_id of organizationsWith(NEXT, pool, signal)) {
    const now = Date.now()
    const claimed = await pool.query(CLAIM, [org_id, new Date(now), new Date(now - apart_ms)])
    if (claimed.rows.length > 0) await completeSlots(pool, org_id, now, signal)
  }
}

/** Checks one organization at the moment `now`. @throws database errors */
export async function completeSlots(
  pool: pg.Pool,
  org_id: number,
  now = Date.now(),
  signal?: AbortSignal,
): Promise<void> {
  const first = dayOf(now - SLOTS_KEPT_DAYS * DAY_MS)
  // A day more, because clocks differ.
  await pool.query(FORGET, [org_id, dayOf(now - (SLOTS_KEPT_DAYS + 1) * DAY_MS)])
  const { rows } = await pool.query<{ day: string }>(DIFFERING_DAYS, [org_id, first])
  for (const { day } of rows) {
    if (signal?.aborted) return
    const began = performance.now()
    await completeDay(pool, org_id, day)
    // Pauses as long as the work took, so that others get the database.
    await sleep(performance.now() - began, undefined, { signal }).catch(() => {})
  }
}

async function completeDay(pool: pg.Pool, org_id: number, day: string): Promise<void> {
  const start = Date.parse(day)
  await inTransaction(pool, async client => {
    await client.query(LOCK, [org_id, new Date()])
    await client.query(COMPLETE_DAY, [org_id, day, firstIdAt(start), firstIdAt(start + DAY_MS)])
  })
}
