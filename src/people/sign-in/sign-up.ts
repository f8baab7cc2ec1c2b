/**
 * Creating accounts: the first owner with their organization, by invitation, or by open sign-up. Account, membership and organization are
 * written in one transaction, so that a crash or a race leaves all of it or nothing. The sign-in library hashes the passwords.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { z } from 'zod'
import { refuse } from '../../contract/refusals.ts'
import type { Config } from '../../ground/config.ts'
import { isTaken } from '../../ground/db/faults.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { addAccount } from '../accounts/accounts.ts'
import { addMember, redeemInvitation } from '../organizations/invitations.ts'
import { insertOrganization } from '../organizations/organizations.ts'
import type { FirstOwner, SignUp } from './api.ts'

type Form<T extends z.ZodType> = z.output<T>
type Hash = (password: string) => Promise<string>

/** Whether there is no account yet. */
export async function needsOwner(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ none: boolean }>`select not exists (select from users) as none`.execute(db)
  return rows[0]?.none ?? true
}

/** Creates the first account with its organization. Refuses `setup_done`, also to the second of two concurrent calls. */
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
    const organization = await insertOrganization(trx, config, { name: form.organization, user_id })
    return { user_id, organization_id: organization.id }
  })
}

/**
 * Creates an account by invitation, without one if `SIGN_UP` is `open`, or as the first account. The invitation must be open and for this
 * address, and is used up. Refuses `sign_up_closed`, `invitation_invalid` and `already_exists`.
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
      // The invitation is checked before the account, so that only its holder learns whether the address has an account.
      const invited = invitation === undefined ? undefined : await redeemInvitation(trx, email, invitation)
      const user_id = await addAccount(trx, { ...newcomer, email_verified: invited?.proves_address ?? false })
      if (invited !== undefined) await addMember(trx, invited, user_id)
    })
  } catch (error) {
    if (!isTaken(error)) throw error
    refuse('already_exists', { error: 'this e-mail address already has an account', hint: 'Sign in with it.' })
  }
}

/** `needsOwner` under a lock that makes every other new account wait, so that it stays true until this transaction commits. */
async function stillNeedsOwner(trx: Transaction<Tables>): Promise<boolean> {
  await sql`lock table users in share row exclusive mode`.execute(trx)
  return needsOwner(trx)
}
