/** What an update of Telegram's says: who has started the bot over which click, and how people, times and texts are read, wherever they stand. */
import { toUuid } from '../../contract/ids.ts'
import { fieldsOf } from '../../contract/json.ts'
import { clickOfStart } from '../../contract/telegram.ts'

/** A person who has started the bot over a click, which the start's parameter hands on. */
type Start = { readonly click_id: string; readonly telegram_user_id: string }

const START = /^\/start(?:@\w+)? (\S+)\s*$/

/** A private message `/start <parameter>` by a person, whose parameter hands on a click; undefined for any other update. */
export function startIn(update: unknown): Start | undefined {
  const { text, chat, from } = fieldsOf(fieldsOf(update)['message'])
  if (fieldsOf(chat)['type'] !== 'private' || typeof text !== 'string') return undefined
  const click_id = clickOfStart(START.exec(text)?.[1] ?? '')
  const telegram_user_id = personOf(from)
  return click_id === undefined || telegram_user_id === undefined ? undefined : { click_id, telegram_user_id }
}

/** As it can be stored. */
export const textOf = (said: unknown): string | null =>
  typeof said === 'string' ? said.toWellFormed().replaceAll('\0', '').slice(0, 256) : null

/** The number of a person, undefined where it is none or a bot's. */
export function personOf(user: unknown): string | undefined {
  const { id, is_bot } = fieldsOf(user)
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id <= 0 || is_bot === true) return undefined
  return String(id)
}

/** Telegram's own time of something, in seconds, as ISO 8601; now where it says none. */
export const momentOf = (date: unknown): string =>
  new Date(typeof date === 'number' && date > 0 && date < 1e11 ? date * 1000 : Date.now()).toISOString()

const LATEST_S = 253_402_300_799

/** The same with microseconds: Telegram's dates are whole seconds, and the number of the update tells what came first within one. */
export function momentInOrder(date: unknown, update_id: unknown): string {
  const isDate = typeof date === 'number' && Number.isInteger(date) && date > 0 && date <= LATEST_S
  const number = typeof update_id === 'number' && Number.isSafeInteger(update_id) && update_id > 0 ? update_id : 0
  const second = new Date(isDate ? date * 1000 : Date.now()).toISOString().slice(0, 19)
  return `${second}.${String(number % 1_000_000).padStart(6, '0')}Z`
}

/** A click's id in any form. */
export const named = (name: unknown): string | undefined => (typeof name === 'string' ? toUuid(name) : undefined)
