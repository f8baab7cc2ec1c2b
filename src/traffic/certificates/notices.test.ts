import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type Mailbox, openMailbox } from '../../../tests/support/mailbox.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import { sendCertificateNotices } from './notices.ts'

const HOUR = 60 * 60_000
const DAY = 24 * HOUR

let house: TestHouse
let mailbox: Mailbox
let owner: SignedIn
before(async () => {
  mailbox = await openMailbox()
  // It does not listen, so it orders nothing, and a test says when certificates are looked at.
  house = await startHouse({ TLS: 'auto', SMTP_URL: mailbox.url, BASE_URL: 'https://main.test' })
  owner = await seedSignedIn(house)
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
const look = () => sendCertificateNotices(house.ground)
const plain = (text = '') => text.replaceAll('=\n', '').replaceAll('=3D', '=')

const change = (name: string, set: object) =>
  house.database.kysely.updateTable('certificates').set(set).where('name', '=', name).execute()
const hold = async (name: string, { org_id }: SignedIn) => {
  const domain_id = newId()
  await house.database.kysely
    .insertInto('domain_names')
    .values({ name, org_id, domain_id, way: 'pointing', proven_at: at(0) })
    .execute()
  return toWireId(domain_id)
}

test('a certificate that expires within a week, and one that cannot be had, are told once, to who set the installation up', async () => {
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
    /The certificate of main\.test expires at \d{4}-\d\d-\d\d \d\d:\d\d UTC and could not be renewed/,
  )
  assert.match(texts.join('\n'), /could not get a certificate for new\.test[^]*no such name/)
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

test('a certificate that is still not renewed is told again on its last day, and once it has expired', async () => {
  const other = await seedSignedIn(house)
  await hold('again.test', other)
  await row('again.test', { ...issued(-84 * DAY, 6 * DAY), problem: 'the authority says: no' })
  const subjects = async (expires_in?: number) => {
    const before = mailbox.mails.length
    if (expires_in !== undefined) await change('again.test', { not_before: at(-89 * DAY), not_after: at(expires_in) })
    await Promise.all([look(), look()])
    await look()
    const sent = mailbox.mails.slice(before)
    assert.ok(sent.every(({ to }) => to.join() === other.email))
    return sent.map(({ text }) => /^Subject: (.+)$/m.exec(text.replaceAll('\r', ''))?.[1])
  }
  assert.deepEqual(await subjects(), ['The certificate of again.test expires soon'])
  /** The last mail was sent so long ago. */
  const toldAgo = (ago: number) => change('again.test', { told_at: at(-ago), telling_until: at(-ago) })
  await toldAgo(4 * DAY)
  assert.deepEqual(await subjects(2 * DAY), [])
  assert.deepEqual(await subjects(23 * HOUR), ['The certificate of again.test expires soon'])
  await toldAgo(20 * HOUR)
  assert.deepEqual(await subjects(-HOUR), ['The certificate of again.test has expired'])
})

test('the dashboard lists what is not renewed: a domain to its members, the main host to owners of the first workspace', async () => {
  const other = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: other, role: 'member' })
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  const domain_id = await hold('listed.test', other)
  const problem = 'the authority says: no'
  const not_after = at(30 * DAY)
  await row('listed.test', { ...issued(-60 * DAY, 0), not_after, attempts: 4, problem })
  type Line = { kind: string; name: string; id: string | null; until: string; reason: string | null }
  const listed = async ({ cookie }: SignedIn) => {
    const headers = { host: 'main.test', origin: 'https://main.test' }
    const reply = await house.call('GET', '/api/attention', { cookie: `__Host-${cookie}`, headers })
    assert.equal(reply.statusCode, 200, reply.body)
    return reply.json<{ lines: Line[] }>().lines.filter(({ kind }) => kind.startsWith('certificate_'))
  }
  assert.deepEqual(await listed(other), [], 'four failures are no hour')
  await change('listed.test', { attempts: 5 })
  const [first, ...more] = await listed(other)
  assert.deepEqual(
    [first?.kind, first?.name, first?.id, new Date(first?.until ?? 0).toISOString(), first?.reason],
    ['certificate_expiring', 'listed.test', domain_id, not_after, problem],
  )
  assert.deepEqual([more, (await listed(member)).length], [[], 1])
  assert.deepEqual(
    (await listed(owner)).map(({ name, id }) => [name, id]),
    [['main.test', null]],
  )
  assert.deepEqual(await listed(admin), [])
})
