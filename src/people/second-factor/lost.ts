/**
 * Resetting the second factor of a person who has lost app, passkeys and recovery codes. Only the operator of the server may do it, not an
 * admin of a workspace: the account may also belong to other workspaces that require a second factor.
 */
import type { Kysely } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import { sendMail } from '../../ground/mail/mail.ts'
import type { Ground } from '../../ground/room.ts'
import { endEverySession } from '../accounts/sessions.ts'
import { lockPerson, updateFactorFlag } from './second-factor.ts'

/**
 * Removes every second factor of the account with this address and ends its sessions. The password alone then signs in. Undefined when no
 * account has the address; `had_factor` says whether there was a second factor.
 */
export async function resetSecondFactor(
  db: Kysely<Tables>,
  email: string,
): Promise<{ had_factor: boolean } | undefined> {
  const person = await db
    .selectFrom('users')
    .select(['id', 'two_factor_enabled'])
    .where('email', '=', email.trim().toLowerCase())
    .executeTakeFirst()
  if (person === undefined) return undefined
  await db.transaction().execute(async trx => {
    await lockPerson(trx, person.id)
    await trx.deleteFrom('passkeys').where('user_id', '=', person.id).execute()
    await trx.deleteFrom('two_factors').where('user_id', '=', person.id).execute()
    await updateFactorFlag(trx, person.id)
    await endEverySession(trx, person.id)
  })
  return { had_factor: person.two_factor_enabled }
}

/** Mails the person about the reset, because they may not have asked for it. */
export async function mailResetNotice(ground: Pick<Ground, 'config' | 'log'>, email: string): Promise<void> {
  await sendMail(ground, {
    to: email.trim().toLowerCase(),
    subject: 'The second factor of your Sluice account was removed',
    text: `The operator of this Sluice installation removed the app, passkeys and recovery codes from your account and signed you out everywhere.
Sign in with your password alone, then set up a new second factor.

If you did not ask for this, change your password at once and ask the operator why it was done.`,
  })
}
