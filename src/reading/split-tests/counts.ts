/**
 * Counts the visitors of a split test by variant. A visitor belongs to the variant of their first click in the test. Reads `clicks`, `events` and
 * `event_revisions`.
 */
import type pg from 'pg'
import { DAY_MS } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Goals } from '../../traffic/event-settings/goals.ts'
import type { CountedVariant } from './verdict.ts'

/** No conversion is waited for longer. */
const MOST_MATURING_MS = 7 * DAY_MS

/** `variant` is SQL of a click `c`; null: the click is in no variant. */
type CountsAsked = {
  readonly org_id: number
  readonly campaigns: readonly string[]
  readonly variant: string
  readonly since_ms: number
  /** Clicks from then on count no more: the test was ended. */
  readonly until_ms: number
  readonly now_ms: number
}

/** The moment in an id, in Unix milliseconds. */
const madeMs = (id: string) => `('x' || substr(replace(${id}::text, '-', ''), 1, 12))::bit(48)::bigint`

// Nine of ten conversions come within `maturing` of the first click. Visitors who are younger could still convert, so only older ones are compared.
const countsOf = (variant: string) => `
  with clicked as (
    select c.id, c.visitor_id, c.campaign_id, ${variant} as variant from clicks c
    where c.org_id = $1 and c.campaign_id = any($2::uuid[]) and c.id >= $3::uuid and c.id < $7::uuid and c.tracked and c.left_out is null
      and c.visitor_id is not null and ${variant} is not null
  ), firsts as (
    select visitor_id, (array_agg(variant order by id))[1] as variant, ${madeMs('(array_agg(id order by id))[1]')} as first_ms
    from clicked group by visitor_id
  ), goals as (
    select id, goal from json_to_recordset($4::json) as g(id uuid, goal text[])
  ), converted as (
    select clicked.visitor_id, min(extract(epoch from e.created_at) * 1000) as converted_ms,
      sum(coalesce(r.amount, e.payout, 0)) as revenue
    from clicked join events e on e.org_id = $1 and e.click_id = clicked.id and not e.test
    left join goals g on g.id = clicked.campaign_id
    left join lateral (
      select status, amount from event_revisions where org_id = $1 and event_id = e.id order by seq desc limit 1
    ) r on true
    where e.type = any(coalesce(g.goal, $5::text[])) and coalesce(r.status, 'approved') = 'approved'
    group by 1
  ), visitors as (
    select f.variant, f.first_ms, c.converted_ms, coalesce(c.revenue, 0) as revenue
    from firsts f left join converted c on c.visitor_id = f.visitor_id
  ), maturity as (
    select least(coalesce(percentile_cont(0.9) within group (order by converted_ms - first_ms), 0), ${MOST_MATURING_MS}) as maturing
    from visitors where converted_ms is not null
  )
  select variant, count(*)::int as visitors, count(*) filter (where is_mature)::int as matured,
    count(*) filter (where is_mature and converted_ms is not null)::int as conversions,
    coalesce(sum(revenue) filter (where is_mature), 0)::float8 as revenue,
    coalesce(sum(revenue * revenue) filter (where is_mature), 0)::float8 as squares,
    coalesce(max(revenue) filter (where is_mature), 0)::float8 as most
  from (select v.*, v.first_ms <= $6::bigint - m.maturing as is_mature from visitors v cross join maturity m) counted
  group by variant`

/** The counts by variant; a variant without visitors is missing. */
export async function countVariants(
  reads: Pick<pg.Pool, 'query'>,
  { org_id, campaigns, variant, since_ms, until_ms, now_ms }: CountsAsked,
  { goal, own }: Goals,
): Promise<Map<string, CountedVariant>> {
  if (campaigns.length === 0) return new Map()
  const { rows } = await reads.query<CountedVariant & { variant: string }>(countsOf(variant), [
    org_id,
    campaigns,
    firstIdAt(since_ms),
    JSON.stringify(own),
    goal,
    now_ms,
    firstIdAt(until_ms),
  ])
  return new Map(rows.map(({ variant: name, ...counted }) => [name, counted]))
}
