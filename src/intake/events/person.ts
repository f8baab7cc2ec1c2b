/** Identifies the person of a conversion, who is billed once. */
import { isFaithful } from '../../contract/fields.ts'
import { refuse } from '../../contract/refusals.ts'

const LENGTH = 128

/**
 * The normal form of a Telegram user id: `123`, `"123"`, `123.0` and `"0123"` are the same person. Undefined if none was sent (absent,
 * null, empty). Refuses 400 for values that could mean two people or none: unsafe integers, fractions, booleans, objects, very long text.
 */
export function telegramUserId(sent: unknown): string | undefined {
  if (sent === undefined || sent === null || sent === '') return undefined
  if (typeof sent === 'number' && Number.isSafeInteger(sent)) return String(sent)
  if (typeof sent === 'string' && isFaithful(sent)) {
    const id = /^\d+$/.test(sent) ? sent.replace(/^0+(?=\d)/, '') : sent
    if (Array.from(id).length <= LENGTH) return id
  }
  return refuse('invalid_request', {
    error: `payload.telegram_user_id: must be a whole number that JSON holds exactly, or a text of at most ${LENGTH} characters`,
  })
}

/** Keys in `person_keys`; each belongs to one person. */
export const personKey = {
  telegram: (telegram_user_id: string) => `t:${telegram_user_id}`,
  visitor: (visitor_id: string) => `v:${visitor_id}`,
  click: (click_id: string) => `c:${click_id}`,
}
