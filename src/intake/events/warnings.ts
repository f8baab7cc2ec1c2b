/**
 * Warnings for a conversion: names in its payload that look like those Sluice reads, and, if it was sent again, a payout that differs from the stored
 * row, which stays.
 */
import { Amount, MAX_PAYOUT, toSixPlaces } from '../../contract/fields.ts'
import type { Warning } from '../../contract/warnings.ts'
import type { ConversionDraft } from './api.ts'

const Payout = Amount(MAX_PAYOUT)

/** A warning with both payouts if the sent payout differs from the stored one. `stored` is a decimal, or null for none. */
export function payoutWarnings(sent: unknown, stored: string | null): Warning[] {
  const read = Payout.safeParse(sent)
  if (!read.success || (stored !== null && toSixPlaces(stored) === read.data)) return []
  const message = `${read.data} was sent, and ${stored === null ? 'no payout' : toSixPlaces(stored)} is recorded and stays. If this is another conversion, send it with a nonce of its own.`
  return [{ code: 'payout_differs', field: 'payout', message }]
}

/** Other spellings of the names that are read, without case and marks. */
const MEANT: ReadonlyMap<string, 'telegram_user_id' | 'bot_username' | 'bot_id' | 'payout' | 'nonce'> = new Map([
  ['telegramuserid', 'telegram_user_id'],
  ['telegramid', 'telegram_user_id'],
  ['tguserid', 'telegram_user_id'],
  ['tgid', 'telegram_user_id'],
  ['botusername', 'bot_username'],
  ['botname', 'bot_username'],
  ['botid', 'bot_id'],
  ['payout', 'payout'],
  ['nonce', 'nonce'],
])
/** Longer names are none of these. */
const LONGEST_NAME = 24

const CONSEQUENCES = {
  telegram_user_id: 'telegram_user_id is missing, so the person is the visitor of the click, and may be charged twice.',
  bot_username: 'bot_username is missing, so the bot is the one behind the click, if there is one.',
  bot_id: 'bot_id is missing, so the bot is the one behind the click, if there is one.',
  payout: 'The payout is a field beside payload; without it the offer’s payout counts.',
  nonce: 'The nonce is a field beside payload; without it a second conversion of this type on the click is a repeat.',
} as const

type Sent = Pick<ConversionDraft, 'type' | 'payout' | 'nonce' | 'payload'>

/** Warnings of names in the payload that are stored but not read, although they look like a name that is. */
export function payloadWarnings({ type, payout, nonce, payload }: Sent): Warning[] {
  const warnings: Warning[] = []
  const isNeeded = {
    telegram_user_id: !isSent(payload?.['telegram_user_id']),
    bot_username: type === 'bot_start' && !isSent(payload?.['bot_username']) && !isSent(payload?.['bot_id']),
    bot_id: type === 'bot_start' && !isSent(payload?.['bot_username']) && !isSent(payload?.['bot_id']),
    payout: payout == null,
    nonce: nonce == null,
  }
  for (const name in payload) {
    const meant = name.length > LONGEST_NAME ? undefined : MEANT.get(name.toLowerCase().replace(/[^a-z0-9]/g, ''))
    if (meant === undefined || !isNeeded[meant] || !isSent(payload[name])) continue
    const message = `${name} in the payload is stored but not read. ${CONSEQUENCES[meant]} Correct it in later conversions; this one stays as recorded.`
    warnings.push({ code: 'payload_not_read', field: `payload.${name}`, message })
    isNeeded[meant] = false
  }
  return warnings
}

const isSent = (value: unknown): boolean => value !== undefined && value !== null && value !== ''
