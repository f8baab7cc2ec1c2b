/** The window on the screen: whole UTC days, by preset or chosen, and the stretch before it to compare with. */
import { DAY_MS } from '../../../contract/days.ts'

export const RANGES = ['today', 'yesterday', '7d', '14d', '30d', '90d', 'month', 'last-month'] as const
export type Range = (typeof RANGES)[number]

export const RANGE_WORDS: Record<Range, string> = {
  today: 'Today',
  yesterday: 'Yesterday',
  '7d': 'Last 7 days',
  '14d': 'Last 14 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  month: 'This month',
  'last-month': 'Last month',
}

export const WIDEST_DAYS = 92

export type Days = { readonly from: string; readonly to: string }

const iso = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const at = (day: string) => Date.parse(`${day}T00:00:00Z`)

export const shift = (day: string, by: number) => iso(at(day) + by * DAY_MS)
export const daysIn = ({ from, to }: Days) => Math.round((at(to) - at(from)) / DAY_MS) + 1

function daysOfRange(range: Range, today: string): Days {
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

/** The days an address asks for; both ends given, or a preset, or the last 7 days. */
export function daysOf(
  search: { range?: Range | undefined; from?: string | undefined; to?: string | undefined },
  today: string,
): Days {
  const { from, to, range = '7d' } = search
  return from !== undefined && to !== undefined && from <= to && daysIn({ from, to }) <= WIDEST_DAYS
    ? { from, to }
    : daysOfRange(range, today)
}

type Bounds = { readonly date_from: string; readonly date_to: string }

/** The bounds of whole days: a report that ends with the day, or later than now, reads nothing but counters. */
export const boundsOf = ({ from, to }: Days): Bounds => ({ date_from: from, date_to: `${to}T23:59:59.999Z` })

/** As many days before. */
export function daysBefore(days: Days): Days {
  return { from: shift(days.from, -daysIn(days)), to: shift(days.from, -1) }
}

/** Whether the window holds the day that is still running. */
export const isRunning = ({ from, to }: Days, today: string): boolean => from <= today && today <= to

/**
 * The bounds of as many days before. Where the window is still running, the days before end at the same time of day, so that a morning is compared
 * with a morning; in steps of ten minutes, so that the question stays the same for a while.
 */
export function boundsBefore(days: Days, now: number): Bounds {
  const before = daysBefore(days)
  const today = iso(now)
  if (!isRunning(days, today)) return boundsOf(before)
  const clock = (Math.floor(now / 600_000) * 600_000) % DAY_MS
  return { date_from: before.from, date_to: new Date(at(shift(today, -daysIn(days))) + clock).toISOString() }
}

/** Every day of the window up to today. */
export function everyDay(days: Days, today: string): string[] {
  const last = days.to < today ? days.to : today
  return Array.from({ length: Math.max(0, daysIn({ from: days.from, to: last })) }, (_, index) =>
    shift(days.from, index),
  )
}
