/** How the clocks of a time zone stand to UTC, as far as days and hours made of half hours need it. */
import { DAY_MS } from '../../contract/days.ts'
import { refuse } from '../../contract/refusals.ts'
import { minutesAhead } from '../../contract/time-zones.ts'
import type { Window } from '../../contract/window.ts'
import { SLOT_MS } from './slots.ts'

/** From this moment on (Unix ms) the clocks are `minutes` ahead of UTC. */
export type Shift = { readonly from: number; readonly minutes: number }

/**
 * How the clocks of the zone `tz` stand over the window: first how at its beginning, then each change. Refuses `tz_unknown` for what is no
 * IANA name, `tz_not_offered` for clocks that do not stand on the half hour.
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
    refuse('tz_not_offered', { error: `time zone not offered here: the clocks of ${tz} do not stand on the half hour` })
  return shifts
}

/** The first half hour of UTC with the later offset: clocks are changed on the half hour. */
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
