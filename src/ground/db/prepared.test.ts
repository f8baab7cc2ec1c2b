// Named statements on a real database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { useDatabase } from '../../../tests/support/database.ts'

const ground = await useDatabase()

test('a statement does not keep its first plan for as long as its connection lives', async () => {
  const client = await ground.database.worker.connect()
  try {
    await client.query('set plan_cache_mode = force_generic_plan')
    await client.query('set enable_seqscan = on')
    await client.query('set enable_indexscan = off; set enable_bitmapscan = off; set enable_indexonlyscan = off')
    const ask = () => client.query('select name from organizations where id = $1', [crypto.randomUUID()])
    await ask()
    await client.query('set enable_seqscan = off; set enable_indexscan = on')
    const { rows } = await client.query<{ name: string }>(
      "select name from pg_prepared_statements where statement = 'select name from organizations where id = $1'",
    )
    const planned = async () =>
      (await client.query(`explain execute "${rows[0]?.name}" ('${crypto.randomUUID()}')`)).rows
        .map(row => Object.values(row as object).join())
        .join()
    assert.match(await planned(), /Seq Scan/)
    while (!(await planned()).includes('Index Scan')) {
      await sleep(50)
      await ask()
    }
  } finally {
    client.release(true)
  }
})

test('a statement of a transaction that failed says so, whether or not plans are discarded before it', async () => {
  const client = await ground.database.worker.connect()
  try {
    for (let tries = 0; tries < 4; tries += 1) {
      await client.query('begin')
      await assert.rejects(client.query('select 1 / $1::int', [0]), /division by zero/)
      await sleep(200)
      await assert.rejects(client.query('select $1::int', [1]), /current transaction is aborted/)
      await client.query('rollback')
      assert.deepEqual((await client.query('select $1::int as one', [1])).rows, [{ one: 1 }])
    }
  } finally {
    client.release()
  }
})
