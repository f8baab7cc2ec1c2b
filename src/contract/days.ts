/** Calendar days. Days are UTC days unless a time zone is named. */

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** The last millisecond of the year 9999, the last year that YYYY-MM-DD can write. */
export const LAST_MS = 253_402_300_799_999

/** The UTC day of a moment as YYYY-MM-DD, limited to the years 1970 to 9999. */
export function dayOf(ms: number): string {
  return new Date(Math.min(Math.max(ms, 0), LAST_MS)).toISOString().slice(0, 10)
}
