/**
 * Whether the books are right: what must hold of an organization at every moment, asked of the database as questions that answer
 * nothing when it does. Used by tests after every race and fault, and by the bench; cheap enough for a nightly run.
 */
import type pg from 'pg'
import { rungOfEvent, stageOf } from '../contract/ladder.ts'

export type Finding = { check: string; wrong: string }

/** The bit of each type that raises a click, as a table for SQL. */
const STAGES = ['land', 'bot_start', 'registration', 'lead', 'deposit', 'ftd']
  .map(type => `('${type}', ${stageOf(rungOfEvent(type) ?? 0)})`)
  .join(', ')

/** Each takes the organization as $1 and answers one `wrong` per thing that is wrong. */
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

  'nothing is delivered twice': `
    select event_id::text as wrong
    from deliveries
    where org_id = $1
    group by event_id, kind, target_id
    having count(*) > 1`,

  'every rule that was there fires for every event it means, and no other': `
    select format('event %s, rule %s: %s', e.id, r.id, case when d.id is null then 'missing' else 'not meant' end) as wrong
    from events e
    join postback_rules r on r.org_id = $1 and r.active and r.deleted_at is null and r.updated_at < e.created_at
    left join deliveries d
      on d.org_id = $1 and d.event_id = e.id and d.kind = 'postback' and d.target_id = r.id
    where e.org_id = $1 and (d.id is not null) <> (
      not e.test and r.event_type = e.type and (r.campaign_id is null or r.campaign_id = e.campaign_id))`,

  'revenue is the sum of the payouts above zero': `
    select format('click %s: %s instead of %s', c.id, c.revenue, e.sum) as wrong
    from clicks c
    left join (
      select click_id, sum(payout) as sum from events where org_id = $1 and payout > 0 group by click_id
    ) e on e.click_id = c.id
    where c.org_id = $1 and c.revenue is distinct from e.sum`,

  'a click has every stage its events have reached, its status is the highest, and it counts': `
    select format('click %s, event %s', c.id, e.id) as wrong
    from events e
    join clicks c on c.org_id = $1 and c.id = e.click_id
    left join (values ${STAGES}) as reached (type, stage) on reached.type = e.type
    where e.org_id = $1 and (
      c.stages & reached.stage = 0 or c.stages >= 2 << c.status or c.stages < 1 << c.status or c.tracked = e.test)`,

  'the report counts what the clicks are': `
    select format('reported %s, clicks %s', told, counted) as wrong
    from (
      select row(coalesce(sum(clicks), 0), coalesce(sum(landed), 0), coalesce(sum(started), 0), coalesce(sum(registered), 0),
        coalesce(sum(lead), 0), coalesce(sum(deposit), 0), coalesce(sum(ftd), 0), trim_scale(coalesce(sum(revenue), 0)))::text as told
      from (
        select clicks, landed, started, registered, lead, deposit, ftd, revenue from report_delta where org_id = $1
        union all
        select clicks, landed, started, registered, lead, deposit, ftd, revenue
        from report_day
        where org_id = $1 and dimension = 1
      ) parts
    ) report
    cross join (
      select row(count(*), count(*) filter (where stages & 2 > 0), count(*) filter (where stages & 4 > 0),
        count(*) filter (where stages & 8 > 0), count(*) filter (where stages & 16 > 0),
        count(*) filter (where stages & 32 > 0), count(*) filter (where stages & 64 > 0), trim_scale(coalesce(sum(revenue), 0)))::text
        as counted
      from clicks
      where org_id = $1 and tracked
    ) clicks
    where told <> counted`,
}

const MOST_SHOWN = 5

/** Everything that is wrong with an organization's books; empty when nothing is. Reads one moment, so it may run under load. */
export async function auditBooks(pool: pg.Pool, org_id: number): Promise<Finding[]> {
  const client = await pool.connect()
  try {
    await client.query('begin isolation level repeatable read read only')
    const findings: Finding[] = []
    for (const [check, question] of Object.entries(CHECKS)) {
      const { rows } = await client.query<{ wrong: string }>(`${question} limit ${MOST_SHOWN}`, [org_id])
      findings.push(...rows.map(({ wrong }) => ({ check, wrong })))
    }
    await client.query('commit')
    client.release()
    return findings
  } catch (error) {
    client.release(true)
    throw error
  }
}
