import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { pino } from 'pino'
import { openMailbox } from '../../../tests/support/mailbox.ts'
import { readConfig } from '../config.ts'
import { linkTo, sendMail } from './mail.ts'

/** A log whose lines can be read. */
function openLog() {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  return { log: pino({ level: 'warn' }, stream), lines }
}

const mail = { to: 'ann@example.com', subject: 'Héllo', text: 'A link: https://example.com/x' }

test('a mail goes over SMTP, from the sender its address names', async () => {
  const mailbox = await openMailbox()
  const { log, lines } = openLog()
  assert.equal(await sendMail({ config: readConfig({ SMTP_URL: mailbox.url }), log }, mail), 'sent')
  const received = await mailbox.next('ann@example.com')
  assert.equal(received.from, 'sluice@example.com')
  assert.ok(received.text.includes('A link: https://example.com/x'))
  assert.deepEqual(lines, [])
  await mailbox.close()
})

test('without SMTP_URL the log shows the whole mail', async () => {
  const { log, lines } = openLog()
  assert.equal(await sendMail({ config: readConfig({}), log }, mail), 'logged')
  assert.ok(lines.join('').includes('A link: https://example.com/x') && lines.join('').includes('ann@example.com'))
})

test('a mail that cannot be sent is reported as failed and logged, never thrown', async () => {
  const refusing = await openMailbox({ refuse: true })
  const { log, lines } = openLog()
  assert.equal(await sendMail({ config: readConfig({ SMTP_URL: refusing.url }), log }, mail), 'failed')
  assert.equal(refusing.mails.length, 0)
  await refusing.close()
  assert.equal(await sendMail({ config: readConfig({ SMTP_URL: refusing.url }), log }, mail), 'failed')
  assert.equal(lines.length, 2)
})

test('an address that contains a list of addresses reaches none of them', async t => {
  const mailbox = await openMailbox()
  t.after(() => mailbox.close())
  const { log } = openLog()
  await sendMail(
    { config: readConfig({ SMTP_URL: mailbox.url }), log },
    { ...mail, to: 'a@example.com, b@example.com' },
  )
  assert.ok(mailbox.mails.every(({ to }) => !to.includes('b@example.com')))
})

test("links use BASE_URL, else the browser's address, else this process's", () => {
  const origin = 'http://localhost:9000'
  assert.equal(linkTo(readConfig({ BASE_URL: 'https://t.example.com' }), '/x', origin), 'https://t.example.com/x')
  assert.equal(linkTo(readConfig({ PORT: '8123' }), '/x', origin), 'http://localhost:9000/x')
  assert.equal(linkTo(readConfig({ PORT: '8123' }), '/x', undefined), 'http://localhost:8123/x')
})
