/** When a certificate is ordered again, and when an order that failed is tried again. Pure; all times in Unix milliseconds. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'

/** By chance, from 0 to 1: many certificates of one hour must not all be ordered again in one hour. */
type Chance = () => number

export type Window = { readonly from: number; readonly to: number }
export type Validity = { readonly not_before: number; readonly not_after: number }

/** A moment in the window that the authority names, any of them as likely as the others (RFC 9773). What has passed is due. */
export function momentIn({ from, to }: Window, chance: Chance = Math.random): number {
  return from + Math.max(0, to - from) * chance()
}

/** Without a word of the authority: at two thirds of the lifetime, at half of one below ten days, give or take a twentieth of it. */
export function momentOf({ not_before, not_after }: Validity, chance: Chance = Math.random): number {
  const lifetime = not_after - not_before
  const share = lifetime < 10 * DAY_MS ? 1 / 2 : 2 / 3
  return not_before + lifetime * (share + (chance() - 0.5) / 10)
}

/** When somebody has to be told that it has not been renewed: seven days before its end, or a fifth of a shorter life. */
export function endIsNear({ not_before, not_after }: Validity): number {
  return not_after - Math.min(7 * DAY_MS, (not_after - not_before) / 5)
}

/** The authority counts five failures of a name an hour, so a fault that lasts meets ever longer pauses. */
const PAUSES_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
]

/** How long to wait after so many failures in a row, the first of which is 1; give or take a fifth. */
export function pauseAfter(failures: number, chance: Chance = Math.random): number {
  const pause = PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] ?? MINUTE_MS
  return pause * (0.8 + chance() * 0.4)
}
