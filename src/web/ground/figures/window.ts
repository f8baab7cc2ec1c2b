/** The days on the screen: whole days of its time zone, preset or chosen, and the previous period to compare with. */
import { DAY_MS } from '../../../contract/days.ts'
import { dayAt, dayBegins, dayEnds, isUtc } from '../zone.ts'

export const RANGES = ['today', 'yesterday', '7d', '14d', '30d', '90d', 'month', 'last-month'] as const
export type Range = (typeof RANGES)[number]

/** For a page that covers more days than a report. */
export const LONG_RANGES = [...RANGES, '180d', '365d'] as const
export type LongRange = (typeof LONG_RANGES)[number]

export const RANGE_WORDS: Record<LongRange, string> = {
  today: 'Today',
  yesterday: 'Yesterday',
  '7d': 'Last 7 days',
  '14d': 'Last 14 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  '180d': 'Last 180 days',
  '365d': 'Last 365 days',
  month: 'This month',
  'last-month': 'Last month',
}

export const WIDEST_DAYS = 92

export type Days = { readonly from: string; readonly to: string }

const iso = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const at = (day: string) => Date.parse(`${day}T00:00:00Z`)

export const shift = (day: string, by: number) => iso(at(day) + by * DAY_MS)
export const daysIn = ({ from, to }: Days) => Math.round((at(to) - at(from)) / DAY_MS) + 1

/** By hours, because one of 92 days may have 25. */
export const isTooWide = ({ from, to }: Days, widest = WIDEST_DAYS): boolean =>
  dayEnds(to) - dayBegins(from) > widest * DAY_MS

function daysOfRange(range: LongRange, today: string): Days {
  const month = today.slice(0, 8)
  switch (range) {
    case 'today':
      return { from: today, to: today }
    case 'yesterday':
      return { from: shift(today, -1), to: shift(today, -1) }
    case 'month':
      return { from: `${month}01`, to: today }
    case 'last-month': {
      const last = shift(`${month}01`, -1)
      return { from: `${last.slice(0, 8)}01`, to: last }
    }
    default:
      return { from: shift(today, 1 - Number.parseInt(range, 10)), to: today }
  }
}

/** The days in an address: first and last day if both are given, else the preset, else the last 7 days. */
export function daysOf(
  search: { range?: LongRange | undefined; from?: string | undefined; to?: string | undefined },
  today: string,
  widest = WIDEST_DAYS,
): Days {
  const { from, to, range = '7d' } = search
  return from !== undefined && to !== undefined && from <= to && !isTooWide({ from, to }, widest)
    ? { from, to }
    : daysOfRange(range, today)
}

type Bounds = { readonly date_from: string; readonly date_to: string }

/** The bounds of whole UTC days. A report within them reads only the daily counters. Spend is booked by UTC day. */
export const utcBoundsOf = ({ from, to }: Days): Bounds => ({ date_from: from, date_to: `${to}T23:59:59.999Z` })

/** The bounds of whole days of the screen's time zone. */
export function boundsOf(days: Days): Bounds {
  return isUtc() ? utcBoundsOf(days) : boundsBetween(dayBegins(days.from), dayEnds(days.to) - 1)
}

const boundsBetween = (from: number, to: number): Bounds => ({
  date_from: new Date(from).toISOString(),
  date_to: new Date(to).toISOString(),
})

/** The same for endpoints that also take days: in UTC they get days. */
export const daysOrBoundsOf = (days: Days): Bounds =>
  isUtc() ? { date_from: days.from, date_to: days.to } : boundsOf(days)

/** Whether the days begin or end within a UTC day. Spend is booked by UTC day. */
export const isRagged = ({ from, to }: Days): boolean => dayBegins(from) % DAY_MS !== 0 || dayEnds(to) % DAY_MS !== 0

/** The same number of days before. */
export function daysBefore(days: Days): Days {
  return { from: shift(days.from, -daysIn(days)), to: shift(days.from, -1) }
}

/** Whether the days include today. */
export const includesToday = ({ from, to }: Days, today: string): boolean => from <= today && today <= to

/**
 * The bounds of the same number of days before. If the days include today, they end at the current time of day, so that a morning is
 * compared with a morning. The time is rounded down to ten minutes, so that the query stays the same for a while.
 */
export function boundsBefore(days: Days, now: number): Bounds {
  const before = daysBefore(days)
  const today = dayAt(now)
  if (!includesToday(days, today)) return boundsOf(before)
  const clock = Math.floor((now - dayBegins(today)) / 600_000) * 600_000
  const to = dayBegins(shift(today, -daysIn(days))) + clock
  return isUtc()
    ? { date_from: before.from, date_to: new Date(to).toISOString() }
    : boundsBetween(dayBegins(before.from), to)
}

/** Every day up to today. */
export function everyDay(days: Days, today: string): string[] {
  const last = days.to < today ? days.to : today
  return Array.from({ length: Math.max(0, daysIn({ from: days.from, to: last })) }, (_, index) =>
    shift(days.from, index),
  )
}
