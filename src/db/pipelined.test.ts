import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useDatabase } from '../../tests/support/database.ts'
import { isUnreachable, sqlState } from './faults.ts'
import { pipelined } from './pipelined.ts'

const ground = await useDatabase()
const insert = (value: number) => ({ text: 'insert into notes (value) values ($1)', values: [value] })
const stored = async () =>
  (await ground.database.reads.query<{ value: number }>('select value from notes order by value')).rows.map(
    row => row.value,
  )

await ground.database.reads.query(
  'create table notes (value int primary key deferrable initially deferred check (value > 0))',
)

test('the statements are one transaction and their results come back in order', async () => {
  const results = await pipelined(ground.database.intake, [
    { text: 'select pg_current_xact_id()::text as id' },
    insert(1),
    { text: 'select $1::text as word', values: ['last'] },
    { text: 'select pg_current_xact_id()::text as id' },
  ])
  assert.equal(results.length, 4)
  assert.equal(results[0]?.rows[0].id, results[3]?.rows[0].id)
  assert.equal(results[1]?.rowCount, 1)
  assert.equal(results[2]?.rows[0].word, 'last')
  assert.deepEqual(await stored(), [1])
})

test('the first failing statement is the error, and nothing is stored', async () => {
  const failed = pipelined(ground.database.intake, [
    insert(2),
    insert(-1),
    insert(3),
    { text: 'select 1 from nowhere' },
  ])
  await assert.rejects(failed, error => sqlState(error) === '23514')
  assert.deepEqual(await stored(), [1])
  const { intake } = ground.database
  assert.equal(intake.idleCount, intake.totalCount, 'the client is given back')
})

test('a commit that fails is an error, and nothing is stored', async () => {
  await assert.rejects(pipelined(ground.database.intake, [insert(4), insert(1)]), error => sqlState(error) === '23505')
  assert.deepEqual(await stored(), [1])
})

test('a client of the caller is idle and fit for the next transaction after a failure', async () => {
  const client = await ground.database.intake.connect()
  try {
    await assert.rejects(pipelined(client, [insert(6), { text: 'select 1 / 0' }]), error => sqlState(error) === '22012')
    assert.equal(client.getTransactionStatus(), 'I')
    await pipelined(client, [insert(5)])
  } finally {
    client.release()
  }
  assert.deepEqual(await stored(), [1, 5])
})

test('statements that a failure kept from being parsed work the next time, on the same connection', async () => {
  const client = await ground.database.intake.connect()
  try {
    const fresh = { text: 'select $1::int + 40 as sum', values: [2] }
    for (let i = 0; i < 2; i += 1) {
      await assert.rejects(
        pipelined(client, [{ text: 'select $1::int / 0', values: [1] }, fresh]),
        error => sqlState(error) === '22012',
      )
      const [result] = await pipelined(client, [fresh])
      assert.equal(result?.rows[0].sum, 42)
    }
  } finally {
    client.release()
  }
})

test('a value that cannot be written fails before anything is sent', async () => {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  await assert.rejects(
    pipelined(ground.database.intake, [insert(70), { text: 'select $1', values: [circle as never] }]),
    /circular/i,
  )
  assert.ok(!(await stored()).includes(70))
  await pipelined(ground.database.intake, [{ text: 'select 1' }])
})

test('a connection that breaks on the way leaves the outcome unknown and the pool sound', async () => {
  const { intake } = ground.database
  const broken = pipelined(intake, [insert(7), { text: 'select pg_terminate_backend(pg_backend_pid())' }, insert(8)])
  await assert.rejects(broken, error => isUnreachable(error))
  assert.deepEqual(await stored(), [1, 5])
  await pipelined(intake, [insert(9)])
  assert.deepEqual(await stored(), [1, 5, 9])
})

test('many at once on few connections all arrive', async () => {
  const values = Array.from({ length: 200 }, (_, i) => 1000 + i)
  await Promise.all(values.map(value => pipelined(ground.database.intake, [insert(value), insert(value + 1000)])))
  assert.equal((await stored()).filter(value => value >= 1000).length, 400)
})

test('an isolation level may be asked for', async () => {
  const read = [{ text: `select current_setting('transaction_isolation') as level` }]
  const [result] = await pipelined(ground.database.intake, read, 'begin isolation level repeatable read')
  assert.equal(result?.rows[0].level, 'repeatable read')
})
