/** Times in requests. `Date.parse` would read "1" as a year, 30 February as 1 March, and a time without zone in the server's own zone. */

/** A time as sent: Unix milliseconds, and the further digits of the fraction without trailing zeros. */
export type Moment = { readonly ms: number; readonly finer: string }

const ISO = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:[Zz]|([+\- ])(\d\d)(?::?(\d\d))?)?)?$/

/**
 * Reads ISO 8601. A date alone is its midnight, a time without zone is UTC, and a `+` before the zone may have been decoded to a space. Undefined for
 * text that is no date, 30 February included.
 */
export function parseMoment(text: string): Moment | undefined {
  const [, date, hour = '0', minute = '0', second = '0', fraction = '', sign, zoneHour = '0', zoneMinute = '0'] =
    ISO.exec(text) ?? []
  if (date === undefined) return undefined
  const midnight = Date.parse(`${date}T00:00:00Z`)
  // Date.parse reads 30 February as 1 March.
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(date)) return undefined
  const isWithin = Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60
  const isMidnightAfter = /^240*$/.test(hour + minute + second + fraction)
  if (!isWithin && !isMidnightAfter) return undefined
  if (Number(zoneHour) > 23 || Number(zoneMinute) > 59) return undefined
  const zone = (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === '-' ? -1 : 1)
  const seconds = Number(hour) * 3600 + (Number(minute) - zone) * 60 + Number(second)
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  return { ms: midnight + seconds * 1000 + ms, finer: fraction.slice(3).replace(/0+$/, '') }
}

/** Unix milliseconds of a time as PostgreSQL writes it, such as `2026-11-24 09:30:00.123+00`, or as ISO 8601. NaN for `infinity`. */
export function msOfDatabase(text: string): number {
  return Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
}
