/**
 * Invitations: an e-mail address may join an organization with one role, once, within seven days.
 *
 * Two links open an invitation, each with a secret of its own. One goes into the mail: whoever opens it has shown that the address is
 * theirs. The other is shown once to the person who invites, to be passed on by hand; it proves no address. The database keeps only
 * the hashes of the secrets, and the id of the row opens nothing. An invitation is open only while its inviter may give its role.
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
import { activate, holdOrganization, readOrganization } from './organizations.ts'

const LIFE_MS = 7 * DAY_MS

type InvitationRow = { id: string; email: string; role: Role; created_at: string; expires_at: string }

type Inviting = Context<typeof api.createInvitation> & { readonly attempts: Attempts }

/** Which roles each role may give, by an invitation too. */
const GIVES: Readonly<Record<Role, readonly Role[]>> = {
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
 * Invites an address, mails a link and answers with another one, which is shown this once. An earlier invitation of the address ends
 * with its links. `mail` is `failed` too where the address was sent five mails within the hour. Refuses `already_exists` for members,
 * `role_forbidden` for a role that the caller may not give, and `rate_limited` after thirty invitations and changes of address an hour.
 */
export async function createInvitation(
  { attempts, db, actor, config, log, origin }: Inviting,
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
  const shown = newLinkSecret()
  // Without a mail server the mail stands in the log, so its link proves no address.
  const mailed = config.smtpUrl === undefined ? undefined : newLinkSecret()
  const organization = await db.transaction().execute(async trx => {
    const name = await requireMayInvite(trx, actor, invitation)
    await withdrawOpen(trx, actor.org_id).where('email', '=', invitation.email).execute()
    await trx
      .insertInto('invitations')
      .values({
        ...invitation,
        org_id: actor.org_id,
        invited_by: actor.user_id,
        link_hash: hashSecret(shown),
        mail_hash: mailed === undefined ? null : hashSecret(mailed),
      })
      .execute()
    return name
  })
  const linkOf = (secret: string) => linkTo(config, `/invitations/${secret}`, origin)
  const mail = await mailInvitation({ attempts, config, log, actor }, invitation, organization, linkOf(mailed ?? shown))
  return {
    ...invitation,
    invited_by: actor.name,
    state: 'pending' as const,
    has_link: true,
    link: linkOf(shown),
    mail,
  }
}

/** 256 random bits. */
const newLinkSecret = (): string => randomBytes(32).toString('base64url')

/** Holds the organization and answers its name. The caller's role is read anew: it may have changed since the gate read it. */
async function requireMayInvite(
  trx: Transaction<Tables>,
  { org_id, user_id }: Member,
  { email, role }: InvitationRow,
): Promise<string> {
  await holdOrganization(trx, org_id)
  const { rows } = await sql<{ name: string; is_member: boolean; own_role: Role | null }>`
    select o.name, (select role from members where org_id = o.org_id and user_id = ${user_id}) as own_role,
      exists (
        select from members m join users u on u.id = m.user_id where m.org_id = o.org_id and u.email = ${email}
      ) as is_member
    from organizations o where o.org_id = ${org_id}`.execute(trx)
  const [found] = rows
  if (!mayGive(found?.own_role ?? null, role))
    refuse('role_forbidden', {
      error: role === 'owner' ? 'only owners invite owners' : 'only owners and admins invite',
    })
  if (found?.is_member) refuse('already_exists', { error: 'this address belongs to a member already' })
  return found?.name ?? ''
}

/** Whether someone of this role, or of none, may give another. */
const mayGive = (own: Role | null, given: Role): boolean => own !== null && GIVES[own].includes(given)

async function mailInvitation(
  { attempts, config, log, actor }: Pick<Inviting, 'attempts' | 'config' | 'log' | 'actor'>,
  { email, role }: InvitationRow,
  organization: string,
  link: string,
): Promise<MailOutcome> {
  try {
    await attempts.count('mail', email)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    log.warn({ to: email }, 'an invitation was not mailed: its address was sent five mails within the hour')
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

If you do not know what this is about, ignore this mail.`,
    },
  )
}

/** Names are written by people: a line break in one must not start a new line of a mail. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}

/** Withdraws invitations of an organization that are neither used nor withdrawn; the caller says which. */
const withdrawOpen = (db: Kysely<Tables>, org_id: number) =>
  db
    .updateTable('invitations')
    .set({ withdrawn_at: new Date().toISOString() })
    .where('org_id', '=', org_id)
    .where('accepted_at', 'is', null)
    .where('withdrawn_at', 'is', null)

/** Withdraws an open invitation: its links stop working. Refuses `object_not_found`, for one that was used or withdrawn too. */
export async function withdrawInvitation(
  { db, actor }: Context<typeof api.withdrawInvitation>,
  { params }: Call<typeof api.withdrawInvitation>,
) {
  const { numUpdatedRows } = await withdrawOpen(db, actor.org_id).where('id', '=', idOf(params.id)).executeTakeFirst()
  return numUpdatedRows === 1n ? { ok: true as const } : refuse('object_not_found')
}

/**
 * Withdraws the open invitations of a member whose role has become `role`, or who is out (null): those whose role they may give no
 * longer. In the transaction of that change.
 */
export async function withdrawInvitationsOf(
  trx: Transaction<Tables>,
  { org_id, user_id, role }: { org_id: number; user_id: string; role: Role | null },
): Promise<void> {
  const gives = role === null ? [] : GIVES[role]
  await withdrawOpen(trx, org_id).where('invited_by', '=', user_id).where(sql<boolean>`role <> all(${gives})`).execute()
}

/** An invitation by the secret of one of its links. */
type OpenedInvitation = InvitationRow & {
  invited_by: string
  inviter_role: Role | null
  org_id: number
  organization: string
  organization_id: string
  organization_deleted: boolean
  has_account: boolean
  is_waiting: boolean
  /** Whether the link is the one that was mailed. */
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
  is_waiting && mayGive(inviter_role, role)

/** What the invited see before they sign in. Refuses `object_not_found` and `invitation_invalid`. */
export async function readInvitation(
  { db }: Context<typeof api.readInvitation>,
  { params }: Call<typeof api.readInvitation>,
) {
  const invitation = (await findInvitation(db, params.secret)) ?? refuse('object_not_found')
  return isOpen(invitation) && !invitation.organization_deleted ? invitation : refuse('invitation_invalid')
}

/** Makes the caller a member and lets the session act there. Refuses as `takeInvitation` does. */
export async function acceptInvitation(
  { db, actor }: Context<typeof api.acceptInvitation>,
  { params }: Call<typeof api.acceptInvitation>,
) {
  const organization_id = await db.transaction().execute(async trx => {
    const invitation = await takeInvitation(trx, actor.email, params.secret)
    if (invitation.proves_address) await setEmailVerified(trx, actor.user_id)
    await addMember(trx, invitation, actor.user_id)
    await activate(trx, actor.session_id, invitation.org_id)
    return invitation.organization_id
  })
  return readOrganization(db, actor, organization_id)
}

/**
 * Uses an invitation up, in the caller's transaction: of two at once the second is refused. The organization is held, so that a change
 * of the inviter's role comes wholly before it or wholly after it. Refuses `invitation_invalid`, for an unknown one too, and
 * `org_deleted`.
 */
export async function takeInvitation(
  trx: Transaction<Tables>,
  email: string,
  secret: string,
): Promise<Pick<OpenedInvitation, 'org_id' | 'organization_id' | 'role' | 'proves_address'>> {
  const found = (await findInvitation(trx, secret)) ?? refuse('invitation_invalid')
  await holdOrganization(trx, found.org_id)
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

/** Makes someone a member; who is one already keeps their role. */
export async function addMember(
  trx: Transaction<Tables>,
  { org_id, role }: Pick<OpenedInvitation, 'org_id' | 'role'>,
  user_id: string,
): Promise<void> {
  await trx
    .insertInto('members')
    .values({ id: newId(), org_id, user_id, role, joined_at: new Date().toISOString() })
    .onConflict(on => on.columns(['user_id', 'org_id']).doNothing())
    .execute()
}
