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
import { type Told, toldBy } from './update.ts'

type Receiving = {
  readonly conversions: Pick<Conversions, 'recordStart' | 'recordOwn'>
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
  if (!isPassedOn(bot, update)) {
    if (update === undefined) refuse('invalid_json')
    await record(ground, given, bot, update)
    return { status: 200, body: { ok: true } }
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
  if (method === undefined) return { status: 200, body: { ok: true } }
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
function unlessDeleted(error: unknown): void {
  if (!(error instanceof Refusal && error.refusal === 'org_deleted')) throw error
}

/** Records what the update tells; `service_unavailable` while the database is away. */
async function record(ground: Ground, { conversions }: Receiving, bot: LiveBot, update: unknown): Promise<void> {
  if (bot.is_over) return
  try {
    await requireOrganization(ground, bot)
    const told = toldBy(update)
    if (told !== undefined) await recordTold(ground, conversions, bot, told)
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

/** A click that is not this organization's, or none at all, makes it organic: nothing to record, and nothing Telegram should send again. */
async function recordTold(
  { db }: Ground,
  conversions: Receiving['conversions'],
  { org_id, id: bot_id }: LiveBot,
  told: Told,
): Promise<void> {
  const { type, nonce, payload, telegram_user_id } = told
  const click_id = told.click_id ?? (await clickOfStart(db, org_id, startId(org_id, bot_id, telegram_user_id)))
  if (click_id === undefined) return
  const event = { org_id, click_id, bot_id, telegram_user_id }
  try {
    if (type === 'bot_start') await conversions.recordStart(event)
    else await conversions.recordOwn({ ...event, type, nonce, payload })
  } catch (error) {
    const isOrganic = error instanceof Refusal && ['click_not_found', 'bot_not_found'].includes(error.refusal)
    if (!isOrganic) throw error
  }
}

/** The click over which the person has started the bot. */
async function clickOfStart(db: Ground['db'], org_id: number, id: string): Promise<string | undefined> {
  const start = await db
    .selectFrom('events')
    .select('click_id')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .executeTakeFirst()
  return start?.click_id
}
