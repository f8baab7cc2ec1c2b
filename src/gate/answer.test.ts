// The answer, and the log line for the operator, after an unexpected failure.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { sql } from 'kysely'
import { pino } from 'pino'
import { givenUpBehind } from '../../tests/support/blocked.ts'
import { seedKey, startHouse, type TestHouse } from '../../tests/support/house.ts'
import { seedSignedIn } from '../../tests/support/people.ts'
import { callTool } from '../../tests/support/tools.ts'

test('a failure is logged with its route and cause, and answered without the cause, with and without a body', async t => {
  const logged: {
    route?: string
    request_id?: string
    duration_ms?: number
    msg: string
    err?: { message: string }
  }[] = []
  const log = pino({ level: 'error' }, { write: line => void logged.push(JSON.parse(line)) })
  const house = await startHouse({}, {}, log)
  t.after(() => house.end())
  const { cookie } = await seedSignedIn(house)
  await sql`alter table landings rename to gone`.execute(house.database.schema)
  await house.app.listen({ port: 0, host: '127.0.0.1' })
  const origin = `http://127.0.0.1:${(house.app.server.address() as AddressInfo).port}`
  const headers = { cookie, origin, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'L', url: 'https://l.example/' })
  for (const sent of [{ headers }, { method: 'POST', headers, body }]) {
    const answer = await fetch(`${origin}/api/landings`, sent)
    assert.equal(answer.status, 500)
    assert.doesNotMatch(await answer.text(), /landings/)
  }
  // Other parts that need the table may log errors too.
  const failed = logged.filter(({ msg }) => msg === 'request failed')
  assert.deepEqual(
    failed.map(({ route, err }) => [route, err?.message]),
    ['GET /api/landings', 'POST /api/landings'].map(route => [route, 'relation "landings" does not exist']),
  )
  assert.equal(new Set(failed.map(({ request_id }) => request_id ?? assert.fail())).size, 2)
  for (const { duration_ms = -1 } of failed) assert.ok(duration_ms >= 0)
})

test('a read by key that the database cancels is answered with advice, over HTTP and to an AI host', async t => {
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
  const [answers, results] = await givenUp(house, 'clicks, report_day', () =>
    Promise.all([
      Promise.all(reads.map(({ path }) => house.call('GET', path, { key }))),
      Promise.all(reads.map(({ tool, given }) => callTool(house, key, tool, given))),
    ]),
  )
  const said = {
    ...TIMED_OUT,
    hint: 'Ask for less: a narrower window, or one campaign_id. If that fails too, try again in a minute.',
  }
  for (const answer of answers) assert.deepEqual([answer.statusCode, answer.data()], [500, said])
  for (const { isError, structuredContent, content } of results) {
    assert.deepEqual([isError, structuredContent], [true, { status: 500, ...said }])
    assert.deepEqual(JSON.parse(content[0]?.text ?? ''), structuredContent)
  }
})

test('a dashboard read that the database cancels is no outage, and is answered with advice', async t => {
  const house = await startHouse()
  t.after(() => house.end())
  const { cookie } = await seedSignedIn(house)
  const paths = ['/api/landings', '/api/clicks', '/api/report?dimension=day&date_from=2026-03-01&date_to=2026-03-02']
  const answers = await givenUp(house, 'landings, clicks, report_day', () =>
    Promise.all(paths.map(path => house.call('GET', path, { cookie }))),
  )
  const hint = 'Choose fewer days or add filters where you can, or try again in a minute.'
  for (const answer of answers)
    assert.deepEqual(
      [answer.statusCode, answer.headers['retry-after'], answer.data()],
      [500, undefined, { ...TIMED_OUT, hint }],
    )
})

test('a change that the database cancels changed nothing, and its answer does not mention nonces, by session and by key', async t => {
  const house = await startHouse()
  t.after(() => house.end())
  const person = await seedSignedIn(house)
  const { secret: key } = await seedKey(house.database, person, { rights: ['offers'] })
  const body = { name: 'Held', url: 'https://o.example/' }
  const answers = await givenUp(house, 'offers', () =>
    Promise.all([{ cookie: person.cookie }, { key }].map(who => house.call('POST', '/api/offers', { ...who, body }))),
  )
  for (const answer of answers)
    assert.deepEqual([answer.statusCode, answer.headers['retry-after'], answer.data()], [503, '60', UNSAVED])
  assert.deepEqual((await house.call('GET', '/api/offers', { cookie: person.cookie })).data()['data'], [])
})

test('while the database is away, the hint for a session depends on whether it read or changed something', async t => {
  const house = await startHouse()
  const { cookie } = await seedSignedIn(house)
  await house.database.auth.end()
  t.after(async () => {
    // The pool is already closed, so only the rest is closed.
    Object.assign(house.database.auth, { end: async () => {} })
    await house.end()
  })
  const read = await house.call('GET', '/api/landings', { cookie })
  const changed = await house.call('POST', '/api/landings', { cookie, body: { name: 'L', url: 'https://l.example/' } })
  const asked = await house.call('POST', '/api/explore', { cookie, body: {} })
  for (const answer of [read, asked]) {
    assert.deepEqual([answer.statusCode, answer.headers['retry-after']], [503, '60'])
    assert.deepEqual(answer.data(), { ...UNSAVED, hint: 'Nothing was changed. Try again in a moment.' })
  }
  assert.deepEqual([changed.statusCode, changed.data()], [503, UNSAVED])
})

const TIMED_OUT = { error: 'the read took too long and was cancelled', code: 'read_timed_out' }
const UNSAVED = { error: 'service unavailable', hint: 'Check whether it was saved before you send it again.' }

/** The answer while all statements on the tables are cancelled. */
const givenUp = <T>(house: TestHouse, tables: string, ask: () => Promise<T>): Promise<T> =>
  givenUpBehind(house.database, `lock table ${tables} in access exclusive mode`, ask)
