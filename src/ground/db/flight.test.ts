// Flights on a real connection: their rows, and the state after an error.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type pg from 'pg'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { sqlState } from './faults.ts'
import { ask, flight } from './flight.ts'

let fresh: FreshDatabase
let client: pg.PoolClient
before(async () => {
  fresh = await freshDatabase()
  client = await fresh.database.intake.connect()
  await client.query('create table things (id int primary key, word text)')
})
after(async () => {
  client.release(true)
  await fresh.drop()
})

const count = async () =>
  (await client.query<{ count: number }>('select count(*)::int as count from things')).rows[0]?.count

test('each statement gets its own rows, with the pool’s types, the first time and later', async () => {
  for (let times = 0; times < 3; times += 1) {
    const answers = await flight(client, {
      numbers: ask<{ n: number }>('select n from generate_series(1, $1::int) n', [times]),
      left_out: undefined,
      types: ask(
        'select $1::timestamptz as at, $2::numeric as amount, $3::boolean as flag, $4::text as missing, $5::json as json',
        ['2026-11-20T10:00:00.123Z', '12.50', true, null, '{"a":[1]}'],
      ),
      nothing: ask('update things set word = word where false'),
    })
    assert.deepEqual(
      answers.numbers.map(({ n }) => n),
      Array.from({ length: times }, (_, at) => at + 1),
    )
    assert.deepEqual(answers.types, [
      { at: '2026-11-20 10:00:00.123+00', amount: '12.50', flag: true, missing: null, json: { a: [1] } },
    ])
    assert.deepEqual([answers.left_out, answers.nothing], [[], []])
  }
})

test('lists with any content arrive unchanged', async () => {
  const texts = ['plain', '', 'null', 'NULL', 'a,b', '{}', '"', '\\', ' ', 'Ж😀', null]
  const { back } = await flight(client, {
    back: ask<{ word: string | null }>(
      'select word from unnest($1::text[]) with ordinality as t (word, place) order by place',
      [texts],
    ),
  })
  assert.deepEqual(
    back.map(({ word }) => word),
    texts,
  )
})

describe('a statement that fails', () => {
  test('throws its error; later statements, including a commit, do not run', async () => {
    for (let times = 0; times < 3; times += 1) {
      const asked = {
        begin: ask('begin'),
        first: ask('insert into things values ($1, $2)', [1, 'one']),
        bad: ask('select 1 / $1::int as n', [0]),
        second: ask('insert into things values ($1, $2)', [2, 'two']),
        commit: ask('commit'),
      }
      await assert.rejects(flight(client, asked), (error: unknown) => sqlState(error) === '22012')
      await client.query('rollback')
      assert.equal(await count(), 0)
    }
  })

  test('in parsing can be sent again, right or wrong, on the same connection', async () => {
    for (let times = 0; times < 2; times += 1)
      await assert.rejects(
        flight(client, { bad: ask('select * from no_such_table') }),
        (error: unknown) => sqlState(error) === '42P01',
      )
    await client.query('create table no_such_table (id int)')
    assert.deepEqual((await flight(client, { good: ask('select * from no_such_table') })).good, [])
  })
})

test('other queries can wait after it on the same connection', async () => {
  const [answers, { rows }] = await Promise.all([
    flight(client, { slow: ask<{ n: number }>('select 1 as n from pg_sleep(0.02)') }),
    client.query<{ n: number }>('select 2 as n'),
  ])
  assert.deepEqual([answers.slow[0]?.n, rows[0]?.n], [1, 2])
})

test('a connection lost during a flight rejects it', async () => {
  const lost = await fresh.database.intake.connect()
  lost.on('error', () => {})
  const { rows } = await lost.query<{ pid: number }>('select pg_backend_pid() as pid')
  // Listened to from the start, because the connection may be gone before the one that ends it has its answer.
  const rejected = assert.rejects(flight(lost, { slow: ask('select pg_sleep(5)') }), Error)
  await client.query('select pg_terminate_backend($1)', [rows[0]?.pid])
  await rejected
  lost.release(true)
})
