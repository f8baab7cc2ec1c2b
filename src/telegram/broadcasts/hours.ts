/** When a broadcast may be sent: inside of its window, outside of quiet hours, by the clocks of their zones. */
import { weekClock } from '../../contract/time-zones.ts'
import type { HoursOfDay } from '../../contract/telegram-audience.ts'

const minuteOf = (clock: string): number => {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number)
  return hours * 60 + minutes
}

/** Whether a moment (Unix ms) lies in these hours; from 22:00 to 08:00 is over midnight, from a time to the same time is the whole day. */
function isInHours({ from, to, time_zone }: HoursOfDay, ms: number): boolean {
  const { minute } = weekClock(time_zone, ms)
  const [begin, end] = [minuteOf(from), minuteOf(to)]
  return begin < end ? minute >= begin && minute < end : minute >= begin || minute < end
}

type Timed = {
  readonly window: HoursOfDay | null
  readonly audience: { readonly quiet_hours?: HoursOfDay | undefined }
}

/** Whether it may be sent at a moment (Unix ms). */
export function mayBeSent({ window, audience: { quiet_hours } }: Timed, ms: number): boolean {
  return (window === null || isInHours(window, ms)) && (quiet_hours === undefined || !isInHours(quiet_hours, ms))
}

const MINUTE_MS = 60_000

/** How long after a moment (Unix ms) it may not be sent, ms; `most` where that is longer. */
export function closedFor(timed: Timed, ms: number, most: number): number {
  for (let at = ms; at < ms + most; at = at - (at % MINUTE_MS) + MINUTE_MS) if (mayBeSent(timed, at)) return at - ms
  return most
}
