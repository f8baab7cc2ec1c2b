import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { useDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { connect } from './connect.ts'

const fresh = await useDatabase()

test('a slow statement is logged with its route and without values, a fast one is not', async t => {
  const lines: { msg: string; route?: string; request_id?: string; duration_ms: number; sql: string }[] = []
  const log = pino({}, { write: line => void lines.push(JSON.parse(line)) })
  const database = connect([fresh.connection], { log, slow_ms: 400 })
  const house = await openTestHouse(database, {})
  t.after(async () => {
    await house.end()
    await database.close()
  })
  const as = await seedSignedIn(house)
  const slow = (route: string) => lines.filter(({ msg, route: of }) => msg === 'slow query' && of === route)
  const locking = await database.worker.connect()
  await locking.query('begin; lock table campaigns')
  const answer = house.call('GET', '/api/campaigns?q=a-secret-name', as)
  const isWaiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%campaigns%strpos%' and query not like '%pg_stat_activity%' and now() - query_start > '0.4 s'`
  try {
    await eventually('it waits', async () => (await database.reads.query(isWaiting)).rows.length > 0)
  } finally {
    await locking.query('commit')
    locking.release()
  }
  assert.equal((await answer).statusCode, 200)
  const [line] = slow('GET /api/campaigns')
  assert.ok(line !== undefined && line.duration_ms >= 400 && line.request_id !== undefined, JSON.stringify(lines))
  assert.match(line.sql, /^(with|select) .*campaigns.*\$1/)
  assert.ok(!JSON.stringify(lines).includes('a-secret-name'))
  // The pool of SQL texts passes callbacks.
  await database.reads.query(`select pg_sleep(0.4), $1::text`, ['hidden'])
  assert.match(JSON.stringify(lines.at(-1)), /"pool":"reads".*pg_sleep/)
  assert.ok(!JSON.stringify(lines).includes('hidden'))
})
