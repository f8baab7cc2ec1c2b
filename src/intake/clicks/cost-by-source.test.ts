// The costs of clicks whose campaign has a traffic source: read by its parameter names, unit and currency.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'
import { costReader } from './cost.ts'
import { noParameters } from './parameters.ts'
import type { UsdPerUnit } from './rate.ts'

let house: TestHouse
let owner: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
})
after(() => house.end())

const FILLS = [
  { field: 'sub1', parameter: 'zone', macro: '-zone-' },
  { field: 'cost', parameter: 'bid', macro: '-price-' },
]
const COST_AND_CURRENCY = [...FILLS, { field: 'currency', parameter: 'cur', macro: '(CUR)' }]

async function did(method: 'POST' | 'PATCH', path: string, body: object, as = owner) {
  const reply = await house.call(method, path, { ...as, body })
  assert.ok(reply.statusCode < 300, reply.body)
  return reply.data()
}

let made = 0
async function bought(source: object, campaign: object = {}, as = owner) {
  const { id } = await did('POST', '/api/traffic-sources', { name: `Source ${(made += 1)}`, ...source }, as)
  const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
  const body = { name: 'Push', destination, traffic_source_id: id, cost: { model: 'link' }, ...campaign }
  return { ...(await did('POST', '/api/campaigns', body, as)), source_id: String(id) } as {
    id: string
    key: string
    source_id: string
  }
}

/** The stored cost of a visit's click, in US dollars and as sent. */
async function costOf(key: string, query: string, of = house) {
  const { headers } = await of.call('GET', `/c/${key}?${query}`, { headers: BROWSER })
  const id = toUuid(new URL(String(headers.location)).searchParams.get('c') ?? '')
  const { rows } = await house.database.reads.query(
    'select cost, cost_original, cost_currency, sub1 from clicks where id = $1',
    [id],
  )
  return Object.values(rows[0] ?? {})
}

test('the source names the parameter, and an own name goes before it', async () => {
  const { key } = await bought({ parameters: FILLS })
  assert.deepEqual(await costOf(key, 'bid=0.25&zone=a'), ['0.25', '0.25', 'USD', 'a'])
  assert.deepEqual(await costOf(key, 'bid=0.25&cost=0.5'), ['0.5', '0.5', 'USD', null])
  assert.deepEqual(await costOf(key, 'price=1'), [null, null, 'USD', null])
})

test('an amount of a thousand clicks is divided, and its bound is of one click', async () => {
  const { key, source_id } = await bought(
    { parameters: FILLS, cost_unit: 'cpm' },
    { cost: { model: 'link', max: '0.005' } },
  )
  assert.deepEqual(await costOf(key, 'bid=2.5'), ['0.0025', '0.0025', 'USD', null])
  assert.deepEqual(await costOf(key, 'bid=5'), ['0.005', '0.005', 'USD', null])
  assert.deepEqual(await costOf(key, 'bid=5.001'), [null, '0.005001', 'USD', null])
  assert.deepEqual(await costOf(key, 'bid=0.000000499'), ['0', '0', 'USD', null])
  assert.deepEqual(await costOf(key, 'bid=0.0000005'), ['0.000000001', '0.000000001', 'USD', null])
  await did('PATCH', `/api/traffic-sources/${source_id}`, { cost_unit: 'cpc' })
  assert.deepEqual(await costOf(key, 'bid=0.005'), ['0.005', '0.005', 'USD', null])
})

test('the currency is what the link says, else the source, and one without a rate is no cost', async () => {
  const { key } = await bought({ parameters: COST_AND_CURRENCY, cost_currency: 'EUR' })
  assert.deepEqual(await costOf(key, 'bid=0.25'), [null, '0.25', 'EUR', null])
  assert.deepEqual(await costOf(key, 'bid=0.25&cur=usd'), ['0.25', '0.25', 'USD', null])
  assert.deepEqual(await costOf(key, 'bid=0.25&cur=(CUR)'), [null, '0.25', 'EUR', null])
  assert.deepEqual(await costOf(key, 'bid=0.25&currency=USD&cur=GBP'), ['0.25', '0.25', 'USD', null])
})

test('with a rate of the day it is turned into dollars, for the click and for who tries the address', async () => {
  const buyer = await seedSignedIn(house)
  const { key, id } = await bought({ parameters: COST_AND_CURRENCY, cost_currency: 'EUR' }, {}, buyer)
  const from_day = new Date().toISOString().slice(0, 10)
  const rate = await house.call('PUT', '/api/rates/EUR', { ...buyer, body: { from_day, usd_per_unit: '1.1' } })
  assert.ok(rate.statusCode < 300, rate.body)
  // A process reads rates when it starts.
  const later = await openTestHouse(house.database, {})
  try {
    assert.deepEqual(await costOf(key, 'bid=0.25', later), ['0.275', '0.25', 'EUR', null])
    assert.deepEqual(await costOf(key, 'bid=0.25&cur=GBP', later), [null, '0.25', 'GBP', null])
    const body = { url: `/c/${key}?bid=0.25` }
    const tried = await later.call('POST', `/api/campaigns/${id}/try-link`, { ...buyer, body })
    assert.deepEqual(tried.data()['cost'], { usd: '0.275', original: '0.25', currency: 'EUR' })
  } finally {
    await later.close()
  }
})

/** The macros a source did not replace, once all counts are written. */
async function faultsOf(id: string, clicks: number) {
  let faults: { clicks: number }[] = []
  await eventually('it is written', async () => {
    const answer = await house.call('GET', `/api/campaigns/${id}/source-faults`, owner)
    faults = answer.json<{ data: { clicks: number }[] }>().data
    return faults.reduce((sum, one) => sum + one.clicks, 0) === clicks
  })
  return faults
}

test('a macro that was not replaced is no cost, is counted as unread, and is named among what the source left open', async () => {
  const { id, key } = await bought({ parameters: FILLS })
  for (const query of ['bid=-price-', 'bid=%2Dprice%2D', 'bid={price}'])
    assert.deepEqual(await costOf(key, query), [null, null, 'USD', null])
  const today = new Date().toISOString().slice(0, 10)
  const window = `date_from=${today}T00:00:00Z&date_to=${today}T23:59:59Z&campaign_id=${id}`
  const report = await house.call('GET', `/api/report?dimension=day&${window}`, owner)
  assert.deepEqual((report.data()['totals'] as { unread_costs: number }).unread_costs, 3)
  assert.deepEqual(await faultsOf(id, 3), [
    { field: 'cost', fault: 'unreplaced', parameter: 'bid', value: '{price}', clicks: 3 },
  ])
})

test('a currency that was not replaced is named too, and the amount is then in the source’s own', async () => {
  const { id, key } = await bought({ parameters: COST_AND_CURRENCY })
  assert.deepEqual(await costOf(key, 'zone=a&bid=0.25&cur=(CUR)'), ['0.25', '0.25', 'USD', 'a'])
  assert.deepEqual(await costOf(key, 'zone=a&bid=-price-&cur={cur}'), [null, null, 'USD', 'a'])
  assert.deepEqual(await faultsOf(id, 3), [
    { field: 'currency', fault: 'unreplaced', parameter: 'cur', value: '{cur}', clicks: 2 },
    { field: 'cost', fault: 'unreplaced', parameter: 'bid', value: '-price-', clicks: 1 },
  ])
})

test('an amount in another currency is taken at the rate of the click’s day, to the last digit', () => {
  const asked: unknown[] = []
  const usdPerUnit: UsdPerUnit = (...what) => {
    asked.push(what)
    return what[1] === 'EUR' ? '1.1' : what[1] === 'VND' ? '0.0000379362670714' : undefined
  }
  const model = { model: 'link', amount: null, currency: 'USD', max: '10' } as const
  const read = costReader({ org_id: 7, cost: model }, { cost_unit: 'cpm', cost_currency: 'EUR' })
  const said = (cost: string, currency: string | null = null) =>
    Object.values(read?.({ ...noParameters(), cost, currency }, Date.parse('2026-03-01T23:59:59Z'), usdPerUnit) ?? {})
  assert.deepEqual(said('2.5'), ['0.00275', '0.0025', 'EUR'])
  assert.deepEqual(asked, [[7, 'EUR', '2026-03-01']])
  assert.deepEqual(said('65900', 'vnd'), ['0.0025', '65.9', 'VND'])
  assert.deepEqual(said('9090.909090909'), ['10', '9.090909091', 'EUR'])
  assert.deepEqual(said('9090.91'), [null, '9.09091', 'EUR'])
  assert.deepEqual(said('1', 'XYZ'), [null, '0.001', 'XYZ'])
})
