/**
 * When app, passkeys and recovery codes are all lost. Done by who runs the machine, not by an admin of a workspace: an account is its person's
 * and may be in workspaces of others, whose requirement it would take away with the factor.
 */
import type { Kysely } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import { sendMail } from '../../ground/mail/mail.ts'
import type { Ground } from '../../ground/room.ts'
import { endEverySession } from '../accounts/sessions.ts'
import { holdPerson, settle } from './second-factor.ts'

/**
 * Takes every second factor from the account of an address and ends its sessions; the password alone lets in again. Undefined where no account
 * has the address; `had` says whether there was one.
 */
export async function resetSecondFactor(db: Kysely<Tables>, email: string): Promise<{ had: boolean } | undefined> {
  const person = await db
    .selectFrom('users')
    .select(['id', 'two_factor_enabled'])
    .where('email', '=', email.trim().toLowerCase())
    .executeTakeFirst()
  if (person === undefined) return undefined
  await db.transaction().execute(async trx => {
    await holdPerson(trx, person.id)
    await trx.deleteFrom('passkeys').where('user_id', '=', person.id).execute()
    await trx.deleteFrom('two_factors').where('user_id', '=', person.id).execute()
    await settle(trx, person.id)
    await endEverySession(trx, person.id)
  })
  return { had: person.two_factor_enabled }
}

/** Tells the person, who may not have asked for it. */
export async function tellOfReset(ground: Pick<Ground, 'config' | 'log'>, email: string): Promise<void> {
  await sendMail(ground, {
    to: email.trim().toLowerCase(),
    subject: 'The second factor of your Sluice account was taken away',
    text: `Whoever runs this installation has taken app, passkeys and recovery codes from your account, and has signed you out everywhere.
Your password alone signs you in again: set up a new second factor then.

If you did not ask for it, change your password at once, and ask whoever runs it why.`,
  })
}
