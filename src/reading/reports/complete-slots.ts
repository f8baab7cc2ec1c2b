/**
 * Holds the half hours of each organization against its days, and completes from the clicks those that do not add up to them: those of before
 * there were half hours, and what a process of an earlier version counts beside a newer one. Forgets those that are too old. Reports wait for
 * none of it: they count such days from the clicks themselves. Owns `slot_checks`.
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
/** Between processes: one check within a pause is enough. */
const CHECKED_MS = PAUSE_MS / 3

const NEXT = (among: Among) =>
  `select org_id from report_day where org_id > $1${among('org_id')} order by org_id limit 1`
const CLAIM = `
  insert into slot_checks as c (org_id, checked_at) values ($1, $2)
  on conflict (org_id) do update set checked_at = excluded.checked_at where c.checked_at <= $3
  returning org_id`
/** Also the lock of the organization's half hours. */
const LOCK = `
  insert into slot_checks as c (org_id, checked_at) values ($1, $2)
  on conflict (org_id) do update set checked_at = excluded.checked_at`
const FORGET = 'delete from report_slot where org_id = $1 and day < $2::date'

/** Opens the checks, which go round until they are closed; any number of processes may have them. */
export function openSlotChecks({ database, log }: Pick<Ground, 'database' | 'log'>): Rounds {
  return openRounds(
    'reports/complete-slots',
    PAUSE_MS,
    signal => checkSlots(database.worker, { apart_ms: CHECKED_MS, signal }),
    error => log.warn({ err: error }, 'half hours were not completed; reports stay right, and it is tried again'),
  )
}

type How = { readonly apart_ms?: number; readonly signal?: AbortSignal }

/**
 * Checks every organization that was not checked within `apart_ms`, and completes what it finds, the last day first.
 * @throws what the database says
 */
async function checkSlots(pool: pg.Pool, { apart_ms = 0, signal }: How = {}): Promise<void> {
  for await (const org_id of organizationsWith(NEXT, pool, signal)) {
    const now = Date.now()
    const claimed = await pool.query(CLAIM, [org_id, new Date(now), new Date(now - apart_ms)])
    if (claimed.rows.length > 0) await completeSlots(pool, org_id, now, signal)
  }
}

/** Checks one organization at the moment `now`. @throws what the database says */
export async function completeSlots(
  pool: pg.Pool,
  org_id: number,
  now = Date.now(),
  signal?: AbortSignal,
): Promise<void> {
  const first = dayOf(now - SLOTS_KEPT_DAYS * DAY_MS)
  // A day more, for clocks that differ.
  await pool.query(FORGET, [org_id, dayOf(now - (SLOTS_KEPT_DAYS + 1) * DAY_MS)])
  const { rows } = await pool.query<{ day: string }>(DIFFERING_DAYS, [org_id, first])
  for (const { day } of rows) {
    if (signal?.aborted) return
    const began = performance.now()
    await completeDay(pool, org_id, day)
    // As long as it took: whoever waits for the database comes first.
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
