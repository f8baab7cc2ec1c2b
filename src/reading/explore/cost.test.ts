// Costs by every dimension equal a recount by plain SQL and the report: the clicks' own cost, entered, spread and synced spend.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  askCosts,
  assertAboutAsReported,
  assertAsReported,
  assertCostsRecounted,
  centsByKey,
  centsOf,
  centsReported,
  costsOfRows,
  readCostReport,
  trillionths,
} from '../../../tests/support/cost-asked.ts'
import {
  ALL_SPEND_DAYS,
  anySpendCell,
  bookSpend,
  DAYS,
  enterSpend,
  FIRST,
  pick,
  seedCostStock,
  seedFour,
  SPEND_DAYS,
  storeClicksOf,
  TODAY,
} from '../../../tests/support/cost-stock.ts'
import { newId, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { aClick } from '../../../tests/support/visits.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { toUnits } from '../../contract/decimals.ts'
import { EXPLORE_DIMENSIONS, type ExploreDimension } from '../../contract/explore-dimensions.ts'
import { storeClicks } from '../../intake/clicks/store.ts'
import { sealAll } from '../segments/seal.ts'

let house: TestHouse
before(async () => {
  // The house does not seal, merge or check in the background: the test does. It prices few clicks in a turn, so that a question takes several turns.
  house = await startHouse({ ROLE: 'serve' }, { explore: { priced_at_once: 40 } })
})
after(() => house.end())

/** The dimensions in which these clicks differ. */
const ASKED = EXPLORE_DIMENSIONS.filter(
  name => !['bot', 'landing', 'path', 'funnel', 'tag', 'ad_account'].includes(name),
)

/** The short form asks by some of them, others each time. */
const ASKED_LAST = process.env['SLUICE_TEST_ALL'] ? ASKED : Array.from({ length: 8 }, () => pick(ASKED))

test('by every dimension the cost equals a recount of clicks and amounts, and the total equals the report', async () => {
  const [stock, other] = [await seedCostStock(house), await seedCostStock(house)]
  await storeClicksOf(stock, 150)
  await storeClicksOf(other, 20)
  await sealAll(house.database.worker, house.ground.secrets)
  await storeClicksOf(stock, 50)
  const before = JSON.stringify((await askCosts(other, ['campaign'])).rows)
  const account = `account:${newId()}`
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(Array.from({ length: 6 }, () => enterSpend(stock, anySpendCell(stock))))
    const spread = `spread:${newId()}`
    const parts = ['', 'a', 'b'].map(sub1 => ({ ...anySpendCell(stock), sub1 }))
    await Promise.all(
      parts.map(part =>
        bookSpend(stock, spread, { ...part, day: parts[0]?.day ?? '', campaign_id: parts[0]?.campaign_id ?? '' }),
      ),
    )
    await Promise.all(Array.from({ length: 4 }, () => bookSpend(stock, account, anySpendCell(stock))))
    for (const dimension of round === 2 ? ASKED_LAST : [pick(ASKED)]) await assertCostsRecounted(stock, dimension)
    await assertAsReported(stock)
    await storeClicksOf(stock, 20)
    await assertCostsRecounted(stock, pick(ASKED))
    if (round === 1) await sealAll(house.database.worker, house.ground.secrets)
  }
  await house.database.worker.query(`delete from ad_spend where org_id = $1 and day = $2`, [
    stock.org_id,
    SPEND_DAYS[0],
  ])
  await house.database.worker.query(`delete from booked_spend where org_id = $1 and origin like 'spread:%'`, [
    stock.org_id,
  ])
  for (const dimension of ['geo', 'sub1', 'day'] as const) await assertCostsRecounted(stock, dimension)
  await assertAsReported(stock)
  assert.equal(JSON.stringify((await askCosts(other, ['campaign'])).rows), before)
})

test('a window that cuts UTC days counts the shares of its clicks in any time zone, and adjacent windows add up to the whole', async () => {
  const stock = await seedCostStock(house)
  await storeClicksOf(stock, 80)
  for (let at = 0; at < 12; at += 1) await enterSpend(stock, anySpendCell(stock))
  const whole = trillionths((await askCosts(stock, ['campaign'])).totals.cost) ?? 0n
  const cut = FIRST + Math.floor(Math.random() * DAYS * DAY_MS)
  const [early, late] = [{ date_to: new Date(cut - 1).toISOString() }, { date_from: new Date(cut).toISOString() }]
  const parts = [await askCosts(stock, ['geo'], early), await askCosts(stock, ['geo'], late)]
  assert.equal(
    parts.reduce((sum, { totals }) => sum + (trillionths(totals.cost) ?? 0n), 0n),
    whole,
  )
  for (const part of [early, late]) {
    await assertCostsRecounted(stock, 'geo', part)
    await assertAboutAsReported(stock, part)
  }
  const kyiv = {
    date_from: new Date(FIRST - 2 * 3_600_000).toISOString(),
    date_to: new Date(TODAY - 2 * 3_600_000 - 1).toISOString(),
  }
  for (const dimension of ['day', 'hour', 'campaign'] as const)
    await assertCostsRecounted(stock, dimension, { ...kyiv, time_zone: 'Europe/Kyiv' })
  await assertAboutAsReported(stock, kyiv)
})

test('spend that is entered, changed, imported, spread, taken back or deleted is in the very next answer, and so is a click that changes the shares', async () => {
  const { stock, busy, day } = await seedFour(house)
  const { org_id, cookie } = stock
  const campaign_id = toWireId(busy)
  const call = async (method: 'PUT' | 'POST' | 'DELETE', url: string, body?: object) => {
    const response = await house.call(method, url, { cookie, ...(body && { body }) })
    assert.ok(response.statusCode < 300, response.body)
    return response
  }
  const byGeo = async () => costsOfRows((await askCosts(stock, ['geo'])).rows)
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

test('an amount that cannot be divided evenly is shared without a remainder, also among clicks that changed since they were sealed', async () => {
  const { stock, busy, day } = await seedFour(house)
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
  await enterSpend(stock, { day, campaign_id: busy, sub1: 'c', amount: '10.000001' })
  const found = async () => {
    const [byStatus, byGeo] = [await askCosts(stock, ['status', 'sub1']), await askCosts(stock, ['geo'])]
    const { cost, clicks_without_cost } = byStatus.totals
    return [cost, clicks_without_cost, ...costsOfRows(byStatus.rows), ...costsOfRows(byGeo.rows)]
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

test('a billion dollars for a campaign with few clicks adds up in every row', async () => {
  const { stock, busy, quiet, day } = await seedFour(house)
  for (const [campaign_id, sub1] of [
    [busy, ''],
    [busy, 'a'],
    [quiet, ''],
  ] as const)
    await enterSpend(stock, { day, campaign_id, sub1, amount: '999999999.999999' })
  const { rows, totals } = await askCosts(stock, ['campaign', 'sub1'])
  assert.deepEqual(costsOfRows(rows), [
    [toWireId(busy), 4, '1999999999.999998'],
    [toWireId(quiet), 0, '999999999.999999'],
  ])
  assert.equal(totals.cost, '2999999999.999997')
  await assertAsReported(stock)
})

test('spend without clicks is in the row of its known value, and a row of its own elsewhere, whatever the sort and the cut', async () => {
  const { stock, busy, quiet, day } = await seedFour(house)
  await enterSpend(stock, { day, campaign_id: busy, sub1: '', amount: '8' })
  await enterSpend(stock, { day, campaign_id: quiet, sub1: '', amount: '5' })
  await enterSpend(stock, { day, campaign_id: quiet, sub1: 'x', amount: '1' })
  const [one, two] = [toWireId(busy), toWireId(quiet)]
  assert.deepEqual(costsOfRows((await askCosts(stock, ['campaign'])).rows), [
    [one, 4, '8.00'],
    [two, 0, '6.00'],
  ])
  assert.deepEqual(costsOfRows((await askCosts(stock, ['day'])).rows), [[day, 4, '14.00']])
  const bySub1 = await askCosts(stock, ['sub1'])
  assert.deepEqual(costsOfRows(bySub1.rows), [
    ['a', 2, '4.00'],
    ['b', 1, '2.00'],
    [null, 1, '2.00'],
    ['x', 0, '1.00'],
    ['', 0, '5.00'],
  ])
  const { rows, totals, distinct } = await askCosts(stock, ['geo', 'campaign'], {
    sort: { by: 'cost', descending: false },
  })
  assert.deepEqual(
    [costsOfRows(rows), totals.cost, distinct],
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
  assert.deepEqual(costsOfRows(rows.at(-1)?.children ?? []), [[two, 0, '6.00']])
  const below = await askCosts(stock, ['geo', 'campaign'], { within: [''] })
  assert.deepEqual(costsOfRows(below.rows), [[two, 0, '6.00']])
  const first = await askCosts(stock, ['geo'], { levels: [{ dimension: 'geo', top: 1 }] })
  assert.deepEqual(costsOfRows(first.rows), [
    ['DE', 2, '4.00'],
    ['', 0, '6.00'],
    [null, 2, '4.00'],
  ])
  const only = (dimension: ExploreDimension, value: string) =>
    askCosts(stock, ['geo'], { filters: [{ dimension, op: 'is_not', values: [value] }] }).then(
      answer => answer.totals.cost,
    )
  assert.deepEqual(
    [await only('campaign', one), await only('geo', 'DE'), await only('sub1', 'a')],
    ['6.00', '4.00', '5.00'],
  )
  assert.deepEqual(costsOfRows((await askCosts(stock, ['hour'], { measures: ['clicks'] })).rows).length, 4)
})

test('spend booked without a sub1 is a row of its own by sub1, as in the report, with the same total', async () => {
  const stock = await seedCostStock(house)
  await storeClicksOf(stock, 60)
  for (let at = 0; at < 14; at += 1) await enterSpend(stock, anySpendCell(stock))
  await bookSpend(stock, `account:${newId()}`, { ...anySpendCell(stock), sub1: '', amount: '4' })
  const [together, apart] = [
    await askCosts(stock, ['sub1', 'geo']),
    await askCosts(stock, ['sub1', 'geo'], { unassigned: 'apart' }),
  ]
  assert.equal(apart.totals.cost, together.totals.cost)
  const report = await readCostReport(stock, '/api/report', { ...ALL_SPEND_DAYS, dimension: 'sub1' })
  assert.deepEqual(centsByKey(apart.rows.filter(({ key }) => key !== '')), centsReported(report))
  const unassigned = apart.rows.find(({ key }) => key === '')
  assert.deepEqual([unassigned?.label, unassigned?.clicks], ['Unassigned spend', 0])
  assert.equal(centsOf(trillionths(unassigned?.cost) ?? 0n), toUnits(report.not_broken_down?.cost ?? '', 2))
  const refused = await house.call('POST', '/api/explore', {
    cookie: stock.cookie,
    body: { ...ALL_SPEND_DAYS, levels: [{ dimension: 'geo' }], unassigned: 'apart' },
  })
  assert.deepEqual([refused.statusCode, refused.data()['code']], [400, 'invalid_question'])
  assert.match(String(refused.data()['error']), /goes with the level sub1 only/)
})

test('the current day counts whole in a window that reaches to the present, as in the report', async () => {
  const { stock, busy } = await seedFour(house)
  const day = dayOf(Date.now())
  await enterSpend(stock, { day, campaign_id: busy, sub1: '', amount: '3' })
  const window = { date_from: new Date(TODAY).toISOString(), date_to: new Date(Date.now()).toISOString() }
  const { totals } = await askCosts(stock, ['campaign'], window)
  const report = await readCostReport(stock, '/api/report', { ...window, dimension: 'campaign' })
  assert.deepEqual([totals.cost, report.totals.cost], ['3.00', '3.00'])
})
