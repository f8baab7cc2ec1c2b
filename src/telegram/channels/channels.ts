/**
 * Channels and groups that traffic is led into. Owns `channels` and `offered_chats`. A channel is its number at Telegram: deleted and added again it is
 * the same one, so that nobody joins it twice. An organization has it once, over one bot that is an administrator there.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { messageFault } from '../../contract/telegram-message.ts'
import { isTaken } from '../../ground/db/faults.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, type Deed, idOf } from '../../ground/room.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import { campaignsOnFallback } from '../../traffic/campaigns/on-fallback.ts'
import { giveUpLinks } from '../../traffic/invite-links/making.ts'
import { checkSoon } from '../bots/check-soon.ts'
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
  NOW,
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
  return await one(db, await liveChannel(db, actor.org_id, idOf(params.id)))
}

const ABSENT =
  'Make @bot an administrator there with the right to invite users: then the channel is offered by itself. Or look whether chat_id is its number, or its @name.'

type Adding = Context<typeof api.createChannel>

/**
 * Adds a channel where the bot may make links; one that was deleted is live again, with its id, and one whose bot was deleted goes on over this bot.
 * Refuses `object_not_found` for a bot that is not there, `invalid_request` for a chat that is a person's, `bot_not_admin`, `bot_token_revoked`,
 * `already_exists`, `channel_limit`, `telegram_away`.
 */
export async function createChannel(context: Adding, { body }: Call<typeof api.createChannel>) {
  const { db, actor } = context
  const { org_id } = actor
  const bot =
    (await botCredentials(context, org_id, body.bot_id)) ?? refuse('object_not_found', { error: 'bot_id: no such bot' })
  const seen = await readChatState(context, bot, String(body.chat_id))
  if ('ok' in seen) {
    if (seen.kind === 'token') await checkSoon(db, { org_id, id: body.bot_id })
    refuseFailure(seen)
  }
  const { chat, state, reason } = seen
  if (seen.isPerson === true) refuse('invalid_request', { error: `chat_id: ${reason}` })
  if (chat === undefined || state !== 'ready')
    refuse('bot_not_admin', {
      ...(reason === null ? {} : { error: reason }),
      ...(chat === undefined ? { hint: ABSENT.replace('@bot', `@${bot.username}`) } : {}),
    })
  const row = await store(db, org_id, { bot_id: body.bot_id, chat, seen })
  await announceChange(db, org_id, row.id)
  return await one(db, row)
}

type Stored = { readonly bot_id: string; readonly chat: TelegramChat; readonly seen: ChatState }

async function store(db: Kysely<Tables>, org_id: number, { bot_id, chat, seen }: Stored): Promise<StoredChannel> {
  const now = new Date().toISOString()
  const looked = { ...chat, bot_id, ...lookedOf(seen, now), look_at: null, state_at: null, deleted_at: null }
  try {
    return await db.transaction().execute(async trx => {
      const orphan = await orphanOf(trx, org_id, chat.chat_id)
      if (orphan !== undefined) await giveUpLinks(trx, { org_id, channel_id: orphan.id })
      else await requireRoom(trx, org_id)
      const before = orphan ?? (await deletedOf(trx, org_id, chat.chat_id))
      await trx.deleteFrom('offered_chats').where('org_id', '=', org_id).where('chat_id', '=', chat.chat_id).execute()
      if (before === undefined)
        return await trx
          .insertInto('channels')
          .values({ org_id, id: newId(), ...looked, created_at: now, updated_at: now })
          .returning(CHANNEL_COLUMNS)
          .$castTo<StoredChannel>()
          .executeTakeFirstOrThrow()
      return await trx
        .updateTable('channels')
        .set({ ...looked, ...noticeColumns('ready'), ...(orphan && { waiting_until: null }), updated_at: NOW })
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

/** The chat's channel, where the bot it was added over was deleted. */
const orphanOf = (trx: Transaction<Tables>, org_id: number, chat_id: string) =>
  trx
    .selectFrom('channels as c')
    .innerJoin('bots as b', join => join.onRef('b.org_id', '=', 'c.org_id').onRef('b.id', '=', 'c.bot_id'))
    .select('c.id')
    .where('c.org_id', '=', org_id)
    .where('c.chat_id', '=', chat_id)
    .where('c.deleted_at', 'is', null)
    .where('b.deleted_at', 'is not', null)
    .executeTakeFirst()

const lookedOf = ({ state, reason, member_count }: ChatState, checked_at: string) => ({
  state,
  state_reason: reason,
  member_count,
  checked_at,
})

/** Two that add one at the same time wait for each other at the balance, which every organization has. */
async function requireRoom(trx: Transaction<Tables>, org_id: number): Promise<void> {
  await sql`select from balances where org_id = ${org_id} for update`.execute(trx)
  const { count } = await liveChannels(trx, org_id)
    .select(eb => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (Number(count) >= MOST_CHANNELS) refuse('channel_limit')
}

/** Changes the fields that are sent. Refuses `object_not_found`, and `invalid_request` for a message that cannot be sent. */
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
  if (Object.keys(changes).length === 0) return await one(db, now)
  const isAnotherMode = body.join_mode !== undefined && body.join_mode !== now.join_mode
  const write = isAnotherMode ? writeAndGiveUpLinks : writeChannel
  const row = await write(db, now, { ...changes, look_at: null })
  return row === undefined ? refuse('object_not_found') : await one(db, row)
}

/** Asks Telegram now. Refuses `object_not_found`, `bot_token_revoked`, `telegram_away`. */
export async function checkChannel(
  context: Context<typeof api.checkChannel>,
  { params }: Call<typeof api.checkChannel>,
) {
  const { db, actor } = context
  const row = await liveChannel(db, actor.org_id, idOf(params.id))
  const seen = await refreshChannel(context, row)
  if ('ok' in seen) refuseFailure(seen)
  return await one(db, await liveChannel(db, actor.org_id, row.id))
}

const AT_ONCE = 5

/** Looking at a bot, which looks at its channels too. Those that Telegram says nothing of just then stay as they are. */
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
      const looks = await Promise.all(rows.slice(from, from + AT_ONCE).map(row => refreshChannel(context, row)))
      if (looks.some(seen => 'ok' in seen)) break
    }
    return bot
  }

type Looking = Pick<Adding, 'db' | 'config' | 'secrets'>

/** Asks how a channel is and writes it down; answers what was found, or why nothing was. */
export async function refreshChannel(ground: Looking, row: StoredChannel): Promise<ChatState | Failure> {
  const bot = await botCredentials(ground, row.org_id, row.bot_id)
  const seen: ChatState | Failure =
    bot === undefined
      ? {
          state: 'not_admin',
          reason: 'Its bot was deleted. Add the channel again over another one.',
          chat: undefined,
          member_count: null,
        }
      : await readChatState(ground, bot, row.chat_id)
  if ('ok' in seen) {
    if (seen.kind === 'token') await checkSoon(ground.db, { org_id: row.org_id, id: row.bot_id })
    return seen
  }
  const { chat } = seen
  if (chat !== undefined && chat.chat_id !== row.chat_id) await moveChannel(ground.db, row, chat.chat_id)
  const isNews = seen.state !== row.state
  await writeChannel(ground.db, row, {
    ...lookedOf(seen, new Date().toISOString()),
    ...(chat === undefined ? {} : { title: chat.title, username: chat.username, kind: chat.kind }),
    ...(isNews ? { look_at: null, ...noticeColumns(seen.state) } : {}),
  })
  return seen
}

/** What owners are told by mail when a channel has come to be so. */
export const noticeColumns = (state: api.ChannelState) =>
  state === 'ready'
    ? { notice: null, mailed_at: null }
    : { notice: 'rights' as const, mailed_at: null, claimed_until: null }

/** Deletes softly. Its links are given to nobody any more; those that were are known as ever. */
export async function deleteChannel(
  context: Context<typeof api.deleteChannel>,
  { params }: Call<typeof api.deleteChannel>,
) {
  const { db, actor } = context
  const row = await liveChannel(db, actor.org_id, idOf(params.id))
  await writeAndGiveUpLinks(db, row, { deleted_at: new Date().toISOString(), notice: null })
  return { ok: true as const, id: row.id, campaigns_on_fallback: await campaignsOnFallback(context, 'channel', row.id) }
}

const one = async (db: Kysely<Tables>, row: StoredChannel): Promise<api.Channel> =>
  (await channelReplies(db, row.org_id, [row]))[0] ?? refuse('object_not_found')

/** The bot as it asks; undefined where it is not there. */
export async function botCredentials(
  { db, secrets }: Pick<Adding, 'db' | 'secrets'>,
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
