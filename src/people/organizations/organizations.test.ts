import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { raceInto } from '../../../tests/support/blocked.ts'
import { seedKey, seedOrganization, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { join, type SignedIn, seedPerson, seedSession, seedSignedIn } from '../../../tests/support/people.ts'
import { newId, toUuid, toWireId } from '../../contract/ids.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Reply = Awaited<ReturnType<TestHouse['call']>>
type Place = { id: string; name: string; role: string; active: boolean; deleted_at: string | null }

const statusesOf = (replies: Reply[]) => replies.map(({ statusCode }) => statusCode).sort((a, b) => a - b)
const refusalOf = (reply: Reply) => [reply.statusCode, reply.data()['code']]
const placesOf = async (cookie: string) =>
  (await house.call('GET', '/api/organizations', { cookie })).json<{ data: Place[] }>().data

const actsIn = async (cookie: string) => (await placesOf(cookie)).find(({ active }) => active)?.name

type MemberRow = { id: string; user_id: string; role: string; is_you: boolean }
const membersOf = async ({ cookie }: SignedIn) =>
  (await house.call('GET', '/api/members', { cookie })).json<{ data: MemberRow[] }>().data
const memberOf = async (asker: SignedIn, { user_id }: SignedIn) =>
  (await membersOf(asker)).find(member => member.user_id === toWireId(user_id))?.id ?? 'none'

const setRole = async (asker: SignedIn, of: SignedIn, role: string) =>
  house.call('PATCH', `/api/members/${await memberOf(asker, of)}`, { cookie: asker.cookie, body: { role } })
const remove = async (asker: SignedIn, of: SignedIn) =>
  house.call('DELETE', `/api/members/${await memberOf(asker, of)}`, { cookie: asker.cookie })

const newcomer = async () => {
  const user_id = await seedPerson(house)
  return { user_id, cookie: await seedSession(house, user_id) }
}

test('founding an organization makes its founder the owner, opens its balance and acts in it', async () => {
  const cookie = await seedSession(house, await seedPerson(house))
  assert.deepEqual(await placesOf(cookie), [])
  assert.deepEqual(refusalOf(await house.call('GET', '/api/members', { cookie })), [409, 'no_organization'])
  const reply = await house.call('POST', '/api/organizations', { cookie, body: { name: ' North ' } })
  assert.equal(reply.statusCode, 201)
  assert.deepEqual([reply.data()['name'], reply.data()['role'], reply.data()['active']], ['North', 'owner', true])
  assert.ok(!reply.body.includes('org_id'))
  const { org_id } = await house.database.kysely
    .selectFrom('organizations')
    .select('org_id')
    .where('id', '=', toUuid(String(reply.data()['id'])) ?? '')
    .executeTakeFirstOrThrow()
  const { balance } = await house.database.kysely
    .selectFrom('balances')
    .select('balance')
    .where('org_id', '=', org_id)
    .executeTakeFirstOrThrow()
  assert.ok(org_id > 0)
  assert.equal(Number(balance), 10)
  assert.equal((await house.call('POST', '/api/organizations', { cookie, body: { name: ' ' } })).statusCode, 400)
})

test('nobody founds more workspaces than the setting allows, also not two at once, by deleting or by restoring', async () => {
  const { cookie, user_id } = await newcomer()
  const found = () => house.call('POST', '/api/organizations', { cookie, body: { name: 'One more' } })
  const ids: string[] = []
  for (let at = 0; at < 9; at += 1) ids.push(String((await found()).data()['id']))
  // Where they were invited does not count, not even as an owner.
  await join(house, await seedSignedIn(house), user_id, 'owner')
  const hold = `select from users where id = '${user_id}' for update`
  assert.deepEqual(statusesOf(await raceInto(house.database, hold, [found, found])), [201, 409])
  const refused = await found()
  assert.deepEqual(refusalOf(refused), [409, 'organization_limit'])
  assert.match(String(refused.data()['error']), /^one person may create at most 10 workspaces/)

  const first = `/api/organizations/${ids[0]}`
  assert.equal((await house.call('DELETE', first, { cookie })).statusCode, 200)
  assert.equal((await found()).statusCode, 201)
  assert.deepEqual(refusalOf(await house.call('POST', `${first}/restore`, { cookie })), [409, 'organization_limit'])
  assert.equal((await placesOf(cookie)).filter(({ deleted_at }) => deleted_at === null).length, 11, 'ten and the other')
  assert.equal((await house.call('DELETE', `/api/organizations/${ids[1]}`, { cookie })).statusCode, 200)
  assert.equal((await house.call('POST', `${first}/restore`, { cookie })).statusCode, 200)
  // A restore by another owner makes no room, and a lower role of the founder does not either.
  const partner = await newcomer()
  const shared = house.database.kysely.selectFrom('organizations').select('org_id')
  await join(
    house,
    await shared.where('id', '=', toUuid(ids[2] ?? '') ?? '').executeTakeFirstOrThrow(),
    partner.user_id,
    'owner',
  )
  await house.call('DELETE', `/api/organizations/${ids[2]}`, { cookie })
  assert.equal((await found()).statusCode, 201)
  const byPartner = await house.call('POST', `/api/organizations/${ids[2]}/restore`, { cookie: partner.cookie })
  assert.deepEqual(refusalOf(byPartner), [409, 'organization_limit'])
  await house.database.kysely.updateTable('members').set({ role: 'admin' }).where('user_id', '=', user_id).execute()
  assert.deepEqual(refusalOf(await found()), [409, 'organization_limit'])
  const other = await newcomer()
  const theirs = await house.call('POST', '/api/organizations', { cookie: other.cookie, body: { name: 'Theirs' } })
  assert.equal(theirs.statusCode, 201)
})

test('a session acts where it was set to, without that in the earliest living membership', async () => {
  const { cookie, user_id } = await seedSignedIn(house)
  const second = (await house.call('POST', '/api/organizations', { cookie, body: { name: 'Second' } })).data()
  const other = await seedSession(house, user_id)
  assert.deepEqual([await actsIn(cookie), await actsIn(other)], ['Second', 'Acme'])
  const [first] = await placesOf(cookie)
  assert.equal((await house.call('POST', `/api/organizations/${first?.id}/activate`, { cookie })).statusCode, 200)
  assert.equal(await actsIn(cookie), 'Acme')
  await house.call('DELETE', `/api/organizations/${first?.id}`, { cookie })
  assert.deepEqual([await actsIn(cookie), await actsIn(other)], ['Acme', 'Second'])
  assert.equal(
    (await house.call('POST', `/api/organizations/${String(second['id'])}/activate`, { cookie })).statusCode,
    200,
  )
})

test('an organization one is not in is as if it were not there', async () => {
  const { cookie } = await seedSignedIn(house)
  const foreign = toWireId((await seedOrganization(house.database)).organization_id)
  for (const id of [foreign, toWireId(newId()), 'nonsense']) {
    const replies = [
      await house.call('PATCH', `/api/organizations/${id}`, { cookie, body: { name: 'Mine' } }),
      await house.call('DELETE', `/api/organizations/${id}`, { cookie }),
      await house.call('POST', `/api/organizations/${id}/restore`, { cookie }),
      await house.call('POST', `/api/organizations/${id}/activate`, { cookie }),
    ]
    assert.deepEqual(statusesOf(replies), [404, 404, 404, 404])
  }
})

test('only owners rename, delete and restore', async () => {
  const owner = await seedSignedIn(house)
  const id = toWireId(owner.organization_id)
  for (const role of ['admin', 'member'] as const) {
    const { cookie } = await seedSignedIn(house, { place: owner, role })
    const replies = [
      await house.call('PATCH', `/api/organizations/${id}`, { cookie, body: { name: 'Mine' } }),
      await house.call('DELETE', `/api/organizations/${id}`, { cookie }),
      await house.call('POST', `/api/organizations/${id}/restore`, { cookie }),
    ]
    assert.deepEqual(replies.map(refusalOf), Array(3).fill([403, 'role_forbidden']))
  }
  assert.equal(
    (await house.call('PATCH', `/api/organizations/${id}`, { cookie: owner.cookie, body: { name: 'Ours' } })).data()[
      'name'
    ],
    'Ours',
  )
})

test('a deleted organization answers 409 to its people and its keys until it is restored, and nothing is lost', async () => {
  const owner = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const { secret: key } = await seedKey(house.database, owner, { rights: ['events'] })
  const report = () => house.call('POST', '/api/events', { key, body: {} })
  const id = toWireId(owner.organization_id)
  const deleted = await house.call('DELETE', `/api/organizations/${id}`, { cookie: owner.cookie })
  assert.ok(deleted.data()['deleted_at'])
  const again = await house.call('DELETE', `/api/organizations/${id}`, { cookie: owner.cookie })
  assert.equal(again.data()['deleted_at'], deleted.data()['deleted_at'])
  for (const { cookie } of [owner, member])
    assert.deepEqual(refusalOf(await house.call('GET', '/api/members', { cookie })), [409, 'org_deleted'])
  assert.deepEqual(refusalOf(await report()), [409, 'org_deleted'])
  assert.deepEqual(refusalOf(await house.call('POST', `/api/organizations/${id}/activate`, { cookie: owner.cookie })), [
    409,
    'org_deleted',
  ])
  assert.deepEqual(
    refusalOf(await house.call('PATCH', `/api/organizations/${id}`, { cookie: owner.cookie, body: { name: 'x' } })),
    [409, 'org_deleted'],
  )
  assert.equal((await placesOf(owner.cookie))[0]?.deleted_at, deleted.data()['deleted_at'])
  const restored = await house.call('POST', `/api/organizations/${id}/restore`, { cookie: owner.cookie })
  assert.equal(restored.data()['deleted_at'], null)
  assert.equal((await membersOf(owner)).length, 2)
  // Let in again: what is missing now is the body.
  assert.equal((await report()).statusCode, 400)
})

test('a deleted organization is listed for its owners, and for others only while they act in it', async () => {
  const owner = await seedSignedIn(house)
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  await house.call('DELETE', `/api/organizations/${toWireId(owner.organization_id)}`, { cookie: owner.cookie })
  assert.equal(await actsIn(admin.cookie), 'Acme')
  await house.call('POST', '/api/organizations', { cookie: admin.cookie, body: { name: 'Own' } })
  assert.deepEqual(
    (await placesOf(admin.cookie)).map(({ name }) => name),
    ['Own'],
  )
  assert.equal((await placesOf(owner.cookie)).length, 1)
})

test('members are listed to all of them, and to nobody else', async () => {
  const owner = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const stranger = await seedSignedIn(house)
  assert.deepEqual(
    (await membersOf(member)).map(({ role, is_you }) => [role, is_you]),
    [
      ['owner', false],
      ['member', true],
    ],
  )
  assert.equal((await membersOf(stranger)).length, 1)
  const foreign = await memberOf(owner, member)
  assert.equal(
    (await house.call('PATCH', `/api/members/${foreign}`, { cookie: stranger.cookie, body: { role: 'owner' } }))
      .statusCode,
    404,
  )
  assert.equal((await house.call('DELETE', `/api/members/${foreign}`, { cookie: stranger.cookie })).statusCode, 404)
  assert.equal((await membersOf(owner)).length, 2)
})

test('admins change members, only owners make, change and remove owners', async () => {
  const owner = await seedSignedIn(house)
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  assert.deepEqual(refusalOf(await setRole(member, member, 'admin')), [403, 'role_forbidden'])
  assert.deepEqual(refusalOf(await setRole(admin, owner, 'member')), [403, 'role_forbidden'])
  assert.deepEqual(refusalOf(await setRole(admin, admin, 'owner')), [403, 'role_forbidden'])
  assert.deepEqual(refusalOf(await remove(admin, owner)), [403, 'role_forbidden'])
  assert.deepEqual(refusalOf(await remove(member, admin)), [403, 'role_forbidden'])
  assert.equal((await setRole(admin, member, 'god')).statusCode, 400)
  assert.equal((await setRole(admin, member, 'admin')).data()['role'], 'admin')
  assert.equal((await setRole(owner, admin, 'owner')).data()['role'], 'owner')
  assert.equal((await setRole(admin, owner, 'member')).data()['role'], 'member')
  assert.equal((await remove(admin, owner)).statusCode, 200)
  assert.deepEqual((await membersOf(admin)).map(({ role }) => role).toSorted(), ['admin', 'owner'])
})

test('a member may leave, and is out at once', async () => {
  const owner = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  assert.equal((await remove(member, member)).statusCode, 200)
  assert.deepEqual(refusalOf(await house.call('GET', '/api/members', { cookie: member.cookie })), [
    409,
    'no_organization',
  ])
})

test('an organization keeps an owner, whatever two of them do at once', async () => {
  const owner = await seedSignedIn(house)
  assert.deepEqual(refusalOf(await remove(owner, owner)), [409, 'last_owner'])
  assert.deepEqual(refusalOf(await setRole(owner, owner, 'admin')), [409, 'last_owner'])
  for (const leave of [(one: SignedIn) => remove(one, one), (one: SignedIn) => setRole(one, one, 'member')]) {
    const first = await seedSignedIn(house)
    const second = await seedSignedIn(house, { place: first, role: 'owner' })
    assert.deepEqual(statusesOf(await Promise.all([leave(first), leave(second)])), [200, 409])
    const owners = await house.database.kysely
      .selectFrom('members')
      .select('id')
      .where('org_id', '=', first.org_id)
      .where('role', '=', 'owner')
      .execute()
    assert.equal(owners.length, 1)
  }
})

test('no key reaches organizations, members or invitations', async () => {
  const owner = await seedSignedIn(house)
  const { secret: key } = await seedKey(house.database, owner, { rights: ['events', 'campaigns'] })
  for (const url of ['/api/organizations', '/api/members', '/api/invitations', '/api/sessions'])
    assert.deepEqual(refusalOf(await house.call('GET', url, { key })), [403, 'api_key_resource_forbidden'])
  assert.equal(
    (await house.call('POST', '/api/invitations', { key, body: { email: 'x@example.com' } })).statusCode,
    403,
  )
})

test('the members of one organization never meet another', async () => {
  const here = await seedSignedIn(house)
  const there = await seedSignedIn(house)
  await join(house, there, here.user_id, 'member')
  const id = toWireId(there.organization_id)
  assert.equal((await membersOf(here)).length, 1)
  await house.call('POST', `/api/organizations/${id}/activate`, { cookie: here.cookie })
  assert.deepEqual((await membersOf(here)).map(({ role }) => role).toSorted(), ['member', 'owner'])
  assert.deepEqual(refusalOf(await house.call('GET', '/api/invitations', { cookie: here.cookie })), [
    403,
    'role_forbidden',
  ])
})
