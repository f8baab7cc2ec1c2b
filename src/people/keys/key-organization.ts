/**
 * The organization a key acts in: the one in its grant or, while its permissions were never saved, that of its owner's earliest
 * membership. The gate decides by it and the list of keys shows it, so both use this one join.
 */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'

const EARLIEST_FIRST = 'order by joined_at, id limit 1'

/** SQL that joins the organization `o` to keys `k` with their grants `g`. Its columns are null when the key has no organization. */
export const JOIN_ORGANIZATION = `
  left join lateral (
    select org_id from members where user_id = k.user_id and g.key_id is null ${EARLIEST_FIRST}
  ) earliest on true
  left join organizations o on o.org_id = coalesce(g.org_id, earliest.org_id)`

/** The organization in which this person's fresh keys act, deleted or not. Null when they are a member of none. */
export async function earliestMembership(db: Kysely<Tables>, user_id: string): Promise<number | null> {
  const { rows } = await sql<{ org_id: number }>`
    select org_id from members where user_id = ${user_id} ${sql.raw(EARLIEST_FIRST)}`.execute(db)
  return rows[0]?.org_id ?? null
}
