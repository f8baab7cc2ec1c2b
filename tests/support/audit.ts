// The audit after a fault, A1 to A9: everything acknowledged is stored, nothing was invented, and nothing happened twice. It shares no code
// with the code it checks.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { toUuid } from '../../src/contract/ids.ts'
import type { Load, Target } from './load.ts'
import type { Receiver } from './receiver.ts'

type Pool = Pick<pg.Pool, 'query'>

const CHECKS: Record<string, string> = {
  'A3 nobody is charged twice': `
    select org_id, person_id from ledger where kind = 'charge' group by 1, 2 having count(*) > 1`,
  'A3 every person with an event that counts is charged': `
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
      and (r.campaign_id is null or r.campaign_id = e.campaign_id) and r.told_on is null
    where not e.test and not exists (
      select 1 from deliveries d where d.org_id = e.org_id and d.event_id = e.id and d.target_id = r.id)
      and not (r.once_per_person and exists (
        select 1 from deliveries d where d.org_id = e.org_id and d.target_id = r.id and d.person_id = e.person_id))`,
  'A5 every event is reported to its ad account, and to no other': `
    select e.org_id, e.id, told.targets, meant.targets as meant from events e
    join clicks c on c.org_id = e.org_id and c.id = e.click_id
    left join campaigns p on p.org_id = e.org_id and p.id = e.campaign_id
    cross join lateral (
      select coalesce(array_agg(target_id), '{}') as targets from deliveries d
      where d.org_id = e.org_id and d.event_id = e.id and d.kind = 'ad_account' and d.seq = 0
    ) told
    cross join lateral (
      select coalesce(array_agg(a.id), '{}') as targets from ad_accounts a
      where a.org_id = e.org_id and a.deleted_at is null and a.state <> 'off' and a.event_map ? e.type
        and not e.test and not c.suppressed_delivery
        and (a.id = p.ad_account_id or p.ad_account_id is null and a.platform = c.platform and not exists (
          select 1 from ad_accounts b
          where b.org_id = a.org_id and b.platform = a.platform and b.id <> a.id and b.deleted_at is null and b.state <> 'off'))
    ) meant
    where told.targets <> meant.targets and coalesce(p.updated_at, '-infinity') < e.created_at
      and not exists (select 1 from ad_accounts a where a.org_id = e.org_id and a.updated_at >= e.created_at)`,
  'A5 no delivery is without its event': `
    select d.org_id, d.id from deliveries d where not exists (select 1 from events e where e.org_id = d.org_id and e.id = d.event_id)`,
  'the revenue of a click is the sum of its events': `
    select c.org_id, c.id, c.revenue, e.sum from clicks c
    left join (
      select e.org_id, e.click_id,
        nullif(sum(case when r.status is null then e.payout when r.status = 'approved' then r.amount else 0 end), 0) as sum
      from events e
      left join event_revisions r on r.org_id = e.org_id and r.event_id = e.id and r.seq = (
        select max(seq) from event_revisions l where l.org_id = e.org_id and l.event_id = e.id)
      group by 1, 2
    ) e
      on e.org_id = c.org_id and e.click_id = c.id
    where c.revenue is distinct from e.sum`,
  'A8 the counters are a recount of the clicks': `
    with counted as (
      select org_id, day, sum(clicks) as clicks, sum(landed) as landed, sum(started) as started, sum(registered) as registered,
        sum(lead) as lead, sum(deposit) as deposit, sum(ftd) as ftd, sum(revenue) as revenue, sum(cost) as cost, sum(unread_costs) as unread,
        sum(approved) as approved, sum(pending) as pending, sum(rejected) as rejected, sum(revenue_pending) as held
      from (
        select org_id, day, clicks, landed, started, registered, lead, deposit, ftd, revenue, cost, unread_costs,
            approved, pending, rejected, revenue_pending
          from report_day where dimension = 1
        union all select org_id, day, clicks, landed, started, registered, lead, deposit, ftd, revenue, cost, unread_costs,
            approved, pending, rejected, revenue_pending
          from report_delta
      ) parts group by 1, 2
    ), recounted as (
      select org_id, (to_timestamp(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0) at time zone 'utc')::date as day,
        count(*) as clicks, sum(stages >> 1 & 1) as landed, sum(stages >> 2 & 1) as started, sum(stages >> 3 & 1) as registered,
        sum(stages >> 4 & 1) as lead, sum(stages >> 5 & 1) as deposit, sum(stages >> 6 & 1) as ftd, coalesce(sum(revenue), 0) as revenue,
        coalesce(sum(cost) filter (where cost_counts), 0) as cost, count(*) filter (where cost_counts and cost is null) as unread,
        coalesce(sum(approved), 0) as approved, coalesce(sum(pending), 0) as pending, coalesce(sum(rejected), 0) as rejected,
        coalesce(sum(revenue_pending), 0) as held
      from clicks where tracked group by 1, 2
    )
    select * from counted full join recounted using (org_id, day)
    where (counted.clicks, counted.landed, counted.started, counted.registered, counted.lead, counted.deposit, counted.ftd, counted.revenue,
      counted.cost, counted.unread, coalesce(counted.approved, 0), coalesce(counted.pending, 0), coalesce(counted.rejected, 0),
      coalesce(counted.held, 0))
      is distinct from
      (recounted.clicks, recounted.landed, recounted.started, recounted.registered, recounted.lead, recounted.deposit, recounted.ftd, recounted.revenue,
      recounted.cost, recounted.unread, recounted.approved, recounted.pending, recounted.rejected, recounted.held)`,
  'A8 half hours are a recount of the clicks': `
    select org_id, day, slot, sum(clicks) as clicks, sum(revenue) as revenue, sum(cost) as cost, sum(approved) as approved
    from (
      select org_id, day, slot, clicks, revenue, cost, approved from report_slot where dimension = 1
      union all select org_id, day, slot, clicks, revenue, cost, approved from report_delta where slot is not null
      union all select org_id, made::date, (extract(epoch from made - made::date) / 1800)::int, -1, -coalesce(revenue, 0),
        case when cost_counts then -coalesce(cost, 0) else 0 end, -coalesce(approved, 0)
        from clicks, lateral (select date_bin('30 minutes', to_timestamp(
          ('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0) at time zone 'utc', '2000-01-01') as made) moment
        where tracked
    ) parts group by 1, 2, 3
    having sum(clicks) <> 0 or sum(revenue) <> 0 or sum(cost) <> 0 or sum(approved) <> 0`,
  'A8 conversions by type are the events': `
    select org_id, type, sum(events) from (
      select org_id, type, events from event_counts where dimension = 1
      union all select org_id, type, -1 from events where counted and not test
    ) parts group by 1, 2 having sum(events) <> 0`,
  'a cap has counted every conversion of its period once': `
    select n.org_id, n.cap_id, n.used, count(e.id) from cap_counts n
    join caps c on c.org_id = n.org_id and c.id = n.cap_id and c.metric = 'conversions' and c.active and c.period = 'total'
    left join events e on e.org_id = n.org_id and not e.test and e.created_at >= c.created_at
      and c.object_id in (e.offer_id, e.campaign_id) and (c.event_types = '{}' or e.type = any(c.event_types))
    group by n.org_id, n.cap_id, n.period_start, n.used having n.used <> count(e.id)`,
}

/**
 * Runs every check that needs nothing but the database; fails with the rows that break one. Where test files share the database, `org_id` leaves out
 * what other files made.
 */
export async function assertBooks(pool: Pool, org_id?: number): Promise<void> {
  for (const [name, text] of Object.entries(CHECKS)) {
    const { rows: all } = await pool.query<{ org_id: number }>(text)
    const rows = org_id === undefined ? all : all.filter(row => row.org_id === org_id)
    assert.deepEqual(rows.slice(0, 3), [], `${name}: ${rows.length} rows do not hold`)
  }
}

/** All nine checks, for everything that `load` sent to these organizations, once the outbox is empty. The feed is read at `address`. */
export async function assertAudit(
  pool: Pool,
  load: Load,
  { targets, receiver, address }: { targets: readonly Target[]; receiver: Receiver; address: string },
): Promise<void> {
  assert.deepEqual(load.unexpected.slice(0, 3), [], 'answers that the contract does not allow')
  await assertStored(pool, 'clicks', load.clicks)
  await assertStored(pool, 'events', load.events)
  await assertNothingInvented(pool, load, targets)
  await assertBooks(pool)
  await assertReceived(pool, receiver)
  for (const target of targets) await assertFeed(pool, target, address)
  assertSilent(load, targets)
}

/**
 * Checks a restored backup: everything acknowledged `before` it was taken is stored exactly once, nothing was invented, and books and feed
 * agree. Anything later may be there or not.
 */
export async function assertRestored(
  pool: Pool,
  load: Load,
  before: { clicks: ReadonlySet<string>; events: ReadonlySet<string> },
  { targets, address }: { targets: readonly Target[]; address: string },
): Promise<void> {
  assert.deepEqual(load.unexpected.slice(0, 3), [], 'answers that the interface does not know')
  assert.ok(before.clicks.size > 0 && before.events.size > 0, 'there was something to lose')
  await assertStored(pool, 'clicks', before.clicks)
  await assertStored(pool, 'events', before.events)
  await assertNothingInvented(pool, load, targets)
  await assertBooks(pool)
  for (const target of targets) await assertFeed(pool, target, address)
  assertSilent(load, targets)
}

/** A2: every stored event was sent, and was not refused. */
async function assertNothingInvented(pool: Pool, { outcomes }: Load, targets: readonly Target[]): Promise<void> {
  const { rows } = await pool.query<{ intent: string }>(
    `select concat_ws(' ', click_id, type, nonce) as intent from events where org_id = any($1)`,
    [targets.map(({ org_id }) => org_id)],
  )
  const invented = rows.filter(({ intent }) => (outcomes.get(intent) ?? 'refused') === 'refused')
  assert.deepEqual(invented.slice(0, 3), [], `A2: ${invented.length} events are stored that were refused or never sent`)
}

/** After so long without a call nothing more is expected. */
const NO_CALL_MS = 120_000

/** Waits until no delivery to this receiver is pending, for as long as it is called. */
export async function drained(pool: Pool, { origin, arrivals }: Receiver): Promise<void> {
  let called = arrivals.length
  let deadline = performance.now() + NO_CALL_MS
  for (;;) {
    const { rows } = await pool.query<{ left: number }>(
      `select count(*)::int as left from deliveries d join postback_rules r on r.org_id = d.org_id and r.id = d.target_id
      where d.state = 'pending' and r.url like $1`,
      [`${origin}/%`],
    )
    if (rows[0]?.left === 0) return
    if (arrivals.length > called) deadline = performance.now() + NO_CALL_MS
    called = arrivals.length
    assert.ok(performance.now() < deadline, `${rows[0]?.left} deliveries are still pending`)
    await sleep(100)
  }
}

/**
 * A6: each delivery arrived, and more than once only because of attempts in progress when a process died. The rules call
 * `/hook?e={event_id}`.
 */
async function assertReceived(pool: Pool, receiver: Receiver): Promise<void> {
  const arrived = new Map<string, number>()
  for (const { url } of receiver.arrivals) {
    const { searchParams } = new URL(url, receiver.origin)
    const name = toUuid(searchParams.get('e') ?? '') ?? url
    arrived.set(name, (arrived.get(name) ?? 0) + 1)
  }
  const { rows } = await pool.query<{ event_id: string; state: string; made: number; unanswered: number }>(
    `select d.event_id, d.state, count(a.number)::int as made, (count(a.number) filter (where a.status is null))::int as unanswered
    from deliveries d
    join postback_rules r on r.org_id = d.org_id and r.id = d.target_id and r.url like $1
    left join delivery_attempts a on a.org_id = d.org_id and a.delivery_id = d.id
    group by d.org_id, d.id`,
    [`${receiver.origin}/%`],
  )
  const missing = rows.filter(({ event_id }) => !arrived.has(event_id))
  assert.deepEqual(missing.slice(0, 3), [], `A6: ${missing.length} of ${rows.length} deliveries never arrived`)
  const repeated = rows.filter(({ event_id, unanswered }) => (arrived.get(event_id) ?? 0) > 1 + unanswered)
  assert.deepEqual(repeated.slice(0, 3), [], `A6: ${repeated.length} deliveries were repeated without a reason`)
  const known = new Set(rows.map(({ event_id }) => event_id))
  const strange = [...arrived.keys()].filter(event => !known.has(event))
  assert.deepEqual(strange.slice(0, 3), [], `A6: ${strange.length} arrivals have no delivery`)
}

/** A7: paging through the feed shows every click of the organization once. A1 has checked that every issued click is stored. */
async function assertFeed(pool: Pool, { key, org_id }: Target, address: string): Promise<void> {
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const answer = await fetch(`${address}/api/v1/clicks?tracked=all&limit=1000${cursor}`, {
      headers: { 'x-api-key': key },
    })
    assert.equal(answer.status, 200, 'A7: the feed can be read')
    const page = (await answer.json()) as { data: { id: string }[]; next_cursor: string | null }
    seen.push(...page.data.map(({ id }) => toUuid(id) ?? id))
    if (page.next_cursor === null) break
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
  }
  const { rows } = await pool.query<{ id: string }>('select id from clicks where org_id = $1', [org_id])
  const stored = rows.map(({ id }) => id)
  assert.equal(new Set(seen).size, seen.length, 'A7: no click is shown twice')
  assert.deepEqual(seen.toSorted(), stored.toSorted(), 'A7: the pages are the set')
}

const INSIDE =
  /\bat .*:\d+|node:|\.ts\b|\/(src|tmp|home|work|usr)\/|\b(select|insert into|update|relation|column|SQLSTATE|ECONN\w+|postgres)\b/i

/** A9: no failure shows internals, or anything of another organization. */
function assertSilent({ failures }: Load, targets: readonly Target[]): void {
  for (const { org_id, body } of failures) {
    assert.doesNotMatch(body, INSIDE, 'A9')
    const strangers = targets.filter(target => target.org_id !== org_id)
    const secrets = [
      ...strangers.flatMap(({ key, campaign }) => [key, campaign]),
      ...targets.map(one => String(one.org_id)),
    ]
    assert.ok(!secrets.some(secret => body.includes(secret)), `A9: ${body}`)
  }
}

/** A1 and A7: every acknowledged id is stored exactly once. */
async function assertStored(pool: Pool, table: 'events' | 'clicks', ids: ReadonlySet<string>): Promise<void> {
  const { rows } = await pool.query<{ id: string; times: string }>(
    `select id, count(*) as times from ${table} where id = any($1) group by 1`,
    [[...ids]],
  )
  const stored = new Map(rows.map(({ id, times }) => [id, Number(times)]))
  const lost = [...ids].filter(id => stored.get(id) !== 1)
  assert.deepEqual(
    lost.slice(0, 3),
    [],
    `${lost.length} of ${ids.size} acknowledged ${table} are not stored exactly once`,
  )
}
