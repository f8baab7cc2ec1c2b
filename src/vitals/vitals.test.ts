import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { useDatabase } from '../../tests/support/database.ts'
import { openTestHouse } from '../../tests/support/house.ts'
import { startProxy } from '../../tests/support/proxy.ts'
import { connect } from '../db/connect.ts'

const fresh = await useDatabase()

for (const ROLE of ['all', 'serve', 'work']) {
  test(`ROLE=${ROLE} says on its port that it lives, whether its database answers, and what it measures`, async () => {
    const proxy = await startProxy(fresh.connection)
    const behind = connect([proxy.connection], { log: pino({ level: 'silent' }) })
    const house = await openTestHouse(behind, { ROLE })
    try {
      const address = await house.listen()
      const status = async (path: string) => (await fetch(`${address}${path}`)).status
      assert.deepEqual([await status('/healthz'), await status('/readyz')], [200, 200])
      const metrics = await fetch(`${address}/metrics`)
      assert.match(await metrics.text(), /^process_cpu_seconds_total \d/m)
      proxy.set('cut')
      assert.deepEqual([await status('/healthz'), await status('/readyz')], [200, 503])
      proxy.set('flow')
      assert.equal(await status('/readyz'), 200)
    } finally {
      await house.end()
      await behind.close()
      await proxy.close()
    }
  })
}

test('a process that only delivers has no other door', async () => {
  const house = await openTestHouse(fresh.database, { ROLE: 'work' })
  try {
    assert.deepEqual(house.furnished.map(({ endpoint }) => endpoint.route).toSorted(), [
      'GET /healthz',
      'GET /metrics',
      'GET /readyz',
    ])
    for (const path of ['/', '/c/some-campaign', '/api/v1/clicks', '/api/openapi.json']) {
      const answer = await house.call('GET', path)
      assert.deepEqual([answer.statusCode, answer.headers['content-type']], [404, 'application/json; charset=utf-8'])
    }
    assert.equal((await house.call('POST', '/api/events', { key: 'k', body: {} })).statusCode, 404)
  } finally {
    await house.end()
  }
})
