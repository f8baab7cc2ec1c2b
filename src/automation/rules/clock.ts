// When a rule is due, and the window that it judges then. All times are Unix milliseconds by the clock of the process.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { minutesAhead, nextTimeIn } from '../../contract/time-zones.ts'
import type { Window } from '../../contract/window.ts'
import type { RuleFields } from './api.ts'

/** How often a rule is checked; `at`: HH:MM, for once a day. */
export type Rhythm = Pick<RuleFields, 'every' | 'at'>
export const USUAL_AT = '09:00'

/** The last full interval of the clock in the zone, at or before a moment. */
export function lastDue({ every, at }: Rhythm, zone: string, ms: number): number {
  if (every === 'day') {
    const time = at ?? USUAL_AT
    let due = nextTimeIn(zone, time, ms - 3 * DAY_MS)
    for (let next = due; next <= ms; next = nextTimeIn(zone, time, due)) due = next
    return due
  }
  const step_ms = every * MINUTE_MS
  const aheadAt = (moment: number) => (minutesAhead(zone, moment) ?? 0) * MINUTE_MS
  const before = (ahead_ms: number) => Math.floor((ms + ahead_ms) / step_ms) * step_ms - ahead_ms
  const due = before(aheadAt(ms))
  const ahead_ms = aheadAt(due)
  if (ahead_ms === aheadAt(ms)) return due
  // Clocks have changed since then, so it is the last full interval before the change.
  const was = before(ahead_ms)
  return aheadAt(was) === ahead_ms ? was : was - step_ms
}

/** The first full interval of the clock after a moment. */
export function nextDue(rhythm: Rhythm, zone: string, ms: number): number {
  if (rhythm.every === 'day') return nextTimeIn(zone, rhythm.at ?? USUAL_AT, ms)
  const step_ms = rhythm.every * MINUTE_MS
  // Where clocks change by half an hour, no interval may begin within one step.
  for (let ahead_ms = step_ms; ; ahead_ms += step_ms) {
    const due = lastDue(rhythm, zone, ms + ahead_ms)
    if (due > ms) return due
  }
}

/** A due time is also checked by a process that began so much later. */
export const LATE_MS = MINUTE_MS

type Up = { readonly planned_ms: number; readonly now_ms: number; readonly began_ms: number }

/** The due time to check now, if one has come since the planned one and a process was up then. Only the latest one counts. */
export function dueNow(rhythm: Rhythm, zone: string, { planned_ms, now_ms, began_ms }: Up): number | undefined {
  const due = lastDue(rhythm, zone, now_ms)
  return planned_ms <= now_ms && due >= planned_ms && due >= began_ms - LATE_MS ? due : undefined
}

/** The window that a check at a due time judges; `to` is the last millisecond. */
export function windowAt({ hours, leave_out_newest_hours }: RuleFields['window'], due: number): Window {
  const end = due - leave_out_newest_hours * HOUR_MS
  return { from: end - hours * HOUR_MS, to: end - 1 }
}
