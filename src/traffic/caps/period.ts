// The period a cap counts in. It begins at a midnight of the cap's zone and nothing runs there: who counts first begins it.
import { localPeriod } from '../../contract/time-zones.ts'
import type { CapMetric, CapPeriod } from './api.ts'

/** Of a cap's counts: under which moment they are kept, and until when a limit that is reached holds, as the database reads it. */
export type Period = {
  readonly start: string
  readonly start_ms: number
  readonly end: string
  readonly end_ms: number
}

/** All there is: kept under a moment before everything that is counted. */
const TOTAL: Period = {
  start: '1970-01-01T00:00:00.000Z',
  start_ms: 0,
  end: 'infinity',
  end_ms: Number.POSITIVE_INFINITY,
}

/** The period of a cap that a moment lies in. */
export function periodAt({ period, timezone }: { period: CapPeriod; timezone: string }, ms: number): Period {
  if (period === 'total') return TOTAL
  const { from_ms, to_ms } = localPeriod(timezone, period, ms)
  return {
    start: new Date(from_ms).toISOString(),
    start_ms: from_ms,
    end: new Date(to_ms).toISOString(),
    end_ms: to_ms,
  }
}

/** Milliseconds of a moment as the database writes it. */
export const msOf = (text: string): number =>
  text === 'infinity' ? Number.POSITIVE_INFINITY : Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))

/** The limit in what is counted: conversions, clicks, cents. */
export const unitsOf = ({ metric, limit }: { metric: CapMetric; limit: number }): number =>
  metric === 'cost' ? limit * CENTS : limit
const CENTS = 100

/** What was counted as it is shown: cost in whole dollars. */
export const shownUnits = (metric: CapMetric, units: number): number =>
  metric === 'cost' ? Math.floor(units / CENTS) : units
