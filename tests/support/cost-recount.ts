// The cost of clicks by plain SQL over clicks and amounts, sharing no code with Explore: each click has its own cost, or its share of the amounts that replace it.
import type pg from 'pg'
import { DAY_MS } from '../../src/contract/days.ts'
import { firstIdAt } from '../../src/contract/ids.ts'
import type { ExploreDimension } from '../../src/contract/explore-dimensions.ts'

export type Costed = {
  readonly clicks: number
  readonly cost: string
  readonly clicks_without_cost: number
  readonly revenue_without_cost: string
}

const MS = `('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint`
const CLOCK = `(to_timestamp(ms / 1000.0) at time zone $4)`
const KEYS: Partial<Record<ExploreDimension, string>> = {
  day: `to_char(${CLOCK}, 'YYYY-MM-DD')`,
  hour: `to_char(${CLOCK}, 'HH24')`,
  weekday: `to_char(${CLOCK}, 'ID')`,
  weekday_hour: `to_char(${CLOCK}, 'ID-HH24')`,
  campaign: 'campaign_id::text',
  offer: 'offer_id::text',
  source: `(select traffic_source_id::text from campaigns g where g.org_id = $1 and g.id = campaign_id)`,
  way: `coalesce(way, 'redirect')`,
  is_left_out: `(left_out is not null)::text`,
  is_new: `case when visitor_is_new then 'true' else 'false' end`,
  status: `(array['clicked', 'landed', 'started', 'registered', 'lead', 'deposit', 'ftd'])[status + 1]`,
}
/** The known dimensions of an amount that no click shares. */
const KNOWN: readonly ExploreDimension[] = ['day', 'weekday', 'campaign', 'source', 'sub1']

/** Each amount that counts with the clicks that share it: all of its campaign's day, or those with its sub1. */
const SHARED = `
  said as (
    select day, campaign_id, sub1, amount, 1 as rank, 'entered' as origin from ad_spend where org_id = $1
    union all
    select day, campaign_id, sub1, amount, case when origin like 'spread:%' then 2 else 3 end, origin from booked_spend where org_id = $1
  ), counting as (
    select row_number() over () as number, *, sub1 = '' and rank <> 2 as is_for_all from said s
    where not exists (
      select from said o where o.rank < s.rank and o.day = s.day and o.campaign_id = s.campaign_id and o.sub1 in ('', s.sub1)
    )
  ), made as (
    select *, ${MS} as ms, (date '1970-01-01' + (${MS} / ${DAY_MS})::int) as utc_day,
      exists (
        select from said o where o.day = date '1970-01-01' + (${MS} / ${DAY_MS})::int and o.campaign_id = c.campaign_id and o.sub1 in ('', coalesce(c.sub1, ''))
      ) as is_covered
    from clicks c where org_id = $1 and tracked
  ), having_part as (
    select a.number, a.day, a.campaign_id, a.sub1, a.is_for_all, a.amount, c.id, count(c.id) over (partition by a.number) as clicks
    from counting a left join made c on c.utc_day = a.day and c.campaign_id = a.campaign_id and (a.is_for_all or coalesce(c.sub1, '') = a.sub1)
  ), parts as (
    select id, sum(amount / clicks) as part from having_part where id is not null group by id
  )`

/** Rows by key (null: clicks without a value; '': amounts with an unknown value), and the totals. The window has whole days of UTC or of `zone`. */
export async function costsOf(
  db: Pick<pg.Pool, 'query'>,
  org_id: number,
  dimension: ExploreDimension,
  { from, to, zone }: { from: number; to: number; zone: string },
): Promise<{ rows: (Costed & { key: string | null })[]; totals: Costed }> {
  const spentKey = KNOWN.includes(dimension)
    ? dimension === 'sub1'
      ? `case when is_for_all then '' else nullif(sub1, '') end`
      : (KEYS[dimension] ?? dimension)
    : `''`
  const noon = `(extract(epoch from day) * 1000 + ${DAY_MS / 2})::bigint`
  const { rows } = await db.query<Costed & { key: string | null; is_total: boolean }>(
    `with ${SHARED}, rows as (
      select ${KEYS[dimension] ?? dimension} as key, 1 as clicks, revenue, case when is_covered then coalesce(part, 0) when cost_counts then cost end as cost
      from made left join parts using (id) where id >= $2::uuid and id < $3::uuid and $4::text is not null
      union all
      select ${spentKey}, 0, null, amount from (
        select day, ${noon} as ms, campaign_id, sub1, is_for_all, amount from having_part where id is null and amount > 0
      ) unshared where ms >= $5 and ms <= $6
    )
    select key, grouping(key) = 1 as is_total, coalesce(sum(clicks), 0)::int as clicks, round(coalesce(sum(cost), 0), 12)::text as cost,
      (count(*) filter (where cost is null))::int as clicks_without_cost,
      coalesce(sum(revenue) filter (where cost is null), 0)::text as revenue_without_cost
    from rows group by grouping sets ((key), ())`,
    [org_id, firstIdAt(from), firstIdAt(to + 1), zone, from, to],
  )
  const nothing: Costed = { clicks: 0, cost: '0', clicks_without_cost: 0, revenue_without_cost: '0' }
  const plain = ({ is_total: _, ...row }: (typeof rows)[number]) => row
  return {
    rows: rows.filter(({ is_total }) => !is_total).map(plain),
    totals: rows.find(({ is_total }) => is_total) ?? nothing,
  }
}
