// Explore by one level equals the fixed report: the same rows and sums over any window, after each burst of traffic, wherever facts are.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { askerOf } from '../../../tests/support/any-question.ts'
import { newId, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedOffer } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { aClick, seedCampaign } from '../../../tests/support/visits.ts'
import { DAY_MS } from '../../contract/days.ts'
import { toUnits } from '../../contract/decimals.ts'
import type { ExploreMeasures } from '../../contract/explore-answer.ts'
import { LADDER } from '../../contract/ladder.ts'
import { storeClicks } from '../../intake/clicks/store.ts'
import { DIMENSIONS, type ReportDimension, type MemberReport } from '../reports/api.ts'
import { mergeAll } from '../segments/merge.ts'
import { openSealing } from '../segments/seal.ts'

const WINDOWS = process.env['SLUICE_TEST_ALL'] ? 200 : 8
const BURSTS = process.env['SLUICE_TEST_ALL'] ? 20 : 3
const CLICKS_OF_A_BURST = 40
const DAYS = 12

let house: TestHouse
before(async () => {
  // Sealing runs every tenth of a second here; the other periodic jobs run as usual.
  house = await startHouse({ ROLE: 'serve' })
})
after(() => house.end())

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T

/** Stores clicks of any of the days, and conversions of these and earlier ones. */
function traffic(owner: SignedIn, campaigns: readonly (string | null)[], offers: readonly (string | null)[]) {
  const { org_id, cookie } = owner
  const known: string[] = []
  const events: string[] = []
  const call = async (url: string, body: object): Promise<string> => {
    const answer = await house.call('POST', url, { cookie, body })
    // Repeated where the machine is busy, as every caller does.
    if (answer.statusCode === 503) return call(url, body)
    assert.ok(answer.statusCode === 200 || answer.statusCode === 201, answer.body)
    return String(answer.data()['id'])
  }
  const store = async () => {
    const clicks = Array.from({ length: CLICKS_OF_A_BURST }, () => ({
      ...aClick(house.ground.secrets.clickKey, org_id, {
        campaign_id: pick(campaigns),
        offer_id: pick(offers),
        sub1: pick([null, 'a', 'A', 'b', "it's", '=1', 'ünï']),
        geo: pick([null, 'DE', 'FR', 'UA', 'XX']),
        visitor_id: pick([null, newId()]),
      }),
      id: newId(Date.now() - Math.floor(Math.random() * DAYS * DAY_MS)),
      ...pick([
        { tracked: true, cost: '0.000000001', cost_counts: true },
        { tracked: true, cost: null, cost_counts: true },
        { tracked: true },
        { tracked: false, cost: '3', cost_counts: false },
      ]),
    }))
    await storeClicks(house.database.clicks, clicks)
    known.push(...clicks.map(({ id }) => id))
  }
  const convert = async () => {
    const type = pick(['bot_start', 'registration', 'lead', 'deposit', 'ftd'])
    const paid = { nonce: newId(), payout: pick(['1.234567', '0.000001', '250']) }
    const body = { clickId: toWireId(pick(known)), type, ...paid, payload: { telegram_user_id: String(known.length) } }
    events.push(await call('/api/events', body))
  }
  const judge = () => {
    const status = pick(['approved', 'pending', 'rejected'])
    return call(`/api/events/${pick(events)}/revisions`, {
      status,
      ...(status === 'rejected' ? { reason: 'fraud' } : { amount: pick(['7', '0.5']) }),
    })
  }
  return async () => {
    await store()
    const each = (count: number, deed: () => Promise<unknown>) => Promise.all(Array.from({ length: count }, deed))
    await Promise.all([store(), each(12, convert)])
    await Promise.all([store(), each(6, convert), each(6, judge)])
  }
}

const OF_GOAL = ['conversions', 'conversions_pending', 'conversions_rejected'] as const
const COUNTS = [...LADDER.slice(1), 'clicks', 'unread_costs', 'approved', 'pending', 'rejected', ...OF_GOAL] as const

/** Cents, as the report rounds. */
const cents = (amount: string | undefined): bigint => (toUnits(amount ?? assert.fail(), 9) + 5_000_000n) / 10_000_000n

const sumsOf = (of: { readonly [name: string]: unknown }, cost: unknown) => ({
  ...Object.fromEntries(COUNTS.map(name => [name, of[name]])),
  revenue: cents(String(of['revenue'])),
  revenue_pending: cents(String(of['revenue_pending'])),
  cost: cents(String(cost)),
})
/** The report has no cost where Explore's is unknown. */
const ofExplore = (row: ExploreMeasures) => sumsOf(row, row.cost ?? '0')
const ofReport = (row: MemberReport['totals']) => sumsOf(row, row.cost_of_clicks)

async function readReport(cookie: string, query: Record<string, string>): Promise<MemberReport> {
  const response = await house.call('GET', `/api/report?${new URLSearchParams(query).toString()}`, { cookie })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<MemberReport>()
}

async function assertSame(
  { cookie }: SignedIn,
  window: { date_from: string; date_to: string },
  dimension: ReportDimension,
) {
  const question = { ...window, levels: [{ dimension, top: 1000 }] }
  const [explored, report] = await Promise.all([
    askerOf(house, cookie)(question),
    readReport(cookie, { ...window, dimension }),
  ])
  const of = `${dimension} ${JSON.stringify(window)}`
  assert.deepEqual(explored.incomplete_days, [], of)
  assert.equal(report.truncated, false)
  const said = explored.rows.map(row => [row.key ?? '', row.label, ofExplore(row)] as const)
  const reported = report.rows.map(row => [row.key, row.label, ofReport(row)] as const)
  // Among rows with equal clicks, Explore has the one without a key last and the report first.
  const named = (rows: typeof said) => rows.filter(([key]) => key !== '')
  assert.deepEqual(named(said), named(reported), of)
  const nameless = (rows: typeof said) => rows.filter(([key]) => key === '')
  assert.deepEqual(nameless(said), nameless(reported), of)
  assert.deepEqual(ofExplore(explored.totals), ofReport(report.totals), of)
}

test(`over ${WINDOWS} windows of any milliseconds Explore by one level is the fixed report, row for row`, async () => {
  const owner = await seedSignedIn(house)
  const { org_id } = owner
  const ids = await Promise.all([1, 2, 3].map(async () => (await seedCampaign(house.database, org_id)).id))
  await house.database.worker.query(`update campaigns set goal = '{ftd,deposit}' where org_id = $1 and id = $2`, [
    org_id,
    ids[0],
  ])
  const offers = await Promise.all([1, 2].map(() => seedOffer(house.database, org_id)))
  const burst = traffic(owner, [...ids, null], [...offers, null])
  const sealing = openSealing(house.ground, 100)
  try {
    const at = fc.integer({ min: Date.now() - (DAYS + 1) * DAY_MS, max: Date.now() + DAY_MS })
    const windows = fc.sample(fc.tuple(at, at), WINDOWS).map(([a, b]) => ({
      date_from: new Date(Math.min(a, b)).toISOString(),
      date_to: new Date(Math.max(a, b)).toISOString(),
    }))
    for (const [number, window] of windows.entries()) {
      if (number % (WINDOWS / BURSTS) === 0) {
        await mergeAll(house.database.worker)
        await burst()
      }
      for (const dimension of DIMENSIONS) await assertSame(owner, window, dimension)
    }
  } finally {
    await sealing.close()
  }
})
