/**
 * Checks the books of an organization. Each check is a query that returns a row for every violation of an invariant. The screen's recount, the
 * nightly `npm run reconcile`, and the tests of races and faults use it.
 */
import type pg from 'pg'
import { EVENT_TYPES } from '../../contract/event-types.ts'
import { NIL_ID } from '../../contract/ids.ts'
import { LADDER, REACHED, rungOfEvent, stageOf } from '../../contract/ladder.ts'
import { onConnection } from '../../ground/db/transaction.ts'
import { SPEND_CHECKS } from './spend-checks.ts'
import { CONVERSION_CHECKS, CONVERSIONS } from './conversions.ts'
import { dayOfIdSql, NUMBERS, slotChecks } from './slot-checks.ts'
import { STATUS_COUNTERS } from '../../intake/counters/deltas.ts'
import { tellings } from './tellings.ts'

type Finding = { check: string; wrong: string }
/** A figure as it is stored (`kept`), and as counted from its rows (`counted`). */
type Figure = { name: string; kept: string; counted: string }
/** `clicks_from`: clicks made before this day, YYYY-MM-DD, are no longer kept and were not counted; null if all are kept. */
export type Audit = { figures: Figure[]; findings: Finding[]; clicks_from: string | null }

/** The stage's bit of each event type that raises a click, as a table for SQL. */
const STAGES = EVENT_TYPES.flatMap(type => {
  const rung = rungOfEvent(type)
  return rung === undefined ? [] : [`('${type}', ${stageOf(rung)})`]
}).join(', ')

/** The first id that is kept. Earlier months have only counters, and no clicks to compare them with. */
const FIRST_KEPT = `coalesce(
    (select before_id from dropped_clicks order by before_id desc limit 1), '${NIL_ID}'::uuid)`
export const FIRST_DAY = `(select ${dayOfIdSql(FIRST_KEPT)})`
const RUNGS = REACHED.map(bit => `count(*) filter (where stages & ${bit} > 0)`).join(', ')
const withStage = (rung: (typeof LADDER)[number]) =>
  `(count(*) filter (where stages & ${stageOf(LADDER.indexOf(rung))} > 0))::text as ${rung}`
/** The counters of a day without any, which equals a day whose counters are all 0. */
const NOTHING = `(${NUMBERS.map(() => 0).join(',')})`
const summed = (names: readonly string[]) => names.map(name => `trim_scale(coalesce(sum(${name}), 0))`).join(', ')
/** The counters of the report as one text. */
const SUMS = `row(${summed(NUMBERS)})::text`
/** The counters that are not folded yet. */
export const UNFOLDED = `select day, ${NUMBERS.join(', ')} from report_delta where org_id = $1`
const COST = 'trim_scale(coalesce(sum(cost) filter (where cost_counts), 0))'
const UNREAD = 'count(*) filter (where cost_counts and cost is null)'

/** Joins the last revision of an event `e` as `r`. `COUNTS_FOR` is the amount that the event counts for; without a revision, its payout. */
const LAST_REVISION = `
      left join (
        select distinct on (event_id) event_id, status, amount from event_revisions
        where org_id = $1 order by event_id, seq desc
      ) r on r.event_id = e.id`
const COUNTS_FOR = `case when r.status is null then e.payout when r.status = 'approved' then r.amount else 0 end`

/**
 * Each check takes the organization as $1 and returns a row `wrong` for each fault. Code that writes the books does not share this SQL, because the audit
 * would then repeat its mistakes. Deliveries are checked against the present rules, accounts and campaigns, so only for conversions after the last
 * change of these, which happens between conversions (balance.ts).
 */
const CHECKS: Readonly<Record<string, string>> = {
  'the ledger adds up to the balance': `
    select format('balance %s, ledger %s', b.balance, l.sum) as wrong
    from balances b
    cross join lateral (select coalesce(sum(amount), 0) as sum from ledger where org_id = $1) l
    where b.org_id = $1 and b.balance <> l.sum`,

  'every person of a billable event was charged': `
    select distinct e.person_id::text as wrong
    from events e
    where e.org_id = $1 and not e.test and not exists (
      select from ledger l where l.org_id = $1 and l.person_id = e.person_id and l.kind = 'charge')`,

  'every charge stands on its event': `
    select l.id::text as wrong
    from ledger l
    where l.org_id = $1 and l.kind = 'charge' and not exists (
      select from events e where e.org_id = $1 and e.id = l.event_id and e.person_id = l.person_id and not e.test)`,

  'nobody was charged twice': `
    select person_id::text as wrong
    from ledger
    where org_id = $1 and kind = 'charge'
    group by person_id
    having count(*) > 1`,

  'a Telegram user is one person': `
    select telegram_user_id as wrong
    from events
    where org_id = $1 and not test and telegram_user_id is not null
    group by telegram_user_id
    having count(distinct person_id) > 1`,

  'a key leads to a person': `
    select k.key as wrong
    from person_keys k
    where k.org_id = $1 and not exists (select from persons p where p.org_id = $1 and p.id = k.person_id)`,

  'an alias leads to an event': `
    select a.id::text as wrong
    from event_aliases a
    where a.org_id = $1 and (
      not exists (select from events e where e.org_id = $1 and e.id = a.event_id)
      or exists (select from events e where e.org_id = $1 and e.id = a.id))`,

  'every delivery stands on an event that is no test': `
    select d.id::text as wrong
    from deliveries d
    where d.org_id = $1 and not exists (
      select from events e where e.org_id = $1 and e.id = d.event_id and not e.test)`,

  ...tellings({ FIRST_KEPT }),

  'every cap has counted the conversions of its period': `
    select format('cap %s: %s instead of %s', c.id, n.used, e.count) as wrong
    from caps c
    join lateral (
      select period_start, used from cap_counts where org_id = $1 and cap_id = c.id order by period_start desc limit 1
    ) n on true
    cross join lateral (
      select count(*) as count from events
      where org_id = $1 and not test
        and coalesce(confirmed_at, created_at) >= case when c.period = 'total' then c.created_at else n.period_start end
        and case c.object when 'offer' then offer_id else campaign_id end = c.object_id
        and (c.event_types = '{}' or type = any(c.event_types))
    ) e
    where c.org_id = $1 and c.metric = 'conversions' and c.active and c.deleted_at is null and n.used <> e.count`,

  'revenue is the sum of what its conversions count for': `
    select format('click %s: %s instead of %s', c.id, c.revenue, e.sum) as wrong
    from clicks c
    left join (
      select click_id, nullif(sum(${COUNTS_FOR}), 0) as sum
      from events e ${LAST_REVISION}
      where e.org_id = $1
      group by click_id
    ) e on e.click_id = c.id
    where c.org_id = $1 and c.revenue is distinct from e.sum`,

  'approved, pending and rejected are what its conversions are': `
    select format('click %s: %s instead of %s', c.id, row(c.approved, c.pending, c.rejected, trim_scale(c.revenue_pending)), counted) as wrong
    from clicks c
    left join (
      select click_id, bool_or(r.status is not null) as is_judged, row(
        count(*) filter (where r.status = 'approved' or r.status is null and e.payout > 0),
        count(*) filter (where r.status = 'pending'),
        count(*) filter (where r.status in ('rejected', 'refunded', 'chargeback')),
        trim_scale(coalesce(sum(r.amount) filter (where r.status = 'pending'), 0)))::text as counted
      from events e ${LAST_REVISION}
      where e.org_id = $1 and e.confirmed_at is distinct from 'infinity'
      group by click_id
    ) e on e.click_id = c.id
    where c.org_id = $1 and (c.approved is not null or e.is_judged)
      and row(c.approved, c.pending, c.rejected, trim_scale(c.revenue_pending))::text is distinct from coalesce(counted, '(0,0,0,0)')`,

  'revisions stand on an event, numbered without a gap': `
    select r.event_id::text as wrong
    from event_revisions r
    where r.org_id = $1
    group by r.event_id
    having min(r.seq) <> 1 or max(r.seq) <> count(*)
      or not exists (select from events e where e.org_id = $1 and e.id = r.event_id)`,

  'a click has every stage its events have reached, its status is the highest, and it counts': `
    select format('click %s, event %s', c.id, e.id) as wrong
    from events e
    join clicks c on c.org_id = $1 and c.id = e.click_id
    left join (values ${STAGES}) as reached (type, stage) on reached.type = e.type
    where e.org_id = $1 and e.confirmed_at is distinct from 'infinity' and (
      c.stages & reached.stage = 0 or c.stages >= 2 << c.status or c.stages < 1 << c.status or c.tracked = e.test)`,

  ...SPEND_CHECKS,

  'every level of the report counts the same': `
    select format('level %s comes to %s, level 1 to %s', dimension, told, first) as wrong
    from (
      select dimension, told, first_value(told) over (order by dimension) as first
      from (
        select dimension, ${SUMS} as told
        from report_day
        where org_id = $1
        group by dimension
      ) levels
    ) compared
    where told <> first`,

  'the report counts what the clicks are': `
    select format('%s: reported %s, clicks %s', day, told, counted) as wrong
    from (
      select day, ${SUMS} as told
      from (
        ${UNFOLDED}
        union all
        select day, ${NUMBERS.join(', ')}
        from report_day
        where org_id = $1 and dimension = 1
      ) parts
      where day >= ${FIRST_DAY}
      group by day
    ) report
    full join (
      select ${dayOfIdSql('id')} as day, row(count(*), ${RUNGS}, trim_scale(coalesce(sum(revenue), 0)), ${COST}, ${UNREAD}, ${summed(STATUS_COUNTERS)})::text as counted
      from clicks
      where org_id = $1 and tracked and id >= ${FIRST_KEPT}
      group by 1
    ) clicks using (day)
    where coalesce(told, '${NOTHING}') <> coalesce(counted, '${NOTHING}')`,

  ...CONVERSION_CHECKS,
  ...slotChecks({ FIRST_KEPT, FIRST_DAY, UNFOLDED }),
}

/** The figures that owners compare. Both columns are PostgreSQL's text. */
const FIGURES = `
  select 'Persons charged' as name, kept, counted from
    (select count(*)::text as kept from ledger where org_id = $1 and kind = 'charge') k,
    (select count(distinct person_id)::text as counted from events where org_id = $1 and not test) c
  union all
  select 'Balance', trim_scale(b.balance)::text, trim_scale(l.sum)::text
  from balances b, (select coalesce(sum(amount), 0) as sum from ledger where org_id = $1) l
  where b.org_id = $1
  union all
  select reported.name, reported.kept, recounted.counted from (
    select name, kept, place from (
      select sum(clicks)::text as clicks, sum(lead)::text as lead, sum(deposit)::text as deposit, sum(ftd)::text as ftd,
        trim_scale(sum(revenue))::text as revenue, trim_scale(sum(cost))::text as cost
      from (
        select 0::bigint as clicks, 0::bigint as lead, 0::bigint as deposit, 0::bigint as ftd, 0::numeric as revenue, 0::numeric as cost
        union all
        select clicks, lead, deposit, ftd, revenue, cost from (${UNFOLDED}) unfolded where day >= ${FIRST_DAY}
        union all
        select clicks, lead, deposit, ftd, revenue, cost from report_day where org_id = $1 and dimension = 1 and day >= ${FIRST_DAY}
      ) parts
    ) sums
    cross join lateral (values ('Clicks', clicks, 1), ('Leads', lead, 2), ('Deposits', deposit, 3), ('First deposits', ftd, 4),
      ('Revenue', revenue, 5), ('Cost of clicks', cost, 6)) as told (name, kept, place)
  ) reported
  join (
    select counted, place from (
      select count(*)::text as clicks, ${withStage('lead')}, ${withStage('deposit')}, ${withStage('ftd')},
        trim_scale(coalesce(sum(revenue), 0))::text as revenue, ${COST}::text as cost
      from clicks
      where org_id = $1 and tracked and id >= ${FIRST_KEPT}
    ) sums
    cross join lateral (values (clicks, 1), (lead, 2), (deposit, 3), (ftd, 4), (revenue, 5), (cost, 6)) as told (counted, place)
  ) recounted using (place)
  union all
  ${CONVERSIONS}`

const CLICKS_FROM = `select (${dayOfIdSql('before_id')})::text as clicks_from from dropped_clicks order by before_id desc limit 1`

const MOST_SHOWN = 5

/** All faults of an organization's books; empty when there are none. Reads one snapshot, so it may run under load. */
export async function auditBooks(pool: pg.Pool, org_id: number): Promise<Finding[]> {
  return inOneMoment(pool, client => findWrong(client, org_id))
}

/** The same, and the running figures with their recount. */
export async function reconcile(pool: pg.Pool, org_id: number): Promise<Audit> {
  return inOneMoment(pool, async client => {
    const { rows: figures } = await client.query<Figure>(FIGURES, [org_id])
    const { rows: kept } = await client.query<{ clicks_from: string | null }>(CLICKS_FROM)
    return { figures, findings: await findWrong(client, org_id), clicks_from: kept[0]?.clicks_from ?? null }
  })
}

async function findWrong(client: pg.PoolClient, org_id: number): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [check, question] of Object.entries(CHECKS)) {
    const { rows } = await client.query<{ wrong: string }>(`${question} limit ${MOST_SHOWN}`, [org_id])
    findings.push(...rows.map(({ wrong }) => ({ check, wrong })))
  }
  return findings
}

function inOneMoment<T>(pool: pg.Pool, read: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  return onConnection(pool, async client => {
    await client.query('begin isolation level repeatable read read only')
    // The lock precedes the snapshot, so that no month of clicks is dropped while it is read.
    await client.query('lock table clicks in access share mode')
    const found = await read(client)
    await client.query('commit')
    return found
  })
}
