import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { raceInto } from '../../../tests/support/blocked.ts'
import { startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedPerson, seedSession, seedSignedIn } from '../../../tests/support/people.ts'
import { newId, toUuid, toWireId } from '../../contract/ids.ts'

let house: TestHouse
before(async () => {
  house = await startHouse()
})
after(() => house.end())

type Reply = Awaited<ReturnType<TestHouse['call']>>
const refusalOf = (reply: Reply) => [reply.statusCode, reply.data()['code']]

const invite = ({ cookie }: SignedIn, email: string, role?: string) =>
  house.call('POST', '/api/invitations', { cookie, body: { email, ...(role === undefined ? {} : { role }) } })
const accept = (cookie: string, id: string) => house.call('POST', `/api/invitations/${id}/accept`, { cookie })
const openOnes = async ({ cookie }: SignedIn) =>
  (await house.call('GET', '/api/invitations', { cookie })).json<{
    data: { id: string; email: string; state: string }[]
  }>().data

async function newcomer(email: string): Promise<{ cookie: string; user_id: string }> {
  const user_id = await seedPerson(house, email)
  return { user_id, cookie: await seedSession(house, user_id) }
}

test('an invited address joins with its role and acts there; the invitation is used up', async () => {
  const owner = await seedSignedIn(house)
  const invited = await newcomer('join@example.com')
  const sent = await invite(owner, 'Join@Example.com', 'admin')
  assert.deepEqual([sent.statusCode, sent.data()['email'], sent.data()['mail']], [201, 'join@example.com', 'logged'])
  const id = String(sent.data()['id'])
  const week = Date.parse(String(sent.data()['expires_at'])) - Date.parse(String(sent.data()['created_at']))
  assert.equal(week, 7 * 24 * 3600 * 1000)
  const page = await house.call('GET', `/api/invitations/${id}`)
  assert.deepEqual(
    [page.data()['organization'], page.data()['has_account'], page.data()['role']],
    ['Acme', true, 'admin'],
  )
  assert.ok(!page.body.includes('org_id'))
  const joined = await accept(invited.cookie, id)
  assert.deepEqual([joined.data()['role'], joined.data()['active']], ['admin', true])
  assert.deepEqual(refusalOf(await accept(invited.cookie, id)), [409, 'invitation_invalid'])
  assert.deepEqual(refusalOf(await house.call('GET', `/api/invitations/${id}`)), [409, 'invitation_invalid'])
  assert.deepEqual(await openOnes(owner), [])
})

test('two acceptances at once make one membership', async () => {
  const owner = await seedSignedIn(house)
  const invited = await newcomer('twice@example.com')
  const id = String((await invite(owner, 'twice@example.com')).data()['id'])
  const twice = [() => accept(invited.cookie, id), () => accept(invited.cookie, id)]
  const both = await raceInto(house.database, 'lock table members in exclusive mode', twice)
  assert.deepEqual(
    both.map(({ statusCode }) => statusCode).sort((a, b) => a - b),
    [200, 409],
  )
  const rows = await house.database.kysely
    .selectFrom('members')
    .select('id')
    .where('user_id', '=', invited.user_id)
    .execute()
  assert.equal(rows.length, 1)
})

test('an invitation is no use to another address, withdrawn, expired, unknown or into a deleted organization', async () => {
  const owner = await seedSignedIn(house)
  const invited = await newcomer('right@example.com')
  const other = await newcomer('wrong@example.com')
  const open = async () => String((await invite(owner, 'right@example.com')).data()['id'])
  const mine = await open()
  assert.deepEqual(refusalOf(await accept(other.cookie, mine)), [409, 'invitation_invalid'])
  assert.equal((await house.call('DELETE', `/api/invitations/${mine}`, { cookie: owner.cookie })).statusCode, 200)
  assert.deepEqual(refusalOf(await accept(invited.cookie, mine)), [409, 'invitation_invalid'])
  const expired = await open()
  const past = new Date(Date.now() - 1).toISOString()
  await house.database.kysely
    .updateTable('invitations')
    .set({ expires_at: past })
    .where('id', '=', toUuid(expired) ?? '')
    .execute()
  assert.deepEqual(
    (await openOnes(owner)).map(({ state }) => state),
    ['expired'],
  )
  assert.deepEqual(refusalOf(await accept(invited.cookie, expired)), [409, 'invitation_invalid'])
  for (const unknown of [toWireId(newId()), 'nonsense']) {
    assert.deepEqual(refusalOf(await accept(invited.cookie, unknown)), [409, 'invitation_invalid'])
    assert.equal((await house.call('GET', `/api/invitations/${unknown}`)).statusCode, 404)
  }
  const last = await open()
  await house.call('DELETE', `/api/organizations/${toWireId(owner.organization_id)}`, { cookie: owner.cookie })
  assert.deepEqual(refusalOf(await accept(invited.cookie, last)), [409, 'org_deleted'])
  assert.equal((await house.call('GET', `/api/invitations/${last}`)).statusCode, 409)
  const members = await house.database.kysely
    .selectFrom('members')
    .select('id')
    .where('org_id', '=', owner.org_id)
    .execute()
  assert.equal(members.length, 1)
})

test('inviting again replaces the earlier invitation', async () => {
  const owner = await seedSignedIn(house)
  const first = String((await invite(owner, 'again@example.com')).data()['id'])
  const second = String((await invite(owner, 'AGAIN@example.com')).data()['id'])
  assert.deepEqual(
    (await openOnes(owner)).map(({ id, state }) => [id, state]),
    [[second, 'pending']],
  )
  assert.equal((await house.call('GET', `/api/invitations/${first}`)).statusCode, 409)
})

test('only owners invite owners, members invite nobody, and a member is not invited again', async () => {
  const owner = await seedSignedIn(house)
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  assert.deepEqual(refusalOf(await invite(admin, 'boss@example.com', 'owner')), [403, 'role_forbidden'])
  assert.deepEqual(refusalOf(await invite(member, 'x@example.com')), [403, 'role_forbidden'])
  assert.deepEqual(refusalOf(await invite(admin, admin.email)), [409, 'already_exists'])
  assert.equal((await invite(admin, 'no address')).statusCode, 400)
  assert.equal((await invite(owner, 'boss@example.com', 'owner')).statusCode, 201)
})

test('another organization’s invitations are as if they were not there', async () => {
  const owner = await seedSignedIn(house)
  const stranger = await seedSignedIn(house)
  const id = String((await invite(owner, 'apart@example.com')).data()['id'])
  assert.deepEqual(await openOnes(stranger), [])
  assert.equal((await house.call('DELETE', `/api/invitations/${id}`, { cookie: stranger.cookie })).statusCode, 404)
  await invite(stranger, 'apart@example.com')
  assert.equal((await openOnes(owner)).length, 1)
  assert.equal((await house.call('GET', `/api/invitations/${id}`)).statusCode, 200)
})
