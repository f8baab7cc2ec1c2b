/**
 * Broadcasts: one message of a bot to many of its subscribers. Owns `broadcasts`. A broadcast is created as a draft and can be changed until it starts.
 * states.ts has its state changes, run.ts the sending, audience.ts its audience, and sends.ts the outcome of each recipient.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { broadcastFault, channelsIn, type Message } from '../../contract/telegram-message.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { liveBots } from '../bots/rows.ts'
import * as api from './api.ts'
import { type AudienceExample, audienceSize, audienceExamples } from '../subscribers/audience.ts'
import { paceOf, type StoredBroadcast, storedBroadcast, storedBroadcasts, broadcastReply } from './rows.ts'
import { announceBroadcasts } from './worker.ts'

/** Broadcasts of the organization, newest first. */
export async function listBroadcasts(
  { db, actor }: Context<typeof api.listBroadcasts>,
  { query }: Call<typeof api.listBroadcasts>,
) {
  const { bot_id, state } = query
  let rows = storedBroadcasts(db, actor.org_id)
  if (bot_id !== undefined) rows = rows.where('b.bot_id', '=', bot_id)
  if (state !== undefined) rows = rows.where('b.state', '=', state)
  const { data, next_cursor } = await newestFirst(rows, query, 'b.id')
  return { data: data.map(broadcastReply), next_cursor }
}

/** One broadcast. Refuses `object_not_found`. */
export async function readBroadcast(
  { db, actor }: Context<typeof api.readBroadcast>,
  { params }: Call<typeof api.readBroadcast>,
) {
  return broadcastReply(await storedBroadcast(db, actor.org_id, idOf(params.id)))
}

type Speed = { readonly paid?: boolean | undefined; readonly per_second?: number | null | undefined }

/** Refuses `invalid_request` for a free broadcast that is faster than Telegram's free limit. */
function requireSpeed({ paid, per_second }: Speed): void {
  if (paid === true || (per_second ?? 0) <= api.MOST_FREE) return
  refuse('invalid_request', {
    error: `per_second: a free broadcast sends at most ${api.MOST_FREE} per second`,
    hint: 'Choose a lower speed, or set paid to true.',
  })
}

async function speedOfBot({ db, actor }: Context<typeof api.createBroadcast>, bot_id: string): Promise<number> {
  const bot = await liveBots(db, actor.org_id).select('send_per_second').where('id', '=', bot_id).executeTakeFirst()
  return Number(bot?.send_per_second ?? refuse('object_not_found'))
}

/** Creates a draft. Refuses `object_not_found` for an unknown bot. */
export async function createBroadcast(
  context: Context<typeof api.createBroadcast>,
  { body }: Call<typeof api.createBroadcast>,
) {
  const { db, actor } = context
  await speedOfBot(context, body.bot_id)
  requireSpeed(body)
  const now = new Date().toISOString()
  const id = newId()
  const { bot_id, name, message, audience = {}, starts_at = null, window = null, per_second = null } = body
  await db
    .insertInto('broadcasts')
    .values({
      org_id: actor.org_id,
      id,
      bot_id,
      name,
      state: 'draft',
      message: JSON.stringify(message),
      audience: JSON.stringify(audience),
      starts_at,
      send_window: window === null ? null : JSON.stringify(window),
      per_second,
      paid: body.paid ?? false,
      on_unknown: body.on_unknown ?? 'skip',
      created_at: now,
      updated_at: now,
    })
    .execute()
  return broadcastReply(await storedBroadcast(db, actor.org_id, id))
}

/** Refuses `broadcast_state`, naming the current state. */
export const refuseState = ({ state }: Pick<StoredBroadcast, 'state'>): never =>
  refuse('broadcast_state', { error: `the broadcast is ${state}` })

const SCHEDULED_HINT = 'Stop it first, or change it to a draft: PATCH with starts_at null.'

/** Refuses `broadcast_state` for the deletion of anything but a draft. */
const refuseDeletion = ({ state }: Pick<StoredBroadcast, 'state'>): never =>
  refuse('broadcast_state', {
    error: `the broadcast is ${state}`,
    ...(state === 'scheduled' ? { hint: SCHEDULED_HINT } : { hint: 'Only a draft can be deleted.' }),
  })

type Changes = Call<typeof api.updateBroadcast>['body']

/** Whether a change affects what was confirmed at the start: audience, payment, or a higher speed. */
function isUnconfirmed(
  row: StoredBroadcast,
  { audience = row.audience, paid = row.paid, per_second = row.per_second }: Changes,
) {
  const pace = paceOf({ ...row, paid, per_second })
  return paid !== row.paid || pace > paceOf(row) || !isDeepStrictEqual(audience, row.audience)
}

/**
 * Changes a broadcast that has not started. A scheduled broadcast becomes a draft again if its start has to be confirmed again. Refuses
 * `object_not_found`, `broadcast_state`, and `broadcast_message_invalid` if it is scheduled, because it will start automatically.
 */
export async function updateBroadcast(
  { db, database, actor }: Context<typeof api.updateBroadcast>,
  { params, body }: Call<typeof api.updateBroadcast>,
) {
  const id = idOf(params.id)
  const row = await storedBroadcast(db, actor.org_id, id)
  if (row.state !== 'draft' && row.state !== 'scheduled') refuseState(row)
  requireSpeed({ ...row, ...body })
  if (row.state === 'scheduled' && body.message !== undefined) await requireMessage(db, actor.org_id, body.message)
  const { message, audience, window, ...plain } = body
  const isDrafted = body.starts_at === null || isUnconfirmed(row, body)
  const { numUpdatedRows } = await db
    .updateTable('broadcasts')
    .set({
      ...plain,
      ...(message === undefined ? {} : { message: JSON.stringify(message) }),
      ...(audience === undefined ? {} : { audience: JSON.stringify(audience) }),
      ...(window === undefined ? {} : { send_window: window === null ? null : JSON.stringify(window) }),
      ...(isDrafted ? { state: 'draft' } : {}),
      updated_at: new Date().toISOString(),
    })
    .where('org_id', '=', actor.org_id)
    .where('id', '=', id)
    .where('state', '=', row.state)
    .executeTakeFirst()
  const changed = await storedBroadcast(db, actor.org_id, id)
  if (numUpdatedRows === 0n) refuseState(changed)
  if (row.state === 'scheduled')
    await announceBroadcasts({ db, database }, { org_id: actor.org_id, bot_id: row.bot_id })
  return broadcastReply(changed)
}

/** Deletes a draft. Refuses `object_not_found`, `broadcast_state`. */
export async function deleteBroadcast(
  { db, actor }: Context<typeof api.deleteBroadcast>,
  { params }: Call<typeof api.deleteBroadcast>,
) {
  const id = idOf(params.id)
  const { numDeletedRows } = await db
    .deleteFrom('broadcasts')
    .where('org_id', '=', actor.org_id)
    .where('id', '=', id)
    .where('state', '=', 'draft')
    .executeTakeFirst()
  if (numDeletedRows === 0n) refuseDeletion(await storedBroadcast(db, actor.org_id, id))
  return { ok: true as const }
}

/** Refuses `broadcast_message_invalid` for a message that cannot be sent or has a button to an unknown channel. */
export async function requireMessage(
  db: Context<typeof api.readBroadcast>['db'],
  org_id: number,
  message: Message,
): Promise<void> {
  const fault = broadcastFault(message)
  if (fault !== undefined) refuse('broadcast_message_invalid', { error: `the message cannot be sent: ${fault}` })
  const channels = channelsIn(message)
  if (channels.length === 0) return
  const knownChannels = await db
    .selectFrom('channels')
    .select('id')
    .where('org_id', '=', org_id)
    .where('id', 'in', channels)
    .where('deleted_at', 'is', null)
    .execute()
  if (knownChannels.length < channels.length)
    refuse('broadcast_message_invalid', {
      error: 'the message cannot be sent: a button leads to a channel that does not exist',
    })
}

/** Telegram's price of a message beyond its free limits. */
const MESSAGES_A_STAR = 10

/** Counts an audience. Refuses `object_not_found` for an unknown bot. */
export async function countAudience(
  { db, database, actor }: Context<typeof api.countAudience>,
  { body }: Call<typeof api.countAudience>,
): Promise<{ count: number; seconds: number; stars: number | null; examples: AudienceExample[] }> {
  const { bot_id, audience = {}, per_second = null, paid = false } = body
  const bot = await liveBots(db, actor.org_id).select('send_per_second').where('id', '=', bot_id).executeTakeFirst()
  if (bot === undefined) refuse('object_not_found')
  requireSpeed(body)
  const pools = { db, worker: database.worker }
  const whose = { org_id: actor.org_id, bot_id }
  const [count, examples] = await Promise.all([
    audienceSize(pools, whose, audience),
    audienceExamples(pools, whose, audience),
  ])
  const pace = paceOf({ per_second, paid, send_per_second: Number(bot.send_per_second) })
  const stars = paid ? Math.ceil(count / MESSAGES_A_STAR) : null
  return { count, seconds: Math.ceil(count / pace), stars, examples }
}
