import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { raceInto } from '../../../tests/support/blocked.ts'
import { ORIGIN, startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type Mailbox, openMailbox } from '../../../tests/support/mailbox.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { newId, toUuid, toWireId } from '../../contract/ids.ts'
import { openSecrets } from '../../ground/db/secrets.ts'
import { KEPT_KEYS, openAttempts } from '../accounts/attempts.ts'
import { setupLine } from './setup-code.ts'

const PASSWORD = 'correct horse battery'

let mailbox: Mailbox
let house: TestHouse
let owner: SignedIn
before(async () => {
  mailbox = await openMailbox()
  house = await startHouse({ SMTP_URL: mailbox.url, BASE_URL: 'https://track.example.com' })
  owner = await seedSignedIn(house)
})
after(async () => {
  await house.end()
  await mailbox.close()
})

type Reply = Awaited<ReturnType<TestHouse['call']>>

const statusesOf = (replies: Reply[]) => replies.map(({ statusCode }) => statusCode).sort((a, b) => a - b)

/** The house has a public address, so its cookies carry the name of one. */
const asPublic = (cookie: string) => cookie.replace(/^sluice\./, '__Host-sluice.')

const origin = { origin: 'https://track.example.com' }
const post = (url: string, body: unknown, cookie = '', on = house) =>
  on.call('POST', url, { body, headers: { ...origin, cookie: asPublic(cookie) } })
const get = (url: string, cookie = '') => house.call('GET', url, { headers: { cookie: asPublic(cookie) } })

const cookieOf = (reply: Reply) =>
  [reply.headers['set-cookie'] ?? '']
    .flat()
    .map(line => line.split(';')[0])
    .join('; ')

/** An invitation that is mailed; `secret` is the one of the link that the inviter is shown. */
async function sendInvitation(email: string, role = 'member'): Promise<{ id: string; secret: string }> {
  const reply = await post('/api/invitations', { email, role }, owner.cookie)
  assert.equal(reply.statusCode, 201, reply.body)
  assert.equal(reply.data()['mail'], 'sent')
  return { id: String(reply.data()['id']), secret: String(reply.data()['link']).split('/').at(-1) ?? '' }
}
const invite = async (email: string, role?: string) => (await sendInvitation(email, role)).secret

/** The text of the next mail to an address, as it was before it was wrapped for the way. */
const nextMail = async (email: string) => (await mailbox.next(email)).text.replace(/=\n/g, '').replace(/=3D/g, '=')

const isProved = async (email: string) =>
  (await house.database.kysely.selectFrom('users').select('email_verified').where('email', '=', email).execute())[0]
    ?.email_verified

const signUp = (email: string, invitation?: string) =>
  post('/api/auth/sign-up/email', { name: 'NewAccount', email, password: PASSWORD, invitation })

const countUsers = async () => (await house.database.kysely.selectFrom('users').select('id').execute()).length

test('two first visits at once make one owner, with organization, balance and a session; later ones are refused', async () => {
  const fresh = await startHouse({ WELCOME_CREDIT: '3.5', PRICE_PER_PERSON: '0.2' })
  try {
    assert.deepEqual((await fresh.call('GET', '/api/setup')).json(), {
      needs_owner: true,
      needs_code: false,
      sign_up: 'invite',
    })
    const visit = (name: string) =>
      fresh.call('POST', '/api/setup', {
        body: { name, email: `${name}@example.com`, password: PASSWORD, organization: `${name} Ltd` },
        headers: { origin: ORIGIN },
      })
    assert.equal((await fresh.call('POST', '/api/setup', { body: {}, headers: { origin: ORIGIN } })).statusCode, 400)
    assert.equal((await fresh.call('POST', '/api/setup', { body: {} })).statusCode, 403)
    // Both have looked and found nobody before either may write.
    const hold = 'lock table organizations in exclusive mode'
    const replies = await raceInto(fresh.database, hold, [() => visit('ann'), () => visit('bob')])
    assert.deepEqual(statusesOf(replies), [201, 409])
    assert.deepEqual(
      replies.filter(r => r.statusCode === 409).map(r => r.data()['code']),
      ['setup_done'],
    )
    const won = replies.find(({ statusCode }) => statusCode === 201) as Reply
    const { data } = (await fresh.call('GET', '/api/organizations', { cookie: cookieOf(won) })).json<{
      data: Record<string, unknown>[]
    }>()
    assert.deepEqual(
      data.map(({ id, role, active }) => ({ id, role, active })),
      [{ id: won.data()['organization_id'], role: 'owner', active: true }],
    )
    const db = fresh.database.kysely
    assert.equal((await db.selectFrom('users').select('id').execute()).length, 1)
    assert.equal((await db.selectFrom('organizations').select('id').execute()).length, 1)
    const [balance] = await db.selectFrom('balances').select(['balance', 'price_per_person']).execute()
    assert.deepEqual([Number(balance?.balance), Number(balance?.price_per_person)], [3.5, 0.2])
    assert.deepEqual((await fresh.call('GET', '/api/setup')).json(), {
      needs_owner: false,
      needs_code: false,
      sign_up: 'invite',
    })
    assert.equal((await visit('dan')).data()['code'], 'setup_done')
  } finally {
    await fresh.end()
  }
})

test('where others can reach it, the first account needs the code that Sluice shows, whichever way it is made', async () => {
  const fresh = await startHouse({ BASE_URL: 'https://track.example.com', SIGN_UP: 'open' })
  try {
    const setup = await fresh.call('GET', '/api/setup')
    assert.deepEqual(setup.json(), { needs_owner: true, needs_code: true, sign_up: 'open' })
    const line = (await setupLine(fresh.ground)) ?? ''
    const code = /^Sluice has no owner yet\. Open https:\/\/track\.example\.com\/setup and .* code (\w{5}-\w{5})$/.exec(
      line,
    )?.[1]
    // As another process on the same database shows it.
    const secrets = await openSecrets(fresh.ground.config, fresh.database.kysely)
    assert.equal(await setupLine({ ...fresh.ground, secrets }), line)
    const form = { name: 'Ann', email: 'ann@example.com', password: PASSWORD, organization: 'Acme' }
    for (const setup_code of [undefined, '', 'aaaaa-aaaaa'])
      for (const url of ['/api/setup', '/api/auth/sign-up/email']) {
        const refused = await post(url, { ...form, setup_code }, '', fresh)
        assert.deepEqual([refused.statusCode, refused.data()['code']], [403, 'setup_code_wrong'])
      }
    const typed = code?.toUpperCase().replace('-', ' ')
    assert.equal((await post('/api/setup', { ...form, setup_code: typed }, '', fresh)).statusCode, 201)
    assert.equal(await setupLine(fresh.ground), undefined)
    assert.equal((await post('/api/setup', { ...form, setup_code: typed }, '', fresh)).data()['code'], 'setup_done')
    const { organization: _, ...second } = { ...form, email: 'bob@example.com' }
    assert.equal((await post('/api/auth/sign-up/email', second, '', fresh)).statusCode, 200)
  } finally {
    await fresh.end()
  }
})

test('wrong setup codes are braked like wrong passwords', async () => {
  const fresh = await startHouse({ BASE_URL: 'https://track.example.com' })
  try {
    const form = { name: 'Ann', email: 'ann@example.com', password: PASSWORD, organization: 'Acme' }
    const codes: unknown[] = []
    for (let tries = 0; tries < 11; tries += 1)
      codes.push(
        (await post('/api/setup', { ...form, setup_code: `aaaaa-${10_000 + tries}` }, '', fresh)).data()['code'],
      )
    assert.deepEqual(codes, [...Array(10).fill('setup_code_wrong'), 'rate_limited'])
  } finally {
    await fresh.end()
  }
})

test('behind https the cookie is bound to the host and sent over https only', async () => {
  const invitation = await invite('secure@example.com')
  const reply = await signUp('secure@example.com', invitation)
  assert.match(
    String(reply.headers['set-cookie']),
    /^__Host-sluice\.session_token=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  )
})

test('the very first account needs no invitation; of two at once one is made', async () => {
  const fresh = await startHouse()
  try {
    const visit = (email: string) =>
      fresh.call('POST', '/api/auth/sign-up/email', {
        body: { name: 'First', email, password: PASSWORD },
        headers: { origin: ORIGIN },
      })
    const replies = await Promise.all([visit('a@example.com'), visit('b@example.com')])
    assert.deepEqual(statusesOf(replies), [200, 403])
    assert.equal((await visit('c@example.com')).data()['code'], 'sign_up_closed')
    const cookie = cookieOf(replies.find(({ statusCode }) => statusCode === 200) ?? assert.fail())
    assert.equal((await fresh.call('POST', '/api/organizations', { cookie, body: { name: 'Acme' } })).statusCode, 201)
  } finally {
    await fresh.end()
  }
})

test('without an invitation nobody signs up where sign-up is by invitation', async () => {
  const before = await countUsers()
  const reply = await signUp('stranger@example.com')
  assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'sign_up_closed'])
  assert.equal(await countUsers(), before)
})

test('the mail of an invitation leads to its page, and signing up with it joins the organization and proves the address', async () => {
  const shown = await invite('New@example.com', 'admin')
  const text = await nextMail('new@example.com')
  const mailed = /https:\/\/track\.example\.com\/invitations\/([\w-]{43})\n/.exec(text)?.[1]
  assert.ok(mailed !== undefined && mailed !== shown)
  for (const secret of [mailed, shown]) {
    const page = await get(`/api/invitation-links/${secret}`)
    assert.deepEqual(
      [page.data()['organization'], page.data()['email'], page.data()['role'], page.data()['has_account']],
      ['Acme', 'new@example.com', 'admin', false],
    )
  }
  const reply = await signUp('NEW@example.com', mailed)
  assert.equal(reply.statusCode, 200)
  const { data } = (await get('/api/organizations', cookieOf(reply))).json<{ data: { id: string; role: string }[] }>()
  assert.deepEqual(
    data.map(({ id, role }) => [id, role]),
    [[toWireId(owner.organization_id), 'admin']],
  )
  assert.equal(await isProved('new@example.com'), true)
  assert.equal((await get(`/api/invitation-links/${shown}`)).data()['code'], 'invitation_invalid')
})

test('signing up with the link that the inviter was shown does not prove the address; accepting with the mailed one does', async () => {
  const email = 'later@example.com'
  const cookie = cookieOf(await signUp(email, await invite(email)))
  assert.equal(await isProved(email), false)
  await mailbox.next(email)
  const other = await seedSignedIn(house)
  await post('/api/invitations', { email }, other.cookie)
  const mailed = /invitations\/([\w-]+)/.exec(await nextMail(email))?.[1]
  assert.equal((await post(`/api/invitation-links/${mailed}/accept`, {}, cookie)).statusCode, 200)
  assert.equal(await isProved(email), true)
})

test('an invitation is used once, by its address, while it is open', async () => {
  const invitation = await invite('once@example.com')
  const before = await countUsers()
  const refused = await signUp('other@example.com', invitation)
  assert.deepEqual([refused.statusCode, refused.data()['code']], [409, 'invitation_invalid'])
  for (const unknown of [toWireId(newId()), 'nonsense'])
    assert.equal((await signUp('once@example.com', unknown)).data()['code'], 'invitation_invalid')
  assert.equal(await countUsers(), before)
  const both = await Promise.all([signUp('once@example.com', invitation), signUp('once@example.com', invitation)])
  assert.deepEqual(statusesOf(both), [200, 409])
  assert.equal(await countUsers(), before + 1)
  assert.equal((await get(`/api/invitation-links/${invitation}`)).data()['code'], 'invitation_invalid')
})

test('an invitation that was withdrawn or has expired creates no account', async () => {
  const before = await countUsers()
  const withdrawn = await sendInvitation('late@example.com')
  assert.equal(
    (
      await house.call('DELETE', `/api/invitations/${withdrawn.id}`, {
        headers: { ...origin, cookie: asPublic(owner.cookie) },
      })
    ).statusCode,
    200,
  )
  const expired = await sendInvitation('slow@example.com')
  await house.database.kysely
    .updateTable('invitations')
    .set({ expires_at: new Date(Date.now() - 1).toISOString() })
    .where('id', '=', toUuid(expired.id) ?? '')
    .execute()
  for (const [email, { secret }] of [
    ['late@example.com', withdrawn],
    ['slow@example.com', expired],
  ] as const) {
    assert.equal((await signUp(email, secret)).data()['code'], 'invitation_invalid')
    assert.equal((await get(`/api/invitation-links/${secret}`)).statusCode, 409)
  }
  assert.equal(await countUsers(), before)
})

test('whoever holds no invitation cannot learn which addresses have an account', async () => {
  const known = await signUp(owner.email, toWireId(newId()))
  const unknown = await signUp('unknown@example.com', toWireId(newId()))
  assert.deepEqual([known.statusCode, known.body], [unknown.statusCode, unknown.body])
})

test('a forgotten password is replaced through a mail, once, and every session ends', async () => {
  const email = 'forgetful@example.com'
  const session = cookieOf(await signUp(email, await invite(email)))
  await mailbox.next(email)
  const asked = await post('/api/auth/request-password-reset', { email })
  const unknown = await post('/api/auth/request-password-reset', { email: 'nobody@example.com' })
  assert.deepEqual([asked.statusCode, asked.body], [unknown.statusCode, unknown.body])
  const token = /https:\/\/track\.example\.com\/reset-password\?token=(\w+)/.exec(await nextMail(email))?.[1]
  const reset = (newPassword: string) => post('/api/auth/reset-password', { token, newPassword })
  assert.equal((await reset('short')).statusCode, 400)
  assert.equal((await reset('a brand new password')).statusCode, 200)
  assert.equal((await get('/api/sessions', session)).statusCode, 401)
  assert.equal((await reset('yet another password')).statusCode, 400)
  assert.equal((await post('/api/auth/sign-in/email', { email, password: PASSWORD })).statusCode, 401)
  assert.equal((await post('/api/auth/sign-in/email', { email, password: 'a brand new password' })).statusCode, 200)
  assert.equal(mailbox.mails.filter(mail => mail.to.includes('nobody@example.com')).length, 0)
})

test('a mailbox is not flooded with reset mails', async () => {
  const email = 'flooded@example.com'
  const replies = await Promise.all(
    Array.from({ length: 7 }, () => post('/api/auth/request-password-reset', { email })),
  )
  assert.deepEqual(statusesOf(replies), [200, 200, 200, 200, 200, 429, 429])
})

test('reset mails are counted by the network that asks for them, whatever addresses it invents', async () => {
  let invented = 0
  const ask = async (from: string) => {
    invented += 1
    const body = { email: `invented${invented}@example.com` }
    const headers = { ...origin, host: 'track.example.com' }
    return (await house.call('POST', '/api/auth/request-password-reset', { body, headers, from })).statusCode
  }
  for (const network of ['198.51.100.', '2001:db8:1:2::']) {
    for (let asked = 1; asked <= 100; asked += 1) assert.equal(await ask(`${network}${asked}`), 200)
    assert.equal(await ask(`${network}200`), 429)
  }
  assert.deepEqual([await ask('198.51.101.1'), await ask('2001:db8:1:3::1')], [200, 200])
})

test('however many addresses are invented, the counters remember a bounded number of them', async () => {
  const attempts = openAttempts()
  for (let invented = 0; invented < KEPT_KEYS + 100; invented += 1)
    await attempts.count('mail', `${invented}@example.com`)
  assert.equal(attempts.size, KEPT_KEYS)
})
