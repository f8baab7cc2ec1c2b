/**
 * People and their sessions. Owns `users`, `sessions`, `accounts` and `verifications`. The sign-in library writes most of their rows.
 */
import type { Kysely, Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, type Ground, idOf } from '../../ground/room.ts'
import type * as api from './api.ts'
import { endSessionOf, sessionsOf } from './sessions.ts'

/** A person to create an account for. `hash` is the library's hash of their password; `email_verified` means that they opened a mailed link. */
type NewAccount = { name: string; email: string; hash: string; email_verified?: boolean }

/** The browsers the caller is signed in with, the most recently seen first, in one page. */
export async function listSessions({ db, actor }: Context<typeof api.listSessions>) {
  const rows = await sessionsOf(db, actor)
  return { data: rows.map(row => ({ ...row, current: row.id === actor.session_id })), next_cursor: null }
}

/** Signs out one of the caller's browsers at once. Refuses `object_not_found`, also for somebody else's. */
export async function revokeSession(
  { db, actor }: Context<typeof api.revokeSession>,
  { params }: Call<typeof api.revokeSession>,
) {
  await endSessionOf(db, actor, idOf(params.id))
  return { ok: true as const }
}

/** Creates an account with a password, in the caller's transaction. Throws a unique violation when the address is taken. */
export async function addAccount(trx: Transaction<Tables>, newcomer: NewAccount): Promise<string> {
  const { name, email, hash, email_verified = false } = newcomer
  const user_id = newId()
  const now = new Date().toISOString()
  const at = { created_at: now, updated_at: now }
  await trx
    .insertInto('users')
    .values({ id: user_id, name, email: email.toLowerCase(), email_verified, ...at })
    .execute()
  await trx
    .insertInto('accounts')
    .values({ id: newId(), user_id, account_id: user_id, provider_id: 'credential', password: hash, ...at })
    .execute()
  return user_id
}

/** Records that the person has opened a link mailed to their address. */
export async function setEmailVerified(db: Kysely<Tables>, user_id: string): Promise<void> {
  await db
    .updateTable('users')
    .set({ email_verified: true, updated_at: new Date().toISOString() })
    .where('id', '=', user_id)
    .execute()
}

/**
 * Invalidates the person's reset links and unfinished second steps after their password or address has changed. Never throws, because
 * the change is already stored: a failure is logged as a warning, and the links expire within an hour.
 */
export async function endVerificationsOf({ db, log }: Pick<Ground, 'db' | 'log'>, user_id: string): Promise<void> {
  try {
    await db.deleteFrom('verifications').where('value', '=', user_id).execute()
  } catch (error) {
    log.warn({ err: error, user_id }, 'could not invalidate the password reset links of an account')
  }
}

/** Sets whether signing in asks the person for a second factor. The second-factor room owns the factors themselves. */
export async function setSecondFactor(trx: Transaction<Tables>, user_id: string, isOn: boolean): Promise<void> {
  await trx.updateTable('users').set({ two_factor_enabled: isOn }).where('id', '=', user_id).execute()
}
