/**
 * Forgets a person in one transaction: everywhere or, if it fails, nowhere. Conversions and charges keep the person's user id, because people are counted
 * and billed once by it.
 */
import { sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import { type Context, idOf } from '../../ground/room.ts'
import type * as api from './api.ts'
import { noteForgotten } from './forgotten.ts'

/** Refuses `object_not_found`. */
export async function forgetSubscriber(
  { db, secrets, actor }: Context<typeof api.forgetSubscriber>,
  { params }: Call<typeof api.forgetSubscriber>,
) {
  const { org_id } = actor
  const id = idOf(params.id)
  await db.transaction().execute(async trx => {
    const found = await trx
      .selectFrom('subscribers')
      .select('telegram_user_id')
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .executeTakeFirst()
    const person = found?.telegram_user_id ?? refuse('object_not_found')
    await noteForgotten({ db: trx, secrets }, org_id, person)
    await sql`
      delete from broadcast_sends where org_id = ${org_id} and subscriber_id in (
        select id from subscribers where org_id = ${org_id} and telegram_user_id = ${person})`.execute(trx)
    await sql`delete from subscribers where org_id = ${org_id} and telegram_user_id = ${person}`.execute(trx)
    await sql`delete from bot_tasks where org_id = ${org_id} and telegram_user_id = ${person}`.execute(trx)
    await sql`delete from channel_members where org_id = ${org_id} and telegram_user_id = ${person}`.execute(trx)
    await sql`delete from join_requests where org_id = ${org_id} and telegram_user_id = ${person}`.execute(trx)
    await sql`update payments set telegram_user_id = null, payload_hash = null where org_id = ${org_id} and telegram_user_id = ${person}`.execute(
      trx,
    )
    // The click stays taken; otherwise it would count for the next join.
    await sql`
      update shared_grants set taken_by = 'forgotten' where org_id = ${org_id} and taken_by = ${person}`.execute(trx)
  })
  return { ok: true as const }
}
