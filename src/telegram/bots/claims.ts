/** Claims the check of a bot, so that only one of several processes asks Telegram about it. */
import { type Kysely, sql } from 'kysely'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import type { BotId } from './rows.ts'

export type CheckGround = Pick<Ground, 'db' | 'database' | 'config' | 'secrets' | 'log'>

/** Claims a due check for `lease_ms`; false if another process has claimed it. If this process dies, the check is due again after the lease. */
export async function claimCheck(db: Kysely<Tables>, { org_id, id }: BotId, lease_ms: number): Promise<boolean> {
  const until = await databaseTimeIn(db, lease_ms)
  const claimed = await sql`
    update bots set hook_check_at = ${until}
    where org_id = ${org_id} and id = ${id} and (hook_check_at is null or hook_check_at <= now())`.execute(db)
  return claimed.numAffectedRows === 1n
}
