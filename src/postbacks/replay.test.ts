// What leaves beyond a conversion's own moment: once per person, test fires, resending, runs over the past. Through the door, to a real receiver.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { untilWaiting } from '../../tests/support/blocked.ts'
import { eventually } from '../../tests/support/eventually.ts'
import { newId, ORIGIN, seedKey, startHouse, type TestHouse, toWireId } from '../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../tests/support/people.ts'
import { type Receiver, startReceiver } from '../../tests/support/receiver.ts'
import { toUuid } from '../contract/ids.ts'
import { ALL_RIGHTS } from '../contract/rights.ts'
import { workRuns } from '../deliveries/portions.ts'
import { postbackLane } from './lane.ts'

type As = { cookie?: string; key?: string }
let house: TestHouse
let receiver: Receiver
let status = 200
before(async () => {
  house = await startHouse()
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

const HEADERS = { 'user-agent': 'Mozilla/5.0 (X11; Linux x64) Chrome/130.0.0.0' }

/** An organization of its own with a campaign, so that tests do not meet. */
async function workspace() {
  const owner = await seedSignedIn(house)
  const as: As = { cookie: owner.cookie }
  const post = async (url: string, body: unknown, code = 200) => {
    const reply = await house.call('POST', url, { ...as, body })
    assert.equal(reply.statusCode, code, `${url}: ${reply.body}`)
    return reply.data()
  }
  const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
  const campaign = await post('/api/campaigns', { name: 'C', destination }, 201)
  const click = async (query = '') => {
    // Ids of one millisecond have no order.
    await sleep(2)
    const visit = await house.call('GET', `/c/${String(campaign['key'])}?${query}`, { headers: HEADERS })
    return String(new URL(String(visit.headers.location)).searchParams.get('c'))
  }
  const convert = async (clickId: string, body: object = {}) =>
    String((await post('/api/events', { clickId, type: 'lead', ...body }, 201))['id'])
  const rule = async (fields: object = {}) =>
    String(
      (await post('/api/postbacks', { event_type: 'lead', url: `${receiver.origin}/p?e={event_id}`, ...fields }, 201))[
        'id'
      ],
    )
  const deliveries = async (query = '') =>
    (await house.call('GET', `/api/deliveries?${query}`, as)).json<{ data: Record<string, unknown>[] }>().data
  return { owner, as, post, campaign_id: String(campaign['id']), click, convert, rule, deliveries }
}

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

test('a delivery is sent again with the same event id and all its tries, its log kept', async () => {
  const { as, post, click, convert, rule, deliveries } = await workspace()
  await rule()
  const event_id = await convert(await click())
  await eventually('it was not delivered', async () => (await deliveries('state=delivered')).length === 1)
  const id = String((await deliveries())[0]?.['id'])
  const again = await post(`/api/deliveries/${id}/resend`, undefined)
  assert.deepEqual([again['id'], again['state'], again['finished_at']], [id, 'pending', null])
  await eventually('it did not come again', async () => (await deliveries('state=delivered')).length === 1)
  assert.deepEqual(
    receiver.arrivals.map(({ url }) => url),
    [`/p?e=${event_id}`, `/p?e=${event_id}`],
  )
  const shown = (await house.call('GET', `/api/deliveries/${id}`, as)).data()
  assert.equal((shown['history'] as unknown[]).length, 2)
  const row = await house.database.kysely
    .selectFrom('deliveries')
    .select(['attempts', 'attempts_uncounted'])
    .where('id', '=', String(toUuid(id)))
    .executeTakeFirstOrThrow()
  assert.deepEqual(row, { attempts: 2, attempts_uncounted: 1 })
})

test('a delivery that is being sent is not sent again beside it', async () => {
  const { as, click, convert, rule, deliveries } = await workspace()
  await rule()
  await convert(await click())
  await eventually('it was not delivered', async () => (await deliveries('state=delivered')).length === 1)
  const id = String((await deliveries())[0]?.['id'])
  // So long that it does not run out while later tests count what arrives.
  const lease_until = new Date(Date.now() + 3_600_000).toISOString()
  const lease = { state: 'pending', lease_token: newId(), lease_until }
  await house.database.kysely
    .updateTable('deliveries')
    .set({ ...lease, run_at: lease_until })
    .where('id', '=', String(toUuid(id)))
    .execute()
  const reply = await house.call('POST', `/api/deliveries/${id}/resend`, as)
  assert.deepEqual([reply.statusCode, reply.data()['code']], [409, 'delivery_under_way'])
})

test('failed deliveries are shown first and then sent again, of one rule, campaign, failure and period', async () => {
  const { as, post, click, convert, rule, deliveries, campaign_id, owner } = await workspace()
  const [wanted, other] = [await rule(), await rule({ url: `${receiver.origin}/other?e={event_id}` })]
  const click_id = await click()
  const events = [await convert(click_id, { nonce: '1' }), await convert(click_id, { nonce: '2' })]
  await eventually('not all were delivered', async () => (await deliveries('state=delivered')).length === 4)
  await house.database.kysely
    .updateTable('deliveries')
    .set({ state: 'failed', failure: 'http_5xx', reason: 'HTTP 500', attempts: 8 })
    .where('org_id', '=', owner.org_id)
    .execute()
  receiver.arrivals.length = 0
  const filter = { target_id: wanted, campaign_id, failure: 'http_5xx', date_from: '2026-01-01T00:00:00Z' }
  const plan = await post('/api/deliveries/resend', filter)
  assert.deepEqual([plan['count'], plan['has_more'], plan['run']], [2, false, null])
  assert.deepEqual(
    (plan['calls'] as { url: string; method: string; skip: null }[])
      .map(({ url, method, skip }) => `${method} ${url} ${skip}`)
      .sort(),
    events.map(event => `GET ${receiver.origin}/p?e=${event} null`).sort(),
  )
  for (const none of [{ failure: 'timeout' }, { date_to: '2026-01-01T00:00:00Z' }, { state: 'skipped' }])
    assert.equal((await post('/api/deliveries/resend', { ...filter, ...none }))['count'], 0)
  assert.equal(receiver.arrivals.length, 0, 'a dry run called')
  const { run } = await post('/api/deliveries/resend', { ...filter, dry_run: false })
  await eventually('not all were sent', async () => (await deliveries('state=delivered')).length === 2)
  assert.deepEqual(receiver.arrivals.map(({ url }) => url).sort(), events.map(event => `/p?e=${event}`).sort())
  const listed = async () =>
    (await house.call('GET', '/api/delivery-runs', as)).json<{ data: Record<string, unknown>[] }>().data[0]
  await eventually('the run never ended', async () => (await listed())?.['outcome'] === 'done')
  const { id, total, done } = (await listed()) ?? {}
  assert.deepEqual([id, total, done], [(run as { id: string }).id, 2, 2])
  assert.equal((await deliveries(`target_id=${other}&state=failed`)).length, 2)
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
    ...[1, 2, 3].map(() => workRuns(worker, [postbackLane], 2)),
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
  await workRuns(house.database.worker, [postbackLane])
  assert.deepEqual(await deliveries(), [])
  const run_id = (run as { id: string }).id
  const stopped = await post(`/api/delivery-runs/${run_id}/stop`, undefined)
  assert.deepEqual([stopped['outcome'], stopped['done']], ['stopped', 0])
  await hold(false)
  await workRuns(house.database.worker, [postbackLane])
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
    const portion = workRuns(house.database.worker, [postbackLane])
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
