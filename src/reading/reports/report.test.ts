import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { newId, seedKey, seedOrganization, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import type { MemberReport, Report } from './api.ts'

let house: TestHouse
before(async () => {
  house = await startHouse({}, { quotas: { report: 100_000 } })
})
after(() => house.end())

const NOON = Date.UTC(2026, 2, 2, 12)
const WEEK = 'date_from=2026-03-01&date_to=2026-03-07T23:59:59.999Z'

async function seedPlace() {
  const place = await seedOrganization(house.database)
  const key = (await seedKey(house.database, place, { rights: ['report'] })).secret
  return { ...place, key }
}

async function seedCampaign(org_id: number, name: string, deleted = false): Promise<string> {
  const id = newId()
  const now = new Date().toISOString()
  await house.database.worker.query(
    `insert into campaigns (org_id, id, name, key, destination, source, strict_filter, created_at, updated_at, deleted_at)
    values ($1, $2, $3, $4, '{"type":"redirect","url":"https://a.example"}', '{}', false, $5, $5, $6)`,
    [org_id, id, name, id, now, deleted ? now : null],
  )
  return id
}

async function seedOffer(org_id: number, name: string): Promise<string> {
  const id = newId()
  const now = new Date().toISOString()
  await house.database.worker.query(
    `insert into offers (org_id, id, name, url, payout_types, status, created_at, updated_at, deleted_at)
    values ($1, $2, $3, 'https://a.example', '{}', 'active', $4, $4, $4)`,
    [org_id, id, name, now],
  )
  return id
}

async function seedSpend(
  org_id: number,
  campaign_id: string,
  day: string,
  sub1: string,
  amount: string,
  source = 'manual',
) {
  await house.database.worker.query(
    'insert into ad_spend (org_id, campaign_id, day, sub1, amount, source, updated_at) values ($1, $2, $3, $4, $5, $6, $7)',
    [org_id, campaign_id, day, sub1, amount, source, new Date().toISOString()],
  )
}

async function read(key: string, query: string): Promise<Report> {
  const response = await house.call('GET', `/api/v1/report?${query}`, { key })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<Report>()
}

async function refused(key: string, query: string): Promise<string> {
  const response = await house.call('GET', `/api/v1/report?${query}`, { key })
  assert.equal(response.statusCode, 400, response.body)
  const body = response.json<{ error: string; code: string; hint: string }>()
  assert.deepEqual(Object.keys(body), ['error', 'code', 'hint'])
  return body.code
}

const none = { clicks: 0, landed: 0, started: 0, registered: 0, lead: 0, deposit: 0, ftd: 0, revenue: '0.00' }
/** The fields that only members get, where nothing is counted. */
const unjudged = { revenue_pending: '0.00', approved: 0, pending: 0, rejected: 0 }
const told = {
  cost_of_clicks: '0.00',
  unread_costs: 0,
  ...unjudged,
  conversions: 0,
  conversions_pending: 0,
  conversions_rejected: 0,
  by_type: {},
}

test('a report by campaign has exactly the fields of the interface, ids on the wire and money with two decimals', async () => {
  const { org_id, key } = await seedPlace()
  const [one, gone] = [await seedCampaign(org_id, 'One'), await seedCampaign(org_id, 'Gone', true)]
  await seedCountedClicks(house.database, org_id, [
    { at: NOON, campaign_id: one, stages: 0b1110011, revenue: '10.004' },
    { at: NOON, campaign_id: one, stages: 0b11, revenue: '0.001' },
    { at: NOON, campaign_id: gone, stages: 0b1101 },
    { at: NOON },
    { at: NOON, campaign_id: one, tracked: false, stages: 127, revenue: '500' },
  ])
  await seedSpend(org_id, one, '2026-03-02', '', '1.005')
  const report = await read(key, `dimension=campaign&${WEEK}`)
  const rest = { cost: '0.00', cost_source: null }
  assert.deepEqual(report, {
    dimension: 'campaign',
    window: { from: '2026-03-01T00:00:00.000Z', to: '2026-03-07T23:59:59.999Z' },
    rows: [
      {
        key: toWireId(one),
        label: 'One',
        clicks: 2,
        landed: 2,
        started: 0,
        registered: 0,
        lead: 1,
        deposit: 1,
        ftd: 1,
        revenue: '10.01',
        cost: '1.01',
        cost_source: 'manual',
      },
      { key: '', label: '(none)', ...none, clicks: 1, ...rest },
      { key: toWireId(gone), label: 'Gone', ...none, clicks: 1, started: 1, registered: 1, ...rest },
    ],
    totals: {
      clicks: 4,
      landed: 2,
      started: 1,
      registered: 1,
      lead: 1,
      deposit: 1,
      ftd: 1,
      revenue: '10.01',
      cost: '1.01',
      cost_source: 'manual',
    },
    truncated: false,
  })
})

test('geo and offer have no cost; countries and deleted offers have names', async () => {
  const { org_id, key } = await seedPlace()
  const offer_id = await seedOffer(org_id, 'Casino')
  const campaign_id = await seedCampaign(org_id, 'One')
  await seedSpend(org_id, campaign_id, '2026-03-02', '', '5')
  await seedCountedClicks(house.database, org_id, [
    { at: NOON, offer_id, geo: 'DE' },
    { at: NOON, geo: 'DE' },
    { at: NOON, offer_id, geo: null },
    { at: NOON, offer_id, geo: 'T1' },
  ])
  const geo = await read(key, `dimension=geo&${WEEK}`)
  const labels = geo.rows.map(row => [row.key, row.label, row.clicks])
  assert.deepEqual(labels, [
    ['DE', 'Germany', 2],
    ['', '(none)', 1],
    ['T1', 'T1', 1],
  ])
  const offers = await read(key, `dimension=offer&${WEEK}`)
  assert.deepEqual(
    offers.rows.map(row => [row.key, row.label, row.clicks]),
    [
      [toWireId(offer_id), 'Casino', 3],
      ['', '(none)', 1],
    ],
  )
  for (const part of [...geo.rows, ...offers.rows, geo.totals, offers.totals])
    assert.ok(!('cost' in part) && !('cost_source' in part))
})

test('rows are in the order of clicks and then key, days by date', async () => {
  const { org_id, key } = await seedPlace()
  const day = 86_400_000
  await seedCountedClicks(house.database, org_id, [
    ...['b', 'B', 'a', 'a', null, 'ä'].map(sub1 => ({ at: NOON, sub1 })),
    { at: NOON - day, sub1: 'z' },
    { at: NOON + day, sub1: 'z' },
    { at: NOON + day, sub1: 'z' },
  ])
  const subs = await read(key, `dimension=sub1&${WEEK}`)
  assert.deepEqual(
    subs.rows.map(row => row.key),
    ['z', 'a', '', 'B', 'b', 'ä'],
  )
  const days = await read(key, `dimension=day&${WEEK}`)
  assert.deepEqual(
    days.rows.map(row => [row.key, row.label, row.clicks]),
    [
      ['2026-03-01', '2026-03-01', 1],
      ['2026-03-02', '2026-03-02', 6],
      ['2026-03-03', '2026-03-03', 2],
    ],
  )
})

test('rows are cut at 500 with a warning; totals cover all, and the cut is the same each time', async () => {
  const { org_id, key } = await seedPlace()
  const seeds = Array.from({ length: 501 }, (_, at) => ({
    at: NOON,
    sub1: `ad-${String(at).padStart(3, '0')}`,
    revenue: '1.001',
  }))
  await seedCountedClicks(house.database, org_id, seeds.slice(0, 500))
  const whole = await read(key, `dimension=sub1&${WEEK}`)
  assert.deepEqual([whole.rows.length, whole.truncated, 'code' in whole, 'hint' in whole], [500, false, false, false])
  await seedCountedClicks(house.database, org_id, seeds.slice(500))
  const cut = await read(key, `dimension=sub1&${WEEK}`)
  assert.deepEqual([cut.rows.length, cut.truncated, cut.code], [500, true, 'result_truncated'])
  assert.match(cut.hint ?? '', /campaign_id/)
  assert.deepEqual([cut.totals.clicks, cut.totals.revenue, cut.rows.at(-1)?.key], [501, '501.50', 'ad-499'])
  assert.deepEqual(await read(key, `dimension=sub1&${WEEK}`), cut)
})

describe('spend', () => {
  test('goes to its campaign, day and sub1, without sub1 to (none), and makes rows without clicks', async () => {
    const { org_id, key } = await seedPlace()
    const [one, two] = [await seedCampaign(org_id, 'One'), await seedCampaign(org_id, 'Two')]
    await seedCountedClicks(house.database, org_id, [{ at: NOON, campaign_id: one, sub1: 'ad' }])
    await seedSpend(org_id, one, '2026-03-02', 'ad', '10', 'api')
    await seedSpend(org_id, one, '2026-03-02', '', '5')
    await seedSpend(org_id, two, '2026-03-03', 'other', '2.5')
    await seedSpend(org_id, two, '2026-03-08', '', '900')
    const costs = async (dimension: string, more = '') =>
      (await read(key, `dimension=${dimension}&${WEEK}${more}`)).rows.map(row => [
        row.key,
        row.clicks,
        row.cost,
        row.cost_source,
      ])
    assert.deepEqual(await costs('campaign'), [
      [toWireId(one), 1, '15.00', 'mixed'],
      [toWireId(two), 0, '2.50', 'manual'],
    ])
    assert.deepEqual(await costs('sub1'), [
      ['ad', 1, '10.00', 'api'],
      ['', 0, '5.00', 'manual'],
      ['other', 0, '2.50', 'manual'],
    ])
    assert.deepEqual(await costs('day'), [
      ['2026-03-02', 1, '15.00', 'mixed'],
      ['2026-03-03', 0, '2.50', 'manual'],
    ])
    assert.deepEqual(await costs('campaign', `&campaign_id=${toWireId(two)}`), [[toWireId(two), 0, '2.50', 'manual']])
    const { totals } = await read(key, `dimension=day&${WEEK}`)
    assert.deepEqual([totals.cost, totals.cost_source], ['17.50', 'mixed'])
  })

  test('without a sub1 is not_broken_down for a member, and rows and it add up to the totals', async () => {
    const place = await seedSignedIn(house, { role: 'member' })
    const owner = await seedSignedIn(house, { place, role: 'owner' })
    const key = (await seedKey(house.database, owner, { rights: ['report'] })).secret
    const seen = async (query: string) => {
      const answer = await house.call('GET', `/api/report?${WEEK}&${query}`, { cookie: place.cookie })
      assert.equal(answer.statusCode, 200, answer.body)
      return answer.json<MemberReport>()
    }
    const { org_id } = place
    const [one, two] = [await seedCampaign(org_id, 'One'), await seedCampaign(org_id, 'Two')]
    const subs = Array.from({ length: 500 }, (_, at) => ({ at: NOON, campaign_id: one, sub1: `zone-${at}` }))
    await seedCountedClicks(house.database, org_id, [{ at: NOON, campaign_id: one, revenue: '3' }, ...subs.slice(1)])
    assert.equal((await seen('dimension=sub1')).not_broken_down, null)
    await seedSpend(org_id, one, '2026-03-02', 'zone-7', '2')
    await seedSpend(org_id, one, '2026-03-02', '', '10.005', 'api')
    await seedSpend(org_id, one, '2026-03-03', '', '5', 'manual')
    const { rows, totals, not_broken_down, truncated } = await seen('dimension=sub1')
    assert.deepEqual(not_broken_down, { cost: '15.01', cost_source: 'mixed' })
    const costless = { cost: '0.00', cost_source: null, ...told }
    const missing = { key: '', label: '(none)', ...none, clicks: 1, revenue: '3.00', ...costless, approved: 1 }
    assert.deepEqual(
      rows.find(row => row.key === ''),
      missing,
    )
    assert.deepEqual([rows.length, truncated, totals.cost, totals.cost_source], [500, false, '17.01', 'mixed'])
    // A row beyond 500 is cut, and not_broken_down is still there.
    await seedCountedClicks(house.database, org_id, subs.slice(0, 1))
    const cut = await seen('dimension=sub1')
    assert.deepEqual([cut.rows.length, cut.truncated, cut.totals.clicks], [500, true, 501])
    assert.deepEqual([cut.not_broken_down?.cost, cut.totals.cost], ['15.01', '17.01'])
    assert.equal((await seen(`dimension=sub1&campaign_id=${toWireId(two)}`)).not_broken_down, null)
    for (const dimension of ['campaign', 'geo', 'offer', 'day'])
      assert.equal((await seen(`dimension=${dimension}`)).not_broken_down, null)
    // Spend without any click.
    await seedSpend(org_id, two, '2026-03-04', '', '4')
    const alone = await seen(`dimension=sub1&campaign_id=${toWireId(two)}`)
    assert.deepEqual(alone.rows, [])
    assert.deepEqual(alone.totals, { ...none, ...costless, cost: '4.00', cost_source: 'manual' })
    assert.deepEqual(alone.not_broken_down, { cost: '4.00', cost_source: 'manual' })
    // Keys get the contract's answer.
    const promised = await read(key, `dimension=sub1&${WEEK}&campaign_id=${toWireId(two)}`)
    const row = { key: '', label: '(none)', ...none, cost: '4.00', cost_source: 'manual' as const }
    assert.deepEqual([promised.rows, 'not_broken_down' in promised], [[row], false])
  })

  test('of a day counts when the window covers more than its first millisecond', async () => {
    const { org_id, key } = await seedPlace()
    const one = await seedCampaign(org_id, 'One')
    await seedSpend(org_id, one, '2026-03-02', '', '7')
    const cost = async (from: string, to: string) =>
      (await read(key, `dimension=day&date_from=${from}&date_to=${to}`)).totals.cost
    assert.equal(await cost('2026-03-01', '2026-03-02'), '0.00')
    assert.equal(await cost('2026-03-02', '2026-03-02'), '0.00')
    assert.equal(await cost('2026-03-01', '2026-03-02T00:00:00.001Z'), '7.00')
    assert.equal(await cost('2026-03-02T23:59:59.999Z', '2026-03-03'), '7.00')
    assert.equal(await cost('2026-03-02T15:00:00Z', '2026-03-02T15:00:00Z'), '7.00')
    assert.equal(await cost('2026-03-03', '2026-03-04'), '0.00')
  })
})

describe('what is asked', () => {
  test('is refused in the order dimension, bounds, window, width', async () => {
    const { key } = await seedPlace()
    const codes: [string, string][] = [
      ['', 'invalid_dimension'],
      ['dimension=', 'invalid_dimension'],
      ['dimension=Campaign&date_from=x', 'invalid_dimension'],
      [`dimension=geo&dimension=geo&${WEEK}`, 'invalid_dimension'],
      ['dimension=day', 'window_required'],
      ['dimension=day&date_from=2026-03-01', 'window_required'],
      ['dimension=day&date_to=nonsense', 'window_required'],
      ['dimension=day&date_from=&date_to=2026-03-01', 'window_required'],
      ['dimension=day&date_from=2026-02-30&date_to=2026-03-01', 'invalid_window'],
      ['dimension=day&date_from=2026-03-01&date_to=tomorrow', 'invalid_window'],
      ['dimension=day&date_from=2026-03-02&date_to=2026-03-01', 'invalid_window'],
      ['dimension=day&date_from=2026-03-01&date_from=2026-03-01&date_to=2026-03-02', 'invalid_window'],
      ['dimension=day&date_from=2026-01-01&date_to=2026-04-03T00:00:00.001Z', 'window_too_wide'],
    ]
    for (const [query, code] of codes) assert.equal(await refused(key, query), code, query)
    assert.equal((await read(key, 'dimension=day&date_from=2026-01-01&date_to=2026-04-03')).truncated, false)
  })

  test('a zone counts, and a + that became a space is understood', async () => {
    const { key } = await seedPlace()
    const { window } = await read(key, 'dimension=day&date_from=2026-03-01T02:00:00+02:00&date_to=2026-03-02')
    assert.deepEqual(window, { from: '2026-03-01T00:00:00.000Z', to: '2026-03-02T00:00:00.000Z' })
  })

  test('both bounds are exact to the millisecond, today and in the past, folded or not', async () => {
    const { org_id, key } = await seedPlace()
    for (const at of [NOON, Date.now() - 60_000]) {
      await seedCountedClicks(
        house.database,
        org_id,
        [-2, -1, 0, 1, 2].map(ms => ({ at: at + ms })),
      )
      const clicks = async (from: number, to: number) => {
        const window = `date_from=${new Date(from).toISOString()}&date_to=${new Date(to).toISOString()}`
        return (await read(key, `dimension=geo&${window}`)).totals.clicks
      }
      assert.deepEqual([await clicks(at, at), await clicks(at - 1, at), await clicks(at - 1, at + 1)], [1, 2, 3])
      assert.deepEqual([await clicks(at + 1, at + 3_600_000), await clicks(at - 3_600_000, at - 2)], [2, 1])
    }
  })

  test('a bound finer than a millisecond excludes the clicks of that millisecond', async () => {
    const { org_id, key } = await seedPlace()
    await seedCountedClicks(house.database, org_id, [{ at: NOON }])
    const clicks = async (from: string, to: string) =>
      (await read(key, `dimension=geo&date_from=2026-03-02T${from}Z&date_to=2026-03-02T${to}Z`)).totals.clicks
    assert.equal(await clicks('12:00:00.0000001', '13:00:00'), 0)
    assert.equal(await clicks('12:00:00.0000001', '12:00:00.0000002'), 0)
    assert.equal(await clicks('11:00:00', '12:00:00.0009'), 1)
  })

  test('windows at the ends of time are answered like any other', async () => {
    const { org_id, key } = await seedPlace()
    await seedCountedClicks(house.database, org_id, [{ at: 0 }, { at: Date.UTC(9999, 11, 31, 23, 59, 59, 999) }])
    const windows: [string, number][] = [
      ['date_from=0000-01-01&date_to=0000-02-01', 0],
      ['date_from=1969-12-01T10:00:00Z&date_to=1970-01-01', 1],
      ['date_from=9999-12-01T10:00:00Z&date_to=9999-12-31T23:59:59.999Z', 1],
      ['date_from=9999-12-31T10:00:00-14:00&date_to=9999-12-31T23:59:59-14:00', 0],
    ]
    for (const [window, clicks] of windows)
      for (const dimension of ['campaign', 'geo', 'day'])
        assert.equal((await read(key, `dimension=${dimension}&${window}`)).totals.clicks, clicks, window)
  })

  test('money is rounded once, at the end, wherever it was summed', async () => {
    const { org_id, key } = await seedPlace()
    await seedCountedClicks(
      house.database,
      org_id,
      [0, 1, 2].map(ms => ({ at: NOON + ms, revenue: '0.004', sub1: `${ms}` })),
    )
    for (const window of ['date_from=2026-03-02T12:00:00Z&date_to=2026-03-02T12:00:00.002Z', WEEK]) {
      const { rows, totals } = await read(key, `dimension=geo&${window}`)
      assert.deepEqual([rows[0]?.revenue, totals.revenue], ['0.01', '0.01'])
      const apart = await read(key, `dimension=sub1&${window}`)
      assert.deepEqual([apart.rows.map(row => row.revenue).join(), apart.totals.revenue], ['0.00,0.00,0.00', '0.01'])
    }
  })
})

describe('who asks', () => {
  test('a key restricted to campaigns sees their rows, totals and spend, and an empty slice for others', async () => {
    const { org_id, user_id, key } = await seedPlace()
    const [one, two, three] = [
      await seedCampaign(org_id, '1'),
      await seedCampaign(org_id, '2'),
      await seedCampaign(org_id, '3'),
    ]
    const restricted = (
      await seedKey(house.database, { org_id, user_id }, { rights: ['report'], campaigns: [one, two] })
    ).secret
    await seedCountedClicks(house.database, org_id, [
      { at: NOON, campaign_id: one, revenue: '1' },
      { at: NOON, campaign_id: two, revenue: '2' },
      { at: NOON, campaign_id: three, revenue: '4' },
      { at: NOON, revenue: '8' },
    ])
    await seedSpend(org_id, one, '2026-03-02', '', '3')
    await seedSpend(org_id, three, '2026-03-02', '', '30')
    for (const dimension of ['campaign', 'geo', 'sub1', 'offer', 'day']) {
      const mine = await read(restricted, `dimension=${dimension}&${WEEK}`)
      assert.deepEqual(
        [mine.totals.clicks, mine.totals.revenue, mine.totals.cost ?? '3.00'],
        [2, '3.00', '3.00'],
        dimension,
      )
      assert.equal(
        mine.rows.reduce((sum, row) => sum + row.clicks, 0),
        2,
      )
      const narrowed = await read(
        restricted,
        `dimension=${dimension}&${WEEK}&campaign_id=${toWireId(two).toUpperCase()}`,
      )
      assert.deepEqual([narrowed.totals.clicks, narrowed.totals.revenue], [1, '2.00'])
      for (const outside of [toWireId(three), toWireId(newId()), '', 'garbage', '{campaign_id}', '0'.repeat(26)]) {
        const { rows, totals, truncated } = await read(
          restricted,
          `dimension=${dimension}&${WEEK}&campaign_id=${outside}`,
        )
        const cost = dimension === 'geo' || dimension === 'offer' ? {} : { cost: '0.00', cost_source: null }
        assert.deepEqual({ rows, totals, truncated }, { rows: [], totals: { ...none, ...cost }, truncated: false })
      }
      assert.equal((await read(key, `dimension=${dimension}&${WEEK}&campaign_id=${'0'.repeat(26)}`)).totals.clicks, 0)
      assert.equal((await read(key, `dimension=${dimension}&${WEEK}&campaign_id=${toWireId(three)}`)).totals.clicks, 1)
    }
  })

  test('another organization is as if it were not there', async () => {
    const [one, other] = [await seedPlace(), await seedPlace()]
    const campaign_id = await seedCampaign(other.org_id, 'Theirs')
    await seedCountedClicks(house.database, other.org_id, [{ at: NOON, campaign_id }])
    await seedSpend(other.org_id, campaign_id, '2026-03-02', '', '3')
    for (const dimension of ['campaign', 'geo', 'sub1', 'offer', 'day'])
      for (const filter of ['', `&campaign_id=${toWireId(campaign_id)}`])
        assert.deepEqual((await read(one.key, `dimension=${dimension}&${WEEK}${filter}`)).rows, [])
  })

  test('a member reads the same report with a session, and a key needs the right', async () => {
    const place = await seedSignedIn(house, { role: 'member' })
    const owner = await seedSignedIn(house, { place, role: 'owner' })
    const key = (await seedKey(house.database, owner, { rights: ['report'] })).secret
    await seedCountedClicks(house.database, place.org_id, [{ at: NOON }, { at: NOON }])
    const seen = await house.call('GET', `/api/report?dimension=geo&${WEEK}`, { cookie: place.cookie })
    assert.equal(seen.statusCode, 200, seen.body)
    const report = await read(key, `dimension=geo&${WEEK}`)
    const more = <T extends object>(row: T) => ({ ...row, ...told })
    assert.deepEqual(seen.json<MemberReport>(), {
      ...report,
      rows: report.rows.map(more),
      totals: more(report.totals),
      not_broken_down: null,
    })
    assert.equal(seen.json<Report>().totals.clicks, 2)
    const without = (await seedKey(house.database, owner, { rights: ['clicks'] })).secret
    const refusal = await house.call('GET', `/api/v1/report?dimension=geo&${WEEK}`, { key: without })
    assert.deepEqual([refusal.statusCode, refusal.data()['code']], [403, 'api_key_read_not_granted'])
    const byCookie = await house.call('GET', `/api/v1/report?dimension=geo&${WEEK}`, { cookie: place.cookie })
    assert.deepEqual([byCookie.statusCode, byCookie.data()['code']], [401, 'api_key_required'])
    const byKey = await house.call('GET', `/api/report?dimension=geo&${WEEK}`, { key })
    assert.deepEqual([byKey.statusCode, byKey.data()['code']], [403, 'api_key_resource_forbidden'])
  })

  test('reading writes nothing', async () => {
    const { org_id, key } = await seedPlace()
    await seedCountedClicks(house.database, org_id, [{ at: NOON }])
    const state = async () =>
      (await house.database.reads.query('select xmin::text, id from clicks where org_id = $1', [org_id])).rows
    const before = await state()
    for (const dimension of ['campaign', 'geo', 'sub1', 'offer', 'day'])
      await read(key, `dimension=${dimension}&${WEEK}`)
    assert.deepEqual(await state(), before)
  })
})
