/** The offsets of a time zone from UTC, for days and hours that are summed from half hours. */
import { DAY_MS } from '../../contract/days.ts'
import { refuse } from '../../contract/refusals.ts'
import { minutesAhead } from '../../contract/time-zones.ts'
import type { Window } from '../../contract/window.ts'
import { SLOT_MS } from './slots.ts'

/** From this moment on (Unix ms) the clocks are `minutes` ahead of UTC. */
export type Shift = { readonly from: number; readonly minutes: number }

/**
 * The offsets of the zone `tz` in the window: first the one at its start, then each change. Refuses `tz_unknown` for a name that is not an IANA zone,
 * and `tz_not_offered` where an offset is not a multiple of half an hour.
 */
export function shiftsOf(tz: string, { from, to }: Window): Shift[] {
  const offsetAt = (ms: number) => minutesAhead(tz, ms) ?? refuse('tz_unknown')
  const shifts: Shift[] = [{ from, minutes: offsetAt(from) }]
  for (let at = from; at < to; ) {
    const next = Math.min(at + DAY_MS, to)
    const before = offsetAt(at)
    if (offsetAt(next) !== before) {
      const changed = changeBetween(offsetAt, at, next)
      shifts.push({ from: changed, minutes: offsetAt(changed) })
    }
    at = next
  }
  if (shifts.some(({ minutes }) => minutes % 30 !== 0))
    refuse('tz_not_offered', {
      error: `time zone not offered here: the offset of ${tz} is not a multiple of half an hour`,
    })
  return shifts
}

/** The first half hour of UTC with the later offset. Clocks change on the half hour. */
function changeBetween(offsetAt: (ms: number) => number, from: number, to: number): number {
  const later = offsetAt(to)
  let [before, after] = [Math.floor(from / SLOT_MS), Math.ceil(to / SLOT_MS)]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (offsetAt(middle * SLOT_MS) === later) after = middle
    else before = middle
  }
  return after * SLOT_MS
}
