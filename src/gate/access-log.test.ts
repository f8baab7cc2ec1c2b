import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { startHouse } from '../../tests/support/house.ts'
import { seedPlace } from '../../tests/support/place.ts'
import { eventually } from '../../tests/support/eventually.ts'

type AccessLine = {
  msg: string
  request_id: string
  method: string
  route?: string
  status: number
  duration_ms: number
}

/** A house with this setting, and the lines of its access log. */
async function openLogged(ACCESS_LOG: string) {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: line => void lines.push(line) })
  const house = await startHouse({ ACCESS_LOG }, {}, log)
  return { house, written: () => lines.filter(line => (JSON.parse(line) as AccessLine).msg === 'request') }
}

test('an access log line has no address, no path and no secret', async t => {
  const { house, written } = await openLogged('true')
  t.after(() => house.end())
  const { campaign, key } = await seedPlace(house.database, 'accessed')
  const from = '203.0.113.77'
  await house.call('GET', `/c/${campaign}?sub1=a-sub`, { from })
  await house.call('POST', '/api/events', { key, from, body: { clickId: 'none', type: 'lead' } })
  await house.call('POST', '/api/no-such-route?token=hidden', { from })
  await eventually('the last answer is in the log', () => written().length === 3)
  const lines = written().map(line => JSON.parse(line) as AccessLine)
  assert.deepEqual(
    lines.map(({ method, route, status }) => [method, route, status]),
    [
      ['GET', 'GET /c/:key', 302],
      ['POST', 'POST /api/events', 403],
      ['POST', undefined, 404],
    ],
  )
  assert.equal(new Set(lines.map(({ request_id }) => request_id)).size, 3)
  for (const { duration_ms } of lines) assert.ok(Number.isInteger(duration_ms) && duration_ms >= 0)
  for (const secret of [campaign, key, from, 'a-sub', 'hidden', 'no-such-route'])
    assert.ok(!written().join('').includes(secret), secret)
})

test('without ACCESS_LOG=true there is no access log', async t => {
  const { house, written } = await openLogged('false')
  t.after(() => house.end())
  await house.call('GET', '/healthz')
  await house.call('GET', '/c/none')
  assert.deepEqual(written(), [])
})
