// Once per person, test fires and runs over past conversions. Through the door, to a real receiver.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { untilWaiting } from '../../../tests/support/blocked.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, ORIGIN, seedKey, startHouse, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { type Receiver, startReceiver } from '../../../tests/support/receiver.ts'
import { seedWorkspace } from '../../../tests/support/workspace.ts'
import { toUuid } from '../../contract/ids.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'
import { continueRuns } from '../deliveries/portions.ts'
import { postbackLane } from './lane.ts'

type As = { cookie?: string; key?: string }
let house: TestHouse
let receiver: Receiver
let status = 200
before(async () => {
  house = await useHouse()
  receiver = await startReceiver((_, response) => void response.writeHead(status).end('answer'))
})
after(async () => {
  await house.end()
  await receiver.close()
})
afterEach(() => {
  status = 200
  receiver.arrivals.length = 0
})

const workspace = () => seedWorkspace(house, receiver)

test('a rule for once per person calls for the first conversion of each, also when they race', async () => {
  const { click, convert, rule, deliveries } = await workspace()
  const once = await rule({ once_per_person: true })
  const always = await rule()
  const [one, two] = [await click(), await click()]
  const person = (telegram_user_id: string) => ({ payload: { telegram_user_id } })
  await Promise.all([
    convert(one, { nonce: '1', ...person('11') }),
    convert(two, { nonce: '2', ...person('11') }),
    convert(one, { nonce: '3', ...person('11') }),
    convert(two, { nonce: '4', ...person('22') }),
  ])
  await eventually('not all were delivered', async () => (await deliveries('state=delivered')).length === 6)
  assert.equal((await deliveries(`target_id=${once}`)).length, 2)
  assert.equal((await deliveries(`target_id=${always}`)).length, 4)
})

test('a test fire calls with the values of the newest click, or of the one named, and writes no delivery', async () => {
  const { as, post, click, rule, deliveries } = await workspace()
  const id = await rule({
    url: `${receiver.origin}/t?c={click_id}&s={sub1}&t={event_type}&i={event_id}`,
    active: false,
  })
  const none = await house.call('POST', `/api/postbacks/${id}/test`, { ...as, body: {} })
  assert.deepEqual([none.statusCode, none.data()['code']], [409, 'no_click_yet'])
  const first = await click('sub1=one')
  const second = await click('sub1=two')
  status = 404
  const newest = await post(`/api/postbacks/${id}/test`, {})
  assert.deepEqual(
    [newest['ok'], newest['click_id'], newest['status'], newest['answer'], newest['method']],
    [false, second, 404, 'answer', 'GET'],
  )
  const [arrival] = receiver.arrivals
  assert.equal(newest['url'], `${receiver.origin}${arrival?.url}`)
  assert.match(String(arrival?.url), new RegExp(`^/t\\?c=${second}&s=two&t=lead&i=[0-9a-hjkmnp-tv-z]{26}$`))
  status = 200
  const named = await post(`/api/postbacks/${id}/test`, { click_id: first })
  assert.deepEqual([named['ok'], named['click_id']], [true, first])
  assert.deepEqual(await deliveries(), [])
  for (const click_id of [toWireId(newId()), await (await workspace()).click()])
    assert.equal((await house.call('POST', `/api/postbacks/${id}/test`, { ...as, body: { click_id } })).statusCode, 400)
})

test('a test fire does not reach inside', async () => {
  const guarded = await startHouse({ ALLOW_PRIVATE_TARGETS: 'false' })
  const owner = await seedSignedIn(guarded)
  const body = { event_type: 'lead', url: 'https://tracker.example/' }
  const id = String((await guarded.call('POST', '/api/postbacks', { ...owner, body })).data()['id'])
  const inside = { url: receiver.origin }
  await guarded.database.kysely
    .updateTable('postback_rules')
    .set(inside)
    .where('id', '=', String(toUuid(id)))
    .execute()
  const click = { org_id: owner.org_id, id: newId(), status: 0, stages: 1, tracked: true, test: false }
  await guarded.database.kysely
    .insertInto('clicks')
    .values({ ...click, suppressed_delivery: false })
    .execute()
  const fired = (await guarded.call('POST', `/api/postbacks/${id}/test`, { ...owner, body: {} })).data()
  assert.deepEqual([fired['ok'], fired['status']], [false, null])
  assert.match(String(fired['error']), /is not a public address/)
  assert.equal(receiver.arrivals.length, 0)
  await guarded.end()
})

test('a new rule runs over past conversions, each once, and none twice however often it runs', async () => {
  const { as, post, click, convert, rule, deliveries } = await workspace()
  const click_id = await click()
  const past = [await convert(click_id, { nonce: '1' }), await convert(click_id, { nonce: '2' })]
  await convert(click_id, { type: 'ftd' })
  const id = await rule()
  const live = await convert(click_id, { nonce: '3' })
  const plan = await post(`/api/postbacks/${id}/backfill`, {})
  assert.deepEqual([plan['count'], plan['run']], [2, null])
  assert.deepEqual(
    (plan['calls'] as { url: string }[]).map(({ url }) => url).sort(),
    past.map(event => `${receiver.origin}/p?e=${event}`).sort(),
  )
  await post(`/api/postbacks/${id}/backfill`, { dry_run: false })
  await eventually('not all were sent', async () => (await deliveries('state=delivered')).length === 3)
  const over = async () =>
    (await house.call('GET', '/api/delivery-runs', as))
      .json<{ data: Record<string, unknown>[] }>()
      .data.every(({ outcome }) => outcome !== null)
  await eventually('the run never ended', over)
  const second = await post(`/api/postbacks/${id}/backfill`, { dry_run: false })
  assert.equal(second['count'], 0)
  await eventually('the second run never ended', over)
  assert.deepEqual(receiver.arrivals.map(({ url }) => url).sort(), [...past, live].map(event => `/p?e=${event}`).sort())
})

test('a run over the past keeps to once per person, and so do conversions that come while it goes on', async () => {
  const { post, click, convert, rule, deliveries, owner } = await workspace()
  const clicks = [await click(), await click()]
  const person = (n: number) => ({ payload: { telegram_user_id: String(n) } })
  for (let n = 0; n < 12; n += 1) await convert(String(clicks[n % 2]), { nonce: String(n), ...person(n % 5) })
  const id = await rule({ once_per_person: true, url: `${receiver.origin}/once?e={event_id}` })
  assert.equal((await post(`/api/postbacks/${id}/backfill`, {}))['count'], 5)
  await post(`/api/postbacks/${id}/backfill`, { dry_run: false })
  const { worker } = house.database
  await Promise.all([
    ...[1, 2, 3].map(() => continueRuns(worker, [postbackLane], 2)),
    ...Array.from({ length: 10 }, (_, n) => convert(String(clicks[n % 2]), { nonce: `live${n}`, ...person(n % 5) })),
  ])
  await eventually('not all were sent', async () => (await deliveries('state=delivered')).length === 5)
  const { rows } = await worker.query<{ count: number }>(
    'select count(*)::int as count from deliveries where org_id = $1',
    [owner.org_id],
  )
  assert.deepEqual(rows, [{ count: 5 }])
})

test('one run at a time, it can be stopped, and it waits while deliveries are held', async () => {
  const { as, post, click, convert, rule, deliveries, owner } = await workspace()
  const click_id = await click()
  await convert(click_id)
  const id = await rule()
  const hold = (hold_when_empty: boolean) =>
    house.database.kysely
      .updateTable('balances')
      .set({ balance: '-1', hold_when_empty })
      .where('org_id', '=', owner.org_id)
      .execute()
  await hold(true)
  const { run } = await post(`/api/postbacks/${id}/backfill`, { dry_run: false })
  const refused = await house.call('POST', '/api/deliveries/resend', { ...as, body: { dry_run: false } })
  assert.deepEqual([refused.statusCode, refused.data()['code']], [409, 'run_under_way'])
  await continueRuns(house.database.worker, [postbackLane])
  assert.deepEqual(await deliveries(), [])
  const run_id = (run as { id: string }).id
  const stopped = await post(`/api/delivery-runs/${run_id}/stop`, undefined)
  assert.deepEqual([stopped['outcome'], stopped['done']], ['stopped', 0])
  await hold(false)
  await continueRuns(house.database.worker, [postbackLane])
  assert.deepEqual(await deliveries(), [])
  assert.equal((await post(`/api/delivery-runs/${run_id}/stop`, undefined))['finished_at'], stopped['finished_at'])
})

test('a run puts out nothing once the balance is spent, also when that happens just before its portion', async () => {
  const { post, click, convert, rule, deliveries, owner } = await workspace()
  await convert(await click())
  const id = await rule()
  const spending = await house.database.worker.connect()
  try {
    await spending.query('begin')
    await spending.query(`update balances set balance = '-1', hold_when_empty = true where org_id = $1`, [owner.org_id])
    await post(`/api/postbacks/${id}/backfill`, { dry_run: false })
    const portion = continueRuns(house.database.worker, [postbackLane])
    await untilWaiting(house.database, 1)
    await spending.query('commit')
    await portion
  } finally {
    spending.release(true)
  }
  assert.deepEqual(await deliveries(), [])
})

test('a rule that is off runs over nothing', async () => {
  const { as, rule } = await workspace()
  const id = await rule({ active: false })
  const reply = await house.call('POST', `/api/postbacks/${id}/backfill`, { ...as, body: { dry_run: false } })
  assert.equal(reply.statusCode, 400)
  assert.match(reply.body, /switched off/)
})

test('switching on again takes the notice away and tries at once', async () => {
  const { as, rule, owner } = await workspace()
  const id = await rule()
  const target_id = String(toUuid(id))
  const { kysely: db, worker } = house.database
  const client = await worker.connect()
  await postbackLane.switchOff(client, owner.org_id, target_id, 'tired')
  client.release()
  await db
    .insertInto('failing_targets')
    .values({ org_id: owner.org_id, kind: 'postback', target_id, failures: 9, failing_since: new Date().toISOString() })
    .execute()
  const off = (await house.call('GET', `/api/postbacks/${id}`, as)).data()
  assert.deepEqual([off['active'], off['switched_off_reason']], [false, 'tired'])
  const [change] = (await house.call('GET', `/api/history?kind=postback&id=${id}`, as)).json<{
    data: { actor: { kind: string; because: string }; cannot_undo: string | null; fields: { name: string }[] }[]
  }>().data
  assert.deepEqual([change?.actor.kind, change?.actor.because, change?.cannot_undo], ['sluice', 'schedule', null])
  assert.deepEqual(
    change?.fields.map(({ name }) => name),
    ['active', 'switched_off_at', 'switched_off_reason'],
  )
  const on = (await house.call('PATCH', `/api/postbacks/${id}`, { ...as, body: { active: true } })).data()
  assert.deepEqual([on['active'], on['switched_off_at'], on['switched_off_reason']], [true, null, null])
  assert.deepEqual(await db.selectFrom('failing_targets').selectAll().where('org_id', '=', owner.org_id).execute(), [])
})

test('only owners and admins of the organization send again, run or test; no key does', async () => {
  const { owner, click, convert, rule, deliveries } = await workspace()
  const id = await rule()
  await convert(await click())
  await eventually('it was not delivered', async () => (await deliveries('state=delivered')).length === 1)
  const delivery = String((await deliveries())[0]?.['id'])
  const routes: [string, unknown][] = [
    [`/api/postbacks/${id}/test`, {}],
    [`/api/postbacks/${id}/backfill`, { dry_run: false }],
    [`/api/deliveries/${delivery}/resend`, undefined],
    ['/api/deliveries/resend', { state: 'delivered', dry_run: false }],
    [`/api/delivery-runs/${toWireId(newId())}/stop`, undefined],
  ]
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const { secret: key } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  const stranger: SignedIn = await seedSignedIn(house)
  const call = (url: string, body: unknown, as: As) =>
    house.call('POST', url, { ...as, ...(body === undefined ? {} : { body }) })
  for (const [url, body] of routes) {
    assert.equal(
      (await house.call('POST', url, { headers: { origin: ORIGIN }, body: body ?? {} })).statusCode,
      401,
      url,
    )
    assert.equal((await call(url, body, { key })).data()['code'], 'api_key_resource_forbidden', url)
    assert.equal((await call(url, body, { cookie: member.cookie })).data()['code'], 'role_forbidden', url)
    const theirs = await call(url, body, { cookie: stranger.cookie })
    if (url === '/api/deliveries/resend') assert.equal(theirs.data()['count'], 0)
    else assert.deepEqual([theirs.statusCode, theirs.data()['code']], [404, 'not_found'], url)
  }
  assert.equal(receiver.arrivals.length, 1)
})
