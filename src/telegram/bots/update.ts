/** Reads updates of Telegram: starts with their clicks, people, times, texts. */
import { toUuid } from '../../contract/ids.ts'
import { fieldsOf } from '../../contract/json.ts'
import { clickOfStart } from '../../contract/telegram.ts'

/** A start whose parameter contains a click id. */
type Start = { readonly click_id: string; readonly telegram_user_id: string }

const START = /^\/start(?:@\w+)? (\S+)\s*$/

/** The start in an update: a private message `/start <parameter>` whose parameter contains a click id. Undefined for any other update. */
export function startIn(update: unknown): Start | undefined {
  const { text, chat, from } = fieldsOf(fieldsOf(update)['message'])
  if (fieldsOf(chat)['type'] !== 'private' || typeof text !== 'string') return undefined
  const click_id = clickOfStart(START.exec(text)?.[1] ?? '')
  const telegram_user_id = personId(from)
  return click_id === undefined || telegram_user_id === undefined ? undefined : { click_id, telegram_user_id }
}

/** The text without what PostgreSQL cannot store, at most 256 characters. */
export const storableText = (said: unknown): string | null =>
  typeof said === 'string' ? said.toWellFormed().replaceAll('\0', '').slice(0, 256) : null

/** The Telegram id of a person; undefined for bots and invalid users. */
export function personId(user: unknown): string | undefined {
  const { id, is_bot } = fieldsOf(user)
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id <= 0 || is_bot === true) return undefined
  return String(id)
}

/** A time of Telegram's, in seconds, as ISO 8601; now if there is none. */
export const telegramTime = (date: unknown): string =>
  new Date(typeof date === 'number' && date > 0 && date < 1e11 ? date * 1000 : Date.now()).toISOString()

const LATEST_S = 253_402_300_799

/** The same with microseconds from the update's id, because Telegram's times are whole seconds and ids give the order within one. */
export function orderedTime(date: unknown, update_id: unknown): string {
  const isDate = typeof date === 'number' && Number.isInteger(date) && date > 0 && date <= LATEST_S
  const number = typeof update_id === 'number' && Number.isSafeInteger(update_id) && update_id > 0 ? update_id : 0
  const second = new Date(isDate ? date * 1000 : Date.now()).toISOString().slice(0, 19)
  return `${second}.${String(number % 1_000_000).padStart(6, '0')}Z`
}

/** A click id in any form, as a uuid. */
export const clickIdIn = (name: unknown): string | undefined => (typeof name === 'string' ? toUuid(name) : undefined)
