import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedKey, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedPlainCampaign, seedClick, seedRule } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import type * as networksApi from '../../intake/networks/api.ts'
import type { Trace } from './api.ts'

let house: TestHouse
let owner: SignedIn
let other: SignedIn
before(async () => {
  house = await startHouse({ ROLE: 'serve' })
  owner = await seedSignedIn(house)
  other = await seedSignedIn(house)
})
after(() => house.end())

const trace = (id: string, as: { cookie?: string; key?: string } = owner) =>
  house.call('GET', `/api/clicks/${id}/trace`, as)
const record = async (body: object) => {
  const { secret } = await seedKey(house.database, owner, { rights: ['events'] })
  return await house.call('POST', '/api/events', { key: secret, body })
}

test('a trace has the click, its events, charges, every delivery with its attempts, and refusals', async () => {
  const campaign_id = await seedPlainCampaign(house.database, owner.org_id)
  const click = await seedClick(house.database, owner.org_id, { campaign_id, sub1: 'video-3' })
  const wire = toWireId(click)
  await seedRule(house.database, owner.org_id, { event_type: 'lead' })
  await record({ clickId: wire, type: 'lead', payout: '2', payload: { telegram_user_id: 9 } })
  await record({ clickId: wire, type: 'deposit', payout: '5.5', nonce: 'd', payload: { telegram_user_id: 9 } })
  const made = await house.call('POST', '/api/networks', { ...owner, body: { name: 'Net', template: 'plain' } })
  const path = new URL(made.json<networksApi.Network>().postback_url).pathname
  await house.call('GET', `${path}?subid=${wire}&payout=1,5`)
  const { rows } = await house.database.reads.query<{ id: string }>('select id from deliveries where org_id = $1', [
    owner.org_id,
  ])
  await house.database.kysely
    .insertInto('delivery_attempts')
    .values({
      org_id: owner.org_id,
      delivery_id: rows[0]?.id ?? '',
      number: 1,
      started_at: new Date().toISOString(),
      method: 'GET',
      url: `https://tracker.example/?c=${wire}`,
      status: 200,
    })
    .execute()

  for (const form of [wire, wire.toUpperCase(), click]) {
    const found = (await trace(form)).json<Trace>()
    assert.equal(found.click_id, wire)
    assert.equal(found.click?.campaign_id, toWireId(campaign_id))
    assert.deepEqual(
      [found.click?.sub1, found.click?.status, found.click?.stages],
      ['video-3', 'deposit', ['clicked', 'lead', 'deposit']],
    )
    assert.equal(found.click?.revenue, '7.5')
    assert.deepEqual(new Set(found.events.map(({ type }) => type)), new Set(['lead', 'deposit']))
    assert.deepEqual(
      found.events.flatMap(({ charge }) => charge ?? []),
      ['0.05'],
    )
    assert.deepEqual(
      found.persons.map(({ telegram_user_id, charge, charged_here }) => [telegram_user_id, charge, charged_here]),
      [['9', '0.05', true]],
    )
    assert.deepEqual(
      found.deliveries.map(({ state, event_type, history }) => [state, event_type, history.length]),
      [['pending', 'lead', 1]],
    )
    assert.deepEqual(
      found.refused.map(({ diagnosis }) => diagnosis),
      ['payout_invalid'],
    )
    assert.equal(found.truncated, false)
  }
})

test('withheld fields of a click are in no trace', async () => {
  const click = await seedClick(house.database, owner.org_id, { visitor_id: newId() })
  await house.database.kysely
    .updateTable('clicks')
    .set({ fbclid: 'fb-secret', user_agent: 'agent-secret', ip_hash: Buffer.from('hash') })
    .where('org_id', '=', owner.org_id)
    .where('id', '=', click)
    .execute()
  const reply = await trace(toWireId(click))
  assert.deepEqual(reply.json<Trace>().click?.ad_click_ids, ['fbclid'])
  for (const name of ['visitor_id', 'ip_hash', 'user_agent', 'org_id', 'fb-secret', 'agent-secret', 'suppressed'])
    assert.ok(!reply.body.includes(name), name)
})

test('a click that only refused intake names is traced without the click; an id that nothing names is not found', async () => {
  const id = toWireId(newId())
  assert.equal((await trace(id)).statusCode, 404)
  const made = await house.call('POST', '/api/networks', { ...owner, body: { name: 'Net', template: 'plain' } })
  const path = new URL(made.json<networksApi.Network>().postback_url).pathname
  await house.call('GET', `${path}?subid=${id}`)
  const found = (await trace(id)).json<Trace>()
  assert.deepEqual([found.click, found.events.length, found.refused.length], [null, 0, 1])
  for (const wrong of ['nonsense', '%00', '{click_id}']) assert.equal((await trace(wrong)).statusCode, 404)
})

test('another organization’s click is as if it were not there, and keys trace nothing', async () => {
  const click = toWireId(await seedClick(house.database, owner.org_id))
  assert.equal((await trace(click)).statusCode, 200)
  assert.equal((await trace(click, other)).statusCode, 404)
  const { secret } = await seedKey(house.database, owner, { rights: ['clicks', 'events', 'report'] })
  assert.equal((await trace(click, { key: secret })).data()['code'], 'api_key_resource_forbidden')
  assert.equal((await trace(click, {})).statusCode, 401)
})

test('a trace that is cut says so', async () => {
  const click = toWireId(await seedClick(house.database, owner.org_id))
  await Promise.all(
    Array.from({ length: 105 }, (_, at) => record({ clickId: click, type: 'deposit', nonce: String(at), payout: '1' })),
  )
  const found = (await trace(click)).json<Trace>()
  assert.deepEqual([found.events.length, found.truncated, found.click?.revenue], [100, true, '105'])
})

test('conversions, deliveries and the trace of a deleted campaign show its name', async () => {
  const place = await seedSignedIn(house)
  const stranger = await seedSignedIn(house)
  const [gone, live] = [
    await seedPlainCampaign(house.database, place.org_id),
    await seedPlainCampaign(house.database, place.org_id),
  ]
  await seedRule(house.database, place.org_id, { event_type: 'lead' })
  const clicks = [gone, live].map(async campaign_id =>
    toWireId(await seedClick(house.database, place.org_id, { campaign_id })),
  )
  const [ofGone = '', ofLive = ''] = await Promise.all(clicks)
  for (const clickId of [ofGone, ofLive])
    await house.call('POST', '/api/events', { cookie: place.cookie, body: { clickId, type: 'lead' } })
  const path = `/api/campaigns/${toWireId(gone)}`
  await house.call('PUT', `${path}/status`, { cookie: place.cookie, body: { status: 'archived' } })
  assert.equal((await house.call('DELETE', path, { cookie: place.cookie })).statusCode, 200)
  const named = async (url: string, { cookie } = place) =>
    (await house.call('GET', url, { cookie })).data()['campaigns']
  const [deleted, other] = [
    { id: toWireId(gone), name: 'Campaign', is_deleted: true },
    { id: toWireId(live), name: 'Campaign', is_deleted: false },
  ]
  const both = [deleted, other].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  assert.deepEqual(await named('/api/events'), both)
  assert.deepEqual(await named(`/api/events?click_id=${ofLive}`), [other])
  assert.deepEqual(await named('/api/deliveries'), both)
  assert.deepEqual(await named(`/api/deliveries?click_id=${ofGone}`), [deleted])
  assert.deepEqual(await named(`/api/clicks/${ofGone}/trace`), [deleted])
  assert.deepEqual(await named('/api/events', stranger), [])
  assert.deepEqual(await named('/api/deliveries', stranger), [])
})
