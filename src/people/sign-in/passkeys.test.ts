import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newAuthenticator } from '../../../tests/support/authenticator.ts'
import { ORIGIN, startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { codeOf } from '../../../tests/support/totp.ts'
import { toUuid } from '../../contract/ids.ts'
import { deleteExpiredCodes } from '../second-factor/spent-codes.ts'

let house: TestHouse
before(async () => {
  house = await startHouse({ SIGN_UP: 'open' })
})
after(() => house.end())

const PASSWORD = 'correct horse battery'

type Reply = Awaited<ReturnType<TestHouse['call']>>
type Asked = { challenge: string; rp?: { id: string }; rpId?: string; userVerification?: string }
type Passkey = ReturnType<typeof newAuthenticator>

const cookiesOf = (reply: Reply) =>
  [reply.headers['set-cookie'] ?? []]
    .flat()
    .filter(line => !/max-age=0/i.test(line))
    .map(line => line.split(';', 1)[0])
    .join('; ')

const statusesOf = (replies: Reply[]) => replies.map(({ statusCode }) => statusCode).sort((a, b) => a - b)

let people = 0
const post = (path: string, body: unknown, cookie = '', headers: Record<string, string> = {}) =>
  house.call('POST', `/api/auth${path}`, {
    body,
    headers: { origin: ORIGIN, cookie, ...headers },
    from: `192.0.2.${people}`,
  })
const isSignedIn = async (cookie: string) => (await house.call('GET', '/api/sessions', { cookie })).statusCode === 200
type State = {
  app: boolean
  passkeys: { id: string; name: string; last_used_at: string | null }[]
  recovery_codes_left: number
}
const stateOf = async (cookie: string) => (await house.call('GET', '/api/second-factor', { cookie })).json<State>()

async function signUp(): Promise<{ cookie: string; email: string }> {
  people += 1
  const email = `key${people}@example.com`
  const reply = await post('/sign-up/email', { name: 'Ann', email, password: PASSWORD })
  assert.equal(reply.statusCode, 200, reply.body)
  return { cookie: cookiesOf(reply), email }
}

/** Makes a session too old to go without the password. */
async function age(cookie: string): Promise<void> {
  const { data } = (await house.call('GET', '/api/sessions', { cookie })).json<{ data: { id: string }[] }>()
  const created_at = new Date(Date.now() - 3_600_000).toISOString()
  await house.database.kysely
    .updateTable('sessions')
    .set({ created_at })
    .where(
      'id',
      'in',
      data.map(({ id }) => toUuid(id) ?? ''),
    )
    .execute()
}

async function add(passkey: Passkey, cookie: string, name = 'Phone'): Promise<Reply> {
  const asked = await post('/passkey/ask', {}, cookie)
  assert.equal(asked.statusCode, 200, asked.body)
  return post('/passkey/add', { name, response: passkey.make(asked.json<Asked>()) }, cookie)
}

const ask = async () => (await post('/passkey/ask-sign-in', {})).json<Asked>()
const signIn = async (passkey: Passkey) => post('/passkey/sign-in', { response: passkey.sign(await ask()) })

test('a passkey signs in alone, and is a second factor: the password is not enough any more', async () => {
  const { cookie, email } = await signUp()
  const passkey = newAuthenticator()
  const asked = (await post('/passkey/ask', {}, cookie)).json<
    Asked & { user: { name: string }; authenticatorSelection: object }
  >()
  assert.equal(asked.rp?.id, 'localhost')
  assert.equal(asked.user.name, email)
  assert.deepEqual(
    { ...asked.authenticatorSelection, requireResidentKey: true },
    { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
  )
  const added = await post('/passkey/add', { name: 'Phone', response: passkey.make(asked) }, cookie)
  assert.equal(added.statusCode, 200, added.body)
  const { id, recoveryCodes } = added.json<{ id: string; recoveryCodes: string[] }>()
  assert.equal(recoveryCodes.length, 10)
  const state = await stateOf(cookie)
  assert.deepEqual(
    [state.app, state.passkeys.map(one => [one.id, one.name, one.last_used_at]), state.recovery_codes_left],
    [false, [[id, 'Phone', null]], 10],
  )
  const password = await post('/sign-in/email', { email, password: PASSWORD })
  assert.deepEqual(password.json(), { twoFactorRedirect: true, twoFactorMethods: ['passkey', 'backup-code'] })
  assert.ok(!(await isSignedIn(cookiesOf(password))))

  const asking = await ask()
  assert.deepEqual([asking.rpId, asking.userVerification], ['localhost', 'required'])
  const reply = await post('/passkey/sign-in', { response: passkey.sign(asking) })
  assert.equal(reply.statusCode, 200, reply.body)
  assert.ok(!reply.body.includes('"token"'))
  assert.equal(reply.json<{ user: { email: string } }>().user.email, email)
  const { data } = (await house.call('GET', '/api/sessions', { cookie: cookiesOf(reply) })).json<{
    data: { current: boolean; ip_address: string }[]
  }>()
  assert.equal(data.find(({ current }) => current)?.ip_address, `192.0.2.${people}`)
  const [signedIn] = (await stateOf(cookiesOf(reply))).passkeys
  assert.notEqual(signedIn?.last_used_at, null)
  const code = await post('/two-factor/verify-backup-code', { code: recoveryCodes[0] }, cookiesOf(password))
  assert.equal(code.statusCode, 200, 'a recovery code stands in for a lost passkey')
})

test('an answer is taken once, also of two at once, and in its time', async t => {
  const { cookie } = await signUp()
  const passkey = newAuthenticator()
  await add(passkey, cookie)
  const asked = await ask()
  const response = passkey.sign(asked)
  const replies = await Promise.all([1, 2, 3].map(() => post('/passkey/sign-in', { response })))
  assert.deepEqual(statusesOf(replies), [200, 401, 401])
  assert.equal((await post('/passkey/sign-in', { response })).data()['code'], 'PASSKEY_REFUSED')
  // Signed anew, so that it is the challenge and not the count of uses that was there before.
  assert.equal((await post('/passkey/sign-in', { response: passkey.sign(asked) })).statusCode, 401)
  const late = await ask()
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 301_000 })
  const tooLate = await post('/passkey/sign-in', { response: passkey.sign(late) })
  t.mock.timers.reset()
  assert.equal(tooLate.statusCode, 401)
})

test('what is signed elsewhere, for something else, by nobody seen or by another key lets nobody in', async () => {
  const { cookie } = await signUp()
  const passkey = newAuthenticator()
  await add(passkey, cookie)
  const wish = (await post('/passkey/ask', {}, cookie)).json<Asked>()
  const stranger = newAuthenticator()
  const forged = { ...(await ask()), challenge: Buffer.alloc(54).toString('base64url') }
  for (const [words, response] of [
    ['another origin', passkey.sign(await ask(), { origin: 'https://evil.example' })],
    ['another host', passkey.sign(await ask(), { host: 'evil.example' })],
    ['nobody was seen', passkey.sign(await ask(), { isVerified: false })],
    ['a challenge that we never asked', passkey.sign(forged)],
    ['a challenge for making one', passkey.sign(await ask(), { challenge: wish.challenge })],
    ['unknown', stranger.sign(await ask())],
    ['another key under a known id', { ...stranger.sign(await ask()), id: passkey.sign(await ask()).id }],
    [
      'no browser says this',
      { ...passkey.sign(await ask()), response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' } },
    ],
  ] as const) {
    // Each as somebody else, because wrong ones are counted.
    people += 1
    const reply = await post('/passkey/sign-in', { response })
    assert.deepEqual([reply.statusCode, reply.data()['code']], [401, 'PASSKEY_REFUSED'], words)
    assert.equal(reply.headers['set-cookie'], undefined)
  }
  assert.equal((await post('/passkey/sign-in', { response: { id: 'x' } })).statusCode, 400)
  assert.equal((await signIn(passkey)).statusCode, 200)
})

test('a passkey is taken in for whom it was asked, once, seen, and known to one person only', async () => {
  const ann = await signUp()
  const bea = await signUp()
  const passkey = newAuthenticator()
  const asked = (await post('/passkey/ask', {}, ann.cookie)).json<Asked>()
  const send = (response: unknown, cookie = ann.cookie) => post('/passkey/add', { name: 'Phone', response }, cookie)
  for (const reply of [
    await send(passkey.make(asked), bea.cookie),
    await send(passkey.make(asked, { isVerified: false })),
    await send(passkey.make(asked, { origin: 'https://evil.example' })),
    await send(passkey.make(asked, { host: 'evil.example' })),
    await send(passkey.make(asked, { challenge: (await ask()).challenge })),
  ])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [400, 'PASSKEY_REFUSED'])
  for (const { cookie } of [ann, bea]) assert.deepEqual((await stateOf(cookie)).passkeys, [])

  const made = passkey.make(asked)
  const twice = await Promise.all([send(made), send(made)])
  assert.deepEqual(statusesOf(twice), [200, 400])
  assert.equal((await stateOf(ann.cookie)).passkeys.length, 1)
  assert.equal((await add(passkey, bea.cookie)).data()['code'], 'already_exists')
  assert.deepEqual((await stateOf(bea.cookie)).passkeys, [])
  assert.equal(
    (await post('/sign-in/email', { email: bea.email, password: PASSWORD })).data()['twoFactorRedirect'],
    undefined,
  )
  const again = (await post('/passkey/ask', {}, ann.cookie)).json<{ excludeCredentials: { id: string }[] }>()
  assert.deepEqual(
    again.excludeCredentials.map(({ id }) => id),
    [made.id],
  )
  for (const path of ['/passkey/ask', '/passkey/add', '/passkey/rename', '/passkey/remove'])
    assert.equal((await post(path, { name: 'x', id: 'x', response: made })).data()['code'], 'sign_in_required')
})

test('what a browser says of a passkey beyond its key is kept only where it is known', async () => {
  const { cookie } = await signUp()
  const strange = async (passkey: Passkey, transports: unknown) => {
    const asked = (await post('/passkey/ask', {}, cookie)).json<Asked>()
    return post('/passkey/add', { name: 'Phone', response: passkey.make(asked, { transports }) }, cookie)
  }
  for (const transports of ['internal', 5, null, { a: 1 }, ['x'.repeat(5000)], [7]])
    assert.equal((await strange(newAuthenticator(), transports)).statusCode, 400)
  assert.deepEqual((await stateOf(cookie)).passkeys, [])
  const added = await strange(newAuthenticator(), ['hybrid', 'by pigeon', 'usb'])
  const { transports } = await house.database.kysely
    .selectFrom('passkeys')
    .select('transports')
    .where('id', '=', toUuid(String(added.data()['id'])) ?? '')
    .executeTakeFirstOrThrow()
  assert.deepEqual(transports, ['usb', 'hybrid'])
  const long = await strange(newAuthenticator(1024), ['usb'])
  assert.deepEqual([long.statusCode, long.data()['code']], [400, 'PASSKEY_REFUSED'])
})

test('a session that is not young must show the password to add or remove one', async () => {
  const { cookie } = await signUp()
  const passkey = newAuthenticator()
  const added = await add(passkey, cookie)
  const { id } = added.json<{ id: string }>()
  await age(cookie)
  for (const [path, body] of [
    ['/passkey/ask', {}],
    ['/passkey/remove', { id }],
  ] as const) {
    assert.equal((await post(path, body, cookie)).data()['code'], 'PASSWORD_REQUIRED')
    const wrong = await post(path, { ...body, currentPassword: 'wrong horse' }, cookie)
    assert.deepEqual([wrong.statusCode, wrong.data()['code']], [400, 'INVALID_PASSWORD'])
  }
  assert.equal((await stateOf(cookie)).passkeys.length, 1)
  assert.equal((await post('/passkey/ask', { currentPassword: PASSWORD }, cookie)).statusCode, 200)
  assert.equal((await post('/passkey/remove', { id, currentPassword: PASSWORD }, cookie)).statusCode, 200)
})

test('a removed passkey lets nobody in; with the last of them the password is enough, and somebody else’s stays', async () => {
  const ann = await signUp()
  const bea = await signUp()
  const [phone, laptop] = [newAuthenticator(), newAuthenticator()]
  const first = (await add(phone, ann.cookie)).json<{ id: string; recoveryCodes: string[] | null }>()
  const second = (await add(laptop, ann.cookie, 'Laptop')).json<{ id: string; recoveryCodes: string[] | null }>()
  assert.deepEqual([first.recoveryCodes?.length, second.recoveryCodes], [10, null])
  for (const id of [first.id, 'nothing'])
    assert.equal((await post('/passkey/remove', { id }, bea.cookie)).statusCode, 404)
  assert.equal((await post('/passkey/remove', { id: first.id }, ann.cookie)).statusCode, 200)
  assert.equal((await post('/passkey/remove', { id: first.id }, ann.cookie)).statusCode, 404)
  assert.equal((await signIn(phone)).statusCode, 401)
  assert.equal((await signIn(laptop)).statusCode, 200)
  assert.equal(
    (await post('/sign-in/email', { email: ann.email, password: PASSWORD })).data()['twoFactorRedirect'],
    true,
  )
  assert.equal((await post('/passkey/remove', { id: second.id }, ann.cookie)).statusCode, 200)
  const reply = await post('/sign-in/email', { email: ann.email, password: PASSWORD })
  assert.ok(await isSignedIn(cookiesOf(reply)))
  assert.deepEqual((await stateOf(ann.cookie)).recovery_codes_left, 0)
})

test('an app beside a passkey: recovery codes stay as they are, and either may go without the other', async () => {
  const { cookie, email } = await signUp()
  const passkey = newAuthenticator()
  const { id, recoveryCodes } = (await add(passkey, cookie)).json<{ id: string; recoveryCodes: string[] }>()
  assert.equal((await post('/two-factor/verify-totp', { code: '123456' }, cookie)).data()['code'], 'TOTP_NOT_ENABLED')
  const begun = await post('/two-factor/enable', { password: PASSWORD }, cookie)
  const { totpURI, recoveryCodes: none } = begun.json<{ totpURI: string; recoveryCodes: null }>()
  assert.equal(none, null)
  assert.equal((await post('/two-factor/verify-totp', { code: codeOf(totpURI) }, cookie)).statusCode, 200)
  const step = await post('/sign-in/email', { email, password: PASSWORD })
  assert.deepEqual(step.data()['twoFactorMethods'], ['totp', 'passkey', 'backup-code'])
  const let_in = await post('/two-factor/verify-backup-code', { code: recoveryCodes[0] }, cookiesOf(step))
  assert.equal(let_in.statusCode, 200, let_in.body)
  const now = cookiesOf(let_in)
  assert.equal((await post('/two-factor/disable', { password: PASSWORD }, now)).statusCode, 200)
  const left = await stateOf(now)
  assert.deepEqual([left.app, left.passkeys.length, left.recovery_codes_left], [false, 1, 9])
  await deleteExpiredCodes(house.database.kysely, Date.now() + 3_600_000)
  const old = await post('/two-factor/verify-totp', { code: codeOf(totpURI) }, now)
  assert.equal(old.data()['code'], 'TOTP_NOT_ENABLED', 'the app that was removed does not come back by its code')
  assert.deepEqual((await post('/sign-in/email', { email, password: PASSWORD })).data()['twoFactorMethods'], [
    'passkey',
    'backup-code',
  ])
  assert.equal((await post('/passkey/remove', { id }, now)).statusCode, 200)
  assert.equal((await post('/sign-in/email', { email, password: PASSWORD })).data()['twoFactorRedirect'], undefined)
})

test('at an address without a name there are no passkeys, and it is said', async () => {
  const { cookie } = await signUp()
  const headers = { origin: 'http://127.0.0.1:8080', host: '127.0.0.1:8080' }
  for (const path of ['/passkey/ask', '/passkey/ask-sign-in']) {
    const reply = await post(path, {}, cookie, headers)
    assert.deepEqual([reply.statusCode, reply.data()['code']], [400, 'PASSKEY_REFUSED'])
    assert.match(String(reply.data()['hint']), /localhost/)
  }
})
