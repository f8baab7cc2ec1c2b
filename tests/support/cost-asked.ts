// Compares the costs of Explore with a recount by plain SQL and with the report.
import assert from 'node:assert/strict'
import { toUnits } from '../../src/contract/decimals.ts'
import type { ExploreQuestion } from '../../src/contract/explore.ts'
import type { ExploreAnswer, ExploreMeasures, ExploreRow } from '../../src/contract/explore-answer.ts'
import type { ExploreDimension } from '../../src/contract/explore-dimensions.ts'
import type { MemberReport } from '../../src/reading/reports/api.ts'
import { askerOf } from './any-question.ts'
import { type Costed, costsOf } from './cost-recount.ts'
import { ALL_SPEND_DAYS, type CostStock } from './cost-stock.ts'
import { toWireId } from './house.ts'

/** An amount as a whole number of millionths of millionths, to compare. */
export const trillionths = (amount: string | null | undefined) => (amount == null ? null : toUnits(amount, 12))
export const centsOf = (amount: bigint) => (amount + 5_000_000_000n) / 10_000_000_000n

/** Equal, except that a cost may differ by a billionth of a dollar, because the remainder of an amount goes to one click. */
function assertCosts(found: ExploreMeasures, expected: Costed | undefined, of: string): void {
  if (expected === undefined) assert.fail(`${of} is not to be there`)
  assert.equal(found.clicks, expected.clicks, of)
  assert.equal(found.clicks_without_cost, expected.clicks_without_cost, of)
  assert.equal(trillionths(found.revenue_without_cost), trillionths(expected.revenue_without_cost), of)
  const isUnknown =
    expected.clicks > 0 && expected.clicks === expected.clicks_without_cost && trillionths(expected.cost) === 0n
  assert.equal(found.cost === null, isUnknown, of)
  assert.equal(found.roi === null, isUnknown || trillionths(found.cost) === 0n, of)
  const off = (trillionths(found.cost) ?? 0n) - (trillionths(expected.cost) ?? 0n)
  assert.ok(off < 1000n && off > -1000n, `${of} costs ${found.cost}, recounted ${expected.cost}`)
}

/** Asserts that the rows of every level add up to the row above, exactly. */
function assertAddsUp(above: ExploreMeasures, rows: readonly ExploreRow[]): void {
  const sum = (of: (row: ExploreMeasures) => bigint | null) => rows.reduce((all, row) => all + (of(row) ?? 0n), 0n)
  assert.equal(
    sum(row => trillionths(row.cost)),
    trillionths(above.cost) ?? 0n,
  )
  assert.equal(
    sum(row => BigInt(row.clicks ?? 0)),
    BigInt(above.clicks ?? 0),
  )
  assert.equal(
    sum(row => trillionths(row.revenue_without_cost)),
    trillionths(above.revenue_without_cost) ?? 0n,
  )
  for (const row of rows) if (row.children !== undefined) assertAddsUp(row, row.children)
}

type Rest = Partial<ExploreQuestion>
export async function askCosts({ house, cookie }: CostStock, dimensions: readonly ExploreDimension[], rest: Rest = {}) {
  const answer = await askerOf(
    house,
    cookie,
  )({
    ...ALL_SPEND_DAYS,
    levels: dimensions.map(dimension => ({ dimension, top: 1000 })),
    measures: ['clicks', 'revenue', 'cost', 'profit', 'roi', 'cpc'],
    ...rest,
  })
  assert.deepEqual(answer.incomplete_days, [])
  assertAddsUp(answer.totals, answer.rows)
  return answer
}

export async function assertCostsRecounted(
  stock: CostStock,
  dimension: ExploreDimension,
  rest: Rest = {},
): Promise<void> {
  const { rows, totals } = await askCosts(stock, [dimension], rest)
  const found = await costsOf(stock.house.database.worker, stock.org_id, dimension, {
    from: Date.parse(rest.date_from ?? ALL_SPEND_DAYS.date_from),
    to: Date.parse(rest.date_to ?? ALL_SPEND_DAYS.date_to),
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

export async function readCostReport(
  { house, cookie }: CostStock,
  path: string,
  query: Record<string, string>,
): Promise<MemberReport> {
  const response = await house.call('GET', `${path}?${new URLSearchParams(query).toString()}`, { cookie })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<MemberReport>()
}

/** The cost of rows in cents, without rows of 0: only the report has a row for an amount of 0 without clicks. */
export const centsByKey = (rows: ExploreAnswer['rows']) =>
  new Map(
    rows.map(row => [row.key ?? '', centsOf(trillionths(row.cost) ?? 0n)] as const).filter(([, cost]) => cost !== 0n),
  )
export const centsReported = ({ rows }: MemberReport) =>
  new Map(rows.map(row => [row.key, toUnits(row.cost ?? '', 2)] as const).filter(([, cost]) => cost !== 0n))

/** Asserts that costs of whole days equal the report's, in total and by campaign and day. */
export async function assertAsReported(stock: CostStock): Promise<void> {
  for (const dimension of ['campaign', 'day'] as const) {
    const report = await readCostReport(stock, '/api/report', { ...ALL_SPEND_DAYS, dimension })
    const { rows, totals } = await askCosts(stock, [dimension])
    assert.equal(centsOf(trillionths(totals.cost) ?? 0n), toUnits(report.totals.cost ?? '', 2))
    assert.deepEqual(centsByKey(rows), centsReported(report), dimension)
  }
}

/** The same where the window cuts days. A remainder may be rounded to another cent. */
export async function assertAboutAsReported(stock: CostStock, window: Partial<typeof ALL_SPEND_DAYS>): Promise<void> {
  for (const dimension of ['campaign', 'day', 'sub1'] as const) {
    const { rows, totals } = await askCosts(stock, [dimension], {
      ...window,
      ...(dimension === 'sub1' && { unassigned: 'apart' }),
    })
    const report = await readCostReport(stock, '/api/report', { ...ALL_SPEND_DAYS, ...window, dimension })
    const told = new Map(report.rows.map(row => [row.key, row.cost]))
    const near = (one: string | null | undefined, other: string | undefined) => {
      const off = (trillionths(one) ?? 0n) - (trillionths(other) ?? 0n)
      assert.ok(off <= 5_000_001_000n && off >= -5_000_001_000n, `${dimension}: ${one} is not ${other}`)
    }
    near(totals.cost, report.totals.cost)
    const apart = dimension === 'sub1' ? '' : undefined
    for (const row of rows) near(row.cost, row.key === apart ? report.not_broken_down?.cost : told.get(row.key ?? ''))
  }
}

/** Rows as their key, clicks and cost. */
export const costsOfRows = (rows: readonly ExploreRow[]) => rows.map(({ key, clicks, cost }) => [key, clicks, cost])
