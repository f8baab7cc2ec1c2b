// Breakers of targets, and switching off a target that always fails. Pauses and days are parameters.
import assert from 'node:assert/strict'
import test from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { seedOrganization } from '../../../tests/support/house.ts'
import { openMailbox } from '../../../tests/support/mailbox.ts'
import {
  deliveryOf,
  ORG,
  seedDelivery,
  seedOutboxRule,
  untilInState,
  useOutbox,
} from '../../../tests/support/outbox.ts'
import { HOUR_MS } from '../../contract/days.ts'
import { postbackLane } from '../postbacks/lane.ts'
import { BREAKER } from './breaker.ts'
import { claimDeliveries } from './claim.ts'
import { CallSlots, shareSlots } from './share.ts'
import type { DeliveryWorkerOptions } from './worker.ts'

const { database, db, pool, closing, receiver, work: workWith } = await useOutbox()

/** Each delivery fails once within the test. */
const work = (options: DeliveryWorkerOptions = {}, env: Record<string, string> = {}) =>
  workWith({ delays: [HOUR_MS, HOUR_MS], ...options }, { env })

const failing = async () => (await db.selectFrom('failing_targets').selectAll().execute())[0]

async function seedMany(count: number, url: string) {
  const target_id = await seedOutboxRule(db, { url })
  const seeded = []
  for (let i = 0; i < count; i += 1) seeded.push(await seedDelivery(db, { target_id }))
  return { target_id, ids: seeded.map(({ id }) => id) }
}

const untouched = async (ids: string[]) =>
  (await Promise.all(ids.map(id => deliveryOf(db, id)))).filter(({ attempts }) => attempts === 0).length

test('after failures in a row a target gets nothing, its deliveries keep their attempts, and others go on', async () => {
  const dead = await receiver((_, response) => void response.writeHead(500).end())
  const well = await receiver()
  const { target_id } = await seedMany(14, dead.origin)
  work({ breaker: { ...BREAKER, failures: 3, first_pause_ms: HOUR_MS, longest_pause_ms: HOUR_MS } })
  await eventually('the breaker never opened', async () => (await failing())?.paused_until != null)
  // The number sent before depends on how fast failures were stored; deliveries behind them are never touched.
  const sick = []
  for (let i = 0; i < 5; i += 1) sick.push((await seedDelivery(db, { target_id })).id)
  const healthy = await seedMany(5, well.origin)
  for (const id of healthy.ids) await untilInState(db, id, 'delivered')
  assert.equal(await untouched(sick), 5)
  assert.equal((await failing())?.pauses, 1)
})

test('a target whose every call runs into its deadline is paused after fewer failures', async () => {
  const hangs = await receiver(() => {})
  await seedMany(6, hangs.origin)
  work({ deadlines: { headers_ms: 200, total_ms: 200 }, breaker: { ...BREAKER, failures: 1000, slow_ms: 300 } })
  await eventually('the breaker never opened', async () => (await failing())?.paused_until != null)
  assert.ok(((await failing())?.failures ?? 0) >= 3)
})

test('after its pause one delivery probes: a failure opens again for longer, a success closes and the rest goes out', async () => {
  let isWell = false
  const there = await receiver((_, response) => void response.writeHead(isWell ? 200 : 500).end())
  const { ids } = await seedMany(12, there.origin)
  work({ breaker: { ...BREAKER, failures: 3, first_pause_ms: 50, longest_pause_ms: 400 } })
  await eventually('no probe failed', async () => ((await failing())?.pauses ?? 0) >= 3)
  isWell = true
  await eventually('the rest never went out', async () => (await untouched(ids)) === 0)
  await eventually('the breaker never closed', async () => (await failing()) === undefined)
})

test('two workers do not probe at once', async () => {
  const { target_id } = await seedMany(6, 'http://127.0.0.1:9/')
  await db
    .insertInto('failing_targets')
    .values({
      org_id: ORG,
      kind: 'postback',
      target_id,
      failures: 10,
      pauses: 1,
      failing_since: '2026-03-01T00:00:00Z',
      paused_until: '2026-03-01T00:01:00Z',
    })
    .execute()
  const claims = await Promise.all(
    Array.from({ length: 5 }, () => claimDeliveries(pool, postbackLane, [{ org_id: ORG, target_id, most: 4 }])),
  )
  const claimed = claims.flatMap(one => one.claimed)
  assert.deepEqual(
    claimed.map(({ isProbe }) => isProbe),
    [true],
  )
})

test('a breaker that another worker holds keeps nobody waiting, and its target gets nothing meanwhile', async () => {
  const sick = await seedMany(1, 'http://127.0.0.1:9/sick')
  const healthy = await seedMany(1, 'http://127.0.0.1:9/healthy')
  const [target_id, isOver] = [sick.target_id, new Date(Date.now() - HOUR_MS).toISOString()]
  await db
    .insertInto('failing_targets')
    .values({ org_id: ORG, kind: 'postback', target_id, failures: 10, failing_since: isOver, paused_until: isOver })
    .execute()
  const wanted = [target_id, healthy.target_id].map(id => ({ org_id: ORG, target_id: id, most: 1 }))
  const held = await db.startTransaction().execute()
  await held.selectFrom('failing_targets').selectAll().where('org_id', '=', ORG).forUpdate().execute()
  const { claimed } = await claimDeliveries(pool, postbackLane, wanted)
  assert.deepEqual(
    claimed.map(({ id }) => id),
    healthy.ids,
  )
  await held.rollback().execute()
  const later = await claimDeliveries(pool, postbackLane, wanted)
  assert.deepEqual(
    later.claimed.map(({ id, isProbe }) => [id, isProbe]),
    [[sick.ids[0], true]],
  )
})

test('a rule that has only failed for days is switched off with a notice, and its waiting deliveries are skipped', async () => {
  const dead = await receiver((_, response) => void response.writeHead(404).end())
  const { target_id, ids } = await seedMany(8, dead.origin)
  const rule = () => db.selectFrom('postback_rules').selectAll().where('id', '=', target_id).executeTakeFirstOrThrow()
  const breaker = { ...BREAKER, failures: 1000, slow_failures: 1000, off_failures: 4 }
  await db
    .insertInto('balances')
    .values({ org_id: ORG, balance: '0', price_per_person: '0', hold_when_empty: false })
    .execute()
  await db
    .insertInto('failing_targets')
    .values({ org_id: ORG, kind: 'postback', target_id, failures: 2, failing_since: new Date().toISOString() })
    .execute()
  const worker = work({ breaker })
  await eventually('nothing failed', async () => (await failing())?.failures === 10)
  assert.equal((await rule()).active, true, 'five days are not over')
  await worker.close()
  await pool.query(`update failing_targets set failing_since = now() - interval '5 days 1 minute'`)
  const last = await seedDelivery(db, { target_id })
  work({ breaker })
  await untilInState(db, last.id, 'pending', 1)
  const { active, switched_off_at, switched_off_reason } = await rule()
  assert.deepEqual([active, typeof switched_off_at], [false, 'string'])
  assert.match(String(switched_off_reason), /failed every time for 5 days, 11 times in all, last with: HTTP 404/)
  assert.equal(await failing(), undefined)
  const [first = ''] = ids
  await pool.query('update deliveries set run_at = now() where id = $1', [first])
  assert.equal((await untilInState(db, first, 'skipped')).reason, 'the rule is switched off')
})

test('healthy rules go out beside sick ones of the same organization at the same receiver', async () => {
  // Both paths of one origin share its four call slots; the sick one never answers.
  const there = await receiver(({ url }, response) => void (url.startsWith('/sick') || response.end('ok')))
  const sick = []
  for (let n = 0; n < 4; n += 1) sick.push(await seedMany(8, `${there.origin}/sick${n}`))
  const healthy = await seedMany(30, `${there.origin}/well`)
  // Retried at once, because on a busy machine a healthy call may miss such a short deadline too.
  work({ delays: [1, 1], deadlines: { headers_ms: 2000, total_ms: 2000 } })
  for (const id of healthy.ids) await untilInState(db, id, 'delivered')
  const left = await Promise.all(sick.map(({ ids }) => untouched(ids)))
  assert.ok(
    left.some(count => count > 0),
    'the sick ones had their turns first',
  )
})

test('the owners are told by mail, once, what was switched off', async () => {
  const mailbox = closing(await openMailbox())
  const dead = await receiver((_, response) => void response.writeHead(410).end())
  const { org_id, user_id } = await seedOrganization(database)
  const { email } = await db.selectFrom('users').select('email').where('id', '=', user_id).executeTakeFirstOrThrow()
  const target_id = await seedOutboxRule(db, { org_id, url: dead.origin })
  const seeded = []
  for (let n = 0; n < 6; n += 1) seeded.push(await seedDelivery(db, { org_id, target_id }))
  const worker = work({ breaker: { ...BREAKER, off_failures: 1, off_after_ms: 0 } }, { SMTP_URL: mailbox.url })
  const mail = await mailbox.next(email)
  assert.match(mail.text, new RegExp(`the postback to ${new URL(dead.origin).host}`))
  for (const { id } of seeded.slice(1))
    await eventually('it was not ended', async () => (await deliveryOf(db, id)).lease_token === null)
  await worker.close()
  assert.equal(mailbox.mails.length, 1)
})

test('a success among failures ends what was counted', async () => {
  let times = 0
  const there = await receiver((_, response) => {
    times += 1
    response.writeHead(times === 3 ? 200 : 500).end()
  })
  await seedMany(5, there.origin)
  work({ breaker: { ...BREAKER, failures: 1000, slow_failures: 1000 } })
  await eventually('not all were sent', async () => there.arrivals.length === 5 && (await failing())?.failures === 2)
})

test('sick targets together get half of the places, a new one gets one until it succeeds', () => {
  const places = new CallSlots({ all: 100, origin: 4, organization: 8 })
  const target = (n: number) => ({ org_id: 1, target_id: String(n), origin: `o${n % 3}` })
  const sick = Array.from({ length: 12 }, (_, n) => target(n))
  for (const one of sick) places.note(one, false)
  const shares = shareSlots(sick, places)
  assert.equal(shares.size, 4)
  const fresh = target(100)
  assert.equal(shareSlots([fresh], places).get(fresh), 1)
  places.note(fresh, true)
  assert.equal(shareSlots([fresh], places).get(fresh), 1)
  places.note(fresh, true)
  for (const one of shares.keys()) places.free(one)
  assert.equal(shareSlots([fresh], places).get(fresh), 2)
  assert.equal(places.take(fresh), false, 'four at an origin')
})
