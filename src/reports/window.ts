/**
 * The window of a report or a feed: two moments, both inclusive, used exactly as sent. Clicks have
 * milliseconds, so a bound that is finer counts from the next one, or to the last one, inside the window.
 */
import { DAY_MS, LAST_MS } from '../contract/days.ts'
import { refuse } from '../contract/refusals.ts'

/** A moment as sent: Unix milliseconds, and the digits of the fraction beyond them without trailing zeros. */
export type Moment = { readonly ms: number; readonly finer: string }

/** First and last millisecond inside; `from` is after `to` where a window is too narrow to hold one. */
export type Window = { readonly from: number; readonly to: number }

const WIDEST_DAYS = 92

const ISO = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:[Zz]|([+\- ])(\d\d)(?::?(\d\d))?)?)?$/

/**
 * Reads ISO 8601: a date alone is its midnight, a time without zone is UTC, and a `+` before the zone may have become a space on
 * the way. Undefined for what is no date, 30 February included.
 */
export function parseMoment(text: string): Moment | undefined {
  const [, date, hour = '0', minute = '0', second = '0', fraction = '', sign, zoneHour = '0', zoneMinute = '0'] =
    ISO.exec(text) ?? []
  if (date === undefined) return undefined
  const midnight = Date.parse(`${date}T00:00:00Z`)
  // Date.parse lets 30 February be the 1st of March.
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(date)) return undefined
  const isWithin = Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60
  const isMidnightAfter = /^240*$/.test(hour + minute + second + fraction)
  if (!isWithin && !isMidnightAfter) return undefined
  if (Number(zoneHour) > 23 || Number(zoneMinute) > 59) return undefined
  const zone = (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === '-' ? -1 : 1)
  const seconds = Number(hour) * 3600 + (Number(minute) - zone) * 60 + Number(second)
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  return { ms: midnight + seconds * 1000 + ms, finer: fraction.slice(3).replace(/0+$/, '') }
}

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
