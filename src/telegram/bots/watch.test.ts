// Watching webhooks: changes by others are noticed, mailed once, undone if the owner wants that, and taken webhooks are restored.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type BotGround, botGround, PUBLIC } from '../../../tests/support/bots.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { type Mailbox, openMailbox } from '../../../tests/support/mailbox.ts'
import { startReceiver } from '../../../tests/support/receiver.ts'
import { toUuid } from '../../contract/ids.ts'
import { checkBotSoon } from './check-soon.ts'

let mailbox: Mailbox
let ground: BotGround
let call: BotGround['call']
before(async () => {
  mailbox = await openMailbox()
  ground = await botGround({ SMTP_URL: mailbox.url })
  call = ground.call
})
after(async () => {
  await ground.end()
  await mailbox.close()
})

const read = async (id: string) => (await call('GET', `/api/bots/${id}`)).data()
const check = async (id: string) => (await call('POST', `/api/bots/${id}/check`)).data()
const codeOf = ({ statusCode, body }: { statusCode: number; body: string }) => [
  statusCode,
  (JSON.parse(body) as { code?: string }).code,
]
/** Makes the next check due now. */
const hurry = async (id: string) => {
  await ground.house.database.kysely
    .updateTable('bots')
    .set({ hook_check_at: null })
    .where('id', '=', toUuid(id) ?? '')
    .execute()
}

test('a stolen webhook is noticed, explained with a remedy, mailed once, and taken back on request', async () => {
  const { telegram, owner } = ground
  const bot = telegram.bot()
  const { id } = await ground.add(bot)
  assert.equal((await check(id))['hook_state'], 'set')
  bot.setHook('https://thief.example/secret-path')
  await hurry(id)
  await eventually('it is noticed by itself', async () => (await read(id))['hook_state'] === 'stolen')
  const { hook_host, hook_error } = await read(id)
  assert.equal(hook_host, 'thief.example')
  assert.match(String(hook_error), /relay/)
  const mail = await mailbox.next(owner.email)
  assert.match(mail.text, new RegExp(bot.username))
  assert.ok(!mail.text.includes('secret-path') && mail.text.includes(`/bots/${id}`))
  const mails = mailbox.mails.length
  for (let n = 0; n < 3; n += 1) assert.equal((await check(id))['hook_state'], 'stolen')
  assert.equal(bot.hook?.url, 'https://thief.example/secret-path')
  const taken = (await call('POST', `/api/bots/${id}/hook`)).data()
  assert.deepEqual([taken['hook_state'], taken['hook_host'], taken['former_host']], ['set', null, 'thief.example'])
  assert.equal(bot.hook?.url, `${PUBLIC}/hooks/telegram/${id}`)
  assert.equal(mailbox.mails.length, mails)
})

test('a removed webhook is noticed, and the error says what a polling program needs', async () => {
  const bot = ground.telegram.bot()
  const { id } = await ground.add(bot)
  bot.removeHook()
  const found = await check(id)
  assert.deepEqual([found['hook_state'], found['hook_host']], ['removed', null])
  assert.match(String(found['hook_error']), /polls.*copy/s)
  assert.match((await mailbox.next(ground.owner.email)).text, /removed/)
})

test('a guarded webhook is taken back automatically three times an hour, and then waits for a person', async () => {
  const bot = ground.telegram.bot()
  const { id } = await ground.add(bot)
  assert.equal((await call('PATCH', `/api/bots/${id}`, { guard_hook: true })).data()['guard_hook'], true)
  const states: unknown[] = []
  for (let n = 0; n < 5; n += 1) {
    bot.setHook(`https://thief.example/${n}`)
    states.push((await check(id))['hook_state'])
  }
  assert.deepEqual(states, ['set', 'set', 'set', 'stolen', 'stolen'])
  assert.equal(((await read(id))['guarded_at'] as unknown[]).length, 3)
  assert.match((await mailbox.next(ground.owner.email)).text, /thief\.example/)
  assert.equal((await call('POST', `/api/bots/${id}/hook`)).data()['hook_state'], 'set')
})

test('a guarded webhook that cannot be taken back while Telegram is away is taken back by the next check, without a mail', async () => {
  const { telegram, house } = ground
  const bot = telegram.bot()
  const { id } = await ground.add(bot)
  await call('PATCH', `/api/bots/${id}`, { guard_hook: true })
  bot.setHook('https://thief.example')
  telegram.faults.next('setWebhook', { retry_after: 90 }, 1, bot.token)
  const found = await check(id)
  assert.deepEqual([found['hook_state'], found['hook_host'], found['guarded_at']], ['stolen', 'thief.example', []])
  assert.match(String(found['hook_error']), /Too Many Requests/)
  const { hook_check_at, notice } = await house.database.kysely
    .selectFrom('bots')
    .select(['hook_check_at', 'notice'])
    .where('id', '=', toUuid(id) ?? '')
    .executeTakeFirstOrThrow()
  const wait_ms = Date.parse(String(hook_check_at)) - Date.now()
  assert.ok(notice === null && wait_ms > 60_000 && wait_ms <= 90_000, String(wait_ms))
  assert.equal((await check(id))['hook_state'], 'set')
})

test('a webhook that could not be set at first is set later, another program’s never', async () => {
  const { telegram, house, owner } = ground
  const [late, unknown, foreign] = [telegram.bot(), telegram.bot(), telegram.bot()]
  telegram.faults.next('setWebhook', { retry_after: 1 }, 1, late.token)
  for (const { token } of [unknown, foreign]) telegram.faults.always('*', 502, token)
  foreign.setHook('https://owner.example/x')
  const ids: string[] = []
  for (const bot of [late, unknown, foreign]) {
    const { id, hook_state } = await ground.add(bot, { username: bot.username })
    assert.equal(hook_state, 'not_set')
    ids.push(id)
  }
  telegram.faults.clear()
  for (const id of ids) await checkBotSoon(house.database.kysely, { org_id: owner.org_id, id: toUuid(id) ?? '' })
  const [one, two, three] = ids.map(id => () => read(id))
  await eventually('the first is set', async () => (await one?.())?.['hook_state'] === 'set')
  await eventually('the second as well', async () => (await two?.())?.['hook_state'] === 'set')
  assert.equal((await two?.())?.['telegram_id'], String(unknown.id))
  await eventually('the third is known', async () => (await three?.())?.['hook_host'] === 'owner.example')
  const { hook_state, hook_error } = (await three?.()) ?? {}
  assert.equal(hook_state, 'not_set')
  assert.match(String(hook_error), /owner\.example has the webhook/)
  assert.equal(foreign.hook?.url, 'https://owner.example/x')
  const taken = await call('PATCH', `/api/bots/${ids[2]}`, { take_over: true })
  assert.deepEqual([taken.data()['hook_state'], taken.data()['former_host']], ['set', 'owner.example'])
})

test('a revoked token is tried again automatically, and a 429 without JSON is a rate limit', async () => {
  const { telegram, house } = ground
  const bot = telegram.bot()
  const { id } = await ground.add(bot)
  telegram.faults.next('getMe', 429, 1, bot.token)
  const away = await call('POST', `/api/bots/${id}/check`)
  assert.deepEqual([codeOf(away), away.headers['retry-after']], [[503, 'telegram_away'], '1'])
  await house.database.kysely
    .updateTable('bots')
    .set({ token_state: 'revoked', hook_check_at: new Date().toISOString() })
    .where('id', '=', toUuid(id) ?? '')
    .execute()
  await eventually('it is known again', async () => (await read(id))['token_state'] === 'ok')
})

test('a webhook at an earlier address of Sluice is set to the current one', async () => {
  const bot = ground.telegram.bot()
  const { id } = await ground.add(bot)
  bot.setHook(`https://old.example/hooks/telegram/${id}`)
  assert.equal((await check(id))['hook_state'], 'set')
  assert.equal(bot.hook?.url, `${PUBLIC}/hooks/telegram/${id}`)
})

test('the updates waiting at Telegram and its last error are shown', async () => {
  const { telegram, house } = ground
  const bot = telegram.bot()
  const { id } = await ground.add(bot)
  telegram.reach(PUBLIC, 'http://127.0.0.1:9')
  telegram.person().say(bot, 'hello')
  await eventually('it was tried', () => bot.attempts.length > 0)
  const { pending_updates, last_error } = await check(id)
  assert.equal(pending_updates, 1)
  assert.equal((last_error as { text: string }).text, 'Connection failed')
  const address = house.app.server.address()
  telegram.reach(PUBLIC, `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
  await telegram.settled()
  assert.equal((await check(id))['pending_updates'], 0)
  assert.equal(typeof (await read(id))['hook_checked_at'], 'string')
})

test('a revoked token is noticed and mailed; a new token of the same bot continues, another bot’s is refused', async () => {
  const { telegram, owner } = ground
  const [bot, another] = [telegram.bot(), telegram.bot()]
  const { id } = await ground.add(bot)
  bot.revoke()
  assert.equal((await check(id))['token_state'], 'revoked')
  assert.match((await mailbox.next(owner.email)).text, /token/)
  assert.deepEqual(codeOf(await call('POST', `/api/bots/${id}/hook`)), [409, 'bot_token_revoked'])
  assert.match(
    (await call('PATCH', `/api/bots/${id}`, { token: another.token })).body,
    new RegExp(`@${another.username}`),
  )
  assert.match(
    (await call('PATCH', `/api/bots/${id}`, { token: `${bot.id}:AAE-wrong` })).body,
    /no bot with this token/,
  )
  assert.equal(bot.hook, undefined)
  bot.rename('new_name_bot')
  const changed = await call('PATCH', `/api/bots/${id}`, { token: bot.token })
  const { token_state, hook_state, username } = changed.data()
  assert.deepEqual([token_state, hook_state, username], ['ok', 'set', 'new_name_bot'])
  assert.ok(!changed.body.includes(bot.token))
  telegram.faults.always('*', 'drop', bot.token)
  const away = await call('PATCH', `/api/bots/${id}`, { token: bot.token })
  assert.deepEqual(codeOf(away), [503, 'telegram_away'])
  assert.equal((await call('POST', `/api/bots/${id}/check`)).statusCode, 503)
  telegram.faults.clear()
})

test('a token that is changed during a check of the old one stays valid', async () => {
  const { telegram } = ground
  const bot = telegram.bot()
  const { id } = await ground.add(bot)
  const old = bot.token
  bot.revoke()
  telegram.faults.next('getWebhookInfo', 'hang', 1, old)
  const checking = call('POST', `/api/bots/${id}/check`)
  await eventually('it is asked', () =>
    telegram.calls.some(one => one.token === old && one.method === 'getWebhookInfo'),
  )
  assert.equal((await call('PATCH', `/api/bots/${id}`, { token: bot.token })).data()['hook_state'], 'set')
  telegram.faults.clear()
  await checking
  assert.equal((await read(id))['token_state'], 'ok')
})

test('neither a new token nor deleting and adding the bot again counts anybody twice', async () => {
  const { telegram, house, owner } = ground
  const bot = telegram.bot()
  const { id } = await ground.add(bot)
  const destination = { type: 'redirect', url: `https://t.me/${bot.username}?start={click_id}` }
  const { key } = (await call('POST', '/api/campaigns', { name: 'Bot', destination })).data()
  const visit = async () => {
    const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x64) Chrome/130.0.0.0' }
    const { headers: to } = await house.call('GET', `/c/${String(key)}`, { headers })
    return new URL(String(to.location)).searchParams.get('start') ?? ''
  }
  const starts = async () => {
    const { rows } = await house.database.reads.query<{ count: number }>(
      `select count(*)::int from events where org_id = $1 and type = 'bot_start' and bot_id = $2`,
      [owner.org_id, toUuid(id)],
    )
    return rows[0]?.count
  }
  const ann = telegram.person()
  ann.start(bot, await visit())
  await telegram.settled()
  assert.equal(await starts(), 1)
  bot.revoke()
  await call('PATCH', `/api/bots/${id}`, { token: bot.token })
  ann.start(bot, await visit())
  await telegram.settled()
  await call('DELETE', `/api/bots/${id}`)
  bot.revoke()
  assert.equal((await ground.add(bot)).id, id)
  ann.start(bot, await visit())
  telegram.person().start(bot, await visit())
  await telegram.settled()
  assert.equal(await starts(), 2)
})

test('while Telegram is away updates of a deleted bot are forwarded, and its webhook is restored as soon as Telegram answers', async () => {
  const { telegram } = ground
  const program = await startReceiver()
  const bot = telegram.bot()
  bot.setHook('https://owner.example/hook', { secret_token: 'theirs', allowed_updates: ['message'] })
  const { id } = await ground.add(bot, { mode: 'relay', relay_url: `${program.origin}/hook`, relay_secret: 'theirs' })
  telegram.faults.always('*', 502, bot.token)
  assert.equal((await call('DELETE', `/api/bots/${id}`)).statusCode, 200)
  telegram.person().say(bot, 'still here')
  await telegram.settled()
  assert.equal(program.arrivals.length, 1)
  telegram.faults.clear()
  await hurry(id)
  await eventually('it is given back', () => bot.hook?.url === 'https://owner.example/hook')
  assert.deepEqual([bot.hook?.secret, bot.allowed], ['theirs', ['message']])
  const hooks = () =>
    ground.house.database.kysely
      .selectFrom('bot_hooks')
      .where('bot_id', '=', toUuid(id) ?? '')
      .execute()
  await eventually('nothing is left of it', async () => (await hooks()).length === 0)
  await program.close()
})

test('a deleted organization restores the previous webhooks, and takes them again when it is restored', async () => {
  const { telegram, house } = ground
  const other = await ground.signIn()
  const [plain, relayed, lost] = [telegram.bot(), telegram.bot(), telegram.bot()]
  relayed.setHook('https://owner.example/hook', { secret_token: 'theirs' })
  await ground.add(plain, {}, other)
  const { id } = await ground.add(relayed, { mode: 'relay', relay_secret: 'theirs' }, other)
  const third = await ground.add(lost, {}, other)
  const path = `/api/organizations/${String(((await call('GET', '/api/organizations', undefined, other)).data()['data'] as { id: string }[])[0]?.id)}`
  assert.equal((await call('DELETE', path, undefined, other)).statusCode, 200)
  await eventually('they are given back', () => plain.hook === undefined && relayed.hook?.secret === 'theirs')
  assert.deepEqual([relayed.hook?.url, relayed.allowed], ['https://owner.example/hook', []])
  await eventually('the third as well', () => lost.hook === undefined)
  lost.setHook('https://new.example')
  const { org_id } = other
  await eventually('it is noted', async () => {
    const rows = await house.database.kysely
      .selectFrom('bots')
      .select('give_back')
      .where('org_id', '=', org_id)
      .execute()
    return rows.every(({ give_back }) => give_back === 'done')
  })
  assert.equal((await call('POST', `${path}/restore`, undefined, other)).statusCode, 200)
  await house.database.kysely.updateTable('bots').set({ hook_check_at: null }).where('org_id', '=', org_id).execute()
  await eventually('they are asked for anew', () => [plain, relayed].every(({ hook }) => hook?.url.startsWith(PUBLIC)))
  await eventually('but not another program’s', async () => {
    const { hook_state, hook_host } = (await call('GET', `/api/bots/${third.id}`, undefined, other)).data()
    return hook_state === 'stolen' && hook_host === 'new.example'
  })
  assert.equal(lost.hook?.url, 'https://new.example')
  assert.equal((await call('GET', `/api/bots/${id}`, undefined, other)).data()['former_host'], 'owner.example')
})
