import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import type * as api from './api.ts'
import { TEMPLATE_NAMES } from './api.ts'

let house: TestHouse
let owner: SignedIn
let other: SignedIn
let member: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  other = await seedSignedIn(house)
  member = await seedSignedIn(house, { place: owner, role: 'member' })
})
after(() => house.end())

const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, as: SignedIn, body?: unknown) =>
  house.call(method, url, { cookie: as.cookie, ...(body === undefined ? {} : { body }) })
const make = async (template = 'plain', as = owner) => {
  const reply = await call('POST', '/api/networks', as, { name: 'Net', template })
  assert.equal(reply.statusCode, 201, reply.body)
  return reply.json<api.Network>()
}
const rows = async () => {
  const { rows } = await house.database.reads.query<{ all: string }>(
    `select md5(coalesce(string_agg(n::text, '' order by id), '')) as all from networks n`,
  )
  return rows[0]?.all
}

test('a network is made from each template with an address to enter at the network', async () => {
  for (const template of TEMPLATE_NAMES) {
    const made = await make(template)
    assert.match(made.postback_url, /^http:\/\/localhost:8080\/postback\/[0-9a-z]{32}\?\w+=\{\w+\}&/)
    assert.match(made.offer_parameter, /^\w+=\{click_id\}$/)
    assert.deepEqual((await call('GET', `/api/networks/${made.id}`, owner)).json(), made)
  }
  const { postback_url } = await make('affise')
  assert.match(
    postback_url,
    /\?clickid=\{sub1\}&sum=\{sum\}&txid=\{transactionid\}&goal=\{goal\}&currency=\{currency\}&status=\{status\}$/,
  )
})

test('a member reads a network without the token of its address, also after a rotation', async () => {
  const own = await seedSignedIn(house)
  const [reader, admin] = [
    await seedSignedIn(house, { place: own, role: 'member' }),
    await seedSignedIn(house, { place: own, role: 'admin' }),
  ]
  const made = await make('plain', own)
  const rotated = (await call('POST', `/api/networks/${made.id}/rotate`, own, {})).json<api.Network>()
  const tokens = [made, rotated].map(
    ({ postback_url }) => new URL(postback_url).pathname.split('/')[2] ?? assert.fail(),
  )
  assert.notEqual(tokens[0], tokens[1])
  const read = async (as: SignedIn) => {
    const [one, all] = [await call('GET', `/api/networks/${made.id}`, as), await call('GET', '/api/networks', as)]
    assert.deepEqual(all.json<{ data: unknown[] }>().data, [one.json()])
    return one
  }
  for (const as of [own, admin]) assert.deepEqual((await read(as)).json(), rotated)
  const shown = await read(reader)
  for (const token of tokens) assert.ok(!shown.body.includes(token), shown.body)
  assert.deepEqual(shown.json(), {
    ...rotated,
    postback_url: rotated.postback_url.replace(tokens[1] ?? '', '********'),
    token_withheld: true,
  })
  // The masked URL belongs to no network.
  assert.equal((await house.call('GET', new URL(shown.json<api.Network>().postback_url).pathname)).statusCode, 404)
})

test('maps, lists and switches are changed, each by itself, and the address follows the map', async () => {
  const made = await make()
  const parameters = { ...made.parameters, click_id: ['my_click', 'subid'] }
  const changes: object[] = [
    { name: 'Renamed' },
    { parameters },
    { statuses: { won: 'ftd', lost: null } },
    { default_type: null },
    { unpaid_types: ['lead'] },
    { ips: ['203.0.113.0/24', '2001:db8::1'] },
    { active: false },
  ]
  for (const body of changes) {
    const reply = await call('PATCH', `/api/networks/${made.id}`, owner, body)
    assert.equal(reply.statusCode, 200, reply.body)
  }
  const { updated_at, postback_url, ...now } = (
    await call('GET', `/api/networks/${made.id}`, owner)
  ).json<api.Network>()
  const { updated_at: _, postback_url: before, ...was } = made
  assert.ok(updated_at >= made.updated_at)
  assert.deepEqual(now, Object.assign(was, ...changes))
  assert.equal(postback_url, before.replace('?click_id=', '?my_click='))
})

test('what cannot be a network is refused and leaves nothing behind', async () => {
  const { id, parameters } = await make()
  const before = await rows()
  for (const body of [undefined, {}, { name: 'x' }, { name: '', template: 'plain' }, { name: 'x', template: 'voluum' }])
    assert.equal((await call('POST', '/api/networks', owner, body)).statusCode, 400, JSON.stringify(body))
  const wrong: unknown[] = [
    { parameters: { click_id: ['a'] } },
    { parameters: { ...parameters, click_id: [] } },
    { parameters: { ...parameters, click_id: ['a b'] } },
    { parameters: { ...parameters, payout: ['token'] } },
    { parameters: { ...parameters, payout: ['access_token'] } },
    { parameters: { ...parameters, payout: ['pwd'] } },
    { statuses: { won: 'sale' } },
    { statuses: { '': 'lead' } },
    { statuses: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`w${at}`, 'lead'])) },
    { default_type: 'sale' },
    { ips: ['203.0.113.300'] },
    { ips: ['12'] },
    { ips: ['203.0.113.0/33'] },
    { ips: ['::1/129'] },
    { ips: ['example.com'] },
    { active: 'yes' },
  ]
  for (const body of wrong)
    assert.equal((await call('PATCH', `/api/networks/${id}`, owner, body)).statusCode, 400, JSON.stringify(body))
  for (const overlap_hours of [-1, 169, 1.5, '1'])
    assert.equal((await call('POST', `/api/networks/${id}/rotate`, owner, { overlap_hours })).statusCode, 400)
  assert.equal(await rows(), before)
})

test('members see networks, admins change them, keys do neither', async () => {
  const { id } = await make()
  assert.equal((await call('GET', '/api/networks', member)).statusCode, 200)
  assert.equal((await call('GET', `/api/networks/${id}`, member)).statusCode, 200)
  const { secret } = await seedKey(house.database, owner, { rights: ['events', 'postbacks'] })
  const before = await rows()
  const changes: ['POST' | 'PATCH' | 'DELETE', string, object][] = [
    ['POST', '/api/networks', { name: 'x', template: 'plain' }],
    ['PATCH', `/api/networks/${id}`, { name: 'x' }],
    ['POST', `/api/networks/${id}/rotate`, {}],
    ['DELETE', `/api/networks/${id}`, {}],
  ]
  for (const [method, url, body] of changes) {
    assert.equal((await call(method, url, member, body)).data()['code'], 'role_forbidden', url)
    assert.equal(
      (await house.call(method, url, { key: secret, body })).data()['code'],
      'api_key_resource_forbidden',
      url,
    )
    assert.equal((await house.call(method, url, { body })).statusCode, 403, url)
  }
  assert.equal((await house.call('GET', '/api/networks', { key: secret })).statusCode, 403)
  assert.equal(await rows(), before)
})

test('another organization’s network is as if it were not there', async () => {
  const { id } = await make('plain', other)
  const before = await rows()
  for (const at of [id, toWireId(newId()), 'nonsense']) {
    assert.equal((await call('GET', `/api/networks/${at}`, owner)).statusCode, 404)
    assert.equal((await call('PATCH', `/api/networks/${at}`, owner, { name: 'mine' })).statusCode, 404)
    assert.equal((await call('POST', `/api/networks/${at}/rotate`, owner, {})).statusCode, 404)
    assert.equal((await call('DELETE', `/api/networks/${at}`, owner)).statusCode, 404)
  }
  const list = (await call('GET', '/api/networks?limit=200', owner)).json<{ data: api.Network[] }>()
  assert.ok(list.data.every(network => network.id !== id))
  assert.equal(await rows(), before)
})

test('a deleted network is gone from lists and cannot be changed', async () => {
  const { id } = await make()
  assert.deepEqual((await call('DELETE', `/api/networks/${id}`, owner)).json(), { ok: true })
  assert.equal((await call('GET', `/api/networks/${id}`, owner)).statusCode, 404)
  assert.equal((await call('DELETE', `/api/networks/${id}`, owner)).statusCode, 404)
  assert.equal((await call('POST', `/api/networks/${id}/rotate`, owner, {})).statusCode, 404)
})

test('tokens are stored only encrypted and hashed', async () => {
  const { postback_url } = await make()
  const token = new URL(postback_url).pathname.split('/')[2] ?? ''
  const { rows } = await house.database.reads.query<{ text: string }>(
    `select n::text as text from networks n union all select t::text from network_tokens t`,
  )
  const hex = Buffer.from(token).toString('hex')
  assert.ok(rows.length > 0 && rows.every(({ text }) => !text.includes(token) && !text.includes(hex)))
})

test('twenty rotations at once leave one address that lasts', async () => {
  const { id } = await make()
  await Promise.all(
    Array.from({ length: 20 }, () => call('POST', `/api/networks/${id}/rotate`, owner, { overlap_hours: 0 })),
  )
  const { rows } = await house.database.reads.query<{ count: number }>(
    `select count(*)::int as count from network_tokens where expires_at is null and org_id = $1
     and network_id = (select id from networks where org_id = $1 order by id desc limit 1)`,
    [owner.org_id],
  )
  assert.equal(rows[0]?.count, 1)
})
