/**
 * Used app codes and answered passkey challenges. Both stay valid for a while after their first use, so each use is recorded here and a
 * second one refused. Owns `spent_codes`, whose primary key decides between two uses at once.
 */
import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { MINUTE_MS } from '../../contract/days.ts'
import type { Tables } from '../../ground/db/tables.ts'

/** Longer than a code (90 seconds) or a challenge (five minutes) is valid. Afterwards the app may show the same six digits again. */
const SPENT_MS = 10 * MINUTE_MS

/** Records the use of a code. False when it was used before. */
export async function markCodeUsed(
  db: Kysely<Tables>,
  user_id: string,
  code: string,
  now = Date.now(),
): Promise<boolean> {
  const spent_at = new Date(now).toISOString()
  const { rows } = await sql`
    insert into spent_codes (user_id, code, spent_at) values (${user_id}, ${code}, ${spent_at})
    on conflict (user_id, code) do update set spent_at = excluded.spent_at
      where spent_codes.spent_at < ${new Date(now - SPENT_MS).toISOString()}
    returning 1`.execute(db)
  return rows.length === 1
}

/** Makes a code usable again after an attempt that did not sign anybody in. */
export async function unmarkCodeUsed(db: Kysely<Tables>, user_id: string, code: string): Promise<void> {
  await db.deleteFrom('spent_codes').where('user_id', '=', user_id).where('code', '=', code).execute()
}

/** Deletes codes that are no longer valid anyway. */
export async function deleteExpiredCodes(db: Kysely<Tables>, now = Date.now()): Promise<void> {
  await db
    .deleteFrom('spent_codes')
    .where('spent_at', '<', new Date(now - SPENT_MS).toISOString())
    .execute()
}
