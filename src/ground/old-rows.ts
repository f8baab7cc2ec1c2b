/** Deletion of rows that are kept for a limited time. */
import { sql } from 'kysely'
import type { Ground } from './room.ts'
import { openRounds, organizationsWith, type Rounds } from './rounds.ts'
import type { Among } from './db/everywhere.ts'

const PORTION = 5000

/** `old`: SQL that is true for the rows to delete. The table has the columns `org_id` and `id`. */
type OldRows = { readonly table: string; readonly old: string }

/** Deletes the old rows of all organizations, 5,000 in a statement. */
export async function dropOldRows(
  { database, db }: Pick<Ground, 'database' | 'db'>,
  { table, old }: OldRows,
): Promise<void> {
  const having = (among: Among) =>
    `select org_id from ${table} where org_id > $1 and ${old}${among('org_id')} order by org_id limit 1`
  for await (const org_id of organizationsWith(having, database.worker)) {
    const portion = sql`delete from ${sql.table(table)} where org_id = ${org_id} and id in (
      select id from ${sql.table(table)} where org_id = ${org_id} and ${sql.raw(old)} limit ${sql.lit(PORTION)})`
    while (Number((await portion.execute(db)).numAffectedRows ?? 0n) === PORTION);
  }
}

/** Does it now and every `pause_ms` until it is closed. Any number of processes may. `name` is that of the rounds in `/metrics`. */
export function openRetention(
  ground: Pick<Ground, 'database' | 'db' | 'log'>,
  name: string,
  pause_ms: number,
  tables: readonly OldRows[],
): Rounds {
  const drop = async () => {
    for (const rows of tables) await dropOldRows(ground, rows)
  }
  return openRounds(name, pause_ms, drop, error =>
    ground.log.warn({ err: error, rounds: name }, 'could not delete old rows; retrying'),
  )
}
