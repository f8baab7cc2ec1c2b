/** Time zones by their IANA names, and their local days and months as moments. All offsets come from Intl. */
import { z } from 'zod'
import { DAY_MS, MINUTE_MS } from './days.ts'

type Clock = (
  ms: number,
) => readonly [year: number, month: number, day: number, hour: number, minute: number, second: number]

/** Cached, because a clock takes longer to create than to read. There are some six hundred names. */
const clocks = new Map<string, Clock | undefined>()
const MOST_CLOCKS = 2000

function clockOf(zone: string): Clock | undefined {
  if (clocks.has(zone)) return clocks.get(zone)
  if (clocks.size >= MOST_CLOCKS) clocks.clear()
  const clock = makeClock(zone)
  clocks.set(zone, clock)
  return clock
}

function makeClock(timeZone: string): Clock | undefined {
  // Offsets such as +03:00 are refused, because they have no daylight saving time.
  if (!/^[A-Za-z]/.test(timeZone)) return undefined
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      hourCycle: 'h23',
    })
  } catch {
    return undefined
  }
  return ms => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
    return [part('year'), part('month'), part('day'), part('hour'), part('minute'), part('second')]
  }
}

export const isTimeZone = (zone: string): boolean => clockOf(zone) !== undefined

export const TimeZone = z
  .string()
  .trim()
  .max(64)
  .refine(isTimeZone, { message: 'must be the name of a time zone, such as Europe/Kyiv' })
  .meta({ description: 'An IANA time zone', examples: ['Europe/Kyiv'] })

const clockIn = (zone: string): Clock => clockOf(zone) ?? (clockOf('UTC') as Clock)

/** Cached for a minute, because Intl's calendar takes longer than the rest of a redirect. */
const minutes = new Map<string, { at: number; day: number; minute: number }>()

/** The day of the week (0 is Monday) and the minute of the day in a zone. An unknown zone counts as UTC. */
export function weekClock(zone: string, ms: number): { readonly day: number; readonly minute: number } {
  const at = Math.floor(ms / MINUTE_MS)
  const kept = minutes.get(zone)
  if (kept?.at === at) return kept
  const [year, month, day, hour, minute] = clockIn(zone)(ms)
  // The first of January 1970 was a Thursday.
  const weekday = (Date.UTC(year, month - 1, day) / DAY_MS + 3) % 7
  const now = { at, day: weekday, minute: hour * 60 + minute }
  if (minutes.size >= MOST_CLOCKS) minutes.clear()
  minutes.set(zone, now)
  return now
}

/** The offset of a zone from UTC at a moment, in milliseconds. */
function aheadAt(clock: Clock, ms: number): number {
  const [year, month, day, hour, minute, second] = clock(ms)
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000
}

/** The first moment at which clocks in the zone show this local time or a later one; `local` is the same time in UTC. */
function firstMomentOf(clock: Clock, local: number): number {
  const isReached = (ms: number) => {
    const [year, month, day, hour, minute] = clock(ms)
    return Date.UTC(year, month - 1, day, hour, minute) >= local
  }
  // If clocks change on that day, the time may exist twice or not at all.
  const candidates = [local - aheadAt(clock, local - DAY_MS), local - aheadAt(clock, local + DAY_MS)]
  return candidates.toSorted((a, b) => a - b).find(isReached) ?? Math.max(...candidates)
}

/** The date in a zone, YYYY-MM-DD. An unknown zone counts as UTC. */
export function localDay(zone: string, ms: number): string {
  const [year, month, day] = clockIn(zone)(ms)
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10)
}

/** The first moment of a date in a zone, Unix ms. A day with a clock change has 23 or 25 hours. */
export function dayBeginsIn(zone: string, date: string): number {
  return firstMomentOf(clockIn(zone), Date.parse(`${date}T00:00:00Z`))
}

/** The first moment after `ms` at which clocks in a zone reach a time of day (`09:00`), Unix ms. */
export function nextTimeIn(zone: string, time: string, ms: number): number {
  const today = Date.parse(`${localDay(zone, ms)}T${time}Z`)
  const moments = [today, today + DAY_MS, today + 2 * DAY_MS].map(local => firstMomentOf(clockIn(zone), local))
  return moments.find(moment => moment > ms) ?? ms + DAY_MS
}

/** The day or month of a moment in a zone: its first moment, and that of the next one. An unknown zone counts as UTC. */
export function localPeriod(zone: string, unit: 'day' | 'month', ms: number): { from_ms: number; to_ms: number } {
  const clock = clockIn(zone)
  const [year, month, day] = clock(ms)
  const [from, to] =
    unit === 'day'
      ? [Date.UTC(year, month - 1, day), Date.UTC(year, month - 1, day + 1)]
      : [Date.UTC(year, month - 1, 1), Date.UTC(year, month, 1)]
  return { from_ms: firstMomentOf(clock, from), to_ms: firstMomentOf(clock, to) }
}

/** The offset of a zone from UTC at a moment, in minutes; undefined for an unknown zone. */
export function minutesAhead(zone: string, ms: number): number | undefined {
  const clock = clockOf(zone)
  return clock && aheadAt(clock, ms) / MINUTE_MS
}
