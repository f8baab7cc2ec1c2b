/**
 * Maps hours of a time zone to UTC days. Platforms report by hours of the account's time zone; Sluice books by UTC day. In a zone that is off the
 * full hour, or when clocks are turned back, an hour may span two UTC days. It is then divided by quarters of an hour, and marked as estimated.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, dayOf } from '../../contract/days.ts'
import { keepRecent } from '../../ground/recent.ts'

/** Today's offsets from UTC are multiples of this. */
const QUARTER_MS = 15 * MINUTE_MS
/** The largest offset from UTC, with some reserve. */
const FARTHEST_MS = 15 * HOUR_MS

type Quarter = { readonly ms: number; readonly hour: number }
/** The quarters of recent local days, by zone and day. Each day takes Intl some milliseconds, and every sync of every account asks for the same days. */
const recentDays = keepRecent<readonly Quarter[]>(200)

/** A UTC day, and the number of the hour's quarters in it. */
type HourPart = { readonly day: string; readonly quarters: number }

export type AccountZone = {
  /** The local day (YYYY-MM-DD) and hour at a moment in Unix milliseconds. */
  at(ms: number): { readonly day: string; readonly hour: number }
  /** For the hours 0 to 23 of a local day, the UTC days each lies in, the earlier first. An hour that clocks skip gets the last UTC day of the hour before. */
  hoursOf(day: string): readonly (readonly HourPart[])[]
  /** The first moment of a local day, in Unix milliseconds. */
  startOf(day: string): number
}

/** A zone by its IANA name, or undefined if the name is unknown. */
export function accountZone(timeZone: string): AccountZone | undefined {
  let format: Intl.DateTimeFormat
  try {
    const fields = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit' } as const
    format = new Intl.DateTimeFormat('en-US', { timeZone, calendar: 'gregory', hourCycle: 'h23', ...fields })
  } catch {
    return undefined
  }
  const at = (ms: number) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]))
    const day = `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`
    return { day, hour: Number(parts.get('hour')) }
  }
  const quartersOf = (day: string): readonly Quarter[] => {
    const recent = recentDays.get(`${timeZone} ${day}`)
    if (recent !== undefined) return recent
    const midnight = Date.parse(`${day}T00:00:00Z`)
    const found: Quarter[] = []
    for (let ms = midnight - FARTHEST_MS; ms < midnight + DAY_MS + FARTHEST_MS; ms += QUARTER_MS) {
      const local = at(ms)
      if (local.day === day) found.push({ ms, hour: local.hour })
    }
    recentDays.set(`${timeZone} ${day}`, found)
    return found
  }
  return {
    at,
    hoursOf(day) {
      const quarters = Map.groupBy(quartersOf(day), ({ hour }) => hour)
      const hours: HourPart[][] = []
      let last = day
      for (let hour = 0; hour < 24; hour += 1) {
        const days = Map.groupBy(quarters.get(hour) ?? [], ({ ms }) => dayOf(ms))
        const parts = [...days].map(([day, list]) => ({ day, quarters: list.length }))
        last = parts.at(-1)?.day ?? last
        hours.push(parts.length > 0 ? parts : [{ day: last, quarters: 1 }])
      }
      return hours
    },
    startOf: day => quartersOf(day)[0]?.ms ?? Date.parse(`${day}T00:00:00Z`),
  }
}

/** The next day, both YYYY-MM-DD. */
export const nextDay = (day: string): string => dayOf(Date.parse(`${day}T00:00:00Z`) + DAY_MS)

/** Divides an amount over the days of an hour by quarters. The last day gets the rest, so that the parts add up. */
export function divideByQuarters(
  amount: bigint,
  parts: readonly HourPart[],
): { readonly day: string; readonly amount: bigint }[] {
  const all = BigInt(parts.reduce((sum, { quarters }) => sum + quarters, 0))
  let left = amount
  return parts.map(({ day, quarters }, at) => {
    const share = at === parts.length - 1 ? left : (amount * BigInt(quarters)) / all
    left -= share
    return { day, amount: share }
  })
}
