// Adding, reading and deleting bots without taking the webhook from another program.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type BotGround, botGround, PUBLIC } from '../../../tests/support/bots.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, seedKey, startHouse, toWireId } from '../../../tests/support/house.ts'
import { seedSignedIn, type SignedIn } from '../../../tests/support/people.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'

let ground: BotGround
let call: BotGround['call']
before(async () => {
  ground = await botGround()
  call = ground.call
})
after(() => ground.end())

const codeOf = ({ statusCode, body }: { statusCode: number; body: string }) => [
  statusCode,
  (JSON.parse(body) as { code?: string }).code,
]

/** All rows of the room as one text. */
async function stored(): Promise<string> {
  const { reads } = ground.house.database
  const { rows: bots } = await reads.query<{ all: string }>(
    `select coalesce(string_agg(b::text || encode(token, 'escape'), ''), '') as all from bots b`,
  )
  const { rows: hooks } = await reads.query<{ all: string }>(
    `select coalesce(string_agg(h::text, ''), '') as all from bot_hooks h`,
  )
  return [...bots, ...hooks].map(({ all }) => all).join('')
}

test('a bot is added by its token alone; its webhook gets a secret and all update types, and its token is shown to nobody', async () => {
  const { telegram, owner } = ground
  const bot = telegram.bot({ name: 'Coin Pulse' })
  const reply = await call('POST', '/api/bots', { token: bot.token })
  assert.equal(reply.statusCode, 201)
  const { id, created_at, hook_checked_at, ...rest } = reply.data()
  assert.deepEqual(rest, {
    username: bot.username,
    name: 'Coin Pulse',
    telegram_id: String(bot.id),
    link: `https://t.me/${bot.username}?start={click_id}`,
    mode: 'own',
    hook_state: 'set',
    hook_error: null,
    hook_host: null,
    pending_updates: null,
    last_error: null,
    former_host: null,
    relay_host: null,
    has_relay_secret: false,
    relay_types: [],
    guard_hook: false,
    guarded_at: [],
    has_copy_secret: false,
    token_state: 'ok',
    welcome: null,
    opt_out_words: ['/stop'],
    keep_names: false,
    accept_payments: false,
    stars_rate: null,
    unanswered_payments: 0,
    stars_looked_at: null,
    send_per_second: 20,
    silent_until: null,
    send_after: null,
    last_update_at: null,
  })
  assert.match(String(created_at), /Z$/)
  assert.equal(hook_checked_at, null)
  assert.deepEqual(telegram.methods(bot), ['getMe', 'getWebhookInfo', 'setWebhook'])
  assert.equal(bot.hook?.url, `${PUBLIC}/hooks/telegram/${String(id)}`)
  assert.match(bot.hook?.secret ?? '', /^[\w-]{43}$/)
  assert.ok(bot.allowed?.includes('message') && bot.allowed.includes('chat_member'))
  const list = await call('GET', '/api/bots')
  const one = await call('GET', `/api/bots/${String(id)}`)
  assert.deepEqual(one.data(), reply.data())
  assert.deepEqual((list.data()['data'] as { id: string }[])[0], reply.data())
  for (const shown of [reply.body, list.body, one.body, await stored()]) {
    assert.ok(!shown.includes(bot.token.slice(12)))
    assert.ok(!shown.includes(bot.hook?.secret ?? 'none'))
  }
  await call('DELETE', `/api/bots/${String(id)}`, undefined, owner)
})

test('an invalid bot is refused, stores nothing and touches no webhook', async () => {
  const { telegram } = ground
  const bot = telegram.bot({ username: 'Sluice_Bot' })
  const fresh = telegram.bot({ username: 'Fresh_Bot' })
  await ground.add(bot)
  const before = (await call('GET', '/api/bots')).body
  const wrong: [unknown, number, RegExp][] = [
    [undefined, 400, /./],
    [{ username: 'x_bot' }, 400, /token/],
    [{ token: 'no token' }, 400, /token/],
    [{ token: fresh.token, username: 'not a name' }, 400, /username/],
    [{ token: fresh.token, mode: 'steal' }, 400, /mode/],
    [{ token: fresh.token, mode: 'relay' }, 400, /relay_url/],
    [{ token: fresh.token, mode: 'relay', relay_url: 'ftp://x.example' }, 400, /relay_url/],
    [{ token: fresh.token, mode: 'relay', relay_url: `${PUBLIC}/hooks` }, 400, /points to Sluice/],
    [{ token: fresh.token, mode: 'relay', relay_url: 'https://x.example', relay_secret: 'a b' }, 400, /relay_secret/],
    [{ token: '999999:AAE-nobody_has_this_one' }, 400, /no bot with this token/],
    [{ token: fresh.token, username: 'another_bot' }, 400, /@Fresh_Bot/],
    [{ token: bot.token, username: '@SLUICE_BOT' }, 409, /already/],
  ]
  for (const [body, status, words] of wrong) {
    const reply = await call('POST', '/api/bots', body)
    assert.equal(reply.statusCode, status, JSON.stringify(body) + reply.body)
    assert.match(reply.body, words)
    assert.ok(!reply.body.includes(fresh.token))
  }
  assert.equal((await call('GET', '/api/bots')).body, before)
  assert.equal(fresh.hook, undefined)
  assert.ok(!telegram.methods(fresh).includes('setWebhook'))
})

test('another program’s webhook is left alone and the refusal names the three modes; with take_over Sluice takes it, and restores it when the bot is deleted', async () => {
  const { telegram } = ground
  const bot = telegram.bot()
  bot.setHook('https://owner.example/tg?x=1', { secret_token: 'theirs', allowed_updates: ['message', 'poll'] })
  const reply = await call('POST', '/api/bots', { token: bot.token })
  assert.deepEqual(codeOf(reply), [409, 'bot_hook_taken'])
  const { error, hint } = reply.data()
  assert.match(String(error), /owner\.example/)
  for (const way of ['relay', 'copy', 'take_over']) assert.ok(String(hint).includes(way))
  assert.ok(!reply.body.includes('x=1'), 'an address may hold a secret')
  assert.deepEqual(telegram.methods(bot), ['getMe', 'getWebhookInfo'])
  assert.deepEqual((await call('GET', '/api/bots')).body.includes(bot.username), false)
  const { id, former_host, hook_state } = await ground.add(bot, { take_over: true, relay_secret: 'theirs' })
  assert.deepEqual([former_host, hook_state], ['owner.example', 'set'])
  assert.deepEqual((await call('DELETE', `/api/bots/${id}`)).data(), { ok: true, id, campaigns_on_fallback: [] })
  const { url, secret, max_connections } = bot.hook ?? assert.fail('no hook')
  assert.deepEqual([url, secret, max_connections], ['https://owner.example/tg?x=1', 'theirs', 40])
  assert.deepEqual(bot.allowed, ['message', 'poll'])
})

test('a deleted bot’s webhook is removed if there was none before, and left alone if another program has it by then', async () => {
  const { telegram } = ground
  const [one, two] = [telegram.bot(), telegram.bot()]
  const first = await ground.add(one)
  const secret = one.hook?.secret ?? ''
  await call('DELETE', `/api/bots/${first.id}`)
  assert.equal(one.hook, undefined)
  const second = await ground.add(two)
  two.setHook('https://thief.example')
  await call('DELETE', `/api/bots/${second.id}`)
  assert.equal(two.hook?.url, 'https://thief.example')
  for (const way of ['hook', 'check', 'copy-secret'])
    assert.equal((await call('POST', `/api/bots/${first.id}/${way}`)).statusCode, 404)
  assert.equal((await call('PATCH', `/api/bots/${first.id}`, { guard_hook: true })).statusCode, 404)
  assert.equal((await call('DELETE', `/api/bots/${first.id}`)).statusCode, 404)
  const update = await ground.house.call('POST', `/hooks/telegram/${first.id}`, {
    body: {},
    headers: { 'x-telegram-bot-api-secret-token': secret },
  })
  assert.equal(update.statusCode, 401)
})

test('a bot that is deleted and added again is the same bot, also under another name', async () => {
  const { telegram } = ground
  const bot = telegram.bot()
  const { id } = await ground.add(bot)
  await call('DELETE', `/api/bots/${id}`)
  bot.rename('renamed_bot')
  bot.revoke()
  const again = await ground.add(bot)
  assert.deepEqual([again.id, again['username'], again['hook_state']], [id, 'renamed_bot', 'set'])
  assert.deepEqual(codeOf(await call('POST', '/api/bots', { token: bot.token })), [409, 'already_exists'])
})

test('a bot stored before its Telegram id was is recognized by its token', async () => {
  const { telegram, house } = ground
  const bot = telegram.bot()
  const { id } = await ground.add(bot)
  await call('DELETE', `/api/bots/${id}`)
  await house.database.kysely
    .updateTable('bots')
    .set({ telegram_id: null })
    .where('username', '=', bot.username)
    .execute()
  assert.equal((await ground.add(bot)).id, id)
})

test('a bot is in one organization; only a token that Telegram confirms reveals that', async () => {
  const { telegram } = ground
  const other = await ground.signIn()
  const bot = telegram.bot()
  const { id } = await ground.add(bot)
  const hook = bot.hook
  assert.deepEqual(codeOf(await call('POST', '/api/bots', { token: bot.token }, other)), [409, 'bot_in_use'])
  assert.equal(bot.hook, hook)
  const forged = await call('POST', '/api/bots', { token: `${bot.id}:AAE-forged`, username: bot.username }, other)
  assert.equal(forged.statusCode, 400, 'whoever has no token learns nothing')
  await call('DELETE', `/api/bots/${id}`)
  const theirs = await ground.add(bot, {}, other)
  assert.notEqual(theirs.id, id)
  assert.deepEqual(codeOf(await call('POST', '/api/bots', { token: bot.token })), [409, 'bot_in_use'])
})

test('if two organizations add a bot at once, one gets it', async () => {
  const { telegram } = ground
  const other = await ground.signIn()
  const bot = telegram.bot()
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      call('POST', '/api/bots', { token: bot.token }, n % 2 === 0 ? undefined : other),
    ),
  )
  const codes = replies.map(({ statusCode }) => statusCode).sort((a, b) => a - b)
  assert.deepEqual(codes, [201, ...Array.from({ length: 7 }, () => 409)])
  const { rows } = await ground.house.database.reads.query('select count(*)::int from bots where username = $1', [
    bot.username,
  ])
  assert.deepEqual(rows, [{ count: 1 }])
})

test('without a public address the bot is still checked at Telegram, and no webhook is set', async t => {
  const { telegram } = ground
  const bot = telegram.bot()
  bot.setHook('https://owner.example/tg')
  const inside = await startHouse({ BASE_URL: 'http://localhost:8080', TELEGRAM_API_ROOT: telegram.origin })
  t.after(() => inside.end())
  const { cookie } = await seedSignedIn(inside)
  const add = (more: object) => inside.call('POST', '/api/bots', { cookie, body: { token: bot.token, ...more } })
  assert.deepEqual(codeOf(await add({})), [409, 'bot_hook_taken'])
  const relayed = await add({ mode: 'relay' })
  assert.deepEqual([relayed.statusCode, relayed.data()['relay_host']], [201, 'owner.example'])
  const path = `/api/bots/${String(relayed.data()['id'])}`
  assert.deepEqual(codeOf(await inside.call('PATCH', path, { cookie, body: { mode: 'own' } })), [409, 'bot_hook_taken'])
  await inside.call('DELETE', path, { cookie })
  const reply = await add({ take_over: true })
  assert.deepEqual([reply.statusCode, reply.data()['hook_state']], [201, 'not_set'])
  assert.equal(reply.data()['telegram_id'], String(bot.id))
  assert.match(String(reply.data()['hook_error']), /BASE_URL/)
  const again = await inside.call('POST', `/api/bots/${String(reply.data()['id'])}/hook`, { cookie })
  assert.deepEqual([again.statusCode, again.data()['hook_state']], [200, 'not_set'])
  assert.ok(!telegram.methods(bot).includes('setWebhook'))
  assert.equal(bot.hook?.url, 'https://owner.example/tg')
})

test('while Telegram is away a bot is added by its name; its webhook is not taken, and is checked later', async () => {
  const { telegram } = ground
  const bot = telegram.bot()
  bot.setHook('https://owner.example')
  telegram.faults.always('*', 502, bot.token)
  assert.match((await call('POST', '/api/bots', { token: bot.token })).body, /username/)
  const { id, ...added } = await ground.add(bot, { username: bot.username })
  assert.deepEqual(
    [added['hook_state'], added['hook_error'], added['telegram_id']],
    ['not_set', 'Telegram could not be reached', null],
  )
  const still = await call('POST', `/api/bots/${id}/hook`)
  assert.deepEqual([still.statusCode, still.data()['hook_state']], [200, 'not_set'])
  telegram.faults.clear()
  assert.deepEqual(codeOf(await call('POST', `/api/bots/${id}/hook`)), [409, 'bot_hook_taken'])
  bot.removeHook()
  const set = await call('POST', `/api/bots/${id}/hook`)
  assert.deepEqual([set.data()['hook_state'], set.data()['telegram_id']], ['set', String(bot.id)])
})

test('if the check of the webhook fails after the token was confirmed, the webhook is not taken', async () => {
  const { telegram } = ground
  const bot = telegram.bot()
  bot.setHook('https://owner.example')
  telegram.faults.next('getWebhookInfo', 'drop', 1, bot.token)
  const { hook_state } = await ground.add(bot)
  assert.deepEqual([hook_state, bot.hook?.url], ['not_set', 'https://owner.example'])
})

test('setting the webhook again keeps its secret, so that updates on their way are accepted', async () => {
  const bot = ground.telegram.bot()
  const { id } = await ground.add(bot)
  const secret = bot.hook?.secret
  bot.removeHook()
  assert.equal((await call('POST', `/api/bots/${id}/hook`)).data()['hook_state'], 'set')
  assert.equal(bot.hook?.secret, secret)
})

test("another organization's bot is as if it were not there", async () => {
  const other = await ground.signIn()
  const { id } = await ground.add(ground.telegram.bot(), {}, other)
  const random = toWireId(newId())
  const ways: ((one: string) => ReturnType<typeof call>)[] = [
    one => call('GET', `/api/bots/${one}`),
    one => call('PATCH', `/api/bots/${one}`, { guard_hook: true }),
    one => call('DELETE', `/api/bots/${one}`),
    one => call('POST', `/api/bots/${one}/hook`),
    one => call('POST', `/api/bots/${one}/check`),
    one => call('POST', `/api/bots/${one}/copy-secret`),
    one => call('GET', `/api/bots/${one}/relays`),
  ]
  for (const way of ways) {
    const [theirs, nobodys, noId] = [await way(id), await way(random), await way('x')]
    assert.deepEqual([theirs.statusCode, theirs.body, noId.body], [404, nobodys.body, nobodys.body])
  }
  assert.ok(!(await call('GET', '/api/bots')).body.includes(id))
})

test('no key works on bots, whatever its rights, and a member can only read', async () => {
  const { house, owner, telegram } = ground
  const bot = telegram.bot()
  const { id } = await ground.add(bot)
  const { secret: key } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  const ways: ['GET' | 'POST' | 'PATCH' | 'DELETE', string, unknown?][] = [
    ['GET', '/api/bots'],
    ['POST', '/api/bots', { token: bot.token }],
    ['GET', `/api/bots/${id}`],
    ['PATCH', `/api/bots/${id}`, { guard_hook: true }],
    ['DELETE', `/api/bots/${id}`],
    ['POST', `/api/bots/${id}/hook`],
    ['POST', `/api/bots/${id}/check`],
    ['POST', `/api/bots/${id}/copy-secret`],
    ['GET', `/api/bots/${id}/relays`],
  ]
  const member: SignedIn = await ground.signIn({ place: owner, role: 'member' })
  for (const [method, url, body] of ways) {
    const byKey = await house.call(method, url, { key, ...(body === undefined ? {} : { body }) })
    assert.deepEqual(codeOf(byKey), [403, 'api_key_resource_forbidden'], `${method} ${url}`)
    const byMember = await call(method, url, body, member)
    if (method === 'GET') assert.equal(byMember.statusCode, 200)
    else assert.deepEqual(codeOf(byMember), [403, 'role_forbidden'])
  }
  assert.equal((await call('GET', `/api/bots/${id}`)).data()['guard_hook'], false)
})

test('an organization can have 50 bots', async () => {
  const other = await ground.signIn()
  const { house, telegram } = ground
  const at = new Date().toISOString()
  await house.database.kysely
    .insertInto('bots')
    .values(
      Array.from({ length: 50 }, (_, n) => ({
        org_id: other.org_id,
        id: newId(),
        username: `b${n}_bot`,
        username_key: `b${n}_bot`,
        token: Buffer.from('x'),
        created_at: at,
      })),
    )
    .execute()
  const bot = telegram.bot()
  assert.deepEqual(codeOf(await call('POST', '/api/bots', { token: bot.token }, other)), [409, 'bot_limit'])
  assert.equal(bot.hook, undefined)
})

test('a change of a bot is put back without holding its row while Telegram is asked', async () => {
  const { telegram } = ground
  const bot = telegram.bot()
  const { id } = await ground.add(bot)
  const newest = async () => {
    const [row] = (await call('GET', `/api/history?kind=bot&id=${id}`)).data()['data'] as {
      id: string
      change: string
    }[]
    return row?.id
  }
  const putBackWhile = async (method: string, work: () => Promise<void>) => {
    const from = telegram.calls.length
    const change = await newest()
    telegram.faults.next(method, 'hang', 1, bot.token)
    const undone = call('POST', `/api/history/${change}/undo`, {})
    await eventually('the call of Telegram', () => telegram.methods(bot, from).includes(method))
    await work()
    telegram.faults.clear()
    const reply = await undone
    assert.equal(reply.statusCode, 200, reply.body)
    const [row, ...others] = reply.data()['data'] as { undoes_id: string }[]
    assert.deepEqual([row?.undoes_id, others], [change, []])
  }
  await call('PATCH', `/api/bots/${id}`, {
    mode: 'relay',
    relay_url: 'https://program.example/',
    relay_types: ['poll'],
  })
  await call('PATCH', `/api/bots/${id}`, { relay_types: [] })
  await putBackWhile('setWebhook', async () => {
    assert.equal((await call('PATCH', `/api/bots/${id}`, { keep_names: false })).statusCode, 200)
  })
  await call('DELETE', `/api/bots/${id}`)
  await ground.add(bot)
  await putBackWhile('deleteWebhook', async () => {
    assert.equal((await call('GET', `/api/bots/${id}`)).statusCode, 404)
  })
})
