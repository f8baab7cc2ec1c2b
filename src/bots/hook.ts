/**
 * What Telegram tells about a bot's users. A `/start <click id>` is a conversion that Sluice records itself, once per bot and person,
 * and binds the click to its bot. Answered only when it is stored: anything but 200 makes Telegram send it again.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { toUuid } from '../contract/ids.ts'
import { fieldsOf } from '../contract/json.ts'
import { Refusal, refuse } from '../contract/refusals.ts'
import { isUnreachable } from '../db/faults.ts'
import type { Conversions } from '../events/conversions.ts'
import type { Answer, Ground, Visit } from '../room.ts'

/** What a bot's secret is recognized by; it is made from the bot's id, so setting the hook again changes nothing. */
export const hashOf = (secret: string): Buffer => hash('sha256', secret, 'buffer')

type Hook = { org_id: number; bot_id: string; secret_hash: Buffer; is_deleted: boolean }

/** Refuses `hook_secret_wrong`, `org_deleted`, and `service_unavailable` while nothing can be stored. */
export async function receiveUpdate(
  ground: Ground,
  conversions: Pick<Conversions, 'recordStart'>,
  { params, headers, body }: Visit,
): Promise<Answer> {
  const hook = await hookOf(ground, toUuid(params['bot'] ?? ''))
  const secret = headers['x-telegram-bot-api-secret-token']
  const sent = hashOf(typeof secret === 'string' ? secret : '')
  if (!timingSafeEqual(hook?.secret_hash ?? hashOf('nobody'), sent) || hook === undefined) refuse('hook_secret_wrong')
  if (hook.is_deleted) refuse('org_deleted')
  const start = startOf(body)
  if (start !== undefined) await record(conversions, { ...start, org_id: hook.org_id, bot_id: hook.bot_id })
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

type Start = { readonly click_id: string; readonly telegram_user_id: string }

const START = /^\/start(?:@\w+)? (\S+)\s*$/

/** The start an update tells of: a private message `/start <click id>` by a person. Undefined for all else. */
function startOf(update: unknown): Start | undefined {
  const message = fieldsOf(fieldsOf(update)['message'])
  const { text } = message
  const { id } = fieldsOf(message['from'])
  if (fieldsOf(message['chat'])['type'] !== 'private' || typeof text !== 'string') return undefined
  const click_id = toUuid(START.exec(text)?.[1] ?? '')
  if (click_id === undefined || typeof id !== 'number' || !Number.isSafeInteger(id) || id <= 0) return undefined
  return { click_id, telegram_user_id: String(id) }
}

/** A click that is not this organization's makes an organic start: nothing to record, and nothing Telegram should send again. */
async function record(
  conversions: Pick<Conversions, 'recordStart'>,
  start: Start & { org_id: number; bot_id: string },
): Promise<void> {
  try {
    await conversions.recordStart(start)
  } catch (error) {
    const isOrganic = error instanceof Refusal && ['click_not_found', 'bot_not_found'].includes(error.refusal)
    if (!isOrganic) throw error
  }
}
