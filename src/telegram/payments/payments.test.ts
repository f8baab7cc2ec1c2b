// Payments through bots: checkout queries, payouts, and payments that no update reported.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { botCampaign } from '../../../tests/support/bot-clicks.ts'
import { type BotGround, botGround } from '../../../tests/support/bots.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { startReceiver } from '../../../tests/support/receiver.ts'
import { toUuid } from '../../contract/ids.ts'
import { paidAmountOf, payoutOf } from './amounts.ts'

let ground: BotGround
let call: BotGround['call']
before(async () => {
  ground = await botGround()
  call = ground.call
})
after(() => ground.end())

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

type PaymentRow = Record<string, unknown> & { id: string; amount: string; payout: string | null; kind: string }
const paymentsOf = async (id: string, more = ''): Promise<PaymentRow[]> => {
  const reply = await call('GET', `/api/payments?bot_id=${id}${more}`)
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.data()['data'] as PaymentRow[]
}
const eventsOf = (click: string) =>
  ground.house.database.kysely
    .selectFrom('events')
    .select(['id', 'type', 'payout', 'telegram_user_id'])
    .where('org_id', '=', ground.owner.org_id)
    .where('click_id', '=', toUuid(click) ?? '')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
const answersTo = (token: string) =>
  ground.telegram.calls.filter(one => one.token === token && one.method === 'answerPreCheckoutQuery')

/** A bot that sells, and an offer that pays 40 dollars for everything, which is not a payment's payout. */
async function selling(more: object = { accept_payments: true, stars_rate: '0.013' }, added: object = {}) {
  const bot = ground.telegram.bot()
  const { id } = await ground.add(bot, added)
  const reply = await call('PATCH', `/api/bots/${id}`, more)
  assert.equal(reply.statusCode, 200, reply.body)
  const offer = await call('POST', '/api/offers', {
    name: `Offer ${id}`,
    url: 'https://example.com/',
    payout: '40',
    payout_types: ['purchase', 'subscription_renewed'],
  })
  assert.equal(offer.statusCode, 201, offer.body)
  return { bot, id, to: await botCampaign(ground, id, { offer_id: offer.data()['id'] }) }
}

test('a payment is approved in time in mode own with accept_payments, and never otherwise', async t => {
  const program = await startReceiver()
  t.after(() => program.close())
  const on = await selling()
  const off = await selling({})
  const relayed = await selling({ accept_payments: true }, { mode: 'relay', relay_url: program.origin })
  for (const { bot } of [on, off, relayed]) ground.telegram.person().checkout(bot, { payload: 'x', total_amount: 5 })
  await ground.telegram.settled()
  assert.deepEqual(
    answersTo(on.bot.token).map(({ via, status }) => [via, status]),
    [['http', 200]],
  )
  assert.equal((await paymentsOf(on.id)).length, 1)
  assert.deepEqual([answersTo(off.bot.token), answersTo(relayed.bot.token)], [[], []])
  // A repeated update, as after a lost answer, is the same query.
  for (let n = 0; n < 3; n += 1) {
    const posted = await ground.house.call('POST', `/hooks/telegram/${off.id}`, {
      body: { update_id: 77_000, pre_checkout_query: { id: 'again', currency: 'XTR', total_amount: 5 } },
      headers: { 'x-telegram-bot-api-secret-token': off.bot.hook?.secret ?? '' },
    })
    assert.equal(posted.statusCode, 200)
  }
  const unanswered = async (id: string) => (await call('GET', `/api/bots/${id}`)).data()['unanswered_payments']
  assert.deepEqual([await unanswered(on.id), await unanswered(off.id), await unanswered(relayed.id)], [0, 2, 0])
  assert.equal(program.arrivals.filter(({ body }) => body.includes('pre_checkout_query')).length, 1)
})

test('a lost approval is repeated, and then sent in the answer to Telegram; the database is not needed', async () => {
  const { bot, id } = await selling()
  const person = ground.telegram.person()
  ground.telegram.faults.next('answerPreCheckoutQuery', 'drop', 1, bot.token)
  person.checkout(bot, { payload: 'one', total_amount: 5 })
  await ground.telegram.settled()
  assert.deepEqual(
    answersTo(bot.token).map(({ via, status }) => [via, status]),
    [
      ['http', 0],
      ['http', 200],
    ],
  )
  ground.telegram.faults.next('answerPreCheckoutQuery', 'drop', 2, bot.token)
  person.checkout(bot, { payload: 'two', total_amount: 6 })
  await ground.telegram.settled()
  assert.deepEqual(
    answersTo(bot.token)
      .slice(2)
      .map(({ via, status }) => [via, status]),
    [
      ['http', 0],
      ['http', 0],
      ['hook', 200],
    ],
  )
  assert.deepEqual(
    (await paymentsOf(id)).map(({ amount }) => amount),
    ['6', '5'],
  )
  const { schema } = ground.house.database
  await sql`alter table organizations rename to organizations_away`.execute(schema)
  try {
    const query = person.checkout(bot, { payload: 'three', total_amount: 7 })
    await eventually('it is answered', () =>
      answersTo(bot.token).some(({ params, status }) => params['pre_checkout_query_id'] === query && status === 200),
    )
  } finally {
    await sql`alter table organizations_away rename to organizations`.execute(schema)
  }
  await ground.telegram.settled()
  assert.equal((await paymentsOf(id)).length, 3)
})

test('Stars are converted by the bot’s rate, exactly, and the offer’s payout does not apply', async () => {
  const { bot, id, to } = await selling()
  const click = await to.click()
  const ann = ground.telegram.person()
  ann.start(bot, click)
  await ground.telegram.settled()
  ann.checkout(bot, { payload: 'gold', total_amount: 2501 })
  await ground.telegram.settled()
  ann.checkout(bot, { payload: 'in dollars', total_amount: 1999, currency: 'USD' })
  await ground.telegram.settled()
  ann.checkout(bot, { payload: 'in euros', total_amount: 1999, currency: 'EUR' })
  await ground.telegram.settled()
  assert.deepEqual(
    (await paymentsOf(id)).map(({ amount, currency, payout }) => [amount, currency, payout]),
    [
      ['19.99', 'EUR', null],
      ['19.99', 'USD', '19.99'],
      ['2501', 'XTR', '32.513'],
    ],
  )
  const events = (await eventsOf(click)).filter(({ type }) => type === 'purchase')
  assert.deepEqual(events.map(({ payout }) => String(payout)).sort(), ['19.99', '32.513', 'null'])
  assert.equal((await call('PATCH', `/api/bots/${id}`, { stars_rate: null })).statusCode, 200)
  ann.checkout(bot, { payload: 'gold', total_amount: 7 })
  await ground.telegram.settled()
  assert.equal((await paymentsOf(id))[0]?.payout, null)
  const unpaid = (await eventsOf(click)).filter(({ type, payout }) => type === 'purchase' && payout === null)
  assert.equal(unpaid.length, 2)
})

test('a renewal counts on the click of the first payment, also if the person has another click since', async () => {
  const { bot, id, to } = await selling()
  const [first, later] = [await to.click(), await to.click()]
  const ann = ground.telegram.person()
  // An invoice with the click id, for a person who has not started yet.
  bot.renew(ann, { payload: 'monthly', total_amount: 100, is_first: true })
  await ground.telegram.settled()
  assert.deepEqual(
    (await paymentsOf(id)).map(({ click_id, kind, event_id }) => [click_id, kind, event_id]),
    [[null, 'first', null]],
  )
  const bob = ground.telegram.person()
  bob.start(bot, first)
  await ground.telegram.settled()
  bot.renew(bob, { payload: 'monthly', total_amount: 100, is_first: true })
  await ground.telegram.settled()
  bob.start(bot, later)
  await ground.telegram.settled()
  bot.renew(bob, { payload: 'monthly', total_amount: 100 })
  await ground.telegram.settled()
  assert.deepEqual(
    (await eventsOf(first)).map(({ type, payout }) => [type, payout]),
    [
      ['bot_start', null],
      ['purchase', '1.3'],
      ['subscription_renewed', '1.3'],
    ],
  )
  assert.deepEqual(await eventsOf(later), [])
  const [renewal] = await paymentsOf(id, '&kind=renewal')
  assert.deepEqual([renewal?.['click_id'], renewal?.payout], [first, '1.3'])
})

test('an invoice with an id that only looks like a click’s counts on the click of the person’s start', async () => {
  const { bot, id, to } = await selling()
  const click = await to.click()
  const ann = ground.telegram.person()
  ann.start(bot, click)
  await ground.telegram.settled()
  const payload = 'a1b2c3d4-0000-7000-8000-0123456789ab'
  ann.checkout(bot, { payload, total_amount: 5 })
  const charge = bot.renew(ann, { payload: 'cd'.repeat(16), total_amount: 6, is_first: true })
  bot.cancel(ann, 'cd'.repeat(16))
  await ground.telegram.settled()
  const rows = await paymentsOf(id)
  assert.deepEqual(
    new Set(
      rows.map(({ click_id, total_amount, telegram_user_id }) =>
        JSON.stringify([click_id, total_amount, telegram_user_id]),
      ),
    ),
    new Set([JSON.stringify([click, 5, String(ann.id)]), JSON.stringify([click, 6, String(ann.id)])]),
  )
  assert.ok(rows.some(({ charge_id }) => charge_id === charge))
  const types = (await eventsOf(click)).map(({ type }) => type)
  assert.equal(types.filter(type => type === 'purchase').length, 2)
  assert.ok(types.includes('subscription_cancelled'))
})

test('a repeated payment is one payment, a refund is shown, and a cancellation is recorded on the subscription', async () => {
  const { bot, id, to } = await selling()
  const click = await to.click()
  const ann = ground.telegram.person()
  ann.start(bot, click)
  await ground.telegram.settled()
  const charge = bot.renew(ann, { payload: 'vip', total_amount: 300, is_first: true })
  const successful_payment = {
    currency: 'XTR',
    total_amount: 300,
    invoice_payload: 'vip',
    telegram_payment_charge_id: charge,
    provider_payment_charge_id: '',
    is_recurring: true,
    is_first_recurring: true,
  }
  const from = { id: ann.id, is_bot: false, first_name: 'Ann' }
  for (let n = 0; n < 5; n += 1)
    bot.sendUpdate({
      message: { message_id: 50, date: 1, chat: { id: ann.id, type: 'private' }, from, successful_payment },
    })
  await ground.telegram.settled()
  assert.equal((await paymentsOf(id)).length, 1)
  bot.cancel(ann, 'vip')
  bot.refund(charge)
  await ground.telegram.settled()
  const [row] = await paymentsOf(id)
  assert.ok(row?.['refunded_at'] && row['cancelled_at'] && row['expires_at'])
  assert.deepEqual(await paymentsOf(id, '&is_refunded=false'), [])
  assert.deepEqual(
    (await eventsOf(click)).map(({ type, payout }) => [type, payout]),
    [
      ['bot_start', null],
      ['purchase', '3.9'],
      ['subscription_cancelled', null],
    ],
  )
})

/** Makes the list of Stars be read now, by a check of the bot. */
async function look(id: string): Promise<void> {
  const db = ground.house.database.kysely
  const uuid = toUuid(id) ?? ''
  const from = ground.telegram.calls.length
  const isRead = () => ground.telegram.calls.slice(from).some(({ method }) => method === 'getStarTransactions')
  // Repeated, because a read that was already running may have recorded its end.
  do {
    await db.updateTable('bots').set({ stars_looked_at: null }).where('id', '=', uuid).execute()
    assert.equal((await call('POST', `/api/bots/${id}/check`)).statusCode, 200)
    await eventually('a look is over', async () => {
      const row = await db.selectFrom('bots').select('stars_looked_at').where('id', '=', uuid).executeTakeFirstOrThrow()
      return row.stars_looked_at !== null
    })
  } while (!isRead())
}

test('a payment that no update reported is found in the list of Stars, once, with its refund', async () => {
  const { bot, id, to } = await selling()
  const click = await to.click()
  const ann = ground.telegram.person()
  ann.start(bot, click)
  await ground.telegram.settled()
  const old = Date.now() - 10 * DAY_MS
  for (let n = 0; n < 230; n += 1) bot.missed(ann, { payload: `order ${n}`, total_amount: 10, at: old + n * 1000 })
  bot.missed(ann, { payload: 'back', total_amount: 20, at: old + 300_000, refunded_at: Date.now() - DAY_MS })
  await look(id)
  const all = await allPayments(id)
  assert.equal(all.length, 231)
  assert.ok(all.every(({ found_by, payout }) => found_by === 'look' && (payout === '0.13' || payout === '0.26')))
  assert.deepEqual(
    (await paymentsOf(id, '&is_refunded=true')).map(({ amount }) => amount),
    ['20'],
  )
  const from = ground.telegram.calls.length
  bot.missed(ann, { payload: 'a last one', total_amount: 30, at: Date.now() - HOUR_MS })
  // Just paid, so its update may still be on its way.
  bot.missed(ann, { payload: 'just now', total_amount: 31, at: Date.now() })
  await look(id)
  assert.equal((await allPayments(id)).length, 232)
  const db = ground.house.database.kysely
  const { stars_look_at, stars_seen } = await db
    .selectFrom('bots')
    .select(['stars_look_at', 'stars_seen'])
    .where('id', '=', toUuid(id) ?? '')
    .executeTakeFirstOrThrow()
  const wait_ms = Date.parse(String(stars_look_at)) - Date.now()
  assert.ok(wait_ms < HOUR_MS / 30, 'what was too new is looked for soon')
  assert.equal(stars_seen, 233, 'and is not behind us')
  assert.equal((await eventsOf(click)).filter(({ type }) => type === 'purchase').length, 232)
  const reads = ground.telegram.calls
    .slice(from)
    .filter(({ method, token }) => method === 'getStarTransactions' && token === bot.token)
  assert.deepEqual(
    reads.map(({ params }) => params['offset']),
    [0, 132, 232],
    'entries read before are not read again',
  )
})

async function allPayments(id: string): Promise<PaymentRow[]> {
  const rows: PaymentRow[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const more: string = cursor === '' ? '' : `&cursor=${cursor}`
    const page = (await call('GET', `/api/payments?bot_id=${id}&limit=200${more}`)).data()
    rows.push(...(page['data'] as PaymentRow[]))
    cursor = page['next_cursor'] as string | null
  }
  return rows
}

test('a subscription that ended three days ago is cancelled once; a renewed or cancelled one is not', async () => {
  const { bot, id, to } = await selling()
  const MONTH_S = 2_592_000
  const ended = Date.now() - MONTH_S * 1000 - 4 * DAY_MS
  const people = {
    silent: ground.telegram.person(),
    renewed: ground.telegram.person(),
    running: ground.telegram.person(),
  }
  const clicks: Record<string, string> = {}
  for (const [name, person] of Object.entries(people)) {
    clicks[name] = await to.click()
    person.start(bot, clicks[name])
    await ground.telegram.settled()
  }
  // All at once, because a read of the list may be running.
  const paid = (person: typeof people.silent, at: number) =>
    bot.missed(person, { payload: 'vip', total_amount: 100, at, period_s: MONTH_S })
  paid(people.silent, ended)
  paid(people.renewed, ended)
  paid(people.running, Date.now() - 5 * DAY_MS)
  paid(people.renewed, ended + MONTH_S * 1000)
  await look(id)
  const types = async (name: keyof typeof people) => (await eventsOf(clicks[name] ?? '')).map(({ type }) => type)
  await eventually('it is cancelled', async () => (await types('silent')).includes('subscription_cancelled'))
  await look(id)
  assert.deepEqual(await types('silent'), ['bot_start', 'purchase', 'subscription_cancelled'])
  assert.deepEqual(await types('renewed'), ['bot_start', 'purchase', 'subscription_renewed'])
  assert.deepEqual(await types('running'), ['bot_start', 'purchase'])
})

test('amounts are exact: Stars are whole, currencies have their own decimals, and no payout exceeds a conversion’s limit', () => {
  assert.deepEqual(
    [
      paidAmountOf('XTR', 250),
      paidAmountOf('USD', 1999),
      paidAmountOf('JPY', 500),
      paidAmountOf('KWD', 1234),
      paidAmountOf('', 5),
    ],
    ['250', '19.99', '500', '1.234', '0.05'],
  )
  assert.equal(payoutOf('XTR', 9_007_199_254_740_991, '0.000001'), null)
  assert.equal(payoutOf('XTR', 3, '0.333333'), '0.999999')
  assert.equal(payoutOf('USD', 1, null), '0.01')
  assert.equal(payoutOf('XTR', 3, null), null)
})
