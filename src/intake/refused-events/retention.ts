/**
 * Deletes old refused events: they are kept for 30 days, at most the newest 10,000 of each organization and as many of its pages. Anybody can send what a
 * page sends, and that must not push out refused conversions.
 */
import type pg from 'pg'
import { DAY_MS } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'

const KEPT_MS = 30 * DAY_MS
const MOST_KEPT = 10_000
/** Between two runs an organization can exceed the limit by its refusals of that time. */
const PAUSE_MS = 600_000

const NEXT = (among: Among) =>
  `select org_id from refused_events where org_id > $1${among('org_id')} order by org_id limit 1`
const OLDEST_KEPT = `
  select id from refused_events where org_id = $1 and (surface = 'page') = $3 order by id desc offset $2 limit 1`
const DROP = `delete from refused_events where org_id = $1 and (surface = 'page') = $3 and id < $2`

/** Deletes rows that are too old or too many, organization by organization. */
export async function dropOldRefused(pool: Pick<pg.Pool, 'query'>, now = Date.now(), most = MOST_KEPT): Promise<void> {
  for await (const org_id of organizationsWith(NEXT, pool)) {
    for (const isOfPages of [false, true]) {
      const kept = await pool.query<{ id: string }>(OLDEST_KEPT, [org_id, most - 1, isOfPages])
      const [tooOld, tooMuch = tooOld] = [firstIdAt(now - KEPT_MS), kept.rows[0]?.id]
      // Ids are lower-case uuids, whose order as text is their order in the database.
      await pool.query(DROP, [org_id, tooOld > tooMuch ? tooOld : tooMuch, isOfPages])
    }
  }
}

/** Deletes every ten minutes until it is closed; any number of processes may run it. */
export function openRefusedRetention({ database, log }: Pick<Ground, 'database' | 'log'>): Rounds {
  return openRounds(
    'refused-events/retention',
    PAUSE_MS,
    () => dropOldRefused(database.worker),
    error => log.warn({ err: error }, 'could not delete old refused events; retrying'),
  )
}
