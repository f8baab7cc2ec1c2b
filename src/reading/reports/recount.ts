/**
 * Answers a report from the clicks alone, without counters, so that tests and the bench can compare. It reads every click of the window, so
 * it is too slow to serve anyone, and it cannot count months whose clicks are no longer kept.
 */
import type pg from 'pg'
import { DAY_MS, MINUTE_MS } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { LADDER, REACHED } from '../../contract/ladder.ts'
import type { Counts, Verdicts } from '../../intake/counters/deltas.ts'
import { type ReportDimension, LOCAL_DIMENSIONS, type LocalDimension } from './api.ts'
import { type CostDimension, spentDays } from './spend.ts'

/** A row of a report before money is rounded and names are added; ids are uuids, a missing value is ''. Revenue and cost are exact. */
export type Recounted = Counts & {
  readonly key: string
  readonly cost: string
  readonly unread_costs: number
} & Verdicts

/** By the database's time zone data; the report uses that of Node. */
const LOCALLY = `to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) at time zone $5`

const KEYS: Record<ReportDimension | LocalDimension, string> = {
  campaign: 'campaign_id::text',
  geo: 'geo',
  sub1: 'sub1',
  offer: 'offer_id::text',
  // The id's first 48 bits are its milliseconds.
  day: `(date '1970-01-01' + (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 86400000)::int)::text`,
  local_day: `to_char(${LOCALLY}, 'YYYY-MM-DD')`,
  local_hour: `to_char(${LOCALLY}, 'HH24')`,
  local_weekday_hour: `to_char(${LOCALLY}, 'ID-HH24')`,
}

const reached = LADDER.slice(1).map((rung, at) => `count(*) filter (where stages & ${REACHED[at]} > 0)::int as ${rung}`)

/**
 * Counts the tracked clicks from `from` to `to` (Unix ms, both inclusive) by one dimension, for these campaigns or (null) all. Dimensions of a time
 * zone use `tz`. Returns all rows in the report's order. The statement timeout of `db` must suit the number of clicks.
 */
export async function recount(
  db: Pick<pg.Pool, 'query'>,
  org_id: number,
  from: number,
  to: number,
  dimension: ReportDimension | LocalDimension,
  campaigns: readonly string[] | null = null,
  tz = 'UTC',
): Promise<Recounted[]> {
  const isLocal = LOCAL_DIMENSIONS.some(local => local === dimension)
  const { rows } = await db.query<Recounted>(
    `select coalesce(${KEYS[dimension]}, '') as key, count(*)::int as clicks, ${reached.join(', ')},
      trim_scale(coalesce(sum(revenue), 0))::text as revenue,
      trim_scale(coalesce(sum(cost) filter (where cost_counts), 0))::text as cost,
      (count(*) filter (where cost_counts and cost is null))::int as unread_costs,
      trim_scale(coalesce(sum(revenue_pending), 0))::text as revenue_pending, coalesce(sum(approved), 0)::int as approved,
      coalesce(sum(pending), 0)::int as pending, coalesce(sum(rejected), 0)::int as rejected
    from clicks where org_id = $1 and id >= $2::uuid and id < $3::uuid and tracked and ($4::uuid[] is null or campaign_id = any($4::uuid[]))
    group by 1 order by ${dimension === 'day' || isLocal ? 'key' : 'clicks desc, coalesce(' + KEYS[dimension] + `, '') collate "C"`}`,
    [org_id, firstIdAt(from), firstIdAt(to + 1), campaigns, ...(isLocal ? [tz] : [])],
  )
  return rows
}

/** The cost of a key: from one source, or from several (`mixed`). Exact. */
export type RecountedCost = { readonly key: string; readonly cost: string; readonly cost_source: string }

/** A window that reaches to the present contains all of the current day. */
function endOfRunningDay(to: number): number {
  const now = Date.now()
  return to < now - MINUTE_MS ? to : now - (now % DAY_MS) + DAY_MS - 1
}

const isUncovered = (row: string, by: string, which?: string) =>
  `not exists (select from ${by} o where o.day = ${row}.day and o.campaign_id = ${row}.campaign_id and o.sub1 in ('', ${row}.sub1) ${which === undefined ? '' : ` and o.${which}`})`

/** The share of an amount that belongs to the clicks within the window. */
const PART = `
  select case
    when counting.day > $5::date and counting.day < $6::date or count(*) > 0 and bool_and(id >= $2::uuid and id < $3::uuid) then amount
    when count(*) > 0 then amount * nullif(count(*) filter (where id >= $2::uuid and id < $3::uuid), 0) / count(*)
    when extract(epoch from counting.day) * 1000 + 43200000 between $7::float8 and $8::float8 then amount end as part
  from clicks c
  where org_id = $1 and tracked and (${KEYS.day})::date = counting.day and c.campaign_id = counting.campaign_id
    and (counting.sub1 = '' and counting.rank <> 'spread' or coalesce(c.sub1, '') = counting.sub1)`

/**
 * The same for the cost, by precedence: entered spend, spread amounts, the spend of ad accounts, and the cost of clicks that none of these covers. A
 * row without a sub1 covers its campaign's whole day. Keys without any cost are left out. Spend without a sub1 counts with the clicks without one.
 * `byShare`: where the window cuts a UTC day, amounts count with the share of the clicks within it, to billionths, as members see it. An amount
 * without clicks counts where the window contains noon of its day.
 */
export async function recountCosts(
  db: Pick<pg.Pool, 'query'>,
  org_id: number,
  from: number,
  to: number,
  dimension: CostDimension,
  campaigns: readonly string[] | null = null,
  byShare = false,
): Promise<RecountedCost[]> {
  const key = (column: string) => `coalesce(${column}::text, '')`
  const of = { campaign: key('campaign_id'), sub1: key('sub1'), day: 'day::text' }[dimension]
  const { rows } = await db.query<RecountedCost>(
    `with entered as (
      select 'entered' as rank, day, campaign_id, sub1, amount, source from ad_spend
      where org_id = $1 and day between $5::date and $6::date and ($4::uuid[] is null or campaign_id = any($4::uuid[]))
    ), booked as (
      select split_part(origin, ':', 1) as rank, day, campaign_id, sub1, amount, split_part(origin, ':', 1) as source from booked_spend
      where org_id = $1 and day between $5::date and $6::date and ($4::uuid[] is null or campaign_id = any($4::uuid[]))
    ), clicked as (
      select (${KEYS.day})::date as day, campaign_id, coalesce(sub1, '') as sub1, cost from clicks
      where org_id = $1 and id >= $2::uuid and id < $3::uuid and tracked and cost_counts and cost > 0
        and ($4::uuid[] is null or campaign_id = any($4::uuid[]))
    ), parts as (
      select ${of} as key, ${byShare ? 'round(part, 9)' : 'amount'} as cost, source from (
        select * from entered
        union all
        select * from booked b where rank = 'spread' and amount > 0 and ${isUncovered('b', 'entered')}
        union all
        select * from booked b
        where rank = 'account' and amount > 0 and ${isUncovered('b', 'entered')} and ${isUncovered('b', `booked`, `rank = 'spread'`)}
      ) counting ${byShare ? `cross join lateral (${PART}) shared where part is not null` : ''}
      union all
      select ${of}, cost, 'link' from clicked c
      where ${isUncovered('c', 'entered')} and ${isUncovered('c', 'booked')}
    )
    select key, trim_scale(sum(cost))::text as cost, case when count(distinct source) > 1 then 'mixed' else min(source) end as cost_source
    from parts group by key`,
    [
      org_id,
      firstIdAt(from),
      firstIdAt(to + 1),
      campaigns,
      ...spentDays({ from, to }),
      ...(byShare ? [from, Math.max(to, endOfRunningDay(to))] : []),
    ],
  )
  return rows
}

/** Conversions of one type in a row of a report, by their last status. */
export type RecountedConversions = {
  readonly key: string
  readonly type: string
  readonly approved: number
  readonly pending: number
  readonly rejected: number
}

/** The same for conversions by type, from the events of those clicks. By key, then type. */
export async function recountConversions(
  db: Pick<pg.Pool, 'query'>,
  org_id: number,
  from: number,
  to: number,
  dimension: ReportDimension | LocalDimension,
  campaigns: readonly string[] | null = null,
  tz = 'UTC',
): Promise<RecountedConversions[]> {
  const isLocal = LOCAL_DIMENSIONS.some(local => local === dimension)
  const { rows } = await db.query<RecountedConversions>(
    `select coalesce(key, '') as key, type, (count(*) filter (where coalesce(status, 'approved') = 'approved'))::int as approved,
      (count(*) filter (where status = 'pending'))::int as pending,
      (count(*) filter (where status in ('rejected', 'refunded', 'chargeback')))::int as rejected
    from (
      select id, ${KEYS[dimension]} as key
      from clicks
      where org_id = $1 and id >= $2::uuid and id < $3::uuid and tracked and ($4::uuid[] is null or campaign_id = any($4::uuid[]))
    ) counted
    join events on events.org_id = $1 and events.click_id = counted.id
    left join (
      select distinct on (event_id) event_id, status from event_revisions where org_id = $1 order by event_id, seq desc
    ) said on said.event_id = events.id
    group by 1, 2 order by coalesce(key, '') collate "C", type`,
    [org_id, firstIdAt(from), firstIdAt(to + 1), campaigns, ...(isLocal ? [tz] : [])],
  )
  return rows
}
