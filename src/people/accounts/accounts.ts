/**
 * People: who they are and where they are signed in. Owns `users`, `sessions`, `accounts` and `verifications`, most of which the sign-in
 * library writes.
 */
import type { Kysely, Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, type Ground, idOf } from '../../ground/room.ts'
import type * as api from './api.ts'
import { endSessionOf, sessionsOf } from './sessions.ts'

/** Someone who is to have an account; `hash` is the library's of their password, `email_verified` says that a mail has proved the address. */
type Newcomer = { name: string; email: string; hash: string; email_verified?: boolean }

/** The browsers the caller is signed in with, the last seen first, in one page. */
export async function listSessions({ db, actor }: Context<typeof api.listSessions>) {
  const rows = await sessionsOf(db, actor)
  return { data: rows.map(row => ({ ...row, current: row.id === actor.session_id })), next_cursor: null }
}

/** Signs one of the caller's browsers out at once. Refuses `object_not_found`, for somebody else's too. */
export async function revokeSession(
  { db, actor }: Context<typeof api.revokeSession>,
  { params }: Call<typeof api.revokeSession>,
) {
  await endSessionOf(db, actor, idOf(params.id))
  return { ok: true as const }
}

/** Makes the account of someone who signs in with a password, in the transaction of what it belongs to. Throws for a taken address. */
export async function addAccount(trx: Transaction<Tables>, newcomer: Newcomer): Promise<string> {
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

/** Notes that a mail has proved the person's address. */
export async function setEmailVerified(db: Kysely<Tables>, user_id: string): Promise<void> {
  await db
    .updateTable('users')
    .set({ email_verified: true, updated_at: new Date().toISOString() })
    .where('id', '=', user_id)
    .execute()
}

/**
 * Ends what was begun for the person and not finished, once their password or address has changed: links for a new password, and steps after
 * the old password. Never throws, because the change is made already: a failure is a warning in the log, and the links end within an hour.
 */
export async function endVerificationsOf({ db, log }: Pick<Ground, 'db' | 'log'>, user_id: string): Promise<void> {
  try {
    await db.deleteFrom('verifications').where('value', '=', user_id).execute()
  } catch (error) {
    log.warn({ err: error, user_id }, 'the links for a new password of an account could not be ended')
  }
}

/** Says whether a password alone lets the person in. What is asked for besides is the room of the second factor's. */
export async function setSecondFactor(trx: Transaction<Tables>, user_id: string, isOn: boolean): Promise<void> {
  await trx.updateTable('users').set({ two_factor_enabled: isOn }).where('id', '=', user_id).execute()
}
