/** Who a conversion's person is, which is who gets billed. */
import { isFaithful } from '../../contract/fields.ts'
import { refuse } from '../../contract/refusals.ts'

const LENGTH = 128

/**
 * The one form of a Telegram user id: `123`, `"123"`, `123.0` and `"0123"` are the same person. Undefined where none was sent (absent,
 * null, empty). Refuses 400 what could stand for two people or for none: unsafe integers, fractions, booleans, objects, endless text.
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

/** Names in `person_keys`; each leads to one person. */
export const personKey = {
  telegram: (telegram_user_id: string) => `t:${telegram_user_id}`,
  visitor: (visitor_id: string) => `v:${visitor_id}`,
  click: (click_id: string) => `c:${click_id}`,
}
