// The period that a cap counts in. It begins at midnight in the cap's time zone. No job starts it: the first count does.
import { msOfDatabase } from '../../contract/moments.ts'
import { localPeriod } from '../../contract/time-zones.ts'
import type { CapMetric, CapPeriod } from './api.ts'

/** A period of a cap. `start` is the key of its count; `end` is when a reached cap opens again. Both are also texts for the database. */
export type CapPeriodSpan = {
  readonly start: string
  readonly start_ms: number
  readonly end: string
  readonly end_ms: number
}

/** The only period of a total cap. It starts before every event. */
const TOTAL: CapPeriodSpan = {
  start: '1970-01-01T00:00:00.000Z',
  start_ms: 0,
  end: 'infinity',
  end_ms: Number.POSITIVE_INFINITY,
}

/** The period of a cap at a time (Unix milliseconds). */
export function periodAt({ period, timezone }: { period: CapPeriod; timezone: string }, ms: number): CapPeriodSpan {
  if (period === 'total') return TOTAL
  const { from_ms, to_ms } = localPeriod(timezone, period, ms)
  return {
    start: new Date(from_ms).toISOString(),
    start_ms: from_ms,
    end: new Date(to_ms).toISOString(),
    end_ms: to_ms,
  }
}

/** Unix milliseconds of a time as the database writes it. */
export const msOf = (text: string): number => (text === 'infinity' ? Number.POSITIVE_INFINITY : msOfDatabase(text))

/** The limit in the unit that is counted: conversions, clicks, or cents. */
export const unitsOf = ({ metric, limit }: { metric: CapMetric; limit: number }): number =>
  metric === 'cost' ? limit * CENTS : limit
const CENTS = 100

/** A count as the API shows it: cost in whole dollars. */
export const shownUnits = (metric: CapMetric, units: number): number =>
  metric === 'cost' ? Math.floor(units / CENTS) : units
