// The report by days and hours of a time zone, over HTTP.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { newId, seedKey, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import type { MemberReport } from './api.ts'

let house: TestHouse
before(async () => {
  house = await startHouse({}, { quotas: { report: 100_000 } })
})
after(() => house.end())

/** A Thursday's noon, a week ago or less. */
const thursday = () => {
  const today = Math.floor(Date.now() / DAY_MS)
  return (today - 1 - ((today - 1) % 7)) * DAY_MS + 12 * HOUR_MS
}

async function read(cookie: string, query: string): Promise<MemberReport> {
  const response = await house.call('GET', `/api/report?${query}`, { cookie })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<MemberReport>()
}

test('a member reads days, hours and hours of the week in the time zone of Kolkata', async () => {
  const { org_id, cookie } = await seedSignedIn(house)
  const stranger = await seedSignedIn(house)
  const noon = thursday()
  const [one, other] = [newId(), newId()]
  await seedCountedClicks(house.database, org_id, [
    { at: noon, campaign_id: one, revenue: '1.5', stages: 17 },
    { at: noon + 6.5 * HOUR_MS, campaign_id: one, cost: '0.25', cost_counts: true },
    { at: noon + 6.5 * HOUR_MS - 1, campaign_id: other, cost_counts: true },
    { at: noon, tracked: false },
  ])
  const day = (by: number) => new Date(noon + by * DAY_MS).toISOString().slice(0, 10)
  const WINDOW = `tz=Asia/Kolkata&date_from=${new Date(noon - DAY_MS).toISOString()}&date_to=${new Date(noon + DAY_MS).toISOString()}`
  const none = {
    landed: 0,
    started: 0,
    registered: 0,
    lead: 0,
    deposit: 0,
    ftd: 0,
    revenue: '0.00',
    cost_of_clicks: '0.00',
    unread_costs: 0,
    revenue_pending: '0.00',
    approved: 0,
    pending: 0,
    rejected: 0,
    conversions: 0,
    conversions_pending: 0,
    conversions_rejected: 0,
    by_type: {},
  }
  const byDay = await read(cookie, `dimension=local_day&${WINDOW}`)
  const earlier = { ...none, clicks: 2, lead: 1, revenue: '1.50', approved: 1, unread_costs: 1 }
  const later = { ...none, clicks: 1, cost_of_clicks: '0.25' }
  assert.deepEqual(byDay, {
    dimension: 'local_day',
    window: { from: new Date(noon - DAY_MS).toISOString(), to: new Date(noon + DAY_MS).toISOString() },
    rows: [
      { key: day(0), label: day(0), ...earlier },
      { key: day(1), label: day(1), ...later },
    ],
    totals: { ...earlier, clicks: 3, cost_of_clicks: '0.25' },
    truncated: false,
    not_broken_down: null,
  })
  const keys = async (query: string) =>
    (await read(cookie, query)).rows.map(({ key, label, clicks }) => [key, label, clicks])
  assert.deepEqual(await keys(`dimension=local_hour&${WINDOW}`), [
    ['00', '00:00', 1],
    ['17', '17:00', 1],
    ['23', '23:00', 1],
  ])
  assert.deepEqual(await keys(`dimension=local_weekday_hour&${WINDOW}`), [
    ['4-17', 'Thursday 17:00', 1],
    ['4-23', 'Thursday 23:00', 1],
    ['5-00', 'Friday 00:00', 1],
  ])
  assert.deepEqual(await keys(`dimension=local_day&${WINDOW}&campaign_id=${toWireId(other)}`), [[day(0), day(0), 1]])
  assert.deepEqual(await keys(`dimension=local_day&${WINDOW}&campaign_id=nobody`), [])
  assert.deepEqual((await read(stranger.cookie, `dimension=local_day&${WINDOW}`)).totals.clicks, 0)
  // A zone only decides where days begin: the totals are those of any other dimension.
  const { totals } = await read(cookie, `dimension=geo&${WINDOW}`)
  assert.deepEqual(byDay.totals, totals)
})

test('each invalid query is refused with its reason', async () => {
  const place = await seedSignedIn(house)
  const { cookie } = place
  const now = Date.now()
  const WINDOW = `date_from=${new Date(now - DAY_MS).toISOString()}&date_to=${new Date(now).toISOString()}`
  const refused = async (query: string) => {
    const response = await house.call('GET', `/api/report?${query}`, { cookie })
    assert.equal(response.statusCode, 400, response.body)
    const { error, code } = response.json<{ error: string; code: string }>()
    return `${code}: ${error}`
  }
  assert.match(await refused(`dimension=local_day&${WINDOW}`), /^tz_unknown: .*required/)
  assert.match(await refused(`dimension=local_day&${WINDOW}&tz=Europe/Atlantis`), /^tz_unknown: /)
  assert.match(await refused(`dimension=local_day&${WINDOW}&tz=UTC&tz=UTC`), /^tz_unknown: .*more than once/)
  assert.match(
    await refused(`dimension=local_hour&${WINDOW}&tz=Asia/Kathmandu`),
    /^tz_not_offered: .*Asia\/Kathmandu.*half an hour/,
  )
  assert.match(await refused('dimension=local_day&tz=UTC'), /^window_required: /)
  assert.match(
    await refused('dimension=local_day&tz=UTC&date_from=2020-01-01&date_to=2020-01-02'),
    /^invalid_window: .*100 days/,
  )
  assert.match(await refused(`dimension=local_day&dimension=day&${WINDOW}&tz=UTC`), /^invalid_dimension: /)
  // Keys have only the dimensions of the contract.
  const key = (await seedKey(house.database, place, { rights: ['report'] })).secret
  const ofKey = await house.call('GET', `/api/v1/report?dimension=local_day&${WINDOW}&tz=UTC`, { key })
  assert.equal(ofKey.statusCode, 400)
  assert.equal(ofKey.json<{ code: string }>().code, 'invalid_dimension')
})
