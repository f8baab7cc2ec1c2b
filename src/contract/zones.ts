/** Conversion between local times of a zone and moments. Zones have IANA names; the platform has their rules. */
import { DAY_MS } from './days.ts'

const LOCAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/

/**
 * The moment (ISO 8601, UTC) of a local time (YYYY-MM-DDTHH:MM) in a zone. If the hour occurs twice, the first one; if a clock change skips it, as many
 * minutes after the change. Undefined for text that is no such time.
 */
export function momentIn(zone: string, local: string): string | undefined {
  const ms = LOCAL.test(local) ? Date.parse(`${local}:00Z`) : Number.NaN
  if (Number.isNaN(ms)) return undefined
  const before = offsetAt(zone, ms - DAY_MS)
  const both = [ms - before, ms - offsetAt(zone, ms + DAY_MS)]
  const shown = both.find(moment => moment + offsetAt(zone, moment) === ms)
  return new Date(shown ?? ms - before).toISOString()
}

/** The local time of a moment (Unix milliseconds) in a zone: YYYY-MM-DDTHH:MM. */
export function localIn(zone: string, ms: number): string {
  return new Date(ms + offsetAt(zone, ms)).toISOString().slice(0, 16)
}

/** The offset of the zone from UTC at a moment, in milliseconds. */
function offsetAt(zone: string, ms: number): number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...FULL })
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day, hour, minute, second } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000
}

const FULL = {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const
