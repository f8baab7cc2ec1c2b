/** The browsers a person is signed in with. A session's token stays in its cookie, so everything here uses the session's id. */
import type { Kysely } from 'kysely'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Person } from '../../ground/room.ts'

/** The person's sessions that have not expired, the most recently seen first. */
export async function sessionsOf(db: Kysely<Tables>, { user_id }: Pick<Person, 'user_id'>) {
  return db
    .selectFrom('sessions')
    .select(['id', 'created_at', 'updated_at as last_seen_at', 'expires_at', 'ip_address', 'user_agent'])
    .where('user_id', '=', user_id)
    .where('expires_at', '>', new Date().toISOString())
    .orderBy('updated_at', 'desc')
    .execute()
}

/** Ends one of the person's sessions at once. Refuses `object_not_found`, also for somebody else's. */
export async function endSessionOf(
  db: Kysely<Tables>,
  { user_id }: Pick<Person, 'user_id'>,
  session_id: string,
): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('id', '=', session_id)
    .where('user_id', '=', user_id)
    .executeTakeFirst()
  if (numDeletedRows !== 1n) refuse('object_not_found')
}

/** Deletes sessions and verifications that expired before `now` (ISO). This only frees space: expired ones are refused anyway. */
export async function deleteExpiredSessions({ db }: { db: Kysely<Tables> }, now: string): Promise<void> {
  await db.deleteFrom('sessions').where('expires_at', '<', now).execute()
  await db.deleteFrom('verifications').where('expires_at', '<', now).execute()
}

/** Signs a person out everywhere. */
export async function endEverySession(db: Kysely<Tables>, user_id: string): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', user_id).execute()
}
