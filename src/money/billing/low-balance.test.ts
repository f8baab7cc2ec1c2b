import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { ORIGIN, seedKey, startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedClicks } from '../../../tests/support/intake.ts'
import { type Mailbox, openMailbox } from '../../../tests/support/mailbox.ts'
import { openQueue } from '../../../tests/support/organization-queue.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { readConfig } from '../../ground/config.ts'
import { noticeLowBalances } from './low-balance.ts'

let house: TestHouse
let mailbox: Mailbox
before(async () => {
  mailbox = await openMailbox()
  // A house without periodic jobs, so that the test decides when balances are checked.
  house = await startHouse({ ROLE: 'serve', SMTP_URL: mailbox.url, BASE_URL: ORIGIN })
})
after(async () => {
  await house.end()
  await mailbox.close()
})

const look = () => noticeLowBalances(house.ground)
const set = (cookie: string, low_balance_threshold: string | null) =>
  house.call('PUT', '/api/billing/low-balance', { cookie, body: { low_balance_threshold } })
const topUp = (cookie: string, amount: string) =>
  house.call('POST', '/api/billing/top-ups', { cookie, body: { amount } })
const notice = async (cookie: string) => (await house.call('GET', '/api/billing/notice', { cookie })).data()
const mailsTo = (address: string) => mailbox.mails.filter(({ to }) => to.includes(address))

async function noticesOf(org_id: number) {
  const { rows } = await house.database.reads.query<{ is_open: boolean; is_mailed: boolean }>(
    `select ended_at is null as is_open, mailed_at is not null as is_mailed from low_balance_notices
    where org_id = $1 order by id`,
    [org_id],
  )
  return rows
}

test('a balance that falls below its threshold is told to every member, and to each owner by one mail', async () => {
  const owner = await seedSignedIn(house)
  const second = await seedSignedIn(house, { place: owner, role: 'owner' })
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  assert.equal((await set(owner.cookie, '9.9')).statusCode, 200)
  await look()
  assert.deepEqual(await notice(member.cookie), {
    state: 'fine',
    is_charging: true,
    balance: '10',
    low_balance_threshold: '9.9',
    hold_when_empty: false,
  })
  const queue = openQueue(house.database)
  for (const click of await seedClicks(house.database, owner.org_id, 3)) await queue.send(owner.org_id, click, {})
  await queue.close()
  // Several processes check at once, repeatedly.
  await Promise.all([look(), look(), look()])
  await look()
  assert.equal((await notice(member.cookie))['state'], 'low')
  assert.deepEqual(await noticesOf(owner.org_id), [{ is_open: true, is_mailed: true }])
  for (const { email } of [owner, second]) {
    const [mail, ...more] = mailsTo(email)
    assert.equal(more.length, 0)
    assert.match(
      mail?.text ?? '',
      /The balance of Acme is \$9\.85, below your threshold of \$9\.9[\s\S]*http:\/\/localhost:8080\/billing/,
    )
  }
  assert.deepEqual(mailsTo(member.email), [])
})

test('a top-up ends the notice, and the next fall is told anew', async () => {
  const { cookie, org_id, email } = await seedSignedIn(house)
  await set(cookie, '12')
  await look()
  assert.equal((await topUp(cookie, '1')).statusCode, 201)
  await look()
  assert.deepEqual(await noticesOf(org_id), [{ is_open: true, is_mailed: true }])
  await topUp(cookie, '1')
  assert.deepEqual(await noticesOf(org_id), [{ is_open: false, is_mailed: true }])
  assert.equal((await notice(cookie))['state'], 'fine')
  await look()
  await set(cookie, '50')
  await look()
  assert.equal(mailsTo(email).length, 2)
  await set(cookie, null)
  assert.equal((await noticesOf(org_id)).filter(({ is_open }) => is_open).length, 0)
  await look()
  assert.deepEqual([mailsTo(email).length, (await notice(cookie))['state']], [2, 'fine'])
})

test('where a person costs nothing nobody is told of a balance, unless deliveries wait for it', async () => {
  const { cookie, email, org_id } = await seedSignedIn(house)
  const send = (method: 'PUT' | 'POST', path: string, body: object) =>
    house.call(method, `/api/billing/${path}`, { cookie, body })
  assert.equal((await send('PUT', 'price-per-person', { price_per_person: '0' })).statusCode, 200)
  assert.equal((await send('POST', 'adjustments', { amount: '-15', note: 'No credit' })).statusCode, 201)
  await look()
  const told = async () => {
    const { state, is_charging } = await notice(cookie)
    return [state, is_charging]
  }
  assert.deepEqual(await told(), ['fine', false])
  assert.deepEqual([await noticesOf(org_id), mailsTo(email)], [[], []])
  assert.equal((await send('PUT', 'hold-when-empty', { hold_when_empty: true })).statusCode, 200)
  assert.deepEqual(await told(), ['empty', false])
  assert.equal((await send('PUT', 'price-per-person', { price_per_person: '0.05' })).statusCode, 200)
  await look()
  assert.deepEqual(await told(), ['empty', true])
  assert.equal((await noticesOf(org_id)).length, 1)
})

test('a top-up that races with the look leaves no open notice behind', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { cookie, org_id } = await seedSignedIn(house)
    await set(cookie, '11')
    await Promise.all([look(), topUp(cookie, '5'), look()])
    assert.deepEqual(
      (await noticesOf(org_id)).filter(({ is_open }) => is_open),
      [],
    )
  }
})

test('below zero the banner says empty, whatever the threshold', async () => {
  const { cookie, org_id } = await seedSignedIn(house)
  await set(cookie, null)
  await house.database.worker.query('update balances set balance = -0.01 where org_id = $1', [org_id])
  assert.equal((await notice(cookie))['state'], 'empty')
})

test('a mail that no server takes is tried again later, not given up', async () => {
  const deaf = await openMailbox({ refuse: true })
  const { cookie, org_id, email } = await seedSignedIn(house)
  await set(cookie, '11')
  const config = readConfig({ SMTP_URL: deaf.url })
  await noticeLowBalances({ ...house.ground, config })
  assert.deepEqual(await noticesOf(org_id), [{ is_open: true, is_mailed: false }])
  await look()
  assert.equal(mailsTo(email).length, 0, 'not while the first attempt may still be under way')
  await house.database.worker.query(
    `update low_balance_notices set claimed_until = now() - interval '1 second' where org_id = $1`,
    [org_id],
  )
  await look()
  assert.equal(mailsTo(email).length, 1)
  await deaf.close()
})

test('the threshold is the owner’s to set, and an amount; a key sees nothing of it', async () => {
  const owner = await seedSignedIn(house)
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  assert.equal((await set(admin.cookie, '2')).data()['code'], 'role_forbidden')
  for (const threshold of ['-1', 'x', '1000001']) assert.equal((await set(owner.cookie, threshold)).statusCode, 400)
  const { secret: key } = await seedKey(house.database, owner, { rights: ['report'] })
  const answer = await house.call('GET', '/api/billing/notice', { key })
  assert.deepEqual([answer.statusCode, answer.data()['code']], [403, 'api_key_resource_forbidden'])
})

test('a running Sluice looks by itself', async () => {
  const address = `watched-${Date.now()}@example.com`
  const watching = await startHouse({ SMTP_URL: mailbox.url })
  const { org_id, user_id } = await seedSignedIn(watching)
  await watching.database.worker.query('update users set email = $2 where id = $1', [user_id, address])
  await watching.database.worker.query('update balances set balance = 0.5 where org_id = $1', [org_id])
  await eventually('a mail comes', () => mailsTo(address).length > 0)
  await watching.end()
})
