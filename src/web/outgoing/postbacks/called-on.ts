/** When a rule calls, in words. */
import type { CALLED_ON } from '../../../outgoing/postbacks/api.ts'

type CalledOn = (typeof CALLED_ON)[number]
export const WHEN: Readonly<Record<CalledOn, string>> = {
  recorded: 'It is recorded',
  approved: 'It is approved',
  rejected: 'It is rejected',
  refunded: 'It is refunded',
  chargeback: 'It is charged back',
  any_change: 'Its status or amount changes',
}
export const WHEN_HINTS: Readonly<Record<CalledOn, string>> = {
  recorded: 'At once, also while it is on hold.',
  approved: 'At once, unless it is on hold: then once it is approved.',
  rejected: 'With {revenue} 0.',
  refunded: 'With {revenue} 0.',
  chargeback: 'With {revenue} 0.',
  any_change: 'Whatever is said of it after it was recorded, with {status}, and {revenue} as it counts then.',
}
