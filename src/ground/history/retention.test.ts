// Old months of the history are dropped whole, rows without a month one by one, and younger rows stay.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { useDatabase } from '../../../tests/support/database.ts'
import { newId } from '../../contract/ids.ts'
import { DAY_MS } from '../../contract/days.ts'
import { ensurePartitions } from '../db/partitions.ts'
import { dropOldHistory } from './retention.ts'

const fresh = await useDatabase()
const log = pino({ level: 'silent' })

test('months older than the days that are kept are dropped, and nothing younger', async () => {
  const { database } = fresh
  const now = Date.now()
  const [org_id, days] = [4711, 100]
  await ensurePartitions(database.schema, 'history', now - 150 * DAY_MS, now)
  const ages = [700, 150, 101, 99, 0]
  for (const age of ages)
    await database.worker.query(
      `insert into history (org_id, id, created_at, act_id, actor_kind, kind, object_name, change, fields)
       values ($1, $2, now(), $2, 'sluice', 'offer', $3, 'changed', '[]')`,
      [org_id, newId(now - age * DAY_MS), String(age)],
    )
  const dropped = await dropOldHistory({ database, log }, days)
  const { rows } = await database.worker.query<{ object_name: string }>(
    'select object_name from history where org_id = $1 order by id',
    [org_id],
  )
  const left = rows.map(({ object_name }) => Number(object_name))
  assert.ok(dropped >= 1, String(dropped))
  assert.ok(!left.includes(700) && !left.includes(150), String(left))
  assert.deepEqual(left.slice(-2), [99, 0])
  assert.equal(await dropOldHistory({ database, log }, days), 0)
})
