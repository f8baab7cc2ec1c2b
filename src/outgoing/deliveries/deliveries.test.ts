import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedKey, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SeededDelivery, seedDelivery } from '../../../tests/support/outbox.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'

let house: TestHouse
let owner: SignedIn
const target_id = newId()
const seeded: SeededDelivery[] = []
before(async () => {
  // Without a worker, so that seeded rows stay as they are.
  house = await startHouse({ ROLE: 'serve' })
  owner = await seedSignedIn(house)
  const states = ['pending', 'delivered', 'failed', 'skipped', 'held']
  const begun = Date.now()
  for (const [number, state] of states.entries())
    seeded.push(
      await seedDelivery(house.database.kysely, {
        org_id: owner.org_id,
        target_id,
        state,
        at: begun + number,
        ...(state === 'held' ? { kind: 'ad_account' } : {}),
      }),
    )
})
after(() => house.end())

const get = (url: string, as: { cookie?: string; key?: string } = owner) => house.call('GET', url, as)

async function list(query: string): Promise<{ ids: string[]; next_cursor: string | null }> {
  const reply = await get(`/api/deliveries?${query}`)
  assert.equal(reply.statusCode, 200, reply.body)
  const { data, next_cursor } = reply.json<{ data: { id: string }[]; next_cursor: string | null }>()
  return { ids: data.map(({ id }) => id), next_cursor }
}

const [PENDING, DELIVERED, FAILED, SKIPPED, HELD] = [0, 1, 2, 3, 4]
const at = (...places: number[]) => places.map(place => toWireId(seeded[place]?.id ?? ''))

test('deliveries are listed newest first, page by page, and found by what they belong to', async () => {
  assert.deepEqual((await list('')).ids, at(HELD, SKIPPED, FAILED, DELIVERED, PENDING))
  const first = await list('limit=3')
  assert.deepEqual(first.ids, at(HELD, SKIPPED, FAILED))
  assert.deepEqual(await list(`limit=3&cursor=${first.next_cursor}`), {
    ids: at(DELIVERED, PENDING),
    next_cursor: null,
  })
  const { event_id, click_id } = seeded[FAILED] ?? { event_id: '', click_id: '' }
  assert.deepEqual((await list('state=failed')).ids, at(FAILED))
  assert.deepEqual((await list('kind=ad_account')).ids, at(HELD))
  assert.deepEqual((await list(`event_id=${toWireId(event_id)}`)).ids, at(FAILED))
  assert.deepEqual((await list(`click_id=${toWireId(click_id)}`)).ids, at(FAILED))
  assert.equal((await list(`target_id=${toWireId(target_id)}`)).ids.length, 5)
  assert.deepEqual((await list(`campaign_id=${toWireId(newId())}`)).ids, [])
  for (const query of ['state=lost', 'kind=mail', 'event_id=x', 'cursor=x'])
    assert.equal((await get(`/api/deliveries?${query}`)).statusCode, 400, query)
})

test('a delivery is shown with its attempts; only one that waits says when it is tried next', async () => {
  const [id] = at(PENDING)
  const attempt = {
    org_id: owner.org_id,
    delivery_id: seeded[PENDING]?.id ?? '',
    started_at: '2026-03-01T00:00:01.5Z',
    method: 'GET',
    url: 'https://t.example/?token=secret',
  }
  await house.database.kysely
    .insertInto('delivery_attempts')
    .values([
      { ...attempt, number: 1, finished_at: '2026-03-01T00:00:02Z', status: 500, answer: 'broken' },
      { ...attempt, number: 2, finished_at: null },
    ])
    .execute()
  const { history, ...delivery } = (await get(`/api/deliveries/${id}`)).data()
  const wire = { method: 'GET', url: attempt.url, body: null, started_at: '2026-03-01T00:00:01.500Z' }
  assert.deepEqual(history, [
    { ...wire, number: 1, finished_at: '2026-03-01T00:00:02.000Z', status: 500, error: null, answer: 'broken' },
    { ...wire, number: 2, finished_at: null, status: null, error: null, answer: null },
  ])
  assert.deepEqual(delivery, {
    id,
    kind: 'postback',
    target_id: toWireId(target_id),
    event_id: toWireId(seeded[PENDING]?.event_id ?? ''),
    event_type: 'lead',
    revision: null,
    click_id: toWireId(seeded[PENDING]?.click_id ?? ''),
    campaign_id: null,
    state: 'pending',
    reason: null,
    failure: null,
    attempts: 0,
    next_attempt_at: '2026-03-01T00:00:00.000Z',
    created_at: '2026-03-01T00:00:00.000Z',
    finished_at: null,
    attempts_dropped: 0,
  })
  assert.equal((await get(`/api/deliveries/${at(FAILED)[0]}`)).data()['next_attempt_at'], null)
})

test("another organization's delivery is as if it were not there, and no key sees any", async () => {
  const other = await seedSignedIn(house)
  const [id] = at(DELIVERED)
  const [theirs, nobodys, noId] = [
    await get(`/api/deliveries/${id}`, other),
    await get(`/api/deliveries/${toWireId(newId())}`, other),
    await get('/api/deliveries/x', other),
  ]
  assert.deepEqual([theirs.statusCode, theirs.body, noId.body], [404, nobodys.body, nobodys.body])
  assert.deepEqual((await get('/api/deliveries', other)).data(), { data: [], next_cursor: null, campaigns: [] })
  const { secret: key } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  for (const url of ['/api/deliveries', `/api/deliveries/${id}`]) {
    const byKey = await get(url, { key })
    assert.deepEqual([byKey.statusCode, byKey.data()['code']], [403, 'api_key_resource_forbidden'])
    assert.equal((await get(url, {})).statusCode, 401)
  }
  assert.equal(
    (await get(`/api/deliveries/${id}`, await seedSignedIn(house, { place: owner, role: 'member' }))).statusCode,
    200,
  )
})
