/**
 * Who asks to be let into a channel, and what became of it. Owns `join_requests`. A person's request is recorded once for ever; asked again it stands
 * anew. What the bot does about it are tasks: the message first, which may be sent for five minutes, then the decision.
 */
import { type Kysely, type Selectable, sql } from 'kysely'
import { newId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { CHANNEL_COLUMNS, type StoredChannel } from '../channels/rows.ts'
import { insertTask, wakeTasks } from '../tasks/tasks.ts'
import { countOn, countOnClick, type JoinRecording, type PersonInChat } from './attribution.ts'
import { creditClick, markOrganic } from './credit.ts'
import { OVERTAKEN_MS } from './members.ts'
import { type UsedLink, wholeSecond } from './chat-events.ts'

type Request = Selectable<Tables['join_requests']>

type Asked = PersonInChat & {
  readonly at: string
  readonly link: UsedLink | undefined
  readonly user_chat_id: string
  readonly query_id: string | undefined
  /** Whether a program of the owner's hears of it too. */
  readonly isShared: boolean
  /** Whether it is the channel's own bot that was asked: another one that is an administrator there too writes and decides nothing. */
  readonly isOwn: boolean
}

/** Telegram lets the bot write for five minutes. */
const MESSAGE_MS = 4 * 60_000
/** It waits ten seconds for the answer to its question. */
const QUERY_MS = 9_000
/** A decision is tried so long: through a day without Telegram. */
export const DECISION_MS = 25 * 3_600_000

/** Somebody asks to be let in. */
export async function noteRequest(recording: JoinRecording, channel: StoredChannel, asked: Asked): Promise<void> {
  const { db } = recording
  const request = await writeRequest(db, channel, asked)
  // An older one, told late.
  if (Date.parse(request.asked_at) !== Date.parse(wholeSecond(asked.at))) return
  if (request.certainty === null) {
    const counted = await countOnClick(recording, { ...asked, channel, type: 'join_request' })
    if (counted === undefined) await markOrganic(db, 'join_requests', request)
    else await creditClick(db, 'join_requests', request, counted)
  }
  if (request.state === 'pending') await db.transaction().execute(trx => askForAnswers(trx, channel, request, asked))
  wakeTasks(db)
}

/** Tasks of one request, each once however often Telegram tells of it. */
async function askForAnswers(
  trx: Kysely<Tables>,
  channel: StoredChannel,
  request: Request,
  asked: Asked,
): Promise<void> {
  const { org_id, bot_id, telegram_user_id, user_chat_id, query_id, isShared, isOwn } = asked
  const second = wholeSecond(asked.at)
  const after = (ms: number) => new Date(Date.parse(second) + ms).toISOString()
  const at_once = new Date(Math.min(Date.parse(second), Date.now())).toISOString()
  const once_key = requestTaskKey(request)
  const common = { org_id, bot_id, telegram_user_id, once_key }
  const isByRule = channel.on_request === 'approve'
  const place = { channel_id: channel.id, asked_at: second }
  if (isOwn && channel.request_message !== null)
    await insertTask(trx, {
      ...common,
      kind: 'request_message',
      asked: { ...place, user_chat_id },
      due_at: at_once,
      give_up_at: after(MESSAGE_MS),
    })
  // What a program behind is to answer, it answers, unless its owner has left that to Sluice.
  if (query_id !== undefined && (isByRule || !isShared))
    await insertTask(trx, {
      ...common,
      kind: 'answer_query',
      asked: { ...place, query_id },
      due_at: at_once,
      give_up_at: after(QUERY_MS),
    })
  const delay_ms = channel.approve_after_s * 1000
  if (isOwn && isByRule)
    await insertTask(trx, {
      ...common,
      kind: 'approve',
      asked: { ...place, by: 'rule' },
      due_at: delay_ms === 0 ? at_once : after(delay_ms + withinSecond(second)),
      give_up_at: after(delay_ms + DECISION_MS),
    })
}

/** How far into its second a request may have come: Telegram does not say, and nobody is let in too early. */
const withinSecond = (second: string): number => Math.min(Math.max(0, Date.now() - Date.parse(second)), 1000)

/** What tasks of a request go by: who asks again later asks anew. */
export const requestTaskKey = ({ id, asked_at }: Pick<Request, 'id' | 'asked_at'>): string =>
  `${id} ${Date.parse(asked_at)}`

async function writeRequest(
  db: Kysely<Tables>,
  channel: StoredChannel,
  { telegram_user_id, at }: Asked,
): Promise<Request> {
  const second = wholeSecond(at)
  const isByRule = channel.on_request === 'approve'
  const due_at = isByRule ? new Date(Date.parse(second) + channel.approve_after_s * 1000).toISOString() : null
  const { rows } = await sql<Request>`
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

/** The person has started a bot over this click: a request that overtook the start is counted on it. */
export async function noteStartOfRequester(
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
    .where('r.asked_at', '>=', new Date(Date.parse(at) - OVERTAKEN_MS).toISOString())
    .where('c.deleted_at', 'is', null)
    .$castTo<StoredChannel>()
    .execute()
  for (const { id: channel_id, chat_id, title } of channels) {
    const somebody = { ...bot, telegram_user_id, chat: { id: Number(chat_id), title } }
    const counted = await countOn(recording, somebody, 'join_request', { click_id, certainty: 'person' })
    const person = { org_id: bot.org_id, channel_id, telegram_user_id }
    if (counted !== undefined) await creditClick(db, 'join_requests', person, counted)
  }
}

/** Whoever is in has been let in: by Telegram's own, unless it is known who decided. */
export async function noteLetIn(
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

type Place = Pick<Request, 'org_id' | 'channel_id' | 'telegram_user_id'>

/** What was decided of a request that is still the one meant. Telegram tells of a join at once, sometimes before it answers: then it was ours after all. */
export async function writeDecision(
  db: Kysely<Tables>,
  { org_id, channel_id, telegram_user_id }: Place,
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

/** Why it could not be decided, while it waits on. */
export async function writeReason(
  db: Kysely<Tables>,
  { org_id, channel_id, telegram_user_id }: Place,
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
