// What is answered, and told the operator, when something fails that nobody foresaw.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { pino } from 'pino'
import { startHouse } from '../../tests/support/house.ts'
import { seedSignedIn } from '../../tests/support/people.ts'

test('a failure is logged with its route and its cause, and answered without it, with and without a body', async t => {
  const logged: { route?: string; msg: string; err?: { message: string } }[] = []
  const log = pino({ level: 'error' }, { write: line => void logged.push(JSON.parse(line)) })
  const house = await startHouse({}, {}, log)
  t.after(() => house.end())
  const { cookie } = await seedSignedIn(house)
  await house.database.worker.query('alter table landings rename to gone')
  await house.app.listen({ port: 0, host: '127.0.0.1' })
  const origin = `http://127.0.0.1:${(house.app.server.address() as AddressInfo).port}`
  const headers = { cookie, origin, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'L', url: 'https://l.example/' })
  for (const sent of [{ headers }, { method: 'POST', headers, body }]) {
    const answer = await fetch(`${origin}/api/landings`, sent)
    assert.equal(answer.status, 500)
    assert.doesNotMatch(await answer.text(), /landings/)
  }
  // Others who miss the table may complain of it too.
  const failed = logged.filter(({ msg }) => msg === 'request failed')
  assert.deepEqual(
    failed.map(({ route, err }) => [route, err?.message]),
    ['GET /api/landings', 'POST /api/landings'].map(route => [route, 'relation "landings" does not exist']),
  )
})
