// Finding objects by name and by ids of any kind, and what each person finds.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedKey, type TestHouse, toWireId, useHouse } from '../../../tests/support/house.ts'
import { seedBot, seedClick } from '../../../tests/support/intake.ts'
import { seedSignedIn, type SignedIn } from '../../../tests/support/people.ts'
import { toUuid } from '../../contract/ids.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'
import type { FoundObject } from './api.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Found = Pick<FoundObject, 'kind' | 'name' | 'found_by'> & { readonly id: string }

async function find({ cookie }: SignedIn, q: string): Promise<Found[]> {
  const reply = await house.call('GET', `/api/find?q=${encodeURIComponent(q)}`, { cookie })
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json<{ data: Found[] }>().data
}
const names = (found: readonly Found[]) => found.map(({ kind, name }) => `${kind} ${name}`)
const ids = (found: readonly Found[]) => found.map(({ kind, id, found_by }) => [kind, id, found_by])

async function made({ cookie }: SignedIn, path: string, body: object): Promise<string> {
  const reply = await house.call('POST', `/api/${path}`, { cookie, body })
  assert.equal(reply.statusCode, 201, reply.body)
  return reply.json<{ id: string }>().id
}

const URL = 'https://shop.example/'
const redirect = { destination: { type: 'redirect', url: URL } }

test('objects of every kind are found by a part of their name in any case, beginnings first, and what was changed last before others', async () => {
  const owner = await seedSignedIn(house)
  const offer = await made(owner, 'offers', { name: 'Autumn sale', url: URL })
  await made(owner, 'landings', { name: 'Page of AUTUMN', url: URL })
  await made(owner, 'funnels', { name: 'autumn', offers: [{ offer_id: offer, weight: 1 }] })
  await made(owner, 'click-flows', { name: 'To autumn', graph: { nodes: [], edges: [] } })
  await made(owner, 'traffic-sources', { name: 'Autumn ads' })
  await made(owner, 'networks', { name: 'Late autumn', template: 'plain' })
  await made(owner, 'campaigns', { name: 'Else', key: `autumn-${owner.org_id}`, ...redirect })
  await made(owner, 'api-keys', { name: 'For autumn' })
  await made(owner, 'caps', { object: 'offer', object_id: offer, metric: 'clicks', limit: 5, period: 'day' })
  await made(owner, 'explore-views', { name: 'Of autumn', question: { levels: [{ dimension: 'geo' }] } })
  await seedBot(house.database, owner.org_id, `autumn_${owner.org_id}_bot`)
  await house.call('PUT', `/api/offers/${offer}/open-hours`, { cookie: owner.cookie, body: { open_hours: null } })
  await house.call('PUT', `/api/offers/${offer}`, {
    cookie: owner.cookie,
    body: { name: 'Autumn sale', url: `${URL}new` },
  })
  assert.deepEqual(names(await find(owner, ' "AUTUMN" ')), [
    'offer Autumn sale',
    `bot @autumn_${owner.org_id}_bot`,
    'cap Autumn sale',
    'campaign Else',
    'traffic_source Autumn ads',
    'funnel autumn',
    'view Of autumn',
    'api_key For autumn',
    'network Late autumn',
    'click_flow To autumn',
    'landing Page of AUTUMN',
  ])
  assert.deepEqual(names(await find(owner, '%utumn')), [])
  assert.deepEqual(names(await find(owner, owner.email.slice(0, 20))), ['member Person'])
})

test('an id is found in each of its forms, first of all', async () => {
  const owner = await seedSignedIn(house)
  const offer = await made(owner, 'offers', { name: 'By id', url: URL })
  await made(owner, 'offers', { name: `Copy of ${offer}`, url: URL })
  const uuid = toUuid(offer) ?? ''
  for (const form of [
    offer,
    offer.toUpperCase(),
    uuid,
    uuid.toUpperCase(),
    uuid.replaceAll('-', ''),
    ` '${uuid}' `,
    `“${offer}”`,
  ])
    assert.deepEqual(ids(await find(owner, form))[0], ['offer', offer, 'id'], form)
  assert.deepEqual(names(await find(owner, offer)), ['offer By id', `offer Copy of ${offer}`])
  const key = await made(owner, 'api-keys', { name: 'A key' })
  assert.deepEqual(ids(await find(owner, key)), [['api_key', key, 'id']])
})

test('clicks, conversions and people are found by their ids and by those that others gave them', async () => {
  const owner = await seedSignedIn(house)
  const campaign = await made(owner, 'campaigns', { name: 'Camp', ...redirect })
  const click_id = await seedClick(house.database, owner.org_id, { campaign_id: toUuid(campaign) ?? null })
  await house.database.worker.query("update clicks set ref_id = 'r 1' where org_id = $1", [owner.org_id])
  const click = toWireId(click_id)
  const event = await made(owner, 'events', { clickId: click, type: 'lead', nonce: 'T-77' })
  const bot = await seedBot(house.database, owner.org_id, `b${owner.org_id}`)
  const start = await made(owner, 'events', {
    clickId: click,
    type: 'bot_start',
    payload: { telegram_user_id: '987654321', bot_id: toWireId(bot) },
  })
  assert.deepEqual(await find(owner, click), [{ kind: 'click', id: click, name: 'Camp', found_by: 'id' }])
  assert.deepEqual(ids(await find(owner, '"r 1"')), [['click', click, 'ref_id']])
  assert.deepEqual(await find(owner, 'T-77'), [
    { kind: 'event', id: event, name: 'lead T-77', found_by: 'transaction_id' },
  ])
  assert.deepEqual(ids(await find(owner, start)), [['event', start, 'id']])
  const [person, ...more] = await find(owner, '987654321')
  assert.deepEqual([person?.kind, person?.found_by, more], ['person', 'telegram_user_id', []])
  assert.deepEqual(ids(await find(owner, person?.id ?? '')), [['person', person?.id, 'id']])
  const reply = await house.call('POST', `/api/bots/${toWireId(bot)}/subscribers`, {
    cookie: owner.cookie,
    body: { user_ids: [987654321], started_the_bot: true },
  })
  assert.equal(reply.statusCode, 200, reply.body)
  assert.deepEqual((await find(owner, '987654321')).map(({ kind }) => kind).toSorted(), ['person', 'subscriber'])
  for (const none of ['t-77', 'T-7', 'r 2', '98765432', newId()]) assert.deepEqual(await find(owner, none), [], none)
})

test('nobody finds another organization’s objects, deleted ones, or what the role hides', async () => {
  const owner = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const stranger = await seedSignedIn(house)
  const offer = await made(owner, 'offers', { name: 'Hidden one', url: URL })
  const key = await made(owner, 'api-keys', { name: 'Hidden key' })
  const view = await made(owner, 'explore-views', {
    name: 'Hidden view',
    question: { levels: [{ dimension: 'geo' }] },
  })
  const own = await made(member, 'api-keys', { name: 'Hidden own key' })
  await house.call('POST', '/api/invitations', {
    cookie: owner.cookie,
    body: { email: `hidden-${owner.org_id}@example.com`, role: 'member' },
  })
  const click = toWireId(await seedClick(house.database, owner.org_id))
  const event = await made(owner, 'events', { clickId: click, type: 'lead', nonce: 'hidden-nonce' })
  const seenBy = async (as: SignedIn) => (await find(as, 'hidden')).map(({ kind }) => kind).toSorted()
  assert.deepEqual(await seenBy(owner), ['api_key', 'api_key', 'invitation', 'offer', 'view'])
  assert.deepEqual(await seenBy(member), ['api_key', 'offer'])
  assert.deepEqual(ids(await find(member, own)), [['api_key', own, 'id']])
  for (const id of [key, view]) assert.deepEqual(await find(member, id), [])
  for (const q of [offer, key, view, own, click, event, 'hidden', 'hidden-nonce', owner.email])
    assert.deepEqual(await find(stranger, q), [], q)
  const gone = await house.call('DELETE', `/api/offers/${offer}`, { cookie: owner.cookie })
  assert.equal(gone.statusCode, 200, gone.body)
  assert.deepEqual(await find(owner, offer), [])
})

test('at most 30 are found, and a text too short, too long or sent by a key is refused', async () => {
  const owner = await seedSignedIn(house)
  await house.database.worker.query(
    `insert into landings (org_id, id, name, url, status, created_at, updated_at)
     select $1, gen_random_uuid(), case when n % 100 = 0 then 'many ' else 'of many ' end || n, 'https://l.example/', 'active', now(), now() + n * interval '1 second'
     from generate_series(1, 5000) n`,
    [owner.org_id],
  )
  const found = await find(owner, 'many')
  assert.equal(found.length, 30)
  assert.deepEqual(names(found.slice(0, 2)), ['landing many 5000', 'landing many 4900'])
  assert.ok(found.every(({ name }) => name.startsWith('many')))
  for (const wrong of ['q=a', 'q=', 'q=%20%22a%22', `q=${'x'.repeat(201)}`, '', 'q=a%00b'])
    assert.equal((await house.call('GET', `/api/find?${wrong}`, { cookie: owner.cookie })).statusCode, 400, wrong)
  const { secret: key } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  const refused = await house.call('GET', '/api/find?q=many', { key })
  assert.deepEqual([refused.statusCode, refused.data()['code']], [403, 'api_key_resource_forbidden'])
})
