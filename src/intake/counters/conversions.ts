/**
 * How the conversions of one click stand, by type, as a text that is equal for equal standings: `ftd:0,1,0 lead:2,0,0`, the types in the order of
 * their names, each with how many are approved, pending and rejected (refunds and chargebacks with them). Null: it has none.
 */

/** How many are approved, pending, rejected. */
type StandingCounts = readonly [approved: number, pending: number, rejected: number]

/** By type of event. */
export type Conversions = ReadonlyMap<string, StandingCounts>

export function readConversions(text: string | null): Map<string, StandingCounts> {
  const found = new Map<string, StandingCounts>()
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

/** The same with one more of a type, or one fewer. */
export function withOne(conversions: Conversions, type: string, at: 0 | 1 | 2, more: 1 | -1): Conversions {
  const counts = [...(conversions.get(type) ?? [0, 0, 0])] as [number, number, number]
  counts[at] += more
  return new Map(conversions).set(type, counts)
}

/** The statuses that count as pending and as rejected, for SQL; every other event is approved. */
export const IS_PENDING = (status: string) => `${status} = 'pending'`
export const IS_REJECTED = (status: string) => `${status} in ('rejected', 'refunded', 'chargeback')`

/** The last word on an event, as `status`; null where nothing was said. For a lateral join. */
export const LAST_STATUS = (org: string, event: string) =>
  `select status from event_revisions where org_id = ${org} and event_id = ${event} order by seq desc limit 1`

/** The text of a click's conversions, as an expression. */
export const CONVERSIONS_OF = (org: string, click: string) => `(
    select string_agg(type || ':' || (events - pending - rejected) || ',' || pending || ',' || rejected, ' ' order by type collate "C") from (
      select e.type, count(*) as events, count(*) filter (where ${IS_PENDING('r.status')}) as pending,
        count(*) filter (where ${IS_REJECTED('r.status')}) as rejected
      from events e left join lateral (${LAST_STATUS(org, 'e.id')}) r on true
      where e.org_id = ${org} and e.click_id = ${click}
      group by e.type
    ) by_type
  )`
