/**
 * Receives the updates of bots: records starts as conversions, hands each update to the other Telegram rooms, and in relay mode forwards it to the
 * bot's own program. Answers 200 only when all of that has succeeded; any other answer makes Telegram send the update again.
 */
import { timingSafeEqual } from 'node:crypto'
import { toUuid } from '../../contract/ids.ts'
import { fieldsOf } from '../../contract/json.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
import { isUnreachable } from '../../ground/db/faults.ts'
import type { Answer, Ground, Visit } from '../../ground/room.ts'
import type { Conversions } from '../../intake/events/conversions.ts'
import { startId } from '../../intake/events/identity.ts'
import { secretHash, type LiveBot, type LiveBots } from './live.ts'
import type { Relay } from './relay.ts'
import { isOrganic } from './organic.ts'
import { startIn } from './update.ts'

/** A Bot API call that an update can be answered with. */
export type MethodCall = { readonly method: string } & Readonly<Record<string, unknown>>

/**
 * Handles each update of a bot for another room. An update comes again until every room and the bot's program have accepted it, so handling it twice
 * must change nothing. Throws database errors. May return a Bot API call as the answer; an answer of the bot's program takes precedence.
 */
export type UpdateListener = (
  bot: LiveBot,
  update: Readonly<Record<string, unknown>>,
) => Promise<MethodCall | undefined>

/** Answers some updates at once, without the database; undefined for all others. */
export type InstantReply = (
  bot: LiveBot,
  update: Readonly<Record<string, unknown>>,
) => Promise<MethodCall | true> | undefined

type UpdateHandling = {
  readonly listeners: readonly UpdateListener[]
  /** An update that it answers is neither recorded nor forwarded. */
  readonly instantReply: InstantReply
  readonly conversions: Pick<Conversions, 'recordStart'>
  readonly live: Pick<LiveBots, 'find' | 'search'>
  readonly relay: Pick<Relay, 'forward'>
  /** Records the time of the bot's last update. */
  readonly noteUpdate: (bot: LiveBot) => void
}

const RETRY_SOON = { headers: { 'retry-after': '5' } }

/**
 * Receives one update. Refuses `hook_secret_wrong`, `invalid_json`, `org_deleted`, and `service_unavailable` while nothing can be stored. Answers 502
 * if the bot's program has not accepted the update; returns the program's answer if it is a Bot API call.
 */
export async function receiveUpdate(
  ground: Ground,
  handling: UpdateHandling,
  { params, headers, body }: Visit,
): Promise<Answer> {
  const secret = headers['x-telegram-bot-api-secret-token']
  const bot = await authenticatedBot(
    handling.live,
    toUuid(params['bot'] ?? ''),
    secretHash(typeof secret === 'string' ? secret : ''),
  )
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  const update = parseUpdate(bytes)
  handling.noteUpdate(bot)
  const instant = update === undefined || bot.is_over ? undefined : handling.instantReply(bot, update)
  if (instant !== undefined) {
    const call = await instant
    return { status: 200, body: call === true ? { ok: true } : call }
  }
  if (!isForwarded(bot, update)) {
    if (update === undefined) refuse('invalid_json')
    return { status: 200, body: (await recordUpdate(ground, handling, bot, update)) ?? { ok: true } }
  }
  const { update_id } = fieldsOf(update)
  const forwarded = { bytes, type: typeOf(update), update_id: typeof update_id === 'number' ? update_id : undefined }
  const [recorded, relayed] = await Promise.allSettled([
    update === undefined ? undefined : recordUpdate(ground, handling, bot, update).catch(ignoreDeletedOrganization),
    handling.relay.forward(bot, forwarded),
  ])
  if (relayed.status === 'rejected') throw relayed.reason
  if (relayed.value === 'failed')
    return { status: 502, ...RETRY_SOON, body: { error: 'the bot’s program has not accepted the update' } }
  if (relayed.value === 'held') refuse('service_unavailable', RETRY_SOON)
  if (recorded.status === 'rejected') throw recorded.reason
  const { body: method } = relayed.value
  if (method === undefined) return { status: 200, body: recorded.value ?? { ok: true } }
  return { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body: method }
}

/** The bot with this id and secret. If memory has no such bot, or another secret, the database decides. Refuses `hook_secret_wrong`. */
async function authenticatedBot(live: UpdateHandling['live'], id: string | undefined, sent: Buffer): Promise<LiveBot> {
  const hasSecret = (bot: LiveBot | undefined): bot is LiveBot =>
    timingSafeEqual(bot?.secret_hash ?? secretHash('nobody'), sent) && bot !== undefined
  if (id === undefined) refuse('hook_secret_wrong')
  const known = live.find(id)
  if (hasSecret(known)) return known
  try {
    const found = await live.search(id)
    return hasSecret(found) ? found : refuse('hook_secret_wrong')
  } catch (error) {
    if (isUnreachable(error)) refuse('service_unavailable', RETRY_SOON)
    throw error
  }
}

/** The update as an object; undefined for invalid JSON, empty for JSON that is no object. */
function parseUpdate(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    return fieldsOf(JSON.parse(bytes.toString('utf8')))
  } catch {
    return undefined
  }
}

const typeOf = (update: Readonly<Record<string, unknown>> | undefined): string =>
  Object.keys(update ?? {}).find(key => /^[a-z_]{1,64}$/.test(key) && key !== 'update_id') ?? 'unknown'

/** Sluice answers the buttons of its own messages. All other updates are forwarded, or only the types that the owner has listed. */
function isForwarded(
  { relay_url, relay_types }: LiveBot,
  update: Readonly<Record<string, unknown>> | undefined,
): boolean {
  if (relay_url === undefined) return false
  const { data } = fieldsOf(fieldsOf(update)['callback_query'])
  if (typeof data === 'string' && data.startsWith('sluice:')) return false
  return relay_types.length === 0 || relay_types.includes(typeOf(update))
}

/** A deleted organization must not stop updates from being forwarded. */
function ignoreDeletedOrganization(error: unknown): undefined {
  if (!(error instanceof Refusal && error.refusal === 'org_deleted')) throw error
}

/** Records a start, then hands the update to every listener. Refuses `service_unavailable` while the database is away. */
async function recordUpdate(
  ground: Ground,
  { conversions, listeners }: UpdateHandling,
  bot: LiveBot,
  update: Readonly<Record<string, unknown>>,
): Promise<MethodCall | undefined> {
  if (bot.is_over) return undefined
  try {
    await requireOrganization(ground, bot)
    await recordStart(conversions, bot, update)
    let answer: MethodCall | undefined
    for (const listener of listeners) answer = (await listener(bot, update)) ?? answer
    return answer
  } catch (error) {
    if (isUnreachable(error)) refuse('service_unavailable', RETRY_SOON)
    throw error
  }
}

async function requireOrganization({ db }: Ground, { org_id }: LiveBot): Promise<void> {
  const found = await db
    .selectFrom('organizations')
    .select(eb => eb('deleted_at', 'is not', null).$castTo<boolean>().as('is_deleted'))
    .where('org_id', '=', org_id)
    .executeTakeFirst()
  if (found?.is_deleted !== false) refuse('org_deleted')
}

/** A start over another organization's click is organic: nothing is recorded, and Telegram need not send it again. */
async function recordStart(
  conversions: UpdateHandling['conversions'],
  { org_id, id: bot_id }: LiveBot,
  update: unknown,
) {
  const start = startIn(update)
  if (start === undefined) return
  try {
    await conversions.recordStart({ org_id, bot_id, ...start })
  } catch (error) {
    if (!isOrganic(error)) throw error
  }
}

type BotUser = { readonly org_id: number; readonly bot_id: string; readonly telegram_user_id: string }

/** The click by which the person started the bot. */
export async function clickOfBotStart(
  db: Ground['db'],
  { org_id, bot_id, telegram_user_id }: BotUser,
): Promise<string | undefined> {
  const start = await db
    .selectFrom('events')
    .select('click_id')
    .where('org_id', '=', org_id)
    .where('id', '=', startId(org_id, bot_id, telegram_user_id))
    .executeTakeFirst()
  return start?.click_id
}
