/** Periods given in whole days of the screen's time zone, the last one included; as moments in ISO 8601. */
import * as zone from '../zone.ts'

export const dayBegins = (day: string): string => new Date(zone.dayBegins(day)).toISOString()

/** The midnight that ends a day. */
export const dayAfter = (day: string): string => new Date(zone.dayEnds(day)).toISOString()
