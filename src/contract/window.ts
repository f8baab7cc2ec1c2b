/**
 * The window of a report or a feed: two moments, both inclusive, used exactly as sent. Clicks have
 * milliseconds, so a bound that is finer counts from the next one, or to the last one, inside the window.
 */
import { z } from 'zod'
import { DAY_MS, LAST_MS } from './days.ts'
import { type Moment, parseMoment } from './moments.ts'
import type { RefusalName } from './refusal-catalogue.ts'
import { refuse } from './refusals.ts'
import { type Warning, Warnings } from './warnings.ts'

/** First and last millisecond inside; `from` is after `to` where a window is too narrow to hold one. */
export type Window = { readonly from: number; readonly to: number }

const WIDEST_DAYS = 92

/** `moment`, `ms` milliseconds later. */
export function after({ ms, finer }: Moment, by: number): Moment {
  return { ms: ms + by, finer }
}

/** Beside what a window has found; left out where there is nothing to say. */
export const WindowWarnings = Warnings.optional()

/** Refuses `invalid_window` for an end before its start, `window_too_wide` for more than `widest_days`. */
export function windowBetween(from: Moment, to: Moment, widest_days = WIDEST_DAYS): Window {
  if (isBefore(to, from)) refuse('invalid_window', { error: 'invalid window: date_to is before date_from' })
  if (isBefore(after(from, widest_days * DAY_MS), to))
    refuse('window_too_wide', { hint: `A window covers at most ${widest_days} days.` })
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

/** A query parameter as it came. */
export type Sent = string | readonly string[] | undefined

/**
 * A query parameter as it came, an array where it came several times, with nothing checked: the deed refuses, in an order and
 * with codes of its own. The documents show it as text, because that is all that is ever accepted.
 */
export const sent = (meta: { description: string; enum?: readonly string[]; examples?: string[] }) =>
  z
    .custom<string | string[]>()
    .optional()
    .meta({ type: 'string', ...meta })

export const date_from = sent({
  description: 'ISO 8601, inclusive; a date is its midnight, without zone UTC',
  examples: ['2026-03-01'],
})
export const date_to = sent({
  description: 'ISO 8601, inclusive; at most 92 days after date_from',
  examples: ['2026-03-31T23:59:59.999Z'],
})

/** The one value of a parameter; the refusal when it was sent several times. */
export function once(sent: Sent, name: string, refusal: RefusalName): string | undefined {
  if (typeof sent === 'object') refuse(refusal, { error: `${name} was sent more than once` })
  return sent
}

/** What is to be said of an end that is a date alone: its day lies behind the window, whose end is the midnight before. */
export function windowWarnings(date_to: Sent): Warning[] {
  if (typeof date_to !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(date_to)) return []
  const message = `The window ends at ${date_to}T00:00:00.000Z, so that day is not in it. For the whole day send ${date_to}T23:59:59.999Z.`
  return [{ code: 'day_not_in_window', field: 'date_to', message }]
}

/** Refuses `invalid_window` for what is no date. */
export function momentOf(sent: Exclude<Sent, undefined>, name: 'date_from' | 'date_to'): Moment {
  const moment = parseMoment(once(sent, name, 'invalid_window') ?? '')
  return moment ?? refuse('invalid_window', { error: `invalid window: ${name} is not a date in ISO 8601` })
}
