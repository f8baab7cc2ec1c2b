/**
 * Which organization a key acts in: its grant's, or while its permissions were never saved that of its owner's earliest membership. The
 * door decides by it, and the list of keys shows it.
 */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'

const EARLIEST_FIRST = 'order by joined_at, id limit 1'

/** Joins the organization `o` to keys `k` with their grants `g`; none where there is none. */
export const JOIN_ORGANIZATION = `
  left join lateral (
    select org_id from members where user_id = k.user_id and g.key_id is null ${EARLIEST_FIRST}
  ) earliest on true
  left join organizations o on o.org_id = coalesce(g.org_id, earliest.org_id)`

/** Where a key of this person acts while it is fresh, also when that organization is deleted; null where they are a member of none. */
export async function earliestMembership(db: Kysely<Tables>, user_id: string): Promise<number | null> {
  const { rows } = await sql<{ org_id: number }>`
    select org_id from members where user_id = ${user_id} ${sql.raw(EARLIEST_FIRST)}`.execute(db)
  return rows[0]?.org_id ?? null
}
