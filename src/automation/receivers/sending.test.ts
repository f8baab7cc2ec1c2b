// What is told arrives: signed, in order, once, after failures, behind quiet hours and in digests.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, type TestContext, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { ORIGIN, startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type Mailbox, openMailbox } from '../../../tests/support/mailbox.ts'
import { seedSession, seedSignedIn } from '../../../tests/support/people.ts'
import { type Arrival, startReceiver } from '../../../tests/support/receiver.ts'
import { startTelegram, type TelegramFake } from '../../../tests/support/telegram-fake/telegram-fake.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { newId, toUuid, toWireId } from '../../contract/ids.ts'
import { plainAgent } from '../../ground/guard.ts'
import { type Alert, tell } from '../alerts/tell.ts'
import { sendByChannel } from './channels.ts'
import { claimNext } from './turns.ts'
import { openReceiverWorker, sendWaiting } from './worker.ts'

let house: TestHouse
let mailbox: Mailbox
let telegram: TelegramFake
const agent = plainAgent({ connections: 20 })
before(async () => {
  mailbox = await openMailbox()
  telegram = await startTelegram()
  // It sends nothing by itself, so that a test says when messages are looked at.
  house = await startHouse({
    ROLE: 'serve',
    SMTP_URL: mailbox.url,
    BASE_URL: ORIGIN,
    TELEGRAM_API_ROOT: telegram.origin,
  })
})
after(async () => {
  await house.end()
  await mailbox.close()
  await telegram.close()
  await agent.close()
})

const NOON = Date.parse('2026-11-24T12:00:00Z')
type Body = Record<string, unknown> & { type: string; phase: string; items?: Body[] }
const bodyOf = ({ body }: Arrival) => JSON.parse(body) as Body

/** A workspace at noon, whose owner stays signed in for a year. */
async function workspace({ mock }: Pick<TestContext, 'mock'>) {
  const owner = await seedSignedIn(house)
  const cookie = await seedSession(house, owner.user_id, 365 * DAY_MS)
  mock.timers.enable({ apis: ['Date'], now: NOON })
  const call = async (method: 'GET' | 'POST' | 'PATCH', url: string, body?: unknown) => {
    const reply = await house.call(method, url, { cookie, ...(body === undefined ? {} : { body }) })
    assert.ok(reply.statusCode < 300, reply.body)
    return reply.data() as Record<string, unknown> & { id: string; secret: string }
  }
  const receiver = (fields: object) => call('POST', '/api/receivers', { name: 'R', ...fields })
  const say = (more: Partial<Alert> = {}) =>
    house.ground.db.transaction().execute(trx => tell(trx, owner.org_id, { ...ALERT, ...more }))
  const of = (id: string) => ({ org_id: owner.org_id, receiver_id: toUuid(id) ?? '' })
  const send = (id: string) => sendWaiting({ ...house.ground, agent, signal: new AbortController().signal }, of(id))
  const later = async (id: string, ms: number) => {
    mock.timers.setTime(Date.now() + ms)
    await send(id)
  }
  return { owner, call, receiver, say, send, of, later }
}

const ALERT: Alert = {
  kind: 'clicks_fall',
  phase: 'begins',
  episode_key: 'clicks_fall campaign',
  object: { kind: 'campaign', id: newId(), name: 'Summer' },
  rule: null,
  text: 'Clicks of “Summer” have stopped.',
  figures: { clicks: 0, expected: 120 },
  causes: [{ dimension: 'geo', value: 'DE', label: 'Country DE', share: 0.62 }],
  url: '/campaigns/1',
}

/** Checks a signature as a program of somebody else would. */
function isSigned({ headers, body }: Arrival, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  return String(headers['webhook-signature']).split(' ').includes(signature)
}

test('a webhook gets one signed message for ten breaches, one more when it grows by half, and a word when it is over', async t => {
  const program = await startReceiver()
  const { receiver, say, send } = await workspace(t)
  const { id, secret } = await receiver({ type: 'webhook', url: program.origin })
  for (let breach = 0; breach < 10; breach += 1) await say({ figure: String(100 + breach) })
  await send(id)
  assert.equal(program.arrivals.length, 1)
  await say({ figure: '151' })
  await say({ phase: 'over' })
  await say({ phase: 'over' })
  await send(id)
  await program.close()
  const bodies = program.arrivals.map(bodyOf)
  assert.deepEqual(
    bodies.map(({ phase }) => phase),
    ['begins', 'grows', 'over'],
  )
  assert.ok(program.arrivals.every(arrival => isSigned(arrival, secret)))
  assert.equal(new Set(program.arrivals.map(({ headers }) => headers['webhook-id'])).size, 3)
  const [{ episode, ...first } = {} as Body] = bodies
  assert.match(String(episode), /^\w{26}$/)
  assert.deepEqual(first, {
    type: 'clicks_fall',
    phase: 'begins',
    object: { ...ALERT.object, id: toWireId(ALERT.object.id ?? '') },
    rule: null,
    text: ALERT.text,
    figures: ALERT.figures,
    causes: ALERT.causes,
    at: new Date(NOON).toISOString(),
    url: `${ORIGIN}/campaigns/1`,
  })
})

test('the example of the docs accepts calls of Sluice, and neither altered nor old ones', async t => {
  const program = await startReceiver()
  const { receiver, say, send } = await workspace(t)
  const { id, secret } = await receiver({ type: 'webhook', url: program.origin })
  await say()
  await send(id)
  await program.close()
  const [, code = ''] = /```js\n([^]*?)```/.exec(readFileSync('docs/alerts.md', 'utf8')) ?? []
  const { isFromSluice } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    isFromSluice: (headers: unknown, body: string, secret: string) => boolean
  }
  const [{ headers, body } = { headers: {}, body: '' }] = program.arrivals
  assert.equal(isFromSluice(headers, body, secret), true)
  assert.equal(isFromSluice(headers, `${body} `, secret), false)
  assert.equal(isFromSluice(headers, body, `whsec_${Buffer.alloc(32).toString('base64')}`), false)
  t.mock.timers.setTime(NOON + 6 * MINUTE_MS)
  assert.equal(isFromSluice(headers, body, secret), false)
})

test('a webhook that was down for a day gets one delivery, with the id of every attempt and a time of its own', async t => {
  let status = 500
  const program = await startReceiver((_, response) => void response.writeHead(status).end())
  const { call, receiver, say, send, later } = await workspace(t)
  const { id, secret } = await receiver({ type: 'webhook', url: program.origin })
  await say()
  await send(id)
  for (const wait of [6000, 6 * MINUTE_MS, 36 * MINUTE_MS, 2.4 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS]) {
    // Just before its time nothing is sent.
    await later(id, wait * 0.66)
    await later(id, wait * 0.34)
  }
  assert.equal(program.arrivals.length, 7)
  assert.equal((await call('GET', `/api/receivers/${id}`))['state'], 'fails')
  status = 202
  await later(id, 12 * HOUR_MS)
  await later(id, 12 * HOUR_MS)
  await program.close()
  assert.equal(program.arrivals.length, 8)
  assert.equal(new Set(program.arrivals.map(({ headers }) => headers['webhook-id'])).size, 1)
  assert.equal(new Set(program.arrivals.map(({ headers }) => headers['webhook-timestamp'])).size, 8)
  assert.ok(program.arrivals.every(arrival => isSigned(arrival, secret)))
  const { state, last_error } = await call('GET', `/api/receivers/${id}`)
  assert.deepEqual([state, last_error], ['works', null])
})

test('a message is given up after the eighth attempt; the next of its episode waits until then', async t => {
  const program = await startReceiver((_, response) => void response.writeHead(500).end())
  const { receiver, say, later } = await workspace(t)
  const { id } = await receiver({ type: 'webhook', url: program.origin })
  await say()
  await say({ phase: 'over' })
  for (let attempt = 1; attempt <= 9; attempt += 1) await later(id, 13 * HOUR_MS)
  await program.close()
  assert.deepEqual(
    program.arrivals.map(arrival => bodyOf(arrival).phase),
    [...Array<string>(8).fill('begins'), 'over', 'over'],
  )
})

test('a rotated webhook is signed by both secrets for a day, then by the new one alone', async t => {
  const program = await startReceiver()
  const { call, receiver, say, send, later } = await workspace(t)
  const { id, secret: former } = await receiver({ type: 'webhook', url: program.origin })
  const { secret } = await call('POST', `/api/receivers/${id}/rotate`)
  assert.notEqual(secret, former)
  await say()
  await send(id)
  await later(id, DAY_MS - 1)
  await say({ phase: 'over' })
  await send(id)
  await say()
  await later(id, 1)
  await program.close()
  const found = program.arrivals.map(arrival => [
    isSigned(arrival, secret),
    isSigned(arrival, former),
    String(arrival.headers['webhook-signature']).split(' ').length,
  ])
  assert.deepEqual(found, [
    [true, true, 2],
    [true, true, 2],
    [true, false, 1],
  ])
})

test('quiet hours delay messages, a digest collects them in one body, and neither loses one', async t => {
  const program = await startReceiver()
  const { call, receiver, say, send, later } = await workspace(t)
  const quiet_hours = { from: '13:30', to: '07:00', time_zone: 'Europe/Berlin' }
  const { id } = await receiver({ type: 'webhook', url: program.origin, quiet_hours })
  await later(id, 45 * MINUTE_MS)
  await say()
  await later(id, 30 * MINUTE_MS)
  await say({ phase: 'over' })
  await later(id, 12 * HOUR_MS)
  assert.equal(program.arrivals.length, 0)
  await later(id, 5 * HOUR_MS)
  assert.deepEqual(
    program.arrivals.map(arrival => bodyOf(arrival).phase),
    ['begins', 'over'],
  )
  await call('PATCH', `/api/receivers/${id}`, {
    quiet_hours: null,
    digest: { at: '09:00', time_zone: 'Europe/Berlin' },
  })
  await say()
  await later(id, 1)
  await say({ kind: 'balance_low', episode_key: 'balance' })
  await send(id)
  await later(id, HOUR_MS)
  assert.equal(program.arrivals.length, 2)
  await later(id, HOUR_MS)
  await later(id, DAY_MS)
  await say({ phase: 'over' })
  // Without the digest it need not wait.
  await call('PATCH', `/api/receivers/${id}`, { digest: null })
  await send(id)
  await program.close()
  const [digest, over] = program.arrivals.slice(2).map(bodyOf)
  assert.equal(program.arrivals.length, 4)
  assert.deepEqual(
    [digest?.type, digest?.phase, digest?.['object'], digest?.['url']],
    ['digest', 'digest', null, `${ORIGIN}/automation/receivers`],
  )
  assert.deepEqual(
    digest?.items?.map(({ type, phase, url }) => [type, phase, url]),
    [
      ['clicks_fall', 'begins', `${ORIGIN}/campaigns/1`],
      ['balance_low', 'begins', `${ORIGIN}/campaigns/1`],
    ],
  )
  assert.equal(over?.phase, 'over')
})

test('a receiver is told about its kinds alone, and by a rule that names it', async t => {
  const program = await startReceiver()
  const { call, receiver, say, send, of } = await workspace(t)
  const { id } = await receiver({ type: 'webhook', url: program.origin, about: ['balance_low'] })
  assert.equal(await say(), false)
  assert.equal(await say({ kind: 'rule', receiver_ids: [of(id).receiver_id] }), true)
  await send(id)
  await call('POST', `/api/receivers/${id}/test`)
  await program.close()
  assert.deepEqual(
    program.arrivals.map(arrival => bodyOf(arrival).type),
    ['rule', 'test'],
  )
})

test('mails and messages of a bot have the text, the causes and the address of the page', async t => {
  const { owner, call, receiver, say, send } = await workspace(t)
  const bot = telegram.bot()
  const [group, supergroup] = [telegram.chat({ type: 'group' }), telegram.chat({ type: 'supergroup' })]
  for (const one of [group, supergroup]) one.promote(bot)
  const { id: bot_id } = await call('POST', '/api/bots', { token: bot.token })
  const [mail, chat] = [
    await receiver({ type: 'mail', email: owner.email }),
    await receiver({ type: 'telegram', bot_id, chat_id: String(group.id) }),
  ]
  await say()
  await send(mail.id)
  telegram.faults.next('sendMessage', { retry_after: 5 }, 1, bot.token)
  await send(chat.id)
  assert.equal((await call('GET', `/api/receivers/${chat.id}`))['state'], 'works')
  await house.database.worker.query('update bots set send_after = null')
  t.mock.timers.setTime(Date.now() + 6000)
  await send(chat.id)
  const text = `${ALERT.text}\n– Country DE: 62 % of the fall\n\n${ORIGIN}/campaigns/1`
  assert.deepEqual(
    telegram.messages.filter(({ bot: by }) => by === bot.id).map(({ params }) => params['text']),
    [text],
  )
  group.migrate(supergroup)
  telegram.advance(60_000)
  await say({ phase: 'over' })
  await send(chat.id)
  const { chat_id, state } = await call('GET', `/api/receivers/${chat.id}`)
  assert.deepEqual([chat_id, state, telegram.messages.length], [String(supergroup.id), 'works', 2])
  bot.revoke()
  await say()
  await send(chat.id)
  assert.deepEqual((await call('GET', `/api/receivers/${chat.id}`))['last_error'], 'Unauthorized')
  const received = await mailbox.next(owner.email)
  assert.match(received.text, /Subject: Sluice: Summer: Clicks fall\n/)
})

test('of several processes one sends; a message that a killed process held is sent by another, with the same id', async t => {
  const program = await startReceiver()
  const { call, receiver, say, send, of } = await workspace(t)
  const { id } = await receiver({ type: 'webhook', url: program.origin })
  await say()
  const held = await claimNext(house.ground.db, of(id))
  assert.ok(typeof held === 'object')
  await sendByChannel({ ...house.ground, agent }, held)
  // The process dies before it has written the outcome. Until its lease ends, nobody else sends.
  await send(id)
  assert.equal(program.arrivals.length, 1)
  await house.database.worker.query(`update receiver_messages set lease_until = now() where state = 'waiting'`)
  await send(id)
  assert.equal(program.arrivals.length, 2)
  assert.equal(new Set(program.arrivals.map(({ headers }) => headers['webhook-id'])).size, 1)
  t.mock.timers.reset()
  const workers = [openReceiverWorker(house.ground), openReceiverWorker(house.ground)]
  for (let alert = 0; alert < 30; alert += 1) await say({ episode_key: `episode ${alert}` })
  await eventually('all have arrived', () => program.arrivals.length >= 32)
  assert.equal(program.arrivals.length, 32)
  assert.equal(new Set(program.arrivals.map(({ headers }) => headers['webhook-id'])).size, 31)
  // They notice that their own clock has reached the end of the quiet hours.
  const later = new Date(Date.now() + HOUR_MS).toISOString().slice(11, 16)
  const earlier = new Date(Date.now() - HOUR_MS).toISOString().slice(11, 16)
  await call('PATCH', `/api/receivers/${id}`, { quiet_hours: { from: earlier, to: later, time_zone: 'UTC' } })
  await say({ episode_key: 'quiet' })
  const waits = async () =>
    (
      await house.ground.db
        .selectFrom('receiver_messages')
        .select('due_at')
        .where('org_id', '=', of(id).org_id)
        .where('state', '=', 'waiting')
        .execute()
    ).some(({ due_at }) => Date.parse(due_at) > Date.now())
  await eventually('the message waits', waits)
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + HOUR_MS })
  await program.arrived(33)
  for (const worker of workers) await worker.close()
  await program.close()
})

test('two processes make one digest of the same messages', async t => {
  const program = await startReceiver()
  const { receiver, say, send, later } = await workspace(t)
  const { id } = await receiver({ type: 'webhook', url: program.origin, digest: { at: '13:00', time_zone: 'UTC' } })
  for (let alert = 0; alert < 20; alert += 1) await say({ episode_key: `episode ${alert}` })
  await later(id, 0)
  t.mock.timers.setTime(NOON + HOUR_MS)
  await Promise.all([send(id), send(id), send(id)])
  await program.close()
  assert.deepEqual(
    program.arrivals.map(arrival => bodyOf(arrival).items?.length),
    [20],
  )
})
