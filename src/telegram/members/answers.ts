/**
 * Runs the tasks of requests to join: the message to the requester, the answer to Telegram's query, the approval or decline. The message comes before the
 * decision, because Telegram allows none afterwards. Owns no table.
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
import { type RequestKey, requestTaskKey, writeDecision, writeReason } from './requests.ts'

type TaskGround = Pick<Ground, 'db' | 'config' | 'secrets'>

const TaskParameters = z.object({
  channel_id: z.string(),
  asked_at: z.string(),
  /** For a decision: `rule`, or the name of the person who made it. */
  by: z.string().default('rule'),
  /** For a message. */
  user_chat_id: z.string().default(''),
  /** For an answer to Telegram's query. */
  query_id: z.string().default(''),
})
type TaskParameters = z.output<typeof TaskParameters>

/** The channel and the pending request of a task. */
type PendingRequest = {
  readonly parameters: TaskParameters
  readonly channel: StoredChannel
  readonly request: { readonly id: string; readonly asked_at: string; readonly click_id: string | null }
}
type RequestTaskRunner = (
  ground: TaskGround,
  task: Task,
  bot: TaskBot,
  pending: PendingRequest,
  leaves: () => void,
) => Promise<TaskOutcome>

/** The runners of these tasks. A task is done if its request is no longer pending or was made again since. */
export function requestTaskRunners(ground: TaskGround): TaskRunners {
  const onPending = (run: RequestTaskRunner) => async (task: Task, bot: TaskBot, leaves: () => void) => {
    const pending = await readPending(ground.db, task)
    return pending === undefined ? { is: 'done' as const } : await run(ground, task, bot, pending, leaves)
  }
  return {
    request_message: onPending(sendToRequester),
    answer_query: onPending(answerQuery),
    approve: onPending((_, task, bot, pending) => decide('approve', ground, task, bot, pending)),
    decline: onPending((_, task, bot, pending) => decide('decline', ground, task, bot, pending)),
  }
}

async function readPending(
  db: Kysely<Tables>,
  { org_id, telegram_user_id, asked }: Task,
): Promise<PendingRequest | undefined> {
  const parameters = TaskParameters.parse(asked)
  const channel = await liveChannels(db, org_id)
    .select(CHANNEL_COLUMNS)
    .where('id', '=', parameters.channel_id)
    .$castTo<StoredChannel>()
    .executeTakeFirst()
  const request = await db
    .selectFrom('join_requests')
    .select(['id', 'asked_at', 'click_id'])
    .where('org_id', '=', org_id)
    .where('channel_id', '=', parameters.channel_id)
    .where('telegram_user_id', '=', telegram_user_id)
    .where('asked_at', '=', parameters.asked_at)
    .where('state', '=', 'pending')
    .executeTakeFirst()
  return channel === undefined || request === undefined ? undefined : { parameters, channel, request }
}

/** Sends the message once. If Telegram's answer is lost, it may have arrived, so it is not sent again. */
async function sendToRequester(
  { db, config }: TaskGround,
  task: Task,
  bot: TaskBot,
  { channel, request, parameters }: PendingRequest,
  leaves: () => void,
): Promise<TaskOutcome> {
  const message = Message.safeParse(channel.request_message).data
  if (message === undefined) return { is: 'gone', reason: 'the channel has no message to requesters' }
  if (task.is_cut) return { is: 'failed', reason: ARRIVAL_UNKNOWN }
  const { values, links } = await filledFor(db, task, message, request.click_id)
  leaves()
  const answer = await sendMessage(config.telegramApiRoot, bot.token, message, {
    chat_id: parameters.user_chat_id,
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

/** The macro values and channel links of the request's click, otherwise of the person's click. */
async function filledFor(db: Kysely<Tables>, task: Task, message: Message, request_click: string | null) {
  const { values, click } = await macroValues(db, task, request_click ?? undefined)
  const links = new Map<string, string>()
  if (click === undefined) return { values, links }
  const { id: click_id, campaign_id } = click
  for (const channel_id of channelsIn(message)) {
    const link = await linkForClick(db, { org_id: task.org_id, channel_id, click_id, campaign_id })
    if (link !== undefined) links.set(channel_id, link)
  }
  return { values, links }
}

/** Answers the query that Telegram sends to the chat's guard bot, within ten seconds: approves requests that need no wait, and queues all others. */
async function answerQuery(
  { db, config }: TaskGround,
  task: Task,
  { token }: TaskBot,
  { channel, parameters }: PendingRequest,
): Promise<TaskOutcome> {
  const { on_request, approve_after_s, request_message } = channel
  const isAtOnce = on_request === 'approve' && approve_after_s === 0 && request_message === null
  const answer = await callTelegram(config.telegramApiRoot, token, 'answerChatJoinRequestQuery', {
    chat_join_request_query_id: parameters.query_id,
    result: isAtOnce ? 'approve' : 'queue',
  })
  if (!answer.ok) return afterFailure(answer, { mayRepeat: true, refused: 'gone' })
  if (isAtOnce)
    await writeDecision(db, requestKeyOf(task, parameters), parameters.asked_at, { state: 'approved', by: 'rule' })
  return { is: 'done' }
}

const requestKeyOf = ({ org_id, telegram_user_id }: Task, { channel_id }: TaskParameters): RequestKey => ({
  org_id,
  channel_id,
  telegram_user_id,
})

/** A decision waits for a message in steps, and after a while is retried later. */
const STEP_MS = 50
const PATIENCE_MS = 1500
const BEHIND_MESSAGE_S = 1

async function decide(
  decision: 'approve' | 'decline',
  ground: TaskGround,
  task: Task,
  { token }: TaskBot,
  { channel, request, parameters }: PendingRequest,
): Promise<TaskOutcome> {
  const { db, config } = ground
  if (!(await isMessageTried(db, task, requestTaskKey(request)))) return { is: 'again', after_s: BEHIND_MESSAGE_S }
  // The answer to the query may have approved the request since it was read.
  if ((await readPending(db, task)) === undefined) return { is: 'done' }
  const key = requestKeyOf(task, parameters)
  // Without the right every call would fail.
  if (channel.state !== 'ready') {
    const reason = channel.state_reason ?? 'the bot may not approve requests there'
    await writeReason(db, key, reason)
    return { is: 'failed', reason }
  }
  const method = decision === 'approve' ? 'approveChatJoinRequest' : 'declineChatJoinRequest'
  const answer = await callTelegram(config.telegramApiRoot, token, method, {
    chat_id: Number(channel.chat_id),
    user_id: Number(task.telegram_user_id),
  })
  const state = decision === 'approve' ? ('approved' as const) : ('declined' as const)
  if (answer.ok) {
    await writeDecision(db, key, parameters.asked_at, { state, by: parameters.by })
    return { is: 'done' }
  }
  return await afterRefusal(answer, {
    db,
    key,
    asked_at: parameters.asked_at,
    refresh: () => refreshChannel(ground, channel),
    move: to => moveChannel(db, channel, to),
  })
}

const NO_RIGHT =
  /not enough rights|no rights|CHAT_ADMIN_REQUIRED|administrator rights|not a member|was kicked|chat not found/i
/** The new chat id comes with the refusal or in an update. */
const MOVED = /upgraded to a supergroup/i
const MOVED_S = 5

type RefusedDecision = {
  readonly db: Kysely<Tables>
  readonly key: RequestKey
  readonly asked_at: string
  /** Reads the channel's state at Telegram and stores it. */
  readonly refresh: () => Promise<unknown>
  /** Gives the channel a new chat id. */
  readonly move: (to: string) => Promise<unknown>
}

/** Records Telegram's refusal as the end of the request, with its reason. A missing right leaves the request pending. */
async function afterRefusal(
  failure: Failure,
  { db, key, asked_at, refresh, move }: RefusedDecision,
): Promise<TaskOutcome> {
  const { kind, description, migrate_to_chat_id: to } = failure
  if (kind !== 'refused') return afterFailure(failure, { mayRepeat: true })
  if (to !== undefined) await move(to)
  if (MOVED.test(description)) return { is: 'again', after_s: MOVED_S }
  if (NO_RIGHT.test(description)) {
    await refresh()
    await writeReason(db, key, description)
    return { is: 'failed', reason: description }
  }
  const isIn = /USER_ALREADY_PARTICIPANT/i.test(description)
  await writeDecision(
    db,
    key,
    asked_at,
    isIn ? { state: 'approved', by: 'telegram' } : { state: 'gone', by: 'telegram', reason: description },
  )
  return isIn ? { is: 'done' } : { is: 'gone', reason: description }
}

/** Waits for a due message or query answer of the request; false if one is still to come. */
async function isMessageTried(db: Kysely<Tables>, task: Task, once_key: string): Promise<boolean> {
  for (const until = performance.now() + PATIENCE_MS; ; ) {
    const earlier = await earlierTask(db, task, once_key)
    if (earlier === undefined) return true
    if (!earlier.is_due || performance.now() > until) return false
    await sleep(STEP_MS)
  }
}

async function earlierTask(db: Kysely<Tables>, { org_id, bot_id }: Task, once_key: string) {
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
