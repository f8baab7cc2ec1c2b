// The audit after a fault: what was acknowledged is there, and nothing happened twice. Written apart from the code it judges.
import assert from 'node:assert/strict'
import type pg from 'pg'

const CHECKS: Record<string, string> = {
  'A3 nobody is charged twice': `
    select org_id, person_id from ledger where kind = 'charge' group by 1, 2 having count(*) > 1`,
  'A3 everyone with an event that counts is charged': `
    select distinct e.org_id, e.person_id from events e
    where not e.test and not exists (
      select 1 from ledger l where l.org_id = e.org_id and l.person_id = e.person_id and l.kind = 'charge')`,
  'A4 the balance is the sum of the ledger': `
    select b.org_id, b.balance, sum(l.amount) from balances b left join ledger l on l.org_id = b.org_id
    group by b.org_id, b.balance having b.balance <> coalesce(sum(l.amount), 0)`,
  'A5 every charge has its event': `
    select l.org_id, l.id from ledger l
    where l.kind = 'charge' and not exists (select 1 from events e where e.org_id = l.org_id and e.id = l.event_id)`,
  'A5 every event has a delivery for each rule that matches': `
    select e.org_id, e.id from events e
    join postback_rules r on r.org_id = e.org_id and r.event_type = e.type and r.active and r.created_at < e.created_at
      and (r.campaign_id is null or r.campaign_id = e.campaign_id)
    where not e.test and not exists (
      select 1 from deliveries d where d.org_id = e.org_id and d.event_id = e.id and d.target_id = r.id)`,
  'A5 no delivery is without its event': `
    select d.org_id, d.id from deliveries d where not exists (select 1 from events e where e.org_id = d.org_id and e.id = d.event_id)`,
  'the revenue of a click is the sum of its events': `
    select c.org_id, c.id, c.revenue, e.sum from clicks c
    left join (select org_id, click_id, sum(payout) filter (where payout > 0) from events group by 1, 2) e
      on e.org_id = c.org_id and e.click_id = c.id
    where c.revenue is distinct from e.sum`,
  'A8 the counters are a recount of the clicks': `
    with counted as (
      select org_id, day, sum(clicks) as clicks, sum(landed) as landed, sum(started) as started, sum(registered) as registered,
        sum(lead) as lead, sum(deposit) as deposit, sum(ftd) as ftd, sum(revenue) as revenue
      from (
        select org_id, day, clicks, landed, started, registered, lead, deposit, ftd, revenue from report_day where dimension = 1
        union all select org_id, day, clicks, landed, started, registered, lead, deposit, ftd, revenue from report_delta
      ) parts group by 1, 2
    ), recounted as (
      select org_id, (to_timestamp(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0) at time zone 'utc')::date as day,
        count(*) as clicks, sum(stages >> 1 & 1) as landed, sum(stages >> 2 & 1) as started, sum(stages >> 3 & 1) as registered,
        sum(stages >> 4 & 1) as lead, sum(stages >> 5 & 1) as deposit, sum(stages >> 6 & 1) as ftd, coalesce(sum(revenue), 0) as revenue
      from clicks where tracked group by 1, 2
    )
    select * from counted full join recounted using (org_id, day)
    where (counted.clicks, counted.landed, counted.started, counted.registered, counted.lead, counted.deposit, counted.ftd, counted.revenue)
      is distinct from
      (recounted.clicks, recounted.landed, recounted.started, recounted.registered, recounted.lead, recounted.deposit, recounted.ftd, recounted.revenue)`,
}

/** Runs every check that needs nothing but the database; fails with the rows that break one. */
export async function assertBooks(pool: Pick<pg.Pool, 'query'>): Promise<void> {
  for (const [name, text] of Object.entries(CHECKS)) {
    const { rows } = await pool.query(text)
    assert.deepEqual(rows.slice(0, 3), [], `${name}: ${rows.length} rows do not hold`)
  }
}

/** A1 and A7: every id that was acknowledged is stored exactly once; of unknown ones at most once. */
export async function assertStored(
  pool: Pick<pg.Pool, 'query'>,
  table: 'events' | 'clicks',
  ids: ReadonlySet<string>,
): Promise<void> {
  const { rows } = await pool.query<{ id: string; times: string }>(
    `select id, count(*) as times from ${table} where id = any($1) group by 1`,
    [[...ids]],
  )
  const stored = new Map(rows.map(({ id, times }) => [id, Number(times)]))
  const lost = [...ids].filter(id => stored.get(id) !== 1)
  assert.deepEqual(
    lost.slice(0, 3),
    [],
    `${lost.length} of ${ids.size} acknowledged ${table} are not there exactly once`,
  )
}
