/** The reports of the previous days, with which the overview's figures are compared. */
import { useQuery } from '@tanstack/react-query'
import { readReportAsMember } from '../../../reading/reports/api.ts'
import { ask, call, isRateUnknown, Refused } from '../../ground/call.ts'
import { boundsBefore, boundsOf, type Days, daysBefore, utcBoundsOf } from '../../ground/figures/window.ts'
import { keptIn } from './reporting.tsx'

type Narrowed = { campaign_id?: string; currency?: string }

/**
 * The previous days: `alike`, for counts, ends at the same time of day as the window if that is still running; `whole`, for money, has whole days,
 * because spend is booked by the day and part of a day's revenue must not be set against all of its cost.
 */
export function useDaysBefore(days: Days, now: number, narrowed: Narrowed) {
  const kept = keptIn(narrowed.currency ?? 'USD')
  const alike = useQuery({ ...askAlike(days, now, narrowed), placeholderData: kept })
  const whole = useQuery({
    ...ask(readReportAsMember, { query: { dimension: 'day', ...boundsOf(daysBefore(days)), ...narrowed } }),
    placeholderData: kept,
  })
  // The chart draws UTC days: in another zone the whole UTC days of the same dates.
  const drawn = useQuery({
    ...ask(readReportAsMember, { query: { dimension: 'day', ...utcBoundsOf(daysBefore(days)), ...narrowed } }),
    placeholderData: kept,
  })
  // Without a rate for the previous days there is no comparison, and no error.
  const [first, second] = [alike, whole].map(({ error }) => (isRateUnknown(error) ? null : error))
  const dataOf = (query: typeof whole) => (query.isError ? undefined : query.data)
  return { alike: dataOf(alike), whole: dataOf(whole), drawn: dataOf(drawn), error: first ?? second ?? null }
}

/**
 * A day whose clicks are no longer kept cannot be cut at a time of day. Then the previous days are compared whole, because in a window that reaches so
 * far back a part of a day matters little.
 */
function askAlike(days: Days, now: number, narrowed: Narrowed) {
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
