/**
 * How a window is made of counters and clicks: whole days from the counters, the ragged ends from the clicks themselves, either added, or
 * subtracted from a day counted whole, whichever is the shorter stretch of traffic.
 */
import { DAY_MS } from '../../contract/days.ts'
import { type Window } from '../../contract/window.ts'

/** Clicks made from `from` to `to` (Unix ms, both inclusive, within one UTC day), to be added or taken away. */
export type Stretch = { readonly sign: 1 | -1; readonly from: number; readonly to: number }
/** Days as numbers since 1970-01-01, both inclusive; none where `first` is after `last`. */
export type Days = { readonly first: number; readonly last: number }
export type Cover = { readonly days: Days; readonly ends: readonly Stretch[] }

const NO_DAYS: Days = { first: 0, last: -1 }

/** Covers the window. `now` only tells which stretch is shorter: nothing has been clicked after it, but for clocks that differ. */
export function coverOf({ from, to }: Window, now: number): Cover {
  if (from > to) return { days: NO_DAYS, ends: [] }
  const first = Math.floor(from / DAY_MS)
  const last = Math.floor(to / DAY_MS)
  const start = first * DAY_MS
  const end = (last + 1) * DAY_MS - 1
  const traffic = (begins: number, ends: number) => Math.max(0, Math.min(ends, now) - begins + 1)
  const before = stretches(-1, start, from - 1)
  const after = stretches(-1, to + 1, end)
  if (first === last) {
    const around = traffic(start, from - 1) + traffic(to + 1, end)
    if (around <= traffic(from, to)) return { days: { first, last }, ends: [...before, ...after] }
    return { days: NO_DAYS, ends: stretches(1, from, to) }
  }
  const cutsStart = traffic(start, from - 1) <= traffic(from, start + DAY_MS - 1)
  const cutsEnd = traffic(to + 1, end) <= traffic(last * DAY_MS, to)
  return {
    days: { first: cutsStart ? first : first + 1, last: cutsEnd ? last : last - 1 },
    ends: [
      ...(cutsStart ? before : stretches(1, from, start + DAY_MS - 1)),
      ...(cutsEnd ? after : stretches(1, last * DAY_MS, to)),
    ],
  }
}

function stretches(sign: 1 | -1, from: number, to: number): Stretch[] {
  return from > to ? [] : [{ sign, from, to }]
}

/** Days taken apart into whole weeks (Monday to Sunday) and what is left before and after them. */
export function weeksOf({ first, last }: Days): { weeks: Days; around: Days[] } {
  // Day 4 of 1970 was a Monday.
  const monday = Math.ceil((first - 4) / 7) * 7 + 4
  const sunday = Math.floor((last + 1 - 4) / 7) * 7 + 3
  if (monday > sunday) return { weeks: NO_DAYS, around: first > last ? [] : [{ first, last }] }
  const around = [
    { first, last: monday - 1 },
    { first: sunday + 1, last },
  ]
  return { weeks: { first: monday, last: sunday }, around: around.filter(days => days.first <= days.last) }
}
