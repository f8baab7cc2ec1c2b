import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { useDatabase } from '../../../tests/support/database.ts'
import { openIpHashes } from './ip.ts'

const fresh = await useDatabase()
const log = pino({ level: 'silent' })
const DAY = 86_400_000
/** Far from midnight, so that no test crosses it. */
const NOON = Date.UTC(2026, 10, 21, 12)

test('every process makes the same hash of a visitor on one day, another one the next day and in another organization', async t => {
  t.mock.timers.enable({ apis: ['Date'], now: NOON })
  const now = NOON
  const [one, two] = await Promise.all([0, 1].map(() => openIpHashes(fresh.database.kysely, log)))
  assert.ok(one !== undefined && two !== undefined)
  const hash = one.hash(1, '192.0.2.1', 'agent', now)
  assert.match(hash ?? '', /^[0-9a-f]{32}$/)
  assert.equal(two.hash(1, '192.0.2.1', 'agent', now), hash)
  assert.equal(two.hash(1, '::ffff:192.0.2.1', 'agent', now), hash)
  const others = [
    one.hash(1, '192.0.2.1', 'agent', now + DAY),
    one.hash(2, '192.0.2.1', 'agent', now),
    one.hash(1, '192.0.2.2', 'agent', now),
    one.hash(1, '192.0.2.1', null, now),
  ]
  assert.equal(new Set([hash, ...others]).size, 5)
  assert.ok(!others.includes(null))
  one.close()
  two.close()
})

test("a day's secret is there before the day, and destroyed 48 hours after it began", async t => {
  t.mock.timers.enable({ apis: ['Date'], now: NOON })
  const hashes = await openIpHashes(fresh.database.kysely, log)
  const now = NOON
  const days = async () => {
    const { rows } = await fresh.database.reads.query<{ day: string }>('select day from daily_secrets order by day')
    return rows.map(row => row.day)
  }
  const date = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  assert.deepEqual(await days(), [date(now), date(now + DAY)])
  const hash = hashes.hash(1, '192.0.2.1', null, now)
  await hashes.refresh(now + DAY)
  assert.deepEqual(await days(), [date(now), date(now + DAY), date(now + 2 * DAY)])
  assert.equal(hashes.hash(1, '192.0.2.1', null, now), hash)
  await hashes.refresh(now + 2 * DAY)
  assert.deepEqual(await days(), [date(now + DAY), date(now + 2 * DAY), date(now + 3 * DAY)])
  assert.equal(hashes.hash(1, '192.0.2.1', null, now), null)
  hashes.close()
})
