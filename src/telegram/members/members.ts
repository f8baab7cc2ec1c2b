/**
 * Current and former members of channels, with the clicks that brought them. Owns `channel_members`. A person has one row per channel, which stays when
 * they leave, so a person who comes back counts as one join. Repeated updates and updates older than the row, by Telegram's time, change nothing.
 */
import { type Kysely, type Selectable, sql } from 'kysely'
import { HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { EventType } from '../../contract/event-types.ts'
import { newId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { isOrganic } from '../bots/organic.ts'
import { CHANNEL_COLUMNS, type StoredChannel } from '../channels/rows.ts'
import { countOn, countOnClick, chatPayload, type JoinRecording, type PersonInChat } from './attribution.ts'
import { type UsedLink, wholeSecond } from './chat-events.ts'
import { creditClick, markOrganic } from './credit.ts'

type Member = Selectable<Tables['channel_members']>
type Join = PersonInChat & { readonly at: string; readonly link: UsedLink | undefined }
type Leave = PersonInChat & { readonly at: string; readonly kind: 'left' | 'kicked'; readonly wasIn: boolean }
type StartOverClick = { readonly telegram_user_id: string; readonly click_id: string; readonly at: string }

/** How long after a join a late start may still identify its click: Telegram delivers joins and starts in separate queues. */
export const LATE_START_MS = 10 * MINUTE_MS
const OLDEST_START_DAYS = 30

/** Records a join. The row is written before a click is looked for, so that of a simultaneous join and start one finds the other. */
export async function recordJoin(recording: JoinRecording, channel: StoredChannel, join: Join): Promise<void> {
  const { db } = recording
  const member = await writeJoin(db, channel, join)
  if (member.certainty === null) {
    const credited = await countOnClick(recording, { ...join, channel, type: 'channel_join' })
    if (credited === undefined) await markOrganic(db, 'channel_members', member)
    else await creditClick(db, 'channel_members', member, credited)
  }
  await recordLeaveEvent(recording, channel, join)
}

/** Records that a person left or was removed. */
export async function recordLeave(recording: JoinRecording, channel: StoredChannel, leave: Leave): Promise<void> {
  const { at, kind, wasIn } = leave
  if (wasIn) await writeLeave(recording.db, channel, leave)
  else
    await recording.db
      .updateTable('channel_members')
      .set({ state: kind, state_at: at })
      .where('org_id', '=', leave.org_id)
      .where('channel_id', '=', channel.id)
      .where('telegram_user_id', '=', leave.telegram_user_id)
      .where('state_at', '<', at)
      .where('state', '<>', 'in')
      .execute()
  await recordLeaveEvent(recording, channel, leave)
}

/** Credits the click of a start to the person's joins that have no click and came shortly before the start's update. */
export async function creditMember(
  recording: JoinRecording,
  bot: { readonly org_id: number; readonly bot_id: string },
  start: StartOverClick,
): Promise<void> {
  const { telegram_user_id, click_id } = start
  for (const channel of await channelsWithoutClick(recording.db, bot.org_id, start)) {
    const person = { ...bot, telegram_user_id, chat: { id: Number(channel.chat_id), title: channel.title } }
    const credited = await countOn(recording, person, 'channel_join', { click_id, certainty: 'person' })
    if (credited === undefined) continue
    const member = { org_id: bot.org_id, channel_id: channel.id, telegram_user_id }
    await creditClick(recording.db, 'channel_members', member, credited)
    await recordLeaveEvent(recording, channel, person)
  }
}

/** Channels that the person joined without a click, at most `LATE_START_MS` before the start. */
async function channelsWithoutClick(db: Kysely<Tables>, org_id: number, { telegram_user_id, at }: StartOverClick) {
  return await db
    .selectFrom('channel_members as m')
    .innerJoin('channels as c', join => join.onRef('c.org_id', '=', 'm.org_id').onRef('c.id', '=', 'm.channel_id'))
    .select(CHANNEL_COLUMNS.map(name => `c.${name}` as const))
    .where('m.org_id', '=', org_id)
    .where('m.telegram_user_id', '=', telegram_user_id)
    .where('m.event_id', 'is', null)
    .where('m.joined_at', '>=', new Date(Date.parse(at) - LATE_START_MS).toISOString())
    .where('m.joined_at', '<', new Date(Date.parse(at) + OLDEST_START_DAYS * 24 * HOUR_MS).toISOString())
    .where('c.deleted_at', 'is', null)
    .$castTo<StoredChannel>()
    .execute()
}

async function writeJoin(db: Kysely<Tables>, channel: StoredChannel, { telegram_user_id, at }: Join): Promise<Member> {
  const second = wholeSecond(at)
  const { rows } = await sql<Member>`
    insert into channel_members as m (org_id, channel_id, telegram_user_id, id, state, state_at, joined_at, times)
    values (${channel.org_id}, ${channel.id}, ${telegram_user_id}, ${newId()}, 'in', ${at}, ${second}, 1)
    on conflict (org_id, channel_id, telegram_user_id) do update
    set times = case when m.state_at < excluded.state_at and m.state <> 'in' then m.times + 1 else greatest(m.times, 1) end,
      joined_at = least(m.joined_at, excluded.joined_at),
      left_at = case when m.state_at < excluded.state_at then null else m.left_at end,
      state = case when m.state_at < excluded.state_at then 'in' else m.state end,
      state_at = greatest(m.state_at, excluded.state_at)
    returning *`.execute(db)
  const [member] = rows
  if (member === undefined) throw new Error('a member was not written')
  return member
}

async function writeLeave(
  db: Kysely<Tables>,
  channel: StoredChannel,
  { telegram_user_id, at, kind }: Leave,
): Promise<void> {
  await sql`
    insert into channel_members as m (org_id, channel_id, telegram_user_id, id, state, state_at, left_at)
    values (${channel.org_id}, ${channel.id}, ${telegram_user_id}, ${newId()}, ${kind}, ${at}, ${wholeSecond(at)})
    on conflict (org_id, channel_id, telegram_user_id) do update
    set left_at = case when m.state = 'in' then excluded.left_at else coalesce(m.left_at, excluded.left_at) end,
      state = excluded.state, state_at = excluded.state_at
    where m.state_at < excluded.state_at`.execute(db)
}

/** Records the channel's leave event if the person left within its window: once per person, on the click of the join. */
async function recordLeaveEvent(
  { db, conversions }: JoinRecording,
  channel: StoredChannel,
  { org_id, bot_id, telegram_user_id, chat }: PersonInChat,
): Promise<void> {
  const type = EventType.safeParse(channel.leave_event).data
  if (type === undefined || type === 'bot_start') return
  const member = await db
    .selectFrom('channel_members')
    .select(['click_id', 'joined_at', 'left_at'])
    .where('org_id', '=', org_id)
    .where('channel_id', '=', channel.id)
    .where('telegram_user_id', '=', telegram_user_id)
    .where('event_id', 'is not', null)
    .where('leave_event_id', 'is', null)
    .where('left_at', 'is not', null)
    .executeTakeFirst()
  if (member?.click_id == null || member.joined_at === null || member.left_at === null) return
  const { click_id } = member
  const stayed_ms = Date.parse(member.left_at) - Date.parse(member.joined_at)
  if (channel.leave_window_h !== null && stayed_ms > channel.leave_window_h * HOUR_MS) return
  const nonce = `left ${chat.id} ${telegram_user_id}`
  const payload = chatPayload(chat)
  try {
    const { event } = await conversions.recordOwn({ org_id, click_id, bot_id, telegram_user_id, type, nonce, payload })
    await db
      .updateTable('channel_members')
      .set({ leave_event_id: event.id })
      .where('org_id', '=', org_id)
      .where('channel_id', '=', channel.id)
      .where('telegram_user_id', '=', telegram_user_id)
      .where('leave_event_id', 'is', null)
      .execute()
  } catch (error) {
    // The click may have been deleted since.
    if (!isOrganic(error)) throw error
  }
}
