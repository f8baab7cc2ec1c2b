// The costs of clicks through the gate: from the campaign link to the report, the feed and the audit.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { assertBooks } from '../../../tests/support/audit.ts'
import { seedKey, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'
import { completeSlots } from '../../reading/reports/complete-slots.ts'
import { openFolder } from '../../reading/reports/fold.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Asking = { cookie?: string; key?: string }
type Made = { id: string; key: string; cost: unknown }
const LINK = { model: 'link' }
const URL_OF = 'https://shop.example/?c={click_id}'

async function made(as: Asking, fields: object = {}): Promise<Made> {
  const body = { name: 'Push', destination: { type: 'redirect', url: URL_OF }, ...fields }
  const reply = await house.call('POST', '/api/campaigns', { ...as, body })
  assert.equal(reply.statusCode, 201, reply.body)
  return reply.json<Made>()
}

/** Visits the campaign; returns the ids of the clicks. */
async function visits(key: string, ...queries: string[]): Promise<string[]> {
  const ids: string[] = []
  for (const query of queries) {
    const { headers, statusCode } = await house.call('GET', `/c/${key}?${query}`, { headers: BROWSER })
    assert.equal(statusCode, 302)
    ids.push(new URL(String(headers.location)).searchParams.get('c') ?? '')
  }
  return ids
}

const today = () => new Date().toISOString().slice(0, 10)

type Figures = {
  clicks: number
  cost?: string
  cost_source?: string | null
  cost_of_clicks: string
  unread_costs: number
}
type Told = { rows: (Figures & { key: string })[]; totals: Figures; not_broken_down: { cost: string } | null }

async function report(as: Asking, dimension: string, more = ''): Promise<Told> {
  const window = `date_from=${today()}T00:00:00Z&date_to=${today()}T23:59:59Z`
  const path = as.key === undefined ? '/api/report' : '/api/v1/report'
  const answer = await house.call('GET', `${path}?dimension=${dimension}&${window}${more}`, as)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<Told>()
}

async function costs(as: Asking, dimension = 'campaign', more = '') {
  const { totals } = await report(as, dimension, more)
  return [totals.cost, totals.cost_source]
}

async function holds(owner: SignedIn): Promise<void> {
  const { holds } = (await house.call('GET', '/api/billing/reconciliation', owner)).data()
  assert.equal(holds, true)
  await assertBooks(house.database.reads, owner.org_id)
}

async function stored(click: string | undefined) {
  const { rows } = await house.database.reads.query(
    'select cost, cost_original, cost_currency, cost_counts, tracked from clicks where id = $1',
    [toUuid(click ?? '')],
  )
  return rows[0]
}

const spend = (as: Asking, campaign_id: string, amount: string | null, sub1?: string) =>
  house.call('PUT', '/api/ad-spend', { ...as, body: { campaign_id, day: today(), amount, sub1 } })

test('a click costs what its link says, and whatever else a link says is counted as unread', async () => {
  const owner = await seedSignedIn(house)
  const { id, key, cost } = await made(owner, { cost: { ...LINK, max: '2.5' } })
  assert.deepEqual(cost, { model: 'link', amount: null, currency: 'USD', max: '2.5' })
  const [first] = await visits(key, 'cost=0.0125&sub1=a', 'cost=0', 'cost=2.500000000&sub1=b', 'cost={x}&cost=1')
  const unread = ['', 'cost=', 'cost=%24%7BX%7D', 'cost=-1', 'cost=1e9', 'cost=1,5', 'cost=2.500000001', 'cost=.5']
  const more = ['cost=0.0000000001', 'cost=12345678', 'cost=NaN', 'cost=1%0a', 'cost=[BID_PRICE]', 'cost=%D9%A1']
  await visits(key, ...unread, ...more)
  const { totals } = await report(owner, 'campaign')
  assert.deepEqual(
    [totals.clicks, totals.cost, totals.cost_source, totals.cost_of_clicks, totals.unread_costs],
    [18, '3.51', 'link', '3.51', 14],
  )
  const row = { cost: '0.0125', cost_original: '0.0125', cost_currency: 'USD', cost_counts: true, tracked: true }
  assert.deepEqual(await stored(first), row)
  for (const dimension of ['geo', 'offer'])
    assert.deepEqual((await report(owner, dimension)).totals.cost_of_clicks, '3.51')
  const rows = (await report(owner, 'sub1')).rows.map(({ key, cost, unread_costs }) => [key, cost, unread_costs])
  assert.deepEqual(rows, [
    ['', '1.00', 14],
    ['a', '0.01', 0],
    ['b', '2.50', 0],
  ])
  assert.equal((await report(owner, 'day', `&campaign_id=${id}`)).totals.cost, '3.51')
  await holds(owner)
})

test('an amount in a currency without a rate is no cost, and US dollars are read whatever their case', async () => {
  const owner = await seedSignedIn(house)
  const { key } = await made(owner, { cost: LINK })
  const [euros] = await visits(
    key,
    'cost=1&currency=EUR',
    'cost=2&currency=usd',
    'cost=3&currency={cur}',
    'cost=4&currency=dollars',
  )
  const { totals } = await report(owner, 'campaign')
  assert.deepEqual([totals.cost, totals.unread_costs], ['9.00', 1])
  const row = { cost: null, cost_original: '1', cost_currency: 'EUR', cost_counts: true, tracked: true }
  assert.deepEqual(await stored(euros), row)
  await holds(owner)
})

test('a fixed price counts to the last digit, and without a cost model nothing is read', async () => {
  const owner = await seedSignedIn(house)
  const cpm = await made(owner, { cost: { model: 'cpm', amount: '2.5' } })
  assert.deepEqual(cpm.cost, { model: 'cpm', amount: '2.5', currency: 'USD', max: null })
  const cpc = await made(owner, { cost: { model: 'cpc', amount: 0.1 } })
  const none = await made(owner)
  assert.equal(none.cost, null)
  await visits(cpm.key, ...Array.from({ length: 10 }, () => 'cost=7'))
  await visits(cpc.key, 'sub1=a', 'sub1=b', 'sub1=c')
  const [plain] = await visits(none.key, 'cost=5&sub2=x')
  const by = new Map((await report(owner, 'campaign')).rows.map(row => [row.key, [row.cost, row.cost_source]]))
  assert.deepEqual(by.get(cpm.id), ['0.03', 'link'])
  assert.deepEqual(by.get(cpc.id), ['0.30', 'link'])
  assert.deepEqual(by.get(none.id), ['0.00', null])
  assert.deepEqual(await costs(owner), ['0.33', 'link'])
  const row = { cost: null, cost_original: null, cost_currency: null, cost_counts: null, tracked: true }
  assert.deepEqual(await stored(plain), row)
  await holds(owner)
})

test('a model is changed for the clicks to come, by a key that may update campaigns too', async () => {
  const owner = await seedSignedIn(house)
  const { id, key } = await made(owner)
  const may = { key: (await seedKey(house.database, owner, { rights: ['campaigns:update', 'report'] })).secret }
  const change = (body: object, as: Asking = may) => house.call('PATCH', `/api/campaigns/${id}`, { ...as, body })
  await visits(key, 'cost=1')
  assert.deepEqual((await change({ cost: LINK })).data()['cost'], LINK)
  await visits(key, 'cost=2')
  // A key's answer has what it sent, not the previous value.
  assert.ok(!('cost' in (await change({ name: 'Other' })).data()))
  const shown = async () => (await house.call('GET', `/api/campaigns/${id}`, owner)).data()['cost']
  assert.deepEqual(await shown(), { ...LINK, amount: null, currency: 'USD', max: '10' })
  const cleared = (await change({ cost: null })).data()
  assert.deepEqual(['cost' in cleared, cleared['cost'], await shown()], [true, null, null])
  assert.equal((await change({ cost: { model: 'none' } })).data()['cost'], null)
  await visits(key, 'cost=4')
  assert.deepEqual(await costs(may), ['2.00', 'link'])
  const fields = Object.keys((await report(may, 'campaign')).totals)
  assert.ok(!fields.includes('cost_of_clicks') && !fields.includes('unread_costs'))
  for (const [cost, wrong] of [
    [{ model: 'cpc' }, /^cost\.amount: must be sent with cpc/],
    [{ model: 'cpc', amount: 1001 }, /^cost\.amount: must be at most 1,000 a click/],
    [{ model: 'cpm', amount: -1 }, /^cost\.amount/],
    [{ model: 'link', amount: 1 }, /^cost\.amount: goes with cpc and cpm/],
    [{ model: 'link', max: 0 }, /^cost\.max: must be more than 0/],
    [{ model: 'link', max: 1001 }, /^cost\.max/],
    [{ model: 'cpc', amount: 1, max: 1 }, /^cost\.max: goes with link/],
    [{ model: 'link', currency: 'EUR' }, /^cost\.currency: only USD/],
    [{ model: 'cpa' }, /^cost\.model/],
  ] as const) {
    const refused = await change({ cost })
    assert.equal(refused.statusCode, 400)
    assert.match(String(refused.data()['error']), wrong)
  }
  const other = await seedSignedIn(house)
  assert.equal((await change({ cost: LINK }, other)).statusCode, 404)
  assert.equal((await house.call('GET', `/api/campaigns/${id}`, owner)).data()['name'], 'Other')
})

test('entered spend takes the place of what the clicks cost: of its cell, or of the whole day without a sub1', async () => {
  const owner = await seedSignedIn(house)
  const { id, key } = await made(owner, { cost: LINK })
  const next = await made(owner, { cost: LINK })
  await visits(key, 'cost=1&sub1=a', 'cost=0.5&sub1=a', 'cost=0.25&sub1=b', 'cost=0.75')
  await visits(next.key, 'cost=3&sub1=a')
  const folder = openFolder({ database: house.database, log: pino({ level: 'silent' }) })
  const seen = async () => {
    const sums: unknown[] = []
    for (const dimension of ['campaign', 'sub1', 'day']) {
      const { rows, totals, not_broken_down } = await report(owner, dimension)
      const sum = [...rows, ...(not_broken_down === null ? [] : [not_broken_down])]
      assert.equal(sum.reduce((all, { cost }) => all + Number(cost), 0).toFixed(2), totals.cost, dimension)
      sums.push(`${totals.cost} ${totals.cost_source}`)
    }
    assert.equal(new Set(sums).size, 1)
    return [sums[0], ...(await costs(owner, 'sub1', `&campaign_id=${id}`))]
  }
  for (const turn of ['unfolded', 'folded']) {
    if (turn === 'folded') await folder.foldAll()
    assert.deepEqual(await seen(), ['5.50 link', '2.50', 'link'])
    await spend(owner, id, '10', 'a')
    assert.deepEqual(await seen(), ['14.00 mixed', '11.00', 'mixed'])
    await spend(owner, id, '20')
    assert.deepEqual(await seen(), ['33.00 mixed', '30.00', 'manual'])
    await spend(owner, id, null, 'a')
    assert.deepEqual(await seen(), ['23.00 mixed', '20.00', 'manual'])
    const { totals } = await report(owner, 'geo')
    assert.deepEqual([totals.cost, totals.cost_of_clicks], [undefined, '5.50'])
    await spend(owner, id, null)
    assert.deepEqual(await seen(), ['5.50 link', '2.50', 'link'])
  }
  await folder.close()
  const narrow = await seedKey(house.database, owner, { rights: ['report'], campaigns: [toUuid(next.id) ?? ''] })
  assert.deepEqual(await costs({ key: narrow.secret }, 'day'), ['3.00', 'link'])
  await holds(owner)
})

test('a click that becomes tracked later brings its cost then, once', async () => {
  const owner = await seedSignedIn(house)
  const { key } = await made(owner, { cost: LINK })
  const events = { key: (await seedKey(house.database, owner, { rights: ['events'] })).secret }
  const bot = async (query: string) => {
    const headers = { ...BROWSER, 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' }
    const { location } = (await house.call('GET', `/c/${key}?${query}`, { headers })).headers
    return new URL(String(location)).searchParams.get('c') ?? ''
  }
  const [read, unread] = [await bot('cost=0.4'), await bot('cost=x')]
  const waiting = { cost: '0.4', cost_original: '0.4', cost_currency: 'USD', cost_counts: false, tracked: false }
  assert.deepEqual(await stored(read), waiting)
  assert.deepEqual(await costs(owner), ['0.00', null])
  const convert = (clickId: string, type: string) =>
    house.call('POST', '/api/events', { ...events, body: { clickId, type } })
  const replies = await Promise.all(
    [read, unread].flatMap(id => ['registration', 'deposit', 'lead'].map(type => convert(id, type))),
  )
  for (const { statusCode, body } of replies) assert.equal(statusCode, 201, body)
  const { totals } = await report(owner, 'campaign')
  assert.deepEqual([totals.clicks, totals.cost, totals.unread_costs], [2, '0.40', 1])
  assert.deepEqual(await stored(read), { ...waiting, cost_counts: true, tracked: true })
  await holds(owner)
})

test('a process of the version before lets a click count without its cost, which the next conversion here brings', async () => {
  const owner = await seedSignedIn(house)
  const { id, key } = await made(owner, { cost: LINK })
  const headers = { ...BROWSER, 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' }
  const { location } = (await house.call('GET', `/c/${key}?cost=0.4`, { headers })).headers
  const clickId = new URL(String(location)).searchParams.get('c') ?? ''
  // The previous version writes conversions without the cost columns and without `counter_sheet`.
  await house.database.worker.query(
    'update clicks set tracked = true, status = 3, stages = 9 where org_id = $1 and id = $2',
    [owner.org_id, toUuid(clickId)],
  )
  await house.database.worker.query(
    `insert into report_sheet (org_id, id, changes) values ($1, gen_random_uuid(), array[row($1, $2, $3,
      '00000000-0000-0000-0000-000000000000', '', '', 1, 0, 0, 1, 0, 0, 0, 0)::report_change])`,
    [owner.org_id, today(), toUuid(id)],
  )
  // It also writes no half hours, which are completed later.
  await completeSlots(house.database.worker, owner.org_id)
  await holds(owner)
  assert.deepEqual(await costs(owner), ['0.00', null])
  const events = (await seedKey(house.database, owner, { rights: ['events'] })).secret
  const reply = await house.call('POST', '/api/events', { key: events, body: { clickId, type: 'lead' } })
  assert.equal(reply.statusCode, 201, reply.body)
  assert.deepEqual(await costs(owner), ['0.40', 'link'])
  await holds(owner)
})

test('a click in the contract has no field of its cost', async () => {
  const owner = await seedSignedIn(house)
  const { key } = await made(owner, { cost: LINK })
  await visits(key, 'cost=0.4')
  const reader = (await seedKey(house.database, owner, { rights: ['clicks'] })).secret
  const { data } = (await house.call('GET', '/api/v1/clicks', { key: reader })).json<{ data: object[] }>()
  assert.equal(data.length, 1)
  assert.deepEqual(
    Object.keys(data[0] ?? {}).filter(name => /cost|currency/.test(name)),
    [],
  )
  assert.equal(Object.keys(data[0] ?? {}).length, 21)
})
