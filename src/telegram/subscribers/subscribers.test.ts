// Subscribers: by updates through the webhook, and by their owner's calls through the door.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sign } from '@telegram-apps/init-data-node'
import { botCampaign, subscribersOf } from '../../../tests/support/bot-clicks.ts'
import { type BotGround, botGround } from '../../../tests/support/bots.ts'
import { newId, toWireId } from '../../../tests/support/house.ts'
import { startReceiver } from '../../../tests/support/receiver.ts'
import { toUuid } from '../../contract/ids.ts'

let ground: BotGround
let call: BotGround['call']
before(async () => {
  ground = await botGround()
  call = ground.call
})
after(() => ground.end())

const only = async (bot: string) => {
  const rows = await subscribersOf(ground, bot)
  assert.equal(rows.length, 1)
  return rows[0] ?? assert.fail()
}
const seconds = () => Math.floor(ground.telegram.now() / 1000)
const codeOf = ({ statusCode, body }: { statusCode: number; body: string }) => [
  statusCode,
  (JSON.parse(body) as { code?: string }).code,
]

test('a start over a click makes a subscriber with the click, and a message one without', async () => {
  const bot = ground.telegram.bot()
  const { id } = await ground.add(bot)
  const to = await botCampaign(ground, id)
  const click = await to.click()
  const [ann, bob] = [ground.telegram.person({ language_code: 'de' }), ground.telegram.person()]
  ann.start(bot, click)
  await ground.telegram.settled()
  bob.say(bot, 'hello')
  await ground.telegram.settled()
  const [second, first = assert.fail()] = await subscribersOf(ground, id)
  const { telegram_user_id, state, source, language, click_id, campaign_id, name, started_at } = first
  assert.deepEqual(
    { telegram_user_id, state, source, language, click_id, campaign_id, name },
    {
      telegram_user_id: String(ann.id),
      state: 'reachable',
      source: 'start',
      language: 'de',
      click_id: click,
      campaign_id: to.id,
      name: null,
    },
  )
  assert.ok(started_at)
  assert.deepEqual([second?.['source'], second?.['click_id'], second?.['started_at']], ['message', null, null])
})

test('names are stored only if the bot keeps names, and erased when it stops', async () => {
  const bot = ground.telegram.bot()
  const { id } = await ground.add(bot)
  const ann = ground.telegram.person({ first_name: 'Annabel' })
  assert.equal((await call('PATCH', `/api/bots/${id}`, { keep_names: true })).data()['keep_names'], true)
  ann.start(bot)
  await ground.telegram.settled()
  assert.equal((await only(id))['name'], 'Annabel')
  assert.equal((await call('PATCH', `/api/bots/${id}`, { keep_names: false })).statusCode, 200)
  assert.equal((await only(id))['name'], null)
})

test('a block makes a subscriber blocked, unblocking makes them reachable, and late updates do not undo newer ones', async () => {
  const bot = ground.telegram.bot()
  const { id } = await ground.add(bot)
  const ann = ground.telegram.person()
  ann.start(bot)
  await ground.telegram.settled()
  ann.block(bot)
  await ground.telegram.settled()
  assert.equal((await only(id)).state, 'blocked')
  const from = { id: ann.id, is_bot: false, first_name: 'Ann', language_code: 'en' }
  const chat = { id: ann.id, type: 'private' }
  // Sent before the block, reported after it.
  bot.sendUpdate({ message: { message_id: 900, date: seconds() - 60, chat, from, text: 'late' } })
  await ground.telegram.settled()
  assert.equal((await only(id)).state, 'blocked')
  ground.telegram.advance(5000)
  ann.unblock(bot)
  await ground.telegram.settled()
  assert.equal((await only(id)).state, 'reachable')
  const kicked = { user: { id: bot.id, is_bot: true }, status: 'kicked' }
  bot.sendUpdate({ my_chat_member: { chat, from, date: seconds() - 30, old_chat_member: {}, new_chat_member: kicked } })
  await ground.telegram.settled()
  assert.equal((await only(id)).state, 'reachable')
})

test('a word opts out and a start opts in again, in every mode, by Telegram’s time', async t => {
  const program = await startReceiver()
  t.after(() => program.close())
  for (const mode of ['own', 'relay', 'copy'] as const) {
    const bot = ground.telegram.bot()
    const { id } = await ground.add(bot, mode === 'relay' ? { mode, relay_url: program.origin } : { mode })
    assert.equal((await call('PATCH', `/api/bots/${id}`, { opt_out_words: [' STOP it ', '/stop'] })).statusCode, 200)
    if (mode === 'copy') {
      const { url, secret } = (await call('POST', `/api/bots/${id}/copy-secret`)).data() as {
        url: string
        secret: string
      }
      bot.setHook(url, { secret_token: secret })
    }
    const ann = ground.telegram.person()
    ann.start(bot)
    for (const word of ['Stop It', `/stop@${bot.username}`]) {
      ground.telegram.advance(2000)
      ann.say(bot, word)
      await ground.telegram.settled()
      assert.equal((await only(id)).state, 'opted_out', `${mode} ${word}`)
      ground.telegram.advance(2000)
      ann.start(bot)
      await ground.telegram.settled()
      assert.equal((await only(id)).state, 'reachable', mode)
    }
    const from = { id: ann.id, is_bot: false, first_name: 'Ann' }
    bot.sendUpdate({
      message: { message_id: 9, date: seconds() - 3600, chat: { id: ann.id, type: 'private' }, from, text: '/stop' },
    })
    await ground.telegram.settled()
    assert.equal((await only(id)).state, 'reachable', 'an older word undid a newer start')
  }
  assert.equal(program.arrivals.filter(({ body }) => body.includes('Stop It')).length, 1, 'the word is passed on')
})

test('Sluice answers the unsubscribe button in own and relay and does not forward it; in copy it only records it', async t => {
  const program = await startReceiver()
  t.after(() => program.close())
  for (const mode of ['own', 'relay', 'copy'] as const) {
    const bot = ground.telegram.bot()
    const { id } = await ground.add(bot, mode === 'relay' ? { mode, relay_url: program.origin } : { mode })
    if (mode === 'copy') {
      const { url, secret } = (await call('POST', `/api/bots/${id}/copy-secret`)).data() as {
        url: string
        secret: string
      }
      bot.setHook(url, { secret_token: secret })
    }
    const ann = ground.telegram.person()
    ann.start(bot)
    await ground.telegram.settled()
    ann.press(bot, 5, mode === 'own' ? 'sluice:out' : `sluice:out:${toWireId(newId())}`)
    await ground.telegram.settled()
    assert.equal((await only(id)).state, 'opted_out', mode)
    const answers = ground.telegram.calls.filter(
      ({ token, method }) => token === bot.token && method === 'answerCallbackQuery',
    )
    assert.deepEqual(
      answers.map(({ via, status }) => [via, status]),
      mode === 'copy' ? [] : [['hook', 200]],
      mode,
    )
    ann.press(bot, 5, 'menu:outside')
    await ground.telegram.settled()
  }
  const pressed = program.arrivals.filter(({ body }) => body.includes('callback_query'))
  assert.deepEqual(
    pressed.map(({ body }) => (body.includes('menu:outside') ? 'theirs' : 'ours')),
    ['theirs'],
  )
})

test('a Mini App with permission to write makes a subscriber, and one without does not', async () => {
  const bot = ground.telegram.bot()
  const { id } = await ground.add(bot)
  const launch = (user: object, start_param?: string) =>
    ground.house.call('POST', `/m/${id}`, {
      payload: sign(
        { query_id: 'AAE', user, ...(start_param === undefined ? {} : { start_param }) } as never,
        bot.token,
        new Date(),
      ),
      headers: { 'content-type': 'text/plain;charset=UTF-8' },
    })
  assert.equal((await launch({ id: 501, first_name: 'A' })).statusCode, 200)
  assert.deepEqual(await subscribersOf(ground, id), [])
  const click = await (await botCampaign(ground, id)).click()
  assert.equal(
    (await launch({ id: 501, first_name: 'A', language_code: 'pt-br', allows_write_to_pm: true }, click)).statusCode,
    200,
  )
  const row = await only(id)
  assert.deepEqual(
    [row['telegram_user_id'], row['source'], row['language'], row['click_id'], row.state],
    ['501', 'mini_app', 'pt-br', click, 'reachable'],
  )
  const from = { id: 502, is_bot: false, first_name: 'B' }
  bot.sendUpdate({
    message: {
      message_id: 1,
      date: seconds(),
      chat: { id: 502, type: 'private' },
      from,
      write_access_allowed: {},
    } as object,
  })
  await ground.telegram.settled()
  assert.equal((await subscribersOf(ground, id)).find(one => one['telegram_user_id'] === '502')?.['source'], 'mini_app')
})

test('updates in groups and of bots make no subscriber', async () => {
  const bot = ground.telegram.bot()
  const { id } = await ground.add(bot)
  const from = { id: 900, is_bot: false, first_name: 'G' }
  bot.sendUpdate({
    message: { message_id: 1, date: seconds(), chat: { id: -100, type: 'supergroup' }, from, text: '/start' },
  })
  bot.sendUpdate({
    message: {
      message_id: 2,
      date: seconds(),
      chat: { id: 901, type: 'private' },
      from: { id: 901, is_bot: true, first_name: 'B' },
      text: '/start',
    },
  })
  await ground.telegram.settled()
  assert.deepEqual(await subscribersOf(ground, id), [])
})

test('the list is filtered by bot, state, campaign, source, language, event and time, and counted by bot', async () => {
  const bot = ground.telegram.bot()
  const { id } = await ground.add(bot)
  const to = await botCampaign(ground, id)
  const click = await to.click()
  const people = {
    ann: ground.telegram.person({ language_code: 'de' }),
    bob: ground.telegram.person({ language_code: 'fr' }),
    cid: ground.telegram.person({ language_code: 'fr' }),
  }
  people.ann.start(bot, click)
  people.bob.start(bot)
  people.cid.say(bot, 'hi')
  await ground.telegram.settled()
  ground.telegram.advance(2000)
  people.bob.block(bot)
  people.cid.say(bot, '/stop')
  await ground.telegram.settled()
  const found = async (filter: string) => {
    const numbers = (await subscribersOf(ground, id, `&${filter}`)).map(row => Number(row['telegram_user_id']))
    return Object.entries(people).flatMap(([name, { id }]) => (numbers.includes(id) ? [name] : []))
  }
  assert.deepEqual(await found('state=reachable'), ['ann'])
  assert.deepEqual(await found('state=blocked'), ['bob'])
  assert.deepEqual(await found('state=opted_out'), ['cid'])
  assert.deepEqual(await found('source=message'), ['cid'])
  assert.deepEqual(await found('language=fr'), ['bob', 'cid'])
  assert.deepEqual(await found(`campaign_id=${to.id}`), ['ann'])
  assert.deepEqual(await found('event=bot_start'), ['ann'])
  assert.deepEqual(await found('event=purchase'), [])
  assert.deepEqual(await found('has_no_event=bot_start'), ['bob', 'cid'])
  assert.deepEqual(await found('sub1=banner-7'), ['ann'])
  assert.deepEqual(await found('geo=ZZ'), [])
  assert.deepEqual(await found('started_from=2020-01-01'), ['ann', 'bob'])
  assert.deepEqual(await found('started_to=2020-01-01'), [])
  const channel = newId()
  await ground.house.database.kysely
    .insertInto('channel_members')
    .values({
      org_id: ground.owner.org_id,
      channel_id: channel,
      telegram_user_id: String(people.bob.id),
      id: newId(),
      state: 'in',
      state_at: new Date().toISOString(),
    })
    .execute()
  assert.deepEqual(await found(`channel_in=${toWireId(channel)}`), ['bob'])
  assert.deepEqual(await found(`channel_not_in=${toWireId(channel)}&source=start`), ['ann'])
  const [out] = await subscribersOf(ground, id, '&state=opted_out')
  assert.equal(out?.['since'], out?.['opted_out_at'])
  assert.deepEqual(await found(`telegram_user_id=${people.bob.id}`), ['bob'])
  assert.deepEqual(await found('from=2100-01-01'), [])
  assert.deepEqual(await found('to=2100-01-01'), ['ann', 'bob', 'cid'])
  const page = (await call('GET', `/api/subscribers?bot_id=${id}&limit=2`)).data() as {
    data: unknown[]
    next_cursor: string
  }
  assert.equal(page.data.length, 2)
  assert.equal((await subscribersOf(ground, id, `&limit=2&cursor=${page.next_cursor}`)).length, 1)
  const counts = (await call('GET', '/api/subscribers/counts')).data()['data'] as Record<string, unknown>[]
  assert.deepEqual(
    counts.find(({ bot_id }) => bot_id === id),
    { bot_id: id, reachable: 1, opted_out: 1, blocked: 1, gone: 0, unreachable: 0, started_7d: 2 },
  )
  assert.equal((await call('GET', '/api/subscribers?state=away')).statusCode, 400)
})

test('a subscriber’s answer shows the person’s bots, click, events, payments and tasks', async () => {
  const [bot, other] = [ground.telegram.bot(), ground.telegram.bot()]
  const { id } = await ground.add(bot)
  await ground.add(other)
  await call('PATCH', `/api/bots/${id}`, { welcome: { text: 'Hello' }, accept_payments: true, stars_rate: '0.013' })
  const to = await botCampaign(ground, id)
  const click = await to.click()
  const ann = ground.telegram.person()
  ann.start(bot, click)
  ann.start(other)
  await ground.telegram.settled()
  ann.checkout(bot, { payload: 'gold', total_amount: 100 })
  await ground.telegram.settled()
  const { id: subscriber } = await only(id)
  const reply = await call('GET', `/api/subscribers/${subscriber}`)
  assert.equal(reply.statusCode, 200, reply.body)
  const way = reply.data() as {
    subscriber: { id: string }
    bots: { username: string }[]
    click: { id: string; campaign: string }
    events: { type: string; payout: string | null }[]
    payments: { amount: string; currency: string; payout: string }[]
    tasks: { kind: string }[]
    channels: unknown[]
    broadcasts: unknown[]
  }
  assert.equal(way.subscriber.id, subscriber)
  assert.deepEqual(way.bots.map(({ username }) => username).sort(), [bot.username, other.username].sort())
  assert.deepEqual([way.click.id, way.click.campaign], [click, 'To the bot'])
  assert.deepEqual(way.events.map(({ type }) => type).sort(), ['bot_start', 'purchase'])
  assert.deepEqual(
    way.payments.map(({ amount, currency, payout }) => [amount, currency, payout]),
    [['100', 'XTR', '1.3']],
  )
  assert.deepEqual([way.tasks.map(({ kind }) => kind), way.channels, way.broadcasts], [['welcome'], [], []])
})

test('another organization’s bots, people and payments are as if they were not there', async () => {
  const bot = ground.telegram.bot()
  const { id } = await ground.add(bot)
  ground.telegram.person().start(bot)
  await ground.telegram.settled()
  const { id: subscriber } = await only(id)
  const stranger = await ground.signIn()
  const body = { user_ids: [5], started_the_bot: true }
  for (const [method, url, sent] of [
    ['GET', `/api/subscribers/${subscriber}`],
    ['DELETE', `/api/subscribers/${subscriber}`],
    ['POST', `/api/bots/${id}/subscribers`, body],
    ['PATCH', `/api/bots/${id}`, { welcome: { text: 'x' } }],
  ] as const)
    assert.deepEqual(codeOf(await call(method, url, sent, stranger)), [404, 'not_found'], url)
  for (const url of [`/api/subscribers?bot_id=${id}`, `/api/payments?bot_id=${id}`, '/api/subscribers/counts'])
    assert.deepEqual((await call('GET', url, undefined, stranger)).data()['data'], [], url)
  assert.equal((await subscribersOf(ground, id)).length, 1)
})

test('an import adds user ids once, with the owner’s confirmation, and any later report of Telegram’s is newer', async () => {
  const bot = ground.telegram.bot()
  const { id } = await ground.add(bot)
  const ann = ground.telegram.person()
  ann.start(bot)
  await ground.telegram.settled()
  const url = `/api/bots/${id}/subscribers`
  const send = (user_ids: unknown, more: object = { started_the_bot: true }) => call('POST', url, { user_ids, ...more })
  assert.deepEqual((await send([ann.id, 71, '72', '72'])).data(), { added: 2, known: 1 })
  assert.deepEqual((await send([71, 72])).data(), { added: 0, known: 2 })
  const rows = await subscribersOf(ground, id, '&source=import')
  assert.deepEqual(
    rows.map(row => `${String(row['telegram_user_id'])} ${row.state} ${String(row['state_at'])}`).sort(),
    ['71 reachable null', '72 reachable null'],
  )
  assert.ok(rows.every(row => row['since'] === row['created_at']))
  assert.match((await send([1], {})).body, /started_the_bot: must be true/)
  for (const wrong of [[-100], ['@ann'], [1.5], [0], [], 'all', Array.from({ length: 50_001 }, (_, n) => n + 1)])
    assert.equal((await send(wrong)).statusCode, 400, JSON.stringify(wrong).slice(0, 40))
  const member = await ground.signIn({ place: ground.owner, role: 'member' })
  assert.equal((await call('POST', url, { user_ids: [9], started_the_bot: true }, member)).statusCode, 403)
  const from = { id: 71, is_bot: false, first_name: 'X' }
  const chat = { id: 71, type: 'private' }
  // Blocked long before the import, reported only now.
  const kicked = { user: { id: bot.id, is_bot: true }, status: 'kicked' }
  bot.sendUpdate({
    my_chat_member: { chat, from, date: seconds() - 40_000, old_chat_member: {}, new_chat_member: kicked },
  })
  await ground.telegram.settled()
  assert.deepEqual(
    (await subscribersOf(ground, id, '&state=blocked')).map(row => row['telegram_user_id']),
    ['71'],
  )
  const most = Array.from({ length: 50_000 }, (_, n) => 10_000_000_000_000 + n)
  assert.deepEqual((await send(most)).data(), { added: 50_000, known: 0 })
})

test('a forgotten person is nowhere but in the records that count and bill people, and may come again', async () => {
  const [bot, other] = [ground.telegram.bot(), ground.telegram.bot()]
  const { id } = await ground.add(bot)
  const { id: second } = await ground.add(other)
  await call('PATCH', `/api/bots/${id}`, { welcome: { text: 'Hello' }, accept_payments: true })
  const to = await botCampaign(ground, id)
  const [ann, bob] = [ground.telegram.person(), ground.telegram.person()]
  for (const person of [ann, bob]) {
    person.start(bot, await to.click())
    person.start(other)
    await ground.telegram.settled()
    person.checkout(bot, { payload: `order of ${person.id}`, total_amount: 5 })
    await ground.telegram.settled()
  }
  const { org_id } = ground.owner
  const db = ground.house.database.kysely
  const channel_id = newId()
  const [broadcast_id, subscriber_id, link_id, now] = [
    newId(),
    await idOf(id, ann.id),
    newId(),
    new Date().toISOString(),
  ]
  const person = { org_id, channel_id, telegram_user_id: String(ann.id) }
  await db
    .insertInto('channel_members')
    .values({ ...person, id: newId(), state: 'in', state_at: now })
    .execute()
  await db
    .insertInto('join_requests')
    .values({ ...person, id: newId(), state: 'pending', asked_at: now })
    .execute()
  await db
    .insertInto('broadcast_sends')
    .values({ org_id, broadcast_id, telegram_user_id: String(ann.id), subscriber_id, state: 'sent', at: now })
    .execute()
  await db
    .insertInto('shared_grants')
    .values({ org_id, click_id: newId(), channel_id, link_id, granted_at: now, taken_by: String(ann.id) })
    .execute()
  const tables = async (number: number) => {
    const { rows } = await ground.house.database.reads.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
    )
    const holding: string[] = []
    for (const { name } of rows) {
      const found = await ground.house.database.reads.query(
        `select 1 from "${name}" t where position($1 in t::text) > 0 limit 1`,
        [String(number)],
      )
      if (found.rows.length > 0) holding.push(name)
    }
    return holding
  }
  const before = await tables(ann.id)
  for (const name of [
    'subscribers',
    'payments',
    'bot_tasks',
    'channel_members',
    'join_requests',
    'broadcast_sends',
    'shared_grants',
  ])
    assert.ok(before.includes(name), name)
  assert.equal((await call('DELETE', `/api/subscribers/${toWireId(subscriber_id)}`)).statusCode, 200)
  assert.deepEqual(codeOf(await call('DELETE', `/api/subscribers/${toWireId(subscriber_id)}`)), [404, 'not_found'])
  // Conversions and charges: people are counted and billed once by their user id.
  const kept = (await tables(ann.id)).filter(name => !['events', 'persons', 'person_keys'].includes(name))
  assert.deepEqual(kept, [])
  assert.equal((await subscribersOf(ground, second)).length, 1, 'the other bot knows the other person alone')
  assert.ok((await tables(bob.id)).includes('payments'), 'nobody else was touched')
  const payments = (await call('GET', `/api/payments?bot_id=${id}`)).data()['data'] as {
    subscriber_id: string | null
  }[]
  assert.deepEqual(payments.map(({ subscriber_id }) => String(subscriber_id === null)).sort(), ['false', 'true'])
  ground.telegram.advance(1000)
  ann.start(bot)
  await ground.telegram.settled()
  assert.equal((await subscribersOf(ground, id)).length, 2)
})

async function idOf(bot: string, person: number): Promise<string> {
  const rows = await subscribersOf(ground, bot, `&telegram_user_id=${person}`)
  return toUuid(rows[0]?.id ?? '') ?? assert.fail()
}
