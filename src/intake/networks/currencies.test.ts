// Payouts in other currencies: converted to dollars once, at the rate of the day, and never guessed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertBooks } from '../../../tests/support/audit.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedClick } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { importRates } from '../../money/rates/rates-file.ts'
import { toUuid } from '../../contract/ids.ts'
import type * as api from './api.ts'

const uuidOf = (id: string): string => toUuid(id) ?? ''

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

const day = (ago: number) => dayOf(Date.now() - ago * DAY_MS)

async function rates(lines: readonly string[]): Promise<void> {
  const client = await house.database.worker.connect()
  await importRates(client, `day,currency,usd_per_unit\n${lines.join('\n')}`).finally(() => client.release())
}

async function ownRate(
  owner: SignedIn,
  currency: string,
  usd_per_unit: string | null,
  from_day = day(0),
): Promise<void> {
  const reply = await house.call('PUT', `/api/rates/${currency}`, { ...owner, body: { from_day, usd_per_unit } })
  assert.equal(reply.statusCode, 200, reply.body)
}

async function network(owner: SignedIn, changes: object) {
  const made = await house.call('POST', '/api/networks', { ...owner, body: { name: 'Net', template: 'plain' } })
  const { id, postback_url } = made.json<api.Network>()
  const changed = await house.call('PATCH', `/api/networks/${id}`, { ...owner, body: changes })
  assert.equal(changed.statusCode, 200, changed.body)
  const path = new URL(postback_url).pathname
  const call = async (click_id: string, query: Record<string, string>) => {
    const sent = new URLSearchParams({ click_id: toWireId(click_id), status: 'approved', ...query }).toString()
    const reply = await house.call('GET', `${path}?${sent}`)
    return reply.body.trim()
  }
  return { id, call }
}

type Event = { id: string; payout: string | null; original: Record<string, string> | null }
const log = async (owner: SignedIn, click_id: string) => {
  const reply = await house.call('GET', `/api/events?click_id=${toWireId(click_id)}`, owner)
  return reply.json<{ data: Event[] }>().data
}
const revenueOf = async (click_id: string) => {
  const { rows } = await house.database.reads.query<{ revenue: string | null }>(
    'select trim_scale(revenue)::text as revenue from clicks where id = $1',
    [click_id],
  )
  return rows[0]?.revenue
}
type Kept = {
  id: string
  diagnosis: string
  body: string
  state: string
  error: string
  difference: { payout: object | null } | null
}
const refused = async (owner: SignedIn) =>
  (await house.call('GET', '/api/refused-events', owner)).json<{ data: Kept[] }>().data
const count = async (table: 'event_money' | 'events', org_id: number) =>
  (
    await house.database.reads.query<{ count: number }>(`select count(*)::int from ${table} where org_id = $1`, [
      org_id,
    ])
  ).rows[0]?.count

test('a network is made in a currency, whatever its style reads, and books by it from its first call', async () => {
  await rates([`${day(1)},EUR,1.1`])
  const owner = await seedSignedIn(house)
  const make = (body: object) => house.call('POST', '/api/networks', { ...owner, body: { name: 'Net', ...body } })
  for (const template of ['plain', 'everflow']) {
    const made = (await make({ template, currency: 'eur' })).json<api.Network>()
    assert.deepEqual([made.currency, made.convert], ['EUR', true], template)
    const click = await seedClick(house.database, owner.org_id)
    const path = new URL(made.postback_url).pathname
    const sent = `click_id=${toWireId(click)}&sub1=${toWireId(click)}&status=approved&event=approved&payout=10&txid=a`
    assert.equal((await house.call('GET', `${path}?${sent}`)).body.trim(), 'OK')
    assert.equal(await revenueOf(click), '11', template)
  }
  const from = (await make({ template: 'plain', currency: 'from_call' })).json<api.Network>()
  assert.deepEqual([from.currency, from.convert], ['from_call', true])
  const usual = (await make({ template: 'plain', currency: null })).json<api.Network>()
  assert.equal(usual.currency, 'USD')
  assert.equal((await make({ template: 'plain', currency: '€' })).statusCode, 400)
})

test('ten euro are eleven dollars at 1.1, in the event, its click, the log and the trace; later rates change nothing', async () => {
  await rates([`${day(1)},EUR,1.1`])
  const owner = await seedSignedIn(house)
  const click = await seedClick(house.database, owner.org_id)
  const { id, call } = await network(owner, { currency: 'EUR', convert: true })
  assert.equal(await call(click, { payout: '10', txid: 'a' }), 'OK')
  const [event, ...more] = await log(owner, click)
  assert.deepEqual(more, [])
  const original = {
    original_amount: '10',
    currency: 'EUR',
    usd_per_unit: '1.1',
    rate_day: day(1),
    rate_source: 'import',
  }
  assert.equal(Number(event?.payout), 11)
  assert.deepEqual(event?.original, original)
  assert.equal(await revenueOf(click), '11')
  const trace = (await house.call('GET', `/api/clicks/${toWireId(click)}/trace`, owner)).json<{ events: Event[] }>()
  assert.deepEqual(trace.events[0]?.original, original)
  await ownRate(owner, 'EUR', '1.5')
  assert.equal(await call(click, { payout: '10', txid: 'a' }), 'OK')
  assert.equal(await call(click, { payout: '10.00', txid: 'a' }), 'OK')
  assert.deepEqual(await refused(owner), [])
  assert.deepEqual(await log(owner, click), [event])
  // Another amount differs, converted at the booked rate.
  assert.equal(await call(click, { payout: '8', txid: 'a' }), 'OK')
  const [differing] = await refused(owner)
  assert.equal(differing?.diagnosis, 'differs_from_recorded')
  assert.equal(differing?.error, 'the payout is 8 EUR (8.8 USD), recorded is 11 USD')
  const sent = { recorded: '11', sent: '8.8', original: { amount: '8', currency: 'EUR' } }
  assert.deepEqual(differing?.difference?.payout, sent)
  // The payout of an ignored status is not converted.
  await house.call('PATCH', `/api/networks/${id}`, {
    ...owner,
    body: { statuses: { approved: 'purchase', off: null } },
  })
  assert.match(await call(click, { payout: '10', txid: 'a', status: 'off' }), /^Not recorded/)
  const [ignored] = await refused(owner)
  assert.equal(ignored?.error, 'the payout is 10 EUR, recorded is 11 USD; the status is off, recorded is approved')
  const unbooked = { recorded: '11', sent: null, original: { amount: '10', currency: 'EUR' } }
  assert.deepEqual(ignored?.difference?.payout, unbooked)
  // From here on, the organization's own rate is used.
  assert.equal(await call(click, { payout: '10', txid: 'b' }), 'OK')
  assert.equal(await revenueOf(click), '26')
  await assertBooks(house.database.worker, owner.org_id)
})

test('a call says what it is in before its network does, and one that has to say is refused where it does not', async () => {
  const owner = await seedSignedIn(house)
  await ownRate(owner, 'GBP', '2')
  await ownRate(owner, 'PLN', '0.25')
  const paid = async (changes: object, query: Record<string, string>) => {
    const click = await seedClick(house.database, owner.org_id)
    const said = await (await network(owner, changes)).call(click, query)
    return said === 'OK' ? ((await revenueOf(click)) ?? null) : said
  }
  assert.equal(await paid({ currency: 'GBP', convert: true }, { payout: '3' }), '6')
  assert.equal(await paid({ currency: 'GBP', convert: true }, { payout: '3', currency: 'pln' }), '0.75')
  assert.equal(await paid({ currency: 'GBP', convert: true }, { payout: '3', currency: 'usd' }), '3')
  assert.equal(await paid({ currency: 'GBP', convert: true }, { payout: '0' }), null)
  assert.equal(await paid({ currency: 'USD', convert: true }, { payout: '3' }), '3')
  assert.equal(await paid({ currency: 'USD', convert: true }, { payout: '3', currency: 'GBP' }), '6')
  assert.equal(await paid({ currency: 'from_call', convert: true }, { payout: '3', currency: 'GBP' }), '6')
  assert.equal(await paid({ currency: 'from_call', convert: true }, { payout: '3', currency: '$' }), '3')
  assert.equal(
    await paid({ currency: 'from_call', convert: true }, { payout: '3' }),
    'Not recorded: the payout is 3, and the postback names no currency',
  )
  assert.equal(await paid({ currency: 'from_call', convert: true }, {}), null)
  const notUsd = 'Not recorded: the currency is GBP, and the network takes only USD'
  assert.equal(await paid({ currency: 'USD', convert: false }, { payout: '3', currency: 'GBP' }), notUsd)
  assert.equal(await paid({ currency: 'GBP', convert: false }, { payout: '3' }), notUsd)
  assert.equal(await paid({ convert: true, unpaid_types: ['purchase'] }, { payout: '3', currency: 'GBP' }), null)
  const wrong = /^Not recorded: the payout is/
  assert.match(String(await paid({ convert: true }, { payout: '-3', currency: 'GBP' })), wrong)
  assert.match(String(await paid({ convert: true }, { payout: '500000.5', currency: 'GBP' })), wrong)
  assert.equal(await paid({ convert: true }, { payout: '4000000', currency: 'PLN' }), '1000000')
  assert.equal(await count('event_money', owner.org_id), 5)
  await assertBooks(house.database.worker, owner.org_id)
})

test('a network that was there before goes on refusing what is not in dollars', async () => {
  const owner = await seedSignedIn(house)
  const { id, call } = await network(owner, {})
  // As the previous version writes it.
  await house.database.worker.query(`update networks set currency = default, convert = default where org_id = $1`, [
    owner.org_id,
  ])
  const shown = (await house.call('GET', `/api/networks/${id}`, owner)).json<api.Network>()
  assert.deepEqual([shown.currency, shown.convert], ['USD', false])
  const click = await seedClick(house.database, owner.org_id)
  assert.equal(
    await call(click, { payout: '3', currency: 'EUR' }),
    'Not recorded: the currency is EUR, and the network takes only USD',
  )
  assert.equal((await refused(owner))[0]?.diagnosis, 'currency_not_usd')
})

test('a currency without a rate is refused, kept whole, and run again by the rate of the day it came', async () => {
  const owner = await seedSignedIn(house)
  const click = await seedClick(house.database, owner.org_id)
  const { call } = await network(owner, { convert: true })
  const said = await call(click, { payout: '10', currency: 'XYZ', txid: 'a' })
  assert.match(said, /^Not recorded: rate_unknown/)
  const [kept] = await refused(owner)
  assert.equal(kept?.diagnosis, 'rate_unknown')
  assert.deepEqual(JSON.parse(kept?.body ?? '{}'), {
    click_id: toWireId(click),
    status: 'approved',
    payout: '10',
    currency: 'XYZ',
    txid: 'a',
  })
  assert.deepEqual([await count('events', owner.org_id), await count('event_money', owner.org_id)], [0, 0])
  const again = async () => (await house.call('POST', `/api/refused-events/${kept?.id}/run`, owner)).json<Kept>()
  assert.deepEqual([(await again()).state, (await again()).diagnosis], ['refused', 'rate_unknown'])
  // It arrived three days ago: the rate of the day before that, not of yesterday.
  await house.database.worker.query(
    "update refused_events set received_at = now() - interval '3 days' where org_id = $1",
    [owner.org_id],
  )
  await rates([`${day(4)},XYZ,3`, `${day(3)},XYZ,4`, `${day(1)},XYZ,5`])
  assert.equal((await again()).state, 'recorded')
  const [event] = await log(owner, click)
  assert.deepEqual([Number(event?.payout), event?.original?.['rate_day']], [30, day(4)])
  assert.equal(await call(click, { payout: '10', currency: 'XYZ', txid: 'a' }), 'OK')
  assert.equal((await log(owner, click)).length, 1)
  await assertBooks(house.database.worker, owner.org_id)
})

test('with sources off and no rates dollars are booked and everything else is refused', async () => {
  const owner = await seedSignedIn(house)
  const click = await seedClick(house.database, owner.org_id)
  const { call } = await network(owner, { convert: true })
  assert.match(await call(click, { payout: '10', currency: 'JPY' }), /^Not recorded: rate_unknown/)
  assert.match(await call(click, { payout: '10', currency: '💰' }), /^Not recorded: rate_unknown/)
  assert.equal(await call(click, { payout: '10', currency: 'USD' }), 'OK')
  assert.equal(await revenueOf(click), '10')
  const { sources } = (await house.call('GET', '/api/rates', owner)).json<{ sources: unknown[] }>()
  assert.deepEqual(sources, [])
})

test('a call that had to wait is booked by the rate of the day it came', async () => {
  const owner = await seedSignedIn(house)
  const click = await seedClick(house.database, owner.org_id)
  const { id } = await network(owner, { convert: true })
  await rates([`${day(3)},SEK,0.1`, `${day(1)},SEK,0.2`])
  const fields = { click_id: toWireId(click), status: 'approved', payout: '10', currency: 'SEK' }
  await house.database.worker.query(
    `insert into network_calls (org_id, id, network_id, fields, ip, received_at, run_at, attempts)
     values ($1, gen_random_uuid(), $2, $3, '127.0.0.1', now() - interval '2 days', now(), 0)`,
    [owner.org_id, uuidOf(id), JSON.stringify(fields)],
  )
  await eventually('the call is run', async () => (await count('events', owner.org_id)) === 1)
  assert.equal(await revenueOf(click), '1')
})

test('many calls of one conversion at once leave one amount and one rate', async () => {
  const owner = await seedSignedIn(house)
  const click = await seedClick(house.database, owner.org_id)
  const { call } = await network(owner, { convert: true })
  await ownRate(owner, 'NOK', '0.1')
  const said = await Promise.all(Array.from({ length: 20 }, () => call(click, { payout: '10', currency: 'NOK' })))
  assert.deepEqual([...new Set(said)], ['OK'])
  assert.deepEqual([await count('events', owner.org_id), await count('event_money', owner.org_id)], [1, 1])
  assert.equal(await revenueOf(click), '1')
  assert.deepEqual(await refused(owner), [])
})

test('what was held is approved by the rate it was held by, whatever word approves it and however often', async () => {
  await rates([`${day(1)},EUR,1.1`])
  for (const amend of [true, false]) {
    const owner = await seedSignedIn(house)
    const click = await seedClick(house.database, owner.org_id)
    const statuses = { hold: 'pend:lead', sale: 'purchase' }
    const { call } = await network(owner, { currency: 'EUR', convert: true, amend, statuses })
    assert.equal(await call(click, { status: 'hold', payout: '10', txid: 'a' }), 'OK')
    await ownRate(owner, 'EUR', '1.5')
    assert.equal(await call(click, { status: 'sale', payout: '10', txid: 'a' }), 'OK')
    assert.equal(await revenueOf(click), '11')
    await ownRate(owner, 'EUR', '1.6')
    assert.equal(await call(click, { status: 'sale', payout: '10', txid: 'a' }), 'OK')
    assert.equal(await revenueOf(click), '11')
    assert.deepEqual(await refused(owner), [])
    // Another transaction is another conversion, converted at the rate of its day.
    assert.equal(await call(click, { status: 'sale', payout: '10', txid: 'b' }), 'OK')
    assert.equal(await revenueOf(click), '27')
    await assertBooks(house.database.worker, owner.org_id)
  }
})

test('a payout that an offer’s rate makes more than a conversion may pay is refused in words, kept, and run again by the right rate', async () => {
  const owner = await seedSignedIn(house)
  // Dong for a dollar instead of dollars for a dong.
  await ownRate(owner, 'VND', '25000')
  const offer = { name: 'Dong', url: 'https://offer.example/?c={click_id}', payout: '50000', payout_currency: 'VND' }
  const { id } = (await house.call('POST', '/api/offers', { ...owner, body: offer })).json<{ id: string }>()
  const click = await seedClick(house.database, owner.org_id, { offer_id: uuidOf(id) })
  const body = { clickId: toWireId(click), type: 'lead' }
  const reply = await house.call('POST', '/api/events', { ...owner, body })
  assert.deepEqual([reply.statusCode, reply.data()['code']], [422, 'rate_unknown'], reply.body)
  assert.match(
    String(reply.data()['error']),
    /50000 VND is \$1250000000 by the rate of \d{4}-\d\d-\d\d, more than 1,000,000/,
  )
  const { call } = await network(owner, {})
  assert.match(await call(click, { txid: 'a' }), /^Not recorded: rate_unknown: .*50000 VND/)
  assert.equal(await revenueOf(click), null)
  await ownRate(owner, 'VND', '0.00004')
  await eventually('it is kept', async () => (await refused(owner)).length === 2)
  const [kept] = await refused(owner)
  const again = await house.call('POST', `/api/refused-events/${kept?.id}/run`, owner)
  assert.ok(again.statusCode < 300, again.body)
  assert.equal(await revenueOf(click), '2')
})

test('an offer in euro pays by the rate of the day; replaced without its currency it pays dollars', async () => {
  const owner = await seedSignedIn(house)
  const body = { name: 'Offer', url: 'https://shop.example/?c={click_id}', payout: '10', payout_currency: 'chf' }
  const made = await house.call('POST', '/api/offers', { ...owner, body })
  assert.equal(made.statusCode, 201, made.body)
  const offer = made.json<{ id: string; payout_currency: string; warnings: { code: string }[] }>()
  assert.equal(offer.payout_currency, 'CHF')
  assert.deepEqual(
    offer.warnings.map(({ code }) => code),
    ['rate_unknown'],
  )
  const offer_id = uuidOf(offer.id)
  const clicks = await Promise.all([1, 2, 3, 4].map(() => seedClick(house.database, owner.org_id, { offer_id })))
  const [first = '', second = '', third = '', fourth = ''] = clicks
  const convert = (click_id: string, more: object = {}) =>
    house.call('POST', '/api/events', { ...owner, body: { clickId: toWireId(click_id), type: 'deposit', ...more } })
  const unknown = await convert(first)
  assert.equal(unknown.statusCode, 422)
  assert.equal(unknown.data()['code'], 'rate_unknown')
  assert.equal(await count('events', owner.org_id), 0)
  // A payout in the request is in dollars, whatever the offer's currency.
  assert.equal((await convert(second, { payout: '7' })).statusCode, 201)
  assert.equal(await revenueOf(second), '7')
  await ownRate(owner, 'CHF', '1.25')
  await eventually('it is kept', async () => (await refused(owner)).length > 0)
  const [kept] = await refused(owner)
  assert.equal(kept?.diagnosis, 'rate_unknown')
  const run = await house.call('POST', `/api/refused-events/${kept?.id}/run`, owner)
  assert.equal(run.data()['state'], 'recorded', run.body)
  assert.equal(await revenueOf(first), '12.5')
  assert.deepEqual((await log(owner, first))[0]?.original, {
    original_amount: '10',
    currency: 'CHF',
    usd_per_unit: '1.25',
    rate_day: day(0),
    rate_source: 'own',
  })
  const { payout_currency: _, ...contract } = body
  const replaced = await house.call('PUT', `/api/offers/${offer.id}`, { ...owner, body: contract })
  const after = replaced.json<{ payout_currency: string | null; warnings: { code: string }[] }>()
  assert.equal(after.payout_currency, null)
  assert.deepEqual(
    after.warnings.map(({ code }) => code),
    ['payout_currency_cleared'],
  )
  assert.equal((await convert(third)).statusCode, 201)
  assert.equal(await revenueOf(third), '10')
  assert.equal((await convert(fourth, { type: 'lead' })).statusCode, 201)
  assert.equal(await count('event_money', owner.org_id), 1)
  await assertBooks(house.database.worker, owner.org_id)
})
