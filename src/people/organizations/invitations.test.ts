import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { raceInto } from '../../../tests/support/blocked.ts'
import { useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedPerson, seedSession, seedSignedIn } from '../../../tests/support/people.ts'
import { newId, toUuid, toWireId } from '../../contract/ids.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Reply = Awaited<ReturnType<TestHouse['call']>>
const refusalOf = (reply: Reply) => [reply.statusCode, reply.data()['code']]

const invite = ({ cookie }: SignedIn, email: string, role?: string) =>
  house.call('POST', '/api/invitations', { cookie, body: { email, ...(role === undefined ? {} : { role }) } })
/** The secret of the link that the inviter is shown. */
const secretOf = (sent: Reply) => String(sent.data()['link']).split('/').at(-1) ?? ''
const open = (secret: string) => house.call('GET', `/api/invitation-links/${secret}`)
const accept = (cookie: string, secret: string) =>
  house.call('POST', `/api/invitation-links/${secret}/accept`, { cookie })
const openOnes = async ({ cookie }: SignedIn) =>
  (await house.call('GET', '/api/invitations', { cookie })).json<{
    data: { id: string; email: string; state: string; has_link: boolean }[]
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
  const secret = secretOf(sent)
  const week = Date.parse(String(sent.data()['expires_at'])) - Date.parse(String(sent.data()['created_at']))
  assert.equal(week, 7 * 24 * 3600 * 1000)
  const page = await open(secret)
  assert.deepEqual(
    [page.data()['organization'], page.data()['has_account'], page.data()['role']],
    ['Acme', true, 'admin'],
  )
  assert.ok(!page.body.includes('org_id'))
  const joined = await accept(invited.cookie, secret)
  assert.deepEqual([joined.data()['role'], joined.data()['active']], ['admin', true])
  assert.deepEqual(refusalOf(await accept(invited.cookie, secret)), [409, 'invitation_invalid'])
  assert.deepEqual(refusalOf(await open(secret)), [409, 'invitation_invalid'])
  assert.deepEqual(await openOnes(owner), [])
})

test('two acceptances at once make one membership', async () => {
  const owner = await seedSignedIn(house)
  const invited = await newcomer('twice@example.com')
  const secret = secretOf(await invite(owner, 'twice@example.com'))
  const twice = [() => accept(invited.cookie, secret), () => accept(invited.cookie, secret)]
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
  const inviteAgain = async () => {
    const sent = await invite(owner, 'right@example.com')
    return { id: String(sent.data()['id']), secret: secretOf(sent) }
  }
  const mine = await inviteAgain()
  assert.deepEqual(refusalOf(await accept(other.cookie, mine.secret)), [409, 'invitation_invalid'])
  assert.equal((await house.call('DELETE', `/api/invitations/${mine.id}`, { cookie: owner.cookie })).statusCode, 200)
  assert.deepEqual(refusalOf(await accept(invited.cookie, mine.secret)), [409, 'invitation_invalid'])
  const expired = await inviteAgain()
  const past = new Date(Date.now() - 1).toISOString()
  await house.database.kysely
    .updateTable('invitations')
    .set({ expires_at: past })
    .where('id', '=', toUuid(expired.id) ?? '')
    .execute()
  assert.deepEqual(
    (await openOnes(owner)).map(({ state }) => state),
    ['expired'],
  )
  assert.deepEqual(refusalOf(await accept(invited.cookie, expired.secret)), [409, 'invitation_invalid'])
  for (const unknown of [toWireId(newId()), 'nonsense']) {
    assert.deepEqual(refusalOf(await accept(invited.cookie, unknown)), [409, 'invitation_invalid'])
    assert.equal((await open(unknown)).statusCode, 404)
  }
  const last = await inviteAgain()
  await house.call('DELETE', `/api/organizations/${toWireId(owner.organization_id)}`, { cookie: owner.cookie })
  assert.deepEqual(refusalOf(await accept(invited.cookie, last.secret)), [409, 'org_deleted'])
  assert.equal((await open(last.secret)).statusCode, 409)
  const members = await house.database.kysely
    .selectFrom('members')
    .select('id')
    .where('org_id', '=', owner.org_id)
    .execute()
  assert.equal(members.length, 1)
})

test('inviting again replaces the earlier invitation and its link', async () => {
  const owner = await seedSignedIn(house)
  const first = await invite(owner, 'again@example.com')
  const second = await invite(owner, 'AGAIN@example.com')
  assert.deepEqual(
    (await openOnes(owner)).map(({ id, state, has_link }) => [id, state, has_link]),
    [[second.data()['id'], 'pending', true]],
  )
  assert.deepEqual(refusalOf(await open(secretOf(first))), [409, 'invitation_invalid'])
  assert.equal((await open(secretOf(second))).statusCode, 200)
})

test('an admin who sees an owner’s invitation cannot use it and gets no link for it', async () => {
  const owner = await seedSignedIn(house)
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  const email = 'heir@example.com'
  await invite(owner, email, 'owner')
  const heir = await newcomer(email)
  const listed = await house.call('GET', '/api/invitations', { cookie: admin.cookie })
  const [row] = listed.json<{ data: Record<string, unknown>[] }>().data
  for (const value of Object.values(row ?? {}))
    assert.deepEqual(refusalOf(await accept(heir.cookie, encodeURIComponent(String(value)))), [
      409,
      'invitation_invalid',
    ])
  assert.deepEqual(refusalOf(await invite(admin, email, 'owner')), [403, 'role_forbidden'])
  assert.deepEqual(
    (await openOnes(owner)).map(one => one.email),
    [email],
  )
})

test('a link that the inviter is shown proves no address', async () => {
  const owner = await seedSignedIn(house)
  const invited = await newcomer('unproved@example.com')
  assert.equal((await accept(invited.cookie, secretOf(await invite(owner, 'unproved@example.com')))).statusCode, 200)
  const session = await house.call('GET', '/api/auth/get-session', { cookie: invited.cookie })
  assert.equal(session.json<{ user: { emailVerified: boolean } }>().user.emailVerified, false)
})

type Demoted = { name: string; change: (owner: SignedIn, inviter: SignedIn) => Promise<Reply>; left: string[] }
const memberId = async (asker: SignedIn, { user_id }: SignedIn) => {
  const { data } = (await house.call('GET', '/api/members', asker)).json<{ data: { id: string; user_id: string }[] }>()
  return data.find(member => member.user_id === toWireId(user_id))?.id ?? 'none'
}
const setRole = async (asker: SignedIn, of: SignedIn, role: string) =>
  house.call('PATCH', `/api/members/${await memberId(asker, of)}`, { cookie: asker.cookie, body: { role } })
const remove = async (asker: SignedIn, of: SignedIn) =>
  house.call('DELETE', `/api/members/${await memberId(asker, of)}`, { cookie: asker.cookie })

const CHANGES: Demoted[] = [
  { name: 'is removed', change: remove, left: [] },
  { name: 'leaves', change: (_, inviter) => remove(inviter, inviter), left: [] },
  { name: 'becomes a member', change: (owner, inviter) => setRole(owner, inviter, 'member'), left: [] },
  {
    name: 'becomes an admin',
    change: (owner, inviter) => setRole(owner, inviter, 'admin'),
    left: ['a-admin@example.com', 'a-member@example.com'],
  },
]

for (const { name, change, left } of CHANGES)
  test(`when an owner ${name}, their open invitations to roles they may not give are withdrawn, and nobody else’s`, async () => {
    const owner = await seedSignedIn(house)
    const inviter = await seedSignedIn(house, { place: owner, role: 'owner' })
    const elsewhere = await seedSignedIn(house)
    await invite(owner, 'kept@example.com', 'owner')
    await invite(elsewhere, 'a-owner@example.com', 'owner')
    const secrets: Record<string, string> = {}
    for (const role of ['owner', 'admin', 'member'])
      secrets[role] = secretOf(await invite(inviter, `a-${role}@example.com`, role))
    assert.equal((await change(owner, inviter)).statusCode, 200)
    assert.deepEqual((await openOnes(owner)).map(({ email }) => email).toSorted(), [...left, 'kept@example.com'])
    assert.deepEqual(refusalOf(await open(secrets['owner'] ?? '')), [409, 'invitation_invalid'])
    assert.equal((await openOnes(elsewhere)).length, 1)
  })

test('who accepts while the inviter is being demoted waits, and is refused', async () => {
  const owner = await seedSignedIn(house)
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  const invited = await newcomer('waits@example.com')
  const secret = secretOf(await invite(admin, 'waits@example.com', 'admin'))
  const hold = `update members set role = 'member' where org_id = ${owner.org_id} and user_id = '${admin.user_id}';
    select from organizations where org_id = ${owner.org_id} for no key update`
  const [reply] = await raceInto(house.database, hold, [() => accept(invited.cookie, secret)])
  assert.deepEqual(reply && refusalOf(reply), [409, 'invitation_invalid'])
})

test('however an invitation, its acceptance and the removal of its inviter meet, nothing stays open', async () => {
  const owner = await seedSignedIn(house)
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  const invited = await newcomer('races@example.com')
  const secret = secretOf(await invite(admin, 'races@example.com', 'admin'))
  const member = await memberId(owner, admin)
  const hold = `select from organizations where org_id = ${owner.org_id} for no key update`
  const [removed, accepted, sent] = await raceInto(house.database, hold, [
    () => house.call('DELETE', `/api/members/${member}`, { cookie: owner.cookie }),
    () => accept(invited.cookie, secret),
    () => invite(admin, 'second@example.com', 'admin'),
  ])
  assert.equal(removed?.statusCode, 200)
  assert.deepEqual(accepted && refusalOf(accepted), [409, 'invitation_invalid'])
  assert.deepEqual(sent && refusalOf(sent), [403, 'role_forbidden'])
  assert.deepEqual(await openOnes(owner), [])
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

test('five mails an hour invite one address; a further invitation is made and shows its link', async () => {
  const owner = await seedSignedIn(house)
  const sent: Reply[] = []
  for (let asked = 0; asked < 7; asked += 1) sent.push(await invite(owner, 'Flooded@example.com'))
  assert.deepEqual(
    sent.map(reply => [reply.statusCode, reply.data()['mail']]),
    [...Array.from({ length: 5 }, () => [201, 'logged']), [201, 'failed'], [201, 'failed']],
  )
  assert.equal((await open(secretOf(sent[6] ?? assert.fail()))).statusCode, 200)
  const other = await seedSignedIn(house)
  assert.equal((await invite(other, 'flooded@example.com')).data()['mail'], 'failed')
  assert.equal((await invite(other, 'unflooded@example.com')).data()['mail'], 'logged')
})

test('a person invites thirty times an hour; the next is refused before anything is written', async () => {
  const owner = await seedSignedIn(house)
  for (let asked = 0; asked < 30; asked += 1)
    assert.equal((await invite(owner, `guest${asked}@example.com`)).statusCode, 201)
  const refused = await invite(owner, 'guest0@example.com')
  assert.deepEqual(refusalOf(refused), [429, 'rate_limited'])
  assert.ok(Number(refused.headers['retry-after']) > 3000)
  assert.equal((await openOnes(owner)).length, 30)
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  assert.equal((await invite(admin, 'guest30@example.com')).statusCode, 201)
})

test('another organization’s invitations are as if they were not there', async () => {
  const owner = await seedSignedIn(house)
  const stranger = await seedSignedIn(house)
  const sent = await invite(owner, 'apart@example.com')
  const id = String(sent.data()['id'])
  assert.deepEqual(await openOnes(stranger), [])
  assert.equal((await house.call('DELETE', `/api/invitations/${id}`, { cookie: stranger.cookie })).statusCode, 404)
  await invite(stranger, 'apart@example.com')
  assert.equal((await openOnes(owner)).length, 1)
  assert.equal((await open(secretOf(sent))).statusCode, 200)
})
