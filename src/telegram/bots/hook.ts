/**
 * What Telegram tells about a bot's users, as far as it is a conversion (update.ts): Sluice records it itself, and passes it on where a program of the
 * owner's stands behind. Answered with 200 only when both are done: anything else makes Telegram send it again.
 */
import { timingSafeEqual } from 'node:crypto'
import { toUuid } from '../../contract/ids.ts'
import { fieldsOf } from '../../contract/json.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
import { isUnreachable } from '../../ground/db/faults.ts'
import type { Answer, Ground, Visit } from '../../ground/room.ts'
import type { Conversions } from '../../intake/events/conversions.ts'
import { startId } from '../../intake/events/identity.ts'
import { hashOf, type LiveBot, type LiveBots } from './live.ts'
import type { Relay } from './relay.ts'
import { startIn } from './update.ts'

/** A call of the Bot API that an update may be answered with. */
export type MethodCall = { readonly method: string } & Readonly<Record<string, unknown>>

/**
 * What another room does with each update of a bot. It is told again until every room and the program behind have taken it, so hearing it twice
 * changes nothing. Throws what the database throws. Answers with a call of the Bot API, which the program behind goes before.
 */
export type Hearer = (bot: LiveBot, update: Readonly<Record<string, unknown>>) => Promise<MethodCall | undefined>

export type Reflex = (bot: LiveBot, update: Readonly<Record<string, unknown>>) => Promise<MethodCall | true> | undefined

type Receiving = {
  readonly hearers: readonly Hearer[]
  /** What an update is answered with at once, without the database: then it is neither recorded nor passed on. */
  readonly reflex: Reflex
  readonly conversions: Pick<Conversions, 'recordStart'>
  readonly live: Pick<LiveBots, 'find' | 'search'>
  readonly relay: Pick<Relay, 'pass'>
  /** Notes that the bot was heard of now. */
  readonly noteUpdate: (bot: LiveBot) => void
}

const AGAIN = { headers: { 'retry-after': '5' } }

/**
 * Refuses `hook_secret_wrong`, `invalid_json`, `org_deleted`, and `service_unavailable` while nothing can be stored. Answers 502 where the program behind has
 * not taken the update, and the call of the Bot API where it has answered with one.
 */
export async function receiveUpdate(
  ground: Ground,
  given: Receiving,
  { params, headers, body }: Visit,
): Promise<Answer> {
  const secret = headers['x-telegram-bot-api-secret-token']
  const bot = await provenBot(given.live, toUuid(params['bot'] ?? ''), hashOf(typeof secret === 'string' ? secret : ''))
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  const update = read(bytes)
  given.noteUpdate(bot)
  const answered = update === undefined || bot.is_over ? undefined : given.reflex(bot, update)
  if (answered !== undefined) {
    const call = await answered
    return { status: 200, body: call === true ? { ok: true } : call }
  }
  if (!isPassedOn(bot, update)) {
    if (update === undefined) refuse('invalid_json')
    return { status: 200, body: (await record(ground, given, bot, update)) ?? { ok: true } }
  }
  const { update_id } = fieldsOf(update)
  const parcel = { bytes, type: typeOf(update), update_id: typeof update_id === 'number' ? update_id : undefined }
  const [recorded, passed] = await Promise.allSettled([
    update === undefined ? undefined : record(ground, given, bot, update).catch(unlessDeleted),
    given.relay.pass(bot, parcel),
  ])
  if (passed.status === 'rejected') throw passed.reason
  if (passed.value === 'failed')
    return { status: 502, ...AGAIN, body: { error: 'the program behind has not taken the update' } }
  if (passed.value === 'held') refuse('service_unavailable', AGAIN)
  if (recorded.status === 'rejected') throw recorded.reason
  const { body: method } = passed.value
  if (method === undefined) return { status: 200, body: recorded.value ?? { ok: true } }
  return { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body: method }
}

/** The bot whose secret this is, from memory; one that memory does not have, or has another secret of, is looked for. */
async function provenBot(live: Receiving['live'], id: string | undefined, sent: Buffer): Promise<LiveBot> {
  const isProven = (bot: LiveBot | undefined): bot is LiveBot =>
    timingSafeEqual(bot?.secret_hash ?? hashOf('nobody'), sent) && bot !== undefined
  if (id === undefined) refuse('hook_secret_wrong')
  const known = live.find(id)
  if (isProven(known)) return known
  try {
    const found = await live.search(id)
    return isProven(found) ? found : refuse('hook_secret_wrong')
  } catch (error) {
    if (isUnreachable(error)) refuse('service_unavailable', AGAIN)
    throw error
  }
}

/** What the bytes say; undefined where they are no JSON, no fields where they are no object. */
function read(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    return fieldsOf(JSON.parse(bytes.toString('utf8')))
  } catch {
    return undefined
  }
}

const typeOf = (update: Readonly<Record<string, unknown>> | undefined): string =>
  Object.keys(update ?? {}).find(key => /^[a-z_]{1,64}$/.test(key) && key !== 'update_id') ?? 'unknown'

/** Buttons of our own messages are answered by us; all else is the program's, unless its owner has named kinds. */
function isPassedOn(
  { relay_url, relay_types }: LiveBot,
  update: Readonly<Record<string, unknown>> | undefined,
): boolean {
  if (relay_url === undefined) return false
  const { data } = fieldsOf(fieldsOf(update)['callback_query'])
  if (typeof data === 'string' && data.startsWith('sluice:')) return false
  return relay_types.length === 0 || relay_types.includes(typeOf(update))
}

/** The program behind is not to be deaf because the organization here is deleted. */
function unlessDeleted(error: unknown): undefined {
  if (!(error instanceof Refusal && error.refusal === 'org_deleted')) throw error
}

/** Records what the update tells, here and in every room that hears; `service_unavailable` while the database is away. */
async function record(
  ground: Ground,
  { conversions, hearers }: Receiving,
  bot: LiveBot,
  update: Readonly<Record<string, unknown>>,
): Promise<MethodCall | undefined> {
  if (bot.is_over) return undefined
  try {
    await requireOrganization(ground, bot)
    await recordStart(conversions, bot, update)
    let answer: MethodCall | undefined
    for (const hear of hearers) answer = (await hear(bot, update)) ?? answer
    return answer
  } catch (error) {
    if (isUnreachable(error)) refuse('service_unavailable', AGAIN)
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

/** A click that is not this organization's makes it organic: nothing to record, and nothing Telegram should send again. */
async function recordStart(conversions: Receiving['conversions'], { org_id, id: bot_id }: LiveBot, update: unknown) {
  const start = startIn(update)
  if (start === undefined) return
  try {
    await conversions.recordStart({ org_id, bot_id, ...start })
  } catch (error) {
    const isOrganic = error instanceof Refusal && ['click_not_found', 'bot_not_found'].includes(error.refusal)
    if (!isOrganic) throw error
  }
}

type PersonOfBot = { readonly org_id: number; readonly bot_id: string; readonly telegram_user_id: string }

/** The click over which the person has started the bot. */
export async function clickOfStart(
  db: Ground['db'],
  { org_id, bot_id, telegram_user_id }: PersonOfBot,
): Promise<string | undefined> {
  const start = await db
    .selectFrom('events')
    .select('click_id')
    .where('org_id', '=', org_id)
    .where('id', '=', startId(org_id, bot_id, telegram_user_id))
    .executeTakeFirst()
  return start?.click_id
}
