/** Of several processes one asks Telegram about a bot: whoever moves its next look on. */
import { type Kysely, sql } from 'kysely'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import type { BotId } from './rows.ts'

export { databaseTimeIn as momentIn } from '../../ground/db/clock.ts'

export type Looking = Pick<Ground, 'db' | 'database' | 'config' | 'secrets' | 'log'>

/** Takes a look that is due, for so long; false where another process has. A look that is lost with its process comes up again then. */
export async function claimCheck(db: Kysely<Tables>, { org_id, id }: BotId, lease_ms: number): Promise<boolean> {
  const until = await databaseTimeIn(db, lease_ms)
  const claimed = await sql`
    update bots set hook_check_at = ${until}
    where org_id = ${org_id} and id = ${id} and (hook_check_at is null or hook_check_at <= now())`.execute(db)
  return claimed.numAffectedRows === 1n
}
