/**
 * Deletes rows that visits of pages leave behind and nothing asks for any more: claims of ad platforms' click ids after two days, because a claim is valid
 * for one day; and, of clicks that are no longer kept, what pages reported and the ids that lead to them.
 */
import type pg from 'pg'
import { HOUR_MS } from '../../contract/days.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'

/** Rows per statement: few enough for a fraction of a second. */
const PORTION = 5000

const KEPT_FROM = 'select before_id from dropped_clicks order by before_id desc limit 1'

/** Rows of a table whose `column`, which is indexed, is less than `before`. `key` is in the primary key. All are safe to write into SQL. */
type OldRows = { readonly table: string; readonly key: string; readonly column: string; readonly before: string }

const claims: OldRows = {
  table: 'platform_visits',
  key: 'key',
  column: 'made_at',
  before: "now() - interval '2 days'",
}
const ofClicksBefore = (before_id: string): OldRows[] => [
  { table: 'page_visits', key: 'token', column: 'click_id', before: `'${before_id}'` },
  { table: 'click_aliases', key: 'id', column: 'id', before: `'${before_id}'` },
]

/** Deletes such rows of all organizations. Returns the id of the oldest click that is kept; if it is `done`, only claims are looked for. */
export async function dropOldVisits(pool: pg.Pool, signal?: AbortSignal, done?: string): Promise<string | undefined> {
  await dropOf(pool, claims, signal)
  const { rows } = await pool.query<{ before_id: string }>(KEPT_FROM)
  const before_id = rows[0]?.before_id
  if (before_id === undefined || before_id === done) return before_id
  for (const old of ofClicksBefore(before_id)) await dropOf(pool, old, signal)
  return signal?.aborted === true ? done : before_id
}

async function dropOf(pool: pg.Pool, { table, key, column, before }: OldRows, signal?: AbortSignal): Promise<void> {
  // By organization, because the index begins with it: one search for each, instead of reading the whole index.
  const next = (among: Among) => `
    select b.org_id from balances b
    where b.org_id > $1${among('b.org_id')}
      and exists (select from ${table} v where v.org_id = b.org_id and v.${column} < ${before}${among('v.org_id')})
    order by b.org_id limit 1`
  const drop = `
    delete from ${table}
    where org_id = $1 and ${column} < ${before} and ${key} in (
      select ${key} from ${table} where org_id = $1 and ${column} < ${before} order by ${column} limit ${PORTION}
    )`
  for await (const org_id of organizationsWith(next, pool, signal))
    while (signal?.aborted !== true && ((await pool.query(drop, [org_id])).rowCount ?? 0) >= PORTION);
}

/** Deletes every hour until it is closed; any number of processes may run it. */
export function openVisitRetention({ database, log }: Pick<Ground, 'database' | 'log'>): Rounds {
  let done: string | undefined
  const drop = async (signal: AbortSignal) => {
    done = await dropOldVisits(database.worker, signal, done)
  }
  return openRounds('clicks/visit-retention', HOUR_MS, drop, error =>
    log.warn({ err: error }, 'could not delete old visits of pages; retrying'),
  )
}
