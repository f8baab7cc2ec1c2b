/** Days of the calendar, which are UTC's everywhere in Sluice. */

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** The last millisecond of the year 9999: the database's dates go further, but not as YYYY-MM-DD. */
export const LAST_MS = 253_402_300_799_999

/** The UTC day of a moment as YYYY-MM-DD, brought into the years 1970 to 9999. */
export function dayOf(ms: number): string {
  return new Date(Math.min(Math.max(ms, 0), LAST_MS)).toISOString().slice(0, 10)
}
