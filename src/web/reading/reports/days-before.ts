/** The report of as many days before, which the overview's figures are compared with. */
import { useQuery } from '@tanstack/react-query'
import { readReportAsMember } from '../../../reading/reports/api.ts'
import { ask, call, isRateUnknown, Refused } from '../../ground/call.ts'
import { boundsBefore, boundsOf, type Days, daysBefore, utcBoundsOf } from '../../ground/figures/window.ts'
import { keptIn } from './reporting.tsx'

type Narrowed = { campaign_id?: string; currency?: string }

/**
 * The days before, `alike` for clicks and what they came to, which end at the same time of day where the window is still running, and
 * `whole` for all that has to do with money: spend is known by the day, and part of a day's revenue against all of its cost is no figure.
 */
export function useDaysBefore(days: Days, now: number, narrowed: Narrowed) {
  const kept = keptIn(narrowed.currency ?? 'USD')
  const alike = useQuery({ ...askAlike(days, now, narrowed), placeholderData: kept })
  const whole = useQuery({
    ...ask(readReportAsMember, { query: { dimension: 'day', ...boundsOf(daysBefore(days)), ...narrowed } }),
    placeholderData: kept,
  })
  // Drawn by UTC day: in another zone those of the same dates, whole.
  const drawn = useQuery({
    ...ask(readReportAsMember, { query: { dimension: 'day', ...utcBoundsOf(daysBefore(days)), ...narrowed } }),
    placeholderData: kept,
  })
  // Days that there is no rate of are compared with nothing.
  const [first, second] = [alike, whole].map(({ error }) => (isRateUnknown(error) ? null : error))
  const told = (query: typeof whole) => (query.isError ? undefined : query.data)
  return { alike: told(alike), whole: told(whole), drawn: told(drawn), error: first ?? second ?? null }
}

/**
 * A day whose clicks are no longer kept cannot be cut at a time of day, so there the days before are compared whole: of a window that
 * reaches so far back, one part of a day is little.
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
