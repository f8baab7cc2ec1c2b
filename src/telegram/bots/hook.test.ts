// Updates from Telegram, through the door, recorded on real clicks.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { freshDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, openTestHouse, seedKey, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { startProxy } from '../../../tests/support/proxy.ts'
import { startTelegram, type TelegramFake } from '../../../tests/support/telegram-fake/telegram-fake.ts'
import { toUuid } from '../../contract/ids.ts'
import { connect } from '../../ground/db/connect.ts'

const ORIGIN = 'https://track.example.com'

let telegram: TelegramFake
let house: TestHouse
before(async () => {
  telegram = await startTelegram()
  house = await startHouse({ BASE_URL: ORIGIN, TELEGRAM_API_ROOT: telegram.origin })
})
after(async () => {
  await house.end()
  await telegram.close()
})

type Place = SignedIn & { bot: string; secret: string; campaign_key: string; click: () => Promise<string> }

/** An organization with a bot and a campaign that leads to it. */
async function place(on = house): Promise<Place> {
  const owner = await seedSignedIn(on)
  const headers = { origin: ORIGIN, cookie: `__Host-${owner.cookie}` }
  const known = telegram.bot({ username: 'Start_Bot' })
  const body = { token: known.token }
  const bot = String((await on.call('POST', '/api/bots', { headers, body })).data()['id'])
  const secret = known.hook?.secret ?? assert.fail('its hook is not set')
  const destination = { type: 'redirect', url: 'https://t.me/Start_Bot?start={click_id}' }
  const made = await on.call('POST', '/api/campaigns', { headers, body: { name: 'Bot', destination } })
  const campaign_key = String(made.data()['key'])
  const click = async () => {
    const visit = await on.call('GET', `/c/${campaign_key}`, {
      headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x64) Chrome/130.0.0.0' },
    })
    return new URL(String(visit.headers.location)).searchParams.get('start') ?? ''
  }
  return { ...owner, bot, secret, campaign_key, click }
}

const start = (payload: string, from: unknown = 77) => ({
  update_id: 1,
  message: {
    message_id: 1,
    date: 1,
    chat: { id: 77, type: 'private' },
    from: { id: from, is_bot: false },
    text: `/start${payload}`,
  },
})

const postUpdate = (bot: string, body: unknown, secret: string, on = house) =>
  on.call('POST', `/hooks/telegram/${bot}`, { body, headers: { 'x-telegram-bot-api-secret-token': secret } })

const eventsOf = (org_id: number) =>
  house.database.kysely.selectFrom('events').selectAll().where('org_id', '=', org_id).execute()
const clickOf = (id: string) =>
  house.database.kysely
    .selectFrom('clicks')
    .select(['status', 'bot_id', 'tracked'])
    .where('id', '=', toUuid(id) ?? '')
    .executeTakeFirstOrThrow()

test('a start over a click is recorded once, raises the click’s status and binds it to the bot, however often Telegram repeats it', async () => {
  const { org_id, bot, secret, click } = await place()
  const id = await click()
  for (const payload of [` ${id}`, ` ${id.toUpperCase()}`, `@Start_Bot ${id}`])
    assert.deepEqual([(await postUpdate(bot, start(payload), secret)).statusCode], [200])
  await Promise.all(Array.from({ length: 20 }, () => postUpdate(bot, start(` ${id}`), secret)))
  const events = await eventsOf(org_id)
  assert.equal(events.length, 1)
  const [event] = events
  assert.deepEqual(
    [event?.type, event?.click_id, event?.telegram_user_id, event?.bot_id, event?.source],
    ['bot_start', toUuid(id), '77', toUuid(bot), 'service'],
  )
  assert.deepEqual(await clickOf(id), { status: 2, bot_id: toUuid(bot), tracked: true })
  const { rows } = await house.database.reads.query(
    `select count(*)::int as charges from ledger where org_id = $1 and kind = 'charge'`,
    [org_id],
  )
  assert.deepEqual(rows, [{ charges: 1 }])
})

test('a second click of the same person is no second start, another person’s is', async () => {
  const { org_id, bot, secret, click } = await place()
  const [one, two, three] = [await click(), await click(), await click()]
  await postUpdate(bot, start(` ${one}`), secret)
  await postUpdate(bot, start(` ${two}`), secret)
  await postUpdate(bot, start(` ${three}`, 78), secret)
  const events = await eventsOf(org_id)
  assert.deepEqual(
    events.map(({ click_id }) => click_id).sort((a, b) => (a < b ? -1 : 1)),
    [toUuid(one), toUuid(three)],
  )
})

test("the service's start and the sender's call are one event, whichever comes first", async () => {
  for (const order of ['service first', 'sender first']) {
    const here = await place()
    const { secret: key } = await seedKey(house.database, here, { rights: ['events'] })
    const id = await here.click()
    const post = () => postUpdate(here.bot, start(` ${id}`), here.secret)
    const sent = () =>
      house.call('POST', '/api/events', {
        key,
        body: { clickId: id, type: 'bot_start', payload: { telegram_user_id: 77, bot_username: '@start_bot' } },
      })
    const replies = order === 'service first' ? [await post(), await sent()] : [await sent(), await post()]
    assert.deepEqual(
      replies.map(({ statusCode }) => statusCode).sort((a, b) => a - b),
      [200, 201],
      order,
    )
    assert.equal((await eventsOf(here.org_id)).length, 1, order)
    assert.equal((await clickOf(id)).bot_id, toUuid(here.bot), order)
  }
})

test('an update that is no start over a click of the organization stores nothing and is answered 200', async () => {
  const { org_id, bot, secret, click } = await place()
  const foreign = await (await place()).click()
  const own = await click()
  const group = start(` ${own}`)
  const updates = [
    start(''),
    start(' hello'),
    start(` ${toWireId(newId())}`),
    start(` ${foreign}`),
    start(`x ${own}`),
    start(` ${own} more`),
    start(` ${own}`, '77'),
    start(` ${own}`, null),
    start(` ${own}`, 2 ** 60),
    { ...group, message: { ...group.message, chat: { id: -1, type: 'group' } } },
    { update_id: 2, edited_message: group.message },
    { update_id: 3, my_chat_member: {} },
    { message: null },
    [],
    'text',
    null,
  ]
  for (const update of updates)
    assert.equal((await postUpdate(bot, update, secret)).statusCode, 200, JSON.stringify(update))
  assert.deepEqual(await eventsOf(org_id), [])
  assert.deepEqual(await clickOf(own), { status: 0, bot_id: null, tracked: true })
})

test('an update without the bot’s secret is refused, and the refusal does not reveal which bots exist', async () => {
  const { org_id, bot, secret, click } = await place()
  const { secret: others } = await place()
  const update = start(` ${await click()}`)
  const replies = [
    await postUpdate(bot, update, ''),
    await postUpdate(bot, update, `${secret}x`),
    await postUpdate(bot, update, others),
    await house.call('POST', `/hooks/telegram/${bot}`, { body: update }),
    await postUpdate(toWireId(newId()), update, secret),
    await postUpdate('x', update, secret),
  ]
  for (const reply of replies) assert.deepEqual([reply.statusCode, reply.body], [401, replies[0]?.body])
  assert.deepEqual(await eventsOf(org_id), [])
})

test('for a deleted organization Telegram is told to send the update again', async () => {
  const { org_id, bot, secret, click } = await place()
  const update = start(` ${await click()}`)
  const organizations = (deleted_at: string | null) =>
    house.database.kysely.updateTable('organizations').set({ deleted_at }).where('org_id', '=', org_id).execute()
  await organizations(new Date().toISOString())
  assert.equal((await postUpdate(bot, update, secret)).statusCode, 409)
  assert.deepEqual(await eventsOf(org_id), [])
  await organizations(null)
  assert.equal((await postUpdate(bot, update, secret)).statusCode, 200)
  assert.equal((await eventsOf(org_id)).length, 1)
})

test('while the database is away Telegram is told to send the update again, and the start is then recorded', async () => {
  const fresh = await freshDatabase()
  const proxy = await startProxy(fresh.connection)
  const database = connect([proxy.connection], { log: pino({ level: 'silent' }), isBehind: false })
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-hook-'))
  const env = { DATA_DIR: dataDir, BASE_URL: ORIGIN, TELEGRAM_API_ROOT: telegram.origin }
  const cut = await openTestHouse(database, env)
  const { org_id, bot, secret, click } = await place(cut)
  const update = start(` ${await click()}`)
  proxy.set('cut')
  const away = await postUpdate(bot, update, secret, cut)
  assert.deepEqual([away.statusCode, away.data()['error']], [503, 'service unavailable'])
  proxy.set('flow')
  await eventually('it is taken', async () => (await postUpdate(bot, update, secret, cut)).statusCode === 200)
  const { rows } = await fresh.database.reads.query('select count(*)::int as starts from events where org_id = $1', [
    org_id,
  ])
  assert.deepEqual(rows, [{ starts: 1 }])
  await cut.end()
  await database.close()
  await proxy.close()
  await fresh.drop()
  rmSync(dataDir, { recursive: true })
})

const CHANNEL = { id: -1001, type: 'channel', title: 'Deals' }
const person = (id: number) => ({ id, is_bot: false, first_name: 'A' })
const joined = (id: number, more: object = {}) => ({
  update_id: 10,
  chat_member: {
    chat: CHANNEL,
    from: person(id),
    date: 1,
    old_chat_member: { status: 'left', user: person(id) },
    new_chat_member: { status: 'member', user: person(id) },
    ...more,
  },
})
const asked = (id: number, more: object = {}) => ({
  update_id: 11,
  chat_join_request: { chat: CHANNEL, from: person(id), user_chat_id: id, date: 1, ...more },
})
const paid = (id: number, payment: object) => ({
  update_id: 12,
  message: {
    message_id: 2,
    date: 1,
    chat: { id, type: 'private' },
    from: person(id),
    successful_payment: { currency: 'XTR', total_amount: 250, invoice_payload: 'gold', ...payment },
  },
})
const cancelled = (update_id: number, id: number, more: object = {}) => ({
  update_id,
  subscription: { user: person(id), invoice_payload: 'gold', state: 'canceled', ...more },
})

test('actions of a person who started over a click are recorded on it, each once however often Telegram repeats them', async () => {
  const here = await place()
  const id = await here.click()
  await postUpdate(here.bot, start(` ${id}`), here.secret)
  const updates = [
    asked(77),
    joined(77),
    joined(77, { old_chat_member: { status: 'restricted', is_member: false, user: person(77) } }),
    paid(77, { telegram_payment_charge_id: 'one' }),
    paid(77, { telegram_payment_charge_id: 'two', is_recurring: true, is_first_recurring: true }),
    paid(77, { telegram_payment_charge_id: 'three', is_recurring: true }),
    paid(77, { telegram_payment_charge_id: 'four', is_recurring: true }),
    cancelled(20, 77),
    cancelled(30, 77),
  ]
  const replies = await Promise.all([...updates, ...updates].map(update => postUpdate(here.bot, update, here.secret)))
  assert.deepEqual([...new Set(replies.map(({ statusCode }) => statusCode))], [200])
  const events = (await eventsOf(here.org_id)).filter(({ type }) => type !== 'bot_start')
  assert.deepEqual(events.map(({ type }) => type).sort(), [
    'channel_join',
    'join_request',
    'purchase',
    'purchase',
    'subscription_cancelled',
    'subscription_cancelled',
    'subscription_renewed',
    'subscription_renewed',
  ])
  for (const { click_id, telegram_user_id, bot_id, source, payout } of events)
    assert.deepEqual(
      [click_id, telegram_user_id, bot_id, source, payout],
      [toUuid(id), '77', toUuid(here.bot), 'service', null],
    )
  const { payload } = events.find(({ type }) => type === 'channel_join') ?? assert.fail()
  assert.deepEqual(payload, { chat_id: -1001, chat_title: 'Deals', attribution: 'person' })
  const { rows } = await house.database.reads.query(
    `select count(*)::int as charges from ledger where org_id = $1 and kind = 'charge'`,
    [here.org_id],
  )
  assert.deepEqual(rows, [{ charges: 1 }], 'one person')
})

test('an invite link and an invoice name the click themselves, also for a person who never started', async () => {
  const { org_id, bot, secret, click } = await place()
  const [link, invoice] = [await click(), await click()]
  await postUpdate(bot, joined(81, { invite_link: { invite_link: 'https://t.me/+x', name: link } }), secret)
  await postUpdate(bot, joined(82, { invite_link: { invite_link: 'https://t.me/+x', name: link } }), secret)
  await postUpdate(bot, paid(83, { telegram_payment_charge_id: 'five', invoice_payload: invoice }), secret)
  const events = await eventsOf(org_id)
  assert.deepEqual(
    events.map(({ type, click_id, telegram_user_id }) => [type, click_id, telegram_user_id].join(' ')).sort(),
    [`channel_join ${toUuid(link)} 81`, `channel_join ${toUuid(link)} 82`, `purchase ${toUuid(invoice)} 83`],
  )
  assert.equal((await clickOf(link)).bot_id, toUuid(bot))
})

test('an event that a sender reports is recorded beside the one Sluice recorded itself', async () => {
  const here = await place()
  const { secret: key } = await seedKey(house.database, here, { rights: ['events'] })
  const id = await here.click()
  await postUpdate(here.bot, start(` ${id}`), here.secret)
  await postUpdate(here.bot, joined(77), here.secret)
  const body = { clickId: id, type: 'channel_join', nonce: '-1001 77', payload: { telegram_user_id: 77 } }
  assert.equal((await house.call('POST', '/api/events', { key, body })).statusCode, 201)
  assert.equal((await eventsOf(here.org_id)).filter(({ type }) => type === 'channel_join').length, 2)
})

test('leaves, promotions, bots and people without a click of the organization are answered 200 and not recorded', async () => {
  const { org_id, bot, secret, click } = await place()
  const foreign = await (await place()).click()
  await postUpdate(bot, start(` ${await click()}`), secret)
  const inside = { status: 'member', user: person(77) }
  const updates = [
    joined(77, { old_chat_member: inside, new_chat_member: { status: 'left', user: person(77) } }),
    joined(77, { old_chat_member: inside, new_chat_member: { status: 'administrator', user: person(77) } }),
    joined(77, { new_chat_member: { status: 'restricted', is_member: false, user: person(77) } }),
    joined(77, { new_chat_member: { status: 'member', user: { id: 77, is_bot: true } } }),
    joined(77, { chat: { id: 77, type: 'private' } }),
    joined(77, { chat: { type: 'channel' } }),
    joined(99),
    joined(99, { invite_link: { name: foreign } }),
    joined(99, { invite_link: { name: 'spring sale' } }),
    asked(99),
    paid(77, { telegram_payment_charge_id: '' }),
    paid(99, { telegram_payment_charge_id: 'six' }),
    cancelled(40, 77, { state: 'failed' }),
    { subscription: { user: person(77), state: 'canceled' } },
    { update_id: 1, chat_member: null, chat_join_request: 'x', subscription: [] },
  ]
  for (const update of updates)
    assert.equal((await postUpdate(bot, update, secret)).statusCode, 200, JSON.stringify(update))
  assert.deepEqual(
    (await eventsOf(org_id)).map(({ type }) => type),
    ['bot_start'],
  )
})
