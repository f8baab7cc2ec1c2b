/**
 * How long the log of attempts is kept: KEEP_ATTEMPTS_DAYS after their delivery ended. The delivery and its outcome stay for ever, so that
 * nothing is called twice and everything can be sent again; what goes is what was called, sent and answered.
 */
import type pg from 'pg'
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import { firstIdAt, NIL_ID } from '../../contract/ids.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'

/** Rows, each with up to 16 KiB of answer: few enough for a fraction of a second. */
const PORTION = 500

const NEXT = (among: Among) =>
  `select org_id from delivery_attempts where org_id > $1${among('org_id')} order by org_id limit 1`

// By the primary key, whose ids are in the order of time: a delivery is no younger than its end.
const OLDEST = `
  select delivery_id from delivery_attempts
  where org_id = $1 and delivery_id > $2 and delivery_id < $3
  order by delivery_id, number
  limit $4`

const ENDED = `
  select id, attempts from deliveries
  where org_id = $1 and id = any($2::uuid[]) and id between $3 and $4 and finished_at < $5`

// Only those there were when it had ended: it may have been sent again since.
const DROP = `
  delete from delivery_attempts a
  using unnest($2::uuid[], $3::int[]) as ended (id, attempts)
  where a.org_id = $1 and a.delivery_id = ended.id and a.number <= ended.attempts`

/**
 * Deletes the attempts of deliveries that ended more than `kept_days` before `now`, organization by organization, `portion` rows at a time;
 * answers how many. What still waits, or was sent again since, keeps all of its log.
 */
export async function dropOldAttempts(
  pool: Pick<pg.Pool, 'query'>,
  kept_days: number,
  { now = Date.now(), portion = PORTION, signal }: { now?: number; portion?: number; signal?: AbortSignal } = {},
): Promise<number> {
  const until = now - kept_days * DAY_MS
  let dropped = 0
  for await (const org_id of organizationsWith(NEXT, pool, signal)) {
    for (let last = NIL_ID, isMore = true; isMore && signal?.aborted !== true; ) {
      const { rows } = await pool.query<{ delivery_id: string }>(OLDEST, [org_id, last, firstIdAt(until), portion])
      const ids = [...new Set(rows.map(({ delivery_id }) => delivery_id))]
      last = ids.at(-1) ?? last
      isMore = rows.length === portion
      if (ids.length > 0) dropped += await dropOf(pool, org_id, ids, until)
    }
  }
  return dropped
}

/** Deletes the attempts of those of these deliveries, the first one first, that ended before `until`; answers how many. */
async function dropOf(
  pool: Pick<pg.Pool, 'query'>,
  org_id: number,
  ids: readonly string[],
  until: number,
): Promise<number> {
  const asked = [org_id, ids, ids[0], ids.at(-1), new Date(until).toISOString()]
  const { rows: ended } = await pool.query<{ id: string; attempts: number }>(ENDED, asked)
  if (ended.length === 0) return 0
  const { rowCount } = await pool.query(DROP, [org_id, ended.map(one => one.id), ended.map(one => one.attempts)])
  return rowCount ?? 0
}

/** Deletes now and within every hour until it is closed; any number of processes may. Nothing where the log is kept for ever. */
export function openAttemptRetention({ config, database, log }: Pick<Ground, 'config' | 'database' | 'log'>): Rounds {
  const { keepAttemptsDays } = config
  if (keepAttemptsDays === 'forever') return { close: async () => {} }
  const drop = async (signal: AbortSignal) => {
    const dropped = await dropOldAttempts(database.worker, keepAttemptsDays, { signal })
    if (dropped > 0) log.info({ dropped, days: keepAttemptsDays }, 'deleted the log of old attempts at delivery')
  }
  return openRounds('deliveries/retention', HOUR_MS, drop, error =>
    log.warn({ err: error }, 'the log of old attempts was not deleted; it is tried again'),
  )
}
