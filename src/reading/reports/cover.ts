/**
 * Covers a window with counters and clicks: whole days from the counters, the ragged ends from the clicks. An end is added, or subtracted from a whole
 * day, whichever reads less traffic.
 */
import { DAY_MS } from '../../contract/days.ts'
import { type Window } from '../../contract/window.ts'

/** Clicks made from `from` to `to` (Unix ms, both inclusive, within one UTC day or half hour), to be added (1) or subtracted (-1). */
export type Stretch = { readonly sign: 1 | -1; readonly from: number; readonly to: number }
/** Days, or half hours, as numbers since 1970-01-01, both inclusive; none where `first` is after `last`. */
export type DayRange = { readonly first: number; readonly last: number }
export type Cover = { readonly days: DayRange; readonly ends: readonly Stretch[] }

/** Whether there is any day. */
export const isAny = ({ first, last }: DayRange): boolean => first <= last

const NO_DAYS: DayRange = { first: 0, last: -1 }

/** Covers the window by days, or other counted periods of `size_ms`. `now` only decides which stretch is shorter, because there are no clicks after it. */
export function coverOf({ from, to }: Window, now: number, size_ms = DAY_MS): Cover {
  if (from > to) return { days: NO_DAYS, ends: [] }
  const first = Math.floor(from / size_ms)
  const last = Math.floor(to / size_ms)
  const start = first * size_ms
  const end = (last + 1) * size_ms - 1
  const traffic = (begins: number, ends: number) => Math.max(0, Math.min(ends, now) - begins + 1)
  const before = stretches(-1, start, from - 1)
  const after = stretches(-1, to + 1, end)
  if (first === last) {
    const around = traffic(start, from - 1) + traffic(to + 1, end)
    if (around <= traffic(from, to)) return { days: { first, last }, ends: [...before, ...after] }
    return { days: NO_DAYS, ends: stretches(1, from, to) }
  }
  const cutsStart = traffic(start, from - 1) <= traffic(from, start + size_ms - 1)
  const cutsEnd = traffic(to + 1, end) <= traffic(last * size_ms, to)
  return {
    days: { first: cutsStart ? first : first + 1, last: cutsEnd ? last : last - 1 },
    ends: [
      ...(cutsStart ? before : stretches(1, from, start + size_ms - 1)),
      ...(cutsEnd ? after : stretches(1, last * size_ms, to)),
    ],
  }
}

function stretches(sign: 1 | -1, from: number, to: number): Stretch[] {
  return from > to ? [] : [{ sign, from, to }]
}

/** Days as whole weeks (Monday to Sunday) and the days before and after them. */
export function weeksOf({ first, last }: DayRange): { weeks: DayRange; around: DayRange[] } {
  // Day 4 of 1970 was a Monday.
  const monday = Math.ceil((first - 4) / 7) * 7 + 4
  const sunday = Math.floor((last + 1 - 4) / 7) * 7 + 3
  if (monday > sunday) return { weeks: NO_DAYS, around: first > last ? [] : [{ first, last }] }
  const around = [
    { first, last: monday - 1 },
    { first: sunday + 1, last },
  ]
  return { weeks: { first: monday, last: sunday }, around: around.filter(isAny) }
}
