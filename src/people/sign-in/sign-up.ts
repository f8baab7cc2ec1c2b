/**
 * How accounts come into being: the first owner with the organization, an invitation used up, or open sign-up. Account, membership
 * and organization are one transaction, so that a crash or a race leaves all of it or nothing. Passwords are hashed by the library.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { z } from 'zod'
import { refuse } from '../../contract/refusals.ts'
import type { Config } from '../../ground/config.ts'
import { isTaken } from '../../ground/db/faults.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { addAccount } from '../accounts/accounts.ts'
import { addMember, takeInvitation } from '../organizations/invitations.ts'
import { foundOrganization } from '../organizations/organizations.ts'
import type { FirstOwner, SignUp } from './api.ts'

type Form<T extends z.ZodType> = z.output<T>
type Hash = (password: string) => Promise<string>

/** Whether nobody has an account yet. */
export async function needsOwner(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ none: boolean }>`select not exists (select from users) as none`.execute(db)
  return rows[0]?.none ?? true
}

/** Creates the first account with its organization. Of two first visits at once, the second is refused `setup_done`. */
export async function createFirstOwner(
  db: Kysely<Tables>,
  config: Config,
  form: Form<typeof FirstOwner>,
  hash: Hash,
): Promise<{ user_id: string; organization_id: string }> {
  if (!(await needsOwner(db))) refuse('setup_done')
  const newcomer = { name: form.name, email: form.email, hash: await hash(form.password) }
  return db.transaction().execute(async trx => {
    if (!(await stillNeedsOwner(trx))) refuse('setup_done')
    const user_id = await addAccount(trx, newcomer)
    const organization = await foundOrganization(trx, config, { name: form.organization, user_id })
    return { user_id, organization_id: organization.id }
  })
}

/**
 * Creates an account by invitation, freely where `SIGN_UP` is open, or as the very first one. The invitation must be open and for this
 * address; it is used up with it. Refuses `sign_up_closed`, `invitation_invalid`, `already_exists`.
 */
export async function createAccount(
  db: Kysely<Tables>,
  { signUp }: Config,
  { name, email, password, invitation }: Form<typeof SignUp>,
  hash: Hash,
): Promise<void> {
  const isUninvited = invitation === undefined && signUp === 'invite'
  if (isUninvited && !(await needsOwner(db))) refuse('sign_up_closed')
  const newcomer = { name, email, hash: await hash(password) }
  try {
    await db.transaction().execute(async trx => {
      if (isUninvited && !(await stillNeedsOwner(trx))) refuse('sign_up_closed')
      // Before the account, so that only who holds the invitation of an address learns whether it has an account.
      const invited = invitation === undefined ? undefined : await takeInvitation(trx, email, invitation)
      const user_id = await addAccount(trx, { ...newcomer, email_verified: invited?.proves_address ?? false })
      if (invited !== undefined) await addMember(trx, invited, user_id)
    })
  } catch (error) {
    if (!isTaken(error)) throw error
    refuse('already_exists', { error: 'this e-mail address has an account', hint: 'Sign in with it.' })
  }
}

/** `needsOwner`, held true until this transaction commits: every other new account waits for it. */
async function stillNeedsOwner(trx: Transaction<Tables>): Promise<boolean> {
  await sql`lock table users in share row exclusive mode`.execute(trx)
  return needsOwner(trx)
}
