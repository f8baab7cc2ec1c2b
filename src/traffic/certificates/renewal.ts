/** When a certificate is renewed, and when a failed order is tried again. Pure; all times in Unix milliseconds. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import type { Window } from '../../contract/window.ts'

/** A random number from 0 to 1. It spreads the renewals of certificates that were issued in the same hour. */
type Chance = () => number

export type Validity = { readonly not_before: number; readonly not_after: number }

/** A uniformly random time in the window that the authority gives (RFC 9773). A time in the past means that the renewal is due. */
export function timeWithin({ from, to }: Window, chance: Chance = Math.random): number {
  return from + Math.max(0, to - from) * chance()
}

/** The renewal time if the authority gives no window: two thirds of the lifetime, or half of one below ten days, plus or minus a twentieth. */
export function renewalTimeOf({ not_before, not_after }: Validity, chance: Chance = Math.random): number {
  const lifetime = not_after - not_before
  const share = lifetime < 10 * DAY_MS ? 1 / 2 : 2 / 3
  return not_before + lifetime * (share + (chance() - 0.5) / 10)
}

/** When to warn that a certificate was not renewed: seven days before its expiry, or a fifth of a shorter lifetime. */
export function expiryWarningAt({ not_before, not_after }: Validity): number {
  return not_after - Math.min(7 * DAY_MS, (not_after - not_before) / 5)
}

/** The pauses grow, because an authority allows five failures of a name per hour. */
const PAUSES_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
]

/** How long to wait after a number of failures in a row, 1 or more; plus or minus a fifth. */
export function pauseAfter(failures: number, chance: Chance = Math.random): number {
  const pause = PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] ?? MINUTE_MS
  return pause * (0.8 + chance() * 0.4)
}
