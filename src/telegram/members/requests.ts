/**
 * Requests to join a channel and their results. Owns `join_requests`. A person's request is recorded as an event once for ever; a repeated request makes the
 * same row pending again. The bot acts by tasks: first the message, which Telegram allows for five minutes, then the decision.
 */
import { type Kysely, type Selectable, sql } from 'kysely'
import { HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { newId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { CHANNEL_COLUMNS, type StoredChannel } from '../channels/rows.ts'
import { insertTask, wakeTasks } from '../tasks/tasks.ts'
import { countOn, countOnClick, type JoinRecording, type PersonInChat } from './attribution.ts'
import { creditClick, markOrganic } from './credit.ts'
import { LATE_START_MS } from './members.ts'
import { type UsedLink, wholeSecond } from './chat-events.ts'

type JoinRequestRow = Selectable<Tables['join_requests']>

type NewRequest = PersonInChat & {
  readonly at: string
  readonly link: UsedLink | undefined
  readonly user_chat_id: string
  readonly query_id: string | undefined
  /** Whether the owner's program receives the update too. */
  readonly hasProgram: boolean
  /** Whether the channel's own bot received it. Other bots that are administrators there send no message and decide nothing. */
  readonly isOwn: boolean
}

/** Telegram allows a message for five minutes. */
const MESSAGE_MS = 4 * MINUTE_MS
/** Telegram waits ten seconds for the answer to its query. */
const QUERY_MS = 9_000
/** How long a decision is retried: long enough to outlast a day without Telegram. */
export const DECISION_MS = 25 * HOUR_MS

/** Records a request to join and creates its tasks. */
export async function recordRequest(
  recording: JoinRecording,
  channel: StoredChannel,
  received: NewRequest,
): Promise<void> {
  const { db } = recording
  const request = await writeRequest(db, channel, received)
  // A late update of an older request.
  if (Date.parse(request.asked_at) !== Date.parse(wholeSecond(received.at))) return
  if (request.certainty === null) {
    const credited = await countOnClick(recording, { ...received, channel, type: 'join_request' })
    if (credited === undefined) await markOrganic(db, 'join_requests', request)
    else await creditClick(db, 'join_requests', request, credited)
  }
  if (request.state === 'pending') await db.transaction().execute(trx => createTasks(trx, channel, request, received))
  wakeTasks(db)
}

/** Creates the tasks of a request, each once however often Telegram repeats the update. */
async function createTasks(
  trx: Kysely<Tables>,
  channel: StoredChannel,
  request: JoinRequestRow,
  received: NewRequest,
): Promise<void> {
  const { org_id, bot_id, telegram_user_id, user_chat_id, query_id, hasProgram, isOwn } = received
  const second = wholeSecond(received.at)
  const after = (ms: number) => new Date(Date.parse(second) + ms).toISOString()
  const at_once = new Date(Math.min(Date.parse(second), Date.now())).toISOString()
  const once_key = requestTaskKey(request)
  const common = { org_id, bot_id, telegram_user_id, once_key }
  const isByRule = channel.on_request === 'approve'
  const parameters = { channel_id: channel.id, asked_at: second }
  if (isOwn && channel.request_message !== null)
    await insertTask(trx, {
      ...common,
      kind: 'request_message',
      asked: { ...parameters, user_chat_id },
      due_at: at_once,
      give_up_at: after(MESSAGE_MS),
    })
  // The owner's program answers the query, unless the channel approves automatically.
  if (query_id !== undefined && (isByRule || !hasProgram))
    await insertTask(trx, {
      ...common,
      kind: 'answer_query',
      asked: { ...parameters, query_id },
      due_at: at_once,
      give_up_at: after(QUERY_MS),
    })
  const delay_ms = channel.approve_after_s * 1000
  if (isOwn && isByRule)
    await insertTask(trx, {
      ...common,
      kind: 'approve',
      asked: { ...parameters, by: 'rule' },
      due_at: delay_ms === 0 ? at_once : after(delay_ms + withinSecond(second)),
      give_up_at: after(delay_ms + DECISION_MS),
    })
}

/** How far into its second a request may have come. Telegram reports whole seconds, and no approval may come too early. */
const withinSecond = (second: string): number => Math.min(Math.max(0, Date.now() - Date.parse(second)), 1000)

/** The key of a request's tasks. A repeated request has another key. */
export const requestTaskKey = ({ id, asked_at }: Pick<JoinRequestRow, 'id' | 'asked_at'>): string =>
  `${id} ${Date.parse(asked_at)}`

async function writeRequest(
  db: Kysely<Tables>,
  channel: StoredChannel,
  { telegram_user_id, at }: NewRequest,
): Promise<JoinRequestRow> {
  const second = wholeSecond(at)
  const isByRule = channel.on_request === 'approve'
  const due_at = isByRule ? new Date(Date.parse(second) + channel.approve_after_s * 1000).toISOString() : null
  const { rows } = await sql<JoinRequestRow>`
    insert into join_requests as r (org_id, channel_id, telegram_user_id, id, state, asked_at, due_at)
    values (${channel.org_id}, ${channel.id}, ${telegram_user_id}, ${newId()}, 'pending', ${second}, ${due_at})
    on conflict (org_id, channel_id, telegram_user_id) do update
    set state = case when r.asked_at < excluded.asked_at then 'pending' else r.state end,
      due_at = case when r.asked_at < excluded.asked_at then excluded.due_at else r.due_at end,
      decided_at = case when r.asked_at < excluded.asked_at then null else r.decided_at end,
      decided_by = case when r.asked_at < excluded.asked_at then null else r.decided_by end,
      reason = case when r.asked_at < excluded.asked_at then null else r.reason end,
      asked_at = greatest(r.asked_at, excluded.asked_at)
    returning *`.execute(db)
  const [request] = rows
  if (request === undefined) throw new Error('a request was not written')
  return request
}

/** Credits the click of a start to the person's requests that have no event and came shortly before the start's update. */
export async function creditRequester(
  recording: JoinRecording,
  bot: { readonly org_id: number; readonly bot_id: string },
  { telegram_user_id, click_id, at }: { telegram_user_id: string; click_id: string; at: string },
): Promise<void> {
  const { db } = recording
  const channels = await db
    .selectFrom('join_requests as r')
    .innerJoin('channels as c', join => join.onRef('c.org_id', '=', 'r.org_id').onRef('c.id', '=', 'r.channel_id'))
    .select(CHANNEL_COLUMNS.map(name => `c.${name}` as const))
    .where('r.org_id', '=', bot.org_id)
    .where('r.telegram_user_id', '=', telegram_user_id)
    .where('r.event_id', 'is', null)
    .where('r.asked_at', '>=', new Date(Date.parse(at) - LATE_START_MS).toISOString())
    .where('c.deleted_at', 'is', null)
    .$castTo<StoredChannel>()
    .execute()
  for (const { id: channel_id, chat_id, title } of channels) {
    const person = { ...bot, telegram_user_id, chat: { id: Number(chat_id), title } }
    const credited = await countOn(recording, person, 'join_request', { click_id, certainty: 'person' })
    const key = { org_id: bot.org_id, channel_id, telegram_user_id }
    if (credited !== undefined) await creditClick(db, 'join_requests', key, credited)
  }
}

/** Marks the request of a person who has joined as approved: in Telegram, unless a decision is recorded. */
export async function markApproved(
  db: Kysely<Tables>,
  { id, org_id }: StoredChannel,
  telegram_user_id: string,
  at: string,
) {
  await db
    .updateTable('join_requests')
    .set({ state: 'approved', decided_at: wholeSecond(at), decided_by: 'telegram', reason: null })
    .where('org_id', '=', org_id)
    .where('channel_id', '=', id)
    .where('telegram_user_id', '=', telegram_user_id)
    .where('state', 'in', ['pending', 'gone'])
    .where('asked_at', '<=', at)
    .execute()
}

export type RequestKey = Pick<JoinRequestRow, 'org_id' | 'channel_id' | 'telegram_user_id'>

/**
 * Records a decision, unless the person has requested again since. The update of a join may come before Telegram's answer to our approval; the request is
 * then marked as decided in Telegram, and this corrects it.
 */
export async function writeDecision(
  db: Kysely<Tables>,
  { org_id, channel_id, telegram_user_id }: RequestKey,
  asked_at: string,
  decided: { state: 'approved' | 'declined' | 'gone'; by: string; reason?: string },
): Promise<void> {
  const { state, by, reason = null } = decided
  await sql`
    update join_requests
    set state = ${state}, decided_by = ${by}, reason = ${reason}, decided_at = coalesce(decided_at, ${new Date().toISOString()})
    where org_id = ${org_id} and channel_id = ${channel_id} and telegram_user_id = ${telegram_user_id} and asked_at = ${asked_at}
      and (state = 'pending' or ${state} = 'approved' and (state = 'gone' or decided_by = 'telegram'))`.execute(db)
}

/** Records why a request could not be decided; it stays pending. */
export async function writeReason(
  db: Kysely<Tables>,
  { org_id, channel_id, telegram_user_id }: RequestKey,
  reason: string,
): Promise<void> {
  await db
    .updateTable('join_requests')
    .set({ reason })
    .where('org_id', '=', org_id)
    .where('channel_id', '=', channel_id)
    .where('telegram_user_id', '=', telegram_user_id)
    .where('state', '=', 'pending')
    .execute()
}
