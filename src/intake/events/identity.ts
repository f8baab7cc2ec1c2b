/** Derives the ids of events from what identifies them, so that the primary key lets each in once. */
import { hash } from 'node:crypto'
import { toWireId } from '../../contract/ids.ts'

/**
 * The id of a conversion, from its click (in canonical form, so that spelling does not matter), type and nonce. The nonce is the body's, else the
 * Idempotency-Key. Without one, a second event of that type on that click is the first one.
 */
export function eventId(click_id: string, type: string, nonce: string | undefined): string {
  return derive([toWireId(click_id), type, nonce ?? ''])
}

/** The nonce of Sluice's own events. The API refuses U+0000 in a nonce, so they never clash with a sender's. */
export function ownNonce(nonce: string): string {
  return `\u0000${nonce}`
}

/** The id of a bot_start that names its bot: every report of this person's start in this bot is the same event. */
export function startId(org_id: number, bot_id: string, telegram_user_id: string): string {
  return derive(['bot_start', org_id, bot_id, telegram_user_id])
}

/** Events that happen once per chat and person, whatever click they are counted on. */
export type ChatType = 'channel_join' | 'join_request'

/** An event of a person in a chat, with Telegram's ids. */
export type InChat = {
  readonly type: ChatType
  readonly chat_id: number
  readonly telegram_user_id: string
}

/**
 * The identity of a join or a join request: organization, chat and person, without the click. It is stored as an alias. The event itself has the id of
 * `inChatId`, so that a process of the previous version records the same event for the same click.
 */
export function onceId(org_id: number, { type, chat_id, telegram_user_id }: InChat): string {
  return derive([type, org_id, chat_id, telegram_user_id])
}

/** The event id of a join or a join request on this click. */
export function inChatId(click_id: string, { type, chat_id, telegram_user_id }: InChat): string {
  return eventId(click_id, type, ownNonce(`${chat_id} ${telegram_user_id}`))
}

/** A UUIDv8 from the SHA-256 of the JSON array, which tells ["ab","c"] from ["a","bc"]. */
function derive(parts: readonly (string | number)[]): string {
  const hex = hash('sha256', JSON.stringify(parts), 'hex')
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
