// The test link through the gate: the whole path of a visitor, and nothing of it counts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { tally } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'

let house: TestHouse
let owner: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
})
after(() => house.end())

async function campaign(): Promise<string> {
  const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
  const made = await house.call('POST', '/api/campaigns', { ...owner, body: { name: 'Shop', destination } })
  return String(made.data()['id'])
}
const linkOf = (id: string, as: object = owner) => house.call('GET', `/api/campaigns/${id}/test-link`, as)

test('what comes of the test link is listed, and neither counted, billed nor delivered', async () => {
  const id = await campaign()
  const link = await linkOf(id)
  const url = new URL(String(link.data()['url']))
  assert.equal(url.origin, 'http://localhost:8080')
  const rule = { event_type: 'lead', url: 'http://127.0.0.1:9/?c={click_id}' }
  assert.equal((await house.call('POST', '/api/postbacks', { ...owner, body: rule })).statusCode, 201)
  const before = await tally(house.database, owner.org_id)
  const visit = await house.call('GET', url.pathname + url.search)
  const click_id = new URL(String(visit.headers['location'])).searchParams.get('c')
  const { secret } = await seedKey(house.database, owner, { rights: ['events', 'clicks'] })
  const body = { clickId: click_id, type: 'lead', payout: 5 }
  assert.equal((await house.call('POST', '/api/events', { key: secret, body })).statusCode, 201)
  const feed = await house.call('GET', `/api/v1/clicks?tracked=false&campaign_id=${id}`, { key: secret })
  const [row] = feed.json<{ data: { id: string; status: string; tracked: boolean }[] }>().data
  assert.deepEqual([row?.id, row?.status, row?.tracked], [click_id, 'lead', false])
  const now = await tally(house.database, owner.org_id)
  assert.deepEqual([now.charges - before.charges, now.deliveries - before.deliveries], [0, 0])
  const today = new Date(Date.now() - 3_600_000).toISOString()
  const tomorrow = new Date(Date.now() + 3_600_000).toISOString()
  const query = `dimension=campaign&date_from=${today}&date_to=${tomorrow}&campaign_id=${id}`
  assert.deepEqual((await house.call('GET', `/api/report?${query}`, owner)).data()['rows'], [])
})

test('the test link of what is not there, deleted or another workspace’s is not found, and no key reads one', async () => {
  const id = await campaign()
  const stranger = await seedSignedIn(house)
  assert.equal((await linkOf(id, stranger)).statusCode, 404)
  assert.equal((await linkOf(toWireId(newId()))).statusCode, 404)
  assert.equal((await linkOf('nonsense')).statusCode, 404)
  assert.equal((await linkOf(id, {})).statusCode, 401)
  const { secret } = await seedKey(house.database, owner, { rights: ['campaigns', 'campaigns:update'] })
  assert.equal((await linkOf(id, { key: secret })).data()['code'], 'api_key_resource_forbidden')
  await house.call('PUT', `/api/campaigns/${id}/status`, { ...owner, body: { status: 'archived' } })
  await house.call('DELETE', `/api/campaigns/${id}`, owner)
  assert.equal((await linkOf(id)).statusCode, 404)
})
