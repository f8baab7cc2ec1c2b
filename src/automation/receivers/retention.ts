/** Deletes ended messages of receivers after 30 days. */
import { sql } from 'kysely'
import { MINUTE_MS } from '../../contract/days.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'

const OLD = `state <> 'waiting' and ended_at < now() - interval '30 days'`
const PAUSE_MS = 10 * MINUTE_MS
const PORTION = 5000

const ENDED = (among: Among) =>
  `select org_id from receiver_messages where org_id > $1 and ${OLD}${among('org_id')} order by org_id limit 1`

async function dropEndedMessages({ database, db }: Pick<Ground, 'database' | 'db'>): Promise<void> {
  for await (const org_id of organizationsWith(ENDED, database.worker))
    for (let dropped = PORTION; dropped === PORTION; ) {
      const { numAffectedRows } = await sql`
        delete from receiver_messages where org_id = ${org_id} and id in (
          select id from receiver_messages where org_id = ${org_id} and ${sql.raw(OLD)} limit ${sql.lit(PORTION)})`.execute(
        db,
      )
      dropped = Number(numAffectedRows ?? 0n)
    }
}

/** Deletes every ten minutes until it is closed. Any number of processes may run it. */
export function openMessageRetention(ground: Pick<Ground, 'database' | 'db' | 'log'>): Rounds {
  return openRounds(
    'receivers/retention',
    PAUSE_MS,
    () => dropEndedMessages(ground),
    error => ground.log.warn({ err: error }, 'could not delete ended messages of receivers; retrying'),
  )
}
