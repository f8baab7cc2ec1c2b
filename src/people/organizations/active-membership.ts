/** The active organization of a session and the person's role in it. The gate reads it at every dashboard call. */
import { type Kysely, sql } from 'kysely'
import type { Role } from '../../contract/endpoint.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Member, Person } from '../../ground/room.ts'

/**
 * A person's active membership. `organization_deleted` makes the gate answer 409 `org_deleted`, except when switching and restoring;
 * `lacks_second_factor` makes it answer 403 `second_factor_required`.
 */
export type ActiveMembership = { member: Member; organization_deleted: boolean; lacks_second_factor: boolean }

/**
 * The SQL order that puts the active organization of a session first: the one it was set to, otherwise the earliest membership in a live
 * organization, otherwise the earliest. It needs memberships `m`, organizations `o` and active organizations `a`. The gate decides by it
 * and the list of organizations shows it.
 */
export const ACTING_FIRST = sql.raw('a.session_id is null, o.deleted_at is not null, m.joined_at, m.id')

type ActiveMembershipRow = {
  org_id: number
  organization_id: string
  organization_deleted: boolean
  role: Role
  requires_second_factor: boolean
}

/**
 * The person's membership in the organization the session was set to, deleted or not; otherwise their earliest membership in a live
 * organization; otherwise the earliest in a deleted one. Undefined for a person without any.
 */
export async function activeMembershipOf(db: Kysely<Tables>, person: Person): Promise<ActiveMembership | undefined> {
  const { rows } = await sql<ActiveMembershipRow>`
    select o.org_id, o.id as organization_id, o.deleted_at is not null as organization_deleted, m.role,
      o.requires_second_factor
    from members m
    join organizations o on o.org_id = m.org_id
    left join active_organizations a on a.org_id = m.org_id and a.session_id = ${person.session_id}
    where m.user_id = ${person.user_id}
    order by ${ACTING_FIRST}
    limit 1`.execute(db)
  const [row] = rows
  if (row === undefined) return undefined
  const { organization_deleted, requires_second_factor, ...membership } = row
  const lacks_second_factor = requires_second_factor && !person.has_second_factor
  return { member: { kind: 'member', ...person, ...membership }, organization_deleted, lacks_second_factor }
}
