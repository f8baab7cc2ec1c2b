// Broadcasts as Telegram sees them: recipients, speed, and what stops them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type BotGround, botGround } from '../../../tests/support/bots.ts'
import { broadcasting, mostASecond } from '../../../tests/support/broadcasts.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import type { Failure } from '../bots/telegram.ts'
import { outcomeOfSend } from './sending.ts'
import type { Recipient } from './sends.ts'

const IS_LONG = process.env['SLUICE_TEST_ALL'] === '1'
/** At 20 a second eight minutes of them, or a few seconds. */
const COUNT = IS_LONG ? 10_000 : 100

let ground: BotGround
let at: ReturnType<typeof broadcasting>
before(async () => {
  ground = await botGround({}, { sending: { poll_ms: 100, probe_ms: 200, most_probe_ms: 400 } })
  at = broadcasting(ground)
})
after(() => ground.end())

const sum = (counts: object) => Object.values(counts).reduce((all: number, one: number) => all + one, 0)

test('every reachable subscriber gets the message exactly once, never faster than Telegram allows, and the counts add up', async () => {
  const bot = await at.bot()
  const people = await at.people(bot, COUNT)
  people[3]?.block(bot.fake)
  people[50]?.deactivate()
  const { id } = await at.draft(bot, { per_second: IS_LONG ? 20 : 28 })
  await at.start(id, COUNT)
  const { counts, recipients } = await at.until(id, 'done')
  assert.deepEqual(counts, {
    recipients: COUNT,
    queued: 0,
    sent: COUNT - 2,
    blocked: 1,
    gone: 1,
    failed: 0,
    unknown: 0,
    skipped: 0,
  })
  assert.deepEqual([recipients, sum(counts)], [COUNT, 2 * COUNT])
  const chats = at.chats(bot)
  assert.equal(new Set(chats).size, COUNT - 2)
  assert.equal(chats.length, COUNT - 2)
  const calls = ground.telegram.calls.filter(
    ({ token, method }) => token === bot.fake.token && method.startsWith('send'),
  )
  assert.equal(calls.length, COUNT)
  assert.ok(mostASecond(calls.map(call => call.at)) <= 28)
  await eventually('the one who blocked it is known', async () => {
    const { rows } = await ground.house.database.reads.query<{ state: string }>(
      `select state from subscribers where bot_id = $1 and state <> 'reachable' order by state`,
      [bot.uuid],
    )
    return rows.map(({ state }) => state).join() === 'blocked,gone'
  })
})

const callsOf = ({ fake }: Awaited<ReturnType<typeof at.bot>>, method = 'sendMessage') =>
  ground.telegram.calls.filter(call => call.token === fake.token && call.method === method)

test('after a rate limit the bot waits as long as Telegram asks and then sends slower, while other bots continue', async () => {
  const [bot, other] = [await at.bot(), await at.bot()]
  await at.people(bot, 30)
  await at.people(other, 150)
  const others = await at.started(other, 150)
  await eventually('the other bot sends', () => callsOf(other).length > 0)
  ground.telegram.faults.next('sendMessage', { retry_after: 2 }, 1, bot.fake.token)
  const id = await at.started(bot, 30)
  const { counts } = await at.until(id, 'done')
  assert.equal(counts.sent, 30)
  const asked_at = callsOf(bot).find(({ status }) => status === 429)?.at ?? 0
  // The first of three parallel messages is the refused one.
  const later = callsOf(bot)[3]?.at ?? 0
  assert.ok(later >= asked_at + 2000, 'it was not silent')
  const during = callsOf(other).filter(({ at: when }) => when > asked_at && when < later)
  assert.ok(during.length > 10, `the other bot has sent ${during.length}`)
  assert.equal(new Set(at.chats(bot)).size, 30)
  assert.equal((await at.until(others, 'done')).counts.sent, 150)
})

test('while Telegram is away at most one group becomes unknown, and then sending continues', async () => {
  const bot = await at.bot()
  const people = await at.people(bot, 30)
  const id = await at.started(bot, 30)
  await eventually('it has begun', () => at.chats(bot).length >= 3)
  ground.telegram.faults.always('*', 502, bot.fake.token)
  await eventually('it asks whether Telegram is back', () => callsOf(bot, 'getMe').length >= 4)
  ground.telegram.faults.clear()
  const { counts } = await at.until(id, 'done')
  assert.ok(counts.unknown >= 1 && counts.unknown <= 3, `${counts.unknown} are unknown`)
  assert.equal(counts.sent + counts.unknown, 30)
  assert.equal(new Set(at.chats(bot)).size, at.chats(bot).length)
  const { data } = (await ground.call('GET', `/api/broadcasts/${id}/sends?state=unknown`)).json<{
    data: { telegram_user_id: string; reason: string }[]
  }>()
  const unknown = data.map(({ telegram_user_id }) => Number(telegram_user_id))
  const missing = people.map(person => person.id).filter(person => !at.chats(bot).includes(person))
  assert.deepEqual(new Set(unknown), new Set(missing))
  assert.equal(unknown.length, missing.length)
  await at.call('POST', `/api/broadcasts/${id}/unknown`)
  const again = await at.until(id, 'done')
  assert.deepEqual([again.counts.sent, again.counts.unknown], [30, 0])
  assert.equal(new Set(at.chats(bot)).size, 30)
})

test('while only messages get no answer, one is tried at a time, each after twice the pause', async () => {
  const bot = await at.bot()
  await at.people(bot, 12)
  ground.telegram.faults.always('sendMessage', 502, bot.fake.token)
  const id = await at.started(bot, 12)
  await eventually('some are tried', () => callsOf(bot).length >= 6)
  ground.telegram.faults.clear()
  const times = callsOf(bot).map(call => call.at)
  const gaps = times.slice(3, 6).map((when, n) => when - (times[n + 2] ?? 0))
  for (const [n, least] of [200, 400, 400].entries())
    assert.ok((gaps[n] ?? 0) >= least - 20, `tried after ${gaps.join()}`)
  const { counts } = await at.until(id, 'done')
  assert.ok(counts.unknown >= 6 && counts.unknown <= 7, `${counts.unknown} are unknown`)
  assert.equal(counts.sent + counts.unknown, 12)
})

test('Telegram’s answer is recorded even if its rate limit cannot be recorded at once', async () => {
  const bot = await at.bot()
  await at.people(bot, 6)
  ground.telegram.faults.next('sendMessage', { retry_after: 1 }, 1, bot.fake.token)
  const { schema } = ground.house.database
  await sql`alter table bots add constraint no_silence check (send_after is null) not valid`.execute(schema)
  const id = await at.started(bot, 6)
  await eventually('Telegram has asked', () => callsOf(bot).some(({ status }) => status === 429))
  await eventually('the others are answered', () => at.chats(bot).length === 2)
  assert.equal((await at.read(id)).counts.sent, 0)
  await sql`alter table bots drop constraint no_silence`.execute(schema)
  const { counts } = await at.until(id, 'done')
  assert.deepEqual([counts.sent, counts.unknown], [6, 0])
})

test('a lost answer is not sent again unless that was asked for, and then once', async () => {
  const bot = await at.bot()
  await at.people(bot, 1)
  ground.telegram.faults.next('sendMessage', 'accept_then_drop', 1, bot.fake.token)
  const skipped = await at.until(await at.started(bot, 1), 'done')
  assert.deepEqual([skipped.counts.unknown, at.chats(bot).length], [1, 1])
  const other = await at.bot()
  await at.people(other, 1)
  ground.telegram.faults.next('sendMessage', 'accept_then_drop', 5, other.fake.token)
  const resent = await at.until(await at.started(other, 1, { on_unknown: 'resend' }), 'done')
  assert.deepEqual([resent.counts.unknown, at.chats(other).length], [1, 2])
  ground.telegram.faults.clear()
})

test('the outcome of a message follows Telegram’s answer, and only a message that was certainly not sent is queued again', () => {
  const [first, again] = [false, true].map(isAgain => ({
    telegram_user_id: '7',
    subscriber_id: 's',
    click_id: null,
    name: null,
    isAgain,
  })) as [Recipient, Recipient]
  const of = (kind: Failure['kind'], description = 'words', to = first, on_unknown = 'skip') =>
    outcomeOfSend(to, { ok: false, kind, description }, { message: { text: 'Hello' }, on_unknown }).state
  assert.deepEqual(
    ['unsent', 'later', 'token'].map(kind => of(kind as Failure['kind'])),
    ['queued', 'queued', 'queued'],
  )
  assert.equal(of('unknown'), 'unknown')
  assert.deepEqual([of('unknown', '', first, 'resend'), of('unknown', '', again, 'resend')], ['queued', 'unknown'])
  assert.equal(of('refused', 'Forbidden: bot was blocked by the user'), 'blocked')
  assert.equal(of('refused', 'Forbidden: user is deactivated'), 'gone')
  assert.equal(of('refused', 'Bad Request: chat not found'), 'failed')
  assert.equal(of('refused', "Bad Request: can't parse entities"), 'failed')
  assert.deepEqual(
    outcomeOfSend(first, { ok: true, result: { message_id: 12 } }, { message: { text: 'Hello' }, on_unknown: 'skip' }),
    {
      telegram_user_id: '7',
      state: 'sent',
      reason: null,
      message_id: 12,
    },
  )
})

test('three refusals of the message pause the broadcast with Telegram’s reason, and no other recipient is tried or marked', async () => {
  const bot = await at.bot()
  const [known] = await at.people(bot, 20)
  for (const [chat_id, words] of [
    [-1001, 'Bad Request: chat not found'],
    [String(known?.id), 'Bad Request: message to copy not found'],
  ] as const) {
    const before = callsOf(bot, 'copyMessage').length
    const { id } = await at.draft(bot, { message: { copy: { chat_id, message_id: 7 } }, per_second: 2 })
    await at.start(id, 20)
    const { pause_reason, counts } = await at.until(id, 'paused')
    assert.equal(pause_reason, words)
    assert.deepEqual([counts.failed, counts.queued], [3, 17])
    assert.equal(callsOf(bot, 'copyMessage').length - before, 3)
    const tried = await at.call('POST', `/api/broadcasts/${id}/test`, { user: known?.id })
    assert.deepEqual(tried, { is_sent: false, reason: words })
    await at.call('POST', `/api/broadcasts/${id}/stop`)
  }
  const { data } = (await ground.call('GET', `/api/subscribers/counts`)).json<{
    data: { bot_id: string; reachable: number }[]
  }>()
  assert.equal(data.find(one => one.bot_id === bot.id)?.reachable, 20)
})

test('a revoked token pauses the broadcast, and no recipient is skipped or lost', async () => {
  const bot = await at.bot()
  await at.people(bot, 10)
  bot.fake.revoke()
  const id = await at.started(bot, 10)
  const { pause_reason, counts } = await at.until(id, 'paused')
  assert.equal(pause_reason, 'Telegram rejects the token of this bot')
  assert.equal(counts.queued, 10)
  await eventually('the watch has seen it', async () => {
    const { data } = await ground.call('GET', `/api/bots/${bot.id}`)
    return data()['token_state'] === 'revoked'
  })
  const refused = await ground.call('POST', `/api/broadcasts/${id}/resume`)
  assert.deepEqual([refused.statusCode, refused.data()['code']], [409, 'bot_token_revoked'])
  assert.equal((await ground.call('PATCH', `/api/bots/${bot.id}`, { token: bot.fake.token })).statusCode, 200)
  await at.call('POST', `/api/broadcasts/${id}/resume`)
  assert.equal((await at.until(id, 'done')).counts.sent, 10)
})

test('broadcasts of a bot are sent one at a time, and nobody gets two messages within a second', async () => {
  const bot = await at.bot()
  await at.people(bot, 9)
  const [one, two] = [
    await at.draft(bot, { message: { text: 'one' } }),
    await at.draft(bot, { message: { text: 'two' } }),
  ]
  await at.start(one.id, 9)
  await at.start(two.id, 9)
  assert.equal((await at.until(one.id, 'done')).counts.sent, 9)
  assert.equal((await at.until(two.id, 'done')).counts.sent, 9)
  assert.equal(callsOf(bot).filter(({ status }) => status === 429).length, 0)
  const said = callsOf(bot).map(({ params }) => params['text'])
  assert.ok(said.lastIndexOf('one') < said.indexOf('two'), said.join())
})

test('outside its window and in quiet hours nothing is sent', async () => {
  const bot = await at.bot()
  await at.people(bot, 2)
  const hour = (ahead: number) => `${String((new Date().getUTCHours() + ahead) % 24).padStart(2, '0')}:00`
  const away = { from: hour(2), to: hour(3), time_zone: 'UTC' }
  const now = { from: hour(23), to: hour(2), time_zone: 'UTC' }
  const shut = [
    await at.started(bot, 2, { window: away }),
    await at.started(bot, 2, { audience: { quiet_hours: now } }),
  ]
  const open = await at.started(bot, 2, { window: now, audience: { quiet_hours: away } })
  assert.equal((await at.until(open, 'done')).counts.sent, 2)
  for (const id of shut) assert.deepEqual((await at.read(id)).counts.queued, 2)
  assert.equal(at.chats(bot).length, 2)
  await eventually('no process holds the bot meanwhile', async () => {
    const { rowCount } = await ground.house.database.reads.query(
      `select 1 from bot_senders where bot_id = $1 and next_at > now() + interval '5 minutes' and lease_until < now()`,
      [bot.uuid],
    )
    return rowCount === 1
  })
  assert.equal((await at.until(await at.started(bot, 2), 'done')).counts.sent, 2)
  for (const id of shut) assert.equal((await at.call('POST', `/api/broadcasts/${id}/stop`)).counts.skipped, 2)
})
