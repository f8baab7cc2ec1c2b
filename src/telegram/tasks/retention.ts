/** Deletes ended tasks after a week. Telegram repeats an update for a day only, so their keys are no longer needed then. */
import { sql } from 'kysely'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'

const OLD = `ended_at < now() - interval '7 days'`
const PAUSE_MS = 600_000
const PORTION = 5000

const ENDED = (among: Among) =>
  `select org_id from bot_tasks where org_id > $1 and ${OLD}${among('org_id')} order by org_id limit 1`

export async function dropEndedTasks({ database, db }: Pick<Ground, 'database' | 'db'>): Promise<void> {
  for await (const org_id of organizationsWith(ENDED, database.worker))
    for (let dropped = PORTION; dropped === PORTION; ) {
      const { numAffectedRows } = await sql`
        delete from bot_tasks where org_id = ${org_id} and id in (
          select id from bot_tasks where org_id = ${org_id} and ${sql.raw(OLD)} limit ${sql.lit(PORTION)})`.execute(db)
      dropped = Number(numAffectedRows ?? 0n)
    }
}

/** Deletes every ten minutes until it is closed. Any number of processes may run it. */
export function openTaskRetention(ground: Pick<Ground, 'database' | 'db' | 'log'>): Rounds {
  return openRounds(
    'tasks/retention',
    PAUSE_MS,
    () => dropEndedTasks(ground),
    error => ground.log.warn({ err: error }, 'could not delete ended tasks; retrying'),
  )
}
