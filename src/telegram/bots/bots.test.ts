import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { newId, seedKey, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { type Arrival, type Receiver, startReceiver } from '../../../tests/support/receiver.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'

const TOKEN = '123456:AAE-a_token_that_must_stay_secret_000'
const UNKNOWN = '999999:AAE-nobody_has_this_one'

let telegram: Receiver
let house: TestHouse
let owner: SignedIn
let other: SignedIn
before(async () => {
  telegram = await startReceiver(({ url }, response) => {
    const [, , token = '', method] = /^\/(bot)(.*)\/(\w+)$/.exec(url) ?? []
    if (token === UNKNOWN)
      return void response.writeHead(401).end('{"ok":false,"error_code":401,"description":"Unauthorized"}')
    if (method === 'getMe')
      return void response.end('{"ok":true,"result":{"id":1,"is_bot":true,"username":"Sluice_Bot"}}')
    return void response.end('{"ok":true,"result":true}')
  })
  house = await startHouse({ BASE_URL: 'https://track.example.com', TELEGRAM_API_ROOT: telegram.origin })
  owner = await signedIn(house)
  other = await signedIn(house)
})
after(async () => {
  await house.end()
  await telegram.close()
})
afterEach(async () => {
  telegram.arrivals.length = 0
  await house.database.kysely.deleteFrom('bot_hooks').execute()
  await house.database.kysely.deleteFrom('bots').execute()
})

/** Behind https the cookie has another name. */
async function signedIn(...options: Parameters<typeof seedSignedIn>): Promise<SignedIn> {
  const person = await seedSignedIn(...options)
  return { ...person, cookie: `__Host-${person.cookie}` }
}

type As = { cookie?: string; key?: string }
const ORIGIN = { origin: 'https://track.example.com' }
const create = (body: unknown, { cookie = '' }: As = owner) =>
  house.call('POST', '/api/bots', { body, headers: { ...ORIGIN, cookie } })
const post = (url: string, { cookie = '' }: As = owner) => house.call('POST', url, { headers: { ...ORIGIN, cookie } })
const remove = (id: string, { cookie = '' }: As = owner) =>
  house.call('DELETE', `/api/bots/${id}`, { headers: { ...ORIGIN, cookie } })

async function made(username = 'Sluice_Bot', as: As = owner): Promise<string> {
  const reply = await create({ token: TOKEN, username }, as)
  assert.equal(reply.statusCode, 201, reply.body)
  return String(reply.data()['id'])
}

const calls = (arrivals: readonly Arrival[]) =>
  arrivals.map(({ url, body }) => [url.replace(/^.*\//, ''), JSON.parse(body) as Record<string, unknown>] as const)

/** The secret Telegram was told to send along. */
const secretOf = (arrivals: readonly Arrival[]) =>
  String(calls(arrivals).findLast(([method]) => method === 'setWebhook')?.[1]['secret_token'])

test('a bot is added, its hook set with a secret and a full list of updates, and its token kept from everyone', async () => {
  const reply = await create({ token: TOKEN, username: '@Sluice_Bot' })
  assert.equal(reply.statusCode, 201)
  const { id, created_at, ...rest } = reply.data()
  assert.deepEqual(rest, {
    username: 'Sluice_Bot',
    link: 'https://t.me/Sluice_Bot?start={click_id}',
    hook_state: 'set',
    hook_error: null,
  })
  assert.match(String(created_at), /Z$/)
  assert.deepEqual(
    telegram.arrivals.map(({ url }) => url),
    [`/bot${TOKEN}/getMe`, `/bot${TOKEN}/setWebhook`],
  )
  const { url, secret_token, allowed_updates } = calls(telegram.arrivals)[1]?.[1] ?? {}
  assert.equal(url, `https://track.example.com/hooks/telegram/${String(id)}`)
  assert.match(String(secret_token), /^[\w-]{43}$/)
  assert.ok((allowed_updates as string[]).includes('message') && (allowed_updates as string[]).includes('chat_member'))
  const list = await house.call('GET', '/api/bots', owner)
  assert.deepEqual(list.data(), { data: [reply.data()], next_cursor: null })
  const { reads } = house.database
  const { rows: bots } = await reads.query<{ all: string }>(
    `select string_agg(b::text || encode(token, 'escape'), '') as all from bots b`,
  )
  const { rows: hooks } = await reads.query<{ all: string }>(`select string_agg(h::text, '') as all from bot_hooks h`)
  for (const shown of [reply.body, list.body, bots[0]?.all ?? '', hooks[0]?.all ?? '']) {
    assert.ok(!shown.includes(TOKEN) && !shown.includes(TOKEN.slice(7)))
    assert.ok(!shown.includes(String(secret_token)))
  }
})

test('what cannot be a bot is refused and leaves nothing behind', async () => {
  const id = await made()
  const wrong: [unknown, number, RegExp][] = [
    [undefined, 400, /./],
    [{ username: 'x_bot' }, 400, /token/],
    [{ token: 'no token', username: 'x_bot' }, 400, /token/],
    [{ token: TOKEN }, 400, /username/],
    [{ token: TOKEN, username: 'not a name' }, 400, /username/],
    [{ token: UNKNOWN, username: 'x_bot' }, 400, /no bot of this token/],
    [{ token: TOKEN, username: 'another_bot' }, 400, /@Sluice_Bot/],
    [{ token: TOKEN, username: '@SLUICE_BOT' }, 409, /already/],
  ]
  for (const [body, status, words] of wrong) {
    const reply = await create(body)
    assert.equal(reply.statusCode, status, JSON.stringify(body))
    assert.match(reply.body, words)
    assert.ok(!reply.body.includes(TOKEN) && !reply.body.includes(UNKNOWN))
  }
  const list = (await house.call('GET', '/api/bots', owner)).data()['data'] as { id: string }[]
  assert.deepEqual(
    list.map(bot => bot.id),
    [id],
  )
})

test('where Telegram cannot reach us the bot is added all the same, and says that its hook is not set', async () => {
  const inside = await startHouse({ BASE_URL: 'http://localhost:8080', TELEGRAM_API_ROOT: telegram.origin })
  const { cookie } = await seedSignedIn(inside)
  const reply = await inside.call('POST', '/api/bots', { cookie, body: { token: TOKEN, username: 'Sluice_Bot' } })
  assert.deepEqual([reply.statusCode, reply.data()['hook_state']], [201, 'not_set'])
  assert.match(String(reply.data()['hook_error']), /BASE_URL/)
  assert.equal(telegram.arrivals.length, 0)
  const again = await inside.call('POST', `/api/bots/${String(reply.data()['id'])}/hook`, { cookie })
  assert.deepEqual([again.statusCode, again.data()['hook_state']], [200, 'not_set'])
  await inside.end()
})

test('while Telegram cannot be reached the bot is added, and its hook can be set again later', async () => {
  // Nobody listens there, as somebody may on a port that was given back.
  const away = { BASE_URL: 'https://track.example.com', TELEGRAM_API_ROOT: 'http://127.0.0.1:9' }
  const cut = await startHouse(away)
  const { cookie } = await signedIn(cut)
  const headers = { ...ORIGIN, cookie }
  const reply = await cut.call('POST', '/api/bots', { headers, body: { token: TOKEN, username: 'Sluice_Bot' } })
  assert.deepEqual(
    [reply.statusCode, reply.data()['hook_state'], reply.data()['hook_error']],
    [201, 'not_set', 'Telegram could not be reached'],
  )
  await cut.end()
  const id = await made()
  await house.database.kysely.updateTable('bots').set({ hook_error: 'was away' }).execute()
  const secret = secretOf(telegram.arrivals)
  assert.equal((await post(`/api/bots/${id}/hook`)).data()['hook_state'], 'set')
  assert.equal(secretOf(telegram.arrivals), secret, 'updates on their way would be refused')
})

test('a deleted bot is gone, its updates are refused, and its name is free again', async () => {
  const id = await made()
  const secret = secretOf(telegram.arrivals)
  assert.deepEqual((await remove(id)).data(), { ok: true })
  assert.equal(calls(telegram.arrivals).at(-1)?.[0], 'deleteWebhook')
  for (const reply of [await remove(id), await post(`/api/bots/${id}/hook`)]) assert.equal(reply.statusCode, 404)
  const update = await house.call('POST', `/hooks/telegram/${id}`, {
    body: {},
    headers: { 'x-telegram-bot-api-secret-token': secret },
  })
  assert.equal(update.statusCode, 401)
  await made()
})

test("another organization's bot is as if it were not there, and a name may be used in both", async () => {
  const id = await made('Sluice_Bot', other)
  await made()
  const random = toWireId(newId())
  for (const call of [(one: string) => remove(one), (one: string) => post(`/api/bots/${one}/hook`)]) {
    const [theirs, nobodys, noId] = [await call(id), await call(random), await call('x')]
    assert.deepEqual([theirs.statusCode, theirs.body, noId.body], [404, nobodys.body, nobodys.body])
  }
  assert.equal(((await house.call('GET', '/api/bots', owner)).data()['data'] as unknown[]).length, 1)
  assert.equal((await remove(id, other)).statusCode, 200)
})

test('no key works on bots, whatever it holds, and a member only looks', async () => {
  const id = await made()
  const { secret: key } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  const draft = { token: TOKEN, username: 'x_bot' }
  const byKey = [
    await house.call('GET', '/api/bots', { key }),
    await house.call('POST', '/api/bots', { key, body: draft }),
    await house.call('POST', `/api/bots/${id}/hook`, { key }),
    await house.call('DELETE', `/api/bots/${id}`, { key }),
  ]
  for (const reply of byKey)
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'api_key_resource_forbidden'])
  const member = await signedIn(house, { place: owner, role: 'member' })
  for (const reply of [
    await create(draft, member),
    await remove(id, member),
    await post(`/api/bots/${id}/hook`, member),
  ])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'role_forbidden'])
  assert.equal((await house.call('GET', '/api/bots', member)).statusCode, 200)
  assert.equal(((await house.call('GET', '/api/bots', owner)).data()['data'] as unknown[]).length, 1)
})
