/**
 * Drops old clicks: the KEEP_CLICKS_MONTHS whole months before this one are kept. Owns `dropped_clicks`. The report's days, events, persons and
 * charges of dropped clicks stay. What must stay true: a count never takes a dropped month for a month without clicks. So `dropped_clicks` is
 * written before the first partition is dropped, and every count reads it (reports/kept.ts, audit/audit.ts). A transaction that changes clicks
 * holds a lock on their month, and the drop waits for it. A month is also kept while rows of it wait to be sealed for Explore, which keeps its facts.
 */
import { type Kysely, sql } from 'kysely'
import { HOUR_MS } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { partitionsBefore } from '../../ground/db/partitions.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'
import { dropClicks, tellsOfBefore } from './partitions.ts'

/** Rows of the default partition per transaction: few enough for a fraction of a second. */
const PORTION = 1000

/**
 * Drops the partitions of clicks made before the month that lies `kept_months` before this one, and returns their names. A partition with a
 * long-running reader is left for the next round. `this_ms` is this process's clock. The earlier of it and the database's clock counts, so that one
 * wrong clock drops nothing.
 */
export async function dropOldClicks(
  { database, log }: Pick<Ground, 'database' | 'log'>,
  kept_months: number,
  { this_ms = Date.now(), signal }: { this_ms?: number; signal?: AbortSignal } = {},
): Promise<string[]> {
  const db = database.kysely
  const { rows } = await sql<{ ms: number }>`select floor(extract(epoch from now()) * 1000)::float8 as ms`.execute(db)
  const before_id = firstIdAt(monthsBefore(Math.min(this_ms, rows[0]?.ms ?? 0), kept_months))
  const partitions = await partitionsBefore(db, 'clicks', before_id)
  const defaultRows = (among: Among) =>
    `select org_id from clicks_default where org_id > $1 and id < '${before_id}'${among('org_id')} order by org_id limit 1`
  const { rows: inDefault } = await askEverywhere(database.worker, defaultRows, [0])
  if (partitions.length === 0 && inDefault.length === 0) return []
  await recordDrop(db, before_id)
  const dropped: string[] = []
  for (const name of partitions) {
    // A reader that blocks one partition blocks the others as well.
    if (signal?.aborted === true || !(await dropClicks(database.schema, name, before_id, log))) break
    dropped.push(name)
  }
  for await (const org_id of organizationsWith(defaultRows, database.worker, signal))
    while (signal?.aborted !== true && (await dropFromDefault(db, org_id, before_id)));
  return dropped
}

/** Drops old clicks now and every hour until it is closed. Any number of processes may run it. Does nothing if clicks are kept for ever. */
export function openClickRetention({ config, database, log }: Pick<Ground, 'config' | 'database' | 'log'>): Rounds {
  const { keepClicksMonths } = config
  if (keepClicksMonths === 'forever') return { close: async () => {} }
  const drop = async (signal: AbortSignal) => {
    const partitions = await dropOldClicks({ database, log }, keepClicksMonths, { signal })
    if (partitions.length > 0) log.info({ partitions, months: keepClicksMonths }, 'dropped the clicks of past months')
  }
  return openRounds('clicks/retention', HOUR_MS, drop, error =>
    log.warn({ err: error }, 'could not drop the clicks of past months; retrying'),
  )
}

/** The first millisecond of the UTC month `months` before the month of `ms`. */
function monthsBefore(ms: number, months: number): number {
  const date = new Date(ms)
  return Math.max(0, Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, 1))
}

/** Commits alone: every process must see the row before the first partition is dropped. */
async function recordDrop(db: Kysely<Tables>, before_id: string): Promise<void> {
  await db
    .insertInto('dropped_clicks')
    .values({ before_id, decided_at: new Date().toISOString() })
    .onConflict(on => on.doNothing())
    .execute()
}

/**
 * Deletes a portion of an organization's clicks from the default partition; true if there may be more. Takes the lock of its balance row, like
 * everything that changes clicks: a conversion that has read a click must not insert it again.
 */
async function dropFromDefault(db: Kysely<Tables>, org_id: number, before_id: string): Promise<boolean> {
  return await db.transaction().execute(async trx => {
    await sql`select 1 from balances where org_id = ${org_id} for update`.execute(trx)
    const unsealed = await sql`
      select 1 from click_sheet where org_id = ${org_id} and ${tellsOfBefore(before_id)} limit 1`.execute(trx)
    if (unsealed.rows.length > 0) return false
    const { rows } = await sql<{ id: string }>`
      select id from clicks_default where org_id = ${org_id} and id < ${before_id} order by id limit ${PORTION}`.execute(
      trx,
    )
    const ids = rows.map(({ id }) => id)
    await sql`delete from clicks_default where org_id = ${org_id} and id = any(${ids}::uuid[])`.execute(trx)
    return ids.length === PORTION
  })
}
