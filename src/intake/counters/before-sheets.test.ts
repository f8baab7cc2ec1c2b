// The counts of processes and databases of before: one server's, because a cluster has had all migrations up to the sheets from its start.
import assert from 'node:assert/strict'
import test from 'node:test'
import pg from 'pg'
import { freshDatabase, useDatabase } from '../../../tests/support/database.ts'
import { newId } from '../../contract/ids.ts'
import { listMigrations, migrate } from '../../ground/db/migrate.ts'
import { NO_ID } from './deltas.ts'

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
