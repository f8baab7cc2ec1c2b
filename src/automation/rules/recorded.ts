/**
 * What was recorded of clicks, hour by hour: the clicks of each hour, and in which hour their costs, conversions and status changes became known. Reads
 * `clicks`, `events`, `event_revisions` and booked spend.
 */
import type pg from 'pg'
import { DAY_MS, dayOf, HOUR_MS } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { RuleField } from '../../contract/rules.ts'
import { msOfId } from '../../ground/db/id-time.ts'
import { readSpend } from '../../reading/explore/spend.ts'
import { type Goals, readGoals } from '../../traffic/event-settings/goals.ts'
import type { Payouts } from './payouts.ts'

/** The changes of the sums of an object's clicks of one hour that became known in another one. Hours are numbered from 1970, each from `phase_ms` on. */
export type RecordedChange = {
  readonly campaign_id: string
  readonly value: string | null
  readonly hour: number
  readonly known: number
  readonly clicks: number
  /** Trillionths of a dollar. */
  readonly cost: string
  readonly without_cost: number
  readonly paid_clicks: number
  /** Millionths of a dollar, like revenue. */
  readonly payouts: string
  readonly conversions: number
  readonly revenue: string
  readonly approved: number
  readonly rejected: number
}

/** `from_ms` is the begin of a UTC day, because clicks of whole days share the spend that is booked by day. */
type RecordedAsked = {
  readonly org_id: number
  readonly campaigns: readonly string[]
  readonly value_of: RuleField | null
  readonly zone: string
  readonly from_ms: number
  readonly to_ms: number
  readonly phase_ms: number
  readonly payouts: Payouts
}

/** Half a million clicks took three seconds. */
const MOST_CLICKS = 1_000_000
/** Fields with a value for nearly every click would need very much memory. */
const MOST_CHANGES = 200_000
/** A statement reads some whole days, with about so many clicks, far within the time that it may take. */
const CLICKS_AT_ONCE = 200_000

const hourOf = (at: string) => `(floor(extract(epoch from ${at}) * 1000)::bigint - $5::bigint) / ${HOUR_MS}`

function valueSql(field: RuleField | null): string {
  if (field === null) return 'null::text'
  if (field === 'landing' || field === 'offer') return `c.${field}_id::text`
  return field === 'hour'
    ? `to_char(to_timestamp(${msOfId('c.id')} / 1000.0) at time zone $6::text, 'HH24')`
    : `c.${field}`
}

// A click that booked spend covers has its cost from the end of its day on, or since the spend was entered, if that was later.
const recordedSql = (field: RuleField | null) => `
  with of_clicks as materialized (
    select c.id, c.campaign_id, ${valueSql(field)} as value, (${msOfId('c.id')} - $5::bigint) / ${HOUR_MS} as hour, coalesce(c.sub1, '') as sub1,
      c.offer_id, case when c.cost_counts then c.cost end as own, date '1970-01-01' + (${msOfId('c.id')} / ${DAY_MS})::int as day
    from clicks c
    where c.org_id = $1 and c.campaign_id = any($2::uuid[]) and c.id >= $3::uuid and c.id < $4::uuid and c.tracked and $6::text is not null
  ), booked as materialized (
    select date '1970-01-01' + b.d as day, b.campaign, b.sub1, b.of_all, b.of_sub1,
      greatest(((b.d + 1)::bigint * ${DAY_MS} - $5::bigint + ${HOUR_MS - 1}) / ${HOUR_MS} - 1, ${hourOf('e.updated_at')}) as known
    from json_to_recordset($7::json) as b(d int, campaign uuid, sub1 text, of_all bigint, of_sub1 bigint)
    left join ad_spend e on e.org_id = $1 and e.campaign_id = b.campaign and e.day = date '1970-01-01' + b.d and e.sub1 = b.sub1
  ), cells as (
    select day, campaign_id, sub1, count(*) as n, sum(count(*)) over (partition by day, campaign_id) as of_day
    from of_clicks where exists (select from booked) group by day, campaign_id, sub1
  ), priced as (
    select n.day, n.campaign_id, n.sub1, max(b.known) as known,
      floor(sum(case when b.sub1 = '' then b.of_all * 1000000.0 / n.of_day else 0 end))
        + floor(sum(case when b.sub1 = n.sub1 then b.of_sub1 * 1000000.0 / n.n else 0 end)) as each
    from cells n join booked b on b.day = n.day and b.campaign = n.campaign_id and b.sub1 in ('', n.sub1)
    group by n.day, n.campaign_id, n.sub1
  ), payouts as (
    select * from json_to_recordset($8::json) as p(id uuid, payout bigint)
  ), goals as (
    select * from json_to_recordset($9::json) as g(id uuid, goal text[])
  ), said as (
    select e.id, c.campaign_id, c.value, c.hour, e.type, e.created_at as at, 0 as seq, 'approved' as status, coalesce(e.payout, 0) as amount,
      coalesce(e.payout, 0) > 0 as is_counted
    from events e join of_clicks c on c.id = e.click_id where e.org_id = $1 and not e.test
    union all
    select e.id, c.campaign_id, c.value, c.hour, e.type, r.created_at, r.seq, r.status, r.amount, true
    from events e join of_clicks c on c.id = e.click_id join event_revisions r on r.org_id = $1 and r.event_id = e.id
    where e.org_id = $1 and not e.test
  ), standing as (
    select s.id, s.campaign_id, s.value, s.hour, ${hourOf('s.at')} as known, s.seq,
      (s.status = 'approved' and s.type = any(coalesce(g.goal, $10::text[])))::int as conversions,
      case when s.status = 'approved' then s.amount else 0 end as revenue,
      (s.status = 'approved' and s.is_counted)::int as approved, (s.status not in ('approved', 'pending'))::int as rejected
    from said s left join goals g on g.id = s.campaign_id
  ), changed as (
    select campaign_id, value, hour, greatest(known, hour) as known,
      conversions - coalesce(lag(conversions) over one, 0) as conversions, revenue - coalesce(lag(revenue) over one, 0) as revenue,
      approved - coalesce(lag(approved) over one, 0) as approved, rejected - coalesce(lag(rejected) over one, 0) as rejected
    from standing window one as (partition by id order by seq)
  ), parts as (
    select c.campaign_id, c.value, c.hour, c.hour as known, 1 as clicks,
      case when p.day is null then coalesce(c.own, 0) * 1000000000000 else 0 end as cost,
      (p.day is not null or c.own is null)::int as without_cost, (o.id is not null)::int as paid_clicks, coalesce(o.payout, 0) as payouts,
      0 as conversions, 0::numeric as revenue, 0 as approved, 0 as rejected
    from of_clicks c left join priced p on p.day = c.day and p.campaign_id = c.campaign_id and p.sub1 = c.sub1
      left join payouts o on o.id = c.offer_id
    union all
    select c.campaign_id, c.value, c.hour, greatest(p.known, c.hour), 0, p.each, -1, 0, 0, 0, 0, 0, 0
    from of_clicks c join priced p on p.day = c.day and p.campaign_id = c.campaign_id and p.sub1 = c.sub1
    union all
    select campaign_id, value, hour, known, 0, 0, 0, 0, 0, conversions, revenue * 1000000, approved, rejected from changed
  )
  select campaign_id, value, hour::int, known::int, sum(clicks)::int as clicks, trunc(sum(cost))::text as cost, sum(without_cost)::int as without_cost,
    sum(paid_clicks)::int as paid_clicks, sum(payouts)::text as payouts, sum(conversions)::int as conversions, trunc(sum(revenue))::text as revenue,
    sum(approved)::int as approved, sum(rejected)::int as rejected
  from parts group by campaign_id, value, hour, known`

const TOO_MANY = { hint: 'Choose fewer days, fewer campaigns, or a field with fewer values.' }

/** Refuses `question_too_wide` for more than a million clicks, or 200,000 changes. */
export async function readRecorded(reads: Pick<pg.Pool, 'query'>, asked: RecordedAsked): Promise<RecordedChange[]> {
  const { org_id, campaigns, from_ms, to_ms } = asked
  const { rows: counted } = await reads.query<{ n: number }>(
    `select count(*)::int as n from (select 1 from clicks where org_id = $1 and campaign_id = any($2::uuid[]) and id >= $3::uuid
      and id < $4::uuid limit ${MOST_CLICKS + 1}) counted`,
    [org_id, campaigns, firstIdAt(from_ms), firstIdAt(to_ms)],
  )
  const clicks = counted[0]?.n ?? 0
  if (clicks > MOST_CLICKS) refuse('question_too_wide', TOO_MANY)
  const goals = await readGoals(reads, org_id)
  const days = Math.max(1, Math.floor((((to_ms - from_ms) / DAY_MS) * CLICKS_AT_ONCE) / Math.max(clicks, 1)))
  const changes: RecordedChange[] = []
  for (let first = from_ms; first < to_ms; first += days * DAY_MS) {
    const part = { ...asked, from_ms: first, to_ms: Math.min(first + days * DAY_MS, to_ms) }
    for (const change of await readDays(reads, part, goals)) changes.push(change)
    if (changes.length > MOST_CHANGES) refuse('question_too_wide', TOO_MANY)
  }
  return changes
}

/** The changes of the clicks of some UTC days. */
async function readDays(
  reads: Pick<pg.Pool, 'query'>,
  { org_id, campaigns, value_of, zone, from_ms, to_ms, phase_ms, payouts }: RecordedAsked,
  { goal, own }: Goals,
): Promise<RecordedChange[]> {
  const days = Array.from({ length: Math.ceil((to_ms - from_ms) / DAY_MS) }, (_, at) => dayOf(from_ms + at * DAY_MS))
  const { cells } = await readSpend(reads, org_id, days)
  const prices = JSON.stringify([...payouts].map(([id, payout]) => ({ id, payout: String(payout) })))
  const within = [org_id, campaigns, firstIdAt(from_ms), firstIdAt(to_ms)]
  const values = [...within, phase_ms, zone, cells, prices, JSON.stringify(own), goal]
  const { rows } = await reads.query<RecordedChange>(recordedSql(value_of), values)
  return rows
}
