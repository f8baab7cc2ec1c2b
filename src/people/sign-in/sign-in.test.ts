import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ORIGIN, startHouse, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedPerson, seedSession, seedSignedIn } from '../../../tests/support/people.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { deleteExpiredSessions } from '../accounts/sessions.ts'

let house: TestHouse
before(async () => {
  house = await startHouse({ SIGN_UP: 'open' })
})
after(() => house.end())

const PASSWORD = 'correct horse battery'

type Reply = Awaited<ReturnType<TestHouse['call']>>

const statusesOf = (replies: Reply[]) => replies.map(({ statusCode }) => statusCode).sort((a, b) => a - b)

/** The cookies an answer sets, as the browser would send them back. */
function cookiesOf(reply: Reply): string {
  return [reply.headers['set-cookie'] ?? []]
    .flat()
    .map(line => line.split(';', 1)[0])
    .join('; ')
}

const post = (path: string, body: unknown, cookie = '') =>
  house.call('POST', `/api/auth${path}`, { body, headers: { origin: ORIGIN, cookie } })

let people = 0
async function signUp(on = house): Promise<{ cookie: string; email: string }> {
  people += 1
  const email = `person${people}@example.com`
  const reply = await on.call('POST', '/api/auth/sign-up/email', {
    body: { name: 'Ann', email, password: PASSWORD },
    headers: { origin: ORIGIN },
  })
  assert.equal(reply.statusCode, 200, reply.body)
  return { cookie: cookiesOf(reply), email }
}

const sessionsOf = async (cookie: string) =>
  (await house.call('GET', '/api/sessions', { cookie })).json<{ data: { id: string; current: boolean }[] }>().data

const isSignedIn = async (cookie: string) => (await house.call('GET', '/api/sessions', { cookie })).statusCode === 200

test('an account signs up, is signed in by an HttpOnly cookie, and no answer shows a token', async () => {
  const reply = await post('/sign-up/email', { name: ' Ann ', email: 'Ann@Example.com', password: PASSWORD })
  assert.equal(reply.statusCode, 200)
  assert.match(String(reply.headers['set-cookie']), /^sluice\.session_token=.*; Path=\/; HttpOnly; SameSite=Lax$/)
  const cookie = cookiesOf(reply)
  const session = await house.call('GET', '/api/auth/get-session', { cookie })
  const { user } = session.json<{ user: { id: string; name: string; email: string } }>()
  assert.deepEqual([user.name, user.email], ['Ann', 'ann@example.com'])
  assert.ok(toUuid(user.id) !== undefined && user.id.length === 26)
  const { token } = await house.database.kysely
    .selectFrom('sessions')
    .select('token')
    .where('user_id', '=', toUuid(user.id) ?? '')
    .executeTakeFirstOrThrow()
  for (const answer of [reply, session, await house.call('GET', '/api/sessions', { cookie })])
    assert.ok(!answer.body.includes(token) && !answer.body.includes('"token"'))
})

test('the right password signs in, a wrong one and an unknown address are told alike', async () => {
  const { email } = await signUp()
  const right = await post('/sign-in/email', { email: email.toUpperCase(), password: PASSWORD })
  assert.equal(right.statusCode, 200)
  assert.ok(await isSignedIn(cookiesOf(right)))
  const wrong = await post('/sign-in/email', { email, password: 'wrong horse' })
  const unknown = await post('/sign-in/email', { email: 'nobody@example.com', password: PASSWORD })
  assert.equal(wrong.statusCode, 401)
  assert.deepEqual([unknown.statusCode, unknown.body], [wrong.statusCode, wrong.body])
  assert.equal(wrong.data()['code'], 'INVALID_EMAIL_OR_PASSWORD')
})

test('what is no form, no path or no method of sign-in is refused in the common shape', async () => {
  const form = { name: 'Ann', email: 'short@example.com', password: PASSWORD }
  for (const wrong of [
    { password: 'too short' },
    { password: 'x'.repeat(129) },
    { email: 'no address' },
    { name: ' ' },
    { name: 'half \ud800 a pair' },
  ]) {
    const reply = await post('/sign-up/email', { ...form, ...wrong })
    assert.equal(reply.statusCode, 400, JSON.stringify(wrong))
    assert.ok(reply.data()['error'])
  }
  for (const path of ['/verify-password', '/revoke-session', '/delete-user', '/sign-in/email/', '/%73ign-out', '/ok'])
    assert.equal((await house.call('GET', `/api/auth${path}`)).data()['error'], 'not found')
  assert.equal((await post('/get-session', {})).statusCode, 404)
  assert.equal((await post('/sign-in/social', { provider: 'google' })).statusCode, 404)
})

test('sign-in routes need the Origin of the dashboard and take no API key', async () => {
  const { email } = await signUp()
  const body = { email, password: PASSWORD }
  assert.equal((await house.call('POST', '/api/auth/sign-in/email', { body })).statusCode, 403)
  const foreign = await house.call('POST', '/api/auth/sign-in/email', {
    body,
    headers: { origin: 'https://evil.example' },
  })
  assert.equal(foreign.statusCode, 403)
  const referred = await house.call('POST', '/api/auth/sign-in/email', { body, headers: { referer: ORIGIN } })
  assert.equal(referred.statusCode, 403)
  const withKey = await house.call('POST', '/api/auth/sign-in/email', {
    body,
    key: 'sluice_x',
    headers: { origin: ORIGIN },
  })
  assert.equal(withKey.statusCode, 403)
})

test('one address holds one account, also when two sign up at once', async () => {
  const form = { name: 'Twin', email: 'twin@example.com', password: PASSWORD }
  const both = await Promise.all([
    post('/sign-up/email', form),
    post('/sign-up/email', { ...form, email: 'TWIN@example.com' }),
  ])
  assert.deepEqual(statusesOf(both), [200, 409])
  const users = await house.database.kysely
    .selectFrom('users')
    .select('id')
    .where('email', '=', 'twin@example.com')
    .execute()
  assert.equal(users.length, 1)
})

test('a cookie that is none, forged or of an ended session lets nobody in', async () => {
  const { cookie } = await signUp()
  const [name = '', value = ''] = cookie.split('=')
  for (const bad of [
    '',
    'x',
    `${name}=`,
    `${name}=%`,
    `${name}=abc.def`,
    `${name}=${value}x`,
    `${name}=${value.split('.')[0]}.%ff`,
    `${name}=\u00ff`,
  ])
    assert.equal((await house.call('GET', '/api/sessions', { cookie: bad })).statusCode, 401, bad)
  assert.ok(await isSignedIn(cookie))
})

test('a session past its end is out', async () => {
  const { cookie } = await signUp()
  const [session] = await sessionsOf(cookie)
  await house.database.kysely
    .updateTable('sessions')
    .set({ expires_at: new Date(Date.now() - 1000).toISOString() })
    .where('id', '=', toUuid(session?.id ?? '') ?? '')
    .execute()
  assert.equal((await house.call('GET', '/api/sessions', { cookie })).statusCode, 401)
  const nobody = await house.call('GET', '/api/auth/get-session', { cookie })
  assert.deepEqual([nobody.body, nobody.headers['content-type']], ['null', 'application/json; charset=utf-8'])
})

test('signing out ends the session for whoever kept the cookie', async () => {
  const { cookie } = await signUp()
  assert.equal((await post('/sign-out', {}, cookie)).statusCode, 200)
  assert.equal(await isSignedIn(cookie), false)
})

test('a session is revoked by its id, at once, and only by its person', async () => {
  const { cookie, email } = await signUp()
  const other = cookiesOf(await post('/sign-in/email', { email, password: PASSWORD }))
  const sessions = await sessionsOf(cookie)
  assert.equal(sessions.length, 2)
  const theirs = sessions.find(session => !session.current)?.id ?? ''
  const stranger = await signUp()
  assert.equal((await house.call('DELETE', `/api/sessions/${theirs}`, { cookie: stranger.cookie })).statusCode, 404)
  assert.equal((await house.call('DELETE', '/api/sessions/nonsense', { cookie })).statusCode, 404)
  assert.ok(await isSignedIn(other))
  assert.equal((await house.call('DELETE', `/api/sessions/${theirs}`, { cookie })).statusCode, 200)
  assert.equal(await isSignedIn(other), false)
  assert.ok(await isSignedIn(cookie))
  assert.equal((await house.call('DELETE', `/api/sessions/${theirs}`, { cookie })).statusCode, 404)
})

test('a changed password ends every other session, keeps this one where it acted, and the old one is dead', async () => {
  const { cookie, email } = await signUp()
  const other = cookiesOf(await post('/sign-in/email', { email, password: PASSWORD }))
  for (const name of ['First', 'Second']) await house.call('POST', '/api/organizations', { cookie, body: { name } })
  const wrong = await post(
    '/change-password',
    { currentPassword: 'wrong horse', newPassword: 'a new password' },
    cookie,
  )
  assert.deepEqual([wrong.statusCode, wrong.data()['code']], [400, 'INVALID_PASSWORD'])
  assert.ok(await isSignedIn(other))
  const form = { currentPassword: PASSWORD, newPassword: 'a new password', revokeOtherSessions: false }
  const changed = await post('/change-password', form, cookie)
  assert.equal(changed.statusCode, 200)
  const fresh = cookiesOf(changed)
  assert.deepEqual([await isSignedIn(other), await isSignedIn(cookie), await isSignedIn(fresh)], [false, false, true])
  const { data } = (await house.call('GET', '/api/organizations', { cookie: fresh })).json<{
    data: { name: string; active: boolean }[]
  }>()
  assert.deepEqual(
    data.map(({ name, active }) => [name, active]),
    [
      ['First', false],
      ['Second', true],
    ],
  )
  assert.equal((await post('/sign-in/email', { email, password: PASSWORD })).statusCode, 401)
  assert.equal((await post('/sign-in/email', { email, password: 'a new password' })).statusCode, 200)
})

test('the list of sign-in sessions holds no token, and one is ended by what the list shows', async () => {
  const { cookie, email } = await signUp()
  const other = await post('/sign-in/email', { email, password: PASSWORD })
  const otherCookie = String(other.headers['set-cookie']).split(';', 1)[0] ?? ''
  const list = async (as: string) =>
    (await house.call('GET', '/api/auth/list-sessions', { cookie: as })).json<{ id: string; token: string }[]>()
  const listed = await list(cookie)
  assert.equal(listed.length, 2)
  for (const { id, token } of listed) {
    assert.equal(token, id)
    assert.ok(!cookie.includes(token) && !otherCookie.includes(token))
  }
  const stranger = await signUp()
  assert.equal((await post('/revoke-session', { token: listed[0]?.token }, stranger.cookie)).statusCode, 404)
  for (const { token } of listed) await post('/revoke-session', { token }, cookie)
  assert.equal((await house.call('GET', '/api/sessions', { cookie: otherCookie })).statusCode, 401)
  assert.equal(
    (await house.call('GET', '/api/auth/list-sessions', { cookie: stranger.cookie })).json<unknown[]>().length,
    1,
  )
})

test('the name changes, and nothing else that is sent with it', async () => {
  const { cookie } = await signUp()
  const image = 'data:image/png;base64,AAAA'
  const sent = { name: 'Bea', image, email: 'x@example.com', emailVerified: true }
  assert.equal((await post('/update-user', sent, cookie)).statusCode, 200)
  const { user } = (await house.call('GET', '/api/auth/get-session', { cookie })).json<{
    user: Record<string, unknown>
  }>()
  assert.deepEqual([user['name'], user['image'], user['emailVerified']], ['Bea', null, false])
  assert.notEqual(user['email'], 'x@example.com')
  assert.equal((await post('/update-user', { name: ' ' }, cookie)).statusCode, 400)
})

test('guessing is braked by address and succeeding is not counted', async () => {
  const { email } = await signUp()
  const from = (body: unknown, remoteAddress: string) =>
    house.app.inject({
      method: 'POST',
      url: '/api/auth/sign-in/email',
      headers: { host: 'localhost:8080', origin: ORIGIN },
      remoteAddress,
      payload: body as object,
    })
  const guess = () => from({ email, password: 'wrong horse' }, '192.0.2.7')
  for (let tries = 0; tries < 3; tries += 1)
    assert.equal((await from({ email, password: PASSWORD }, '192.0.2.7')).statusCode, 200)
  const guesses = await Promise.all(Array.from({ length: 14 }, guess))
  assert.equal(guesses.filter(({ statusCode }) => statusCode === 401).length, 10)
  const refused = await from({ email, password: PASSWORD }, '192.0.2.7')
  assert.equal(refused.statusCode, 429)
  assert.ok(Number(refused.headers['retry-after']) > 200)
  assert.equal((await from({ email, password: PASSWORD }, '192.0.2.8')).statusCode, 200)
})

test('sessions know the address of the client, not what a header claims', async () => {
  const { email } = await signUp()
  const headers = { host: 'localhost:8080', origin: ORIGIN, 'x-client-ip': '203.0.113.9', 'user-agent': 'Browser 1' }
  const reply = await house.app.inject({
    method: 'POST',
    url: '/api/auth/sign-in/email',
    headers,
    remoteAddress: '198.51.100.4',
    payload: { email, password: PASSWORD },
  })
  const [session] = (await house.call('GET', '/api/sessions', { cookie: cookiesOf(reply as Reply) }))
    .json<{ data: { ip_address: string; user_agent: string; current: boolean }[] }>()
    .data.filter(({ current }) => current)
  assert.deepEqual([session?.ip_address, session?.user_agent], ['198.51.100.4', 'Browser 1'])
})

test('someone else’s seeded session is not mine: cookies are signed with the secret of the installation', async () => {
  const user_id = await seedPerson(house)
  const cookie = await seedSession(house, user_id)
  const { user } = (await house.call('GET', '/api/auth/get-session', { cookie })).json<{ user: { id: string } }>()
  assert.equal(user.id, toWireId(user_id))
  const [name, value = ''] = cookie.split('=')
  const [token] = decodeURIComponent(value).split('.')
  assert.equal(await isSignedIn(`${name}=${token}.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA%3D`), false)
})

test('housekeeping forgets what has ended and nothing else', async () => {
  const db = house.database.kysely
  const user_id = await seedPerson(house)
  await seedSession(house, user_id, -1000)
  const cookie = await seedSession(house, user_id)
  await deleteExpiredSessions({ db }, new Date().toISOString())
  assert.equal((await db.selectFrom('sessions').select('id').where('user_id', '=', user_id).execute()).length, 1)
  assert.ok(await isSignedIn(cookie))
})

test('a database that cannot be asked is an outage, not a sign-out', async () => {
  const other = await useHouse()
  const { cookie } = await seedSignedIn(other)
  assert.equal((await other.call('GET', '/api/sessions', { cookie })).statusCode, 200)
  await other.database.auth.end()
  const signIn = () =>
    other.call('POST', '/api/auth/sign-in/email', {
      body: { email: 'a@example.com', password: PASSWORD },
      headers: { origin: ORIGIN },
    })
  for (const reply of [
    await other.call('GET', '/api/sessions', { cookie }),
    await other.call('GET', '/api/auth/get-session', { cookie }),
    // None of them counts as a wrong password, of which ten would be refused 429.
    ...(await Promise.all(Array.from({ length: 10 }, signIn))),
    await signIn(),
  ])
    assert.equal(reply.statusCode, 503, reply.body)
  // The pool is closed already; only what is left needs closing.
  Object.assign(other.database.auth, { end: async () => {} })
  await other.end()
})
