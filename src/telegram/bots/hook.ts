/**
 * What Telegram tells about a bot's users, as far as it is a conversion (update.ts): Sluice records it itself. A start counts once per bot and
 * person and binds the click to its bot. Answered only when it is stored: anything but 200 makes Telegram send it again.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { toUuid } from '../../contract/ids.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
import { isUnreachable } from '../../ground/db/faults.ts'
import type { Answer, Ground, Visit } from '../../ground/room.ts'
import type { Conversions } from '../../intake/events/conversions.ts'
import { startId } from '../../intake/events/identity.ts'
import { type Told, toldBy } from './update.ts'

/** What a bot's secret is recognized by; it is made from the bot's id, so setting the hook again changes nothing. */
export const hashOf = (secret: string): Buffer => hash('sha256', secret, 'buffer')

type Own = Pick<Conversions, 'recordStart' | 'recordOwn'>
type Hook = { org_id: number; bot_id: string; secret_hash: Buffer; is_deleted: boolean }

/** Refuses `hook_secret_wrong`, `org_deleted`, and `service_unavailable` while nothing can be stored. */
export async function receiveUpdate(
  ground: Ground,
  conversions: Own,
  { params, headers, body }: Visit,
): Promise<Answer> {
  const hook = await hookOf(ground, toUuid(params['bot'] ?? ''))
  const secret = headers['x-telegram-bot-api-secret-token']
  const sent = hashOf(typeof secret === 'string' ? secret : '')
  if (!timingSafeEqual(hook?.secret_hash ?? hashOf('nobody'), sent) || hook === undefined) refuse('hook_secret_wrong')
  if (hook.is_deleted) refuse('org_deleted')
  const told = toldBy(body)
  if (told !== undefined) await record(ground, conversions, hook, told)
  return { status: 200, body: { ok: true } }
}

async function hookOf({ db }: Ground, bot_id: string | undefined): Promise<Hook | undefined> {
  if (bot_id === undefined) return undefined
  try {
    return await db
      .selectFrom('bot_hooks as h')
      .innerJoin('organizations as o', 'o.org_id', 'h.org_id')
      .select(['h.org_id', 'h.bot_id', 'h.secret_hash'])
      .select(eb => eb('o.deleted_at', 'is not', null).$castTo<boolean>().as('is_deleted'))
      .where('h.bot_id', '=', bot_id)
      .executeTakeFirst()
  } catch (error) {
    if (isUnreachable(error)) refuse('service_unavailable', { headers: { 'retry-after': '5' } })
    throw error
  }
}

/** A click that is not this organization's, or none at all, makes it organic: nothing to record, and nothing Telegram should send again. */
async function record({ db }: Ground, conversions: Own, { org_id, bot_id }: Hook, told: Told): Promise<void> {
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
