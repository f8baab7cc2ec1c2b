// Revisions in another currency: converted exactly at the rate the conversion was booked by.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { assertBooks } from '../../../tests/support/audit.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { readClick, seedClick } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { auditBooks } from '../../reading/audit/audit.ts'
import type { Network } from '../networks/api.ts'

let house: TestHouse
let owner: SignedIn
before(async () => {
  house = await useHouse()
})
beforeEach(async () => {
  owner = await seedSignedIn(house)
})
after(() => house.end())

const day = (ago: number) => dayOf(Date.now() - ago * DAY_MS)

async function ownRate(usd_per_unit: string, currency = 'EUR', from_day = day(0)): Promise<void> {
  const reply = await house.call('PUT', `/api/rates/${currency}`, { ...owner, body: { from_day, usd_per_unit } })
  assert.equal(reply.statusCode, 200, reply.body)
}

type Place = { click: string; fire: (query: Record<string, string>) => Promise<string> }

const STATUSES = {
  sale: 'purchase',
  hold: 'pend:purchase',
  lead: 'pend:lead',
  yes: '!approve',
  no: '!reject',
  back: '!refund',
}

/** A click, and a network that reports conversions of it. */
async function place(changes: object = {}): Promise<Place> {
  const made = await house.call('POST', '/api/networks', { ...owner, body: { name: 'Net', template: 'keitaro' } })
  const { id, postback_url } = made.json<Network>()
  const body = { convert: true, statuses: STATUSES, ...changes }
  const changed = await house.call('PATCH', `/api/networks/${id}`, { ...owner, body })
  assert.equal(changed.statusCode, 200, changed.body)
  const click = await seedClick(house.database, owner.org_id)
  const fire = async (query: Record<string, string>) => {
    const sent = new URLSearchParams({ subid: toWireId(click), tid: 'T1', currency: 'EUR', ...query }).toString()
    return (await house.call('GET', `${new URL(postback_url).pathname}?${sent}`)).body.trim()
  }
  return { click, fire }
}

const eventOf = async ({ click }: Place) =>
  (await house.call('GET', `/api/events?click_id=${toWireId(click)}`, owner)).json<{ data: { id: string }[] }>().data[0]
    ?.id ?? ''
const revenueOf = async ({ click }: Place) => (await readClick(house.database, owner.org_id, click))?.revenue ?? null

type Revision = {
  status: string
  amount: string
  original_amount: string | null
  original_currency: string | null
  rate: string | null
}
/** The revisions, oldest first, and the click's revenue. */
async function history(here: Place): Promise<string[]> {
  const reply = await house.call('GET', `/api/events/${await eventOf(here)}/revisions`, owner)
  const said = reply.json<{ data: Revision[] }>().data.toReversed()
  const lines = said.map(({ status, amount, original_amount, original_currency, rate }) =>
    original_amount === null
      ? `${status} ${amount}`
      : `${status} ${amount} = ${original_amount} ${original_currency} × ${rate}`,
  )
  assert.deepEqual(await auditBooks(house.database.reads, owner.org_id), [])
  return [...lines, String(await revenueOf(here))]
}

const say = async (here: Place, body: object) =>
  house.call('POST', `/api/events/${await eventOf(here)}/revisions`, { ...owner, body })

type Kept = { id: string; diagnosis: string; error: string }
const refused = async () => (await house.call('GET', '/api/refused-events', owner)).json<{ data: Kept[] }>().data

test('a network takes back and approves by the rate of the booking, whatever the rate is by then', async () => {
  await ownRate('1.123457')
  const here = await place()
  assert.equal(await here.fire({ status: 'sale', payout: '10.01' }), 'OK')
  assert.deepEqual(await history(here), ['11.245805'])
  await ownRate('2')
  assert.equal(await here.fire({ status: 'yes', payout: '10.01' }), 'OK')
  assert.deepEqual(await history(here), ['11.245805'])
  assert.equal(await here.fire({ status: 'back', payout: '10.01' }), 'OK')
  assert.deepEqual(await history(here), ['refunded 0', 'null'])
  assert.equal(await here.fire({ status: 'yes', payout: '10.01' }), 'OK')
  const again = 'approved 11.245805 = 10.01 EUR × 1.123457'
  assert.deepEqual(await history(here), ['refunded 0', again, '11.245805'])
  for (let at = 0; at < 2; at += 1) assert.equal(await here.fire({ status: 'yes', payout: '4' }), 'OK')
  const less = 'approved 4.493828 = 4 EUR × 1.123457'
  assert.deepEqual(await history(here), ['refunded 0', again, less, '4.493828'])
  assert.equal(await here.fire({ status: 'yes', payout: '0.00' }), 'OK')
  assert.equal(await revenueOf(here), null)
  assert.deepEqual(await refused(), [])
  await assertBooks(house.database.worker, owner.org_id)
})

test('in dollars of a booking in euro it is dollars, and a refusal needs no rate', async () => {
  await ownRate('1.5')
  const here = await place()
  await here.fire({ status: 'sale', payout: '10' })
  assert.equal(await here.fire({ status: 'yes', payout: '3', currency: 'USD' }), 'OK')
  assert.equal(await here.fire({ status: 'no', payout: '3', currency: 'XAU' }), 'OK')
  assert.deepEqual(await history(here), ['approved 3', 'rejected 0', 'null'])
})

test('of what was booked in dollars it is the rate of the day it came, then that one for good', async () => {
  const here = await place()
  await here.fire({ status: 'sale', payout: '10', currency: 'USD' })
  assert.match(
    await here.fire({ status: 'yes', payout: '5', currency: 'GBP' }),
    /^Not recorded: rate_unknown: no rate of GBP/,
  )
  const [kept] = await refused()
  assert.equal(kept?.diagnosis, 'rate_unknown')
  assert.deepEqual(await history(here), ['10'])
  await house.database.worker.query('update refused_events set received_at = $2 where org_id = $1', [
    owner.org_id,
    new Date(Date.now() - 3 * DAY_MS),
  ])
  await ownRate('1.2', 'GBP', day(3))
  await ownRate('1.4', 'GBP')
  const run = await house.call('POST', `/api/refused-events/${kept?.id}/run`, owner)
  assert.equal(run.data()['state'], 'recorded', run.body)
  const first = 'approved 6 = 5 GBP × 1.2'
  assert.deepEqual(await history(here), [first, '6'])
  // The same status again changes nothing.
  assert.equal(await here.fire({ status: 'yes', payout: '5', currency: 'GBP' }), 'OK')
  assert.deepEqual(await history(here), [first, '6'])
  await ownRate('400000', 'BTC')
  assert.match(
    await here.fire({ status: 'yes', payout: '3', currency: 'BTC' }),
    /^Not recorded: the amount is 3 BTC, which is \$1200000/,
  )
  assert.equal((await refused()).find(({ error }) => error.includes('BTC'))?.diagnosis, 'payout_invalid')
  assert.deepEqual(await history(here), [first, '6'])
})

test('what is held in euro is approved by its rate, by its own word, another word, or an amendment', async () => {
  await ownRate('1.1')
  const [own, other, amending] = [await place(), await place(), await place({ amend: true })]
  await own.fire({ status: 'hold', payout: '10' })
  await other.fire({ status: 'lead', payout: '10' })
  await amending.fire({ status: 'sale', payout: '10' })
  await ownRate('1.3')
  for (const here of [own, other, amending])
    for (let at = 0; at < 2; at += 1) assert.equal(await here.fire({ status: 'sale', payout: '9' }), 'OK')
  const approved = 'approved 9.9 = 9 EUR × 1.1'
  assert.deepEqual(await history(own), ['pending 11', approved, '9.9'])
  assert.deepEqual(await history(other), ['pending 11', approved, '9.9'])
  assert.deepEqual(await history(amending), [approved, '9.9'])
  assert.deepEqual(await refused(), [])
})

test('a verdict that overtakes its conversion goes by that one’s rate once it is there', async () => {
  await ownRate('1.1')
  const here = await place()
  assert.equal(await here.fire({ status: 'yes', payout: '4' }), 'OK')
  assert.equal(await here.fire({ status: 'sale', payout: '10' }), 'OK')
  await ownRate('1.3')
  await eventually('the verdict was run again', async () => {
    await house.database.worker.query('update network_calls set run_at = now() where org_id = $1', [owner.org_id])
    return (await revenueOf(here)) === '4.4'
  })
  assert.deepEqual(await history(here), ['approved 4.4 = 4 EUR × 1.1', '4.4'])
})

test('a call is tried in its own currency', async () => {
  const here = await place()
  const [network] = (await house.call('GET', '/api/networks', owner)).json<{ data: Network[] }>().data
  const call = `subid=${toWireId(here.click)}&status=yes&payout=5&currency=eur`
  const tried = await house.call('POST', `/api/networks/${network?.id}/try`, { ...owner, body: { call } })
  const { reads_as } = tried.json<{ reads_as: Record<string, unknown> }>()
  assert.deepEqual([reads_as['verdict'], reads_as['payout'], reads_as['currency']], ['approved', '5', 'EUR'])
})

test('people say euro too: by the rate of the booking, else of the day, and never without one', async () => {
  await ownRate('1.1')
  const [euro, dollars] = [await place(), await place()]
  await euro.fire({ status: 'sale', payout: '10' })
  await dollars.fire({ status: 'sale', payout: '10', currency: 'USD' })
  await ownRate('1.3')
  for (const here of [euro, dollars]) {
    const said = await say(here, { status: 'approved', amount: '4', currency: 'eur', reason: 'part' })
    assert.equal(said.statusCode, 200, said.body)
    const unknown = await say(here, { status: 'approved', amount: '4', currency: 'ZZZ' })
    assert.deepEqual([unknown.statusCode, unknown.data()['code']], [422, 'rate_unknown'])
    const much = await say(here, { status: 'approved', amount: '999999999', currency: 'EUR' })
    assert.deepEqual([much.statusCode, much.data()['code']], [422, 'amount_too_large'])
    assert.equal((await say(here, { status: 'approved', amount: 4, currency: 'EUR' })).data()['unchanged'], true)
  }
  assert.deepEqual(await history(euro), ['approved 4.4 = 4 EUR × 1.1', '4.4'])
  assert.deepEqual(await history(dollars), ['approved 5.2 = 4 EUR × 1.3', '5.2'])
  await say(euro, { status: 'refunded', currency: 'EUR' })
  const back = await say(euro, { status: 'approved', amount: '10', currency: 'EUR' })
  assert.equal(back.data()['amount'], '11')
  await assertBooks(house.database.worker, owner.org_id)
})

test('a file says euro in its column: the dry run tells what is booked, and a line without a rate is wrong', async () => {
  await ownRate('1.1')
  const [euro, dollars] = [await place(), await place()]
  await euro.fire({ status: 'sale', payout: '10' })
  await dollars.fire({ status: 'sale', payout: '10', currency: 'USD' })
  await ownRate('1.3')
  const file = async (currency: string, dry_run: boolean) => {
    const lines = [`${await eventOf(euro)},approved,5,${currency}`, `${await eventOf(dollars)},approved,5,EUR`]
    const csv = ['event_id,status,amount,currency', ...lines].join('\n')
    return house.call('POST', '/api/events/revisions/import', { ...owner, body: { csv, dry_run } })
  }
  type Answer = {
    lines: { becomes: { amount: string } | null; error: string | null }[]
    difference: string
    changed: number
  }
  const wrong = (await file('QQQ', true)).json<Answer>()
  assert.deepEqual(
    wrong.lines.map(({ error }) => error),
    [`no rate of QQQ is known for ${day(0)}`, null],
  )
  assert.equal((await file('QQQ', false)).data()['code'], 'revision_lines_wrong')
  assert.deepEqual(await history(dollars), ['10'])
  const dry = (await file('EUR', true)).json<Answer>()
  assert.deepEqual([dry.lines.map(({ becomes }) => becomes?.amount), dry.difference], [['5.5', '6.5'], '-9'])
  assert.deepEqual((await file('EUR', false)).json<Answer>(), { ...dry, dry_run: false })
  assert.equal((await file('EUR', false)).json<Answer>().changed, 0)
  assert.deepEqual(await history(euro), ['approved 5.5 = 5 EUR × 1.1', '5.5'])
  assert.deepEqual(await history(dollars), ['approved 6.5 = 5 EUR × 1.3', '6.5'])
})

test('thirty approvals in euro at once, beside the booking itself, have one rate', async () => {
  await ownRate('1.1')
  const here = await place()
  await here.fire({ status: 'hold', payout: '1' })
  await ownRate('1.3')
  await Promise.all(
    Array.from({ length: 30 }, (_, at) => here.fire({ status: at % 3 === 0 ? 'no' : 'yes', payout: String(at) })),
  )
  const { rows } = await house.database.reads.query<{ rate: string; is_exact: boolean }>(
    `select distinct trim_scale(rate)::text as rate, amount = original_amount * rate as is_exact from event_revisions
     where org_id = $1 and original_currency is not null`,
    [owner.org_id],
  )
  assert.deepEqual(rows, [{ rate: '1.1', is_exact: true }])
  assert.deepEqual(await auditBooks(house.database.reads, owner.org_id), [])
})
