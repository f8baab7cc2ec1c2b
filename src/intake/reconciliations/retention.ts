/** Deletes compared files after 90 days, with their lines. */
import type pg from 'pg'
import { DAY_MS } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'

/** Networks correct a month within the next two. */
const KEPT_MS = 90 * DAY_MS
const PAUSE_MS = 3_600_000

const NEXT = (among: Among) =>
  `select org_id from reconciliations where org_id > $1${among('org_id')} order by org_id limit 1`
// The lines go first, so that a round that is cut off is finished by the next one.
const DROP_LINES = 'delete from reconciliation_lines where org_id = $1 and reconciliation_id < $2'
const DROP = 'delete from reconciliations where org_id = $1 and id < $2'

/** Deletes the files of all organizations that are older than 90 days. */
export async function dropOldReconciliations(pool: Pick<pg.Pool, 'query'>, now = Date.now()): Promise<void> {
  const oldest = firstIdAt(now - KEPT_MS)
  for await (const org_id of organizationsWith(NEXT, pool)) {
    await pool.query(DROP_LINES, [org_id, oldest])
    await pool.query(DROP, [org_id, oldest])
  }
}

/** Deletes every hour until it is closed; any number of processes may run it. */
export function openReconciliationRetention({ database, log }: Pick<Ground, 'database' | 'log'>): Rounds {
  return openRounds(
    'reconciliations/retention',
    PAUSE_MS,
    () => dropOldReconciliations(database.worker),
    error => log.warn({ err: error }, 'could not delete old reconciliations; retrying'),
  )
}
