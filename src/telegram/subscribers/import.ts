/** Imports people who started a bot before it was added: their user ids, confirmed by the bot's owner. */
import { sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { type Context, idOf } from '../../ground/room.ts'
import type * as api from './api.ts'

/** Subscribers per bot. */
const MOST = 5_000_000
/** Rows per statement, so that it stays within its five seconds on a slow machine. */
const PORTION = 10_000
/** The state's time of imported people: every report of Telegram's is newer. */
const NEVER_REPORTED = '1970-01-01T00:00:00Z'

/** Adds people who are no subscribers yet. Refuses `object_not_found`, and `subscriber_limit` if the bot would have more than five million; then nothing is imported. */
export async function importSubscribers(
  { db, actor }: Context<typeof api.importSubscribers>,
  { params, body }: Call<typeof api.importSubscribers>,
) {
  const { org_id } = actor
  const bot_id = idOf(params.id)
  const people = [...new Set(body.user_ids)].sort((a, b) => (a < b ? -1 : 1))
  return await db.transaction().execute(async trx => {
    // Locks the bot, so that parallel imports count one after another.
    const bot = await sql`
      select 1 from bots where org_id = ${org_id} and id = ${bot_id} and deleted_at is null for update`.execute(trx)
    if (bot.rows.length === 0) refuse('object_not_found')
    const now = new Date().toISOString()
    let added = 0
    for (let from = 0; from < people.length; from += PORTION) {
      const some = people.slice(from, from + PORTION)
      // Counts returned rows, because the affected rows of a cluster include existing ones.
      const { rows: made } = await sql`
        insert into subscribers (org_id, bot_id, telegram_user_id, id, state, state_at, source, created_at)
        select ${org_id}, ${bot_id}, person.number, person.id, 'reachable', ${NEVER_REPORTED}, 'import', ${now}
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
