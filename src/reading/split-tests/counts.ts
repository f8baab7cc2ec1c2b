/**
 * Counts the visitors of a split test by variant and by time of constant weights. A visitor belongs to the variant and the time of their first click
 * in the test. Reads `clicks`, `events` and `event_revisions`.
 */
import type pg from 'pg'
import { DAY_MS } from '../../contract/days.ts'
import { firstIdAt, timeOfId } from '../../contract/ids.ts'
import { msOfId } from '../../ground/db/id-time.ts'
import type { Goals } from '../../traffic/event-settings/goals.ts'
import type { CountedVariant } from './strata.ts'

/** No conversion is waited for longer. */
const MOST_MATURING_MS = 7 * DAY_MS
/** Half a million clicks took two seconds. */
const MOST_CLICKS = 500_000
/** The place of a variant in the list takes six bits. */
const MOST_VARIANTS = 63

/** `variant` is SQL of a click `c`, which gives one of `variants` or anything else. */
type CountsAsked = {
  readonly org_id: number
  readonly campaigns: readonly string[]
  readonly variant: string
  readonly variants: readonly string[]
  readonly since_ms: number
  /** When Sluice moved the weights since then, in order. */
  readonly moves_ms: readonly number[]
  /** Clicks from then on count no more: the test was ended. */
  readonly until_ms: number
  readonly now_ms: number
}

const COUNTS = `c.org_id = $1 and c.campaign_id = any($2::uuid[]) and c.id >= $3::uuid and c.id < $4::uuid and c.tracked and c.left_out is null`

// A visitor's first click is the least of numbers that have its moment above and the place of its variant in the lowest six bits. Visitors who came
// after `until` could still convert: nine of ten conversions come within that time.
const countsOf = (variant: string) => `
  with goals as (
    select id, goal from json_to_recordset($5::json) as g(id uuid, goal text[])
  ), converted as (
    select c.visitor_id, min(extract(epoch from e.created_at) * 1000 - ${msOfId('c.id')}) as took,
      sum(coalesce(r.amount, e.payout, 0))::float8 as revenue
    from events e join clicks c on c.org_id = $1 and c.id = e.click_id and ${COUNTS}
    left join goals g on g.id = c.campaign_id
    left join lateral (
      select status, amount from event_revisions where org_id = $1 and event_id = e.id order by seq desc limit 1
    ) r on true
    where e.org_id = $1 and e.campaign_id = any($2::uuid[]) and not e.test
      and e.type = any(coalesce(g.goal, $6::text[])) and coalesce(r.status, 'approved') = 'approved'
    group by 1
  ), maturity as (
    select $7::bigint - least(coalesce(percentile_cont(0.9) within group (order by took), 0), ${MOST_MATURING_MS})::bigint as until
    from converted
  ), firsts as (
    select c.visitor_id, min(${msOfId('c.id')} * 64 + array_position($8::text[], ${variant})) as first
    from clicks c where ${COUNTS} and c.visitor_id is not null and ${variant} = any($8::text[])
    group by 1
  ), visitors as (
    select f.first & ${MOST_VARIANTS} as place, width_bucket(f.first >> 6, $9::bigint[]) as time, f.first >> 6 <= m.until as is_mature, c.visitor_id is not null as is_converted,
      coalesce(c.revenue, 0) as revenue
    from firsts f cross join maturity m left join converted c on c.visitor_id = f.visitor_id
  )
  select place::int, time::int, count(*)::int as visitors, count(*) filter (where is_mature)::int as matured,
    count(*) filter (where is_mature and is_converted)::int as conversions,
    coalesce(sum(revenue) filter (where is_mature), 0) as revenue,
    coalesce(sum(revenue * revenue) filter (where is_mature), 0) as squares,
    coalesce(max(revenue) filter (where is_mature), 0) as most
  from visitors group by 1, 2`

const NO_VISITORS: CountedVariant = { visitors: 0, matured: 0, conversions: 0, revenue: 0, squares: 0, most: 0 }

/** The counts of each variant, one for each time between two moves. At most 63 variants are counted; the others have no visitors. */
export async function countVariants(
  reads: Pick<pg.Pool, 'query'>,
  { org_id, campaigns, variant, variants, since_ms, moves_ms, until_ms, now_ms }: CountsAsked,
  { goal, own }: Goals,
): Promise<CountedVariant[][]> {
  const counts = variants.map(() => [NO_VISITORS, ...moves_ms.map(() => NO_VISITORS)])
  if (campaigns.length === 0) return counts
  const of = [org_id, campaigns, firstIdAt(since_ms), firstIdAt(until_ms)]
  const values = [...of, JSON.stringify(own), goal, now_ms, variants.slice(0, MOST_VARIANTS), moves_ms.map(Math.ceil)]
  const { rows } = await reads.query<CountedVariant & { place: number; time: number }>(countsOf(variant), values)
  for (const { place, time, ...counted } of rows) {
    const times = counts[place - 1]
    if (times !== undefined) times[time] = counted
  }
  return counts
}

/** Since when a test can be counted: from its beginning, or from the last of so many clicks as are counted at most. */
export async function countedSince(
  reads: Pick<pg.Pool, 'query'>,
  { org_id, campaigns, since_ms }: Pick<CountsAsked, 'org_id' | 'campaigns' | 'since_ms'>,
): Promise<number> {
  const { rows } = await reads.query<{ id: string }>(
    `select id from clicks where org_id = $1 and campaign_id = any($2::uuid[]) and id >= $3::uuid
    order by id desc offset ${MOST_CLICKS} limit 1`,
    [org_id, campaigns, firstIdAt(since_ms)],
  )
  return rows[0] === undefined ? since_ms : timeOfId(rows[0].id) + 1
}
