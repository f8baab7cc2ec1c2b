/** Where a person acts: the active organization of their session, and their role in it. Asked by the door at every dashboard call. */
import { type Kysely, sql } from 'kysely'
import type { Role } from '../../contract/endpoint.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Member, Person } from '../../ground/room.ts'

/**
 * A person's place; `organization_deleted` asks for 409 `org_deleted`, which switching and restoring do not get, and `lacks_second_factor` for 403
 * `second_factor_required`.
 */
export type Standing = { member: Member; organization_deleted: boolean; lacks_second_factor: boolean }

/**
 * Puts first where a session `a` acts, among memberships `m` in organizations `o`: what it was set to, else the earliest that lives, else
 * the earliest. The door decides by it, and the list of organizations shows it.
 */
export const ACTING_FIRST = sql.raw('a.session_id is null, o.deleted_at is not null, m.joined_at, m.id')

type Row = {
  org_id: number
  organization_id: string
  organization_deleted: boolean
  role: Role
  requires_second_factor: boolean
}

/**
 * The organization the session was set to, while the person is a member of it, deleted or not; else their earliest membership in
 * one that lives; else the earliest in a deleted one. Undefined for someone without any.
 */
export async function standingOf(db: Kysely<Tables>, person: Person): Promise<Standing | undefined> {
  const { rows } = await sql<Row>`
    select o.org_id, o.id as organization_id, o.deleted_at is not null as organization_deleted, m.role,
      o.requires_second_factor
    from members m
    join organizations o on o.org_id = m.org_id
    left join active_organizations a on a.org_id = m.org_id and a.session_id = ${person.session_id}
    where m.user_id = ${person.user_id}
    order by ${ACTING_FIRST}
    limit 1`.execute(db)
  const [place] = rows
  if (place === undefined) return undefined
  const { organization_deleted, requires_second_factor, ...membership } = place
  const lacks_second_factor = requires_second_factor && !person.has_second_factor
  return { member: { kind: 'member', ...person, ...membership }, organization_deleted, lacks_second_factor }
}
