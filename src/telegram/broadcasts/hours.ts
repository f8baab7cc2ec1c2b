/** When a broadcast may be sent: inside its window and outside its quiet hours, in their time zones. */
import { MINUTE_MS } from '../../contract/days.ts'
import { weekClock } from '../../contract/time-zones.ts'
import type { HoursOfDay } from '../../contract/telegram-audience.ts'

const minuteOf = (clock: string): number => {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number)
  return hours * 60 + minutes
}

/** Whether a time (Unix ms) is within these hours. 22:00 to 08:00 spans midnight; equal times mean the whole day. */
function isInHours({ from, to, time_zone }: HoursOfDay, ms: number): boolean {
  const { minute } = weekClock(time_zone, ms)
  const [begin, end] = [minuteOf(from), minuteOf(to)]
  return begin < end ? minute >= begin && minute < end : minute >= begin || minute < end
}

type Timed = {
  readonly window: HoursOfDay | null
  readonly audience: { readonly quiet_hours?: HoursOfDay | undefined }
}

/** Whether it may be sent at a time (Unix ms). */
export function mayBeSent({ window, audience: { quiet_hours } }: Timed, ms: number): boolean {
  return (window === null || isInHours(window, ms)) && (quiet_hours === undefined || !isInHours(quiet_hours, ms))
}

/** How long from a time (Unix ms) it may not be sent, in ms, at most `most`. */
export function closedFor(timed: Timed, ms: number, most: number): number {
  for (let at = ms; at < ms + most; at = at - (at % MINUTE_MS) + MINUTE_MS) if (mayBeSent(timed, at)) return at - ms
  return most
}
