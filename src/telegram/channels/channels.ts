/**
 * Channels and groups that campaigns lead into. Owns `channels` and `offered_chats`. The chat id identifies a channel: one that is deleted and added again
 * is the same channel, so that nobody's join counts twice. An organization has a channel once, through one bot that is an administrator there.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { messageFault } from '../../contract/telegram-message.ts'
import { CHANGED_NOW } from '../../ground/db/clock.ts'
import { isTaken } from '../../ground/db/faults.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, type Deed, type Ground, idOf } from '../../ground/room.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import { campaignsOnFallback } from '../../traffic/campaigns/on-fallback.ts'
import { giveUpLinks } from '../../traffic/invite-links/making.ts'
import { checkBotSoon } from '../bots/check-soon.ts'
import type { checkBot } from '../bots/api.ts'
import { type Failure, isAway } from '../bots/telegram.ts'
import { numberInToken, refuseAway } from '../bots/tokens.ts'
import type * as api from './api.ts'
import { type BotCredentials, type TelegramChat, readChatState, type ChatState } from './chat-state.ts'
import {
  CHANNEL_COLUMNS,
  liveChannel,
  liveChannels,
  moveChannel,
  type StoredChannel,
  channelReplies,
  writeAndGiveUpLinks,
  writeChannel,
} from './rows.ts'

const MOST_CHANNELS = 100

/** Channels of the organization, newest first, with their pools. */
export async function listChannels(
  { db, actor }: Context<typeof api.listChannels>,
  { query }: Call<typeof api.listChannels>,
) {
  const rows = liveChannels(db, actor.org_id).select(CHANNEL_COLUMNS).$castTo<StoredChannel>()
  const { data, next_cursor } = await newestFirst(rows, query)
  return { data: await channelReplies(db, actor.org_id, data), next_cursor }
}

/** One channel. Refuses `object_not_found`. */
export async function readChannel(
  { db, actor }: Context<typeof api.readChannel>,
  { params }: Call<typeof api.readChannel>,
) {
  return await channelReply(db, await liveChannel(db, actor.org_id, idOf(params.id)))
}

const ABSENT =
  'Make @bot an administrator there with the right to invite users; the channel is then offered automatically. Or check that chat_id is its id or its @name.'

/**
 * Adds a channel in which the bot may create links. A deleted channel is live again with its id; a channel whose bot was deleted continues with this bot.
 * Refuses `object_not_found` for an unknown bot, `invalid_request` for a person's chat, `bot_not_admin`, `bot_token_revoked`, `already_exists`,
 * `channel_limit`, `telegram_away`.
 */
export async function createChannel(
  context: Context<typeof api.createChannel>,
  { body }: Call<typeof api.createChannel>,
) {
  const { db, actor } = context
  const { org_id } = actor
  const bot =
    (await botCredentials(context, org_id, body.bot_id)) ?? refuse('object_not_found', { error: 'bot_id: no such bot' })
  const seen = await readChatState(context, bot, String(body.chat_id))
  if ('ok' in seen) {
    if (seen.kind === 'token') await checkBotSoon(db, { org_id, id: body.bot_id })
    refuseFailure(seen)
  }
  const { chat, state, reason } = seen
  if (seen.isPerson === true) refuse('invalid_request', { error: `chat_id: ${reason}` })
  if (chat === undefined || state !== 'ready')
    refuse('bot_not_admin', {
      ...(reason === null ? {} : { error: reason }),
      ...(chat === undefined ? { hint: ABSENT.replace('@bot', `@${bot.username}`) } : {}),
    })
  const row = await storeChannel(context, org_id, { bot_id: body.bot_id, chat, seen })
  await announceChange(db, org_id, row.id)
  return await channelReply(db, row)
}

type CheckedChat = { readonly bot_id: string; readonly chat: TelegramChat; readonly seen: ChatState }

async function storeChannel(
  { db, recorded }: Pick<Context<typeof api.createChannel>, 'db' | 'recorded'>,
  org_id: number,
  { bot_id, chat, seen }: CheckedChat,
): Promise<StoredChannel> {
  const now = new Date().toISOString()
  const columns = { ...chat, bot_id, ...checkColumns(seen, now), look_at: null, state_at: null, deleted_at: null }
  const orphan = await orphanOf(db, org_id, chat.chat_id)
  const objects = (row: { id: string } | undefined = orphan) =>
    row === undefined ? [] : [{ kind: 'channel' as const, id: row.id }]
  try {
    return await recorded<StoredChannel>(objects, async trx => {
      const orphan = await orphanOf(trx, org_id, chat.chat_id)
      if (orphan !== undefined) await giveUpLinks(trx, { org_id, channel_id: orphan.id })
      else await requireRoom(trx, org_id)
      const before = orphan ?? (await deletedOf(trx, org_id, chat.chat_id))
      await trx.deleteFrom('offered_chats').where('org_id', '=', org_id).where('chat_id', '=', chat.chat_id).execute()
      if (before === undefined)
        return await trx
          .insertInto('channels')
          .values({ org_id, id: newId(), ...columns, created_at: now, updated_at: now })
          .returning(CHANNEL_COLUMNS)
          .$castTo<StoredChannel>()
          .executeTakeFirstOrThrow()
      return await trx
        .updateTable('channels')
        .set({ ...columns, ...noticeColumns('ready'), ...(orphan && { waiting_until: null }), updated_at: CHANGED_NOW })
        .where('org_id', '=', org_id)
        .where('id', '=', before.id)
        .returning(CHANNEL_COLUMNS)
        .$castTo<StoredChannel>()
        .executeTakeFirstOrThrow()
    })
  } catch (error) {
    if (isTaken(error)) refuse('already_exists', { error: 'chat_id: the organization has this channel already' })
    throw error
  }
}

const deletedOf = (trx: Transaction<Tables>, org_id: number, chat_id: string) =>
  trx
    .selectFrom('channels')
    .select('id')
    .where('org_id', '=', org_id)
    .where('chat_id', '=', chat_id)
    .where('deleted_at', 'is not', null)
    .orderBy('deleted_at', 'desc')
    .executeTakeFirst()

/** The channel of the chat if its bot was deleted. */
const orphanOf = (trx: Kysely<Tables>, org_id: number, chat_id: string) =>
  trx
    .selectFrom('channels as c')
    .innerJoin('bots as b', join => join.onRef('b.org_id', '=', 'c.org_id').onRef('b.id', '=', 'c.bot_id'))
    .select('c.id')
    .where('c.org_id', '=', org_id)
    .where('c.chat_id', '=', chat_id)
    .where('c.deleted_at', 'is', null)
    .where('b.deleted_at', 'is not', null)
    .executeTakeFirst()

const checkColumns = ({ state, reason, member_count }: ChatState, checked_at: string) => ({
  state,
  state_reason: reason,
  member_count,
  checked_at,
})

/** Locks the balance, which every organization has: parallel requests then count one after another. */
async function requireRoom(trx: Transaction<Tables>, org_id: number): Promise<void> {
  await sql`select from balances where org_id = ${org_id} for update`.execute(trx)
  const { count } = await liveChannels(trx, org_id)
    .select(eb => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (Number(count) >= MOST_CHANNELS) refuse('channel_limit')
}

/** Changes the fields in the body. Refuses `object_not_found`, and `invalid_request` for a message that cannot be sent. */
export async function updateChannel(
  context: Context<typeof api.updateChannel>,
  { params, body }: Call<typeof api.updateChannel>,
) {
  const { db, actor } = context
  const now = await liveChannel(db, actor.org_id, idOf(params.id))
  const fault = body.request_message == null ? undefined : messageFault(body.request_message)
  if (fault !== undefined) refuse('invalid_request', { error: `request_message: ${fault}` })
  const { request_message, ...rest } = body
  const changes = {
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    ...(request_message === undefined
      ? {}
      : { request_message: request_message === null ? null : JSON.stringify(request_message) }),
  }
  if (Object.keys(changes).length === 0) return await channelReply(db, now)
  const isAnotherMode = body.join_mode !== undefined && body.join_mode !== now.join_mode
  const write = isAnotherMode ? writeAndGiveUpLinks : writeChannel
  const row = await write(db, now, { ...changes, look_at: null })
  return row === undefined ? refuse('object_not_found') : await channelReply(db, row)
}

/** Checks the channel at Telegram now. Refuses `object_not_found`, `bot_token_revoked`, `telegram_away`. */
export async function checkChannel(
  context: Context<typeof api.checkChannel>,
  { params }: Call<typeof api.checkChannel>,
) {
  const { db, actor } = context
  const row = await liveChannel(db, actor.org_id, idOf(params.id))
  const seen = await refreshChannel(context, row)
  if ('ok' in seen) refuseFailure(seen)
  return await channelReply(db, await liveChannel(db, actor.org_id, row.id))
}

const AT_ONCE = 5

/** Extends the check of a bot to its channels. A failed check leaves the remaining channels unchanged. */
export const withChannelsChecked =
  (check: Deed<typeof checkBot>): Deed<typeof checkBot> =>
  async (context, call) => {
    const bot = await check(context, call)
    if (bot.token_state !== 'ok') return bot
    const rows = await liveChannels(context.db, context.actor.org_id)
      .select(CHANNEL_COLUMNS)
      .where('bot_id', '=', bot.id)
      .$castTo<StoredChannel>()
      .execute()
    for (let from = 0; from < rows.length; from += AT_ONCE) {
      const states = await Promise.all(rows.slice(from, from + AT_ONCE).map(row => refreshChannel(context, row)))
      if (states.some(seen => 'ok' in seen)) break
    }
    return bot
  }

/** Reads the state of a channel at Telegram and stores it. Returns the state, or the failure of the call. */
export async function refreshChannel(
  ground: Pick<Ground, 'db' | 'config' | 'secrets'>,
  row: StoredChannel,
): Promise<ChatState | Failure> {
  const bot = await botCredentials(ground, row.org_id, row.bot_id)
  const seen: ChatState | Failure =
    bot === undefined
      ? {
          state: 'not_admin',
          reason: 'Its bot was deleted. Add the channel again with another bot.',
          chat: undefined,
          member_count: null,
        }
      : await readChatState(ground, bot, row.chat_id)
  if ('ok' in seen) {
    if (seen.kind === 'token') await checkBotSoon(ground.db, { org_id: row.org_id, id: row.bot_id })
    return seen
  }
  const { chat } = seen
  if (chat !== undefined && chat.chat_id !== row.chat_id) await moveChannel(ground.db, row, chat.chat_id)
  await writeChannel(ground.db, row, {
    ...checkColumns(seen, new Date().toISOString()),
    ...(chat === undefined ? {} : { title: chat.title, username: chat.username, kind: chat.kind }),
    ...(seen.state === row.state ? {} : { look_at: null, ...noticeColumns(seen.state) }),
  })
  return seen
}

/** The columns that make owners get a mail about a new state; none for `ready`. */
export const noticeColumns = (state: api.ChannelState) =>
  state === 'ready'
    ? { notice: null, mailed_at: null }
    : { notice: 'rights' as const, mailed_at: null, claimed_until: null }

/** Deletes a channel softly. Clicks get none of its links any more; joins by links that clicks have got are still attributed. */
export async function deleteChannel(
  context: Context<typeof api.deleteChannel>,
  { params }: Call<typeof api.deleteChannel>,
) {
  const { db, actor } = context
  const row = await liveChannel(db, actor.org_id, idOf(params.id))
  await writeAndGiveUpLinks(db, row, { deleted_at: new Date().toISOString(), notice: null })
  return { ok: true as const, id: row.id, campaigns_on_fallback: await campaignsOnFallback(context, 'channel', row.id) }
}

const channelReply = async (db: Kysely<Tables>, row: StoredChannel): Promise<api.Channel> =>
  (await channelReplies(db, row.org_id, [row]))[0] ?? refuse('object_not_found')

/** The credentials of a bot; undefined if it does not exist or was deleted. */
export async function botCredentials(
  { db, secrets }: Pick<Ground, 'db' | 'secrets'>,
  org_id: number,
  id: string,
): Promise<BotCredentials | undefined> {
  const bot = await db
    .selectFrom('bots')
    .select(['token', 'telegram_id', 'username'])
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (bot === undefined) return undefined
  const token = secrets.open(bot.token)
  return { token, telegram_id: bot.telegram_id ?? numberInToken(token), username: bot.username }
}

function refuseFailure(failure: Failure): never {
  return isAway(failure) ? refuseAway(failure) : refuse('bot_token_revoked')
}
