/** Keeps the months of the history: creates the coming ones, and drops those that are older than KEEP_HISTORY_DAYS. */
import { sql } from 'kysely'
import type { Logger } from 'pino'
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Among } from '../db/everywhere.ts'
import { dropPartition, keepPartitions, partitionsBefore } from '../db/partitions.ts'
import type { Config } from '../config.ts'
import type { Database } from '../db/connect.ts'
import { openRounds, organizationsWith, type Rounds } from '../rounds.ts'

type Kept = { readonly config: Config; readonly database: Database; readonly log: Logger }

/** Rows of the default partition per statement. */
const PORTION = 1000

/**
 * Drops the months whose rows are all older than `days` days by the database's clock, and returns how many. Rows that are in the default partition,
 * because their month had none, are deleted in portions.
 */
export async function dropOldHistory(
  { database, log }: Pick<Kept, 'database' | 'log'>,
  days: number,
  signal?: AbortSignal,
): Promise<number> {
  const db = database.kysely
  const { rows } = await sql<{ ms: number }>`select floor(extract(epoch from now()) * 1000)::float8 as ms`.execute(db)
  const before_id = firstIdAt((rows[0]?.ms ?? 0) - days * DAY_MS)
  let dropped = 0
  for (const name of await partitionsBefore(db, 'history', before_id)) {
    if (signal?.aborted === true || !(await dropPartition(database.schema, name, log))) break
    dropped += 1
  }
  const inDefault = (among: Among) =>
    `select org_id from history_default where org_id > $1 and id < '${before_id}'${among('org_id')} order by org_id limit 1`
  for await (const org_id of organizationsWith(inDefault, database.worker, signal)) {
    const old = sql`
      delete from history_default where org_id = ${org_id} and id in (
        select id from history_default where org_id = ${org_id} and id < ${before_id} limit ${PORTION})`
    while (signal?.aborted !== true && ((await old.execute(db)).numAffectedRows ?? 0n) > 0n);
  }
  return dropped
}

/** Does it now and every hour until it is closed. Any number of processes may. Drops nothing with KEEP_HISTORY_DAYS=forever. */
export function openHistoryRetention({ config, database, log }: Pick<Kept, 'config' | 'database' | 'log'>): Rounds {
  const { keepHistoryDays } = config
  if (keepHistoryDays === 'forever') return { close: async () => {} }
  const drop = async (signal: AbortSignal) => {
    const months = await dropOldHistory({ database, log }, keepHistoryDays, signal)
    if (months > 0) log.info({ months, days: keepHistoryDays }, 'dropped old months of the history')
  }
  return openRounds('history/retention', HOUR_MS, drop, error =>
    log.warn({ err: error }, 'could not drop old months of the history; retrying'),
  )
}

/** Creates the months ahead, before the first row is written. */
export const keepHistoryMonths = ({ database, log }: Pick<Kept, 'database' | 'log'>): Promise<{ close(): void }> =>
  keepPartitions(database.schema, 'history', log)
