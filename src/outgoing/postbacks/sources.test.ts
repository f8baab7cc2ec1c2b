// Postbacks of traffic sources: only the click's own source is called, with its own click id, and never without one.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { seedKey, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type Receiver, startReceiver } from '../../../tests/support/receiver.ts'
import { seedWorkspace } from '../../../tests/support/workspace.ts'
import { auditBooks } from '../../reading/audit/audit.ts'

let house: TestHouse
let receiver: Receiver
before(async () => {
  house = await useHouse()
  receiver = await startReceiver()
})
after(async () => {
  await house.end()
  await receiver.close()
})
afterEach(() => {
  receiver.arrivals.length = 0
})

/** A workspace with a source that its campaign uses, and one that no campaign uses. */
async function workspace() {
  const place = await seedWorkspace(house, receiver)
  const patch = async (url: string, body: object) => await house.call('PATCH', url, { ...place.as, body })
  const source = async (name: string) => String((await place.post('/api/traffic-sources', { name }, 201))['id'])
  const [own, other] = [await source('Own'), await source('Other')]
  const name = async (traffic_source_id: string | null) => {
    const reply = await patch(`/api/campaigns/${place.campaign_id}`, { traffic_source_id })
    assert.equal(reply.statusCode, 200, reply.body)
  }
  await name(own)
  const of = (traffic_source_id: string) =>
    place.rule({ traffic_source_id, url: `${receiver.origin}/${traffic_source_id}?id={ref_id}&r={revenue}` })
  return { ...place, patch, own, other, name, of }
}

test('of two sources only the one the click came from is told, with the click id as it came, encoded once', async () => {
  const { owner, own, other, of, click, convert } = await workspace()
  await of(own)
  await of(other)
  await convert(await click('ref_id=a%2Bb%2F%C3%BC'), { payout: '2.5' })
  await receiver.arrived(1)
  assert.deepEqual(
    receiver.arrivals.map(({ url }) => url),
    [`/${own}?id=a%2Bb%2F%C3%BC&r=2.5`],
  )
  assert.deepEqual(await auditBooks(house.database.reads, owner.org_id), [])
})

test('the source is the one the campaign has when the conversion is recorded, also before and after it changes', async () => {
  const { owner, own, other, of, name, click, convert, deliveries } = await workspace()
  const [ofOwn, ofOther] = [await of(own), await of(other)]
  const clickId = await click('ref_id=a')
  await convert(clickId, { nonce: '1' })
  await name(other)
  await convert(clickId, { nonce: '2' })
  await name(null)
  await convert(clickId, { nonce: '3' })
  assert.deepEqual(
    [(await deliveries(`target_id=${ofOwn}`)).length, (await deliveries(`target_id=${ofOther}`)).length],
    [1, 1],
  )
  assert.deepEqual(await auditBooks(house.database.reads, owner.org_id), [])
})

test('a click that came without an id is not told of: skipped, not called with an empty one', async () => {
  const { own, of, click, convert, deliveries } = await workspace()
  const id = await of(own)
  await convert(await click('ref_id={visitor}'))
  await eventually('the delivery is skipped', async () => {
    const [delivery] = await deliveries(`target_id=${id}`)
    return delivery?.['state'] === 'skipped' && String(delivery['reason']).startsWith('no_ref_id')
  })
  assert.deepEqual(
    receiver.arrivals.filter(({ url }) => url.includes(own)),
    [],
  )
})

test('a rule of a source is off while a placeholder is left, and cannot be switched on before', async () => {
  const { own, post, patch, rule } = await workspace()
  const url = 'https://source.example/cb?aid=YOUR_AID&id={ref_id}'
  const refused = await house.call('POST', '/api/postbacks', {
    cookie: (await workspace()).owner.cookie,
    body: { event_type: 'lead', url, active: true },
  })
  assert.equal(refused.statusCode, 201, 'without a source it is an address like any other')
  const body = { event_type: 'lead', url, traffic_source_id: own, active: true }
  const reply = await post('/api/postbacks', body, 400)
  assert.equal(reply['code'], 'placeholder_left')
  const id = await rule({ ...body, active: undefined })
  const on = await patch(`/api/postbacks/${id}`, { active: true })
  assert.deepEqual([on.statusCode, on.data()['code']], [400, 'placeholder_left'])
  const both = await patch(`/api/postbacks/${id}`, { active: true, url: url.replace('YOUR_AID', '7') })
  assert.deepEqual([both.statusCode, both.data()['active']], [200, true])
  const back = await patch(`/api/postbacks/${id}`, { url })
  assert.equal(back.data()['code'], 'placeholder_left')
})

test('a rule of a source names it alone and keeps it; a key and another organization name none', async () => {
  const { owner, own, other, of, post, patch, campaign_id } = await workspace()
  const id = await of(own)
  const shown = (await house.call('GET', `/api/postbacks/${id}`, { cookie: owner.cookie })).data()
  assert.deepEqual([shown['traffic_source_id'], shown['campaign_id']], [own, null])
  const listed = await house.call('GET', `/api/postbacks?traffic_source_id=${own}`, { cookie: owner.cookie })
  assert.deepEqual(listed.data()['data'], [shown])
  const draft = { event_type: 'lead', url: 'https://source.example/?id={ref_id}', traffic_source_id: own }
  assert.match(String((await post('/api/postbacks', { ...draft, campaign_id }, 400))['error']), /^campaign_id/)
  assert.match((await patch(`/api/postbacks/${id}`, { traffic_source_id: other })).body, /traffic_source_id/)
  assert.match((await patch(`/api/postbacks/${id}`, { campaign_id })).body, /campaign_id/)
  const { secret } = await seedKey(house.database, owner, { rights: ['postbacks'] })
  const byKey = await house.call('POST', '/api/postbacks', { key: secret, body: draft })
  assert.deepEqual([byKey.statusCode, byKey.data()['code']], [403, 'api_key_resource_forbidden'])
  const stranger = await workspace()
  const theirs = await stranger.post('/api/postbacks', draft, 400)
  assert.match(String(theirs['error']), /no such traffic source/)
})

test('a run over the past tells a source of its own clicks alone, and a test fire takes one that has an id', async () => {
  const { owner, own, other, of, post, click, convert } = await workspace()
  const clickId = await click('ref_id=a')
  await convert(clickId)
  const [mine, theirs] = [await of(own), await of(other)]
  const planOf = async (id: string) => await post(`/api/postbacks/${id}/backfill`, { dry_run: true })
  assert.equal((await planOf(mine))['count'], 1)
  assert.equal((await planOf(theirs))['count'], 0)
  await click('')
  const fired = await post(`/api/postbacks/${mine}/test`, {})
  assert.equal(fired['click_id'], clickId)
  const none = await post(`/api/postbacks/${theirs}/test`, {}, 409)
  assert.equal(none['code'], 'no_click_yet')
  assert.deepEqual(await auditBooks(house.database.reads, owner.org_id), [])
})

test('a version that knows no sources calls such a rule for no campaign', async () => {
  const { own, of, campaign_id } = await workspace()
  await of(own)
  const { rows } = await house.database.reads.query<{ campaign_id: string }>(
    'select campaign_id from postback_rules where traffic_source_id is not null',
  )
  for (const row of rows) assert.ok(row.campaign_id !== null && row.campaign_id !== campaign_id)
  assert.ok(rows.length > 0)
})
