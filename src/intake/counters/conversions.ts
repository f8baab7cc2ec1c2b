/**
 * The conversions of one click by type and status, as a text: `ftd:0,1,0 lead:2,0,0`. Types are in alphabetical order, each with how many are
 * approved, pending and rejected (with refunds and chargebacks). Equal conversions give equal texts. Null: the click has none.
 */

/** How many are approved, pending, rejected. */
type StatusCounts = readonly [approved: number, pending: number, rejected: number]

/** Counts by event type. */
export type Conversions = ReadonlyMap<string, StatusCounts>

export function readConversions(text: string | null): Map<string, StatusCounts> {
  const found = new Map<string, StatusCounts>()
  for (const one of text === null || text === '' ? [] : text.split(' ')) {
    const [type = '', counts = ''] = one.split(':')
    const [approved = 0, pending = 0, rejected = 0] = counts.split(',').map(Number)
    found.set(type, [approved, pending, rejected])
  }
  return found
}

export function writeConversions(conversions: Conversions): string | null {
  const types = [...conversions].filter(([, counts]) => counts.some(count => count !== 0))
  if (types.length === 0) return null
  return types
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([type, counts]) => `${type}:${counts.join(',')}`)
    .join(' ')
}

/** A copy with one conversion of a type more or fewer; `at` is 0 for approved, 1 for pending, 2 for rejected. */
export function withOne(conversions: Conversions, type: string, at: 0 | 1 | 2, more: 1 | -1): Conversions {
  const counts = [...(conversions.get(type) ?? [0, 0, 0])] as [number, number, number]
  counts[at] += more
  return new Map(conversions).set(type, counts)
}

/** SQL conditions: which statuses count as pending and as rejected. All other events are approved. */
export const IS_PENDING = (status: string) => `${status} = 'pending'`
export const IS_REJECTED = (status: string) => `${status} in ('rejected', 'refunded', 'chargeback')`

/** For a lateral join: the `status` of an event's last revision; no row without revisions. */
export const LAST_STATUS = (org: string, event: string) =>
  `select status from event_revisions where org_id = ${org} and event_id = ${event} order by seq desc limit 1`

/** SQL expression for the text of a click's conversions. */
export const CONVERSIONS_OF = (org: string, click: string) => `(
    select string_agg(type || ':' || (events - pending - rejected) || ',' || pending || ',' || rejected, ' ' order by type collate "C") from (
      select e.type, count(*) as events, count(*) filter (where ${IS_PENDING('r.status')}) as pending,
        count(*) filter (where ${IS_REJECTED('r.status')}) as rejected
      from events e left join lateral (${LAST_STATUS(org, 'e.id')}) r on true
      where e.org_id = ${org} and e.click_id = ${click}
      group by e.type
    ) by_type
  )`
