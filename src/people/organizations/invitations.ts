/**
 * Invitations: an e-mail address may join an organization with one role, once, within seven days.
 *
 * An invitation has two links, each with its own secret. One is mailed, so opening it proves the address. The other is shown once to the
 * person who invites, who can pass it on by hand; it proves nothing. The database stores only the hashes of the secrets, and the id of the
 * row grants nothing. An invitation is open only while its inviter may still give its role.
 */
import { randomBytes } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import { DAY_MS } from '../../contract/days.ts'
import type { Call, Role } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { linkTo, type MailOutcome, sendMail } from '../../ground/mail/mail.ts'
import { type Context, idOf, type Member } from '../../ground/room.ts'
import { setEmailVerified } from '../accounts/accounts.ts'
import type { Attempts } from '../accounts/attempts.ts'
import { hashSecret } from '../keys/secret.ts'
import type * as api from './api.ts'
import { activate, lockOrganization, readOrganization } from './organizations.ts'

const LIFE_MS = 7 * DAY_MS

type InvitationRow = { id: string; email: string; role: Role; created_at: string; expires_at: string }

type InvitationContext = Context<typeof api.createInvitation> & { readonly attempts: Attempts }

/** The roles that each role may give. */
const INVITABLE_ROLES: Readonly<Record<Role, readonly Role[]>> = {
  owner: ['owner', 'admin', 'member'],
  admin: ['admin', 'member'],
  member: [],
}

/** Open and expired invitations, newest first, 500 at most. */
export async function listInvitations({ db, actor }: Context<typeof api.listInvitations>) {
  const { rows } = await sql<InvitationRow & { invited_by: string; has_link: boolean }>`
    select i.id, i.email, i.role, u.name as invited_by, i.created_at, i.expires_at,
      i.link_hash is not null or i.mail_hash is not null as has_link
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
 * Invites an address, mails it a link and returns another link, which is never shown again. An earlier invitation of the address is
 * withdrawn. `mail` is also `failed` after five mails to the address within the hour. Refuses `already_exists` for a member, `role_forbidden`
 * for a role that the caller may not give, and `rate_limited` after thirty invitations and address changes an hour.
 */
export async function createInvitation(
  { attempts, db, actor, config, log, origin, recorded }: InvitationContext,
  { body }: Call<typeof api.createInvitation>,
) {
  await attempts.count('sender', actor.user_id)
  const now = Date.now()
  const invitation: InvitationRow = {
    id: newId(now),
    email: body.email.toLowerCase(),
    role: body.role,
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + LIFE_MS).toISOString(),
  }
  const linkSecret = newLinkSecret()
  // Without a mail server the mail is only logged, so a link in it would prove nothing and the shown link is used.
  const mailSecret = config.smtpUrl === undefined ? undefined : newLinkSecret()
  const replaced = await withdrawable(db, actor.org_id, invitation.email)
  const objects = [...replaced, invitation].map(({ id }) => ({ kind: 'invitation' as const, id }))
  const organization = await recorded(
    () => objects,
    async trx => {
      const name = await requireMayInvite(trx, actor, invitation)
      await withdrawOpen(trx, actor.org_id).where('email', '=', invitation.email).execute()
      await trx
        .insertInto('invitations')
        .values({
          ...invitation,
          org_id: actor.org_id,
          invited_by: actor.user_id,
          link_hash: hashSecret(linkSecret),
          mail_hash: mailSecret === undefined ? null : hashSecret(mailSecret),
        })
        .execute()
      return name
    },
  )
  const linkOf = (secret: string) => linkTo(config, `/invitations/${secret}`, origin)
  const mail = await mailInvitation(
    { attempts, config, log, actor },
    invitation,
    organization,
    linkOf(mailSecret ?? linkSecret),
  )
  return {
    ...invitation,
    invited_by: actor.name,
    state: 'pending' as const,
    has_link: true,
    link: linkOf(linkSecret),
    mail,
  }
}

/** The open invitations of an address, which a new one replaces. */
const withdrawable = (db: Kysely<Tables>, org_id: number, email: string) =>
  db
    .selectFrom('invitations')
    .select('id')
    .where('org_id', '=', org_id)
    .where('email', '=', email)
    .where('accepted_at', 'is', null)
    .where('withdrawn_at', 'is', null)
    .execute()

/** 256 random bits. */
const newLinkSecret = (): string => randomBytes(32).toString('base64url')

/** Locks the organization and returns its name. The caller's role is read again, because it may have changed since the gate read it. */
async function requireMayInvite(
  trx: Transaction<Tables>,
  { org_id, user_id }: Member,
  { email, role }: InvitationRow,
): Promise<string> {
  await lockOrganization(trx, org_id)
  const { rows } = await sql<{ name: string; is_member: boolean; own_role: Role | null }>`
    select o.name, (select role from members where org_id = o.org_id and user_id = ${user_id}) as own_role,
      exists (
        select from members m join users u on u.id = m.user_id where m.org_id = o.org_id and u.email = ${email}
      ) as is_member
    from organizations o where o.org_id = ${org_id}`.execute(trx)
  const [found] = rows
  if (!mayInvite(found?.own_role ?? null, role))
    refuse('role_forbidden', {
      error: role === 'owner' ? 'only owners may invite owners' : 'only owners and admins may invite',
    })
  if (found?.is_member) refuse('already_exists', { error: 'this address already belongs to a member' })
  return found?.name ?? ''
}

/** Whether a person with the role `own`, or with none, may give the role `given`. */
const mayInvite = (own: Role | null, given: Role): boolean => own !== null && INVITABLE_ROLES[own].includes(given)

async function mailInvitation(
  { attempts, config, log, actor }: Pick<InvitationContext, 'attempts' | 'config' | 'log' | 'actor'>,
  { email, role }: InvitationRow,
  organization: string,
  link: string,
): Promise<MailOutcome> {
  try {
    await attempts.count('mail', email)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    log.warn({ to: email }, 'did not mail an invitation: its address was sent five mails within the hour')
    return 'failed'
  }
  return sendMail(
    { config, log },
    {
      to: email,
      subject: `${oneLine(actor.name)} invites you to ${oneLine(organization)} on Sluice`,
      text: `${oneLine(actor.name)} (${actor.email}) invites you to the workspace ${oneLine(organization)} as ${role}.

Open this link within 7 days to accept:
${link}

If you did not expect this invitation, ignore this e-mail.`,
    },
  )
}

/** The text without line breaks, so that a name that people typed cannot start a new line in a mail. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}

/** An update that withdraws the unused invitations of an organization. The caller adds conditions. */
const withdrawOpen = (db: Kysely<Tables>, org_id: number) =>
  db
    .updateTable('invitations')
    .set({ withdrawn_at: new Date().toISOString() })
    .where('org_id', '=', org_id)
    .where('accepted_at', 'is', null)
    .where('withdrawn_at', 'is', null)

/** Withdraws an open invitation, whose links then stop working. Refuses `object_not_found`, also for one that was used or withdrawn. */
export async function withdrawInvitation(
  { db, actor }: Context<typeof api.withdrawInvitation>,
  { params }: Call<typeof api.withdrawInvitation>,
) {
  const { numUpdatedRows } = await withdrawOpen(db, actor.org_id).where('id', '=', idOf(params.id)).executeTakeFirst()
  return numUpdatedRows === 1n ? { ok: true as const } : refuse('object_not_found')
}

/**
 * Withdraws the open invitations that a person may no longer make, because their role became `role` or, if null, because they left. Runs in
 * the transaction of that change.
 */
export async function withdrawInvitationsOf(
  trx: Transaction<Tables>,
  { org_id, user_id, role }: { org_id: number; user_id: string; role: Role | null },
): Promise<void> {
  const gives = role === null ? [] : INVITABLE_ROLES[role]
  await withdrawOpen(trx, org_id).where('invited_by', '=', user_id).where(sql<boolean>`role <> all(${gives})`).execute()
}

/** An invitation, found by the secret of one of its links. */
type OpenedInvitation = InvitationRow & {
  invited_by: string
  inviter_role: Role | null
  org_id: number
  organization: string
  organization_id: string
  organization_deleted: boolean
  has_account: boolean
  is_waiting: boolean
  /** Whether the secret is that of the mailed link. */
  proves_address: boolean
}

async function findInvitation(db: Kysely<Tables>, secret: string): Promise<OpenedInvitation | undefined> {
  const hash = hashSecret(secret)
  const { rows } = await sql<OpenedInvitation>`
    select i.id, i.email, i.role, i.created_at, i.expires_at, u.name as invited_by, m.role as inviter_role,
      o.org_id, o.name as organization, o.id as organization_id, o.deleted_at is not null as organization_deleted,
      exists (select from users where email = i.email) as has_account,
      i.accepted_at is null and i.withdrawn_at is null and i.expires_at > ${new Date().toISOString()} as is_waiting,
      i.mail_hash is not distinct from ${hash} as proves_address
    from invitations i
    join organizations o on o.org_id = i.org_id
    join users u on u.id = i.invited_by
    left join members m on m.org_id = i.org_id and m.user_id = i.invited_by
    where i.link_hash = ${hash} or i.mail_hash = ${hash}`.execute(db)
  return rows[0]
}

const isOpen = ({ is_waiting, inviter_role, role }: OpenedInvitation): boolean =>
  is_waiting && mayInvite(inviter_role, role)

/** The invitation as invited people see it before they sign in. Refuses `object_not_found` and `invitation_invalid`. */
export async function readInvitation(
  { db }: Context<typeof api.readInvitation>,
  { params }: Call<typeof api.readInvitation>,
) {
  const invitation = (await findInvitation(db, params.secret)) ?? refuse('object_not_found')
  return isOpen(invitation) && !invitation.organization_deleted ? invitation : refuse('invitation_invalid')
}

/** Makes the caller a member and activates the organization in their session. Refuses as `redeemInvitation` does. */
export async function acceptInvitation(
  { db, actor, recorded }: Context<typeof api.acceptInvitation>,
  { params }: Call<typeof api.acceptInvitation>,
) {
  const { org_id } = (await findInvitation(db, params.secret)) ?? refuse('invitation_invalid')
  const objects = (joined?: { member_id: string }) =>
    joined === undefined ? [] : [{ kind: 'member' as const, id: joined.member_id }]
  const accept = async (trx: Transaction<Tables>) => {
    const invitation = await redeemInvitation(trx, actor.email, params.secret)
    if (invitation.proves_address) await setEmailVerified(trx, actor.user_id)
    const member_id = await addMember(trx, invitation, actor.user_id)
    await activate(trx, actor.session_id, invitation.org_id)
    return { organization_id: invitation.organization_id, member_id }
  }
  const { organization_id } = await recorded(objects, accept, org_id)
  return readOrganization(db, actor, organization_id)
}

/**
 * Uses up an invitation, in the caller's transaction, so the second of two concurrent calls is refused. It locks the organization, so that a
 * change of the inviter's role happens entirely before or after. Refuses `invitation_invalid`, also for an unknown secret, and
 * `org_deleted`.
 */
export async function redeemInvitation(
  trx: Transaction<Tables>,
  email: string,
  secret: string,
): Promise<Pick<OpenedInvitation, 'org_id' | 'organization_id' | 'role' | 'proves_address'>> {
  const found = (await findInvitation(trx, secret)) ?? refuse('invitation_invalid')
  await lockOrganization(trx, found.org_id)
  const invitation = (await findInvitation(trx, secret)) ?? refuse('invitation_invalid')
  if (!isOpen(invitation) || invitation.email !== email.toLowerCase()) refuse('invitation_invalid')
  if (invitation.organization_deleted) refuse('org_deleted')
  const { numUpdatedRows } = await trx
    .updateTable('invitations')
    .set({ accepted_at: new Date().toISOString() })
    .where('org_id', '=', invitation.org_id)
    .where('id', '=', invitation.id)
    .where('withdrawn_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n ? invitation : refuse('invitation_invalid')
}

/** Makes a person a member, and returns the id of a new member. An existing member keeps their role. */
export async function addMember(
  trx: Transaction<Tables>,
  { org_id, role }: Pick<OpenedInvitation, 'org_id' | 'role'>,
  user_id: string,
): Promise<string> {
  const id = newId()
  await trx
    .insertInto('members')
    .values({ id, org_id, user_id, role, joined_at: new Date().toISOString() })
    .onConflict(on => on.columns(['user_id', 'org_id']).doNothing())
    .execute()
  return id
}
