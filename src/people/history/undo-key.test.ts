// Everything that a key changed since a moment is put back in one act, or nothing is.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedKey, type TestHouse, toWireId, useHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { callTool } from '../../../tests/support/tools.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Row = { id: string; undoes_id: string | null; change: string; kind: string; act_id: string; object_name: string }
const OFFER = { name: 'Casino', url: 'https://o.example/', payout: '7' }

/** A workspace with an offer of its owner, and a key whose tools change things. */
async function workspace() {
  const owner = await seedSignedIn(house)
  const { secret, key_id } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  const call = (method: 'GET' | 'PUT' | 'POST', url: string, body?: unknown, as: SignedIn = owner) =>
    house.call(method, url, { cookie: as.cookie, ...(body === undefined ? {} : { body }) })
  const offer_id = String((await call('POST', '/api/offers', OFFER)).data()['id'])
  const did = async (name: string, args: Record<string, unknown>) => {
    const { isError, structuredContent } = await callTool(house, secret, `service_${name}`, args)
    assert.equal(isError, undefined, JSON.stringify(structuredContent))
    return structuredContent
  }
  const seen = async () => (await call('GET', `/api/offers/${offer_id}`)).data()
  const rows = async () => (await call('GET', `/api/history?actor=${toWireId(key_id)}`)).data()['data'] as Row[]
  const undo = (body: object, as?: SignedIn) => call('POST', `/api/api-keys/${toWireId(key_id)}/undo`, body, as)
  return { owner, offer_id, call, did, seen, rows, undo }
}

const EVER = '2020-01-01T00:00:00Z'

test('all changes of the key are put back, newest first and in one act that can be put back itself', async () => {
  const { offer_id, call, did, seen, undo } = await workspace()
  await did('update_offer', { offer_id, name: 'First', url: 'https://first.example/' })
  await did('update_offer', { offer_id, name: 'Second', url: 'https://second.example/' })
  const made = await did('create_landing', { name: 'Story', url: 'https://page.example/' })
  await did('delete_offer', { offer_id })
  const reply = await undo({ since: EVER })
  assert.equal(reply.statusCode, 200, reply.body)
  const { act_id, data } = reply.json<{ act_id: string; data: Row[] }>()
  assert.equal(data.length, 4)
  assert.ok(data.every(row => row.act_id === act_id && row.undoes_id !== null))
  const { name, url, payout } = await seen()
  assert.deepEqual({ name, url, payout }, OFFER)
  assert.equal((await call('GET', `/api/landings/${String(made['id'])}`)).data()['status'], 'archived')
  // What was put back is left out, so a second call changes nothing.
  assert.deepEqual((await undo({ since: EVER })).data()['data'], [])
  const again = await call('POST', `/api/history/${data[0]?.id}/undo`, { whole_act: true })
  assert.equal(again.statusCode, 200, again.body)
  // The restored offer counts as created, and a creation is put back by archiving.
  const { name: last, status } = await seen()
  assert.deepEqual([last, status], ['Second', 'archived'])
})

test('only changes since the moment are put back, and none of people or other keys', async () => {
  const { offer_id, call, did, seen, rows, undo } = await workspace()
  await did('update_offer', { offer_id, name: 'Early', url: OFFER.url, payout: '7' })
  const [early] = await rows()
  const { created_at } = (await call('GET', `/api/history?act=${early?.act_id}`)).json<{
    data: { created_at: string }[]
  }>().data[0] ?? { created_at: '' }
  const since = new Date(Date.parse(created_at) + 1).toISOString()
  await did('set_offer_status', { offer_id, status: 'archived' })
  await call('POST', '/api/landings', { name: 'Of a person', url: 'https://page.example/' })
  const reply = await undo({ since })
  assert.equal((reply.data()['data'] as Row[]).length, 1, reply.body)
  const { name, status } = await seen()
  assert.deepEqual([name, status], ['Early', 'active'])
})

test('a row that cannot be put back refuses all, is named, and can be left out', async () => {
  const { offer_id, call, did, seen, rows, undo } = await workspace()
  await did('update_offer', { offer_id, name: 'By key', url: OFFER.url, payout: '7' })
  const campaign = await did('create_campaign', { name: 'Gone', redirect_url: 'https://shop.example/' })
  await did('delete_campaign', { campaign_id: campaign['id'] })
  const refused = await undo({ since: EVER })
  assert.deepEqual([refused.statusCode, refused.data()['code']], [409, 'cannot_undo'])
  const [deleted, created] = await rows()
  assert.match(String(refused.data()['error']), new RegExp(`^Gone \\(${deleted?.id}\\): the address of a deleted`))
  assert.equal((await seen())['name'], 'By key')
  const half = await undo({ since: EVER, leave_out: [deleted?.id] })
  assert.match(String(half.data()['error']), new RegExp(`^Gone \\(${created?.id}\\): `))
  // The offer was changed again by a person, so this row is refused too.
  await call('PUT', `/api/offers/${offer_id}`, { ...OFFER, name: 'By a person' })
  const changed = await undo({ since: EVER, leave_out: [deleted?.id, created?.id] })
  assert.deepEqual([changed.statusCode, changed.data()['code']], [409, 'changed_since'])
  await call('PUT', `/api/offers/${offer_id}`, { ...OFFER, name: 'By key' })
  const rest = await undo({ since: EVER, leave_out: [deleted?.id, created?.id] })
  assert.equal(rest.statusCode, 200, rest.body)
  assert.equal((await seen())['name'], OFFER.name)
})

test('of two calls at once one puts everything back', async () => {
  const { offer_id, did, seen, undo } = await workspace()
  await did('update_offer', { offer_id, name: 'By key', url: OFFER.url, payout: '7' })
  const replies = await Promise.all([undo({ since: EVER }), undo({ since: EVER })])
  const counts = replies.map(reply => (reply.data()['data'] as Row[]).length)
  assert.deepEqual(
    counts.toSorted((a, b) => a - b),
    [0, 1],
  )
  assert.equal((await seen())['name'], OFFER.name)
})

test('members are refused, and the key of another workspace is as if it were not there', async () => {
  const { owner, offer_id, did, seen, undo } = await workspace()
  await did('update_offer', { offer_id, name: 'By key', url: OFFER.url, payout: '7' })
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  assert.equal((await undo({ since: EVER }, member)).statusCode, 403)
  assert.equal((await undo({ since: EVER }, await seedSignedIn(house))).statusCode, 404)
  assert.equal((await undo({ since: 'yesterday' })).statusCode, 400)
  assert.equal((await seen())['name'], 'By key')
})
