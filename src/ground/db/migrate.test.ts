import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import pg from 'pg'
import { useDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { StartError } from '../start-error.ts'
import { listMigrations, type Migration, migrate } from './migrate.ts'

/** One line for each file that databases may have applied. */
const PUBLISHED = join(import.meta.dirname, '../../../tests/migrations.golden.txt')
/** How 0018 filled `report_sheet` for a day. */
const IN_SHEETS = `-- In sheets that a folder can finish, which takes none in part.
insert into report_sheet (org_id, id, changes)
  select org_id, gen_random_uuid(), array_agg(change) from (
    select org_id, row_number() over (partition by org_id) / 500 as sheet,
      row(org_id, day, campaign_id, offer_id, geo, sub1, clicks, landed, started, registered, lead, deposit, ftd, revenue)::report_change as change
    from report_delta
  ) numbered group by org_id, sheet;
`
const ground = await useDatabase()
const clients: pg.Client[] = []

async function client(): Promise<pg.Client> {
  const made = new pg.Client(ground.connection)
  clients.push(made)
  await made.connect()
  return made
}

const step = (number: number, sql: string): Migration => ({ number, name: `${number}.sql`, checksum: sql, sql })
const first = step(1, 'create table fruits (name text); create table trees (name text)')
const second = step(2, `insert into fruits values ('plum')`)
const refusal = (pattern: RegExp) => (error: unknown) => error instanceof StartError && pattern.test(error.message)

let own: pg.Client
beforeEach(async () => {
  own = await client()
  await own.query('drop schema public cascade; create schema public')
})
afterEach(async () => {
  for (const open of clients.splice(0)) await open.end()
})

test('an empty database gets every migration of this code once', async () => {
  const names = listMigrations().map(({ name }) => name)
  assert.ok(names.length >= 6)
  assert.deepEqual(await migrate(own), names)
  assert.deepEqual(await migrate(own), [])
})

test('missing migrations are applied in order, applied ones are skipped', async () => {
  assert.deepEqual(await migrate(own, [first]), ['1.sql'])
  assert.deepEqual(await migrate(own, [first, second]), ['2.sql'])
  assert.deepEqual((await own.query('select name from fruits')).rows, [{ name: 'plum' }])
})

test('several processes that migrate at once apply each migration once between them', async () => {
  const slow = [
    first,
    step(2, `select pg_sleep(0.05); insert into fruits values ('plum')`),
    step(3, 'create table roots ()'),
  ]
  const all = await Promise.all([client(), client(), client()])
  const applied = await Promise.all(all.map(one => migrate(one, slow)))
  assert.deepEqual(applied.flat().toSorted(), ['1.sql', '2.sql', '3.sql'])
  assert.equal((await own.query('select 1 from fruits')).rowCount, 1)
})

test('a migration that fails leaves nothing of itself and names its file', async () => {
  const broken = step(2, 'create table leaves (); insert into nowhere values (1)')
  await assert.rejects(migrate(own, [first, broken]), refusal(/^2\.sql failed: relation "nowhere" does not exist$/))
  const { rows } = await own.query(`select to_regclass('leaves') as leaves, to_regclass('fruits')::text as fruits`)
  assert.deepEqual(rows, [{ leaves: null, fruits: 'fruits' }])
  assert.deepEqual(await migrate(own, [first, second]), ['2.sql'])
})

test('a migration that deadlocks with traffic is tried again, and traffic loses nothing', async () => {
  await migrate(own, [first])
  const traffic = await client()
  // The migration detects the deadlock first if both wait for each other within its five seconds.
  await own.query(`set deadlock_timeout = '5s'`)
  await traffic.query(`set deadlock_timeout = '1min'`)
  await traffic.query('begin')
  await traffic.query('lock table trees in access share mode')
  const third = step(3, 'alter table fruits add column colour text; alter table trees add column height int')
  const watcher = await client()
  const migrated = migrate(own, [first, third])
  await eventually('the migration waits for the traffic', async () => {
    const { rows } = await watcher.query(`select from pg_locks where relation = 'trees'::regclass and not granted`)
    return rows.length > 0
  })
  await traffic.query('lock table fruits in access share mode')
  await traffic.query('commit')
  assert.deepEqual(await migrated, ['3.sql'])
})

test('a migration that was changed after it had been applied is refused', async () => {
  await migrate(own, [first])
  await assert.rejects(migrate(own, [{ ...first, checksum: 'other' }]), refusal(/1\.sql was changed after/))
})

test('a database with the earlier text of 0018 is migrated from there', async () => {
  const all = listMigrations()
  const at = all.findIndex(({ number }) => number === 18)
  const { sql, ...named } = all[at] ?? assert.fail()
  const statistics = all[at + 2]?.sql.slice(0, all[at + 2]?.sql.indexOf('\n\n')) ?? assert.fail()
  const whole = sql.slice(sql.indexOf('insert into report_sheet'), sql.indexOf('drop table report_delta'))
  const other = sql.replace('comment on table', `${statistics}\ncomment on table`).replace(whole, IN_SHEETS)
  const checksum = createHash('sha256').update(other).digest('hex')
  await migrate(own, [...all.slice(0, at), { ...named, sql: other, checksum }])
  assert.deepEqual(
    await migrate(own),
    all.slice(at + 1).map(({ name }) => name),
  )
})

test('a published migration never changes, because databases that have it refuse another text', () => {
  const lines = listMigrations().map(({ name, checksum }) => `${name} ${checksum}`)
  const published = readFileSync(PUBLISHED, 'utf8').trim().split('\n')
  assert.deepEqual(lines.slice(0, published.length), published, 'put it back, and say what has changed in a new file')
  if (process.env['UPDATE_GOLDEN']) return writeFileSync(PUBLISHED, `${lines.join('\n')}\n`)
  assert.equal(lines.length, published.length, 'run with UPDATE_GOLDEN=1 to publish the new ones')
})

test('a database that is newer than the code is refused untouched', async () => {
  await migrate(own, [first, second])
  await assert.rejects(
    migrate(own, [first]),
    refusal(/newer than this version of Sluice .*2\.sql\): start the newer one, or restore/),
  )
})

test('two files with one number are refused, other files are not migrations', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-migrations-'))
  try {
    for (const name of ['0002_b.sql', '0001_a.sql', 'notes.txt']) await writeFile(join(folder, name), 'select 1')
    assert.deepEqual(
      listMigrations(folder).map(({ number, name }) => [number, name]),
      [
        [1, '0001_a.sql'],
        [2, '0002_b.sql'],
      ],
    )
    await writeFile(join(folder, '0002_c.sql'), 'select 2')
    assert.throws(() => listMigrations(folder), refusal(/two migrations have the number 2/))
  } finally {
    await rm(folder, { recursive: true })
  }
})
