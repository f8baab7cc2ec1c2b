/** Identifies bots by their tokens, and keeps each bot in one organization only. Owns `bot_numbers`. */
import type { Kysely } from 'kysely'
import { fieldsOf } from '../../contract/json.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTaken } from '../../ground/db/faults.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import type { BotId } from './rows.ts'
import { callTelegram, type Failure } from './telegram.ts'

/** A bot as Telegram knows it. */
export type TelegramBot = { readonly telegram_id: string; readonly username: string; readonly name: string | null }

/** Asks Telegram for the token's bot. */
export async function identifyToken({ config }: Pick<Ground, 'config'>, token: string): Promise<TelegramBot | Failure> {
  const answer = await callTelegram(config.telegramApiRoot, token, 'getMe')
  if (!answer.ok) return answer
  const { id, username, first_name } = fieldsOf(answer.result)
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || typeof username !== 'string')
    return { ok: false, kind: 'unknown', description: 'Telegram’s answer contains no bot' }
  const name = typeof first_name === 'string' ? first_name.toWellFormed().replaceAll('\0', '').slice(0, 128) : null
  return { telegram_id: String(id), username, name }
}

/** The bot's number as written in the token, not confirmed by Telegram. */
export const numberInToken = (token: string): string => String(BigInt(token.split(':', 1)[0] ?? '0'))

/** Refuses `telegram_away`. */
export function refuseAway({ description, retry_after }: Failure): never {
  return refuse('telegram_away', { error: description, headers: { 'retry-after': String(retry_after ?? 60) } })
}

/** Refuses `invalid_request` for an unknown token, and `telegram_away`. */
export function requireIdentified(known: TelegramBot | Failure): TelegramBot {
  if (!('ok' in known)) return known
  if (known.kind !== 'token') refuseAway(known)
  return refuse('invalid_request', { error: 'token: Telegram knows no bot with this token' })
}

/** The bot that has the number. */
export async function numberHolder(db: Kysely<Tables>, telegram_id: string): Promise<BotId | undefined> {
  const row = await db
    .selectFrom('bot_numbers')
    .select(['org_id', 'bot_id'])
    .where('telegram_id', '=', telegram_id)
    .executeTakeFirst()
  return row === undefined ? undefined : { org_id: row.org_id, id: row.bot_id }
}

/** Assigns the number to this bot; false if another bot has it. */
export async function claimNumber(db: Kysely<Tables>, telegram_id: string, { org_id, id }: BotId): Promise<boolean> {
  const held = await numberHolder(db, telegram_id)
  if (held !== undefined) return held.id === id
  try {
    await db.insertInto('bot_numbers').values({ telegram_id, org_id, bot_id: id }).execute()
    return true
  } catch (error) {
    if (isTaken(error)) return false
    throw error
  }
}

export async function releaseNumber(db: Kysely<Tables>, { org_id, id }: BotId): Promise<void> {
  await db.deleteFrom('bot_numbers').where('org_id', '=', org_id).where('bot_id', '=', id).execute()
}
