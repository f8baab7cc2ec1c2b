/**
 * What may be used once and would hold good a little longer: a code of the app, whose half minute and its neighbours are taken, and a challenge
 * that a passkey has answered. Owns `spent_codes`, whose key lets one of two uses at once through.
 */
import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { MINUTE_MS } from '../../contract/days.ts'
import type { Tables } from '../../ground/db/tables.ts'

/** Longer than anything of it holds good: 90 seconds a code, five minutes a challenge. The same six digits may come again after it. */
const SPENT_MS = 10 * MINUTE_MS

/** Uses a code up. False where it was used before. */
export async function spend(db: Kysely<Tables>, user_id: string, code: string, now = Date.now()): Promise<boolean> {
  const spent_at = new Date(now).toISOString()
  const { rows } = await sql`
    insert into spent_codes (user_id, code, spent_at) values (${user_id}, ${code}, ${spent_at})
    on conflict (user_id, code) do update set spent_at = excluded.spent_at
      where spent_codes.spent_at < ${new Date(now - SPENT_MS).toISOString()}
    returning 1`.execute(db)
  return rows.length === 1
}

/** Of a code that was spent and let nobody in after all. */
export async function giveBack(db: Kysely<Tables>, user_id: string, code: string): Promise<void> {
  await db.deleteFrom('spent_codes').where('user_id', '=', user_id).where('code', '=', code).execute()
}

/** Forgets what holds good no longer: housekeeping. */
export async function forgetSpent(db: Kysely<Tables>, now = Date.now()): Promise<void> {
  await db
    .deleteFrom('spent_codes')
    .where('spent_at', '<', new Date(now - SPENT_MS).toISOString())
    .execute()
}
