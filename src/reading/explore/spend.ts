/**
 * Reads the spend booked for campaigns, days and sub1 for the local copy: which amounts count by the order of docs/ad-spend.md, and which clicks
 * share them. Reads `ad_spend` and `booked_spend`.
 */
import type pg from 'pg'

type Reads = Pick<pg.Pool, 'query'>
/** UTC days, YYYY-MM-DD, both inclusive. */
type Days = { readonly first: string; readonly last: string }

/** By UTC day, a text that changes with any spend booked for the day. */
export type SpendMarks = ReadonlyMap<string, string>

/** All spend booked on the days of the condition `which`. A lower rank takes precedence. */
const bookedOn = (which: string) => `
  select day, campaign_id, sub1, amount, 1 as rank, '' as origin from ad_spend where org_id = $1 and ${which}
  union all
  select day, campaign_id, sub1, amount, case when origin like 'spread:%' then 2 else 3 end, origin from booked_spend where org_id = $1 and ${which}`

const MARK = `count(*) || ' ' || sum(hashtextextended(campaign_id::text || ' ' || amount::text || ' ' || origin || ' ' || sub1, 0))`

const MARKS = `
  select coalesce(json_object_agg(day, mark), '{}') as marks
  from (select day::text as day, ${MARK} as mark from (${bookedOn('day between $2::date and $3::date')}) booked group by 1) days`

export async function readSpendMarks(reads: Reads, org_id: number, { first, last }: Days): Promise<SpendMarks> {
  const { rows } = await reads.query<{ marks: Record<string, string> }>(MARKS, [org_id, first, last])
  return new Map(Object.entries(rows[0]?.marks ?? {}))
}

// All clicks of a campaign's day share an amount without a sub1; only a spread's amount without a sub1 belongs to the clicks without one.
const BOOKED = `
  with booked as (${bookedOn('day = any($2::date[])')}), marks as (
    select json_object_agg(day, mark) as marks from (select day::text as day, ${MARK} as mark from booked group by 1) days
  ), ranked as (
    select *, rank <= least(
        min(rank) filter (where sub1 = '') over (partition by day, campaign_id), min(rank) over (partition by day, campaign_id, sub1)
      ) as counts, sub1 <> '' or rank = 2 as is_assigned
    from booked
  ), cells as (
    select day, campaign_id, sub1, bool_or(counts and is_assigned) as is_assigned,
      coalesce(sum(amount) filter (where counts and not is_assigned), 0) as of_all,
      coalesce(sum(amount) filter (where counts and is_assigned), 0) as of_sub1
    from ranked group by day, campaign_id, sub1
  )
  select coalesce((select marks from marks), '{}') as marks, (
    select coalesce(json_agg(json_build_object('d', day - date '1970-01-01', 'campaign', campaign_id, 'sub1', sub1, 'is_assigned', is_assigned,
      'of_all', (of_all * 1000000)::bigint, 'of_sub1', (of_sub1 * 1000000)::bigint)), '[]')::text from cells
  ) as cells`

/**
 * The spend booked for each campaign, day and sub1 of these days, as a JSON text of rows: `d` (days since 1970), `campaign`, `sub1` (empty: the whole
 * day), the millionths of a dollar that all clicks of the day share (`of_all`), those that the clicks with this sub1, or without any, share
 * (`of_sub1`), and `is_assigned`, whether `of_sub1` replaces the clicks' own cost. A row replaces their own cost even if both amounts are 0.
 */
export async function readSpend(
  reads: Reads,
  org_id: number,
  days: readonly string[],
): Promise<{ readonly marks: SpendMarks; readonly cells: string }> {
  const { rows } = await reads.query<{ marks: Record<string, string>; cells: string }>(BOOKED, [org_id, days])
  const { marks = {}, cells = '[]' } = rows[0] ?? {}
  return { marks: new Map(Object.entries(marks)), cells }
}
