/** Whole days of the screen's time zone as moments in ISO 8601. */
import * as zone from '../zone.ts'

export const isoDayBegins = (day: string): string => new Date(zone.dayBegins(day)).toISOString()

/** The midnight at the end of a day. */
export const isoDayAfter = (day: string): string => new Date(zone.dayEnds(day)).toISOString()
