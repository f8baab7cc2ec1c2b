// Leases, the token check and the closing of a worker, against a real receiver on loopback.
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../../../tests/support/eventually.ts'
import {
  attemptsOf,
  deliveryOf,
  ORG,
  seedDelivery,
  seedOutboxRule,
  untilInState,
  useOutbox,
} from '../../../tests/support/outbox.ts'
import { postbackLane } from '../postbacks/lane.ts'
import { claimDeliveries } from './claim.ts'
import { finishDeliveries } from './finish.ts'

const { db, pool, receiver, work } = await useOutbox()

test('what a dead worker had claimed is taken over when its lease ends, and the lost attempt stays visible', async () => {
  const there = await receiver()
  const target_id = await seedOutboxRule(db, { url: there.origin })
  const { id } = await seedDelivery(db, { target_id })
  const { claimed } = await claimDeliveries(pool, postbackLane, [{ org_id: ORG, target_id, most: 4 }])
  assert.equal(claimed.length, 1)
  work()
  await sleep(300)
  assert.equal(there.arrivals.length, 0, 'a living lease was broken')
  await pool.query(`update deliveries set run_at = now(), lease_until = now() where org_id = $1 and id = $2`, [ORG, id])
  await untilInState(db, id, 'delivered')
  assert.deepEqual(
    (await attemptsOf(db, id)).map(({ number, finished_at }) => [number, finished_at !== null]),
    [
      [1, false],
      [2, true],
    ],
  )
})

test('a worker that slept past its lease changes nothing: the fence holds', async () => {
  const there = await receiver()
  const target_id = await seedOutboxRule(db, { url: there.origin })
  const { id } = await seedDelivery(db, { target_id })
  const {
    claimed: [stale],
  } = await claimDeliveries(pool, postbackLane, [{ org_id: ORG, target_id, most: 1 }], 0)
  assert.ok(stale)
  const {
    claimed: [current],
  } = await claimDeliveries(pool, postbackLane, [{ org_id: ORG, target_id, most: 1 }])
  assert.ok(current)
  const { token, number } = stale
  const late = {
    ...stale,
    number,
    token,
    finished_at: new Date().toISOString(),
    status: 500,
    error: null,
    answer: 'late',
    state: 'failed',
    reason: 'late',
    failure: 'http_5xx',
    delay_ms: 0,
    isCounted: true,
    isBroken: false,
  } as const
  assert.equal((await finishDeliveries(pool, [postbackLane], [late])).kept, 0)
  assert.equal((await deliveryOf(db, id)).state, 'pending')
  const good = { ...current, status: 200, state: 'delivered', reason: null } as const
  assert.equal((await finishDeliveries(pool, [postbackLane], [{ ...late, ...good }])).kept, 1)
  assert.equal((await finishDeliveries(pool, [postbackLane], [late])).kept, 0)
  const row = await deliveryOf(db, id)
  assert.deepEqual([row.state, row.reason, row.attempts], ['delivered', null, 2])
  assert.deepEqual(
    (await attemptsOf(db, id)).map(({ answer }) => answer),
    ['late', 'late'],
  )
})

test('a claim whose lease has run out before the call is not called', async () => {
  const there = await receiver()
  const { id } = await seedDelivery(db, { target_id: await seedOutboxRule(db, { url: there.origin }) })
  const worker = work({ lease_ms: 50, deadlines: { headers_ms: 1000, total_ms: 1000 } })
  await eventually('it is claimed again', async () => (await deliveryOf(db, id)).attempts >= 2)
  await worker.close()
  assert.equal(there.arrivals.length, 0)
})

test('closing ends what is in hand, writes it down and claims nothing new', async () => {
  const let_go = Promise.withResolvers<void>()
  const there = await receiver(async (_, response) => {
    await let_go.promise
    response.end('done')
  })
  // A target's first call is made alone.
  const rules = await Promise.all(Array.from({ length: 6 }, () => seedOutboxRule(db, { url: there.origin })))
  const seeded = []
  for (const target_id of rules) seeded.push(await seedDelivery(db, { target_id }))
  const worker = work()
  await there.arrived(4)
  const closing = worker.close()
  let_go.resolve()
  await closing
  const rows = await Promise.all(seeded.map(({ id }) => deliveryOf(db, id)))
  assert.equal(rows.filter(({ state }) => state === 'delivered').length, 4)
  assert.equal(rows.filter(({ state, attempts }) => state === 'pending' && attempts === 0).length, 2)
  assert.equal(there.arrivals.length, 4)
})

test('what does not end while the worker closes is given back: due at once, and its attempt does not count', async () => {
  let isHanging = true
  const there = await receiver((_, response) => void (isHanging || response.end('ok')))
  const { id } = await seedDelivery(db, { target_id: await seedOutboxRule(db, { url: there.origin }) })
  const worker = work({ closing_ms: 50, delays: [] })
  await there.arrived(1)
  await worker.close()
  const row = await deliveryOf(db, id)
  assert.deepEqual([row.state, row.attempts, row.attempts_uncounted, row.lease_token], ['pending', 1, 1, null])
  assert.deepEqual(await db.selectFrom('failing_targets').selectAll().execute(), [])
  isHanging = false
  work({ delays: [] })
  await untilInState(db, id, 'delivered')
})
