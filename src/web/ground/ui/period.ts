/** Periods given in whole UTC days, the last one included. */

export const dayBegins = (day: string): string => `${day}T00:00:00.000Z`

/** The midnight that ends a day. */
export function dayAfter(day: string): string {
  const midnight = new Date(`${day}T00:00:00Z`)
  midnight.setUTCDate(midnight.getUTCDate() + 1)
  return midnight.toISOString()
}
