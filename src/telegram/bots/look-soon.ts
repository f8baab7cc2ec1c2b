/** Has a bot looked at now, by whoever has found out that something is wrong with it. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { BotId } from './rows.ts'

/** No look is due at such a time by itself. */
export const AT_ONCE = '1970-01-01T00:00:00Z'

/** The watch asks Telegram within seconds, also where the bot is to be silent, and tells the owners what it finds. */
export async function lookSoon(db: Kysely<Tables>, { org_id, id }: BotId): Promise<void> {
  await sql`update bots set hook_check_at = ${AT_ONCE} where org_id = ${org_id} and id = ${id} and token_state = 'ok'`.execute(
    db,
  )
}
