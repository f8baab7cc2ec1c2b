/** Reads and writes rows of `channels`. Each write notifies the serving processes. */
import { type Kysely, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { CHANGED_NOW } from '../../ground/db/clock.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import { giveUpLinks, poolsOf } from '../../traffic/invite-links/making.ts'
import type { Channel, ChannelKind, ChannelState } from './api.ts'

export const CHANNEL_COLUMNS = [
  'org_id',
  'id',
  'bot_id',
  'chat_id',
  'title',
  'username',
  'kind',
  'state',
  'state_reason',
  'member_count',
  'join_mode',
  'on_request',
  'approve_after_s',
  'request_message',
  'link_days',
  'pool_min',
  'shared_joins',
  'leave_event',
  'leave_window_h',
  'checked_at',
  'waiting_until',
  'created_at',
  'deleted_at',
] as const satisfies (keyof Tables['channels'])[]

/** A channel's row; `chat_id` is the chat id at Telegram, as text. */
export type StoredChannel = Readonly<
  Omit<Pick<Selectable<Tables['channels']>, (typeof CHANNEL_COLUMNS)[number]>, keyof ChannelEnums> & ChannelEnums
>

type ChannelEnums = {
  kind: ChannelKind
  state: ChannelState
  join_mode: 'open' | 'request'
  on_request: 'leave' | 'approve'
  shared_joins: 'attribute' | 'organic'
}

/** The channels of an organization that are not deleted. */
export const liveChannels = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('channels').where('org_id', '=', org_id).where('deleted_at', 'is', null)

/** One channel that is not deleted. Refuses `object_not_found`. */
export async function liveChannel(db: Kysely<Tables>, org_id: number, id: string): Promise<StoredChannel> {
  const row = await liveChannels(db, org_id)
    .select(CHANNEL_COLUMNS)
    .where('id', '=', id)
    .$castTo<StoredChannel>()
    .executeTakeFirst()
  return row ?? refuse('object_not_found')
}

/** The organization's channel with this chat id; undefined if there is none. */
export async function channelOfChat(
  db: Kysely<Tables>,
  { org_id, chat_id }: { org_id: number; chat_id: number | string },
): Promise<StoredChannel | undefined> {
  return await liveChannels(db, org_id)
    .select(CHANNEL_COLUMNS)
    .where('chat_id', '=', String(chat_id))
    .$castTo<StoredChannel>()
    .executeTakeFirst()
}

type ChannelUpdate = Omit<Updateable<Tables['channels']>, 'waiting_until'> & {
  waiting_until?: string | null | RawBuilder<string>
}

type ChannelKey = Pick<StoredChannel, 'org_id' | 'id'>

/** Updates a channel that is not deleted and notifies every process; undefined if there is no such channel. */
export async function writeChannel(
  db: Kysely<Tables>,
  of: ChannelKey,
  changes: ChannelUpdate,
): Promise<StoredChannel | undefined> {
  const row = await updateRow(db, of, changes)
  await announceChange(db, of.org_id, of.id)
  return row
}

/** The same with a state that Telegram reported at `at`, unless a newer one is stored. */
export async function writeReportedState(
  db: Kysely<Tables>,
  of: ChannelKey,
  changes: ChannelUpdate,
  at: string,
): Promise<void> {
  await updateRow(db, of, { ...changes, state_at: at }, sql<boolean>`(state_at is null or state_at <= ${at})`)
  await announceChange(db, of.org_id, of.id)
}

/** The same for a change that makes the channel's links unusable: in one transaction, gives them up and prevents new ones of the old kind. */
export async function writeAndGiveUpLinks(
  db: Kysely<Tables>,
  of: ChannelKey,
  changes: ChannelUpdate,
): Promise<StoredChannel | undefined> {
  const row = await db.transaction().execute(async trx => {
    const changed = await updateRow(trx, of, changes)
    if (changed !== undefined) await giveUpLinks(trx, { org_id: of.org_id, channel_id: of.id })
    return changed
  })
  await announceChange(db, of.org_id, of.id)
  return row
}

/**
 * Gives a channel the new chat id of a group that has become a supergroup, and gives up its old links. The next call shows the bot's rights there. False
 * if the new chat is a channel already.
 */
export async function moveChannel(db: Kysely<Tables>, row: StoredChannel, to: string): Promise<boolean> {
  if ((await channelOfChat(db, { org_id: row.org_id, chat_id: to })) !== undefined) return false
  const asReady = { state: 'ready', state_reason: null, notice: null, mailed_at: null, waiting_until: null }
  await writeAndGiveUpLinks(db, row, { chat_id: to, kind: 'supergroup', look_at: null, ...asReady })
  return true
}

async function updateRow(
  db: Kysely<Tables>,
  { org_id, id }: ChannelKey,
  changes: ChannelUpdate,
  only: RawBuilder<boolean> = sql<boolean>`true`,
): Promise<StoredChannel | undefined> {
  return await db
    .updateTable('channels')
    .set({ ...changes, updated_at: CHANGED_NOW })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .where(only)
    .returning(CHANNEL_COLUMNS)
    .$castTo<StoredChannel>()
    .executeTakeFirst()
}

/** Channels as the API returns them, with their pools. */
export async function channelReplies(
  db: Kysely<Tables>,
  org_id: number,
  rows: readonly StoredChannel[],
): Promise<Channel[]> {
  const pools = await poolsOf(db, org_id, rows)
  return rows.map(row => {
    const { org_id: _, deleted_at: __, waiting_until, request_message, ...rest } = row
    const pool = pools.get(row.id) ?? { free: 0, leased: 0, granted_24h: 0, made_24h: 0 }
    return {
      ...rest,
      is_public: row.username !== null,
      request_message: request_message as Channel['request_message'],
      pool: { ...pool, waiting_until: isAhead(waiting_until) ? waiting_until : null },
    }
  })
}

const isAhead = (at: string | null): boolean => at !== null && new Date(at).getTime() > Date.now()
