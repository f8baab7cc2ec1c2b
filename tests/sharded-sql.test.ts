import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as reads from '../src/intake/events/reads.ts'
import * as writes from '../src/intake/events/writes.ts'
import { brokenPlans, brokenRules } from './support/sharded-sql.ts'

/** Statements that Sluice once sent, with the cluster's errors. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  // could not create distributed plan … parameters in SQL functions
  'a generic plan for whatever the session sends': [
    'set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_hashjoin = off; set enable_material = off',
  ],
  // could not determine data type of parameter $1
  'a parameter in the returning of an insert from a select': [
    `insert into failing_targets as t (org_id, kind, target_id, failures, failing_since)
    select $1, $2, target_id, failures, now() from unnest($3::uuid[], $4::int[]) as failed (target_id, failures)
    on conflict (org_id, kind, target_id) do update set failures = t.failures + excluded.failures
    returning target_id, failures, pauses, failing_since <= now() - $5::bigint * interval '1 millisecond' as is_old`,
  ],
  // STABLE functions used in UPDATE queries cannot be called with column references
  'the clock beside a column in an update': [
    `update failing_targets as t
    set paused_until = now() + paused.pause_ms * interval '1 millisecond', pauses = t.pauses + paused.more
    from unnest($3::uuid[], $4::int[], $5::int[]) as paused (target_id, pause_ms, more)
    where t.org_id = $1 and t.kind = $2 and t.target_id = paused.target_id`,
    `update deliveries set run_at = now() + attempts * interval '1 minute' where org_id = $1 and id = $2`,
  ],
  // functions used in the DO UPDATE SET clause of INSERTs on distributed tables must be marked IMMUTABLE
  'a function that is not immutable in an upsert': [
    `insert into report_day (org_id, day) values ($1, $2) on conflict (org_id, day) do update set day = now()`,
    `insert into certificates (name, wanted_at) select name, now() from unnest($1::text[]) as wanted (name)
    on conflict (name) do update set gone_at = null, wanted_at = now()`,
  ],
  // functions used in the WHERE clause of the ON CONFLICT clause of INSERTs on distributed tables must be marked IMMUTABLE
  'a moment moved by an interval in an upsert': [
    `insert into platform_visits as p (org_id, key, made_at) values ($1, $2, $3) on conflict (org_id, key) do update
    set made_at = excluded.made_at where p.made_at < excluded.made_at - interval '24 hours'`,
  ],
  // functions used in UPDATE queries on distributed tables must not be VOLATILE
  'a volatile function in an update or delete': [
    'update deliveries set target_id = gen_random_uuid() where org_id = $1',
    'update offers set updated_at = clock_timestamp() where org_id = $1',
  ],
  // non-IMMUTABLE functions are not allowed in the RETURNING clause
  'the epoch of a moment in a returning': [
    `update link_batches set state = 'leased' where org_id = $1 and id = $2 returning (extract(epoch from expires_at) * 1000)::float8 as expires_ms`,
  ],
  // complex joins are only supported when all distributed tables are co-located
  'an organization of another table after a lateral join': [
    `select c.id from unnest($2::uuid[]) as due (id)
    cross join lateral (select * from deliveries where org_id = $1 and id = due.id limit 1) d
    left join lateral (select * from clicks where org_id = $1 and id = d.click_id limit 1) c on true
    left join campaigns p on p.org_id = c.org_id and p.id = c.campaign_id`,
  ],
  // complex joins are only supported when all distributed tables are co-located and joined on their distribution columns
  'a sub-select with the organization of an outer table, in a statement for one organization': [
    `select e.id, coalesce((select w.status from event_revisions w where w.org_id = e.org_id and w.event_id = e.id limit 1), 'approved')
    from unnest($2::uuid[]) as due (id)
    cross join lateral (select * from deliveries where org_id = $1 and id = due.id limit 1) d
    cross join lateral (select * from events where org_id = $1 and id = d.event_id limit 1) e`,
    `select e.id from postback_rules r join events e on e.org_id = r.org_id and exists (
      select from campaigns s where s.org_id = e.org_id and s.id = e.campaign_id)
    where r.org_id = $1 and not exists (select 1 from deliveries d where d.org_id = $1 and d.event_id = e.id)`,
  ],
  // column counted.key does not exist
  'columns that only their with names': [
    `with counted (key, clicks) as (select geo::text, count(*) from clicks where org_id = $1 group by 1 union all
      select key, clicks from report_day where org_id = $1) select key, sum(clicks) from counted group by key`,
  ],
  // non-IMMUTABLE functions are not allowed in CASE or COALESCE statements
  'the clock in a case or coalesce of an update or delete': [
    'update certificates set ari_at = case when $1 then now() end, attempts = 0 where name = $2',
    `update certificates set telling_until = $1 where name = $2 and case when chain is null then attempts >= 5 else now() > not_after end`,
    'update deliveries set run_at = coalesce($2, now()) where org_id = $1 and id = $3',
  ],
  // STABLE functions used in UPDATE queries cannot be called with column references
  'a column’s moment and an interval in an update or delete': [
    `update certificates set telling_until = $1 where now() > not_after - least(interval '7 days', (not_after - not_before) / 5)`,
    `delete from deliveries where org_id = $1 and finished_at + interval '90 days' < now()`,
  ],
  // modifying the partition value of rows is not allowed
  'an organization that changes': ['update events set org_id = $2 where org_id = $1'],
}

for (const [rule, texts] of Object.entries(REFUSED))
  test(`a refused statement is found: ${rule}`, () => {
    for (const text of texts) assert.ok(brokenRules(text).includes(rule), text)
  })

test('on the pool of keys, statements without a generic plan on a cluster are found', () => {
  for (const text of [
    `select usd_per_unit from event_money where org_id = $1 and event_id in (select $2::uuid union all select event_id from event_aliases)`,
    `insert into fx_sources (source) select name from unnest($1::text[]) as wanted (name) order by name on conflict do nothing`,
  ])
    assert.equal(brokenPlans(text).length, 1, text)
  for (const text of [
    'select parameters from networks where org_id = $1 and id = $2 and deleted_at is null',
    'select t.org_id from network_tokens t join organizations o on o.org_id = t.org_id where t.hash = $1',
  ])
    assert.deepEqual(brokenPlans(text), [], text)
})

test('statements that a cluster accepts pass', () => {
  const taken = [
    `update failing_targets set paused_until = now() + $4::int * interval '1 millisecond', pauses = pauses + $5::int where org_id = $1`,
    `update network_calls set run_at = now() + interval '90 seconds', attempts = attempts + 1 where org_id = $1`,
    `update deliveries set lease_until = $4, run_at = case when attempts > 1 then $4::timestamptz end where org_id = $1`,
    `with taken as (delete from report_sheet where org_id = $1 and id <= $2 returning changes) insert into report_day as c (org_id)
      select $1::int from taken on conflict (org_id) do update set clicks = c.clicks + excluded.clicks`,
    `select set_config('plan_cache_mode', 'force_generic_plan', false) where to_regproc('create_distributed_table') is null`,
    `update link_batches set state = 'leased' where org_id = $1 returning extract(epoch from expires_at - timestamptz '1970-01-01 00:00:00+00')`,
    `update link_batches set made = made + 1 where org_id = $1 and expires_at > $2::timestamptz - interval '1 hour'`,
    `update certificates set ari_at = now() where not_after - now() < least(interval '7 days', (not_after - not_before) / 5)`,
    `select e.id, (select w.status from event_revisions w where w.org_id = $1 and w.event_id = e.id limit 1) from events e where e.org_id = $1`,
    `select c.id from (select b.id from events e join clicks b on b.org_id = e.org_id and b.id = e.click_id where e.org_id = $1) c`,
    `select r.id from postback_rules r cross join lateral (select 1 from deliveries d where d.org_id = r.org_id limit 1) due
      where r.org_id = any($1)`,
    `update sessions set updated_at = now() + id * interval '1 day' where id = $1`,
  ]
  for (const text of taken) assert.deepEqual(brokenRules(text), [], text)
})

test('statements for one organization break no rule', () => {
  const forms = [...Object.values(reads), ...Object.values(writes)].filter(form => typeof form === 'object')
  assert.ok(forms.length > 10)
  for (const { one } of forms) assert.deepEqual(brokenRules(one), [], one)
})
