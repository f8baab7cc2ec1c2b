/**
 * The window of a report or a feed: two moments, both inclusive, used exactly as sent. Clicks have
 * milliseconds, so a bound that is finer counts from the next one, or to the last one, inside the window.
 */
import { DAY_MS, LAST_MS } from '../contract/days.ts'
import type { Moment } from '../contract/moments.ts'
import { refuse } from '../contract/refusals.ts'

/** First and last millisecond inside; `from` is after `to` where a window is too narrow to hold one. */
export type Window = { readonly from: number; readonly to: number }

const WIDEST_DAYS = 92

/** `moment`, `ms` milliseconds later. */
export function after({ ms, finer }: Moment, by: number): Moment {
  return { ms: ms + by, finer }
}

/** Refuses `invalid_window` for an end before its start, `window_too_wide` for more than 92 days. */
export function windowBetween(from: Moment, to: Moment): Window {
  if (isBefore(to, from)) refuse('invalid_window', { error: 'invalid window: date_to is before date_from' })
  if (isBefore(after(from, WIDEST_DAYS * DAY_MS), to)) refuse('window_too_wide')
  return { from: from.finer === '' ? from.ms : from.ms + 1, to: to.ms }
}

/** Compares digits of a fraction as text: they are left-aligned, and none ends in zero. */
function isBefore(one: Moment, other: Moment): boolean {
  return one.ms < other.ms || (one.ms === other.ms && one.finer < other.finer)
}

/** The part of a window in which there can be clicks and days at all; `from` is after `to` where there is none. */
export function possible({ from, to }: Window): Window {
  return { from: Math.max(from, 0), to: Math.min(to, LAST_MS) }
}
