/**
 * Invitations: a link for one e-mail address, good for seven days and for one acceptance. The id in the link is the secret; it
 * reaches the invited through the mail, and is no use to another address.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { DAY_MS } from '../../contract/days.ts'
import type { Call, Role } from '../../contract/endpoint.ts'
import { newId, toUuid, toWireId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { linkTo, sendMail } from '../../ground/mail/mail.ts'
import { type Context, idOf } from '../../ground/room.ts'
import type * as api from './api.ts'
import { activate, readOrganization } from './organizations.ts'

const LIFE_MS = 7 * DAY_MS

type Row = { id: string; email: string; role: Role; invited_by: string; created_at: string; expires_at: string }

/** Open and expired invitations, newest first, 500 at most. */
export async function listInvitations({ db, actor }: Context<typeof api.listInvitations>) {
  const { rows } = await sql<Row>`
    select i.id, i.email, i.role, u.name as invited_by, i.created_at, i.expires_at
    from invitations i
    join users u on u.id = i.invited_by
    where i.org_id = ${actor.org_id} and i.accepted_at is null and i.withdrawn_at is null
    order by i.id desc
    limit 500`.execute(db)
  const now = Date.now()
  const data = rows.map(row => ({
    ...row,
    state: Date.parse(row.expires_at) > now ? ('pending' as const) : ('expired' as const),
  }))
  return { data, next_cursor: null }
}

/**
 * Invites an address and mails the link; an earlier invitation of the same address ends. Refuses `already_exists` for members,
 * `role_forbidden` for owners invited by others.
 */
export async function createInvitation(
  { db, actor, config, log, origin }: Context<typeof api.createInvitation>,
  { body }: Call<typeof api.createInvitation>,
) {
  const { org_id } = actor
  const email = body.email.toLowerCase()
  if (body.role === 'owner' && actor.role !== 'owner') refuse('role_forbidden', { error: 'only owners invite owners' })
  const now = Date.now()
  const created_at = new Date(now).toISOString()
  const expires_at = new Date(now + LIFE_MS).toISOString()
  const invitation = { id: newId(now), email, role: body.role, created_at, expires_at }
  const organization = await db.transaction().execute(async trx => {
    const { rows } = await sql<{ name: string; is_member: boolean }>`
      select o.name, exists (
        select from members m join users u on u.id = m.user_id where m.org_id = o.org_id and u.email = ${email}
      ) as is_member
      from organizations o where o.org_id = ${org_id} for no key update of o`.execute(trx)
    if (rows[0]?.is_member) refuse('already_exists', { error: 'this address belongs to a member already' })
    await trx
      .updateTable('invitations')
      .set({ withdrawn_at: created_at })
      .where('org_id', '=', org_id)
      .where('email', '=', email)
      .where('accepted_at', 'is', null)
      .where('withdrawn_at', 'is', null)
      .execute()
    await trx
      .insertInto('invitations')
      .values({ ...invitation, org_id, invited_by: actor.user_id })
      .execute()
    return rows[0]?.name ?? ''
  })
  const mail = await sendMail(
    { config, log },
    {
      to: email,
      subject: `${oneLine(actor.name)} invites you to ${oneLine(organization)} on Sluice`,
      text: `${oneLine(actor.name)} (${actor.email}) invites you to the workspace ${oneLine(organization)} as ${body.role}.

Open this link within 7 days to accept:
${linkTo(config, `/invitations/${toWireId(invitation.id)}`, origin)}

If you do not know what this is about, ignore this mail.`,
    },
  )
  return { ...invitation, invited_by: actor.name, state: 'pending' as const, mail }
}

/** Names are written by people: a line break in one must not start a new line of a mail. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}

/** Ends an open invitation. Refuses `object_not_found`, for one that was used or withdrawn too. */
export async function withdrawInvitation(
  { db, actor }: Context<typeof api.withdrawInvitation>,
  { params }: Call<typeof api.withdrawInvitation>,
) {
  const id = idOf(params.id)
  const { numUpdatedRows } = await db
    .updateTable('invitations')
    .set({ withdrawn_at: new Date().toISOString() })
    .where('org_id', '=', actor.org_id)
    .where('id', '=', id)
    .where('accepted_at', 'is', null)
    .where('withdrawn_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n ? { ok: true as const } : refuse('object_not_found')
}

type Found = Row & {
  org_id: number
  organization: string
  organization_id: string
  organization_deleted: boolean
  has_account: boolean
  is_open: boolean
}

async function findInvitation(db: Kysely<Tables>, wire_id: string, lock: boolean): Promise<Found | undefined> {
  const id = toUuid(wire_id)
  if (id === undefined) return undefined
  const { rows } = await sql<Found>`
    select i.id, i.email, i.role, i.created_at, i.expires_at, u.name as invited_by,
      o.org_id, o.name as organization, o.id as organization_id, o.deleted_at is not null as organization_deleted,
      exists (select from users where email = i.email) as has_account,
      i.accepted_at is null and i.withdrawn_at is null and i.expires_at > ${new Date().toISOString()} as is_open
    from invitations i
    join organizations o on o.org_id = i.org_id
    join users u on u.id = i.invited_by
    where i.id = ${id}
    ${lock ? sql`for update of i` : sql``}`.execute(db)
  return rows[0]
}

/** What the invited see before they sign in. Refuses `object_not_found` and `invitation_invalid`. */
export async function readInvitation(
  { db }: Context<typeof api.readInvitation>,
  { params }: Call<typeof api.readInvitation>,
) {
  const invitation = (await findInvitation(db, params.id, false)) ?? refuse('object_not_found')
  return invitation.is_open && !invitation.organization_deleted ? invitation : refuse('invitation_invalid')
}

/** Makes the caller a member and lets the session act there. Refuses as `takeInvitation` does. */
export async function acceptInvitation(
  { db, actor }: Context<typeof api.acceptInvitation>,
  { params }: Call<typeof api.acceptInvitation>,
) {
  const organization_id = await db.transaction().execute(async trx => {
    const invitation = await takeInvitation(trx, actor.email, params.id)
    await addMember(trx, invitation, actor.user_id)
    await activate(trx, actor.session_id, invitation.org_id)
    return invitation.organization_id
  })
  return readOrganization(db, actor, organization_id)
}

/**
 * Uses an invitation up, in the caller's transaction: of two at once the second is refused. Refuses `invitation_invalid`, for an
 * unknown one too, and `org_deleted`.
 */
export async function takeInvitation(
  trx: Transaction<Tables>,
  email: string,
  wire_id: string,
): Promise<Pick<Found, 'org_id' | 'organization_id' | 'role'>> {
  const invitation = await findInvitation(trx, wire_id, true)
  if (!invitation?.is_open || invitation.email !== email.toLowerCase()) refuse('invitation_invalid')
  if (invitation.organization_deleted) refuse('org_deleted')
  await trx
    .updateTable('invitations')
    .set({ accepted_at: new Date().toISOString() })
    .where('org_id', '=', invitation.org_id)
    .where('id', '=', invitation.id)
    .execute()
  return invitation
}

/** Makes someone a member; who is one already keeps their role. */
export async function addMember(
  trx: Transaction<Tables>,
  { org_id, role }: Pick<Found, 'org_id' | 'role'>,
  user_id: string,
): Promise<void> {
  await trx
    .insertInto('members')
    .values({ id: newId(), org_id, user_id, role, joined_at: new Date().toISOString() })
    .onConflict(on => on.columns(['user_id', 'org_id']).doNothing())
    .execute()
}
