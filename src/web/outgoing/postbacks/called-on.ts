/** The words for when a rule calls. */
import type { CALLED_ON } from '../../../outgoing/postbacks/api.ts'

type CalledOn = (typeof CALLED_ON)[number]
export const CALLED_ON_WORDS: Readonly<Record<CalledOn, string>> = {
  recorded: 'It is recorded',
  approved: 'It is approved',
  rejected: 'It is rejected',
  refunded: 'It is refunded',
  chargeback: 'It is charged back',
  any_change: 'Its status or amount changes',
}
export const CALLED_ON_HINTS: Readonly<Record<CalledOn, string>> = {
  recorded: 'Sent at once, even if the conversion is on hold.',
  approved: 'Sent at once, or on approval if the conversion was on hold.',
  rejected: 'With {revenue} 0.',
  refunded: 'With {revenue} 0.',
  chargeback: 'With {revenue} 0.',
  any_change: 'Sent at each change after recording, with the new {status} and {revenue}.',
}
