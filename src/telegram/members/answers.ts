/**
 * What a bot does about a request to join, as tasks: writes to the person, answers Telegram's question, lets them in or not. A message comes before the
 * decision, because nobody may be written to afterwards. Owns no table.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { channelsIn, Message } from '../../contract/telegram-message.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import { linkForClick } from '../../traffic/invite-links/invite-links.ts'
import { callTelegram, type Failure } from '../bots/telegram.ts'
import { refreshChannel } from '../channels/channels.ts'
import { CHANNEL_COLUMNS, liveChannels, moveChannel, type StoredChannel } from '../channels/rows.ts'
import { sendMessage } from '../messages/messages.ts'
import { markSubscriber, reachabilityAfter } from '../subscribers/reachability.ts'
import { macroValues } from '../subscribers/welcome.ts'
import {
  afterFailure,
  type TaskRunners,
  type TaskOutcome,
  type Task,
  type TaskBot,
  ARRIVAL_UNKNOWN,
} from '../tasks/tasks.ts'
import { requestTaskKey, writeDecision, writeReason } from './requests.ts'

type Working = Pick<Ground, 'db' | 'config' | 'secrets'>

const Asked = z.object({
  channel_id: z.string(),
  asked_at: z.string(),
  /** Of a decision: rule, or who has made it. */
  by: z.string().default('rule'),
  /** Of a message. */
  user_chat_id: z.string().default(''),
  /** Of a question of Telegram's. */
  query_id: z.string().default(''),
})
type Asked = z.output<typeof Asked>

/** What a task is about, as it stands now. */
type About = { readonly asked: Asked; readonly channel: StoredChannel; readonly request: Request }
type Request = { readonly id: string; readonly asked_at: string; readonly click_id: string | null }
type Doing = (ground: Working, task: Task, bot: TaskBot, about: About, leaves: () => void) => Promise<TaskOutcome>

/** The tasks of requests. What is no longer pending, or was asked anew, needs nothing. */
export function requestTaskRunners(ground: Working): TaskRunners {
  const onPending = (doing: Doing) => async (task: Task, bot: TaskBot, leaves: () => void) => {
    const about = await aboutOf(ground.db, task)
    return about === undefined ? { is: 'done' as const } : await doing(ground, task, bot, about, leaves)
  }
  return {
    request_message: onPending(sendToRequester),
    answer_query: onPending(answerQuery),
    approve: onPending((...[ground, task, bot, about]) => decide('approve', ground, task, bot, about)),
    decline: onPending((...[ground, task, bot, about]) => decide('decline', ground, task, bot, about)),
  }
}

async function aboutOf(
  db: Kysely<Tables>,
  { org_id, telegram_user_id, asked: sent }: Task,
): Promise<About | undefined> {
  const asked = Asked.parse(sent)
  const channel = await liveChannels(db, org_id)
    .select(CHANNEL_COLUMNS)
    .where('id', '=', asked.channel_id)
    .$castTo<StoredChannel>()
    .executeTakeFirst()
  const request = await db
    .selectFrom('join_requests')
    .select(['id', 'asked_at', 'click_id'])
    .where('org_id', '=', org_id)
    .where('channel_id', '=', asked.channel_id)
    .where('telegram_user_id', '=', telegram_user_id)
    .where('asked_at', '=', asked.asked_at)
    .where('state', '=', 'pending')
    .executeTakeFirst()
  return channel === undefined || request === undefined ? undefined : { asked, channel, request }
}

/** Once: of a message whose answer was lost nobody knows whether it arrived. */
async function sendToRequester(
  { db, config }: Working,
  task: Task,
  bot: TaskBot,
  about: About,
  leaves: () => void,
): Promise<TaskOutcome> {
  const { channel, request, asked } = about
  const message = Message.safeParse(channel.request_message).data
  if (message === undefined) return { is: 'gone', reason: 'the channel has no message for it' }
  if (task.is_cut) return { is: 'failed', reason: ARRIVAL_UNKNOWN }
  const { values, links } = await filledFor(db, task, message, request.click_id)
  leaves()
  const answer = await sendMessage(config.telegramApiRoot, bot.token, message, {
    chat_id: asked.user_chat_id,
    values,
    links,
  })
  if (answer.ok) return { is: 'done' }
  const state = reachabilityAfter(answer, message)
  if (state !== undefined) {
    const { org_id, bot_id, telegram_user_id } = task
    await markSubscriber(db, { org_id, bot_id, telegram_user_id, state, at: new Date().toISOString() })
  }
  return afterFailure(answer)
}

/** What the macros stand for and where the buttons lead: of the click that the request was counted on, else the person's. */
async function filledFor(db: Kysely<Tables>, task: Task, message: Message, counted: string | null) {
  const { values, click } = await macroValues(db, task, counted ?? undefined)
  const links = new Map<string, string>()
  if (click === undefined) return { values, links }
  const { id: click_id, campaign_id } = click
  for (const channel_id of channelsIn(message)) {
    const link = await linkForClick(db, { org_id: task.org_id, channel_id, click_id, campaign_id })
    if (link !== undefined) links.set(channel_id, link)
  }
  return { values, links }
}

/** Telegram asks the chat's guard and waits ten seconds: who is to be let in at once is, everybody else waits as without a guard. */
async function answerQuery(
  { db, config }: Working,
  task: Task,
  { token }: TaskBot,
  about: About,
): Promise<TaskOutcome> {
  const { channel, asked } = about
  const { on_request, approve_after_s, request_message } = channel
  const isAtOnce = on_request === 'approve' && approve_after_s === 0 && request_message === null
  const answer = await callTelegram(config.telegramApiRoot, token, 'answerChatJoinRequestQuery', {
    chat_join_request_query_id: asked.query_id,
    result: isAtOnce ? 'approve' : 'queue',
  })
  if (!answer.ok) return afterFailure(answer, { mayRepeat: true, refused: 'gone' })
  if (isAtOnce) await writeDecision(db, placeOf(task, asked), asked.asked_at, { state: 'approved', by: 'rule' })
  return { is: 'done' }
}

const placeOf = ({ org_id, telegram_user_id }: Task, { channel_id }: Asked) => ({
  org_id,
  channel_id,
  telegram_user_id,
})

/** A message that is on its way is waited for in such steps, and after so long later again. */
const STEP_MS = 50
const PATIENCE_MS = 1500
const BEHIND_MESSAGE_S = 1

async function decide(
  decision: 'approve' | 'decline',
  ground: Working,
  task: Task,
  { token }: TaskBot,
  { channel, request, asked }: About,
): Promise<TaskOutcome> {
  const { db, config } = ground
  if (!(await isBehind(db, task, requestTaskKey(request)))) return { is: 'again', after_s: BEHIND_MESSAGE_S }
  // The answer to the question may have let them in since the request was read.
  if ((await aboutOf(db, task)) === undefined) return { is: 'done' }
  const place = placeOf(task, asked)
  // What the bot may not do there it is not made to try again and again.
  if (channel.state !== 'ready') {
    const reason = channel.state_reason ?? 'the bot may not let anybody in there'
    await writeReason(db, place, reason)
    return { is: 'failed', reason }
  }
  const method = decision === 'approve' ? 'approveChatJoinRequest' : 'declineChatJoinRequest'
  const answer = await callTelegram(config.telegramApiRoot, token, method, {
    chat_id: Number(channel.chat_id),
    user_id: Number(task.telegram_user_id),
  })
  const state = decision === 'approve' ? ('approved' as const) : ('declined' as const)
  if (answer.ok) {
    await writeDecision(db, place, asked.asked_at, { state, by: asked.by })
    return { is: 'done' }
  }
  return await afterRefusal(answer, {
    db,
    place,
    asked_at: asked.asked_at,
    look: () => refreshChannel(ground, channel),
    move: to => moveChannel(db, channel, to),
  })
}

const NO_RIGHT =
  /not enough rights|no rights|CHAT_ADMIN_REQUIRED|administrator rights|not a member|was kicked|chat not found/i
/** Its new number is told with it, or by an update of its own. */
const MOVED = /upgraded to a supergroup/i
const MOVED_S = 5

type Refused = {
  readonly db: Kysely<Tables>
  readonly place: Parameters<typeof writeReason>[1]
  readonly asked_at: string
  /** Asks Telegram how the channel is, and writes it down. */
  readonly look: () => Promise<unknown>
  /** It is this chat from now on. */
  readonly move: (to: string) => Promise<unknown>
}

/** Telegram's no is the end of it, in its words; a right that is missing is the channel's to get back. */
async function afterRefusal(failure: Failure, { db, place, asked_at, look, move }: Refused): Promise<TaskOutcome> {
  const { kind, description, migrate_to_chat_id: to } = failure
  if (kind !== 'refused') return afterFailure(failure, { mayRepeat: true })
  if (to !== undefined) await move(to)
  if (MOVED.test(description)) return { is: 'again', after_s: MOVED_S }
  if (NO_RIGHT.test(description)) {
    await look()
    await writeReason(db, place, description)
    return { is: 'failed', reason: description }
  }
  const isIn = /USER_ALREADY_PARTICIPANT/i.test(description)
  await writeDecision(
    db,
    place,
    asked_at,
    isIn ? { state: 'approved', by: 'telegram' } : { state: 'gone', by: 'telegram', reason: description },
  )
  return isIn ? { is: 'done' } : { is: 'gone', reason: description }
}

/** Waits for the message, or the answer to Telegram's question, that is due as well; says whether none is to come any more. */
async function isBehind(db: Kysely<Tables>, task: Task, once_key: string): Promise<boolean> {
  for (const until = performance.now() + PATIENCE_MS; ; ) {
    const ahead = await aheadOf(db, task, once_key)
    if (ahead === undefined) return true
    if (!ahead.is_due || performance.now() > until) return false
    await sleep(STEP_MS)
  }
}

async function aheadOf(db: Kysely<Tables>, { org_id, bot_id }: Task, once_key: string) {
  return await db
    .selectFrom('bot_tasks')
    .select(sql<boolean>`due_at <= now()`.as('is_due'))
    .where('org_id', '=', org_id)
    .where('bot_id', '=', bot_id)
    .where('kind', 'in', ['request_message', 'answer_query'])
    .where('once_key', '=', once_key)
    .where('state', '=', 'waiting')
    .orderBy('due_at', 'desc')
    .executeTakeFirst()
}
