import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { useDatabase } from '../../../tests/support/database.ts'
import { aClick } from '../../../tests/support/visits.ts'
import { mintClickId } from './click-id.ts'
import { ensurePartitions, keepPartitions } from '../../ground/db/partitions.ts'
import { storeClicks } from './store.ts'

const fresh = await useDatabase()
const log = pino({ level: 'silent' })
const key = Buffer.alloc(16, 1)
const JANUARY = Date.UTC(2024, 0, 1)
const FEBRUARY = Date.UTC(2024, 1, 1)

async function partitionOf(ms: number): Promise<string> {
  const id = mintClickId(key, 5, ms)
  await storeClicks(fresh.database.clicks, [aClick(key, 5, { id })])
  const { rows } = await fresh.database.reads.query<{ name: string }>(
    'select tableoid::regclass::text as name from clicks where org_id = 5 and id = $1',
    [id],
  )
  // On a cluster it is a shard of the partition, with a number after the name.
  return (rows[0]?.name ?? '').replace(/_\d{6,}$/, '')
}

test('this month and the next three have partitions at the start', async t => {
  // A year without partitions, and the middle of a month, so that it does not end during the test.
  const now = new Date(Date.UTC(2031, 10, 15))
  t.mock.timers.enable({ apis: ['Date'], now })
  const kept = await keepPartitions(fresh.database.schema, 'clicks', log)
  kept.close()
  for (let ahead = 0; ahead <= 3; ahead += 1) {
    const ms = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 15)
    assert.equal(await partitionOf(ms), `clicks_${new Date(ms).toISOString().slice(0, 7).replace('-', '_')}`)
  }
  const { rows } = await fresh.database.reads.query('select 1 from clicks_default')
  assert.equal(rows.length, 0)
})

test('past months are made on request, to the millisecond, and only once', async () => {
  const db = fresh.database.schema
  assert.deepEqual(await ensurePartitions(db, 'clicks', JANUARY, FEBRUARY), ['clicks_2024_01', 'clicks_2024_02'])
  assert.deepEqual(await ensurePartitions(db, 'clicks', JANUARY, FEBRUARY), [])
  assert.equal(await partitionOf(JANUARY), 'clicks_2024_01')
  assert.equal(await partitionOf(FEBRUARY - 1), 'clicks_2024_01')
  assert.equal(await partitionOf(FEBRUARY), 'clicks_2024_02')
  assert.equal(await partitionOf(JANUARY - 1), 'clicks_default')
})

test('two processes may make the same partitions at the same time', async () => {
  const db = fresh.database.schema
  const from = Date.UTC(2020, 0, 1)
  const made = await Promise.all([0, 1, 2].map(() => ensurePartitions(db, 'clicks', from, Date.UTC(2020, 5, 1))))
  assert.equal(new Set(made.flat()).size, 6)
  assert.equal(made.flat().length, 6)
})

test('a month whose clicks lie in the default partition is left as it is and does not stop the others', async () => {
  const ms = Date.UTC(2019, 3, 10)
  assert.equal(await partitionOf(ms), 'clicks_default')
  const made = await ensurePartitions(fresh.database.schema, 'clicks', Date.UTC(2019, 2, 1), Date.UTC(2019, 4, 1), log)
  assert.deepEqual(made, ['clicks_2019_03', 'clicks_2019_05'])
  assert.equal(await partitionOf(ms + 1), 'clicks_default')
})
