// Forwarding: the owner's program and Sluice both get every update, whatever is away.
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { type BotProgram, startBotProgram } from '../../../tests/support/bot-program.ts'
import { type BotGround, botGround, PUBLIC } from '../../../tests/support/bots.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse, startHouse } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import type { FakeBot } from '../../../tests/support/telegram-fake/telegram-fake.ts'
import { toUuid } from '../../contract/ids.ts'
import { dropOldRelays } from './relay-log.ts'

let ground: BotGround
let call: BotGround['call']
let program: BotProgram
before(async () => {
  ground = await botGround()
  call = ground.call
  program = await startBotProgram()
})
after(async () => {
  await ground.end()
  await program.close()
})

/** A bot in mode relay whose program had the webhook. */
async function relayed(more: object = {}): Promise<{ bot: FakeBot; id: string }> {
  const bot = ground.telegram.bot()
  bot.setHook('https://owner.example/tg/hook?x=1', {
    secret_token: 'owners_secret',
    allowed_updates: ['message', 'edited_message', 'callback_query', 'pre_checkout_query', 'inline_query'],
  })
  program.updates.length = 0
  program.answer = (_, response) => void response.end('ok')
  const { id } = await ground.add(bot, {
    mode: 'relay',
    relay_url: program.url,
    relay_secret: 'owners_secret',
    ...more,
  })
  return { bot, id }
}

const numbers = () => program.numbers()

/** A campaign that leads to the bot; `click` returns the id of a new click. */
async function clicksTo({ username }: FakeBot): Promise<() => Promise<string>> {
  const destination = { type: 'redirect', url: `https://t.me/${username}?start={click_id}` }
  const { key } = (await call('POST', '/api/campaigns', { name: 'Bot', destination })).data()
  return async () => {
    const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x64) Chrome/130.0.0.0' }
    const { headers: to } = await ground.house.call('GET', `/c/${String(key)}`, { headers })
    return new URL(String(to.location)).searchParams.get('start') ?? ''
  }
}

const eventsOf = async (id: string) => {
  const { rows } = await ground.house.database.reads.query<{ type: string; telegram_user_id: string }>(
    'select type, telegram_user_id from events where bot_id = $1',
    [toUuid(id)],
  )
  return rows
}

test('relay takes the webhook with its update types, and changing to copy restores it unchanged', async () => {
  const { bot, id } = await relayed()
  assert.equal(bot.hook?.url, `${PUBLIC}/hooks/telegram/${id}`)
  assert.equal(bot.hook?.max_connections, 100)
  for (const kind of ['edited_message', 'inline_query', 'chat_member']) assert.ok(bot.allowed?.includes(kind), kind)
  const shown = (await call('GET', `/api/bots/${id}`)).data()
  const { mode, former_host, relay_host, has_relay_secret } = shown
  assert.deepEqual([mode, former_host, has_relay_secret], ['relay', 'owner.example', true])
  assert.equal(relay_host, new URL(program.url).host)
  assert.ok(!JSON.stringify(shown).includes('owners_secret') && !JSON.stringify(shown).includes('x=1'))
  const own = await call('PATCH', `/api/bots/${id}`, { mode: 'own' })
  assert.equal(own.data()['code'], 'bot_hook_taken')
  assert.equal((await call('PATCH', `/api/bots/${id}`, { mode: 'copy' })).data()['hook_state'], 'copy')
  assert.deepEqual([bot.hook?.url, bot.hook?.secret], ['https://owner.example/tg/hook?x=1', 'owners_secret'])
  assert.ok(!bot.allowed?.includes('chat_member'))
  const back = (await call('PATCH', `/api/bots/${id}`, { mode: 'relay', relay_url: program.url })).data()
  assert.deepEqual([back['mode'], back['hook_state'], back['former_host']], ['relay', 'set', 'owner.example'])
  const taken = (await call('PATCH', `/api/bots/${id}`, { mode: 'own', take_over: true })).data()
  assert.deepEqual([taken['mode'], taken['hook_state'], taken['relay_host']], ['own', 'set', null])
  await call('DELETE', `/api/bots/${id}`)
  assert.deepEqual([bot.hook?.url, bot.hook?.secret], ['https://owner.example/tg/hook?x=1', 'owners_secret'])
})

test('of hundreds of mixed and repeated updates the program gets each once, with the same bytes and its own secret; the records equal those of mode own', async () => {
  const { bot, id } = await relayed()
  const plain = ground.telegram.bot()
  const { id: own } = await ground.add(plain)
  const [click, other] = [await clicksTo(bot), await clicksTo(plain)]
  const people = Array.from({ length: 25 }, () => ground.telegram.person())
  const sent: number[] = []
  const count = process.env['SLUICE_TEST_ALL'] ? 1000 : 300
  for (let n = 0; n < count; n += 1) {
    const person = people[n % people.length] ?? assert.fail()
    if (n < 50) {
      person.start(bot, await click())
      person.start(plain, await other())
    } else if (n % 3 === 0) person.say(bot, `hello ${n} äöü 😀`)
    else if (n % 3 === 1) person.press(bot, 1, `data ${n}`)
    else {
      const update = {
        inline_query: { id: `${n}`, from: { id: person.id, is_bot: false, first_name: 'A' }, query: 'q', offset: '' },
      }
      const number = bot.sendUpdate(update) ?? assert.fail()
      if (n % 2 === 0) bot.sendUpdate({ ...update, update_id: number })
    }
  }
  await ground.telegram.settled()
  assert.equal(bot.pending, 0)
  sent.push(...new Set(bot.attempts.map(({ update_id }) => update_id)))
  assert.equal(sent.length, count)
  assert.deepEqual(
    numbers().toSorted((a, b) => a - b),
    sent.toSorted((a, b) => a - b),
  )
  assert.ok(program.updates.every(({ secret }) => secret === 'owners_secret'))
  assert.ok(program.updates.some(({ bytes }) => bytes.includes('äöü 😀')))
  const [relayedEvents, ownEvents] = [await eventsOf(id), await eventsOf(own)]
  const inOrder = (rows: typeof ownEvents) => rows.map(row => Object.values(row).join(' ')).sort()
  assert.deepEqual(inOrder(relayedEvents), inOrder(ownEvents))
  assert.equal(relayedEvents.length, people.length)
})

test('bytes are forwarded unchanged, whatever they are', async () => {
  const { bot, id } = await relayed()
  const headers = { 'x-telegram-bot-api-secret-token': bot.hook?.secret ?? '' }
  const odd = Buffer.from(
    '{ "update_id" : 12345678901,\n "message":{"text":"\\u0000\\ud800 \\/"} , "new_kind":{"a":1.0e2}}',
  )
  const reply = await ground.house.call('POST', `/hooks/telegram/${id}`, { payload: odd, headers })
  assert.equal(reply.statusCode, 200)
  assert.ok(program.updates[0]?.bytes.equals(odd))
  const broken = await ground.house.call('POST', `/hooks/telegram/${id}`, { payload: Buffer.from('{'), headers })
  assert.equal(broken.statusCode, 200)
  assert.equal(program.updates[1]?.bytes.toString(), '{')
})

test('a method in the program’s answer reaches Telegram, and nothing else of the answer does', async () => {
  const { telegram } = ground
  const { bot, id } = await relayed()
  const ann = telegram.person()
  program.answer = (_, response) =>
    void response.end(JSON.stringify({ method: 'sendMessage', chat_id: ann.id, text: 'from the program' }))
  ann.say(bot, 'hi')
  await telegram.settled()
  assert.deepEqual(
    telegram.messages.filter(({ chat }) => chat === ann.id).map(({ params }) => params['text']),
    ['from the program'],
  )
  program.answer = (_, response) => void response.writeHead(201, { 'x-own': 'y' }).end('{"secret":"inside"}')
  const headers = { 'x-telegram-bot-api-secret-token': bot.hook?.secret ?? '' }
  const reply = await ground.house.call('POST', `/hooks/telegram/${id}`, {
    body: { update_id: 5, message: {} },
    headers,
  })
  assert.deepEqual([reply.statusCode, reply.data(), reply.headers['x-own']], [200, { ok: true }, undefined])
})

test('while the program is down Sluice records everything, and afterwards the program gets everything, in order within a chat', async () => {
  const { telegram } = ground
  const { bot, id } = await relayed()
  const click = await clicksTo(bot)
  const people = [telegram.person(), telegram.person()]
  program.answer = (_, response) => void response.destroy()
  for (const person of people) person.start(bot, await click())
  for (let n = 0; n < 3; n += 1) for (const person of people) person.say(bot, `later ${n}`)
  await eventually('starts are recorded', async () => (await eventsOf(id)).length === 2)
  telegram.advance(120_000)
  program.updates.length = 0
  program.answer = (_, response) => void response.end('ok')
  await telegram.settled()
  await eventually('everything is taken', async () => {
    telegram.advance(20_000)
    await telegram.settled()
    return bot.pending === 0
  })
  const texts = program.updates.map(
    ({ bytes }) => (JSON.parse(bytes.toString()) as { message: { from: { id: number }; text: string } }).message,
  )
  for (const { id: person } of people) {
    const own = texts
      .filter(({ from }) => from.id === person)
      .map(({ text }) => (text.split(' ')[0] === '/start' ? 'start' : text))
    assert.deepEqual(own, ['start', 'later 0', 'later 1', 'later 2'])
  }
  assert.equal((await eventsOf(id)).length, 2)
})

test('an answer that is no 2xx or too long does not accept the update: Telegram sends it again, also after 410, and the log has the reason', async () => {
  const { bot, id } = await relayed()
  const headers = { 'x-telegram-bot-api-secret-token': bot.hook?.secret ?? '' }
  const answers: [(response: ServerResponse) => void, number, number | null, RegExp][] = [
    [response => void response.writeHead(410).end(), 502, 410, /410/],
    [response => void response.writeHead(302, { location: 'https://elsewhere.example' }).end(), 502, 302, /302/],
    [response => void response.writeHead(500).end(), 502, 500, /500/],
    [response => void response.end('x'.repeat(65 * 1024)), 502, 200, /64 KiB/],
    [response => void response.destroy(), 502, null, /reached/],
  ]
  for (const [at, [answer, status]] of answers.entries()) {
    program.answer = (_, response) => answer(response)
    const reply = await ground.house.call('POST', `/hooks/telegram/${id}`, {
      body: { update_id: at, message: { text: 'marker-in-text' } },
      headers,
    })
    assert.deepEqual([reply.statusCode, reply.headers['retry-after']], [status, '5'])
  }
  const log = async () =>
    (await call('GET', `/api/bots/${id}/relays`)).data()['data'] as {
      type: string
      status: number | null
      reason: string
      ms: number
      at: string
    }[]
  await eventually('it is in the log', async () => (await log()).length === answers.length)
  for (const [at, line] of (await log()).toReversed().entries()) {
    const [, , status, words] = answers[at] ?? assert.fail()
    assert.deepEqual([line.type, line.status], ['message', status])
    assert.match(line.reason, words)
  }
  assert.equal(bot.hook?.url, `${PUBLIC}/hooks/telegram/${id}`)
  const { house } = ground
  await dropOldRelays(house.ground, Date.now(), 2)
  assert.equal((await log()).length, 2)
  await dropOldRelays(house.ground, Date.now() + 8 * 86_400_000)
  assert.deepEqual(await log(), [])
})

test('after ten failures a program is not called for a while, and its updates stay at Telegram', async () => {
  const { bot, id } = await relayed()
  program.answer = (_, response) => void response.writeHead(500).end()
  const headers = { 'x-telegram-bot-api-secret-token': bot.hook?.secret ?? '' }
  for (let n = 0; n < 15; n += 1) {
    const reply = await ground.house.call('POST', `/hooks/telegram/${id}`, {
      body: { update_id: n, message: {} },
      headers,
    })
    assert.equal(reply.statusCode, 502)
  }
  assert.equal(program.updates.length, 10)
})

test('an update that comes many times at once, also to two processes, is forwarded once', async () => {
  const { bot, id } = await relayed()
  const headers = { 'x-telegram-bot-api-secret-token': bot.hook?.secret ?? '' }
  const release = Promise.withResolvers<void>()
  program.answer = (_, response) => void release.promise.then(() => response.end('ok'))
  const again = () =>
    ground.house.call('POST', `/hooks/telegram/${id}`, { body: { update_id: 77, message: {} }, headers })
  const sent = Array.from({ length: 10 }, again)
  await eventually('it has come', () => program.updates.length > 0)
  // The state of an update that another process is forwarding.
  await ground.house.database.reads.query('select 1')
  release.resolve()
  const codes = (await Promise.all(sent)).map(({ statusCode }) => statusCode)
  assert.deepEqual([...new Set(codes)], [200])
  assert.equal((await again()).statusCode, 200)
  assert.equal(program.updates.length, 1)
  await ground.house.database.reads.query(
    `insert into relay_marks (org_id, bot_id, update_id, taken_until) values ($1, $2, 78, now() + interval '1 hour')`,
    [ground.owner.org_id, toUuid(id)],
  )
  const held = await ground.house.call('POST', `/hooks/telegram/${id}`, {
    body: { update_id: 78, message: {} },
    headers,
  })
  assert.equal(held.statusCode, 503)
  await ground.house.database.reads.query(`update relay_marks set taken_until = now() where update_id = 78`)
  assert.equal(
    (await ground.house.call('POST', `/hooks/telegram/${id}`, { body: { update_id: 78, message: {} }, headers }))
      .statusCode,
    200,
  )
  assert.equal(program.updates.length, 2)
})

test('types that the owner has not listed, and presses of Sluice’s own buttons, are not forwarded', async () => {
  const { bot, id } = await relayed()
  await call('PATCH', `/api/bots/${id}`, { relay_types: ['callback_query', 'poll'] })
  assert.ok(bot.allowed?.includes('poll') && bot.allowed.includes('message'))
  const ann = ground.telegram.person()
  ann.say(bot, 'not for it')
  ann.press(bot, 1, 'for it')
  ann.press(bot, 1, 'sluice:opt-out')
  await ground.telegram.settled()
  assert.deepEqual(
    program.updates.map(({ bytes }) => bytes.includes('"for it"')),
    [true],
  )
})

test('a checkout query reaches the program, and Sluice does not answer it', async () => {
  const { bot } = await relayed()
  const { telegram } = ground
  program.answer = (bytes, response) => {
    const { pre_checkout_query: asked } = JSON.parse(bytes.toString()) as { pre_checkout_query?: { id: string } }
    response.end(
      JSON.stringify(
        asked === undefined ? {} : { method: 'answerPreCheckoutQuery', pre_checkout_query_id: asked.id, ok: true },
      ),
    )
  }
  telegram.person().checkout(bot, { payload: 'x', total_amount: 5 })
  await telegram.settled()
  assert.deepEqual(
    program.updates.map(({ bytes }) => bytes.includes('pre_checkout_query')),
    [true, false],
    'the query, and then the payment',
  )
  const answers = telegram.calls.filter(
    ({ token, method }) => token === bot.token && method === 'answerPreCheckoutQuery',
  )
  assert.deepEqual(
    answers.map(({ via, status }) => [via, status]),
    [['hook', 200]],
  )
})

test('in copy the webhook is never touched, a copy is recorded, and only the newest secret is accepted', async () => {
  const { telegram, house } = ground
  const bot = telegram.bot()
  bot.setHook('https://owner.example', { secret_token: 'theirs' })
  const { id, hook_state } = await ground.add(bot, { mode: 'copy' })
  assert.equal(hook_state, 'copy')
  const click = await clicksTo(bot)
  const first = (await call('POST', `/api/bots/${id}/copy-secret`)).data()
  assert.equal(first['url'], `${PUBLIC}/hooks/telegram/${id}`)
  const copy = async (secret: unknown, payload: string) => {
    const message = {
      message_id: 1,
      date: 1,
      chat: { id: 7, type: 'private' },
      from: { id: 7, is_bot: false },
      text: `/start ${payload}`,
    }
    const headers = { 'x-telegram-bot-api-secret-token': String(secret) }
    return (await house.call('POST', `/hooks/telegram/${id}`, { body: { update_id: 1, message }, headers })).statusCode
  }
  assert.equal(await copy(first['secret'], await click()), 200)
  assert.equal((await eventsOf(id)).length, 1)
  assert.equal(await copy('wrong', await click()), 401)
  const second = (await call('POST', `/api/bots/${id}/copy-secret`)).data()
  assert.deepEqual([await copy(first['secret'], 'x'), await copy(second['secret'], 'x')], [401, 200])
  assert.equal((await call('POST', `/api/bots/${id}/check`)).data()['hook_state'], 'copy')
  assert.equal((await call('POST', `/api/bots/${id}/hook`)).data()['hook_state'], 'copy')
  await call('DELETE', `/api/bots/${id}`)
  assert.equal(await copy(second['secret'], 'x'), 401)
  assert.deepEqual([bot.hook?.url, bot.hook?.secret], ['https://owner.example', 'theirs'])
  assert.deepEqual(
    telegram.methods(bot).filter(name => /^(set|delete)/.test(name)),
    [],
  )
  const plain = await ground.add(telegram.bot())
  assert.equal((await call('POST', `/api/bots/${plain.id}/copy-secret`)).data()['code'], 'bot_not_copied')
})

test('a private address is refused and not called, unless the operator lists its host with its port', async () => {
  const { telegram } = ground
  const env = { BASE_URL: PUBLIC, TELEGRAM_API_ROOT: telegram.origin, ALLOW_PRIVATE_TARGETS: 'false' }
  const other = await startBotProgram()
  const strict = await startHouse({
    ...env,
    RELAY_PRIVATE_HOSTS: `${new URL(program.url).host},[0::1]:3001,10.0.0.5:80`,
  })
  const { cookie } = await seedSignedIn(strict)
  const headers = { origin: PUBLIC, cookie: `__Host-${cookie}` }
  const bot = telegram.bot()
  const add = (relay_url: string) =>
    strict.call('POST', '/api/bots', { headers, body: { token: bot.token, mode: 'relay', relay_url } })
  for (const url of [
    'http://10.0.0.6/hook',
    'https://10.0.0.5/hook',
    other.url,
    'https://bots.internal/hook',
    'http://[::1]:3000/',
    'http://owner.example/hook',
  ])
    assert.equal((await add(url)).statusCode, 400, url)
  assert.equal(
    (await add(other.url)).data()['hint'],
    'The operator of this server can list the host and port in RELAY_PRIVATE_HOSTS.',
  )
  program.updates.length = 0
  program.answer = (_, response) => void response.end('ok')
  const reply = await add(program.url)
  assert.equal(reply.statusCode, 201, reply.body)
  const id = String(reply.data()['id'])
  const post = (update_id: number, by = strict) =>
    by.call('POST', `/hooks/telegram/${id}`, {
      body: { update_id, message: {} },
      headers: { 'x-telegram-bot-api-secret-token': bot.hook?.secret ?? '' },
    })
  assert.equal((await post(1)).statusCode, 200)
  assert.equal(program.updates.length, 1)
  const unlisted = await openTestHouse(strict.database, { ...env, RELAY_PRIVATE_HOSTS: new URL(other.url).host })
  assert.equal((await post(2, unlisted)).statusCode, 502)
  assert.equal(program.updates.length, 1)
  await unlisted.end()
  for (const url of ['http://[::1]:3001/hook', 'http://10.0.0.5/hook'])
    assert.equal(
      (await strict.call('PATCH', `/api/bots/${id}`, { headers, body: { relay_url: url } })).statusCode,
      200,
      url,
    )
  await strict.end()
  await other.close()
})

test('message texts are in no table', async () => {
  const { bot } = await relayed()
  const marker = 'marker-5e1f0c'
  const ann = ground.telegram.person({ first_name: marker })
  ann.say(bot, marker)
  await ground.telegram.settled()
  assert.ok(program.updates.some(({ bytes }) => bytes.includes(marker)))
  const { reads } = ground.house.database
  const { rows: tables } = await reads.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  for (const { name } of tables) {
    const { rows } = await reads.query<{ found: boolean }>(
      `select coalesce(bool_or(t::text like $1), false) as found from "${name}" t`,
      [`%${marker}%`],
    )
    assert.equal(rows[0]?.found, false, name)
  }
})
