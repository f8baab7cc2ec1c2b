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
import type { ExploreMeasures, ExploreQuestion, ExploreRow } from '../../contract/explore.ts'
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
async function click({ org_id, campaigns, offers }: Stock, count: number): Promise<void> {
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
    exact(above.revenue_without_cost),
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

/** The report's cost of the same whole days, and of each campaign and day. */
async function assertAsReported(stock: Stock): Promise<void> {
  for (const dimension of ['campaign', 'day'] as const) {
    const report = await readReport(stock, '/api/report', { ...WHOLE, dimension })
    const { rows, totals } = await ask(stock, [dimension])
    assert.equal(cents(exact(totals.cost) ?? 0n), toUnits(report.totals.cost ?? '', 2))
    const reported = new Map(report.rows.map(row => [row.key, toUnits(row.cost ?? '', 2)]))
    assert.deepEqual(new Map(rows.map(row => [row.key ?? '', cents(exact(row.cost) ?? 0n)])), reported, dimension)
  }
}

/** Every dimension that these clicks have different values of. */
const ASKED = EXPLORE_DIMENSIONS.filter(name => !['bot', 'landing', 'path', 'funnel', 'ad_account'].includes(name))

test('by every dimension the cost is what a recount of clicks and amounts comes to, and in all what the report says', async () => {
  const [stock, other] = [await seedStock(), await seedStock()]
  await click(stock, 250)
  await click(other, 20)
  await sealAll(house.database.worker, house.ground.secrets)
  await click(stock, 50)
  const before = JSON.stringify((await ask(other, ['campaign'])).rows)
  const account = `account:${newId()}`
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(Array.from({ length: 6 }, () => enter(stock, anyPlace(stock))))
    const spread = `spread:${newId()}`
    const parts = ['', 'a', 'b'].map(sub1 => ({ ...anyPlace(stock), sub1 }))
    await Promise.all(
      parts.map(part =>
        book(stock, spread, { ...part, day: parts[0]?.day ?? '', campaign_id: parts[0]?.campaign_id ?? '' }),
      ),
    )
    await Promise.all(Array.from({ length: 4 }, () => book(stock, account, anyPlace(stock))))
    for (const dimension of round === 3 ? ASKED : [pick(ASKED)]) await assertRecounted(stock, dimension)
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
