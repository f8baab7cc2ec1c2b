/** The click log's address for the same clicks, as far as the log has such filters. */
import { z } from 'zod'
import type { ExploreDimension } from '../../../contract/explore-dimensions.ts'
import { type ClicksSearch, UNKNOWN_COUNTRY } from '../feed/search.ts'
import type { WindowSearch } from '../../ground/figures/search.ts'
import { daysIn, daysOf, isTooWide, RANGES, shift, WIDEST_DAYS } from '../../ground/figures/window.ts'
import { CLICK_STATUSES } from '../../ground/rungs.ts'
import { WIDEST_EXPLORE_DAYS } from '../../../contract/explore.ts'
import type { ExploreSearch, Filter } from './search.ts'

type Narrowing = Pick<ClicksSearch, 'campaign' | 'country' | 'sub1' | 'status' | 'from' | 'to' | 'range'>

/** A filter in the log's address; undefined where the log cannot filter so. */
function narrowing([dimension, said, value, ...more]: Filter): Partial<Narrowing> | undefined {
  if (more.length > 0 || (said !== 'is' && said !== 'is_empty')) return undefined
  const isNone = said === 'is_empty' || value === undefined || value === ''
  switch (dimension) {
    case 'campaign':
      return isNone ? undefined : { campaign: value }
    case 'geo':
      return isNone ? { country: UNKNOWN_COUNTRY } : /^[A-Z]{2}$/.test(value) ? { country: value } : undefined
    case 'sub1':
      return isNone ? undefined : { sub1: value }
    case 'status': {
      const status = CLICK_STATUSES.find(one => one === value)
      return status && { status }
    }
    case 'day':
      return z.iso.date().safeParse(value).success ? { range: undefined, from: value, to: value } : undefined
    default:
      return undefined
  }
}

/** Of a longer time the log shows the last days. Fewer than its 92 days of 24 hours, because a day may have 25 hours. */
export const DAYS_OF_LOG = 90

/** The days of the log's address: those that were chosen, or the last ones where the log does not show so many. */
export function daysOfLog(
  search: ExploreSearch,
  today: string,
): { readonly days: WindowSearch; readonly isCut: boolean } {
  const { from, to } = daysOf(search, today, WIDEST_EXPLORE_DAYS)
  const isCut = daysIn({ from, to }) > WIDEST_DAYS || isTooWide({ from, to })
  if (isCut) return { days: { from: shift(to, 1 - DAYS_OF_LOG), to }, isCut }
  const range = RANGES.find(one => one === search.range)
  return { days: { range, from: search.from, to: search.to }, isCut }
}

/** The log's filters, and the dimensions that the log cannot filter by. */
export function clicksOf(filters: readonly Filter[]): {
  readonly search: Partial<Narrowing>
  readonly left: readonly ExploreDimension[]
} {
  const found = filters.map(filter => ({ dimension: filter[0], of: narrowing(filter) }))
  // A filter with several values is implied where another filter names one of them.
  const isImplied = ([dimension, said, ...values]: Filter) =>
    said === 'is' &&
    values.length > 1 &&
    filters.some(
      ([of, one, value, ...more]) =>
        of === dimension && one === 'is' && more.length === 0 && values.includes(value ?? ''),
    )
  return {
    search: Object.assign({}, ...found.map(({ of }) => of ?? {})) as Partial<Narrowing>,
    left: [
      ...new Set(
        found.flatMap(({ dimension, of }, at) =>
          of === undefined && !isImplied(filters[at] as Filter) ? [dimension] : [],
        ),
      ),
    ],
  }
}
