/**
 * The window of a report or a feed: two moments, both inclusive, used exactly as sent. Clicks have milliseconds, so a finer bound is rounded to the
 * nearest millisecond inside the window.
 */
import { z } from 'zod'
import { DAY_MS, LAST_MS } from './days.ts'
import { type Moment, parseMoment } from './moments.ts'
import type { RefusalName } from './refusal-catalogue.ts'
import { refuse } from './refusals.ts'
import { type Warning, Warnings } from './warnings.ts'

/** The first and last millisecond inside. `from` is after `to` if the window is too narrow to hold one. */
export type Window = { readonly from: number; readonly to: number }

const WIDEST_DAYS = 92

/** `moment`, `ms` milliseconds later. */
export function after({ ms, finer }: Moment, by: number): Moment {
  return { ms: ms + by, finer }
}

/** The warnings of a read; left out if there are none. */
export const ReadWarnings = Warnings.optional()

/** Refuses `invalid_window` for an end before its start, `window_too_wide` for more than `widest_days`. */
export function windowBetween(from: Moment, to: Moment, widest_days = WIDEST_DAYS): Window {
  if (isBefore(to, from)) refuse('invalid_window', { error: 'invalid window: date_to is before date_from' })
  if (isBefore(after(from, widest_days * DAY_MS), to))
    refuse('window_too_wide', { hint: `A window covers at most ${widest_days} days.` })
  return { from: from.finer === '' ? from.ms : from.ms + 1, to: to.ms }
}

/** The digits of a fraction can be compared as text, because they are left-aligned and do not end in zero. */
function isBefore(one: Moment, other: Moment): boolean {
  return one.ms < other.ms || (one.ms === other.ms && one.finer < other.finer)
}

/** The part of a window that can have clicks and days. `from` is after `to` if there is none. */
export function possible({ from, to }: Window): Window {
  return { from: Math.max(from, 0), to: Math.min(to, LAST_MS) }
}

/** A query parameter as sent: an array if it was sent several times. */
export type RawParameter = string | readonly string[] | undefined

/**
 * An unchecked query parameter. The deed checks it, because its refusals have their own order and codes. The API reference shows it as text, because
 * only text is accepted.
 */
export const rawParameter = (meta: { description: string; enum?: readonly string[]; examples?: string[] }) =>
  z
    .custom<string | string[]>()
    .optional()
    .meta({ type: 'string', ...meta })

export const date_from = rawParameter({
  description: 'ISO 8601, inclusive; a date means its midnight, a time without zone is UTC',
  examples: ['2026-03-01'],
})
export const date_to = rawParameter({
  description: 'ISO 8601, inclusive; at most 92 days after date_from',
  examples: ['2026-03-31T23:59:59.999Z'],
})

/** The single value of a parameter. Refuses `refusal` if it was sent several times. */
export function singleValue(sent: RawParameter, name: string, refusal: RefusalName): string | undefined {
  if (typeof sent === 'object') refuse(refusal, { error: `${name} was sent more than once` })
  return sent
}

/** A warning about an end that is a date alone: it means midnight, so that day is outside the window. */
export function windowWarnings(date_to: RawParameter): Warning[] {
  if (typeof date_to !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(date_to)) return []
  const message = `The window ends at ${date_to}T00:00:00.000Z, so that day is not in it. For the whole day send ${date_to}T23:59:59.999Z.`
  return [{ code: 'day_not_in_window', field: 'date_to', message }]
}

/** Refuses `invalid_window` for text that is no date. */
export function momentOf(sent: Exclude<RawParameter, undefined>, name: 'date_from' | 'date_to'): Moment {
  const moment = parseMoment(singleValue(sent, name, 'invalid_window') ?? '')
  return moment ?? refuse('invalid_window', { error: `invalid window: ${name} is not a date in ISO 8601` })
}
