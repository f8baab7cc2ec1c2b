/** People a bot knew before Sluice did: their numbers, on the word of the bot's owner. */
import { sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { type Context, idOf } from '../../ground/room.ts'
import type * as api from './api.ts'

/** Of one bot. */
const MOST = 5_000_000
/** Of one statement, which has five seconds on whatever machine. */
const PORTION = 10_000
/** Of an import nothing is known yet: whatever Telegram tells is newer. */
const NOTHING_HEARD = '1970-01-01T00:00:00Z'

/** Adds who is not known yet. Refuses `object_not_found` and, where the bot would have more than five million, `subscriber_limit`: then nobody is added. */
export async function importSubscribers(
  { db, actor }: Context<typeof api.importSubscribers>,
  { params, body }: Call<typeof api.importSubscribers>,
) {
  const { org_id } = actor
  const bot_id = idOf(params.id)
  const people = [...new Set(body.user_ids)].sort((a, b) => (a < b ? -1 : 1))
  return await db.transaction().execute(async trx => {
    // Held, so that two imports do not count the same room.
    const bot = await sql`
      select 1 from bots where org_id = ${org_id} and id = ${bot_id} and deleted_at is null for update`.execute(trx)
    if (bot.rows.length === 0) refuse('object_not_found')
    const now = new Date().toISOString()
    let added = 0
    for (let from = 0; from < people.length; from += PORTION) {
      const some = people.slice(from, from + PORTION)
      // Returned, because a cluster counts those that were there as well.
      const { rows: made } = await sql`
        insert into subscribers (org_id, bot_id, telegram_user_id, id, state, state_at, source, created_at)
        select ${org_id}, ${bot_id}, person.number, person.id, 'reachable', ${NOTHING_HEARD}, 'import', ${now}
        from unnest(${some}::text[], ${some.map(() => newId())}::uuid[]) as person (number, id)
        on conflict (org_id, bot_id, telegram_user_id) do nothing
        returning id`.execute(trx)
      added += made.length
    }
    if (added > 0 && (await countOf(trx, org_id, bot_id)) > MOST) refuse('subscriber_limit')
    return { added, known: people.length - added }
  })
}

async function countOf(trx: Parameters<ReturnType<typeof sql>['execute']>[0], org_id: number, bot_id: string) {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from subscribers where org_id = ${org_id} and bot_id = ${bot_id}`.execute(trx)
  return rows[0]?.count ?? 0
}
