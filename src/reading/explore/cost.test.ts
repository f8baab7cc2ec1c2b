// The cost of every click, asked by any dimension, beside a recount by plain SQL and beside the report: clicks' own, entered, spread and synced spend.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { askerOf } from '../../../tests/support/any-question.ts'
import { costsOf, type Costed } from '../../../tests/support/cost-recount.ts'
import { newId, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedOffer } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { aClick, seedCampaign } from '../../../tests/support/visits.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { toUnits } from '../../contract/decimals.ts'
import type { ExploreQuestion } from '../../contract/explore.ts'
import type { ExploreAnswer, ExploreMeasures, ExploreRow } from '../../contract/explore-answer.ts'
import { EXPLORE_DIMENSIONS, type ExploreDimension } from '../../contract/explore-dimensions.ts'
import { storeClicks } from '../../intake/clicks/store.ts'
import type { MemberReport } from '../reports/api.ts'
import { sealAll } from '../segments/seal.ts'

let house: TestHouse
before(async () => {
  // Another process seals, merges and checks, if any: here the tests say what is sealed.
  house = await startHouse({ ROLE: 'serve' })
})
after(() => house.end())

const DAYS = 4
const TODAY = Date.now() - (Date.now() % DAY_MS)
const FIRST = TODAY - DAYS * DAY_MS
const days = Array.from({ length: DAYS }, (_, at) => dayOf(FIRST + at * DAY_MS))
const WHOLE = { date_from: new Date(FIRST).toISOString(), date_to: new Date(TODAY - 1).toISOString() }

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T

type Stock = SignedIn & { readonly campaigns: readonly string[]; readonly offers: readonly string[] }

async function seedStock(): Promise<Stock> {
  const person = await seedSignedIn(house)
  const campaigns = await Promise.all(
    [1, 2, 3, 4].map(async () => (await seedCampaign(house.database, person.org_id)).id),
  )
  const offers = await Promise.all([1, 2].map(() => seedOffer(house.database, person.org_id)))
  return { ...person, campaigns, offers }
}

/** Clicks of any of the days and of all campaigns but the last. */
async function click({ org_id, cookie, campaigns, offers }: Stock, count: number): Promise<void> {
  const clicks = Array.from({ length: count }, () => ({
    ...aClick(house.ground.secrets.clickKey, org_id, {
      campaign_id: pick([...campaigns.slice(0, -1), null]),
      offer_id: pick([...offers, null]),
      sub1: pick([null, null, 'a', 'b', 'ünï']),
      sub2: pick([null, 'one', 'two', 'three']),
      geo: pick([null, 'DE', 'FR', 'UA']),
      visitor_id: pick([null, newId()]),
    }),
    id: newId(FIRST + Math.floor(Math.random() * DAYS * DAY_MS)),
    ...pick([
      { tracked: true, cost: '0.000000007', cost_counts: true },
      { tracked: true, cost: '0.25', cost_counts: true },
      { tracked: true, cost: null, cost_counts: true },
      { tracked: true },
      { tracked: false, cost: '3', cost_counts: false },
    ]),
  }))
  await storeClicks(house.database.clicks, clicks)
  // Each eighth converts: its row is taken out as it was, and put in as it is.
  for (const { id } of clicks.filter((_, at) => at % 8 === 0)) {
    const body = { clickId: toWireId(id), type: pick(['lead', 'ftd']), nonce: newId(), payout: '1.234567', payload: {} }
    const response = await house.call('POST', '/api/events', { cookie, body })
    assert.ok(response.statusCode < 300, response.body)
  }
}

type Place = { readonly day: string; readonly campaign_id: string; readonly sub1: string; readonly amount: string }
const anyPlace = ({ campaigns }: Stock): Place => ({
  day: pick(days),
  campaign_id: pick(campaigns),
  sub1: pick(['', '', 'a', 'b', 'nobody']),
  amount: pick(['10', '0.01', '7.777777', '0', '100.005', '0.000001']),
})

const enter = ({ org_id }: Stock, { day, campaign_id, sub1, amount }: Place) =>
  house.database.worker.query(
    `insert into ad_spend (org_id, day, campaign_id, sub1, amount, source, updated_at) values ($1, $2, $3, $4, $5, 'manual', now())
    on conflict (org_id, day, campaign_id, sub1) do update set amount = excluded.amount`,
    [org_id, day, campaign_id, sub1, amount],
  )
const book = ({ org_id }: Stock, origin: string, { day, campaign_id, sub1, amount }: Place) =>
  house.database.worker.query(
    `insert into booked_spend (org_id, day, campaign_id, sub1, amount, origin) values ($1, $2, $3, $4, $5, $6)
    on conflict (org_id, day, campaign_id, sub1, origin) do update set amount = excluded.amount`,
    [org_id, day, campaign_id, sub1, amount, origin],
  )

/** An amount as a whole number of millionths of millionths, to compare. */
const exact = (amount: string | null | undefined) => (amount == null ? null : toUnits(amount, 12))
const cents = (amount: bigint) => (amount + 5_000_000_000n) / 10_000_000_000n

/** Equal but for a cost that is a billionth of a dollar off at most: what is left of an amount falls to one of its clicks. */
function assertCosts(found: ExploreMeasures, expected: Costed | undefined, of: string): void {
  if (expected === undefined) assert.fail(`${of} is not to be there`)
  assert.equal(found.clicks, expected.clicks, of)
  assert.equal(found.clicks_without_cost, expected.clicks_without_cost, of)
  assert.equal(exact(found.revenue_without_cost), exact(expected.revenue_without_cost), of)
  const isUnknown =
    expected.clicks > 0 && expected.clicks === expected.clicks_without_cost && exact(expected.cost) === 0n
  assert.equal(found.cost === null, isUnknown, of)
  assert.equal(found.roi === null, isUnknown || exact(found.cost) === 0n, of)
  const off = (exact(found.cost) ?? 0n) - (exact(expected.cost) ?? 0n)
  assert.ok(off < 1000n && off > -1000n, `${of} costs ${found.cost}, recounted ${expected.cost}`)
}

/** That the rows of every level come to the row above, exactly. */
function assertAddsUp(above: ExploreMeasures, rows: readonly ExploreRow[]): void {
  const sum = (of: (row: ExploreMeasures) => bigint | null) => rows.reduce((all, row) => all + (of(row) ?? 0n), 0n)
  assert.equal(
    sum(row => exact(row.cost)),
    exact(above.cost) ?? 0n,
  )
  assert.equal(
    sum(row => BigInt(row.clicks ?? 0)),
    BigInt(above.clicks ?? 0),
  )
  assert.equal(
    sum(row => exact(row.revenue_without_cost)),
    exact(above.revenue_without_cost) ?? 0n,
  )
  for (const row of rows) if (row.children !== undefined) assertAddsUp(row, row.children)
}

type Rest = Partial<ExploreQuestion>
async function ask({ cookie }: Stock, dimensions: readonly ExploreDimension[], rest: Rest = {}) {
  const answer = await askerOf(
    house,
    cookie,
  )({
    ...WHOLE,
    levels: dimensions.map(dimension => ({ dimension, top: 1000 })),
    measures: ['clicks', 'revenue', 'cost', 'profit', 'roi', 'cpc'],
    ...rest,
  })
  assert.deepEqual(answer.incomplete_days, [])
  assertAddsUp(answer.totals, answer.rows)
  return answer
}

async function assertRecounted(stock: Stock, dimension: ExploreDimension, rest: Rest = {}): Promise<void> {
  const { rows, totals } = await ask(stock, [dimension], rest)
  const found = await costsOf(house.database.worker, stock.org_id, dimension, {
    from: Date.parse(rest.date_from ?? WHOLE.date_from),
    to: Date.parse(rest.date_to ?? WHOLE.date_to),
    zone: rest.time_zone ?? 'UTC',
  })
  const isObject = dimension === 'campaign' || dimension === 'offer'
  const expected = new Map(
    found.rows.map(row => [row.key === null || row.key === '' || !isObject ? row.key : toWireId(row.key), row]),
  )
  assert.deepEqual(new Set(rows.map(({ key }) => key)), new Set(expected.keys()), dimension)
  for (const row of rows) assertCosts(row, expected.get(row.key), `${dimension} ${row.key}`)
  assertCosts(totals, found.totals, `total by ${dimension}`)
}

async function readReport({ cookie }: Stock, path: string, query: Record<string, string>): Promise<MemberReport> {
  const response = await house.call('GET', `${path}?${new URLSearchParams(query).toString()}`, { cookie })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<MemberReport>()
}

/** What rows cost, in cents. Only the report has a row for an amount of 0 that has no clicks. */
const costing = (rows: ExploreAnswer['rows']) =>
  new Map(rows.map(row => [row.key ?? '', cents(exact(row.cost) ?? 0n)] as const).filter(([, cost]) => cost !== 0n))
const reportedOf = ({ rows }: MemberReport) =>
  new Map(rows.map(row => [row.key, toUnits(row.cost ?? '', 2)] as const).filter(([, cost]) => cost !== 0n))

/** The report's cost of the same whole days, and of each campaign and day. */
async function assertAsReported(stock: Stock): Promise<void> {
  for (const dimension of ['campaign', 'day'] as const) {
    const report = await readReport(stock, '/api/report', { ...WHOLE, dimension })
    const { rows, totals } = await ask(stock, [dimension])
    assert.equal(cents(exact(totals.cost) ?? 0n), toUnits(report.totals.cost ?? '', 2))
    assert.deepEqual(costing(rows), reportedOf(report), dimension)
  }
}

/** The same where the window cuts days. Parts of a billionth may be rounded to another cent. */
async function assertAboutAsReported(stock: Stock, window: Partial<typeof WHOLE>): Promise<void> {
  for (const dimension of ['campaign', 'day', 'sub1'] as const) {
    const { rows, totals } = await ask(stock, [dimension], {
      ...window,
      ...(dimension === 'sub1' && { unassigned: 'apart' }),
    })
    const report = await readReport(stock, '/api/report', { ...WHOLE, ...window, dimension })
    const told = new Map(report.rows.map(row => [row.key, row.cost]))
    const near = (one: string | null | undefined, other: string | undefined) => {
      const off = (exact(one) ?? 0n) - (exact(other) ?? 0n)
      assert.ok(off <= 5_000_001_000n && off >= -5_000_001_000n, `${dimension}: ${one} is not ${other}`)
    }
    near(totals.cost, report.totals.cost)
    const apart = dimension === 'sub1' ? '' : undefined
    for (const row of rows) near(row.cost, row.key === apart ? report.not_broken_down?.cost : told.get(row.key ?? ''))
  }
}

/** Every dimension that these clicks have different values of. */
const ASKED = EXPLORE_DIMENSIONS.filter(name => !['bot', 'landing', 'path', 'funnel', 'ad_account'].includes(name))

test('by every dimension the cost is what a recount of clicks and amounts comes to, and in all what the report says', async () => {
  const [stock, other] = [await seedStock(), await seedStock()]
  await click(stock, 150)
  await click(other, 20)
  await sealAll(house.database.worker, house.ground.secrets)
  await click(stock, 50)
  const before = JSON.stringify((await ask(other, ['campaign'])).rows)
  const account = `account:${newId()}`
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(Array.from({ length: 6 }, () => enter(stock, anyPlace(stock))))
    const spread = `spread:${newId()}`
    const parts = ['', 'a', 'b'].map(sub1 => ({ ...anyPlace(stock), sub1 }))
    await Promise.all(
      parts.map(part =>
        book(stock, spread, { ...part, day: parts[0]?.day ?? '', campaign_id: parts[0]?.campaign_id ?? '' }),
      ),
    )
    await Promise.all(Array.from({ length: 4 }, () => book(stock, account, anyPlace(stock))))
    for (const dimension of round === 2 ? ASKED : [pick(ASKED)]) await assertRecounted(stock, dimension)
    await assertAsReported(stock)
    await click(stock, 20)
    await assertRecounted(stock, pick(ASKED))
    if (round === 1) await sealAll(house.database.worker, house.ground.secrets)
  }
  await house.database.worker.query(`delete from ad_spend where org_id = $1 and day = $2`, [stock.org_id, days[0]])
  await house.database.worker.query(`delete from booked_spend where org_id = $1 and origin like 'spread:%'`, [
    stock.org_id,
  ])
  for (const dimension of ['geo', 'sub1', 'day'] as const) await assertRecounted(stock, dimension)
  await assertAsReported(stock)
  assert.equal(JSON.stringify((await ask(other, ['campaign'])).rows), before)
})

test('a window that cuts UTC days counts the shares of the clicks in it, by the clocks of any zone, and windows that follow come to the whole', async () => {
  const stock = await seedStock()
  await click(stock, 80)
  for (let at = 0; at < 12; at += 1) await enter(stock, anyPlace(stock))
  const whole = exact((await ask(stock, ['campaign'])).totals.cost) ?? 0n
  const cut = FIRST + Math.floor(Math.random() * DAYS * DAY_MS)
  const [early, late] = [{ date_to: new Date(cut - 1).toISOString() }, { date_from: new Date(cut).toISOString() }]
  const parts = [await ask(stock, ['geo'], early), await ask(stock, ['geo'], late)]
  assert.equal(
    parts.reduce((sum, { totals }) => sum + (exact(totals.cost) ?? 0n), 0n),
    whole,
  )
  for (const part of [early, late]) {
    await assertRecounted(stock, 'geo', part)
    await assertAboutAsReported(stock, part)
  }
  const kyiv = {
    date_from: new Date(FIRST - 2 * 3_600_000).toISOString(),
    date_to: new Date(TODAY - 2 * 3_600_000 - 1).toISOString(),
  }
  for (const dimension of ['day', 'hour', 'campaign'] as const)
    await assertRecounted(stock, dimension, { ...kyiv, time_zone: 'Europe/Kyiv' })
  await assertAboutAsReported(stock, kyiv)
})

/** Four clicks of a campaign on the first day, of two countries and two values of sub1, and another campaign without any. */
async function seedFour() {
  const stock = await seedStock()
  const { org_id, campaigns } = stock
  const [busy = '', quiet = ''] = campaigns
  const kinds = [
    ['DE', 'a'],
    ['DE', 'a'],
    ['FR', 'b'],
    ['FR', null],
  ] as const
  const clicks = kinds.map(([geo, sub1], at) => ({
    ...aClick(house.ground.secrets.clickKey, org_id, { campaign_id: busy, geo, sub1 }),
    id: newId(FIRST + at * 3_600_000),
    tracked: true,
  }))
  await storeClicks(house.database.clicks, clicks)
  return { stock, busy, quiet, day: days[0] ?? '' }
}

const costs = (rows: readonly ExploreRow[]) => rows.map(({ key, clicks, cost }) => [key, clicks, cost])

test('what is entered, changed, imported, spread, taken back or deleted is in the very next answer, and so is a click that changes the shares', async () => {
  const { stock, busy, day } = await seedFour()
  const { org_id, cookie } = stock
  const campaign_id = toWireId(busy)
  const call = async (method: 'PUT' | 'POST' | 'DELETE', url: string, body?: object) => {
    const response = await house.call(method, url, { cookie, ...(body && { body }) })
    assert.ok(response.statusCode < 300, response.body)
    return response
  }
  const byGeo = async () => costs((await ask(stock, ['geo'])).rows)
  const spend = (amount: string | null) => call('PUT', '/api/ad-spend', { campaign_id, day, amount })
  const halves = (amount: string | null, clicks = 2) => [
    ['DE', clicks, amount],
    ['FR', 2, amount],
  ]
  assert.deepEqual(await byGeo(), halves(null))
  await spend('10')
  assert.deepEqual(await byGeo(), halves('5.00'))
  await spend('8')
  assert.deepEqual(await byGeo(), halves('4.00'))
  await call('POST', '/api/ad-spend/import', { csv: `day,campaign,amount\n${day},${campaign_id},6\n`, dry_run: false })
  assert.deepEqual(await byGeo(), halves('3.00'))
  await storeClicks(house.database.clicks, [
    {
      ...aClick(house.ground.secrets.clickKey, org_id, { campaign_id: busy, geo: 'DE', sub1: 'a' }),
      id: newId(FIRST),
      tracked: true,
    },
  ])
  assert.deepEqual(await byGeo(), [
    ['DE', 3, '3.60'],
    ['FR', 2, '2.40'],
  ])
  await spend(null)
  assert.deepEqual(await byGeo(), [
    ['DE', 3, null],
    ['FR', 2, null],
  ])
  const window = { from: `${day}T00:00:00Z`, to: new Date(FIRST + DAY_MS).toISOString() }
  const { spread } = (
    await call('POST', '/api/ad-spend/spreads', { campaign_id, ...window, amount: '20', dry_run: false })
  ).json<{
    spread: { id: string }
  }>()
  assert.deepEqual(await byGeo(), [
    ['DE', 3, '12.00'],
    ['FR', 2, '8.00'],
  ])
  await call('DELETE', `/api/ad-spend/spreads/${spread.id}`)
  assert.deepEqual(await byGeo(), [
    ['DE', 3, null],
    ['FR', 2, null],
  ])
})

test('an amount that cannot be shared alike is told to the last part, also by clicks that changed since they were sealed', async () => {
  const { stock, busy, day } = await seedFour()
  const { org_id, cookie } = stock
  const click = async (number: number) => {
    const one = {
      ...aClick(house.ground.secrets.clickKey, org_id, { campaign_id: busy, geo: 'UA', sub1: 'c' }),
      id: newId(FIRST + number),
      tracked: true,
    }
    await storeClicks(house.database.clicks, [one])
    await sealAll(house.database.worker, house.ground.secrets)
    const body = { clickId: toWireId(one.id), type: 'lead', nonce: newId(), payload: {} }
    assert.ok((await house.call('POST', '/api/events', { cookie, body })).statusCode < 300)
    await sealAll(house.database.worker, house.ground.secrets)
  }
  for (const number of [1, 2, 3]) await click(number)
  await enter(stock, { day, campaign_id: busy, sub1: 'c', amount: '10.000001' })
  const found = async () => {
    const [byStatus, byGeo] = [await ask(stock, ['status', 'sub1']), await ask(stock, ['geo'])]
    const { cost, clicks_without_cost } = byStatus.totals
    return [cost, clicks_without_cost, ...costs(byStatus.rows), ...costs(byGeo.rows)]
  }
  const [de, fr] = [
    ['DE', 2, null],
    ['FR', 2, null],
  ]
  assert.deepEqual(await found(), [
    '10.000001',
    4,
    ['clicked', 4, null],
    ['lead', 3, '10.000001'],
    ['UA', 3, '10.000001'],
    de,
    fr,
  ])
  for (const number of [4, 5, 6, 7]) await click(number)
  assert.deepEqual(await found(), [
    '10.000001',
    4,
    ['lead', 7, '10.000001'],
    ['clicked', 4, null],
    ['UA', 7, '10.000001'],
    de,
    fr,
  ])
})

test('spend without clicks stands where it is known, and is a row of its own elsewhere, whatever is sorted or left out', async () => {
  const { stock, busy, quiet, day } = await seedFour()
  await enter(stock, { day, campaign_id: busy, sub1: '', amount: '8' })
  await enter(stock, { day, campaign_id: quiet, sub1: '', amount: '5' })
  await enter(stock, { day, campaign_id: quiet, sub1: 'x', amount: '1' })
  const [one, two] = [toWireId(busy), toWireId(quiet)]
  assert.deepEqual(costs((await ask(stock, ['campaign'])).rows), [
    [one, 4, '8.00'],
    [two, 0, '6.00'],
  ])
  assert.deepEqual(costs((await ask(stock, ['day'])).rows), [[day, 4, '14.00']])
  const bySub1 = await ask(stock, ['sub1'])
  assert.deepEqual(costs(bySub1.rows), [
    ['a', 2, '4.00'],
    ['b', 1, '2.00'],
    [null, 1, '2.00'],
    ['x', 0, '1.00'],
    ['', 0, '5.00'],
  ])
  const { rows, totals, distinct } = await ask(stock, ['geo', 'campaign'], { sort: { by: 'cost', descending: false } })
  assert.deepEqual(
    [costs(rows), totals.cost, distinct],
    [
      [
        ['DE', 2, '4.00'],
        ['FR', 2, '4.00'],
        ['', 0, '6.00'],
      ],
      '14.00',
      [2, 3],
    ],
  )
  assert.equal(rows.at(-1)?.label, 'Spend without clicks')
  assert.deepEqual(costs(rows.at(-1)?.children ?? []), [[two, 0, '6.00']])
  const below = await ask(stock, ['geo', 'campaign'], { within: [''] })
  assert.deepEqual(costs(below.rows), [[two, 0, '6.00']])
  const first = await ask(stock, ['geo'], { levels: [{ dimension: 'geo', top: 1 }] })
  assert.deepEqual(costs(first.rows), [
    ['DE', 2, '4.00'],
    ['', 0, '6.00'],
    [null, 2, '4.00'],
  ])
  const only = (dimension: ExploreDimension, value: string) =>
    ask(stock, ['geo'], { filters: [{ dimension, op: 'is_not', values: [value] }] }).then(answer => answer.totals.cost)
  assert.deepEqual(
    [await only('campaign', one), await only('geo', 'DE'), await only('sub1', 'a')],
    ['6.00', '4.00', '5.00'],
  )
  assert.deepEqual(costs((await ask(stock, ['hour'], { measures: ['clicks'] })).rows).length, 4)
})

test('spend that was booked without a sub1 stands apart by sub1, as the report has it, and comes to the same total', async () => {
  const stock = await seedStock()
  await click(stock, 60)
  for (let at = 0; at < 14; at += 1) await enter(stock, anyPlace(stock))
  await book(stock, `account:${newId()}`, { ...anyPlace(stock), sub1: '', amount: '4' })
  const [together, apart] = [
    await ask(stock, ['sub1', 'geo']),
    await ask(stock, ['sub1', 'geo'], { unassigned: 'apart' }),
  ]
  assert.equal(apart.totals.cost, together.totals.cost)
  const report = await readReport(stock, '/api/report', { ...WHOLE, dimension: 'sub1' })
  assert.deepEqual(costing(apart.rows.filter(({ key }) => key !== '')), reportedOf(report))
  const unassigned = apart.rows.find(({ key }) => key === '')
  assert.deepEqual([unassigned?.label, unassigned?.clicks], ['Unassigned spend', 0])
  assert.equal(cents(exact(unassigned?.cost) ?? 0n), toUnits(report.not_broken_down?.cost ?? '', 2))
  const refused = await house.call('POST', '/api/explore', {
    cookie: stock.cookie,
    body: { ...WHOLE, levels: [{ dimension: 'geo' }], unassigned: 'apart' },
  })
  assert.deepEqual([refused.statusCode, refused.data()['code']], [400, 'invalid_question'])
  assert.match(String(refused.data()['error']), /goes with the level sub1 only/)
})

test('a running day counts whole in a window that reaches to the present, as in the report', async () => {
  const { stock, busy } = await seedFour()
  const day = dayOf(Date.now())
  await enter(stock, { day, campaign_id: busy, sub1: '', amount: '3' })
  const window = { date_from: new Date(TODAY).toISOString(), date_to: new Date(Date.now()).toISOString() }
  const { totals } = await ask(stock, ['campaign'], window)
  const report = await readReport(stock, '/api/report', { ...window, dimension: 'campaign' })
  assert.deepEqual([totals.cost, report.totals.cost], ['3.00', '3.00'])
})
