// On a PostgreSQL of its own, because every commit on a shared one ends the quiet.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedDelivery, seedOutboxRule, untilInState } from '../../../tests/support/outbox.ts'
import { startTestPostgres, type TestPostgres } from '../../../tests/support/postgres.ts'
import { type Receiver, startReceiver } from '../../../tests/support/receiver.ts'
import { openQuiet } from './quiet.ts'

let postgres: TestPostgres
let house: TestHouse
let receiver: Receiver
const sent: string[] = []
before(async () => {
  postgres = await startTestPostgres()
  for (const pool of [postgres.database.worker, postgres.database.clicks]) note(pool)
  house = await openTestHouse(postgres.database, {})
  receiver = await startReceiver()
})
after(async () => {
  await receiver.close()
  await house.end()
  await postgres.end()
})

/** Adds the text of each statement of the pool to `sent`. */
function note(pool: pg.Pool): void {
  const query = pool.query.bind(pool) as (...given: unknown[]) => unknown
  const noting = (...given: unknown[]) => {
    const [asked] = given
    sent.push(typeof asked === 'string' ? asked : (asked as { text: string }).text)
    return query(...given)
  }
  pool.query = noting as typeof pool.query
}

const isSnapshot = (text: string) => text.includes('pg_current_snapshot')
const isTimetable = (text: string) => text.includes('min(at)')

/** Resolves once every job rests: nothing has changed, and the next due times are known. */
async function untilQuiet(): Promise<void> {
  sent.length = 0
  await eventually('it is quiet', () => sent.some(isTimetable))
}

test('an idle house asks one question a second, and little else', async () => {
  await untilQuiet()
  sent.length = 0
  await eventually('it has asked eight times', () => sent.filter(isSnapshot).length >= 8)
  // All jobs may have looked once meanwhile. Before, they sent thirty statements a second.
  const others = sent.filter(text => !isSnapshot(text))
  assert.ok(others.length < 60, others.join('\n'))
})

test('a delivery that another program inserts without a notification is sent within seconds', async () => {
  const { kysely: db } = postgres.database
  const target_id = await seedOutboxRule(db, { url: receiver.origin })
  await untilQuiet()
  const run_at = new Date().toISOString()
  const { id } = await seedDelivery(db, { target_id, run_at })
  const { finished_at } = await untilInState(db, id, 'delivered')
  const late_ms = Date.parse(finished_at ?? '') - Date.parse(run_at)
  assert.ok(late_ms < 8000, `${late_ms} ms`)
})

test('a delivery that becomes due while nothing changes is sent when it is due', async () => {
  const { kysely: db } = postgres.database
  const target_id = await seedOutboxRule(db, { url: receiver.origin })
  const run_at = new Date(Date.now() + 6000).toISOString()
  const { id } = await seedDelivery(db, { target_id, run_at })
  await untilQuiet()
  const { finished_at } = await untilInState(db, id, 'delivered')
  const late_ms = Date.parse(finished_at ?? '') - Date.parse(run_at)
  assert.ok(late_ms >= 0 && late_ms < 5000, `${late_ms} ms`)
})

test('a commit ends the quiet, and reading does not; so does a database that does not answer', async () => {
  const { worker } = postgres.database
  const quiet = openQuiet(worker)
  let moves = 0
  quiet.onMove(() => (moves += 1))
  try {
    await untilQuiet()
    const version = quiet.version()
    sent.length = 0
    await postgres.database.reads.query('select count(*) from clicks')
    await eventually('it was asked again', () => sent.filter(isSnapshot).length >= 2)
    assert.equal(quiet.version(), version)
    const ended = quiet.since(version)
    await postgres.database.reads.query('create table anything ()')
    await ended
    assert.ok(quiet.version() > version && moves > 0)
    await untilQuiet()
    const before = moves
    postgres.freeze()
    await eventually('it moves although nothing answers', () => moves > before + 1)
  } finally {
    postgres.thaw()
    quiet.close()
  }
})

test('a database that takes long to answer is asked less often', async () => {
  const { reads } = postgres.database
  const slow_ms = 300
  const asked: { begun: number; ended: number }[] = []
  const query = reads.query.bind(reads) as (...given: unknown[]) => Promise<unknown>
  const slowly = async (...given: unknown[]) => {
    if (!isSnapshot(String(given[0]))) return query(...given)
    const question = { begun: performance.now(), ended: Number.POSITIVE_INFINITY }
    asked.push(question)
    const rows = await query(...given)
    await sleep(slow_ms)
    question.ended = performance.now()
    return rows
  }
  const quiet = openQuiet(Object.assign(Object.create(reads) as pg.Pool, { query: slowly }))
  try {
    await eventually('it was asked twice', () => asked.length >= 2)
    const [first, second] = asked
    const rest_ms = (second?.begun ?? 0) - (first?.ended ?? 0)
    assert.ok(rest_ms >= 9 * slow_ms, `${rest_ms} ms`)
  } finally {
    quiet.close()
  }
})
