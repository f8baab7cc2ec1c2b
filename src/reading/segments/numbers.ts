/**
 * SQL of the sums of segments by day, and of the same numbers in the report, to compare the two. The report's numbers are its counters, `event_counts`
 * and the events that are not counted there yet. The report has no `without_amounts`, so a day with such rows differs and is rebuilt.
 */
import { dayOfId, PENDING_CHANGE, REJECTED_CHANGE, WAS } from '../reports/fold-events.ts'
import { daysTaken, SLOT_NUMBERS } from '../reports/slots.ts'
import { ALL_CAMPAIGNS, UNITS } from '../reports/units.ts'

const EVENTS = ['events', 'events_pending', 'events_rejected', 'without_amounts'] as const

/** The columns of sums that a segment has besides its body. */
export const SEGMENT_NUMBERS = [...SLOT_NUMBERS, ...EVENTS]

/** The columns of a union in the order of `SEGMENT_NUMBERS`: 0 where `of` returns undefined. */
export const numberColumns = (of: (name: string) => string | undefined): string =>
  SEGMENT_NUMBERS.map(name => `${of(name) ?? '0'} as ${name}`).join(', ')

const KEPT_FROM = `coalesce((select ${dayOfId('before_id')} from dropped_clicks order by before_id desc limit 1), '-infinity'::date)`

/** Conversions are not compared for days whose clicks are no longer kept: an earlier version may have counted these without conversions by type. */
const IS_KEPT = `day >= ${KEPT_FROM}`

/** SQL of the sums of segments by day; `where` is a condition on the day. */
export const segmentSums = (where: string): string =>
  `select day, ${SEGMENT_NUMBERS.map(name => (SLOT_NUMBERS.includes(name) ? name : `case when ${IS_KEPT} then ${name} else 0 end as ${name}`)).join(', ')}
    from segments where org_id = $1 and ${where}`

/** SQL of the report's numbers by day, negated; `where` is a condition on the day. */
export function negatedReport(where: string): string {
  const counters = daysTaken(UNITS.campaign + ALL_CAMPAIGNS, where)
  return `select day, ${SEGMENT_NUMBERS.map(name => (SLOT_NUMBERS.includes(name) ? name : '0')).join(', ')} from (${counters}) counted
    union all
    select day, ${numberColumns(name => ({ events: '-events', events_pending: '-pending', events_rejected: '-rejected' })[name])}
    from event_counts where org_id = $1 and dimension = ${UNITS.campaign + ALL_CAMPAIGNS} and ${where} and ${IS_KEPT}
    union all
    select * from (
      select ${dayOfId('click_id')} as day, ${numberColumns(name => (name === 'events' ? '-1' : undefined))}
      from events where org_id = $1 and not counted and not test
    ) recorded where ${where} and ${IS_KEPT}
    union all
    select * from (
      select ${dayOfId('e.click_id')} as day,
        ${numberColumns(name => ({ events_pending: `-${PENDING_CHANGE}`, events_rejected: `-${REJECTED_CHANGE}` })[name])}
      from event_revisions r
      join events e on e.org_id = $1 and e.id = r.event_id
      ${WAS}
      where r.org_id = $1 and not r.counted and not e.test
    ) revised where ${where} and ${IS_KEPT}`
}
