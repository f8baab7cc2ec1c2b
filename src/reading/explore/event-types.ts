/** The types of events that a workspace has had. Reads `event_counts` and `events`. */
import type pg from 'pg'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { EVENT_TYPES, type EventType } from '../../contract/event-types.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Window } from '../../contract/window.ts'
import { ALL_CAMPAIGNS, UNITS } from '../reports/units.ts'

/** Types counted by day, and types of events that are not counted yet. */
const READ = `
  select type from event_counts
  where org_id = $1 and dimension = ${UNITS.campaign + ALL_CAMPAIGNS} and day between $2 and $3 and events > 0
  union
  select type from events where org_id = $1 and not counted and not test and click_id >= $4::uuid and click_id < $5::uuid`

/** The types of events of clicks of the UTC days of a window, without test clicks, in the usual order. */
export async function readEventTypes(
  reads: Pick<pg.Pool, 'query'>,
  org_id: number,
  { from, to }: Window,
): Promise<EventType[]> {
  const [first, last] = [dayOf(from), dayOf(to)]
  const ids = [firstIdAt(Date.parse(first)), firstIdAt(Date.parse(last) + DAY_MS)]
  const { rows } = await reads.query<{ type: EventType }>(READ, [org_id, first, last, ...ids])
  const had = new Set(rows.map(({ type }) => type))
  return EVENT_TYPES.filter(type => had.has(type))
}
