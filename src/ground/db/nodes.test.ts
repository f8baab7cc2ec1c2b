import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { freshDatabase, useDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { isSharded } from '../../../tests/support/sharded.ts'
import { StartError } from '../start-error.ts'
import { connect } from './connect.ts'
import { migrateNodes, openPatientPool } from './nodes.ts'

const ground = await useDatabase()
const log = pino({ level: 'silent' })
/** A port on which only root could listen, and nothing does. */
const NOBODY = 'postgres://sluice@127.0.0.1:1/sluice'
const nodes = (...addresses: (string | typeof ground.connection)[]) => ({ addresses, close: async () => {} })
const cluster = isSharded ? 'a cluster is what is asked for here' : false

test('several addresses that are no cluster are refused, with advice', { skip: cluster }, async () => {
  const other = await freshDatabase()
  await assert.rejects(
    migrateNodes(nodes(ground.connection, other.connection)),
    error => error instanceof StartError && /several addresses.*docs\/scaling\.md/.test(error.message),
  )
  await other.drop()
})

test('a start without the first node continues if another node says that no migration is missing', async () => {
  assert.deepEqual(await migrateNodes(nodes(NOBODY, ground.connection)), [])
})

test('an unreachable node is avoided, and a waiting caller gets a connection to another node', async () => {
  const both = connect([NOBODY, ground.connection], { log })
  const { reads, kysely, auth } = both
  for (let turn = 0; turn < 4; turn += 1) {
    const clients = await Promise.all([reads, reads, auth].map(pool => pool.connect()))
    for (const client of clients) client.release(true)
    assert.equal((await reads.query('select 1 as one')).rows[0].one, 1)
  }
  assert.equal((await kysely.selectFrom('migrations').select('number').execute()).length > 0, true)
  await assert.rejects(
    both.schema.selectFrom('migrations').select('number').execute(),
    'the schema is the first node’s affair',
  )
  await both.close()
})

test('an idle patient connection that the server ends does not end the process', async () => {
  const pool = openPatientPool(nodes(ground.connection))
  const pid = async () => (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid
  const first = await pid()
  await ground.database.worker.query('select pg_terminate_backend($1::int)', [first])
  await eventually('it is gone', () => pool.totalCount === 0)
  assert.notEqual(await pid(), first)
  await pool.end()
})
