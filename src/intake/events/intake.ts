/** Turns a request into a conversion for the queue, and refuses everything that can be refused without the database. */
import { isFaithful } from '../../contract/fields.ts'
import { toUuid } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { clickOfStart } from '../../contract/telegram.ts'
import type { ConversionDraft } from './api.ts'
import { eventId } from './identity.ts'
import type { Conversion, NamedBot, ConversionSource, UsedKey } from './items.ts'
import { telegramUserId } from './person.ts'

/** The organization it is recorded for, and how it arrived. */
export type Sender = {
  readonly org_id: number
  readonly source: ConversionSource
  /** The campaigns the sender is restricted to, or null. */
  readonly campaigns: readonly string[] | null
  readonly key: UsedKey | undefined
  /** Used if the nonce is missing. */
  readonly idempotency_key: string | undefined
  readonly arrived_at: number
}

/**
 * Refuses 400 for a person or payload that cannot be stored exactly, 422 for a bot_start without a person, then 403 for an invalid click
 * id: the order of refusals is part of the contract. A start may name its click by the whole parameter that the bot was started with.
 */
export function readConversion(body: ConversionDraft, sender: Sender): Conversion {
  const { idempotency_key, ...from } = sender
  const payload = body.payload == null ? null : storedPayload(body.payload)
  const telegram_user_id = telegramUserId(payload?.['telegram_user_id'])
  if (body.type === 'bot_start' && telegram_user_id === undefined) refuse('bot_start_missing_telegram_user_id')
  const click_id = (body.type === 'bot_start' ? clickOfStart : toUuid)(body.clickId) ?? refuse('click_not_found')
  const nonce = body.nonce ?? idempotency_key
  return {
    kind: 'conversion',
    ...from,
    id: eventId(click_id, body.type, nonce),
    click_id,
    type: body.type,
    payout: body.payout ?? undefined,
    nonce: nonce ?? null,
    payload,
    telegram_user_id,
    bot: body.type === 'bot_start' ? namedBot(payload) : undefined,
  }
}

const MAX_DEPTH = 32

/** The payload without `custom_data`, the ad platform's own block, which senders may not set. */
function storedPayload(payload: Record<string, unknown>): Record<string, unknown> {
  const kept = 'custom_data' in payload ? without(payload, 'custom_data') : payload
  if (!isStorable(kept, MAX_DEPTH)) {
    refuse('invalid_request', {
      error: `payload: must hold no U+0000, no half surrogate pair and no number beyond 1.8e308, and be nested at most ${MAX_DEPTH} levels`,
    })
  }
  return kept
}

function isStorable(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isFaithful(value)
  // JSON.parse reads 1e400 as Infinity, which JSON.stringify writes as null.
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  if (depth === 0) return false
  if (Array.isArray(value)) return value.every(inner => isStorable(inner, depth - 1))
  for (const key in value) {
    if (!isFaithful(key) || !isStorable((value as Record<string, unknown>)[key], depth - 1)) return false
  }
  return true
}

function without(payload: Record<string, unknown>, key: string): Record<string, unknown> {
  const { [key]: _, ...kept } = payload
  return kept
}

/** The bot a bot_start names, by the internal id or else by its name. An invalid value becomes an empty name, which no bot has. */
function namedBot(payload: Record<string, unknown> | null): NamedBot | undefined {
  const { bot_id, bot_username } = payload ?? {}
  if (isSent(bot_id)) return { id: (typeof bot_id === 'string' ? toUuid(bot_id) : undefined) ?? '' }
  if (isSent(bot_username)) return { username: typeof bot_username === 'string' ? botName(bot_username) : '' }
  return undefined
}

/** A bot's name as in `bots.username_key`: without @, in lower case. */
export function botName(text: string): string {
  return text.replace(/^@/, '').toLowerCase()
}

function isSent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}
