/**
 * The members that a chat has when it becomes a channel: those whose joins were recorded while it was none. Who of them has left since nobody has seen,
 * so the report counts them as joins and not as stayers. Writes `channel_members`, which `members.ts` owns.
 */
import { type Kysely, sql } from 'kysely'
import { newId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Deed, Ground } from '../../ground/room.ts'
import type { createChannel } from '../channels/api.ts'
import { neverForgotten } from '../subscribers/forgotten.ts'

type Joined = {
  readonly id: string
  readonly telegram_user_id: string
  readonly click_id: string
  readonly campaign_id: string | null
  readonly created_at: string
  readonly certainty: string
}

const PORTION = 1000

type Filling = Pick<Ground, 'db' | 'secrets'>
type Place = { readonly org_id: number; readonly channel_id: string; readonly chat_id: string }

/**
 * Writes them once, a portion at a time; who is a member already stays as known, and who was forgotten stays so. The first join of each counts, if there
 * are several from versions before.
 */
async function fillMembers(ground: Filling, place: Place): Promise<void> {
  for (let last = '', full = true; full; ) {
    const portion = await joinedAfter(ground.db, place, last)
    const known = await neverForgotten(
      ground,
      place.org_id,
      portion.map(({ telegram_user_id }) => telegram_user_id),
    )
    await writeMembers(
      ground.db,
      place,
      portion.filter(({ telegram_user_id }) => known.has(telegram_user_id)),
    )
    last = portion.at(-1)?.telegram_user_id ?? ''
    full = portion.length === PORTION
  }
}

async function joinedAfter(db: Kysely<Tables>, { org_id, chat_id }: Place, last: string): Promise<Joined[]> {
  const { rows } = await sql<Joined>`
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

async function writeMembers(
  db: Kysely<Tables>,
  { org_id, channel_id }: Place,
  joined: readonly Joined[],
): Promise<void> {
  if (joined.length === 0) return
  await db
    .insertInto('channel_members')
    .values(
      joined.map(({ id: event_id, telegram_user_id, click_id, campaign_id, created_at, certainty }) => ({
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

/**
 * Adding a channel, which has these members at once; one that was there before has its own. It is added also where they cannot be written just then.
 */
export function withEarlierMembers(create: Deed<typeof createChannel>): Deed<typeof createChannel> {
  return async (context, call) => {
    const since = Date.now()
    const made = await create(context, call)
    const { actor, log } = context
    if (Date.parse(made.created_at) < since) return made
    const place = { org_id: actor.org_id, channel_id: made.id, chat_id: String(made.chat_id) }
    await fillMembers(context, place).catch((error: unknown) =>
      log.warn({ err: error }, 'the members that a channel had before could not be written'),
    )
    return made
  }
}
