/** Drops months of clicks, unless Explore still needs them. */
import { type Kysely, sql } from 'kysely'
import type { Logger } from 'pino'
import { dropPartition } from '../../ground/db/partitions.ts'
import type { Tables } from '../../ground/db/tables.ts'

/** A condition on `click_sheet`: the row tells of a click before this id, so sealing it (reading/segments) needs that click. */
export const tellsOfBefore = (before_id: string) => sql<boolean>`(
  exists (select from unnest(born) as b where b < ${sql.lit(before_id)}::uuid)
  or exists (select from unnest(born_otherwise) as b where b.id < ${sql.lit(before_id)}::uuid)
  or exists (select from unnest(changes) as c where c.id < ${sql.lit(before_id)}::uuid)
)`

/** Drops a partition of clicks; false as in `dropPartition`, or if rows about clicks before `before_id` wait to be sealed. */
export async function dropClicks(db: Kysely<Tables>, name: string, before_id: string, log: Logger): Promise<boolean> {
  return await dropPartition(db, name, log, async trx => {
    const { rows } =
      await sql`select org_id from click_sheet where org_id > 0 and ${tellsOfBefore(before_id)} limit 1`.execute(trx)
    if (rows.length === 0) return false
    log.info({ partition: name }, 'a month of clicks is not sealed for Explore yet and cannot be dropped; retrying')
    return true
  })
}
