// Campaigns that lead to an offer and so to the address it has at the click, and those that keep an address of their own.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'

let house: TestHouse
let owner: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
})
after(() => house.end())

const call = async (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  body?: unknown,
  as: object = owner,
) => house.call(method, url, { ...as, ...(body === undefined ? {} : { body }) })

async function made(what: 'campaigns' | 'offers' | 'funnels' | 'click-flows', body: object, as: object = owner) {
  const reply = await call('POST', `/api/${what}`, { name: 'One', ...body }, as)
  assert.equal(reply.statusCode, 201, reply.body)
  return reply.json<{ id: string; key: string }>()
}
const offer = (url = 'https://one.example/?c={click_id}') => made('offers', { url, payout: '18.50' })
const towards = (offer_id: string) => ({ destination: { type: 'offer', offer_id } })
const leads = async (id: string) => {
  const { destination, offer_id } = (await call('GET', `/api/campaigns/${id}`)).data()
  return { destination, offer_id }
}
const visit = async (key: string) => {
  const { statusCode, headers } = await house.call('GET', `/c/${key}`, { headers: BROWSER })
  return { statusCode, location: new URL(headers.location ?? 'none:') }
}
const readdress = (id: string, url: string) => call('PUT', `/api/offers/${id}`, { name: 'One', url, payout: '18.50' })
const NONE = { following: 0, own_address: 0, by_funnel: 0, by_click_flow: 0 }
const countsOf = async (id: string) => (await call('GET', `/api/offers/${id}`)).data()['campaigns']

test("a campaign that leads to an offer follows the offer's new address, and its clicks earn for that offer", async () => {
  const { id } = await offer()
  const campaign = await made('campaigns', towards(id))
  assert.deepEqual(await leads(campaign.id), { destination: { type: 'offer', offer_id: id }, offer_id: id })
  assert.equal((await visit(campaign.key)).location.host, 'one.example')
  assert.equal((await readdress(id, 'https://two.example/?c={click_id}')).statusCode, 200)
  const { location } = await visit(campaign.key)
  assert.equal(location.host, 'two.example')
  const reply = await call('POST', '/api/events', { clickId: location.searchParams.get('c'), type: 'lead' })
  assert.deepEqual([reply.data()['offer_id'], reply.data()['payout']], [id, '18.5'])
})

test('an offer counts the campaigns that reach it by a funnel and by what is published of a click flow', async () => {
  const { id } = await offer()
  const { id: other } = await offer()
  const shares = [id, other].map(offer_id => ({ offer_id, weight: 1 }))
  const funnel = await made('funnels', { landings: [], offers: shares })
  const edges = [{ from: 'in', to: 'out' }]
  const graphTo = (offer_id: string) => ({
    nodes: [
      { id: 'in', type: 'entry' },
      { id: 'out', type: 'offer', offer_id },
    ],
    edges,
  })
  const flow = await made('click-flows', { graph: graphTo(id) })
  const byFlow = await made('campaigns', { destination: { type: 'click_flow', click_flow_id: flow.id } })
  // A draft leads nobody anywhere.
  assert.deepEqual(await countsOf(id), NONE)
  assert.equal((await call('POST', `/api/click-flows/${flow.id}/publish`)).statusCode, 200)
  for (let at = 0; at < 2; at += 1) await made('campaigns', { destination: { type: 'funnel', funnel_id: funnel.id } })
  assert.deepEqual(await countsOf(id), { ...NONE, by_funnel: 2, by_click_flow: 1 })
  assert.deepEqual(await countsOf(other), { ...NONE, by_funnel: 2 })
  await call('PATCH', `/api/campaigns/${byFlow.id}`, towards(other))
  assert.deepEqual(await countsOf(id), { ...NONE, by_funnel: 2 })
  assert.deepEqual(await countsOf(other), { ...NONE, following: 1, by_funnel: 2 })
})

test('a redirect with an offer keeps its address, and the offer tells the two kinds apart', async () => {
  const { id } = await offer()
  const own = await made('campaigns', {
    destination: { type: 'redirect', url: 'https://one.example/?c={click_id}' },
    offer_id: id,
  })
  await made('campaigns', towards(id))
  const gone = await made('campaigns', towards(id))
  await call('DELETE', `/api/campaigns/${gone.id}`, undefined, {
    key: (await seedKey(house.database, owner, { rights: ['campaigns:delete'] })).secret,
  })
  await made('campaigns', { destination: { type: 'redirect', url: 'https://other.example/' } })
  assert.deepEqual(await countsOf(id), { ...NONE, following: 1, own_address: 1 })
  await readdress(id, 'https://two.example/?c={click_id}')
  assert.equal((await visit(own.key)).location.host, 'one.example')
  assert.equal((await call('PATCH', `/api/campaigns/${own.id}`, towards(id))).statusCode, 200)
  assert.equal((await visit(own.key)).location.host, 'two.example')
  assert.deepEqual(await countsOf(id), { ...NONE, following: 2 })
  const listed = (await call('GET', '/api/offers?limit=200')).json<{ data: { id: string; campaigns: object }[] }>()
  assert.deepEqual(listed.data.find(one => one.id === id)?.campaigns, { ...NONE, following: 2 })
})

test('an archived or deleted offer sends its followers to their fallback, and without one on to the offer, for no offer', async () => {
  for (const close of [
    (id: string) => call('PUT', `/api/offers/${id}/status`, { status: 'archived' }),
    (id: string) => call('DELETE', `/api/offers/${id}`),
  ]) {
    const { id } = await offer('https://one.example/?c={click_id}&o={offer_id}')
    const [safe, bare] = [
      await made('campaigns', { ...towards(id), fallback_url: 'https://back.example/' }),
      await made('campaigns', towards(id)),
    ]
    assert.equal((await close(id)).statusCode, 200)
    assert.equal((await visit(safe.key)).location.host, 'back.example')
    const { location } = await visit(bare.key)
    assert.deepEqual([location.host, location.searchParams.get('o')], ['one.example', ''])
    assert.deepEqual(await leads(safe.id), { destination: { type: 'offer', offer_id: id }, offer_id: id })
    // Saving the form of such a campaign again is no new choice of the offer.
    assert.equal((await call('PATCH', `/api/campaigns/${safe.id}`, { ...towards(id), name: 'Again' })).statusCode, 200)
  }
})

test('another offer alone moves a following campaign there, another destination ends it', async () => {
  const [one, two] = [await offer(), await offer('https://two.example/')]
  const { id, key } = await made('campaigns', towards(one.id))
  assert.equal((await call('PATCH', `/api/campaigns/${id}`, { offer_id: two.id })).statusCode, 200)
  assert.deepEqual(await leads(id), { destination: { type: 'offer', offer_id: two.id }, offer_id: two.id })
  assert.equal((await visit(key)).location.host, 'two.example')
  const own = { type: 'redirect', url: 'https://own.example/' }
  assert.equal((await call('PATCH', `/api/campaigns/${id}`, { destination: own })).statusCode, 200)
  assert.deepEqual(await leads(id), { destination: own, offer_id: two.id })
  assert.equal((await call('PATCH', `/api/campaigns/${id}`, { offer_id: null })).statusCode, 200)
  assert.deepEqual(await leads(id), { destination: own, offer_id: null })
})

test('what cannot be followed is refused, says why, and changes nothing', async () => {
  const [one, two, archived] = [await offer(), await offer(), await offer()]
  const stranger = await seedSignedIn(house)
  const theirs = await made('offers', { url: 'https://theirs.example/' }, stranger)
  await call('PUT', `/api/offers/${archived.id}/status`, { status: 'archived' })
  const { id } = await made('campaigns', towards(one.id))
  const before = await leads(id)
  for (const [body, named] of [
    [towards(archived.id), /offer_id: the offer is archived/],
    [towards(theirs.id), /offer_id: no such offer/],
    [towards(toWireId(newId())), /offer_id: no such offer/],
    [{ destination: { type: 'offer' } }, /destination.*offer_id/],
    [{ ...towards(one.id), offer_id: two.id }, /offer_id: is another offer than the destination/],
    [{ offer_id: null }, /offer_id: the campaign leads to this offer/],
    [{ offer_id: archived.id }, /offer_id: the offer is archived/],
  ] as const) {
    const reply = await call('PATCH', `/api/campaigns/${id}`, body)
    assert.deepEqual([reply.statusCode, named.test(reply.body)], [400, true], reply.body)
    assert.deepEqual(await leads(id), before)
  }
})

test('a process of the version before takes a following campaign for a redirect, and what it writes is kept', async () => {
  const [one, two] = [await offer(), await offer('https://two.example/')]
  const { id } = await made('campaigns', towards(one.id))
  const stored = async () =>
    (
      await house.database.reads.query<{ destination: { type: string; url: string } }>(
        'select destination from campaigns where id = $1',
        [toUuid(id)],
      )
    ).rows[0]?.destination
  // All that the version before looks at.
  assert.equal((await stored())?.type, 'redirect')
  assert.equal((await stored())?.url, 'https://one.example/?c={click_id}')
  await house.database.reads.query('update campaigns set offer_id = $2 where id = $1', [toUuid(id), toUuid(two.id)])
  assert.deepEqual(await leads(id), {
    destination: { type: 'redirect', url: 'https://one.example/?c={click_id}' },
    offer_id: two.id,
  })
})
