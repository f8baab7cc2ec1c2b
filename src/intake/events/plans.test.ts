// The plans of the queue's statements: on tables that were never analyzed they are already the plans for large tables.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { seedOrganization } from '../../../tests/support/house.ts'
import { seedClicks } from '../../../tests/support/intake.ts'
import { openQueue, type Queue } from '../../../tests/support/organization-queue.ts'
import { firstIdAt, newId } from '../../contract/ids.ts'
import { discardStalePlans } from '../../ground/db/stale-plans.ts'
import { ensurePartitions } from '../../ground/db/partitions.ts'
import * as reads from './reads.ts'

let fresh: FreshDatabase
let queue: Queue
let client: pg.PoolClient
const NOW = Date.UTC(2026, 5, 15)
before(async () => {
  fresh = await freshDatabase()
  await ensurePartitions(fresh.database.schema, 'clicks', Date.UTC(2024, 5, 1), Date.UTC(2026, 8, 1))
  queue = openQueue(fresh.database)
  client = await fresh.database.intake.connect()
  const { org_id } = await seedOrganization(fresh.database)
  await seedClicks(fresh.database, org_id, 6000, () => ({ at: NOW, visitor_id: crypto.randomUUID() }))
  // With the background pool: the queue's transactions are limited to four seconds, which is too short for this on a busy machine.
  const { worker } = fresh.database
  await worker.query(
    `insert into events (org_id, id, click_id, type, payout_is_explicit, person_id, source, created_at)
     select org_id, gen_random_uuid(), id, 'lead', false, id, 'api', to_timestamp(extract(epoch from now()) + random())
     from clicks`,
  )
  await worker.query("insert into person_keys select org_id, 'v:' || visitor_id, id from clicks")
})
after(async () => {
  client.release()
  await queue.close()
  await fresh.drop()
})

/** The cached plan of a statement on the queue's connections, line by line. */
async function planOf(text: string, values: unknown[]): Promise<string[]> {
  await client.query(`prepare planned as ${text}`)
  const literals = values.map(value => (Array.isArray(value) ? `'{${value.join(',')}}'` : `'${String(value)}'`))
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(
    `explain (costs off, analyze, timing off, summary off) execute planned(${literals.join(', ')})`,
  )
  await client.query('deallocate planned')
  return rows.map(row => row['QUERY PLAN'])
}

test('the connections of the queue are told to plan once, by index, and to live four seconds at most', async () => {
  const { rows } = await client.query<{ name: string; setting: string }>(
    `select name, setting from pg_settings
     where name in ('plan_cache_mode', 'enable_seqscan', 'enable_hashjoin', 'transaction_timeout') order by name`,
  )
  assert.deepEqual(
    rows.map(({ name, setting }) => `${name} ${setting}`),
    ['enable_hashjoin off', 'enable_seqscan off', 'plan_cache_mode force_generic_plan', 'transaction_timeout 4000'],
  )
})

const clicks = Array.from({ length: 3 }, () => newId(NOW))
const bounds = [firstIdAt(NOW), firstIdAt(NOW + 1)]
const asked: [name: string, forms: reads.Forms, keys: string[], more: unknown[]][] = [
  ['events', reads.READ_EVENTS, clicks, []],
  ['aliased events', reads.READ_ALIASED, clicks, []],
  ['clicks', reads.READ_CLICKS, clicks, bounds],
  ['people', reads.READ_PEOPLE, ['t:1', 't:2', 't:3'], []],
]
for (const [name, { one, many }, keys, more] of asked) {
  for (const [form, text, first] of [
    ['one organization', one, 1],
    ['many organizations', many, [1, 2, 3]],
  ] as const) {
    test(`${name} of ${form} are looked up by their whole primary key`, async () => {
      const plan = await planOf(text, [first, keys, ...more])
      const scans = plan.filter(line => /Scan/.test(line) && !/Function Scan|Subquery Scan|Memoize/.test(line))
      assert.ok(scans.length > 0)
      // The conversions of a click are read by their own index.
      for (const scan of scans)
        assert.match(scan, /Index (Only )?Scan (Backward )?using (\w+_pkey|ledger_charged_once|events_click) /)
      const conditions = plan.filter(line => line.includes('Index Cond'))
      assert.equal(conditions.length, scans.length)
      for (const condition of conditions)
        assert.match(
          condition,
          /org_id = .* AND \((id|key|person_id|click_id|event_id) = |org_id = .* AND \(id >= .* AND \(id = /,
        )
      if (name === 'clicks')
        assert.equal(scans.filter(scan => scan.includes('clicks_')).length, 1, 'one month is opened')
    })
  }
}

for (const [form, text, first] of [
  ['one organization', reads.READ_IN_CHATS.one, 1],
  ['many organizations', reads.READ_IN_CHATS.many, [1]],
] as const)
  test(`joins of ${form} are looked up by the person in an index of their own`, async () => {
    const plan = await planOf(text, [
      first,
      [reads.foundBy({ type: 'channel_join', chat_id: -1001, telegram_user_id: '7' })],
    ])
    const scans = plan.filter(line => /Scan/.test(line) && !/Function Scan|Subquery Scan|Memoize/.test(line))
    assert.equal(scans.length, 1)
    assert.match(scans[0] ?? '', /Index Scan using events_in_telegram /)
    assert.ok(plan.some(line => /Index Cond.*org_id = .* AND \(telegram_user_id = /.test(line)))
  })

test('a connection makes its plans anew, soon at first and then ever more seldom', t => {
  t.mock.method(performance, 'now', () => now)
  let now = 1000
  const connection = {} as pg.PoolClient
  const anew: number[] = []
  for (; now < 200_000; now += 100) if (discardStalePlans(connection) !== undefined) anew.push(now)
  assert.deepEqual(anew, [1500, 2500, 4500, 8500, 16_500, 32_500, 64_500, 124_500, 184_500])
})
