/** Lists of members and requests, and bulk decisions about requests. Owns no table; the room `tasks` writes the tasks. */
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { liveChannel } from '../channels/rows.ts'
import { insertTasks } from '../tasks/insert-many.ts'
import { wakeTasks } from '../tasks/tasks.ts'
import type * as api from './api.ts'
import { DECISION_MS, requestTaskKey } from './requests.ts'

/** Current and former members of a channel. Refuses `object_not_found`. */
export async function listChannelMembers(
  { db, actor }: Context<typeof api.listChannelMembers>,
  { params, query }: Call<typeof api.listChannelMembers>,
) {
  const { org_id } = actor
  const { id } = await liveChannel(db, org_id, idOf(params.id))
  const { state, certainty, campaign_id, joined_from, joined_to, date_from, date_to } = query
  const rows = db
    .selectFrom('channel_members as m')
    .leftJoin('campaigns as c', join => join.onRef('c.org_id', '=', 'm.org_id').onRef('c.id', '=', 'm.campaign_id'))
    .select(['m.id', 'm.telegram_user_id', 'm.certainty', 'm.click_id', 'm.campaign_id', 'c.name as campaign_name'])
    .select(['m.state', 'm.joined_at', 'm.left_at', 'm.times', 'm.link_id', 'm.event_id'])
    .where('m.org_id', '=', org_id)
    .where('m.channel_id', '=', id)
    .$if(state !== undefined, of => of.where('m.state', '=', state ?? ''))
    .$if(certainty !== undefined, of => of.where('m.certainty', '=', certainty ?? ''))
    .$if(campaign_id !== undefined, of => of.where('m.campaign_id', '=', campaign_id ?? ''))
    .$if(joined_from !== undefined, of => of.where('m.joined_at', '>=', joined_from ?? ''))
    .$if(joined_to !== undefined, of => of.where('m.joined_at', '<', joined_to ?? ''))
    .$if(date_from !== undefined, of => of.where('m.joined_at', '>=', date_from ?? ''))
    .$if(date_to !== undefined, of => of.where('m.joined_at', '<', date_to ?? ''))
    .$castTo<api.ChannelMember>()
  return await newestFirst(rows, query, 'm.id')
}

/** Requests to join. */
export async function listJoinRequests(
  { db, actor }: Context<typeof api.listJoinRequests>,
  { query }: Call<typeof api.listJoinRequests>,
) {
  const { channel_id, state, certainty, campaign_id } = query
  const rows = db
    .selectFrom('join_requests as r')
    .leftJoin('campaigns as c', join => join.onRef('c.org_id', '=', 'r.org_id').onRef('c.id', '=', 'r.campaign_id'))
    .select(['r.id', 'r.telegram_user_id', 'r.certainty', 'r.click_id', 'r.campaign_id', 'c.name as campaign_name'])
    .select(['r.channel_id', 'r.state', 'r.asked_at', 'r.due_at', 'r.decided_at', 'r.decided_by', 'r.reason'])
    .where('r.org_id', '=', actor.org_id)
    .$if(channel_id !== undefined, of => of.where('r.channel_id', '=', channel_id ?? ''))
    .$if(state !== undefined, of => of.where('r.state', '=', state ?? ''))
    .$if(certainty !== undefined, of => of.where('r.certainty', '=', certainty ?? ''))
    .$if(campaign_id !== undefined, of => of.where('r.campaign_id', '=', campaign_id ?? ''))
    .$castTo<api.JoinRequest>()
  return await newestFirst(rows, query, 'r.id')
}

const PORTION = 1000

/** Creates the bot's tasks that approve or decline the matching pending requests, in portions. Refuses `object_not_found`. */
export async function decideJoinRequests(
  { db, actor }: Context<typeof api.decideJoinRequests>,
  { body }: Call<typeof api.decideJoinRequests>,
) {
  const { org_id } = actor
  const channel = await liveChannel(db, org_id, body.channel_id)
  const { ids, certainty, campaign_id, asked_before, asked_from, older_than_s } = body.filter ?? {}
  const [now, decision_id] = [Date.now(), newId()]
  const asked_until = new Date(now - (older_than_s ?? 0) * 1000).toISOString()
  const due_at = new Date(now).toISOString()
  const give_up_at = new Date(now + DECISION_MS).toISOString()
  let requests = 0
  for (let last: string | undefined, full = true; full; ) {
    const portion = await db
      .selectFrom('join_requests')
      .select(['id', 'telegram_user_id', 'asked_at'])
      .where('org_id', '=', org_id)
      .where('channel_id', '=', channel.id)
      .where('state', '=', 'pending')
      .$if(last !== undefined, of => of.where('id', '>', last ?? ''))
      .$if(ids !== undefined, of => of.where('id', 'in', ids ?? []))
      .$if(certainty !== undefined, of => of.where('certainty', '=', certainty ?? ''))
      .$if(campaign_id !== undefined, of => of.where('campaign_id', '=', campaign_id ?? ''))
      .$if(asked_before !== undefined, of => of.where('asked_at', '<', asked_before ?? ''))
      .$if(older_than_s !== undefined, of => of.where('asked_at', '<=', asked_until))
      .$if(asked_from !== undefined, of => of.where('asked_at', '>=', asked_from ?? ''))
      .orderBy('id')
      .limit(PORTION)
      .execute()
    await insertTasks(
      db,
      portion.map(request => ({
        org_id,
        bot_id: channel.bot_id,
        telegram_user_id: request.telegram_user_id,
        kind: body.decision,
        // Each call is a decision of its own, because an earlier one may have failed.
        once_key: `${requestTaskKey(request)} ${decision_id}`,
        asked: { channel_id: channel.id, asked_at: new Date(request.asked_at).toISOString(), by: actor.name },
        due_at,
        give_up_at,
      })),
    )
    requests += portion.length
    last = portion.at(-1)?.id
    full = portion.length === PORTION
  }
  wakeTasks(db)
  return { requests }
}
