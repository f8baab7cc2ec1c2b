import assert from 'node:assert/strict'
import { once } from 'node:events'
import { getPriority } from 'node:os'
import { test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { pino } from 'pino'
import { freshDatabase, useDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { sessionPriority } from '../../../tests/support/session-priority.ts'
import { BEHIND } from '../priority.ts'
import { connect, type Database } from './connect.ts'
import { isUnreachable } from './faults.ts'

const ground = await useDatabase()
const log = pino({ level: 'silent' })
const AS_TEXT = `select '2026-11-20 10:00:00.123456+02'::timestamptz as at, '2026-11-20'::date as day, 12345678901234567890.10::numeric as amount,
  9007199254740993::int8 as count, array['2026-11-20 10:00:00+00'::timestamptz] as times, array[0.10, null]::numeric[] as amounts`

test('times keep their microseconds, amounts and large numbers their digits, also in arrays', async () => {
  const expected = {
    at: '2026-11-20 08:00:00.123456+00',
    day: '2026-11-20',
    amount: '12345678901234567890.10',
    count: '9007199254740993',
    times: ['2026-11-20 10:00:00+00'],
    amounts: ['0.10', null],
  }
  const { reads, keys, clicks, intake, worker, kysely } = ground.database
  for (const pool of [reads, keys, clicks, intake, worker])
    assert.deepEqual((await pool.query(AS_TEXT)).rows, [expected])
  assert.deepEqual((await sql.raw(AS_TEXT).execute(kysely)).rows, [expected])
})

test('the pool of the sign-in library gets Date objects, or sessions would never expire', async () => {
  const { rows } = await ground.database.auth.query<{ at: unknown }>('select now() as at')
  assert.ok(rows[0]?.at instanceof Date)
})

test('every session is in UTC and has a limit on its statements', async () => {
  const { reads, keys, clicks, intake, worker, auth } = ground.database
  for (const pool of [reads, keys, clicks, intake, worker, auth]) {
    const { rows } = await pool.query(
      `select current_setting('timezone') as zone, current_setting('statement_timeout') as statement,
        current_setting('idle_in_transaction_session_timeout') as idle`,
    )
    assert.equal(rows[0].zone, 'UTC')
    assert.match(rows[0].statement, /^\d+s$/)
    assert.equal(rows[0].idle, '10s')
  }
})

test('a statement with parameters is prepared once per connection, however often it is sent', async () => {
  const client = await ground.database.keys.connect()
  try {
    for (const value of [1, 2, 3]) await client.query('select $1::int as prepared_here', [value])
    const { rows } = await client.query(
      `select generic_plans + custom_plans as runs from pg_prepared_statements where statement like '%prepared_here%' and statement not like '%pg_%'`,
    )
    assert.deepEqual(rows, [{ runs: '3' }])
  } finally {
    client.release()
  }
})

test('on the embedded server background work runs at a lower priority', async () => {
  const processes = async ({ reads, worker }: Pick<Database, 'reads' | 'worker'>) => {
    const pids = await Promise.all(
      [reads, worker].map(pool => pool.query<{ pid: number }>('select pg_backend_pid() as pid')),
    )
    return pids.map(({ rows: [row] }) => row?.pid ?? 0)
  }
  const embedded = connect([ground.connection], { log })
  const other = connect([ground.url], { log })
  const usual = getPriority()
  const [visitors = 0, behind = 0] = await processes(embedded)
  assert.deepEqual([visitors, behind].map(getPriority), [usual, BEHIND])
  if (sessionPriority(visitors) !== undefined) {
    assert.equal(sessionPriority(visitors), 0)
    await eventually('a low session', () => sessionPriority(behind) === BEHIND)
  }
  assert.deepEqual((await processes(other)).map(getPriority), [usual, usual], 'another server is its operator’s')
  await Promise.all([embedded.close(), other.close()])
})

test('a connection that is cut, in use or idle, fails its own statement and nothing else', async () => {
  const { reads } = ground.database
  const client = await reads.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const cut = once(client, 'error')
  await ground.database.worker.query('select pg_terminate_backend($1)', [rows[0]?.pid])
  await cut
  await assert.rejects(client.query('select 1'), error => isUnreachable(error))
  client.release()

  const { rows: idle } = await reads.query<{ pid: number }>('select pg_backend_pid() as pid')
  const reported = once(reads, 'error')
  await ground.database.worker.query('select pg_terminate_backend($1)', [idle[0]?.pid])
  await reported
  assert.equal((await reads.query('select 1 as one')).rows[0].one, 1)
})

test('a connection lost between two statements ends that connection, not the process', async () => {
  const client = await ground.database.reads.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  // There is no listener for its error here. Unhandled, the error would be an exception of the process.
  const ended = new Promise<void>(resolve => {
    client.once('end', resolve)
  })
  await ground.database.worker.query('select pg_terminate_backend($1)', [rows[0]?.pid])
  await ended
  await assert.rejects(client.query('select 1'), error => isUnreachable(error))
  client.release()
})

test('a slow statement is ended by the server', async () => {
  await assert.rejects(ground.database.clicks.query('select pg_sleep(10)'), /statement timeout|Query read timeout/)
})

test('an unreachable database is distinguished from one that refuses the statement', async () => {
  const nowhere = connect([{ host: '/no/such/folder', user: 'sluice', database: 'postgres' }], { log })
  await assert.rejects(nowhere.reads.query('select 1'), error => isUnreachable(error))
  await assert.rejects(ground.database.reads.query('select 1 from no_such_table'), error => !isUnreachable(error))
  await nowhere.close()
  await assert.rejects(nowhere.reads.query('select 1'), error => isUnreachable(error))
})

test('connections go to all nodes in turn', async () => {
  const other = await freshDatabase()
  const both = connect([ground.connection, other.url], { log })
  const clients = await Promise.all([1, 2, 3, 4].map(() => both.reads.connect()))
  const names = await Promise.all(
    clients.map(client => client.query<{ name: string }>('select current_database() as name')),
  )
  for (const client of clients) client.release()
  const counted = Object.groupBy(names, ({ rows }) => rows[0]?.name ?? '')
  assert.deepEqual(
    Object.values(counted).map(list => list?.length),
    [2, 2],
  )
  await both.close()
  await other.drop()
})

test("options in the operator's address are kept in addition to ours", async () => {
  const own = connect([`${ground.url}&options=-c%20search_path%3Delsewhere`], { log })
  const { rows } = await own.reads.query(
    `select current_setting('search_path') as path, current_setting('timezone') as zone`,
  )
  assert.deepEqual(rows, [{ path: 'elsewhere', zone: 'UTC' }])
  await own.close()
})

test('all pools together stay below half of the embedded connections', () => {
  const { reads, keys, clicks, intake, worker, auth } = ground.database
  const most = [reads, keys, clicks, intake, worker, auth].reduce((sum, pool) => sum + pool.options.max, 6)
  assert.ok(most <= 40, String(most))
})

test('a full database is distinguished from a wrong statement', () => {
  const answered = (code: string) => Object.assign(new pg.DatabaseError('no', 0, 'error'), { code })
  for (const code of ['53100', '53200', '53300', '58030', '08006']) assert.ok(isUnreachable(answered(code)), code)
  for (const code of ['22P02', '23505', '42P01', '54001']) assert.ok(!isUnreachable(answered(code)), code)
})
