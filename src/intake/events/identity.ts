/** Who an event is: its id is derived from what it stands for, so the primary key lets it in once. */
import { hash } from 'node:crypto'
import { toWireId } from '../../contract/ids.ts'

/**
 * The id of a conversion: click (canonical, so that case and spelling do not matter), type, nonce. Body nonce or Idempotency-Key,
 * else none: then a second event of that type on that click is the first one.
 */
export function eventId(click_id: string, type: string, nonce: string | undefined): string {
  return derive([toWireId(click_id), type, nonce ?? ''])
}

/** Sluice's own producers: the API refuses U+0000 in a nonce, so theirs never meet a sender's. */
export function ownNonce(nonce: string): string {
  return `\u0000${nonce}`
}

/** The id of a bot_start that names its bot: whoever reports the start of this person in this bot reports the same event. */
export function startId(org_id: number, bot_id: string, telegram_user_id: string): string {
  return derive(['bot_start', org_id, bot_id, telegram_user_id])
}

/** What a person does in a chat once for ever, whatever click it is counted on. */
export type ChatType = 'channel_join' | 'join_request'

/** Of a chat and a person in it, as Telegram numbers them. */
export type InChat = {
  readonly type: ChatType
  readonly chat_id: number
  readonly telegram_user_id: string
}

/**
 * The identity of a join or a request: organization, chat and person, without the click. It is kept as an alias, and the event itself has the id that
 * `inChatId` gives: what a process of the version before records over the same click is the same event then.
 */
export function onceId(org_id: number, { type, chat_id, telegram_user_id }: InChat): string {
  return derive([type, org_id, chat_id, telegram_user_id])
}

/** The id of a join or a request that is counted on this click. */
export function inChatId(click_id: string, { type, chat_id, telegram_user_id }: InChat): string {
  return eventId(click_id, type, ownNonce(`${chat_id} ${telegram_user_id}`))
}

/** UUIDv8 out of SHA-256 over the JSON array: an array tells ["ab","c"] from ["a","bc"]. */
function derive(parts: readonly (string | number)[]): string {
  const hex = hash('sha256', JSON.stringify(parts), 'hex')
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
