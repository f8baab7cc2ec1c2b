// Names of events and goals through the door: who may, what is refused, and what the figures count by them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedKey, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedClick } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'
import { foldEvents } from '../../reading/reports/fold-events.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

const PATH = '/api/event-settings'
const read = async (as: SignedIn) => (await house.call('GET', PATH, { cookie: as.cookie })).data()
const put = (as: { cookie?: string; key?: string }, body: object) => house.call('PUT', PATH, { ...as, body })
const USUAL = { names: {}, goal: null, updated_at: null, updated_by: null }

async function campaign(as: SignedIn, fields: object = {}): Promise<string> {
  const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
  const body = { name: 'Spring', destination, ...fields }
  const reply = await house.call('POST', '/api/campaigns', { cookie: as.cookie, body })
  assert.equal(reply.statusCode, 201, reply.body)
  return String(reply.data()['id'])
}

/** Records conversions on a click of the campaign, as the dashboard does. */
async function convert(as: SignedIn, campaign_id: string, types: readonly string[], test = false) {
  const click = await seedClick(house.database, as.org_id, { campaign_id: toUuid(campaign_id) ?? null, test })
  for (const [at, type] of types.entries()) {
    const body = { clickId: toWireId(click), type, nonce: String(at) }
    const reply = await house.call('POST', '/api/events', { cookie: as.cookie, body })
    assert.equal(reply.statusCode, 201, reply.body)
  }
}

type Row = { key: string; clicks: number; conversions: number; by_type: Record<string, { approved: number }> }
const shownOf = ({ clicks, conversions, by_type }: Row) => ({
  clicks,
  conversions,
  by_type: Object.fromEntries(Object.entries(by_type).map(([type, { approved }]) => [type, approved])),
})
async function report(as: SignedIn, dimension: string, more = '') {
  const day = new Date().toISOString().slice(0, 10)
  const window = `date_from=${day}&date_to=${day}T23:59:59.999Z`
  const reply = await house.call('GET', `/api/report?dimension=${dimension}&${window}${more}`, { cookie: as.cookie })
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json<{ rows: Row[]; totals: Row }>()
}

test('a workspace names its events and its goal, and everyone in it reads them with who said so', async () => {
  const owner = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const stranger = await seedSignedIn(house)
  assert.deepEqual(await read(member), USUAL)
  const said = { names: { custom_1: ' Upsell ', purchase: 'Order' }, goal: ['purchase', 'subscription_renewed'] }
  const reply = await put(owner, said)
  assert.equal(reply.statusCode, 200, reply.body)
  const { updated_at, ...settings } = await read(member)
  const names = { custom_1: 'Upsell', purchase: 'Order' }
  assert.deepEqual(settings, { names, goal: said.goal, updated_by: reply.data()['updated_by'] })
  assert.ok(Date.parse(String(updated_at)) > Date.now() - 60_000)
  assert.equal(typeof settings['updated_by'], 'string')
  assert.deepEqual(await read(stranger), USUAL)
  // The next replaces both whole.
  assert.equal((await put(owner, { names: {}, goal: ['ftd'] })).statusCode, 200)
  assert.deepEqual([(await read(owner))['names'], (await read(owner))['goal']], [{}, ['ftd']])
})

test('what cannot be a name or a goal is refused by what is wrong, and changes nothing', async () => {
  const owner = await seedSignedIn(house)
  const wrong: [body: object, says: RegExp][] = [
    [{ names: { custom_1: 'x'.repeat(41) }, goal: ['lead'] }, /custom_1/],
    [{ names: { custom_1: '  ' }, goal: ['lead'] }, /custom_1/],
    [{ names: { custom_9: 'Nine' }, goal: ['lead'] }, /custom_9/],
    [{ names: { lead: 'Prospect' }, goal: ['lead'] }, /lead/],
    [
      { names: { custom_1: 'Upsell', custom_2: 'upsell' }, goal: ['lead'] },
      /custom_2: another event type has this name/,
    ],
    [{ names: { custom_1: 'FTD' }, goal: ['lead'] }, /custom_1: another event type has this name/],
    [{ names: {}, goal: [] }, /goal: must name a type/],
    [{ names: {}, goal: ['lead', 'lead'] }, /goal: names a type twice/],
    [{ names: {}, goal: ['sale'] }, /goal/],
    [{ names: {} }, /goal/],
  ]
  for (const [body, says] of wrong) {
    const reply = await put(owner, body)
    assert.equal(reply.statusCode, 400, JSON.stringify(body))
    assert.match(String(reply.data()['error']), says)
  }
  assert.deepEqual(await read(owner), USUAL)
  // A name that another type gives up is free.
  const swapped = { names: { purchase: 'Order', custom_1: 'Purchase' }, goal: ['lead'] }
  assert.equal((await put(owner, swapped)).statusCode, 200)
})

test('members may not change them, no key reaches them, and a deleted workspace says so', async () => {
  const owner = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const { secret: key } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  const body = { names: {}, goal: ['ftd'] }
  const refused = await put(member, body)
  assert.deepEqual([refused.statusCode, refused.data()['code']], [403, 'role_forbidden'])
  for (const reply of [await put({ key }, body), await house.call('GET', PATH, { key })])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'api_key_resource_forbidden'])
  assert.equal((await house.call('GET', PATH)).statusCode, 401)
  assert.deepEqual(await read(owner), USUAL)
})

test('the goal of the workspace is counted for every campaign but those with one of their own, before and after counting', async () => {
  const owner = await seedSignedIn(house)
  const shop = await campaign(owner, { goal: ['purchase', 'custom_1'] })
  const casino = await campaign(owner)
  await convert(owner, shop, ['lead', 'purchase', 'purchase', 'custom_1'])
  await convert(owner, shop, ['lead'])
  await convert(owner, shop, ['purchase'], true)
  await convert(owner, casino, ['lead', 'ftd'])
  await put(owner, { names: {}, goal: ['ftd'] })
  for (const fold of [false, true]) {
    if (fold) await foldEvents(house.database.worker)
    const { rows, totals } = await report(owner, 'campaign')
    const shown = new Map(rows.map(row => [row.key, shownOf(row)]))
    assert.deepEqual(shown.get(shop), { clicks: 2, by_type: { lead: 2, purchase: 2, custom_1: 1 }, conversions: 3 })
    assert.deepEqual(shown.get(casino), { clicks: 1, by_type: { lead: 1, ftd: 1 }, conversions: 1 })
    const { by_type, conversions } = shownOf(totals)
    assert.deepEqual([by_type, conversions], [{ lead: 3, purchase: 2, custom_1: 1, ftd: 1 }, 4])
    for (const dimension of ['geo', 'sub1', 'offer', 'day'])
      assert.deepEqual((await report(owner, dimension)).totals.conversions, 4, dimension)
    assert.equal((await report(owner, 'day', `&campaign_id=${casino}`)).totals.conversions, 1)
  }
  // What the goal was when they were recorded is nothing to it.
  const cleared = await house.call('PATCH', `/api/campaigns/${shop}`, { cookie: owner.cookie, body: { goal: null } })
  assert.equal(cleared.data()['goal'], null)
  assert.equal((await report(owner, 'campaign')).totals.conversions, 1)
})

test('without a chosen goal a campaign counts what its offers pay for, by itself, by a funnel and by a click flow', async () => {
  const owner = await seedSignedIn(house)
  const make = async (path: string, body: object) => {
    const reply = await house.call('POST', path, { cookie: owner.cookie, body })
    assert.equal(reply.statusCode, 201, reply.body)
    return String(reply.data()['id'])
  }
  const url = 'https://shop.example/?c={click_id}'
  const offer = (payout_types: string[]) => make('/api/offers', { name: 'O', url, payout: '5', payout_types })
  const [ofLead, ofSale, ofAll] = [await offer(['lead']), await offer(['purchase']), await offer([])]
  const shares = [ofLead, ofSale].map(offer_id => ({ offer_id, weight: 1 }))
  const funnel_id = await make('/api/funnels', { name: 'F', landings: [], offers: shares })
  const graph = {
    nodes: [
      { id: 'in', type: 'entry' },
      // A field of another type of node says nothing.
      { id: 'out', type: 'redirect', url, earns_for_offer_id: ofSale, offer_id: ofLead },
    ],
    edges: [{ from: 'in', to: 'out' }],
  }
  const click_flow_id = await make('/api/click-flows', { name: 'W', graph })
  const published = await house.call('POST', `/api/click-flows/${click_flow_id}/publish`, { cookie: owner.cookie })
  assert.ok(published.statusCode < 300, published.body)
  const counted = new Map([
    [await campaign(owner, { offer_id: ofLead }), 1],
    [await campaign(owner, { destination: { type: 'offer', offer_id: ofSale } }), 2],
    [await campaign(owner, { offer_id: ofAll }), 6],
    [await campaign(owner), 6],
    [await campaign(owner, { destination: { type: 'funnel', funnel_id } }), 3],
    [await campaign(owner, { destination: { type: 'click_flow', click_flow_id } }), 2],
    [await campaign(owner, { offer_id: ofLead, goal: ['ftd'] }), 1],
  ])
  const types = ['lead', 'purchase', 'purchase', 'ftd', 'custom_3', 'registration', 'land']
  for (const id of counted.keys()) await convert(owner, id, types)
  const goals = async () =>
    new Map((await report(owner, 'campaign')).rows.map(({ key, conversions }) => [key, conversions]))
  for (const [id, goal] of await goals())
    assert.equal(goal, counted.get(id), `${goal} of ${[...counted.keys()].indexOf(id)}`)
  const sum = [...counted.values()].reduce((all, one) => all + one)
  for (const dimension of ['geo', 'offer', 'day'])
    assert.equal((await report(owner, dimension)).totals.conversions, sum)
  // What is chosen goes before, until it is given up.
  await put(owner, { names: {}, goal: ['custom_3'] })
  assert.deepEqual([...new Set((await goals()).values())], [1])
  assert.equal((await put(owner, { names: {}, goal: null })).data()['goal'], null)
  assert.equal((await report(owner, 'day')).totals.conversions, sum)
  // Another workspace has nothing of it.
  const stranger = await seedSignedIn(house)
  await convert(stranger, await campaign(stranger), ['lead'])
  assert.equal((await report(stranger, 'day')).totals.conversions, 1)
})

test('a campaign’s goal is of types there are; the report of keys has no conversions by type', async () => {
  const owner = await seedSignedIn(house)
  const id = await campaign(owner)
  for (const goal of [[], ['sale'], ['lead', 'lead']]) {
    const reply = await house.call('PATCH', `/api/campaigns/${id}`, { cookie: owner.cookie, body: { goal } })
    assert.equal(reply.statusCode, 400, reply.body)
    assert.match(String(reply.data()['error']), /goal/)
  }
  await convert(owner, id, ['lead'])
  const { secret: key } = await seedKey(house.database, owner, { rights: ['report'] })
  const day = new Date().toISOString().slice(0, 10)
  const reply = await house.call('GET', `/api/v1/report?dimension=campaign&date_from=${day}&date_to=${day}T23:59:59Z`, {
    key,
  })
  const { rows, totals } = reply.json<{ rows: object[]; totals: object }>()
  for (const one of [...rows, totals])
    assert.deepEqual(
      Object.keys(one).filter(name => /conversions|by_type/.test(name)),
      [],
    )
})
