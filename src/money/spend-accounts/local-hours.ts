/**
 * Hours of a time zone in UTC days. Platforms count by the hours of the account's zone; the books by UTC days. Where a zone is off the full hour, or
 * its clocks are turned back, an hour may lie in two UTC days: it is divided by its quarters of an hour, which is a guess and is marked as one.
 */
import { DAY_MS, dayOf, HOUR_MS } from '../../contract/days.ts'

/** No zone of today is off by less. */
const QUARTER_MS = 15 * 60_000
/** Farther than this from UTC no zone is; the date line makes it more than half a day. */
const FARTHEST_MS = 15 * HOUR_MS

/** A UTC day, and how many of the hour's quarters are in it. */
type Part = { readonly day: string; readonly quarters: number }

export type Zone = {
  /** The day (YYYY-MM-DD) and hour there at a moment, in Unix milliseconds. */
  at(ms: number): { readonly day: string; readonly hour: number }
  /** The hours 0 to 23 of a day there: the UTC days each lies in, the earlier first. Never empty: an hour that clocks leave out is where the one before it ends. */
  hoursOf(day: string): readonly (readonly Part[])[]
  /** The first moment of a day there. */
  startOf(day: string): number
}

/** A zone by its IANA name, or undefined where there is none of that name. */
export function zoneOf(timeZone: string): Zone | undefined {
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
  const quartersOf = (day: string) => {
    const midnight = Date.parse(`${day}T00:00:00Z`)
    const found: { ms: number; hour: number }[] = []
    for (let ms = midnight - FARTHEST_MS; ms < midnight + DAY_MS + FARTHEST_MS; ms += QUARTER_MS) {
      const there = at(ms)
      if (there.day === day) found.push({ ms, hour: there.hour })
    }
    return found
  }
  return {
    at,
    hoursOf(day) {
      const quarters = Map.groupBy(quartersOf(day), ({ hour }) => hour)
      const hours: Part[][] = []
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

/** The day after one, both YYYY-MM-DD. */
export const nextDay = (day: string): string => dayOf(Date.parse(`${day}T00:00:00Z`) + DAY_MS)

/** An amount over the days of an hour by its quarters; the last one takes what is left, so that they add up to it. */
export function divide(amount: bigint, parts: readonly Part[]): { readonly day: string; readonly amount: bigint }[] {
  const all = BigInt(parts.reduce((sum, { quarters }) => sum + quarters, 0))
  let left = amount
  return parts.map(({ day, quarters }, at) => {
    const share = at === parts.length - 1 ? left : (amount * BigInt(quarters)) / all
    left -= share
    return { day, amount: share }
  })
}
