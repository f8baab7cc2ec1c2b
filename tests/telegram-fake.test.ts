// The fake Bot API is as strict as Telegram; every test of bots, channels and broadcasts relies on that.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Arrival, type Receiver, startReceiver } from './support/receiver.ts'
import { type FakeBot, startTelegram, type TelegramFake } from './support/telegram-fake/telegram-fake.ts'

let telegram: TelegramFake
let program: Receiver
let judge: (arrival: Arrival) => { status: number; body?: string; headers?: Record<string, string> }
before(async () => {
  telegram = await startTelegram()
  program = await startReceiver((arrival, response) => {
    const { status, body = 'ok', headers = {} } = judge(arrival)
    response.writeHead(status, headers).end(body)
  })
  telegram.reach('https://owner.example', program.origin)
})
after(async () => {
  await telegram.close()
  await program.close()
})

type Answer = {
  ok: boolean
  result?: Record<string, unknown>
  error_code?: number
  parameters?: { retry_after: number }
}

async function call({ token }: { token: string }, method: string, params: object = {}): Promise<Answer> {
  const reply = await fetch(`${telegram.origin}/bot${token}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(params),
  })
  return (await reply.json()) as Answer
}

/** A bot whose program listens. */
function hooked(about: Parameters<FakeBot['setHook']>[1] = {}): FakeBot {
  const bot = telegram.bot()
  bot.setHook('https://owner.example/hook', { secret_token: 'owners', ...about })
  program.arrivals.length = 0
  judge = () => ({ status: 200 })
  return bot
}

const numbers = () => program.arrivals.map(({ body }) => (JSON.parse(body) as { update_id: number }).update_id)

test('a webhook gets its secret, one update of a chat after the other, and repeats until it accepts', async () => {
  const bot = hooked()
  const [ann, bob] = [telegram.person(), telegram.person()]
  let refusals = 2
  judge = ({ body }) => ({ status: body.includes(`"id":${ann.id}`) && refusals-- > 0 ? 500 : 200 })
  for (const words of ['one', 'two']) ann.say(bot, words)
  bob.say(bot, 'three')
  await telegram.settled()
  const [first = 0] = numbers()
  assert.deepEqual(
    numbers().filter(id => id !== first + 2),
    [first, first, first, first + 1],
  )
  assert.equal(numbers().filter(id => id === first + 2).length, 1, 'another chat does not wait')
  assert.ok(program.arrivals.every(({ headers }) => headers['x-telegram-bot-api-secret-token'] === 'owners'))
  assert.equal(bot.pending, 0)
})

test('Retry-After is obeyed, a query is given up after 150 seconds, and 410 for a day removes the webhook', async () => {
  const bot = hooked()
  const ann = telegram.person()
  judge = () => ({ status: 503, headers: { 'retry-after': '100' } })
  ann.checkout(bot, { payload: 'x', total_amount: 1 })
  const [from, began] = [telegram.now(), performance.now()]
  await telegram.settled()
  // What the machine took itself is in both clocks.
  const took = performance.now() - began
  const [first = NaN, second = NaN, ...others] = bot.attempts.map(({ at }) => at - from)
  assert.deepEqual(others, [])
  assert.ok(
    first <= took + 1 && second - first >= 100_000 && second - first <= 100_000 + took + 1,
    `${first} ${second}`,
  )
  telegram.advance(60_000)
  assert.equal(bot.pending, 0)
  judge = () => ({ status: 410 })
  ann.say(bot, 'one')
  await telegram.settled()
  assert.equal(bot.hook, undefined)
})

test('one method in the body of an answer is executed, and only subscribed update types are sent', async () => {
  const bot = hooked({ allowed_updates: ['message'] })
  const ann = telegram.person()
  judge = () => ({ status: 200, body: JSON.stringify({ method: 'sendMessage', chat_id: ann.id, text: 'hi' }) })
  ann.say(bot, 'one')
  ann.block(bot)
  await telegram.settled()
  assert.equal(program.arrivals.length, 1)
  const sent = telegram.messages.filter(({ chat }) => chat === ann.id)
  assert.deepEqual(
    sent.map(({ params }) => params['text']),
    [],
  )
  assert.deepEqual(
    telegram.calls.filter(({ token, via }) => token === bot.token && via === 'hook').map(({ status }) => status),
    [403],
    'a person who has blocked the bot gets no message',
  )
})

test('wrong calls are refused as Telegram refuses them', async () => {
  const bot = hooked()
  const [ann, stranger] = [telegram.person(), telegram.person()]
  ann.start(bot)
  const chat = telegram.chat()
  chat.promote(bot, ['can_post_messages'])
  const own = telegram.chat()
  own.promote(bot)
  const link = { chat_id: own.id }
  const wrong: [{ token: string }, string, object, number][] = [
    [{ token: '1:nobody' }, 'getMe', {}, 401],
    [{ token: 'none' }, 'getMe', {}, 404],
    [bot, 'getNothing', {}, 404],
    [bot, 'getUpdates', {}, 409],
    [bot, 'setWebhook', { url: 'http://owner.example' }, 400],
    [bot, 'setWebhook', { url: 'https://owner.example:444' }, 400],
    [bot, 'setWebhook', { url: 'https://owner.example', secret_token: 'no spaces' }, 400],
    [bot, 'createChatInviteLink', { chat_id: chat.id }, 400],
    [bot, 'createChatInviteLink', { ...link, name: 'x'.repeat(33) }, 400],
    [bot, 'createChatInviteLink', { ...link, member_limit: 1, creates_join_request: true }, 400],
    [bot, 'sendMessage', { chat_id: ann.id, text: 'x'.repeat(4097) }, 400],
    [bot, 'sendMessage', { chat_id: ann.id, text: '<b>x', parse_mode: 'HTML' }, 400],
    [
      bot,
      'sendMessage',
      {
        chat_id: ann.id,
        text: 'x',
        reply_markup: { inline_keyboard: [[{ text: 'x', callback_data: 'x'.repeat(65) }]] },
      },
      400,
    ],
    [bot, 'sendMessage', { chat_id: stranger.id, text: 'x' }, 403],
    [bot, 'approveChatJoinRequest', { ...link, user_id: ann.id }, 400],
    [bot, 'answerPreCheckoutQuery', { pre_checkout_query_id: 'x', ok: true }, 400],
  ]
  for (const [as, method, params, code] of wrong)
    assert.equal((await call(as, method, params)).error_code, code, `${method} ${JSON.stringify(params)}`)
})

test('a requester can be messaged for five minutes and until the request is decided; a payment approved late does not go through', async () => {
  const bot = hooked()
  const chat = telegram.chat()
  chat.promote(bot)
  const { result } = await call(bot, 'createChatInviteLink', { chat_id: chat.id, creates_join_request: true })
  const [ann, bob] = [telegram.person(), telegram.person()]
  for (const one of [ann, bob]) one.join(chat, String(result?.['invite_link']))
  assert.equal((await call(bot, 'sendMessage', { chat_id: ann.id, text: 'soon' })).ok, true)
  assert.equal((await call(bot, 'approveChatJoinRequest', { chat_id: chat.id, user_id: ann.id })).ok, true)
  assert.ok(chat.members.has(ann.id))
  telegram.advance(2000)
  assert.equal((await call(bot, 'sendMessage', { chat_id: ann.id, text: 'late' })).error_code, 403)
  telegram.advance(300_000)
  assert.equal((await call(bot, 'sendMessage', { chat_id: bob.id, text: 'late' })).error_code, 403)
  const query = ann.checkout(bot, { payload: 'x', total_amount: 5 })
  telegram.advance(11_000)
  assert.equal((await call(bot, 'answerPreCheckoutQuery', { pre_checkout_query_id: query, ok: true })).error_code, 400)
})

test('more than one message a second to a chat, or thirty to all, is 429; faults come as prepared', async () => {
  const bot = hooked()
  const people = Array.from({ length: 31 }, () => telegram.person())
  for (const one of people) one.start(bot)
  const send = (to: { id: number } | undefined) => call(bot, 'sendMessage', { chat_id: to?.id, text: 'x' })
  assert.equal((await send(people[0])).ok, true)
  assert.deepEqual((await send(people[0])).parameters, { retry_after: 1 })
  // On a busy machine a burst may take longer than the limit's second, and is then repeated.
  for (let took_ms = 1000; took_ms > 990; ) {
    telegram.advance(1000)
    const from = performance.now()
    const answers = await Promise.all(people.map(send))
    took_ms = performance.now() - from
    if (took_ms <= 990) assert.ok(answers.filter(({ ok }) => ok).length <= 30)
  }
  telegram.advance(1000)
  telegram.faults.next('sendMessage', 'accept_then_drop')
  const before = telegram.messages.length
  await assert.rejects(send(people[1]))
  assert.equal(telegram.messages.length, before + 1, 'it was sent all the same')
  telegram.faults.next('sendMessage', { retry_after: 30 })
  assert.deepEqual((await send(people[2])).parameters, { retry_after: 30 })
  telegram.faults.next('sendMessage', 502)
  await assert.rejects(send(people[2]))
})
