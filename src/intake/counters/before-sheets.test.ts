// Counts by older versions and in older databases. Only on one server, because a cluster has the sheets from its start, and because the databases
// that a test creates beside its own are on one server.
import assert from 'node:assert/strict'
import test from 'node:test'
import pg from 'pg'
import { pino } from 'pino'
import { freshDatabase, useDatabase } from '../../../tests/support/database.ts'
import { newId } from '../../contract/ids.ts'
import { connect } from '../../ground/db/connect.ts'
import { listMigrations, migrate } from '../../ground/db/migrate.ts'
import { openFolder } from '../../reading/reports/fold.ts'
import { DeltaSheet, NO_ID } from './deltas.ts'

const ground = await useDatabase()

test('what a process of an earlier version appends cell by cell is counted like a sheet', async () => {
  const append = `insert into report_delta (org_id, id, day, campaign_id, offer_id, geo, sub1, clicks, landed, started, registered, lead,
      deposit, ftd, revenue)
    select 3, unnest($1::uuid[]), '2026-03-01', $2, $2, unnest($3::text[]), '', 1, 0, 0, 0, 0, 0, 1, 2.5`
  await ground.database.worker.query(append, [[newId(), newId()], NO_ID, ['DE', 'FR']])
  const { rows } = await ground.database.reads.query(
    'select day, geo, clicks, ftd, revenue from report_delta where org_id = 3 order by geo',
  )
  const cells = { day: '2026-03-01', clicks: 1, ftd: 1, revenue: '2.5' }
  assert.deepEqual(rows, [
    { ...cells, geo: 'DE' },
    { ...cells, geo: 'FR' },
  ])
})

test('what waits when an older database is migrated becomes sheets of a size that a folder finishes', async t => {
  const older = await freshDatabase()
  const client = new pg.Client(older.connection)
  t.after(async () => {
    await client.end()
    await older.drop()
  })
  await client.connect()
  await client.query('drop schema public cascade; create schema public')
  await migrate(
    client,
    listMigrations().filter(({ number }) => number < 18),
  )
  await client.query(
    `insert into report_delta select 1 + n % 2, gen_random_uuid(), date '2026-03-01' + n % 3, $1, $1, 'DE', 'ad "' || n || '"', n, 0, 0, 0, 0, 0, 1, 0.5
      from generate_series(1, 4000) n`,
    [NO_ID],
  )
  const told = `select org_id, day::text, sub1, clicks, ftd, revenue::float from report_delta order by org_id, sub1`
  const before = (await client.query(told)).rows
  await migrate(client)
  assert.deepEqual((await client.query(told)).rows, before)
  const { rows } = await client.query('select max(cardinality(changes)) as largest from report_sheet')
  assert.deepEqual(rows, [{ largest: 500 }])
})

/** Stores, counts, folds and reads like the version before costs. */
const BEFORE_COSTS = {
  click: `insert into clicks (org_id, id, campaign_id, tracked, test, suppressed_delivery, status, stages)
    select c.org_id, c.id, c.campaign_id, c.tracked, c.test, c.suppressed_delivery, 0, 1 from unnest($1::new_click[]) as c`,
  sheet: `insert into report_sheet (org_id, id, changes)
    select c.org_id, $2::uuid, array_agg(c) from unnest($1::report_change[]) as c group by c.org_id`,
  fold: `with taken as (delete from report_sheet where org_id = $1 returning changes)
    insert into report_day as counted (org_id, dimension, day, campaign_id, key, clicks, landed, started, registered, lead, deposit, ftd, revenue)
    select $1::int, 1, day, campaign_id, '', sum(clicks), 0, 0, 0, 0, 0, 0, sum(revenue) from taken, unnest(changes) group by day, campaign_id
    on conflict (org_id, dimension, day, campaign_id, key) do update
      set clicks = counted.clicks + excluded.clicks, revenue = counted.revenue + excluded.revenue`,
  told: `select sum(clicks)::int as clicks, trim_scale(sum(revenue))::text as revenue from (
      select clicks, revenue from report_day where org_id = $1 and dimension = 1
      union all select clicks, revenue from report_delta where org_id = $1) parts`,
}

test('processes of the version before costs go on beside a newer one through the migration, and nothing is lost', async t => {
  const older = await freshDatabase()
  const [old, own] = [new pg.Client(older.connection), new pg.Client(older.connection)]
  t.after(async () => {
    await old.end()
    await own.end()
    await older.drop()
  })
  await old.connect()
  await own.connect()
  await old.query('drop schema public cascade; create schema public')
  await migrate(
    old,
    listMigrations().filter(({ number }) => number < 48),
  )
  const one = { day: '2026-03-01', campaign_id: NO_ID, offer_id: NO_ID, geo: 'DE', sub1: 'a', slot: 47 }
  const oldProcess = async () => {
    await old.query(BEFORE_COSTS.click, [`{"(5,${newId()}${','.repeat(4)}t,f${','.repeat(29)}f)"}`])
    await old.query(BEFORE_COSTS.sheet, [`{"(5,${one.day},${NO_ID},${NO_ID},DE,a,1,0,0,0,0,0,0,2.5)"}`, newId()])
  }
  await oldProcess()
  await old.query(BEFORE_COSTS.fold, [5])
  await oldProcess()
  await migrate(own)
  const database = connect([older.connection], { log: pino({ level: 'silent' }) })
  const folder = openFolder({ database, log: pino({ level: 'silent' }) })
  await folder.close()
  const newProcess = async () => {
    const sheet = new DeltaSheet()
    sheet.add(5, one, { clicks: 1, revenue: '1', cost: '0.125' })
    sheet.add(5, one, { clicks: 1, unread_costs: 1 })
    const { text, values = [] } = sheet.statement() ?? assert.fail()
    await own.query(text, [...values])
  }
  await Promise.all([newProcess(), oldProcess()])
  // Neither version deletes rows of the other that it cannot count.
  await Promise.all([old.query(BEFORE_COSTS.fold, [5]), newProcess()])
  await oldProcess()
  assert.deepEqual((await old.query(BEFORE_COSTS.told, [5])).rows, [{ clicks: 8, revenue: '12' }])
  await folder.foldAll()
  assert.deepEqual((await old.query(BEFORE_COSTS.told, [5])).rows, [{ clicks: 8, revenue: '12' }])
  const folded = 'select cost::text, unread_costs::int from report_day where org_id = 5 and dimension = 1'
  assert.deepEqual((await own.query(folded)).rows, [{ cost: '0.250', unread_costs: 2 }])
  await newProcess()
  await old.query(BEFORE_COSTS.fold, [5])
  await folder.foldAll()
  await database.close()
  assert.deepEqual((await own.query(folded)).rows, [{ cost: '0.375', unread_costs: 3 }])
  assert.deepEqual((await own.query('select count(*)::int as clicks from clicks where cost_counts is null')).rows, [
    { clicks: 4 },
  ])
})
