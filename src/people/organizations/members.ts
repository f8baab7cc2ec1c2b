/**
 * Members of an organization and their roles. Every change locks the organization's row before it reads the members, so that two owners who
 * leave at once cannot leave it without an owner. A change also withdraws the invitations that its person may no longer make.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Call, Role } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf, type Member } from '../../ground/room.ts'
import type * as api from './api.ts'
import { withdrawInvitationsOf } from './invitations.ts'
import { lockOrganization } from './organizations.ts'

type MemberRow = {
  id: string
  user_id: string
  name: string
  email: string
  image: string | null
  role: Role
  joined_at: string
  has_second_factor: boolean | null
  is_you: boolean
}

async function readMembers(
  db: Kysely<Tables>,
  { org_id, user_id, role }: Pick<Member, 'org_id' | 'user_id' | 'role'>,
): Promise<MemberRow[]> {
  const { rows } = await sql<MemberRow>`
    select m.id, m.user_id, u.name, u.email, u.image, m.role, m.joined_at,
      case when ${role !== 'member'} then u.two_factor_enabled end as has_second_factor, m.user_id = ${user_id} as is_you
    from members m
    join users u on u.id = m.user_id
    where m.org_id = ${org_id}
    order by m.joined_at, m.id`.execute(db)
  return rows
}

/** All members in the order they joined, in one page. */
export async function listMembers({ db, actor }: Context<typeof api.listMembers>) {
  return { data: await readMembers(db, actor), next_cursor: null }
}

/** Changes a member's role. Refuses `role_forbidden` for a change that only owners may make, and `last_owner` for the only owner. */
export async function setMemberRole(
  { db, actor }: Context<typeof api.setMemberRole>,
  { params, body }: Call<typeof api.setMemberRole>,
) {
  return db.transaction().execute(async trx => {
    const { you, member, owners } = await lockMembers(trx, actor, params.id)
    if (you.role === 'member') refuse('role_forbidden')
    if (you.role !== 'owner' && (member.role === 'owner' || body.role === 'owner'))
      refuse('role_forbidden', { error: 'only owners may appoint or change owners' })
    if (member.role === 'owner' && body.role !== 'owner' && owners === 1) refuse('last_owner')
    await trx
      .updateTable('members')
      .set({ role: body.role })
      .where('org_id', '=', actor.org_id)
      .where('id', '=', member.id)
      .execute()
    await withdrawInvitationsOf(trx, { org_id: actor.org_id, user_id: member.user_id, role: body.role })
    return { ...member, role: body.role }
  })
}

/** Removes a member, or lets the caller leave. Refuses as `setMemberRole` does. */
export async function deleteMember(
  { db, actor }: Context<typeof api.deleteMember>,
  { params }: Call<typeof api.deleteMember>,
) {
  return db.transaction().execute(async trx => {
    const { you, member, owners } = await lockMembers(trx, actor, params.id)
    if (!member.is_you && you.role === 'member') refuse('role_forbidden', { error: 'this needs the role admin' })
    if (!member.is_you && member.role === 'owner' && you.role !== 'owner')
      refuse('role_forbidden', { error: 'only owners may remove owners' })
    if (member.role === 'owner' && owners === 1) refuse('last_owner')
    await trx.deleteFrom('members').where('org_id', '=', actor.org_id).where('id', '=', member.id).execute()
    await withdrawInvitationsOf(trx, { org_id: actor.org_id, user_id: member.user_id, role: null })
    return { ok: true as const }
  })
}

/** Locks the organization and reads its members again, because the caller's role may have changed since the gate checked it. */
async function lockMembers(trx: Transaction<Tables>, actor: Member, wire_id: string) {
  const id = idOf(wire_id)
  await lockOrganization(trx, actor.org_id)
  const members = await readMembers(trx, actor)
  const you = members.find(({ is_you }) => is_you) ?? refuse('object_not_found')
  const member = members.find(row => row.id === id) ?? refuse('object_not_found')
  return { you, member, owners: members.filter(({ role }) => role === 'owner').length }
}
