import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { freshDatabase } from '../../../tests/support/database.ts'
import { newId, openTestHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSession, seedSignedIn } from '../../../tests/support/people.ts'
import { runSluice } from '../../../tests/support/sluice.ts'
import { resetSecondFactor } from './lost.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let house: TestHouse
before(async () => {
  fresh = await freshDatabase()
  house = await openTestHouse(fresh.database, {})
})
after(async () => {
  await house.end()
  await fresh.drop()
})

/** Someone with an app and a passkey, as the tests of signing in set them up through the door. */
async function guarded(): Promise<SignedIn> {
  const person = await seedSignedIn(house)
  const db = house.database.kysely
  const { user_id } = person
  const backup_codes = house.ground.secrets.seal(JSON.stringify(['aaaaa-aaaaa'])).toString('base64')
  await db.insertInto('two_factors').values({ id: newId(), user_id, secret: 'x', backup_codes }).execute()
  const key = { name: 'Phone', credential_id: newId(), public_key: Buffer.alloc(1), counter: '0', transports: [] }
  await db
    .insertInto('passkeys')
    .values({ id: newId(), user_id, ...key, is_synced: false, created_at: new Date().toISOString() })
    .execute()
  await db.updateTable('users').set({ two_factor_enabled: true }).where('id', '=', user_id).execute()
  return person
}

const stateOf = async ({ user_id }: SignedIn) => {
  const cookie = await seedSession(house, user_id)
  const { app, passkeys, recovery_codes_left } = (await house.call('GET', '/api/second-factor', { cookie })).json<{
    app: boolean
    passkeys: unknown[]
    recovery_codes_left: number
  }>()
  const { user } = (await house.call('GET', '/api/auth/get-session', { cookie })).json<{
    user: { twoFactorEnabled: boolean }
  }>()
  return [app, passkeys.length, recovery_codes_left, user.twoFactorEnabled]
}

test('a lost second factor is taken away with every session of the account, and nothing of anybody else', async () => {
  const lost = await guarded()
  const other = await guarded()
  assert.deepEqual(await stateOf(lost), [true, 1, 1, true])
  assert.deepEqual(await resetSecondFactor(house.database.kysely, ` ${lost.email.toUpperCase()} `), {
    had_factor: true,
  })
  assert.equal((await house.call('GET', '/api/sessions', { cookie: lost.cookie })).statusCode, 401)
  assert.deepEqual(await stateOf(lost), [false, 0, 0, false])
  assert.equal((await house.call('GET', '/api/sessions', { cookie: other.cookie })).statusCode, 200)
  assert.deepEqual(await stateOf(other), [true, 1, 1, true])
  assert.deepEqual(await resetSecondFactor(house.database.kysely, lost.email), { had_factor: false })
  assert.equal(await resetSecondFactor(house.database.kysely, 'nobody@example.com'), undefined)
})

test('the command takes it away beside a running Sluice, writes the mail, and says what is wrong with what it was given', async () => {
  const lost = await guarded()
  const run = (...given: string[]) => runSluice({ DATABASE_URL: fresh.url }, { command: 'second-factor', given })
  const done = await run('reset', lost.email)
  assert.deepEqual([done.code, /password alone now signs in/.test(done.stdout)], [0, true], done.stderr)
  assert.match(done.stdout + done.stderr, /removed the app, passkeys and recovery codes from your account/)
  assert.deepEqual(await stateOf(lost), [false, 0, 0, false])
  assert.match((await run('reset', lost.email)).stdout, /has no second factor/)
  for (const [given, words] of [
    [['reset', 'nobody@example.com'], /no account has the address nobody@example.com/],
    [['reset'], /name the account/],
    [[], /name the account/],
  ] as const) {
    const { code, stderr } = await run(...given)
    assert.deepEqual([code, words.test(stderr)], [1, true], stderr)
  }
})
