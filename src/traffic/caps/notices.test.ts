import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { capsAs } from '../../../tests/support/caps.ts'
import { ORIGIN, startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type Mailbox, openMailbox } from '../../../tests/support/mailbox.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { sendCapNotices } from './notices.ts'

let house: TestHouse
let mailbox: Mailbox
before(async () => {
  mailbox = await openMailbox()
  // It delivers and notices nothing by itself, so that a test says when caps are looked at.
  house = await startHouse({ ROLE: 'serve', SMTP_URL: mailbox.url, BASE_URL: ORIGIN })
})
after(async () => {
  await house.end()
  await mailbox.close()
})

const look = () => sendCapNotices(house.ground)
const mailsTo = ({ email }: SignedIn) => mailbox.mails.filter(({ to }) => to.includes(email))

test('a cap that conversions have reached is told to owners and admins, by one mail in a period', async () => {
  const owner = await seedSignedIn(house)
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const at = capsAs(house, owner)
  const offer = await at.offer('slots')
  const { key } = await at.follow(offer.id)
  const { id } = await at.cap(offer.id, { limit: 1, timezone: 'Europe/Kyiv' })
  const { click } = await at.visit(key)
  await look()
  assert.deepEqual(mailbox.mails, [])
  await at.convert(click)
  // Several processes look at once, again and again.
  await Promise.all([look(), look(), look()])
  await at.convert(click, { type: 'deposit' })
  await look()
  for (const one of [owner, admin]) {
    const [mail, ...more] = mailsTo(one)
    assert.equal(more.length, 0)
    assert.match(
      (mail?.text ?? '').replaceAll('=\n', ''),
      /The offer slots has reached its cap of 1 conversions a day[^]*opens again at \d{4}-\d\d-\d\d 2[12]:00 UTC/,
    )
  }
  assert.deepEqual(mailsTo(member), [])
  // What somebody does here by hand they see by the answer.
  await at.did('PATCH', `/api/caps/${id}`, { limit: 5 })
  await at.did('PATCH', `/api/caps/${id}`, { limit: 2 })
  await look()
  assert.equal(mailsTo(owner).length, 1)
})

test('a mail that no server takes is tried again, and one for a cap that is open by then is left out', async () => {
  const owner = await seedSignedIn(house)
  const at = capsAs(house, owner)
  const offer = await at.offer('late')
  const { key } = await at.follow(offer.id)
  const { id } = await at.cap(offer.id)
  await at.convert((await at.visit(key)).click)
  const refusing = await openMailbox({ refuse: true })
  await sendCapNotices({ ...house.ground, config: { ...house.ground.config, smtpUrl: refusing.url } })
  await refusing.close()
  await house.database.worker.query('update cap_counts set claimed_until = now() where mailed_at is null')
  await look()
  assert.equal(mailsTo(owner).length, 1)
  const other = await at.offer('opened')
  const { key: second } = await at.follow(other.id)
  const cap = await at.cap(other.id)
  await at.convert((await at.visit(second)).click)
  await at.did('POST', `/api/caps/${cap.id}/reopen`)
  await look()
  assert.equal(mailsTo(owner).length, 1)
  assert.notEqual(id, cap.id)
})
