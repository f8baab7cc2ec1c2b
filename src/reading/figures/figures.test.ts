// The figures of landings, funnels and click flows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { newId, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { openFolder } from '../reports/fold.ts'
import { countLandings } from './landings.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

const NOON = Date.UTC(2026, 2, 2, 12)
const DAY = 86_400_000
const WEEK = 'date_from=2026-03-01&date_to=2026-03-07'

const UNCONVERTED = { conversions: 0, conversions_pending: 0, conversions_rejected: 0, by_type: {} }
const NOTHING = { landed: 0, started: 0, registered: 0, lead: 0, deposit: 0, ftd: 0, ...UNCONVERTED }
const GOALS = { goal: ['lead'], own: [] }

const read = (as: { cookie: string }, path: string) => house.call('GET', `/api/figures/${path}`, { cookie: as.cookie })

async function rowsOf(as: { cookie: string }, path: string): Promise<Record<string, unknown>[]> {
  const reply = await read(as, path)
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.data()['rows'] as Record<string, unknown>[]
}

async function land(org_id: number, landing_id: string, ids: readonly string[]) {
  await house.database.worker.query('update clicks set landing_id = $3 where org_id = $1 and id = any($2::uuid[])', [
    org_id,
    ids,
    landing_id,
  ])
}

test('landings show the figures of their tracked clicks of these days', async () => {
  const owner = await seedSignedIn(house)
  const [one, two] = [newId(), newId()]
  const first = Date.UTC(2026, 2, 1)
  const clicks = await seedCountedClicks(house.database, owner.org_id, [
    { at: first, stages: 0b1_0011, revenue: '12.505' },
    { at: first + 7 * DAY - 1, stages: 0b100_0001, revenue: '3' },
    { at: NOON, tracked: false, revenue: '7' },
    { at: first - 1, revenue: '100' },
    { at: first + 7 * DAY, revenue: '100' },
    { at: NOON },
    { at: NOON, revenue: '50' },
  ])
  const ids = clicks.map(({ id }) => id)
  await land(owner.org_id, one, ids.slice(0, 5))
  await land(owner.org_id, two, ids.slice(5, 6))
  const stranger = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  for (const as of [owner, member]) {
    const answer = (await read(as, `landings?${WEEK}`)).data()
    assert.deepEqual(answer, {
      is_counted: true,
      date_from: '2026-03-01',
      rows: [
        { key: toWireId(one), clicks: 2, ...NOTHING, landed: 1, lead: 1, ftd: 1, revenue: '15.51' },
        { key: toWireId(two), clicks: 1, ...NOTHING, revenue: '0.00' },
      ],
    })
  }
  assert.deepEqual(await rowsOf(stranger, `landings?${WEEK}`), [])
})

test('landings are counted from the first day whose clicks are still kept', async () => {
  const owner = await seedSignedIn(house)
  const landing = newId()
  const [click] = await seedCountedClicks(house.database, owner.org_id, [{ at: NOON }])
  await land(owner.org_id, landing, [click?.id ?? ''])
  const kept = firstIdAt(Date.UTC(2026, 2, 1))
  await house.database.worker.query('insert into dropped_clicks values ($1, now())', [kept])
  try {
    const { date_from, rows } = (await read(owner, 'landings?date_from=2026-02-20&date_to=2026-03-03')).data()
    assert.deepEqual([date_from, (rows as unknown[]).length], ['2026-03-01', 1])
    const gone = (await read(owner, 'landings?date_from=2026-02-01&date_to=2026-02-03')).data()
    assert.deepEqual([gone['is_counted'], gone['rows']], [true, []])
  } finally {
    await house.database.worker.query('delete from dropped_clicks where before_id = $1', [kept])
  }
})

test('with too many clicks nothing is counted, instead of a part', async () => {
  const { org_id } = await seedSignedIn(house)
  const clicks = await seedCountedClicks(house.database, org_id, [
    { at: NOON },
    { at: NOON },
    { at: NOON, tracked: false },
  ])
  await land(
    org_id,
    newId(),
    clicks.map(({ id }) => id),
  )
  const day = { from: NOON, to: NOON }
  assert.equal(await countLandings(house.database.reads, org_id, day, GOALS, 2), undefined)
  const [row] = (await countLandings(house.database.reads, org_id, day, GOALS, 3)) ?? []
  assert.equal(row?.['clicks'], '2')
})

test('funnels and click flows show the figures of the campaigns that lead to them now', async () => {
  const owner = await seedSignedIn(house)
  const [funnel, flow, idle] = [newId(), newId(), newId()]
  const campaign = async (destination: object, deleted = false) => {
    const [id, now] = [newId(), new Date().toISOString()]
    await house.database.worker.query(
      `insert into campaigns (org_id, id, name, key, destination, source, strict_filter, created_at, updated_at, deleted_at)
      values ($1, $2, 'C', $3, $4, '{}', false, $5, $5, $6)`,
      [owner.org_id, id, id, JSON.stringify(destination), now, deleted ? now : null],
    )
    return id
  }
  const [one, two] = [
    await campaign({ type: 'funnel', funnel_id: funnel }),
    await campaign({ type: 'funnel', funnel_id: funnel }),
  ]
  const three = await campaign({ type: 'click_flow', click_flow_id: flow })
  const deleted = await campaign({ type: 'funnel', funnel_id: funnel }, true)
  const plain = await campaign({ type: 'redirect', url: 'https://a.example/' })
  await campaign({ type: 'funnel', funnel_id: idle })
  const first = Date.UTC(2026, 2, 1)
  await seedCountedClicks(house.database, owner.org_id, [
    { at: first, campaign_id: one, stages: 0b1_0001, revenue: '10' },
    { at: first + 7 * DAY - 1, campaign_id: two, revenue: '2.5' },
    { at: first - 1, campaign_id: two, revenue: '100' },
    { at: NOON, campaign_id: three, stages: 0b100_0001, revenue: '4' },
    { at: NOON, campaign_id: deleted, revenue: '100' },
    { at: NOON, campaign_id: plain, revenue: '100' },
    { at: NOON, revenue: '100' },
  ])
  const folder = openFolder({ database: house.database, log: pino({ level: 'silent' }) })
  // The same before and after folding.
  for (const fold of [false, true]) {
    if (fold) await folder.foldAll()
    assert.deepEqual(await rowsOf(owner, `destinations?type=funnel&${WEEK}`), [
      { key: toWireId(funnel), clicks: 2, ...NOTHING, lead: 1, revenue: '12.50', campaigns: 2 },
      { key: toWireId(idle), clicks: 0, ...NOTHING, revenue: '0.00', campaigns: 1 },
    ])
    assert.deepEqual(await rowsOf(owner, `destinations?type=click_flow&${WEEK}`), [
      { key: toWireId(flow), clicks: 1, ...NOTHING, ftd: 1, revenue: '4.00', campaigns: 1 },
    ])
  }
  await folder.close()
  const stranger = await seedSignedIn(house)
  assert.deepEqual(await rowsOf(stranger, `destinations?type=funnel&${WEEK}`), [])
  assert.deepEqual(await rowsOf(owner, 'destinations?type=funnel&date_from=1950-01-01&date_to=1950-01-02'), [])
})

test('the days must be valid, in order and at most 92, and only signed-in people may ask', async () => {
  const owner = await seedSignedIn(house)
  const { secret: key } = await seedKey(house.database, owner, { rights: ['report', 'clicks'] })
  for (const path of ['landings?', 'destinations?type=funnel&']) {
    for (const [days, code] of [
      ['date_from=2026-03-02&date_to=2026-03-01', 'invalid_window'],
      ['date_from=2026-01-01&date_to=2026-12-31', 'window_too_wide'],
      ['date_from=2026-03-02', undefined],
      ['date_from=2026-03-02T00:00:00&date_to=2026-03-02', undefined],
    ] as const) {
      const reply = await read(owner, path + days)
      assert.deepEqual([reply.statusCode, reply.data()['code']], [400, code], path + days)
    }
    assert.equal((await read(owner, `${path}date_from=2026-01-01&date_to=2026-04-02`)).statusCode, 200)
    const byKey = await house.call('GET', `/api/figures/${path}${WEEK}`, { key })
    assert.deepEqual([byKey.statusCode, byKey.data()['code']], [403, 'api_key_resource_forbidden'])
    assert.equal((await house.call('GET', `/api/figures/${path}${WEEK}`)).statusCode, 401)
  }
  assert.equal((await read(owner, `destinations?type=redirect&${WEEK}`)).statusCode, 400)
})
