import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { join, type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

/** As if they had an app or a passkey, whose own tests are beside signing in. */
const turn = (user_id: string, two_factor_enabled: boolean) =>
  house.database.kysely.updateTable('users').set({ two_factor_enabled }).where('id', '=', user_id).execute()

const require = ({ cookie }: SignedIn, required = true) =>
  house.call('PUT', '/api/second-factor-requirement', { cookie, body: { required } })

/** A workspace that asks for a second factor, its owner who has one, and an admin who has none. */
async function asking(): Promise<{ owner: SignedIn; admin: SignedIn; id: string }> {
  const owner = await seedSignedIn(house)
  await turn(owner.user_id, true)
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  const reply = await require(owner)
  assert.equal(reply.statusCode, 200, reply.body)
  assert.equal(reply.data()['requires_second_factor'], true)
  return { owner, admin, id: toWireId(owner.organization_id) }
}

const codeOf = async (reply: ReturnType<TestHouse['call']>) => {
  const { statusCode, data } = await reply
  return [statusCode, data()['code']]
}
const REQUIRED = [403, 'second_factor_required']

test('only owners and admins who have one ask for it, and may cease to', async () => {
  const owner = await seedSignedIn(house)
  assert.deepEqual(await codeOf(require(owner)), [409, 'second_factor_missing'])
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  await turn(member.user_id, true)
  assert.deepEqual(await codeOf(require(member)), [403, 'role_forbidden'])
  const { data } = (await house.call('GET', '/api/organizations', { cookie: owner.cookie })).json<{
    data: { requires_second_factor: boolean }[]
  }>()
  assert.deepEqual(
    data.map(one => one.requires_second_factor),
    [false],
  )
  await turn(owner.user_id, true)
  assert.equal((await require(owner)).statusCode, 200)
  await turn(owner.user_id, false)
  assert.deepEqual(await codeOf(require(owner, false)), REQUIRED)
  await turn(owner.user_id, true)
  const off = await require(owner, false)
  assert.equal(off.data()['requires_second_factor'], false)
  const { secret: key } = await seedKey(house.database, owner, { rights: ['clicks'] })
  const byKey = await house.call('PUT', '/api/second-factor-requirement', { key, body: { required: true } })
  assert.equal(byKey.data()['code'], 'api_key_resource_forbidden')
})

test('who has none is kept out of every route of the workspace by its session, and is let in with the next call that they have one', async () => {
  const { owner, admin, id } = await asking()
  const { cookie } = admin
  const before = await house.call('GET', '/api/organizations', { cookie })
  for (const [method, url, body] of [
    ['GET', '/api/members', undefined],
    ['GET', '/api/campaigns', undefined],
    ['POST', '/api/offers', { name: 'x', url: 'https://example.com/', payout: '1' }],
    ['POST', '/api/invitations', { email: 'x@example.com', role: 'member' }],
    ['POST', '/api/api-keys', { name: 'x' }],
    ['POST', '/api/events', { clickId: 'x', type: 'lead' }],
    ['PUT', '/api/second-factor-requirement', { required: false }],
    ['PATCH', `/api/organizations/${id}`, { name: 'Mine' }],
    ['DELETE', `/api/organizations/${id}`, undefined],
    ['POST', `/api/organizations/${id}/restore`, {}],
  ] as const) {
    if (url.includes(id)) await makeOwner(owner, admin)
    const reply = await house.call(method, url, { cookie, ...(body === undefined ? {} : { body }) })
    assert.deepEqual([reply.statusCode, reply.data()['code']], REQUIRED, `${method} ${url}: ${reply.body}`)
  }
  for (const url of ['/api/organizations', '/api/sessions', '/api/second-factor', '/api/preferences'])
    assert.equal((await house.call('GET', url, { cookie })).statusCode, 200, url)
  const state = await house.call('GET', '/api/second-factor', { cookie })
  assert.deepEqual(state.data()['required_by'], ['Acme'])
  assert.equal((await house.call('POST', `/api/organizations/${id}/activate`, { cookie })).statusCode, 200)
  const now = await house.call('GET', '/api/organizations', { cookie })
  assert.equal(
    before.json<{ data: { name: string }[] }>().data[0]?.name,
    now.json<{ data: { name: string }[] }>().data[0]?.name,
  )
  assert.equal((await house.call('GET', '/api/members', { cookie: owner.cookie })).statusCode, 200)
  await turn(admin.user_id, true)
  assert.equal((await house.call('GET', '/api/members', { cookie })).statusCode, 200)
  await turn(admin.user_id, false)
  assert.deepEqual(await codeOf(house.call('GET', '/api/members', { cookie })), REQUIRED)
})

/** Makes them an owner too, so that nothing but the missing factor speaks against them. */
async function makeOwner({ org_id }: SignedIn, { user_id }: SignedIn): Promise<void> {
  await house.database.kysely
    .updateTable('members')
    .set({ role: 'owner' })
    .where('org_id', '=', org_id)
    .where('user_id', '=', user_id)
    .execute()
}

test('keys go on as they did, whoever’s they are', async () => {
  const { admin } = await asking()
  const { secret: key } = await seedKey(house.database, admin, { rights: ['clicks', 'events'] })
  assert.equal((await house.call('GET', '/api/v1/clicks', { key })).statusCode, 200)
  assert.equal((await house.call('POST', '/api/events', { key, body: { clickId: 'x', type: 'lead' } })).statusCode, 403)
  const tools = await house.call('POST', '/api/mcp', {
    key,
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    headers: { accept: 'application/json, text/event-stream' },
  })
  assert.equal(tools.statusCode, 200)
})

test('from another workspace nobody grants, makes or enables a key for one whose second factor they lack', async () => {
  const { admin, id } = await asking()
  const other = await seedSignedIn(house)
  await join(house, other, admin.user_id, 'admin')
  const activated = await house.call('POST', `/api/organizations/${toWireId(other.organization_id)}/activate`, {
    cookie: admin.cookie,
  })
  assert.equal(activated.statusCode, 200)
  const { cookie } = admin
  assert.equal((await house.call('GET', '/api/members', { cookie })).statusCode, 200)
  const { key_id } = await seedKey(house.database, admin, { rights: ['clicks'] })
  const grant = { organization_id: id, read: ['clicks'], write: [], delete: [] }
  const key = `/api/api-keys/${toWireId(key_id)}`
  assert.deepEqual(await codeOf(house.call('PUT', `${key}/grant`, { cookie, body: grant })), REQUIRED)
  assert.deepEqual(await codeOf(house.call('PATCH', key, { cookie, body: { enabled: true } })), REQUIRED)
  // A fresh key acts where its owner was a member first.
  assert.deepEqual(await codeOf(house.call('POST', '/api/api-keys', { cookie, body: { name: 'Fresh' } })), REQUIRED)
  const mine = { ...grant, organization_id: toWireId(other.organization_id) }
  assert.equal((await house.call('PUT', `${key}/grant`, { cookie, body: mine })).statusCode, 200)
  assert.equal((await house.call('DELETE', key, { cookie })).statusCode, 200)
})

test('the list of members tells owners and admins who has one, and nobody else', async () => {
  const owner = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  await turn(member.user_id, true)
  const seen = async ({ cookie }: SignedIn) =>
    (await house.call('GET', '/api/members', { cookie }))
      .json<{ data: { has_second_factor: boolean | null }[] }>()
      .data.map(({ has_second_factor }) => has_second_factor)
  assert.deepEqual(await seen(owner), [false, true])
  assert.deepEqual(await seen(member), [null, null])
})
