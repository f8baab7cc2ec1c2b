/** Schedules an immediate check of a bot, for rooms that notice that something is wrong with it. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { BotId } from './rows.ts'

/** Marks a check that was requested: regular checks never have this time. */
export const CHECK_NOW = '1970-01-01T00:00:00Z'

/** The watch then checks the bot within seconds, even during a rate limit, and mails the owners what it finds. */
export async function checkBotSoon(db: Kysely<Tables>, { org_id, id }: BotId): Promise<void> {
  await sql`update bots set hook_check_at = ${CHECK_NOW} where org_id = ${org_id} and id = ${id} and token_state = 'ok'`.execute(
    db,
  )
}
