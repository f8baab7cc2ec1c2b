/** Takes back a soft deletion. Only the room that owns the table calls it. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

type Deletable = 'offers' | 'landings' | 'funnels' | 'click_flows' | 'traffic_sources' | 'caps' | 'postback_rules'

/** Makes a deleted row live again at a moment of the database; false if no such row is deleted. @throws the database's error if its name is taken */
export async function undelete(
  db: Kysely<Tables>,
  table: Deletable,
  { org_id, id, at }: { org_id: number; id: string; at: string },
): Promise<boolean> {
  const { rows } = await sql`
    update ${sql.table(table)} set deleted_at = null, updated_at = ${at}
    where org_id = ${org_id} and id = ${id} and deleted_at is not null returning id`.execute(db)
  return rows.length === 1
}
