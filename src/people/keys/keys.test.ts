import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { seedKey, seedOrganization, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { join, type SignedIn, seedSession, seedSignedIn } from '../../../tests/support/people.ts'
import { newId, toUuid, toWireId } from '../../contract/ids.ts'
import { firstCharacters, hashSecret, hasSecretForm, newSecret } from './secret.ts'

let house: TestHouse
let owner: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
})
after(() => house.end())

const inOrder = (rows: unknown[]) => rows.map(row => JSON.stringify(row)).toSorted((a, b) => a.localeCompare(b))

type Reply = Awaited<ReturnType<TestHouse['call']>>
type Listed = {
  id: string
  name: string
  state: string
  permission_state: string
  organization: { id: string } | null
  is_yours: boolean
}

const refusalOf = (reply: Reply) => [reply.statusCode, reply.data()['code']]
const listed = async (cookie: string) =>
  (await house.call('GET', '/api/api-keys', { cookie })).json<{ data: Listed[] }>().data
const stateOf = async (cookie: string, id: string) => (await listed(cookie)).find(key => key.id === id)?.state
const patch = (id: string, body: unknown, cookie = owner.cookie) =>
  house.call('PATCH', `/api/api-keys/${id}`, { cookie, body })
const revoke = (id: string, cookie = owner.cookie) => house.call('DELETE', `/api/api-keys/${id}`, { cookie })

/** How intake answers the key: 401 refused, 403 known but not allowed, 400 let in and asked for a body. */
const tried = async (key: string) => (await house.call('POST', '/api/events', { key, body: {} })).statusCode

async function create(
  name = 'Integration',
  cookie = owner.cookie,
): Promise<{ id: string; secret: string; reply: Reply }> {
  const reply = await house.call('POST', '/api/api-keys', { cookie, body: { name } })
  assert.equal(reply.statusCode, 201, reply.body)
  return { id: String(reply.data()['id']), secret: String(reply.data()['secret']), reply }
}

test('a secret has its form and its checksum, and any slip breaks it', () => {
  const secret = newSecret()
  assert.match(secret, /^sluice_[0-9A-Za-z]{49}$/)
  assert.ok(hasSecretForm(secret))
  assert.equal(new Set(Array.from({ length: 100 }, newSecret)).size, 100)
  fc.assert(
    fc.property(fc.nat(secret.length - 1), fc.constantFrom('0', 'a', 'Z', '_', ' ', '-'), (at, letter) => {
      const slipped = secret.slice(0, at) + letter + secret.slice(at + 1)
      assert.equal(hasSecretForm(slipped), slipped === secret)
    }),
  )
  for (const text of ['', 'sluice_', `${secret}x`, secret.slice(1), ` ${secret}`])
    assert.equal(hasSecretForm(text), false)
})

test('creating shows the secret once; no reply, row or list has it again', async () => {
  const { id, secret, reply } = await create(' Network A ')
  assert.equal(reply.headers['cache-control'], 'no-store')
  assert.ok(hasSecretForm(secret))
  assert.deepEqual(
    [reply.data()['name'], reply.data()['state'], reply.data()['permission_state']],
    ['Network A', 'accepted', 'fresh'],
  )
  const later = [
    await house.call('GET', '/api/api-keys', { cookie: owner.cookie }),
    await house.call('GET', `/api/api-keys/${id}/grant`, { cookie: owner.cookie }),
    await patch(id, { enabled: true }),
    await revoke(id),
  ]
  for (const { statusCode, body } of later) {
    assert.equal(statusCode, 200)
    assert.ok(!body.includes(secret) && !body.includes('"secret"') && !body.includes('hash'))
  }
  const tables = ['api_keys', 'api_key_grants', 'api_key_uses'] as const
  const dump = JSON.stringify(
    await Promise.all(tables.map(table => house.database.kysely.selectFrom(table).selectAll().execute())),
  )
  assert.ok(dump.includes(firstCharacters(secret)))
  assert.ok(!dump.includes(secret.slice(firstCharacters(secret).length)))
  const { hash } = await house.database.kysely
    .selectFrom('api_keys')
    .select('hash')
    .where('id', '=', toUuid(id) ?? '')
    .executeTakeFirstOrThrow()
  assert.deepEqual(hash, hashSecret(secret))
})

test('a key needs a name', async () => {
  for (const body of [{}, { name: '' }, { name: '  ' }, { name: 7 }, { name: 'x'.repeat(201) }])
    assert.equal((await house.call('POST', '/api/api-keys', { cookie: owner.cookie, body })).statusCode, 400)
})

test('a revoked key is refused from the next call on, for ever', async () => {
  const { id, secret } = await create()
  assert.equal(await tried(secret), 400)
  assert.equal((await revoke(id)).statusCode, 200)
  assert.equal(await tried(secret), 401)
  assert.equal(await stateOf(owner.cookie, id), 'revoked')
  assert.equal((await revoke(id)).statusCode, 200)
  assert.deepEqual(refusalOf(await patch(id, { enabled: true })), [409, 'key_revoked'])
  const grant = { organization_id: toWireId(owner.organization_id), write: ['events'] }
  const save = await house.call('PUT', `/api/api-keys/${id}/grant`, { cookie: owner.cookie, body: grant })
  assert.deepEqual(refusalOf(save), [409, 'key_revoked'])
  assert.deepEqual(refusalOf(await house.call('DELETE', `/api/api-keys/${id}/grant`, { cookie: owner.cookie })), [
    409,
    'key_revoked',
  ])
  assert.equal(await tried(secret), 401)
})

test('a key is disabled and enabled, and expires', async () => {
  const { id, secret } = await create()
  assert.equal((await patch(id, { enabled: false })).data()['state'], 'disabled')
  assert.equal(await tried(secret), 401)
  assert.equal((await patch(id, { enabled: true })).data()['state'], 'accepted')
  assert.equal(await tried(secret), 400)
  const past = await patch(id, { expires_at: '2026-01-01' })
  assert.deepEqual([past.data()['state'], past.data()['expires_at']], ['expired', '2026-01-01T00:00:00.000Z'])
  assert.equal(await tried(secret), 401)
  const future = new Date(Date.now() + 3_600_000).toISOString()
  assert.equal((await patch(id, { expires_at: future })).data()['expires_at'], future)
  assert.equal(await tried(secret), 400)
  assert.equal((await patch(id, { expires_at: null })).data()['expires_at'], null)
  assert.equal((await patch(id, {})).data()['state'], 'accepted')
  const wrong = [
    'soon',
    '1',
    'March 7 2031',
    '2030-02-30',
    '2030-01-01T25:00',
    '+275760-09-13T00:00:00.000Z',
    '0000-01-01',
  ]
  for (const expires_at of [...wrong, '9999-12-31T24:00:00Z', '9999-12-31T23:00:00-05:00'])
    assert.equal((await patch(id, { expires_at })).data()['error'], 'expires_at: is not an ISO 8601 time', expires_at)
  assert.equal((await patch(id, { enabled: 'yes' })).statusCode, 400)
  const zoned = await patch(id, { expires_at: '2030-01-01T00:00:00 02:00' })
  assert.equal(zoned.data()['expires_at'], '2029-12-31T22:00:00.000Z')
})

test('rotation: the new key works beside the old one, and the old one ends alone', async () => {
  const old = await create('Old')
  const fresh = await create('New')
  assert.deepEqual([await tried(old.secret), await tried(fresh.secret)], [400, 400])
  await revoke(old.id)
  assert.deepEqual([await tried(old.secret), await tried(fresh.secret)], [401, 400])
})

test('members see their own keys, owners and admins all that act in the organization', async () => {
  const place = await seedSignedIn(house)
  const admin = await seedSignedIn(house, { place, role: 'admin' })
  const member = await seedSignedIn(house, { place, role: 'member' })
  const stranger = await seedSignedIn(house)
  const ofMember = await create('fresh of the member', member.cookie)
  const ofAdmin = await seedKey(house.database, admin, { rights: ['events'] })
  await create('elsewhere', stranger.cookie)
  assert.deepEqual(
    (await listed(member.cookie)).map(({ id, is_yours }) => [id, is_yours]),
    [[ofMember.id, true]],
  )
  const seen = (await listed(place.cookie)).map(({ id, is_yours }) => [id, is_yours])
  const both = [
    [toWireId(ofAdmin.key_id), false],
    [ofMember.id, false],
  ]
  assert.deepEqual(inOrder(seen), inOrder(both))
  assert.equal((await listed(admin.cookie)).length, 2)
})

test('a fresh key is shown where its owner’s earliest membership is, a granted one where its grant is', async () => {
  const first = await seedOrganization(house.database)
  const second = await seedSignedIn(house)
  await join(house, second, first.user_id, 'admin')
  const fresh = await seedKey(house.database, first)
  const granted = await seedKey(house.database, { ...second, user_id: first.user_id }, { rights: ['clicks'] })
  const unticked = await seedKey(house.database, { ...second, user_id: first.user_id }, { rights: [] })
  const states = (await listed(second.cookie)).map(({ id, permission_state }) => [id, permission_state])
  const both = [
    [toWireId(granted.key_id), 'granted'],
    [toWireId(unticked.key_id), 'granted'],
  ]
  assert.deepEqual(inOrder(states), inOrder(both))
  const cookie = await seedSession(house, first.user_id)
  const all = await listed(cookie)
  assert.equal(all.length, 3)
  assert.equal(all.find(({ id }) => id === toWireId(fresh.key_id))?.organization?.id, toWireId(first.organization_id))
})

test('what one may not see is as if it were not there', async () => {
  const { id, secret } = await create()
  const stranger = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  for (const { cookie } of [stranger, member])
    for (const wire of [id, toWireId(newId()), 'nonsense']) {
      const url = `/api/api-keys/${wire}`
      const body = { organization_id: toWireId(stranger.organization_id), write: ['events'] }
      const replies = [
        await patch(wire, { enabled: false }, cookie),
        await revoke(wire, cookie),
        await house.call('GET', `${url}/grant`, { cookie }),
        await house.call('PUT', `${url}/grant`, { cookie, body }),
        await house.call('DELETE', `${url}/grant`, { cookie }),
      ]
      assert.deepEqual(
        replies.map(({ statusCode }) => statusCode),
        [404, 404, 404, 404, 404],
      )
    }
  assert.equal(await tried(secret), 400)
})

test('owners and admins revoke the keys of others; only a key’s owner enables, disables and grants', async () => {
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  const { id, secret } = await create('of a colleague', admin.cookie)
  const url = `/api/api-keys/${id}/grant`
  const body = { organization_id: toWireId(owner.organization_id), write: ['events'] }
  assert.equal((await house.call('GET', url, { cookie: owner.cookie })).statusCode, 200)
  for (const reply of [
    await patch(id, { enabled: false }),
    await house.call('PUT', url, { cookie: owner.cookie, body }),
    await house.call('DELETE', url, { cookie: owner.cookie }),
  ])
    assert.deepEqual(refusalOf(reply), [403, 'role_forbidden'])
  assert.equal(await tried(secret), 400)
  assert.equal((await revoke(id)).statusCode, 200)
  assert.equal(await tried(secret), 401)
})

test('no key reads, changes or makes keys; no cookie and no key is asked to sign in', async () => {
  const { id, secret: key } = await create()
  const calls = [
    ['GET', '/api/api-keys'],
    ['POST', '/api/api-keys'],
    ['PATCH', `/api/api-keys/${id}`],
    ['DELETE', `/api/api-keys/${id}`],
    ['GET', `/api/api-keys/${id}/grant`],
    ['PUT', `/api/api-keys/${id}/grant`],
    ['DELETE', `/api/api-keys/${id}/grant`],
  ] as const
  for (const [method, url] of calls) {
    assert.deepEqual(refusalOf(await house.call(method, url, { key })), [403, 'api_key_resource_forbidden'])
    assert.equal((await house.call(method, url, { key: newSecret() })).statusCode, 401)
    assert.equal((await house.call(method, url, { headers: { origin: 'http://localhost:8080' } })).statusCode, 401)
  }
  assert.equal(await tried(key), 400)
})
