import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type Mailbox, openMailbox } from '../../../tests/support/mailbox.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { noticeCertificates } from './notices.ts'

const HOUR = 60 * 60_000
const DAY = 24 * HOUR

let house: TestHouse
let mailbox: Mailbox
before(async () => {
  mailbox = await openMailbox()
  // It does not listen, so it orders nothing, and a test says when certificates are looked at.
  house = await startHouse({ TLS: 'auto', SMTP_URL: mailbox.url, BASE_URL: 'https://main.test' })
})
after(async () => {
  await house.end()
  await mailbox.close()
})

const at = (from_now: number) => new Date(Date.now() + from_now).toISOString()
const row = (name: string, set: object) =>
  house.database.kysely
    .insertInto('certificates')
    .values({ name, ...set })
    .execute()
const issued = (from: number, to: number) => ({
  chain: 'c',
  key: Buffer.from('k'),
  serial: '1',
  not_before: at(from),
  not_after: at(to),
})
const look = () => noticeCertificates(house.ground)
const plain = (text = '') => text.replaceAll('=\n', '').replaceAll('=3D', '=')

test('a certificate that nears its end, and one that cannot be had, are told once, to who set the installation up', async () => {
  const owner = await seedSignedIn(house)
  const later = await seedSignedIn(house)
  await row('main.test', issued(-83 * DAY, 8 * DAY))
  await row('short.test', issued(-10 * HOUR, 3 * HOUR))
  await row('gone.test', { ...issued(-89 * DAY, DAY), gone_at: at(0) })
  await row('new.test', { attempts: 4, problem: 'the authority says: no such name' })
  await look()
  assert.equal(mailbox.mails.length, 0)

  const { kysely: db } = house.database
  await db
    .updateTable('certificates')
    .set({ not_after: at(6 * DAY), problem: 'the authority says: no' })
    .where('name', '=', 'main.test')
    .execute()
  await db.updateTable('certificates').set({ attempts: 5 }).where('name', '=', 'new.test').execute()
  await Promise.all([look(), look(), look()])
  await look()
  assert.deepEqual(
    mailbox.mails.map(({ to }) => to),
    [[owner.email], [owner.email]],
  )
  const texts = mailbox.mails.map(({ text }) => plain(text)).toSorted()
  assert.match(
    texts.join('\n'),
    /The certificate of main\.test ends at \d{4}-\d\d-\d\d \d\d:\d\d UTC and could not be renewed/,
  )
  assert.match(texts.join('\n'), /There is no certificate for new\.test[^]*no such name/)
  assert.ok(!mailbox.mails.some(({ to }) => to.includes(later.email)))

  await db
    .updateTable('certificates')
    .set({ not_after: at(2 * HOUR) })
    .where('name', '=', 'short.test')
    .execute()
  await look()
  assert.match(mailbox.mails.at(-1)?.text ?? '', /short\.test/)
  assert.equal(mailbox.mails.length, 3)
})
