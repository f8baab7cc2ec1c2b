/** What is noted on a bot about money: questions before payments that nobody answers, and looks at its list of Stars. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import { momentIn } from './claims.ts'
import { isFirstTold } from './marks.ts'
import type { BotId } from './rows.ts'

/** Somebody wanted to pay, and nobody here answers that. Once an update, however often Telegram tells it. */
export async function countUnanswered(db: Kysely<Tables>, { org_id, id }: BotId, update_id: unknown): Promise<void> {
  await db.transaction().execute(async trx => {
    if (typeof update_id === 'number' && !(await isFirstTold(trx, { org_id, id }, update_id))) return
    await sql`
      update bots set unanswered_payments = unanswered_payments + 1 where org_id = ${org_id} and id = ${id}`.execute(
      trx,
    )
  })
}

/** The list is read within seconds. */
export async function lookAtStarsSoon(db: Kysely<Tables>, { org_id, id }: BotId): Promise<void> {
  await sql`update bots set stars_look_at = null where org_id = ${org_id} and id = ${id}`.execute(db)
}

/** Takes the look that is due, for so long; undefined where another process has. Else how long the list was last time. */
export async function claimStarsLook(
  db: Kysely<Tables>,
  { org_id, id }: BotId,
  lease_ms: number,
): Promise<number | undefined> {
  const until = await momentIn(db, lease_ms)
  const { rows } = await sql<{ stars_seen: number }>`
    update bots set stars_look_at = ${until}
    where org_id = ${org_id} and id = ${id} and (stars_look_at is null or stars_look_at <= now())
    returning stars_seen`.execute(db)
  return rows[0]?.stars_seen
}

/** Notes how far the list was read, whether that is its end, and when it is read next. */
export async function noteStarsLooked(
  db: Kysely<Tables>,
  { org_id, id }: BotId,
  { seen, isWhole, next_ms }: { seen: number; isWhole: boolean; next_ms: number },
): Promise<void> {
  await db
    .updateTable('bots')
    .set({
      stars_look_at: await momentIn(db, next_ms),
      stars_seen: seen,
      ...(isWhole ? { stars_looked_at: await momentIn(db, 0) } : {}),
    })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .execute()
}
