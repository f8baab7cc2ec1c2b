/**
 * Gives a new channel the members whose joins were recorded before it was added. Their later departures are unknown, so the report counts them as joins and
 * not as stayers. Writes `channel_members`, which `members.ts` owns.
 */
import { type Kysely, sql } from 'kysely'
import { newId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Deed, Ground } from '../../ground/room.ts'
import type { createChannel } from '../channels/api.ts'
import { neverForgotten } from '../subscribers/forgotten.ts'

type EarlierJoin = {
  readonly id: string
  readonly telegram_user_id: string
  readonly click_id: string
  readonly campaign_id: string | null
  readonly created_at: string
  readonly certainty: string
}

const PORTION = 1000

type NewChannel = { readonly org_id: number; readonly channel_id: string; readonly chat_id: string }

/**
 * Inserts these members in portions. Existing members stay unchanged, forgotten people stay forgotten. Earlier versions recorded several joins of one
 * person; the first one counts.
 */
async function insertEarlierMembers(ground: Pick<Ground, 'db' | 'secrets'>, channel: NewChannel): Promise<void> {
  for (let last = '', full = true; full; ) {
    const portion = await readJoinsAfter(ground.db, channel, last)
    const known = await neverForgotten(
      ground,
      channel.org_id,
      portion.map(({ telegram_user_id }) => telegram_user_id),
    )
    await insertMembers(
      ground.db,
      channel,
      portion.filter(({ telegram_user_id }) => known.has(telegram_user_id)),
    )
    last = portion.at(-1)?.telegram_user_id ?? ''
    full = portion.length === PORTION
  }
}

async function readJoinsAfter(
  db: Kysely<Tables>,
  { org_id, chat_id }: NewChannel,
  last: string,
): Promise<EarlierJoin[]> {
  const { rows } = await sql<EarlierJoin>`
    select distinct on (e.telegram_user_id) e.id, e.telegram_user_id, e.click_id, e.campaign_id, e.created_at,
      coalesce(e.payload->>'attribution', case when exists (
        select from events s
        where s.org_id = ${org_id} and s.click_id = e.click_id and s.type = 'bot_start' and s.telegram_user_id = e.telegram_user_id
      ) then 'person' else 'link' end) as certainty
    from events e
    where e.org_id = ${org_id} and e.source = 'service' and e.type in ('channel_join', 'join_request', 'miniapp_launch')
      and e.type = 'channel_join' and e.telegram_user_id > ${last} and e.payload->>'chat_id' = ${chat_id}
    order by e.telegram_user_id, e.created_at, e.id
    limit ${PORTION}`.execute(db)
  return rows
}

async function insertMembers(
  db: Kysely<Tables>,
  { org_id, channel_id }: NewChannel,
  joins: readonly EarlierJoin[],
): Promise<void> {
  if (joins.length === 0) return
  await db
    .insertInto('channel_members')
    .values(
      joins.map(({ id: event_id, telegram_user_id, click_id, campaign_id, created_at, certainty }) => ({
        org_id,
        channel_id,
        telegram_user_id,
        id: newId(),
        state: 'in',
        state_at: created_at,
        joined_at: created_at,
        times: 1,
        click_id,
        campaign_id,
        certainty,
        event_id,
      })),
    )
    .onConflict(on => on.columns(['org_id', 'channel_id', 'telegram_user_id']).doNothing())
    .execute()
}

/** The same deed; a new channel then has its earlier members. A restored channel has its own. A failure here does not undo the adding. */
export function withEarlierMembers(create: Deed<typeof createChannel>): Deed<typeof createChannel> {
  return async (context, call) => {
    const since = Date.now()
    const created = await create(context, call)
    const { actor, log } = context
    if (Date.parse(created.created_at) < since) return created
    const channel = { org_id: actor.org_id, channel_id: created.id, chat_id: String(created.chat_id) }
    await insertEarlierMembers(context, channel).catch((error: unknown) =>
      log.warn({ err: error }, 'could not insert the earlier members of a new channel'),
    )
    return created
  }
}
