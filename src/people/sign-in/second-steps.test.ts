import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newAuthenticator } from '../../../tests/support/authenticator.ts'
import { ORIGIN, startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type Mailbox, openMailbox } from '../../../tests/support/mailbox.ts'
import { codeOf } from '../../../tests/support/totp.ts'
import { deleteExpiredCodes } from '../second-factor/spent-codes.ts'

let mailbox: Mailbox
let house: TestHouse
before(async () => {
  mailbox = await openMailbox()
  house = await startHouse({ SIGN_UP: 'open', SMTP_URL: mailbox.url })
})
after(async () => {
  await house.end()
  await mailbox.close()
})

const PASSWORD = 'correct horse battery'

type Reply = Awaited<ReturnType<TestHouse['call']>>

/** The cookies an answer sets, as the browser would send them back; what it takes away is gone. */
const cookiesOf = (reply: Reply) =>
  [reply.headers['set-cookie'] ?? []]
    .flat()
    .filter(line => !/max-age=0/i.test(line))
    .map(line => line.split(';', 1)[0])
    .join('; ')

let people = 0
/** Everybody is at a network of their own: wrong passwords and codes are counted by it. */
const post = (path: string, body: unknown, cookie = '', from = `192.0.2.${people}`) =>
  house.call('POST', `/api/auth${path}`, { body, headers: { origin: ORIGIN, cookie }, from })
const statusesOf = (replies: Reply[]) => replies.map(({ statusCode }) => statusCode).sort((a, b) => a - b)
const isSignedIn = async (cookie: string) => (await house.call('GET', '/api/sessions', { cookie })).statusCode === 200
const stateOf = async (cookie: string) => (await house.call('GET', '/api/second-factor', { cookie })).data()

async function signUp(): Promise<{ cookie: string; email: string }> {
  people += 1
  const email = `second${people}@example.com`
  const reply = await post('/sign-up/email', { name: 'Ann', email, password: PASSWORD })
  assert.equal(reply.statusCode, 200, reply.body)
  return { cookie: cookiesOf(reply), email }
}

type Guarded = { cookie: string; email: string; uri: string; codes: string[] }

/** Someone whose app has shown its code; the code that confirmed it is forgotten, so that no test waits for the next. */
async function withApp(): Promise<Guarded> {
  const { cookie, email } = await signUp()
  const begun = await post('/two-factor/enable', { password: PASSWORD }, cookie)
  assert.equal(begun.statusCode, 200, begun.body)
  const { totpURI, recoveryCodes } = begun.json<{ totpURI: string; recoveryCodes: string[] }>()
  const proven = await post('/two-factor/verify-totp', { code: codeOf(totpURI) }, cookie)
  assert.equal(proven.statusCode, 200, proven.body)
  await deleteExpiredCodes(house.database.kysely, Date.now() + 3_600_000)
  return { cookie: cookiesOf(proven), email, uri: totpURI, codes: recoveryCodes }
}

/** The next mail to the address that says so. */
async function mailTo(email: string, words: RegExp) {
  for (;;) {
    const mail = await mailbox.next(email)
    if (words.test(mail.text)) return mail
  }
}

/** The password shown, and the step after it open. */
async function atTheStep(email: string): Promise<{ step: string; methods: string[] }> {
  const reply = await post('/sign-in/email', { email, password: PASSWORD })
  assert.equal(reply.statusCode, 200, reply.body)
  const { twoFactorRedirect, twoFactorMethods } = reply.json<{
    twoFactorRedirect: boolean
    twoFactorMethods: string[]
  }>()
  assert.equal(twoFactorRedirect, true)
  const step = cookiesOf(reply)
  assert.ok(!(await isSignedIn(step)), 'the password alone lets nobody in')
  return { step, methods: twoFactorMethods }
}

test('an app counts once it has shown a code: then the password is not enough, and its code is', async () => {
  const { cookie, email } = await signUp()
  const begun = await post('/two-factor/enable', { password: PASSWORD }, cookie)
  const { totpURI, recoveryCodes } = begun.json<{ totpURI: string; recoveryCodes: string[] }>()
  assert.match(
    totpURI,
    new RegExp(`^otpauth://totp/Sluice:${email}\\?secret=[A-Z2-7]+&issuer=Sluice`.replace('@', '(@|%40)')),
  )
  assert.equal(new Set(recoveryCodes).size, 10)
  for (const code of recoveryCodes) assert.match(code, /^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/)
  assert.deepEqual(await stateOf(cookie), { app: false, passkeys: [], recovery_codes_left: 0, required_by: [] })
  assert.equal((await post('/sign-in/email', { email, password: PASSWORD })).data()['twoFactorRedirect'], undefined)

  const wrong = await post('/two-factor/verify-totp', { code: '000000' }, cookie)
  assert.deepEqual([wrong.statusCode, wrong.data()['code']], [401, 'INVALID_CODE'])
  const again = await post('/two-factor/verify-totp', { code: '000000' }, cookie)
  assert.equal(again.data()['code'], 'INVALID_CODE', 'a wrong one is wrong, not used')
  const organization = await house.call('POST', '/api/organizations', { cookie, body: { name: 'First' } })
  await house.call('POST', '/api/organizations', { cookie, body: { name: 'Second' } })
  await house.call('POST', `/api/organizations/${String(organization.data()['id'])}/activate`, { cookie })
  const code = codeOf(totpURI)
  const proven = await post('/two-factor/verify-totp', { code: `${code.slice(0, 3)} ${code.slice(3)}` }, cookie)
  assert.equal(proven.statusCode, 200, proven.body)
  assert.ok(!proven.body.includes('"token"'))
  assert.match((await mailbox.next(email)).text, /signing in asks for its code/)
  const now = cookiesOf(proven)
  assert.deepEqual(await stateOf(now), { app: true, passkeys: [], recovery_codes_left: 10, required_by: [] })
  const session = (await house.call('GET', '/api/auth/get-session', { cookie: now })).json<{
    user: { twoFactorEnabled: boolean }
  }>()
  assert.equal(session.user.twoFactorEnabled, true)
  const { data } = (await house.call('GET', '/api/organizations', { cookie: now })).json<{
    data: { name: string; active: boolean }[]
  }>()
  assert.equal(data.find(({ active }) => active)?.name, 'First', 'the session that replaced this one acts where it did')

  const { step, methods } = await atTheStep(email)
  assert.deepEqual(methods, ['totp', 'backup-code'])
  const next = codeOf(totpURI, Date.now() + 30_000)
  const let_in = await post('/two-factor/verify-totp', { code: next }, step)
  assert.equal(let_in.statusCode, 200, let_in.body)
  assert.ok(await isSignedIn(cookiesOf(let_in)))
})

test('neither secret nor codes lie in the database as they are', async () => {
  const { email, uri, codes } = await withApp()
  const db = house.database.kysely
  const user = await db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow()
  const row = await db.selectFrom('two_factors').selectAll().where('user_id', '=', user.id).executeTakeFirstOrThrow()
  const secret = new URL(uri).searchParams.get('secret') ?? '-'
  const stored = `${JSON.stringify(row)} ${Buffer.from(row.backup_codes, 'base64').toString('latin1')}`
  for (const text of [secret, ...codes]) assert.ok(!stored.includes(text))
})

test('a code holds good once: of several uses at once, in one step and in several, one lets in', async () => {
  const { email, uri } = await withApp()
  const steps = await Promise.all([1, 2, 3].map(() => atTheStep(email)))
  const code = codeOf(uri)
  const replies = await Promise.all(steps.map(({ step }) => post('/two-factor/verify-totp', { code }, step)))
  assert.deepEqual(statusesOf(replies), [200, 401, 401])
  for (const reply of replies.filter(({ statusCode }) => statusCode === 401))
    assert.equal(reply.data()['code'], 'CODE_USED')
  const later = await post('/two-factor/verify-totp', { code }, (await atTheStep(email)).step)
  assert.equal(later.data()['code'], 'CODE_USED')
  const { step } = await atTheStep(email)
  const next = codeOf(uri, Date.now() + 30_000)
  const twice = await Promise.all([1, 2].map(() => post('/two-factor/verify-totp', { code: next }, step)))
  assert.deepEqual(statusesOf(twice), [200, 401])
})

test('a recovery code lets in once, however it is typed; of two uses at once one wins', async () => {
  const { email, codes, cookie } = await withApp()
  const [first = '', second = '', third = ''] = codes
  const { step } = await atTheStep(email)
  const wrong = await post('/two-factor/verify-backup-code', { code: 'aaaaa-aaaaa' }, step)
  assert.deepEqual([wrong.statusCode, wrong.data()['code']], [401, 'INVALID_BACKUP_CODE'])
  const typed = ` ${first.replace('-', ' ').toUpperCase().replaceAll('0', 'O').replaceAll('1', 'l')} `
  const let_in = await post('/two-factor/verify-backup-code', { code: typed }, step)
  assert.equal(let_in.statusCode, 200, let_in.body)
  assert.ok(await isSignedIn(cookiesOf(let_in)))
  assert.match((await mailTo(email, /recovery code/)).text, /no longer works/)
  const again = await post('/two-factor/verify-backup-code', { code: first }, (await atTheStep(email)).step)
  assert.equal(again.data()['code'], 'INVALID_BACKUP_CODE')

  const steps = await Promise.all([1, 2, 3].map(() => atTheStep(email)))
  const race = await Promise.all(
    steps.map(({ step: one }) => post('/two-factor/verify-backup-code', { code: second }, one)),
  )
  assert.equal(race.filter(({ statusCode }) => statusCode === 200).length, 1, race.map(({ body }) => body).join())
  assert.equal((await stateOf(cookie))['recovery_codes_left'], 8)
  const signed_in = await post('/two-factor/verify-backup-code', { code: third }, cookie)
  assert.equal(signed_in.statusCode, 400)
  assert.equal((await stateOf(cookie))['recovery_codes_left'], 8, 'nothing is used up without a use')
})

test('new recovery codes end those before, and need the password', async () => {
  const { email, codes, cookie } = await withApp()
  const wrong = await post('/two-factor/generate-backup-codes', { password: 'wrong horse' }, cookie)
  assert.deepEqual([wrong.statusCode, wrong.data()['code']], [400, 'INVALID_PASSWORD'])
  const renewed = await post('/two-factor/generate-backup-codes', { password: PASSWORD }, cookie)
  const { recoveryCodes } = renewed.json<{ recoveryCodes: string[] }>()
  assert.equal(recoveryCodes.length, 10)
  const { step } = await atTheStep(email)
  assert.equal((await post('/two-factor/verify-backup-code', { code: codes[0] }, step)).statusCode, 401)
  assert.equal((await post('/two-factor/verify-backup-code', { code: recoveryCodes[9] }, step)).statusCode, 200)
  const none = await signUp()
  const refused = await post('/two-factor/generate-backup-codes', { password: PASSWORD }, none.cookie)
  assert.deepEqual([refused.statusCode, refused.data()['code']], [400, 'TWO_FACTOR_NOT_ENABLED'])
})

test('five wrong codes end the step, ten in a row lock the account for a while, also against the right one', async () => {
  const { email, uri } = await withApp()
  const wrong = (at: number) => String((Number(codeOf(uri)) + 7 + at) % 1_000_000).padStart(6, '0')
  const codes: string[] = []
  for (let round = 0; round < 2; round += 1) {
    const { step } = await atTheStep(email)
    for (let at = 0; at < 6; at += 1) {
      const reply = await post('/two-factor/verify-totp', { code: wrong(round * 10 + at) }, step, `198.51.100.${round}`)
      codes.push(String(reply.data()['code']))
    }
  }
  assert.deepEqual(codes, [
    ...Array<string>(5).fill('INVALID_CODE'),
    'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE',
    ...Array<string>(5).fill('INVALID_CODE'),
    'ACCOUNT_TEMPORARILY_LOCKED',
  ])
  const { step } = await atTheStep(email)
  const right = await post('/two-factor/verify-totp', { code: codeOf(uri) }, step)
  assert.deepEqual([right.statusCode, right.data()['code']], [429, 'ACCOUNT_TEMPORARILY_LOCKED'])
})

test('taking the app down needs the password; then the password is enough again, and nothing is left', async () => {
  const { email, cookie } = await withApp()
  const wrong = await post('/two-factor/disable', { password: 'wrong horse' }, cookie)
  assert.deepEqual([wrong.statusCode, wrong.data()['code']], [400, 'INVALID_PASSWORD'])
  assert.equal((await stateOf(cookie))['app'], true)
  assert.equal((await post('/two-factor/disable', { password: PASSWORD }, cookie)).statusCode, 200)
  assert.match((await mailTo(email, /was removed/)).text, /no longer asks for its codes/)
  assert.deepEqual(await stateOf(cookie), { app: false, passkeys: [], recovery_codes_left: 0, required_by: [] })
  const reply = await post('/sign-in/email', { email, password: PASSWORD })
  assert.ok(await isSignedIn(cookiesOf(reply)))
  const db = house.database.kysely
  const left = await db
    .selectFrom('two_factors as f')
    .innerJoin('users as u', 'u.id', 'f.user_id')
    .select('f.id')
    .where('u.email', '=', email)
    .execute()
  assert.deepEqual(left, [])
})

test('each change of a second factor is told to its person by mail, but not the new name of a passkey', async () => {
  const { email, cookie } = await withApp()
  const nextMail = async () => (await mailbox.next(email)).text
  assert.match(await nextMail(), /signing in asks for its code/)
  await post('/two-factor/generate-backup-codes', { password: PASSWORD }, cookie)
  assert.match(await nextMail(), /The previous codes no longer work/)
  const asked = (await post('/passkey/ask', {}, cookie)).json<{ challenge: string; rp: { id: string } }>()
  const added = await post('/passkey/add', { name: 'Phone', response: newAuthenticator().make(asked) }, cookie)
  assert.match(await nextMail(), /It is called Phone and can sign in/)
  const { id } = added.data()
  assert.equal((await post('/passkey/rename', { id, name: 'Tablet' }, cookie)).statusCode, 200)
  assert.equal((await post('/passkey/remove', { id }, cookie)).statusCode, 200)
  assert.match(await nextMail(), /It was called Tablet/)
  await post('/two-factor/disable', { password: PASSWORD }, cookie)
  assert.match(await nextMail(), /no longer asks for its codes/)
})

test('what was not begun is not confirmed, what is confirmed is not begun again, and a step is needed for a code', async () => {
  const { cookie } = await signUp()
  const nothing = await post('/two-factor/verify-totp', { code: '123456' }, cookie)
  assert.deepEqual([nothing.statusCode, nothing.data()['code']], [400, 'TOTP_NOT_ENABLED'])
  const on = await withApp()
  const again = await post('/two-factor/enable', { password: PASSWORD }, on.cookie)
  assert.deepEqual([again.statusCode, again.data()['code']], [400, 'TOTP_ALREADY_ENABLED'])
  const twice = await post('/two-factor/verify-totp', { code: codeOf(on.uri) }, on.cookie)
  assert.deepEqual([twice.statusCode, twice.data()['code']], [400, 'TOTP_ALREADY_ENABLED'])
  for (const path of ['/two-factor/verify-totp', '/two-factor/verify-backup-code'] as const) {
    const reply = await post(path, { code: path.endsWith('totp') ? codeOf(on.uri) : on.codes[0] })
    assert.deepEqual([reply.statusCode, reply.data()['code']], [401, 'INVALID_TWO_FACTOR_COOKIE'])
  }
  const wrong = await post('/two-factor/enable', { password: 'wrong horse' }, cookie)
  assert.deepEqual([wrong.statusCode, wrong.data()['code']], [400, 'INVALID_PASSWORD'])
  for (const code of ['12345', '1234567', 'abcdef', '', 5])
    assert.equal((await post('/two-factor/verify-totp', { code }, cookie)).statusCode, 400)
  for (const path of ['enable', 'disable', 'generate-backup-codes'])
    assert.equal((await post(`/two-factor/${path}`, { password: PASSWORD })).data()['code'], 'sign_in_required')
  for (const path of ['get-totp-uri', 'send-otp', 'verify-otp', 'view-backup-codes'])
    assert.equal((await post(`/two-factor/${path}`, { password: PASSWORD }, on.cookie)).statusCode, 404)
})

test('two that begin at once leave one app to confirm', async () => {
  const { cookie } = await signUp()
  const begun = await Promise.all([1, 2, 3].map(() => post('/two-factor/enable', { password: PASSWORD }, cookie)))
  assert.deepEqual(statusesOf(begun), [200, 200, 200])
  const proofs: number[] = []
  for (const reply of begun)
    proofs.push(
      (await post('/two-factor/verify-totp', { code: codeOf(String(reply.data()['totpURI'])) }, cookie)).statusCode,
    )
  assert.equal(proofs.filter(status => status === 200).length, 1)
})

test('the step of one person opens nothing of another', async () => {
  const ann = await withApp()
  const bea = await withApp()
  const { step } = await atTheStep(ann.email)
  assert.equal((await post('/two-factor/verify-totp', { code: codeOf(bea.uri) }, step)).statusCode, 401)
  assert.equal((await post('/two-factor/verify-backup-code', { code: bea.codes[0] }, step)).statusCode, 401)
  assert.equal((await stateOf(bea.cookie))['recovery_codes_left'], 10)
})

test('a new password does not take the second factor away', async () => {
  const { email, cookie } = await withApp()
  const changed = await post('/change-password', { currentPassword: PASSWORD, newPassword: 'another long one' }, cookie)
  assert.equal(changed.statusCode, 200)
  const reply = await post('/sign-in/email', { email, password: 'another long one' })
  assert.equal(reply.data()['twoFactorRedirect'], true)
})
