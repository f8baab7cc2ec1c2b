import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { ORIGIN, startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type Mailbox, openMailbox } from '../../../tests/support/mailbox.ts'
import { toUuid } from '../../contract/ids.ts'

const PASSWORD = 'correct horse battery'

let mailbox: Mailbox
let house: TestHouse
before(async () => {
  mailbox = await openMailbox()
  house = await startHouse({ SMTP_URL: mailbox.url, SIGN_UP: 'open' })
})
after(async () => {
  await house.end()
  await mailbox.close()
})

type Reply = Awaited<ReturnType<TestHouse['call']>>
const refusalOf = (reply: Reply) => [reply.statusCode, reply.data()['code']]
const cookieOf = (reply: Reply) =>
  [reply.headers['set-cookie'] ?? []]
    .flat()
    .map(line => line.split(';', 1)[0])
    .join('; ')
const post = (path: string, body: unknown, cookie = '', on = house) =>
  on.call('POST', `/api/auth${path}`, { body, headers: { origin: ORIGIN, cookie } })

let people = 0
async function signUp(on = house): Promise<{ cookie: string; email: string }> {
  people += 1
  const email = `person${people}@example.com`
  const reply = await post('/sign-up/email', { name: 'Ann', email, password: PASSWORD }, '', on)
  assert.equal(reply.statusCode, 200, reply.body)
  return { cookie: cookieOf(reply), email }
}

const change = (newEmail: string, cookie: string, currentPassword?: string) =>
  post('/change-email', { newEmail, currentPassword }, cookie)
const confirm = (token: string | undefined, cookie: string) => post('/verify-email', { token }, cookie)
const signIn = async (email: string) => (await post('/sign-in/email', { email, password: PASSWORD })).statusCode

/** The token in the next mail to an address. */
async function tokenFor(email: string): Promise<string> {
  const text = (await mailbox.next(email)).text.replace(/=\n/g, '').replace(/=3D/g, '=')
  return /\/confirm-email\?token=([\w.-]+)\n/.exec(text)?.[1] ?? assert.fail(text)
}

const userOf = async (cookie: string) =>
  (await house.call('GET', '/api/auth/get-session', { cookie })).json<{
    user: { id: string; email: string; emailVerified: boolean }
  }>().user

test('an address changes when the mail to the new one is answered, is proved by it, and the old one is told', async () => {
  const { cookie, email } = await signUp()
  assert.equal((await change('Moved@example.com', cookie, PASSWORD)).statusCode, 200)
  const token = await tokenFor('moved@example.com')
  assert.deepEqual([(await userOf(cookie)).email, await signIn('moved@example.com')], [email, 401])
  assert.equal((await confirm(token, cookie)).statusCode, 200)
  const user = await userOf(cookie)
  assert.deepEqual([user.email, user.emailVerified], ['moved@example.com', true])
  assert.deepEqual([await signIn(email), await signIn('moved@example.com')], [401, 200])
  assert.ok((await mailbox.next(email)).text.includes('moved@example.com'))
  assert.deepEqual(refusalOf(await confirm(token, cookie)), [400, 'INVALID_TOKEN'])
})

test('the link in the mail is for the person who asked: it lets nobody else in and changes no other account', async () => {
  const { cookie, email } = await signUp()
  const stranger = await signUp()
  await change('mine@example.com', cookie, PASSWORD)
  const token = await tokenFor('mine@example.com')
  const unknown = await confirm(token, '')
  assert.deepEqual([...refusalOf(unknown), unknown.headers['set-cookie']], [401, 'sign_in_required', undefined])
  assert.deepEqual(refusalOf(await confirm(token, stranger.cookie)), [400, 'INVALID_TOKEN'])
  assert.deepEqual(refusalOf(await confirm(`${token.slice(0, -4)}AAAA`, cookie)), [400, 'INVALID_TOKEN'])
  assert.equal((await house.call('GET', `/api/auth/verify-email?token=${token}`, { cookie })).statusCode, 404)
  assert.deepEqual([(await userOf(cookie)).email, (await userOf(stranger.cookie)).email], [email, stranger.email])
})

test('a change of address needs the current password unless its session is young', async () => {
  const { cookie } = await signUp()
  assert.equal((await change('young@example.com', cookie)).statusCode, 200)
  assert.deepEqual(refusalOf(await change('new@example.com', cookie, 'wrong horse')), [400, 'INVALID_PASSWORD'])
  assert.deepEqual(refusalOf(await change('new@example.com', '', PASSWORD)), [401, 'sign_in_required'])
  await house.database.kysely
    .updateTable('sessions')
    .set({ created_at: new Date(Date.now() - 11 * 60_000).toISOString() })
    .execute()
  assert.deepEqual(refusalOf(await change('new@example.com', cookie)), [400, 'PASSWORD_REQUIRED'])
  assert.equal(mailbox.mails.filter(({ to }) => to.includes('new@example.com')).length, 0)
})

test('a new address must be free, when it is asked for and when it is confirmed', async () => {
  const [first, second, taken] = [await signUp(), await signUp(), await signUp()]
  assert.deepEqual(refusalOf(await change(taken.email, first.cookie, PASSWORD)), [409, 'already_exists'])
  for (const { cookie } of [first, second]) await change('wanted@example.com', cookie, PASSWORD)
  const tokens = [await tokenFor('wanted@example.com'), await tokenFor('wanted@example.com')]
  assert.equal((await confirm(tokens[0], first.cookie)).statusCode, 200)
  assert.deepEqual(refusalOf(await confirm(tokens[1], second.cookie)), [409, 'already_exists'])
  assert.equal((await userOf(second.cookie)).email, second.email)
})

test('nobody is flooded with mails to confirm an address', async () => {
  const { cookie } = await signUp()
  const replies: Reply[] = []
  for (let asked = 0; asked < 7; asked += 1)
    replies.push(
      await house.call('POST', '/api/auth/change-email', {
        body: { newEmail: 'flooded@example.com', currentPassword: PASSWORD },
        cookie,
        from: '192.0.2.9',
      }),
    )
  assert.deepEqual(
    replies.map(({ statusCode }) => statusCode),
    [200, 200, 200, 200, 200, 429, 429],
  )
})

test('a person sends thirty mails an hour to addresses of their choice, and no more', async () => {
  const { cookie } = await signUp()
  const replies: number[] = []
  for (let asked = 0; asked < 32; asked += 1)
    replies.push((await change(`stranger${asked}@example.com`, cookie)).statusCode)
  assert.deepEqual(replies, [...Array.from({ length: 30 }, () => 200), 429, 429])
  assert.equal(mailbox.mails.filter(({ to }) => to.some(one => one.startsWith('stranger'))).length, 30)
  const other = await signUp()
  assert.equal((await change('stranger40@example.com', other.cookie)).statusCode, 200)
})

test('a refusal that is no wrong guess is not counted as one; who asks which addresses are taken is', async () => {
  const without = await startHouse({ SIGN_UP: 'open' })
  try {
    const { cookie, email } = await signUp(without)
    const ask = async (on: TestHouse, newEmail: string, as: string) =>
      (await on.call('POST', '/api/auth/change-email', { body: { newEmail }, cookie: as, from: '192.0.2.20' }))
        .statusCode
    for (let asked = 0; asked < 11; asked += 1) assert.equal(await ask(without, 'away@example.com', cookie), 409)
    const signedIn = await without.call('POST', '/api/auth/sign-in/email', {
      body: { email, password: PASSWORD },
      headers: { origin: ORIGIN },
      from: '192.0.2.20',
    })
    assert.equal(signedIn.statusCode, 200)
  } finally {
    await without.end()
  }
  const [curious, taken] = [await signUp(), await signUp()]
  const replies: number[] = []
  for (let asked = 0; asked < 12; asked += 1)
    replies.push(
      (
        await house.call('POST', '/api/auth/change-email', {
          body: { newEmail: taken.email },
          cookie: curious.cookie,
          from: '192.0.2.21',
        })
      ).statusCode,
    )
  assert.deepEqual(replies, [...Array.from({ length: 10 }, () => 409), 429, 429])
})

test('where no mail can be sent the address stays, and the refusal says why', async () => {
  const without = await startHouse({ SIGN_UP: 'open' })
  const refusing = await openMailbox({ refuse: true })
  const unreachable = await startHouse({ SIGN_UP: 'open', SMTP_URL: refusing.url })
  try {
    for (const [on, status, code] of [
      [without, 409, 'mail_needed'],
      [unreachable, 503, 'mail_failed'],
    ] as const) {
      const { cookie } = await signUp(on)
      const reply = await post('/change-email', { newEmail: 'away@example.com' }, cookie, on)
      assert.deepEqual(refusalOf(reply), [status, code])
    }
  } finally {
    await without.end()
    await unreachable.end()
    await refusing.close()
  }
})

/** The token in the next reset mail to an address. */
async function resetTokenFor(email: string): Promise<string> {
  assert.equal((await post('/request-password-reset', { email })).statusCode, 200)
  const text = (await mailbox.next(email)).text.replace(/=\n/g, '')
  return /token=(?:3D)?(\w+)/.exec(text)?.[1] ?? assert.fail(text)
}
const NEW_PASSWORD = 'a brand new password'
const reset = (token: string, newPassword = NEW_PASSWORD) => post('/reset-password', { token, newPassword })

test('a password that is replaced through a mail proves the address', async () => {
  const { cookie, email } = await signUp()
  assert.equal((await userOf(cookie)).emailVerified, false)
  assert.equal((await reset(await resetTokenFor(email))).statusCode, 200)
  const again = cookieOf(await post('/sign-in/email', { email, password: NEW_PASSWORD }))
  assert.equal((await userOf(again)).emailVerified, true)
})

test('a new password or address ends every link for a new password that was mailed before, and nobody else’s', async () => {
  const stranger = await resetTokenFor((await signUp()).email)
  const { email } = await signUp()
  const isOver = async (token: string) =>
    assert.deepEqual(refusalOf(await reset(token, 'a stolen password')), [400, 'INVALID_TOKEN'])
  const [first, second] = [await resetTokenFor(email), await resetTokenFor(email)]
  assert.equal((await reset(second)).statusCode, 200)
  await isOver(first)
  const fresh = cookieOf(await post('/sign-in/email', { email, password: NEW_PASSWORD }))
  const beforeChange = await resetTokenFor(email)
  const changed = await post('/change-password', { currentPassword: NEW_PASSWORD, newPassword: PASSWORD }, fresh)
  assert.equal(changed.statusCode, 200)
  await isOver(beforeChange)
  const toOldAddress = await resetTokenFor(email)
  await change('ended@example.com', cookieOf(changed), PASSWORD)
  assert.equal((await confirm(await tokenFor('ended@example.com'), cookieOf(changed))).statusCode, 200)
  await isOver(toOldAddress)
  assert.equal(await signIn('ended@example.com'), 200)
  assert.equal((await reset(stranger)).statusCode, 200)
})

test('a reset is done whole, also where the address cannot be noted as proved', async () => {
  const { cookie, email } = await signUp()
  const id = toUuid((await userOf(cookie)).id) ?? ''
  const { kysely: db, schema } = house.database
  const [first, second] = [await resetTokenFor(email), await resetTokenFor(email)]
  await sql`alter table users add constraint stays_unproved check (id <> ${sql.lit(id)} or not email_verified)`.execute(
    schema,
  )
  try {
    assert.equal((await reset(second)).statusCode, 200)
  } finally {
    await sql`alter table users drop constraint stays_unproved`.execute(schema)
  }
  assert.equal((await house.call('GET', '/api/sessions', { cookie })).statusCode, 401)
  assert.equal((await post('/sign-in/email', { email, password: NEW_PASSWORD })).statusCode, 200)
  assert.deepEqual(refusalOf(await reset(first)), [400, 'INVALID_TOKEN'])
  const { email_verified } = await db
    .selectFrom('users')
    .select('email_verified')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  assert.equal(email_verified, false)
})
