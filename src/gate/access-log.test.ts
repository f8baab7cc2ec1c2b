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

for (const ACCESS_LOG of ['true', 'false'])
  test(`with ACCESS_LOG=${ACCESS_LOG} each answer ${ACCESS_LOG === 'true' ? 'has one line, without addresses and secrets' : 'has no line'}`, async t => {
    const lines: string[] = []
    const log = pino({ level: 'info' }, { write: line => void lines.push(line) })
    const house = await startHouse({ ACCESS_LOG }, {}, log)
    t.after(() => house.end())
    const { campaign, key } = await seedPlace(house.database, 'accessed')
    const from = '203.0.113.77'
    await house.call('GET', `/c/${campaign}?sub1=a-sub`, { from })
    await house.call('POST', '/api/events', { key, from, body: { clickId: 'none', type: 'lead' } })
    await house.call('POST', '/api/no-such-route?token=hidden', { from })
    const written = () => lines.map(line => JSON.parse(line) as AccessLine).filter(({ msg }) => msg === 'request')
    if (ACCESS_LOG === 'false') return assert.deepEqual(written(), [])
    await eventually('the last answer is in the log', () => written().length === 3)
    assert.deepEqual(
      written().map(({ method, route, status }) => [method, route, status]),
      [
        ['GET', 'GET /c/:key', 302],
        ['POST', 'POST /api/events', 403],
        ['POST', undefined, 404],
      ],
    )
    assert.equal(new Set(written().map(({ request_id }) => request_id)).size, 3)
    for (const { duration_ms } of written()) assert.ok(Number.isInteger(duration_ms) && duration_ms >= 0)
    for (const secret of [campaign, key, from, 'a-sub', 'hidden', 'no-such-route'])
      assert.ok(
        !lines
          .filter(line => line.includes('"msg":"request"'))
          .join('')
          .includes(secret),
        secret,
      )
  })
