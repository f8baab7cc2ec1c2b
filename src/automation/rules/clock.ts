// When a rule is due, and the window that it judges then. All times are Unix milliseconds by the clock of the process.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { localDay, minutesAhead } from '../../contract/time-zones.ts'
import type { Window } from '../../contract/window.ts'
import { momentIn } from '../../contract/zones.ts'
import type { RuleFields } from './api.ts'

/** How often a rule is checked; `at`: HH:MM, for once a day. */
export type Rhythm = Pick<RuleFields, 'every' | 'at'>
export const USUAL_AT = '09:00'

/** The last full interval of the clock in the zone, at or before a moment. */
export function lastDue({ every, at }: Rhythm, zone: string, ms: number): number {
  if (every === 'day') {
    for (let day = ms; ; day -= DAY_MS) {
      const due = timeOfDay(zone, localDay(zone, day), at ?? USUAL_AT)
      if (due <= ms) return due
    }
  }
  const ahead_ms = (minutesAhead(zone, ms) ?? 0) * MINUTE_MS
  const step_ms = every * MINUTE_MS
  return Math.floor((ms + ahead_ms) / step_ms) * step_ms - ahead_ms
}

/** The first full interval of the clock after a moment. */
export function nextDue(rhythm: Rhythm, zone: string, ms: number): number {
  if (rhythm.every !== 'day') return lastDue(rhythm, zone, lastDue(rhythm, zone, ms) + rhythm.every * MINUTE_MS)
  for (let day = ms; ; day += DAY_MS) {
    const due = timeOfDay(zone, localDay(zone, day), rhythm.at ?? USUAL_AT)
    if (due > ms) return due
  }
}

const timeOfDay = (zone: string, day: string, at: string): number => Date.parse(momentIn(zone, `${day}T${at}`) ?? '')

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
