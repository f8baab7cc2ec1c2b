/**
 * How long clicks are kept: KEEP_CLICKS_MONTHS whole months before this one. Owns `dropped_clicks`. What counted them stays: the report's
 * days, events, persons, charges. What must stay true: nobody counts clicks of a month that is gone and takes them for none. So it is
 * written down which months go before the first one does, and whoever counts looks there (reports/kept.ts, audit/audit.ts); whoever
 * changes clicks holds a lock on their month until it has committed, for which the drop waits. Nor does a month go of which something waits to be
 * sealed for Explore, whose facts of it stay.
 */
import { type Kysely, sql } from 'kysely'
import { HOUR_MS } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'
import { dropPartition, partitionsBefore, tellsOfBefore } from './partitions.ts'

/** Rows of the default partition at a time: few enough for a fraction of a second. */
const PORTION = 1000

/**
 * Gives up the clicks made before the month that lies `kept_months` before this one, and drops their partitions; answers the names of those
 * dropped. One that is being read for long is left for the next time. `this_ms` is this process's clock: the database's counts where
 * it is behind, so that one wrong clock drops nothing.
 */
export async function dropOldClicks(
  { database, log }: Pick<Ground, 'database' | 'log'>,
  kept_months: number,
  { this_ms = Date.now(), signal }: { this_ms?: number; signal?: AbortSignal } = {},
): Promise<string[]> {
  const db = database.kysely
  const { rows } = await sql<{ ms: number }>`select floor(extract(epoch from now()) * 1000)::float8 as ms`.execute(db)
  const before_id = firstIdAt(monthsBefore(Math.min(this_ms, rows[0]?.ms ?? 0), kept_months))
  const partitions = await partitionsBefore(db, before_id)
  const strays = (among: Among) =>
    `select org_id from clicks_default where org_id > $1 and id < '${before_id}'${among('org_id')} order by org_id limit 1`
  const { rows: stray } = await askEverywhere(database.worker, strays, [0])
  if (partitions.length === 0 && stray.length === 0) return []
  await giveUp(db, before_id)
  const dropped: string[] = []
  for (const name of partitions) {
    // What holds one of them holds the others as well.
    if (signal?.aborted === true || !(await dropPartition(database.schema, name, before_id, log))) break
    dropped.push(name)
  }
  for await (const org_id of organizationsWith(strays, database.worker, signal))
    while (signal?.aborted !== true && (await dropStrays(db, org_id, before_id)));
  return dropped
}

/** Drops now and within every hour until it is closed; any number of processes may. Nothing where clicks are kept for ever. */
export function openClickRetention({ config, database, log }: Pick<Ground, 'config' | 'database' | 'log'>): Rounds {
  const { keepClicksMonths } = config
  if (keepClicksMonths === 'forever') return { close: async () => {} }
  const drop = async (signal: AbortSignal) => {
    const partitions = await dropOldClicks({ database, log }, keepClicksMonths, { signal })
    if (partitions.length > 0) log.info({ partitions, months: keepClicksMonths }, 'dropped the clicks of past months')
  }
  return openRounds('clicks/retention', HOUR_MS, drop, error =>
    log.warn({ err: error }, 'the clicks of past months were not dropped; it is tried again'),
  )
}

/** The first millisecond of the UTC month that lies so many months before that of `ms`. */
function monthsBefore(ms: number, months: number): number {
  const date = new Date(ms)
  return Math.max(0, Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, 1))
}

/** A transaction of its own: it must be there for everyone before the first partition is not. */
async function giveUp(db: Kysely<Tables>, before_id: string): Promise<void> {
  await db
    .insertInto('dropped_clicks')
    .values({ before_id, decided_at: new Date().toISOString() })
    .onConflict(on => on.doNothing())
    .execute()
}

/**
 * Deletes a portion of an organization's clicks that lie in no month's partition; true when there may be more. Under the lock of its balance
 * row, as all that changes clicks: a conversion that has read one must not write it anew.
 */
async function dropStrays(db: Kysely<Tables>, org_id: number, before_id: string): Promise<boolean> {
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
