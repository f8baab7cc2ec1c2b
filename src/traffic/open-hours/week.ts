// Whether a time is within the open half hours of a week.
import { weekClock } from '../../contract/time-zones.ts'

type Week = { readonly timezone: string; readonly week: readonly string[] }

const SLOT_MINUTES = 30

/** Whether it is open at a time (Unix milliseconds), by the local clock. When clocks change, an hour comes twice or not at all. */
export function isWithin({ timezone, week }: Week, ms: number): boolean {
  const { day, minute } = weekClock(timezone, ms)
  return week[day]?.[Math.floor(minute / SLOT_MINUTES)] === '1'
}
