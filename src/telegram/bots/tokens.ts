/** Whose token it is, by Telegram's own word, and that a bot of Telegram's is in one organization only. Owns `bot_numbers`. */
import type { Kysely } from 'kysely'
import { fieldsOf } from '../../contract/json.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTaken } from '../../ground/db/faults.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import type { BotId } from './rows.ts'
import { callTelegram, type Failure } from './telegram.ts'

/** A bot as Telegram knows it. */
export type Known = { readonly telegram_id: string; readonly username: string; readonly name: string | null }

/** Asks Telegram who the token's bot is. */
export async function whoseToken({ config }: Pick<Ground, 'config'>, token: string): Promise<Known | Failure> {
  const answer = await callTelegram(config.telegramApiRoot, token, 'getMe')
  if (!answer.ok) return answer
  const { id, username, first_name } = fieldsOf(answer.result)
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || typeof username !== 'string')
    return { ok: false, kind: 'unknown', description: 'Telegram’s answer names no bot' }
  const name = typeof first_name === 'string' ? first_name.toWellFormed().replaceAll('\0', '').slice(0, 128) : null
  return { telegram_id: String(id), username, name }
}

/** The number a token says of itself, which nobody has confirmed. */
export const numberOf = (token: string): string => String(BigInt(token.split(':', 1)[0] ?? '0'))

/** Not done, because Telegram could not be asked. */
export function refuseAway({ description, retry_after }: Failure): never {
  return refuse('telegram_away', { error: description, headers: { 'retry-after': String(retry_after ?? 60) } })
}

/** Refuses a token that is nobody's, or while Telegram cannot be asked. */
export function requireKnown(known: Known | Failure): Known {
  if (!('ok' in known)) return known
  if (known.kind !== 'token') refuseAway(known)
  return refuse('invalid_request', { error: 'token: Telegram knows no bot of this token' })
}

/** Who has the number. */
export async function holderOf(db: Kysely<Tables>, telegram_id: string): Promise<BotId | undefined> {
  const row = await db
    .selectFrom('bot_numbers')
    .select(['org_id', 'bot_id'])
    .where('telegram_id', '=', telegram_id)
    .executeTakeFirst()
  return row === undefined ? undefined : { org_id: row.org_id, id: row.bot_id }
}

/** Notes the number as this bot's; false where it is another one's. */
export async function claimNumber(db: Kysely<Tables>, telegram_id: string, { org_id, id }: BotId): Promise<boolean> {
  const held = await holderOf(db, telegram_id)
  if (held !== undefined) return held.id === id
  try {
    await db.insertInto('bot_numbers').values({ telegram_id, org_id, bot_id: id }).execute()
    return true
  } catch (error) {
    if (isTaken(error)) return false
    throw error
  }
}

/** The number is free again. */
export async function freeNumber(db: Kysely<Tables>, { org_id, id }: BotId): Promise<void> {
  await db.deleteFrom('bot_numbers').where('org_id', '=', org_id).where('bot_id', '=', id).execute()
}
