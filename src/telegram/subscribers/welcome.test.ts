// The message that answers a start: its content, how often it is sent, and faults.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { botCampaign, subscribersOf } from '../../../tests/support/bot-clicks.ts'
import { type BotGround, botGround, PUBLIC } from '../../../tests/support/bots.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedChannel, seedLinks } from '../../../tests/support/invite-links.ts'
import { startReceiver } from '../../../tests/support/receiver.ts'
import type { FakeBot } from '../../../tests/support/telegram-fake/telegram-fake.ts'
import { toUuid } from '../../contract/ids.ts'

let ground: BotGround
let call: BotGround['call']
before(async () => {
  ground = await botGround()
  call = ground.call
})
after(() => ground.end())

const WELCOME = { text: 'Hello' }
const DAY_MS = 86_400_000

async function welcoming(welcome: object = WELCOME, more: object = {}) {
  const bot = ground.telegram.bot()
  const { id } = await ground.add(bot, more)
  const reply = await call('PATCH', `/api/bots/${id}`, { welcome })
  assert.equal(reply.statusCode, 200, reply.body)
  return { bot, id }
}
const sentBy = ({ id }: FakeBot) => ground.telegram.messages.filter(({ bot }) => bot === id)
const tasksOf = (id: string) =>
  ground.house.database.kysely
    .selectFrom('bot_tasks')
    .select(['state', 'reason', 'kind'])
    .where('org_id', '=', ground.owner.org_id)
    .where('bot_id', '=', toUuid(id) ?? '')
    .orderBy('id')
    .execute()
const ended = (id: string, count = 1) =>
  eventually('the tasks have ended', async () => {
    const tasks = await tasksOf(id)
    return tasks.length === count && tasks.every(({ state }) => state !== 'waiting')
  })

test('a start is answered with the welcome, with the start’s own click in it', async () => {
  const { bot, id } = await welcoming({
    text: 'Hi <b>{first_name|friend}</b>, from {sub1}',
    buttons: [
      [{ text: 'Offer', url: 'https://offer.example/?c={click_id}&s={sub1}' }],
      [{ text: 'No more', opt_out: true }],
    ],
  })
  await call('PATCH', `/api/bots/${id}`, { keep_names: true })
  const to = await botCampaign(ground, id)
  const click = await to.click()
  const ann = ground.telegram.person({ first_name: 'A & B' })
  ann.start(bot, click)
  await ended(id)
  const [message] = sentBy(bot)
  const { text, parse_mode, reply_markup } = message?.params ?? {}
  assert.deepEqual([message?.chat, text, parse_mode], [ann.id, 'Hi <b>A &amp; B</b>, from banner-7', 'HTML'])
  assert.deepEqual(reply_markup, {
    inline_keyboard: [
      [{ text: 'Offer', url: `https://offer.example/?c=${click}&s=banner-7` }],
      [{ text: 'No more', callback_data: 'sluice:out' }],
    ],
  })
})

test('a channel button has a link that is given to the start’s own click', async () => {
  const db = ground.house.database.kysely
  const { org_id } = ground.owner
  const channel = await seedChannel(db, org_id)
  const links = await seedLinks(db, org_id, channel.id, { count: 5 })
  const channel_id = toWireId(channel.id)
  const { bot, id } = await welcoming({ text: 'Come in', buttons: [[{ text: 'Enter', channel_id }]] })
  const to = await botCampaign(ground, id)
  const clicks = [await to.click(), await to.click()]
  for (const click of clicks) ground.telegram.person().start(bot, click)
  ground.telegram.person().start(bot)
  await ended(id, 3)
  const buttons = sentBy(bot).map(({ params }) => JSON.stringify(params['reply_markup'] ?? 'none'))
  const given = links.map(({ url }) => url).filter(url => buttons.some(one => one.includes(url)))
  assert.equal(given.length, 2, 'a link each')
  assert.equal(buttons.filter(one => one === '"none"').length, 1, 'who came over no click has no link of his own')
  const grants = await db
    .selectFrom('link_grants')
    .select('click_id')
    .where('org_id', '=', org_id)
    .where('channel_id', '=', channel.id)
    .execute()
  assert.deepEqual(grants.map(({ click_id }) => toWireId(click_id)).sort(), clicks.toSorted())
})

test('a bot with a program of its owner’s sends no welcome', async t => {
  const program = await startReceiver()
  t.after(() => program.close())
  const relayed = await welcoming(WELCOME, { mode: 'relay', relay_url: program.origin })
  const copied = await welcoming(WELCOME, { mode: 'copy' })
  const { url, secret } = (await call('POST', `/api/bots/${copied.id}/copy-secret`)).data() as Record<string, string>
  copied.bot.setHook(url ?? '', { secret_token: secret ?? '' })
  const silent = ground.telegram.bot()
  const { id } = await ground.add(silent)
  for (const bot of [relayed.bot, copied.bot, silent]) ground.telegram.person().start(bot)
  await ground.telegram.settled()
  for (const one of [relayed.id, copied.id, id]) {
    assert.equal((await subscribersOf(ground, one)).length, 1)
    assert.deepEqual(await tasksOf(one), [])
  }
})

test('a welcome waits during a rate limit, and any process sends it afterwards', async () => {
  const { bot, id } = await welcoming()
  ground.telegram.faults.next('sendMessage', { retry_after: 2 }, 1, bot.token)
  const ann = ground.telegram.person()
  const from = ground.telegram.calls.length
  ann.start(bot)
  let until = NaN
  // Read once, because it is shown only while it lasts.
  await eventually('Telegram has asked for silence', async () => {
    until = Date.parse(String((await call('GET', `/api/bots/${id}`)).data()['silent_until']))
    return !Number.isNaN(until)
  })
  const other = await openTestHouse(ground.house.database, {
    BASE_URL: PUBLIC,
    TELEGRAM_API_ROOT: ground.telegram.origin,
  })
  await ended(id)
  await other.end()
  const sends = ground.telegram.calls
    .slice(from)
    .filter(({ method, token }) => method === 'sendMessage' && token === bot.token)
  assert.deepEqual(
    sends.map(({ status }) => status),
    [429, 200],
  )
  const [message] = sentBy(bot)
  const ahead = ground.telegram.now() - Date.now()
  assert.ok((message?.at ?? 0) - ahead >= until - 50, 'the silence was broken')
})

test('an unreachable person is marked, and a message whose answer was lost is not sent twice', async () => {
  const { bot, id } = await welcoming()
  const [ann, bob] = [ground.telegram.person(), ground.telegram.person()]
  ann.start(bot)
  await ended(id)
  bob.deactivate()
  bob.start(bot)
  await ended(id, 2)
  assert.deepEqual(
    (await tasksOf(id)).map(({ state }) => state),
    ['done', 'gone'],
  )
  assert.deepEqual(
    (await subscribersOf(ground, id)).map(({ state }) => state),
    ['gone', 'reachable'],
  )
  ground.telegram.faults.next('sendMessage', 'accept_then_drop', 1, bot.token)
  ground.telegram.person().start(bot)
  await ended(id, 3)
  assert.equal((await tasksOf(id))[2]?.state, 'failed')
  assert.equal(sentBy(bot).length, 2)
})

test('a welcome that Telegram would refuse is refused, with the reason', async () => {
  const bot = ground.telegram.bot()
  const { id } = await ground.add(bot)
  const refused = async (body: object) => {
    const reply = await call('PATCH', `/api/bots/${id}`, body)
    assert.equal(reply.statusCode, 400, reply.body)
    return String(reply.data()['error'])
  }
  assert.match(await refused({ welcome: { text: '<b>x' } }), /^welcome: the text/)
  assert.match(await refused({ welcome: { text: '{nothing}' } }), /no macro/)
  const channel_id = '01h455vb4pex5vsknk084sn02q'
  assert.match(
    await refused({ welcome: { text: 'x', buttons: [[{ text: 'c', channel_id }]] } }),
    /channel that does not exist/,
  )
  for (const body of [
    { send_per_second: 29 },
    { send_per_second: 0 },
    { opt_out_words: ['/start'] },
    { opt_out_words: [''] },
    { stars_rate: '-1' },
    { stars_rate: 11 },
  ])
    await refused(body)
  const { welcome, send_per_second, opt_out_words, stars_rate } = (await call('GET', `/api/bots/${id}`)).data()
  assert.deepEqual([welcome, send_per_second, opt_out_words, stars_rate], [null, 20, ['/stop'], null])
  const saved = await call('PATCH', `/api/bots/${id}`, { welcome: WELCOME, stars_rate: '0.0130' })
  assert.deepEqual([saved.data()['welcome'], saved.data()['stars_rate']], [WELCOME, '0.013'])
  assert.equal((await call('PATCH', `/api/bots/${id}`, { welcome: null })).data()['welcome'], null)
})

// The last test, because it moves the clock by a day.
test('a welcome is sent once per person and 24 hours, however often Telegram repeats a start', async () => {
  const { bot, id } = await welcoming()
  const ann = ground.telegram.person()
  for (let n = 0; n < 3; n += 1) ann.start(bot)
  await ground.telegram.settled()
  await ended(id)
  assert.equal(sentBy(bot).length, 1)
  ground.telegram.advance(DAY_MS - 60_000)
  ann.start(bot)
  await ground.telegram.settled()
  assert.equal((await tasksOf(id)).length, 1)
  ground.telegram.advance(120_000)
  const from = { id: ann.id, is_bot: false, first_name: 'Ann' }
  const date = Math.floor(ground.telegram.now() / 1000)
  const message = { message_id: 77, date, chat: { id: ann.id, type: 'private' }, from, text: '/start' }
  for (let n = 0; n < 3; n += 1) bot.sendUpdate({ message })
  await ground.telegram.settled()
  await ended(id, 2)
  assert.equal(sentBy(bot).length, 2)
})
