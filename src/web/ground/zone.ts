/**
 * By whose clock the screen tells times and begins days: the person's, else the workspace's, else UTC. The shell says it before any page is
 * shown, and shows the page anew when it changes. Days here are dates as YYYY-MM-DD, moments Unix milliseconds; only dates of the calendar
 * and what is counted or booked by UTC day are told without it.
 */
import { dayBeginsIn, isTimeZone, localDay } from '../../contract/time-zones.ts'

let zone = 'UTC'

/** Takes a zone; one that this browser does not know is UTC, rather than a time told wrongly. */
export function keepTimeBy(named: string): void {
  zone = isTimeZone(named) ? named : 'UTC'
}

export const zoneNow = (): string => zone

/** Whether days are those that reports count and spend is booked by. */
export const isUtc = (): boolean => zone === 'UTC'

/** In the head of a column, behind a time: "UTC", or the place that the zone is called after. */
export const zoneWords = (): string => (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ')

/** The date of a moment. */
export const dayAt = (ms: number): string => localDay(zone, ms)

/** The first moment of a date: a day has 23 or 25 hours where the zone's clocks change. */
export const dayBegins = (day: string): number => dayBeginsIn(zone, day)

/** The first moment of the date after it. */
export const dayEnds = (day: string): number => dayBeginsIn(zone, nextDay(day))

const nextDay = (day: string) => new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
