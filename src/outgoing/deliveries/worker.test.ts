// The worker against real receivers on loopback. Events, clicks and rules are inserted directly.
import assert from 'node:assert/strict'
import test from 'node:test'
import {
  attemptsOf,
  CREATED_SECONDS,
  deliveryOf,
  seedDelivery,
  seedOutboxRule,
  untilInState,
  useOutbox,
} from '../../../tests/support/outbox.ts'
import { toWireId } from '../../contract/ids.ts'
import { BREAKER } from './breaker.ts'

const { db, pool, receiver, work } = await useOutbox()

test('a postback is sent once, with what the click and the conversion know', async () => {
  const there = await receiver()
  const target_id = await seedOutboxRule(db, {
    url: `${there.origin}/p?c={click_id}&e={event_type}&s={sub1}&n={sub2}&r={ref_id}&g={geo}&i={event_id}&t={timestamp}&x={payout}&o={offer_id}#{sub1}`,
  })
  const { id, event_id, click_id } = await seedDelivery(db, {
    target_id,
    click: { sub1: 'a&b=c d/é', ref_id: 'R1', geo: 'DE' },
  })
  work()
  const row = await untilInState(db, id, 'delivered')
  const url = `/p?c=${toWireId(click_id)}&e=lead&s=a%26b%3Dc%20d%2F%C3%A9&n=&r=R1&g=DE&i=${toWireId(event_id)}&t=${CREATED_SECONDS}&x=&o=`
  assert.deepEqual(
    there.arrivals.map(({ method, url, body }) => ({ method, url, body })),
    [{ method: 'GET', url, body: '' }],
  )
  assert.equal(row.attempts, 1)
  assert.ok(row.finished_at !== null)
  const [attempt, ...others] = await attemptsOf(db, id)
  assert.equal(others.length, 0)
  assert.deepEqual([attempt?.number, attempt?.status, attempt?.answer, attempt?.error], [1, 200, 'ok', null])
  assert.ok(attempt?.finished_at)
})

test('a POST rule sends its parameters in the address and as a form', async () => {
  const there = await receiver()
  const target_id = await seedOutboxRule(db, { url: `${there.origin}/p?s={sub1}&k=1`, method: 'POST' })
  const { id } = await seedDelivery(db, { target_id, click: { sub1: 'ü' } })
  work()
  await untilInState(db, id, 'delivered')
  const [arrival] = there.arrivals
  assert.equal(there.arrivals.length, 1)
  assert.deepEqual([arrival?.method, arrival?.url, arrival?.body], ['POST', '/p?s=%C3%BC&k=1', 's=%C3%BC&k=1'])
  assert.equal(arrival?.headers['content-type'], 'application/x-www-form-urlencoded')
})

test('two workers send each delivery once', async () => {
  const there = await receiver()
  const rules = await Promise.all([1, 2, 3].map(n => seedOutboxRule(db, { url: `${there.origin}/${n}?i={event_id}` })))
  const seeded = []
  for (let i = 0; i < 120; i += 1) seeded.push(await seedDelivery(db, { target_id: rules[i % 3] as string }))
  work()
  work()
  for (const { id } of seeded) await untilInState(db, id, 'delivered')
  assert.equal(there.arrivals.length, 120)
  assert.equal(new Set(there.arrivals.map(({ url }) => url)).size, 120)
  const { rows } = await pool.query(
    'select count(*)::int as attempts, count(distinct delivery_id)::int as deliveries from delivery_attempts',
  )
  assert.deepEqual(rows, [{ attempts: 120, deliveries: 120 }])
})

test('a notification wakes the worker before its poll', async () => {
  const there = await receiver()
  const target_id = await seedOutboxRule(db, { url: there.origin })
  const first = await seedDelivery(db, { target_id })
  work()
  await untilInState(db, first.id, 'delivered')
  const { id } = await seedDelivery(db, { target_id })
  await pool.query('notify deliveries')
  await untilInState(db, id, 'delivered')
  assert.equal(there.arrivals.length, 2)
})

test('a failure is tried again after each delay in turn, and after the last one it has failed', async () => {
  const there = await receiver((_, response) => void response.writeHead(500).end('broken'))
  const target_id = await seedOutboxRule(db, { url: there.origin })
  const { id } = await seedDelivery(db, { target_id })
  work({ delays: [1, 1, 1] })
  const row = await untilInState(db, id, 'failed')
  assert.equal(there.arrivals.length, 4)
  assert.deepEqual([row.attempts, row.reason], [4, 'HTTP 500'])
  assert.deepEqual(
    (await attemptsOf(db, id)).map(({ number, status, answer }) => [number, status, answer]),
    [1, 2, 3, 4].map(n => [n, 500, 'broken']),
  )
})

test('the decided wait passes before the next attempt, longer where Retry-After asks for it', async () => {
  const there = await receiver((_, response) => void response.writeHead(503, { 'retry-after': '90' }).end())
  const plain = await receiver((_, response) => void response.writeHead(503).end())
  const one = await seedDelivery(db, { target_id: await seedOutboxRule(db, { url: there.origin }) })
  const two = await seedDelivery(db, { target_id: await seedOutboxRule(db, { url: plain.origin }) })
  // Long waits, so that neither is retried while the other is checked.
  work({ delays: [60_000] })
  const waits = async (id: string) => {
    const row = await untilInState(db, id, 'pending', 1)
    const [attempt] = await attemptsOf(db, id)
    return (
      Date.parse(row.run_at.replace(' ', 'T').replace('+00', 'Z')) -
      Date.parse(String(attempt?.finished_at).replace(' ', 'T').replace('+00', 'Z'))
    )
  }
  const asked = await waits(one.id)
  // From the answer, which is written down a moment later, or some seconds on a busy machine.
  const late_ms = 15_000
  assert.ok(asked >= 89_900 && asked < 90_000 + late_ms, `${asked} ms`)
  const jittered = await waits(two.id)
  assert.ok(jittered >= 47_900 && jittered < 72_000 + late_ms, `${jittered} ms`)
})

test('a redirect is a failure and is not followed', async () => {
  const inside = await receiver()
  const there = await receiver((_, response) => void response.writeHead(302, { location: inside.origin }).end())
  const { id } = await seedDelivery(db, { target_id: await seedOutboxRule(db, { url: there.origin }) })
  work({ delays: [] })
  const row = await untilInState(db, id, 'failed')
  assert.equal(row.reason, 'HTTP 302')
  assert.equal(inside.arrivals.length, 0)
})

test('a call to a receiver that hangs, drips, floods or closes ends in time, and others go on beside it', async () => {
  const hangs = await receiver(() => {})
  const drips = await receiver((_, response) => {
    response.writeHead(500)
    const drip = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(drip))
  })
  const floods = await receiver((_, response) => {
    response.writeHead(500)
    const chunk = Buffer.alloc(65_536, 'y')
    const pour = () => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', pour)
    }
    pour()
  })
  const closes = await receiver((_, response) => void response.destroy())
  const healthy = await receiver()
  const bad = []
  for (const { origin } of [hangs, drips, floods, closes]) {
    const target_id = await seedOutboxRule(db, { url: origin })
    for (let i = 0; i < 3; i += 1) bad.push(await seedDelivery(db, { target_id }))
  }
  const good = []
  const target_id = await seedOutboxRule(db, { url: healthy.origin })
  for (let i = 0; i < 30; i += 1) good.push(await seedDelivery(db, { target_id }))
  work({
    // One retry, because next to a flood on a busy machine a healthy call may miss such a short deadline too.
    delays: [1],
    deadlines: { headers_ms: 1000, total_ms: 1500 },
    limits: { all: 64, origin: 4, organization: 64 },
    breaker: { ...BREAKER, failures: 1000, slow_failures: 1000 },
  })
  for (const { id } of good) await untilInState(db, id, 'delivered')
  for (const { id } of bad) await untilInState(db, id, 'failed')
  for (const { connections } of [hangs, drips, floods, closes])
    assert.ok(connections.most <= 4, `${connections.most} connections`)
  const { rows } = await pool.query('select max(length(answer)) as longest from delivery_attempts')
  assert.deepEqual(rows, [{ longest: 16_384 }])
})

test('an organization with many slow targets leaves places to the others', async () => {
  const slow = await Promise.all(Array.from({ length: 20 }, () => receiver(() => {})))
  const quick = await receiver()
  for (const { origin } of slow) await seedDelivery(db, { target_id: await seedOutboxRule(db, { url: origin }) })
  const { id } = await seedDelivery(db, {
    org_id: 8,
    target_id: await seedOutboxRule(db, { org_id: 8, url: quick.origin }),
  })
  // The slow ones keep their call slots for the whole test.
  const deadlines = { headers_ms: 40_000, total_ms: 40_000 }
  work({ limits: { all: 20, origin: 4, organization: 16 }, deadlines, closing_ms: 50 })
  await untilInState(db, id, 'delivered')
  assert.ok(slow.filter(({ arrivals }) => arrivals.length > 0).length <= 16)
})

test('a rule that was deleted or switched off meanwhile is skipped, with the reason', async () => {
  const there = await receiver()
  const off = await seedDelivery(db, { target_id: await seedOutboxRule(db, { url: there.origin, active: false }) })
  const gone = await seedDelivery(db, {
    target_id: await seedOutboxRule(db, { url: there.origin, deleted_at: '2026-03-01T00:00:00Z' }),
  })
  work()
  assert.equal((await untilInState(db, off.id, 'skipped')).reason, 'the rule is switched off')
  assert.equal((await untilInState(db, gone.id, 'skipped')).reason, 'the rule was deleted')
  assert.equal(there.arrivals.length, 0)
  assert.deepEqual(await attemptsOf(db, off.id), [])
})

test('deliveries of other kinds, held ones and ones not due stay untouched', async () => {
  const there = await receiver()
  const target_id = await seedOutboxRule(db, { url: there.origin })
  const other = await seedDelivery(db, { target_id, kind: 'ad_account' })
  const later = await seedDelivery(db, { target_id, run_at: new Date(Date.now() + 3_600_000).toISOString() })
  const held = await seedDelivery(db, { target_id, state: 'held' })
  const before = await Promise.all([other, later, held].map(({ id }) => deliveryOf(db, id)))
  const { id } = await seedDelivery(db, { target_id })
  work()
  await untilInState(db, id, 'delivered')
  assert.deepEqual(await Promise.all([other, later, held].map(one => deliveryOf(db, one.id))), before)
  assert.equal(there.arrivals.length, 1)
})
