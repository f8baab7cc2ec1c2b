// Secrets in a backup file: a backup of a database in which every kind of secret was used is read without SECRET.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { type BotGround, botGround, PUBLIC } from '../../tests/support/bots.ts'
import { type FreshDatabase, freshDatabase } from '../../tests/support/database.ts'
import { type Mailbox, openMailbox } from '../../tests/support/mailbox.ts'
import { secretHere } from '../ground/db/secrets.ts'
import { takeBackup } from './backup.ts'
import { readBackup } from './file.ts'

const PASSWORD = 'correct horse battery'
/** The test house's SECRET. */
const secret = secretHere({ secret: 'a secret that only tests know', dataDir: '' }) ?? assert.fail()

let mailbox: Mailbox
let fresh: FreshDatabase
let ground: BotGround
before(async () => {
  mailbox = await openMailbox()
  fresh = await freshDatabase()
  ground = await botGround({ SMTP_URL: mailbox.url, SIGN_UP: 'open' }, {}, fresh.database)
})
after(async () => {
  await ground.end()
  await fresh.drop()
  await mailbox.close()
})

type Reply = Awaited<ReturnType<BotGround['call']>>
const cookiesOf = (reply: Reply) => [reply.headers['set-cookie'] ?? []].flat().map(line => line.split(';', 1)[0] ?? '')
const post = (path: string, body: unknown, cookie = '') =>
  ground.house.call('POST', path, { body, headers: { origin: PUBLIC, cookie } })
/** The text of the next mail to an address, and what follows `before` in it. */
const inMail = async (email: string, before: string) => {
  const text = (await mailbox.next(email)).text.replace(/=\n/g, '').replace(/=3D/g, '=')
  return text.split(before)[1]?.split(/\s/, 1)[0] ?? assert.fail(text)
}

/** The unpacked contents of a backup file, as text. */
async function backedUp(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-secrets-'))
  const client = new pg.Client(fresh.connection)
  try {
    await client.connect()
    const path = join(folder, 'one.backup')
    await takeBackup(client, { path, folders: [], version: '1', secret })
    let text = ''
    for await (const part of readBackup(path, secret.backupKey))
      text += 'line' in part ? JSON.stringify(part.line) : part.bytes.toString('latin1')
    return text
  } finally {
    await client.end()
    rmSync(folder, { recursive: true })
  }
}

/** A secret, and its hex and base64 forms. */
const spellings = (secret: string) => {
  const bytes = Buffer.from(secret)
  return [secret, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')]
}

test('nothing in a backup gives access without SECRET', async () => {
  const email = 'ann@example.com'
  const signedUp = await post('/api/auth/sign-up/email', { name: 'Ann', email, password: PASSWORD })
  assert.equal(signedUp.statusCode, 200, signedUp.body)
  const [cookie = ''] = cookiesOf(signedUp)
  const invitation = await ground.call('POST', '/api/invitations', { email: 'new@example.com' })
  const bot = ground.telegram.bot()
  await ground.add(bot)
  const key = await ground.call('POST', '/api/api-keys', { name: 'One' })
  const app = (await post('/api/auth/two-factor/enable', { password: PASSWORD }, cookie)).data()
  const challenge = await post('/api/auth/passkey/ask', { currentPassword: PASSWORD }, cookie)
  await post('/api/auth/request-password-reset', { email })
  const reset = await inMail(email, '/reset-password?token=')
  await post('/api/auth/change-email', { newEmail: 'moved@example.com', currentPassword: PASSWORD }, cookie)
  const secrets: Record<string, string> = {
    'session cookie': decodeURIComponent(cookie.split('=')[1] ?? ''),
    'reset token': reset,
    'token of a changed address': await inMail('moved@example.com', '/confirm-email?token='),
    'mailed link of an invitation': await inMail('new@example.com', '/invitations/'),
    'shown link of an invitation': String(invitation.data()['link']).split('/').at(-1) ?? '',
    'API key': String(key.data()['secret']),
    'bot token': bot.token,
    'seed of an app': new URL(String(app['totpURI'])).searchParams.get('secret') ?? '',
    'recovery code': (app['recoveryCodes'] as string[])[0] ?? '',
    'passkey challenge': String(challenge.data()['challenge']),
    password: PASSWORD,
  }
  const file = await backedUp()
  assert.ok(file.includes(email))
  for (const [name, secret] of Object.entries(secrets)) {
    assert.ok(secret.length >= 10, name)
    for (const spelled of spellings(secret)) assert.ok(!file.includes(spelled), `the ${name} is in the backup`)
  }

  // The first half of a session's cookie is there, but gives no access, because the other half is made with SECRET.
  const [cookieName = '', signed = ''] = cookie.split('=')
  const [token = ''] = decodeURIComponent(signed).split('.')
  assert.ok(file.includes(token))
  for (const forged of [token, `${token}.`, `${token}.${Buffer.alloc(32).toString('base64')}`]) {
    const reply = await ground.house.call('GET', '/api/sessions', {
      headers: { cookie: `${cookieName}=${encodeURIComponent(forged)}` },
    })
    assert.equal(reply.statusCode, 401)
  }
  // The stored form of a reset token gives no access either.
  for (const { identifier } of await ground.house.database.kysely
    .selectFrom('verifications')
    .select('identifier')
    .execute()) {
    const reply = await post('/api/auth/reset-password', { token: identifier, newPassword: 'a brand new password' })
    assert.equal(reply.statusCode, 400)
  }
})
