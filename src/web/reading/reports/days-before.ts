/** The report of as many days before, which the overview's figures are compared with. */
import { readReportAsMember } from '../../../reading/reports/api.ts'
import { ask, call, Refused } from '../../ground/call.ts'
import { boundsBefore, boundsOf, type Days, daysBefore } from '../../ground/figures/window.ts'

/**
 * The query of it. A day whose clicks are no longer kept cannot be cut at a time of day, so there the days before are compared whole: of a
 * window that reaches so far back, one part of a day is little.
 */
export function askBefore(days: Days, now: number, narrowed: { campaign_id?: string }) {
  const query = { dimension: 'day', ...boundsBefore(days, now), ...narrowed } as const
  const whole = { ...query, ...boundsOf(daysBefore(days)) }
  return {
    ...ask(readReportAsMember, { query }),
    queryFn: () =>
      call(readReportAsMember, { query }).catch((error: unknown) => {
        if (error instanceof Refused && error.code === 'invalid_window')
          return call(readReportAsMember, { query: whole })
        throw error
      }),
  }
}
