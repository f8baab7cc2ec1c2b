// Sends updates to webhooks: with the secret's header, in order within a queue, repeated until a 2xx, with Retry-After, given up by age. Runs the one method
// that the body of an answer may hold.
import { request } from 'undici'
import type { BotState, Pending, UpdateDraft, UpdateType, World } from './world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Telegram gives up on queries after this. */
const QUERY_MS = 150_000
const ANSWER_MS = 60_000
/** Update types that are sent only to bots that subscribe to them by name. */
const OPT_IN_TYPES: readonly string[] = ['chat_member', 'message_reaction', 'message_reaction_count']
const QUERIES: readonly string[] = ['callback_query', 'pre_checkout_query', 'shipping_query']
/** Methods that cannot be called in the body of an answer. */
const NOT_IN_ANSWERS = /^(get|setWebhook|deleteWebhook|logOut|close)/

/** Whether the bot gets updates of this type. */
const isSubscribed = ({ allowed }: BotState, type: string): boolean =>
  allowed === undefined || allowed.length === 0 ? !OPT_IN_TYPES.includes(type) : allowed.includes(type)

/** Queues an update of the bot, with the next id unless it has one. Returns the id; undefined if the bot does not subscribe to the type. */
export function enqueueUpdate(world: World, bot: BotState, draft: UpdateDraft): number | undefined {
  const type = Object.keys(draft).find(key => key !== 'update_id') as UpdateType
  if (!isSubscribed(bot, type)) return undefined
  const update_id = draft.update_id ?? bot.next_update++
  const update = { update_id, ...draft }
  const now = world.now()
  bot.pending.push({
    update,
    bytes: JSON.stringify(update),
    queue: queueOf(type, draft[type] as Fields),
    gives_up_at: now + (QUERIES.includes(type) ? QUERY_MS : DAY_MS),
    tries: 0,
    due_at: now,
    is_under_way: false,
  })
  world.pump(bot)
  return update_id
}

type Fields = { chat?: { id: number }; from?: { id: number }; user?: { id: number } }

/** Messages are queued per chat, member updates and requests per user. */
function queueOf(type: UpdateType, { chat, from, user }: Fields): string {
  if (type === 'chat_member' || type === 'chat_join_request') return `${type} ${from?.id}`
  if (type.includes('message') || type.includes('post')) return `messages ${chat?.id}`
  return `${type} ${chat?.id ?? from?.id ?? user?.id}`
}

/** Opens the sending of updates for all bots. After `close` no attempt begins. */
export function openHooks(world: World) {
  const timers = new Map<number, NodeJS.Timeout>()
  const under_way = new Set<Promise<void>>()
  let isClosed = false

  const pump = (bot: BotState): void => {
    clearTimeout(timers.get(bot.id))
    const { hook } = bot
    if (isClosed || hook === undefined) return
    const now = world.now()
    giveUp(bot, now)
    const heads = headsOf(bot)
    for (const one of heads.filter(({ due_at, is_under_way }) => due_at <= now && !is_under_way)) {
      if (bot.pending.filter(({ is_under_way }) => is_under_way).length >= hook.max_connections) return
      one.is_under_way = true
      const sent = attempt(world, bot, one).finally(() => {
        under_way.delete(sent)
        pump(bot)
      })
      under_way.add(sent)
    }
    const later = heads.filter(({ is_under_way }) => !is_under_way).map(({ due_at }) => due_at)
    if (later.length === 0) return
    timers.set(bot.id, setTimeout(() => pump(bot), Math.max(0, Math.min(...later) - now)).unref())
  }

  return {
    pump,
    /** When the next attempt of any bot is due that is not under way. */
    nextDue(): number | undefined {
      const due = [...world.bots.values()]
        .filter(({ hook }) => hook !== undefined)
        .flatMap(bot => headsOf(bot).filter(({ is_under_way }) => !is_under_way))
      return due.length === 0 ? undefined : Math.min(...due.map(({ due_at }) => due_at))
    },
    underWay: () => under_way,
    async close() {
      isClosed = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.allSettled(under_way)
    },
  }
}

/** The first update of each queue; those behind it wait. */
function headsOf({ pending }: BotState): Pending[] {
  const heads = new Map<string, Pending>()
  for (const one of pending) if (!heads.has(one.queue)) heads.set(one.queue, one)
  return [...heads.values()]
}

function giveUp(bot: BotState, now: number): void {
  for (const one of bot.pending.filter(({ gives_up_at, is_under_way }) => gives_up_at <= now && !is_under_way))
    bot.pending.splice(bot.pending.indexOf(one), 1)
}

async function attempt(world: World, bot: BotState, one: Pending): Promise<void> {
  const { hook } = bot
  if (hook === undefined) return
  const { status, body, retry_after, error } = await post(world, hook.url, hook.secret, one.bytes)
  const at = world.now()
  bot.attempts.push({ update_id: one.update.update_id, at, status })
  one.is_under_way = false
  // The answer counts even if the webhook was set again in the meantime.
  if (status >= 200 && status < 300) {
    bot.gone_since = undefined
    const place = bot.pending.indexOf(one)
    if (place >= 0) bot.pending.splice(place, 1)
    return runAnswer(world, bot, body)
  }
  one.tries += 1
  const pause_ms = one.tries === 1 ? 0 : Math.min(2 ** (one.tries - 1) * 1000, 60_000 + Math.random() * 60_000)
  one.due_at = at + Math.max(pause_ms, Math.min(retry_after, 3600) * 1000)
  bot.last_error = { at, message: error ?? `Wrong response from the webhook: ${status}` }
  bot.gone_since = status === 410 ? (bot.gone_since ?? at) : undefined
  if (bot.gone_since !== undefined && at - bot.gone_since >= 23 * HOUR_MS) bot.hook = undefined
}

type WebhookAnswer = { status: number; body: string; retry_after: number; error?: string }

async function post(world: World, url: string, secret: string | undefined, bytes: string): Promise<WebhookAnswer> {
  const { origin, host, pathname, search } = new URL(url)
  try {
    const { statusCode, body, headers } = await request(`${world.reach.get(origin) ?? origin}${pathname}${search}`, {
      method: 'POST',
      headers: {
        host,
        'content-type': 'application/json',
        ...(secret === undefined ? {} : { 'x-telegram-bot-api-secret-token': secret }),
      },
      body: bytes,
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    return { status: statusCode, body: await body.text(), retry_after: Number(headers['retry-after'] ?? 0) || 0 }
  } catch {
    return { status: 0, body: '', retry_after: 0, error: 'Connection failed' }
  }
}

/** Runs the method in the body. Nobody gets its result, as at Telegram. */
function runAnswer(world: World, bot: BotState, body: string): void {
  let asked: { method?: unknown }
  try {
    asked = JSON.parse(body) as { method?: unknown }
  } catch {
    return
  }
  if (typeof asked?.method !== 'string' || NOT_IN_ANSWERS.test(asked.method)) return
  const { method, ...params } = asked
  const call = { at: world.now(), method: String(method), token: bot.token, params, via: 'hook' as const, status: 0 }
  world.calls.push(call)
  try {
    world.run(bot, call.method, params)
    call.status = 200
  } catch (error) {
    Object.assign(call, { status: (error as { code?: number }).code ?? 500, description: (error as Error).message })
  }
}
