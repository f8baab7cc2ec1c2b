// Resending deliveries, one at once and many in a run: through the door, to a real receiver.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type Receiver, startReceiver } from '../../../tests/support/receiver.ts'
import { seedWorkspace } from '../../../tests/support/workspace.ts'
import { toUuid } from '../../contract/ids.ts'

let house: TestHouse
let receiver: Receiver
before(async () => {
  house = await useHouse()
  receiver = await startReceiver((_, response) => void response.writeHead(200).end('answer'))
})
after(async () => {
  await house.end()
  await receiver.close()
})
afterEach(() => {
  receiver.arrivals.length = 0
})

const workspace = () => seedWorkspace(house, receiver)

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
