/**
 * Deletes the log of attempts KEEP_ATTEMPTS_DAYS after their delivery ended: address, body and answer of each call. The delivery and its outcome are
 * kept for ever, so that nothing is called twice and everything can be resent.
 */
import type pg from 'pg'
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import { firstIdAt, NIL_ID } from '../../contract/ids.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'

/** Rows per statement, each with up to 16 KiB of answer: a fraction of a second. */
const BATCH_ROWS = 500

const NEXT_ORGANIZATION = (among: Among) =>
  `select org_id from delivery_attempts where org_id > $1${among('org_id')} order by org_id limit 1`

// By the primary key, whose ids are in the order of time: a delivery that ended before a time was created before it.
const OLDEST_ATTEMPTS = `
  select delivery_id from delivery_attempts
  where org_id = $1 and delivery_id > $2 and delivery_id < $3
  order by delivery_id, number
  limit $4`

const READ_ENDED = `
  select id, attempts from deliveries
  where org_id = $1 and id = any($2::uuid[]) and id between $3 and $4 and finished_at < $5`

// Only attempts up to the count when it had ended, because it may have been resent since.
const DELETE_ATTEMPTS = `
  delete from delivery_attempts a
  using unnest($2::uuid[], $3::int[]) as ended (id, attempts)
  where a.org_id = $1 and a.delivery_id = ended.id and a.number <= ended.attempts`

/**
 * Deletes the attempts of deliveries that ended more than `kept_days` before `now`, organization by organization, `batch` rows at a time. Returns how
 * many. Deliveries that wait or were resent since keep their whole log.
 */
export async function dropOldAttempts(
  pool: Pick<pg.Pool, 'query'>,
  kept_days: number,
  { now = Date.now(), batch = BATCH_ROWS, signal }: { now?: number; batch?: number; signal?: AbortSignal } = {},
): Promise<number> {
  const until = now - kept_days * DAY_MS
  let dropped = 0
  for await (const org_id of organizationsWith(NEXT_ORGANIZATION, pool, signal)) {
    for (let last = NIL_ID, isMore = true; isMore && signal?.aborted !== true; ) {
      const { rows } = await pool.query<{ delivery_id: string }>(OLDEST_ATTEMPTS, [
        org_id,
        last,
        firstIdAt(until),
        batch,
      ])
      const ids = [...new Set(rows.map(({ delivery_id }) => delivery_id))]
      last = ids.at(-1) ?? last
      isMore = rows.length === batch
      if (ids.length > 0) dropped += await dropAttemptsOf(pool, org_id, ids, until)
    }
  }
  return dropped
}

/** Deletes the attempts of those deliveries (ids in order) that ended before `until`. Returns how many. */
async function dropAttemptsOf(
  pool: Pick<pg.Pool, 'query'>,
  org_id: number,
  ids: readonly string[],
  until: number,
): Promise<number> {
  const parameters = [org_id, ids, ids[0], ids.at(-1), new Date(until).toISOString()]
  const { rows: ended } = await pool.query<{ id: string; attempts: number }>(READ_ENDED, parameters)
  if (ended.length === 0) return 0
  const { rowCount } = await pool.query(DELETE_ATTEMPTS, [
    org_id,
    ended.map(one => one.id),
    ended.map(one => one.attempts),
  ])
  return rowCount ?? 0
}

/** Deletes old attempts now and every hour until it is closed. Any number of processes may do this. Does nothing with KEEP_ATTEMPTS_DAYS=forever. */
export function openAttemptRetention({ config, database, log }: Pick<Ground, 'config' | 'database' | 'log'>): Rounds {
  const { keepAttemptsDays } = config
  if (keepAttemptsDays === 'forever') return { close: async () => {} }
  const drop = async (signal: AbortSignal) => {
    const dropped = await dropOldAttempts(database.worker, keepAttemptsDays, { signal })
    if (dropped > 0) log.info({ dropped, days: keepAttemptsDays }, 'deleted the log of old delivery attempts')
  }
  return openRounds('deliveries/retention', HOUR_MS, drop, error =>
    log.warn({ err: error }, 'could not delete the log of old delivery attempts; retrying'),
  )
}
