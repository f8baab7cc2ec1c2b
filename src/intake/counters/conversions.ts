/**
 * The conversions of one click by type and status, as a text: `ftd:0,1,0,0 lead:2,0,0,12500000`. Types are in alphabetical order, each with how many
 * are approved, pending and rejected (with refunds and chargebacks), and what the approved ones pay in millionths of a US dollar. Equal conversions
 * give equal texts. Null: the click has none. Processes of the version before write no amounts.
 */

/** How many are approved, pending, rejected, and what the approved ones pay in millionths; undefined where the text does not say. */
export type StatusCounts = readonly [
  approved: number,
  pending: number,
  rejected: number,
  millionths: bigint | undefined,
]

/** Counts by event type. */
export type StatusCountsByType = ReadonlyMap<string, StatusCounts>

export function readConversions(text: string | null): Map<string, StatusCounts> {
  const countsByType = new Map<string, StatusCounts>()
  for (const one of text === null || text === '' ? [] : text.split(' ')) {
    const [type = '', counts = ''] = one.split(':')
    const [approved, pending, rejected, millionths] = counts.split(',')
    const amount = millionths === undefined ? undefined : BigInt(millionths)
    countsByType.set(type, [Number(approved ?? 0), Number(pending ?? 0), Number(rejected ?? 0), amount])
  }
  return countsByType
}

export function writeConversions(conversions: StatusCountsByType): string | null {
  const types = [...conversions].filter(
    ([, [approved, pending, rejected]]) => approved !== 0 || pending !== 0 || rejected !== 0,
  )
  if (types.length === 0) return null
  return types
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([type, counts]) => `${type}:${counts.filter(count => count !== undefined).join(',')}`)
    .join(' ')
}

/** A copy with one conversion of a type more or fewer; `at` is 0 for approved, 1 for pending, 2 for rejected. */
export function withOne(
  conversions: StatusCountsByType,
  type: string,
  at: 0 | 1 | 2,
  more: 1 | -1,
): StatusCountsByType {
  const [approved, pending, rejected, millionths] = conversions.get(type) ?? NONE
  const counts: [number, number, number] = [approved, pending, rejected]
  counts[at] += more
  return new Map(conversions).set(type, [...counts, millionths])
}

/** A copy in which the approved conversions of a type pay `more` millionths more. */
export function withAmount(conversions: StatusCountsByType, type: string, more: bigint): StatusCountsByType {
  const [approved, pending, rejected, millionths = 0n] = conversions.get(type) ?? NONE
  return new Map(conversions).set(type, [approved, pending, rejected, millionths + more])
}

const NONE: StatusCounts = [0, 0, 0, 0n]

/** SQL conditions: which statuses count as pending and as rejected. All other events are approved. */
export const IS_PENDING = (status: string) => `${status} = 'pending'`
export const IS_REJECTED = (status: string) => `${status} in ('rejected', 'refunded', 'chargeback')`

/** For a lateral join: `status` and `amount` of an event's last revision; no row without revisions. */
export const LAST_STATUS = (org: string, event: string) =>
  `select status, amount from event_revisions where org_id = ${org} and event_id = ${event} order by seq desc limit 1`

/** SQL expression for the text of a click's conversions. */
export const CONVERSIONS_OF = (org: string, click: string) => `(
    select string_agg(type || ':' || (events - pending - rejected) || ',' || pending || ',' || rejected || ',' || millionths, ' ' order by type collate "C") from (
      select e.type, count(*) as events, count(*) filter (where ${IS_PENDING('r.status')}) as pending,
        count(*) filter (where ${IS_REJECTED('r.status')}) as rejected,
        (coalesce(sum(case when r.status is null then e.payout when r.status = 'approved' then r.amount end), 0) * 1000000)::bigint as millionths
      from events e left join lateral (${LAST_STATUS(org, 'e.id')}) r on true
      where e.org_id = ${org} and e.click_id = ${click} and e.confirmed_at is distinct from 'infinity'
      group by e.type
    ) by_type
  )`
