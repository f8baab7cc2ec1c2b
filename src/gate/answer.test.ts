// What is answered, and told the operator, when something fails that nobody foresaw.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { pino } from 'pino'
import { eventually } from '../../tests/support/eventually.ts'
import { seedKey, startHouse } from '../../tests/support/house.ts'
import { seedSignedIn } from '../../tests/support/people.ts'
import { callTool } from '../../tests/support/tools.ts'

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

test('a read by key that the database gives up says what to do about it, over HTTP and to an AI host', async t => {
  const house = await startHouse()
  t.after(() => house.end())
  const { secret: key } = await seedKey(house.database, await seedSignedIn(house), { rights: ['clicks', 'report'] })
  const window = { date_from: '2026-03-01', date_to: '2026-03-02' }
  const reads = [
    { path: '/api/v1/clicks?limit=1', tool: 'service_list_clicks', given: {} },
    {
      path: '/api/v1/report?dimension=day&date_from=2026-03-01&date_to=2026-03-02',
      tool: 'service_get_report',
      given: { dimension: 'day', ...window },
    },
  ]
  const holding = await house.database.worker.connect()
  try {
    await holding.query('set idle_in_transaction_session_timeout = 0')
    await holding.query('begin')
    await holding.query('lock table clicks, report_day in access exclusive mode')
    let under_way = 2
    const ended = () => void (under_way -= 1)
    const answers = Promise.all(reads.map(async ({ path }) => house.call('GET', path, { key }))).finally(ended)
    const results = Promise.all(reads.map(async ({ tool, given }) => callTool(house, key, tool, given))).finally(ended)
    // Cancelled as after the five seconds, which no test has to wait for.
    await eventually('all reads are given up', async () => {
      await house.database.worker.query(`
        select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
      return under_way === 0
    })
    const said = {
      error: 'reading took too long and was given up',
      code: 'read_timed_out',
      hint: 'Ask for less: a narrower date_from to date_to, or one campaign_id. Where that is too much as well, try again in a minute.',
    }
    for (const answer of await answers) assert.deepEqual([answer.statusCode, answer.data()], [500, said])
    for (const { isError, structuredContent, content } of await results) {
      assert.deepEqual([isError, structuredContent], [true, { status: 500, ...said }])
      assert.deepEqual(JSON.parse(content[0]?.text ?? ''), structuredContent)
    }
  } finally {
    holding.release(true)
  }
})
