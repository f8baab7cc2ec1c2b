/**
 * The time zone of the screen's times and days: the person's, else the workspace's, else UTC. The shell sets it before it shows a page,
 * and mounts the page again after a change. Days here are dates as YYYY-MM-DD, moments are Unix milliseconds. Only calendar dates and
 * data counted or booked by UTC day are shown without it.
 */
import { DAY_MS } from '../../contract/days.ts'
import { dayBeginsIn, isTimeZone, localDay } from '../../contract/time-zones.ts'

let zone = 'UTC'

/** Sets the zone. A zone that this browser does not know becomes UTC, so that no wrong time is shown. */
export function setScreenZone(name: string): void {
  zone = isTimeZone(name) ? name : 'UTC'
}

export const zoneNow = (): string => zone

/** Whether the screen's days are the UTC days by which reports count and spend is booked. */
export const isUtc = (): boolean => zone === 'UTC'

/** The zone in a few letters, such as "UTC" or "New York", to show after a time. */
export const zoneWords = (): string => (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ')

/** The date of a moment in the screen's zone. */
export const dayAt = (ms: number): string => localDay(zone, ms)

/** The first moment of a date. A day has 23 or 25 hours when the zone's clocks change. */
export const dayBegins = (day: string): number => dayBeginsIn(zone, day)

/** The first moment of the date after it. */
export const dayEnds = (day: string): number => dayBeginsIn(zone, nextDay(day))

const nextDay = (day: string) => new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10)
