/** The payment columns of a bot: unanswered checkouts, and reads of its Star transactions. */
import { type Kysely, sql } from 'kysely'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { isFirstDelivery } from './marks.ts'
import type { BotId } from './rows.ts'

/** Counts a checkout that nothing answered, once per update however often Telegram sends it. */
export async function countUnanswered(db: Kysely<Tables>, { org_id, id }: BotId, update_id: unknown): Promise<void> {
  await db.transaction().execute(async trx => {
    if (typeof update_id === 'number' && !(await isFirstDelivery(trx, { org_id, id }, update_id))) return
    await sql`
      update bots set unanswered_payments = unanswered_payments + 1 where org_id = ${org_id} and id = ${id}`.execute(
      trx,
    )
  })
}

/** Schedules a read of the bot's Star transactions within seconds. */
export async function readStarsSoon(db: Kysely<Tables>, { org_id, id }: BotId): Promise<void> {
  await sql`update bots set stars_look_at = null where org_id = ${org_id} and id = ${id}`.execute(db)
}

/** Claims a due read for `lease_ms`. Returns how many entries were read last time; undefined if another process has the read. */
export async function claimStarsRead(
  db: Kysely<Tables>,
  { org_id, id }: BotId,
  lease_ms: number,
): Promise<number | undefined> {
  const until = await databaseTimeIn(db, lease_ms)
  const { rows } = await sql<{ stars_seen: number }>`
    update bots set stars_look_at = ${until}
    where org_id = ${org_id} and id = ${id} and (stars_look_at is null or stars_look_at <= now())
    returning stars_seen`.execute(db)
  return rows[0]?.stars_seen
}

/** Records how far the list was read, whether to its end, and when it is read next. */
export async function recordStarsRead(
  db: Kysely<Tables>,
  { org_id, id }: BotId,
  { seen, isWhole, next_ms }: { seen: number; isWhole: boolean; next_ms: number },
): Promise<void> {
  await db
    .updateTable('bots')
    .set({
      stars_look_at: await databaseTimeIn(db, next_ms),
      stars_seen: seen,
      ...(isWhole ? { stars_looked_at: await databaseTimeIn(db, 0) } : {}),
    })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .execute()
}
