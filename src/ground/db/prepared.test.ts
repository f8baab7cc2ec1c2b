// Named statements on a real database. The clock of the connection's plans is set by the test.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useDatabase } from '../../../tests/support/database.ts'

const ground = await useDatabase()
const MINUTE_MS = 60_000

test('a statement does not keep its first plan for as long as its connection lives', async t => {
  let now = performance.now()
  t.mock.method(performance, 'now', () => now)
  const client = await ground.database.worker.connect()
  try {
    await client.query('set plan_cache_mode = force_generic_plan')
    await client.query('set enable_indexscan = off; set enable_bitmapscan = off; set enable_indexonlyscan = off')
    const text = 'select name from organizations where id = $1'
    await client.query(text, [crypto.randomUUID()])
    await client.query('set enable_seqscan = off; set enable_indexscan = on')
    const { rows } = await client.query<{ name: string }>(
      `select name from pg_prepared_statements where statement = '${text}'`,
    )
    const planned = async () =>
      JSON.stringify((await client.query(`explain execute "${rows[0]?.name}" ('${crypto.randomUUID()}')`)).rows)
    await client.query(text, [crypto.randomUUID()])
    assert.match(await planned(), /Seq Scan/)
    now += MINUTE_MS
    await client.query(text, [crypto.randomUUID()])
    assert.match(await planned(), /Index Scan/)
  } finally {
    client.release(true)
  }
})

test('discarding plans in a transaction that has failed changes no answer', async t => {
  let now = performance.now()
  t.mock.method(performance, 'now', () => now)
  const client = await ground.database.worker.connect()
  try {
    await client.query('begin')
    await assert.rejects(client.query('select 1 / $1::int', [0]), /division by zero/)
    now += MINUTE_MS
    await assert.rejects(client.query('select $1::int', [1]), /current transaction is aborted/)
    await client.query('rollback')
    assert.deepEqual((await client.query('select $1::int as one', [1])).rows, [{ one: 1 }])
  } finally {
    client.release()
  }
})
