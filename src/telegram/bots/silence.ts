/** A 429 from Telegram applies to the whole bot: every process that sends for it waits until then. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { BotId } from './rows.ts'

/** Nothing is sent for the bot before `until` (ISO 8601, from `databaseTimeIn`). A later time that is already set stays. */
export async function silenceBot(db: Kysely<Tables>, { org_id, id }: BotId, until: string): Promise<void> {
  await sql`
    update bots set send_after = ${until}
    where org_id = ${org_id} and id = ${id} and (send_after is null or send_after < ${until})`.execute(db)
}
