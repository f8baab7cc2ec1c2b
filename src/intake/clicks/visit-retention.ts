/**
 * Deletes what visits of pages leave behind once nothing asks for it any more: claims of ad platforms' click ids after two days, because they count for
 * one; and what pages reported, and ids that lead to another click, of clicks that are no longer kept.
 */
import type pg from 'pg'
import { HOUR_MS } from '../../contract/days.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'

/** Rows per statement: few enough for a fraction of a second. */
const PORTION = 5000

const KEPT_FROM = 'select before_id from dropped_clicks order by before_id desc limit 1'

/** Rows of a table, by a column of its primary key, up to a value of an indexed column. */
type OldRows = { readonly table: string; readonly key: string; readonly column: string; readonly before: string }

const claims: OldRows = {
  table: 'platform_visits',
  key: 'key',
  column: 'made_at',
  before: "now() - interval '2 days'",
}
/** `before_id` is a uuid of the database. */
const ofClicksBefore = (before_id: string): OldRows[] => [
  { table: 'page_visits', key: 'token', column: 'click_id', before: `'${before_id}'` },
  { table: 'click_aliases', key: 'id', column: 'id', before: `'${before_id}'` },
]

/** Deletes the rows of all organizations now. */
export async function dropOldVisits(pool: pg.Pool, signal?: AbortSignal): Promise<void> {
  const { rows } = await pool.query<{ before_id: string }>(KEPT_FROM)
  const dropped = rows[0]
  for (const old of [claims, ...(dropped === undefined ? [] : ofClicksBefore(dropped.before_id))])
    await dropOf(pool, old, signal)
}

async function dropOf(pool: pg.Pool, { table, key, column, before }: OldRows, signal?: AbortSignal): Promise<void> {
  const isOld = `${column} < ${before}`
  const next = (among: Among) =>
    `select org_id from ${table} where org_id > $1 and ${isOld}${among('org_id')} order by org_id limit 1`
  const drop = `
    delete from ${table}
    where org_id = $1 and ${isOld}
      and ${key} in (select ${key} from ${table} where org_id = $1 and ${isOld} order by ${column} limit ${PORTION})`
  for await (const org_id of organizationsWith(next, pool, signal))
    while (signal?.aborted !== true && ((await pool.query(drop, [org_id])).rowCount ?? 0) >= PORTION);
}

/** Deletes every hour until it is closed; any number of processes may run it. */
export function openVisitRetention({ database, log }: Pick<Ground, 'database' | 'log'>): Rounds {
  return openRounds(
    'clicks/visit-retention',
    HOUR_MS,
    signal => dropOldVisits(database.worker, signal),
    error => log.warn({ err: error }, 'could not delete old visits of pages; retrying'),
  )
}
