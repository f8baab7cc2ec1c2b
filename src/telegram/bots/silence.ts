/** What Telegram asks for with 429 is silence of the whole bot: whatever sends for it, in whichever process, waits until then. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { BotId } from './rows.ts'

/** Nothing is sent for the bot before `until` (ISO 8601, by the database's clock: see `momentIn`). A longer silence stays. */
export async function silenceBot(db: Kysely<Tables>, { org_id, id }: BotId, until: string): Promise<void> {
  await sql`
    update bots set send_after = ${until}
    where org_id = ${org_id} and id = ${id} and (send_after is null or send_after < ${until})`.execute(db)
}
