// Checks the recount that Explore's answers are compared with against figures worked out by hand.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, before, test } from 'node:test'
import { ExploreQuestion } from '../src/contract/explore.ts'
import { MEASURES } from '../src/contract/explore-measures.ts'
import { newId, toWireId } from '../src/contract/ids.ts'
import { type FreshDatabase, freshDatabase } from './support/database.ts'
import { recountExplore } from './support/explore-recount.ts'

let fresh: FreshDatabase
after(() => fresh.drop())

const ORG = randomInt(1, 2 ** 31 - 1)
const [SPRING, AUTUMN, SOURCE, FUNNEL] = [newId(), newId(), newId(), newId()] as [string, string, string, string]
const [ANNA, BEN, CARLA] = [newId(), newId(), newId()]
const USUAL = {
  stages: 1,
  status: 0,
  tracked: true,
  test: false,
  suppressed_delivery: false,
  campaign_id: SPRING,
  geo: 'DE',
}
/** In the night when clocks in Kyiv go from 3 to 4, at 01:00 UTC. */
const at = (time: string) => newId(Date.parse(`2026-03-29T${time}Z`))
const WINDOW = { date_from: '2026-03-29', date_to: '2026-03-29T23:59:59.999Z' }

const CLICKS = [
  {
    id: at('00:59:59.999'),
    visitor_id: ANNA,
    visitor_is_new: true,
    sub1: 'a',
    revenue: '12.5',
    approved: 1,
    stages: 19,
    status: 4,
    cost: '0.25',
    cost_counts: true,
  },
  { id: at('01:00:00.000'), visitor_id: ANNA, visitor_is_new: false, sub1: 'a', cost: null, cost_counts: true },
  {
    id: at('01:00:00.001'),
    visitor_id: BEN,
    visitor_is_new: true,
    sub1: 'Ünder',
    geo: 'AT',
    cost: '0.000000001',
    cost_counts: true,
  },
  {
    id: at('05:30:00.000'),
    visitor_id: BEN,
    visitor_is_new: false,
    sub1: 'b',
    geo: null,
    campaign_id: AUTUMN,
    pending: 1,
    revenue_pending: '7',
  },
  {
    id: at('12:00:00.000'),
    visitor_id: CARLA,
    visitor_is_new: true,
    sub1: 'b',
    campaign_id: AUTUMN,
    rejected: 3,
    approved: 1,
    revenue: '0.000001',
    cost: '9',
    cost_counts: false,
  },
  { id: at('23:59:59.999'), visitor_id: null, visitor_is_new: null, sub1: null, campaign_id: null },
  // None of these is in the window: untracked, a millisecond late, of another organization.
  { id: at('12:00:00.000'), tracked: false, sub1: 'a' },
  { id: newId(Date.parse('2026-03-30T00:00:00.000Z')), sub1: 'a' },
  { id: at('12:00:00.000'), org_id: ORG === 1 ? 2 : 1, sub1: 'a' },
]

before(async () => {
  fresh = await freshDatabase()
  const rows = CLICKS.map(click => ({ org_id: ORG, ...USUAL, ...click }))
  const { worker } = fresh.database
  await worker.query('insert into clicks select * from json_populate_recordset(null::clicks, $1)', [
    JSON.stringify(rows),
  ])
  const campaign = {
    org_id: ORG,
    source: {},
    strict_filter: false,
    sites: [],
    browser_types: [],
    tag_ids: [],
    status: 'active',
    created_at: '2026-01-01',
    updated_at: '2026-01-01',
  }
  const campaigns = [
    {
      ...campaign,
      id: SPRING,
      name: 'Spring',
      key: newId(),
      traffic_source_id: SOURCE,
      destination: { type: 'redirect', url: 'https://a.example/' },
    },
    { ...campaign, id: AUTUMN, name: 'Autumn', key: newId(), destination: { type: 'funnel', funnel_id: FUNNEL } },
  ]
  await worker.query('insert into campaigns select * from json_populate_recordset(null::campaigns, $1)', [
    JSON.stringify(campaigns),
  ])
})

const ask = (question: object) =>
  recountExplore(fresh.database.worker, ORG, ExploreQuestion.parse({ ...WINDOW, ...question }))
/** Keys with their clicks, and the rows below them. */
type KeyTree = readonly [key: string | null, clicks: number | undefined, ...below: KeyTree[]]
const keyTree = (rows: Awaited<ReturnType<typeof ask>>['rows']): KeyTree[] =>
  rows.map(({ key, is_other, clicks, children = [] }) => [is_other ? 'OTHER' : key, clicks, ...keyTree(children)])
const by = async (...dimensions: string[]) =>
  keyTree((await ask({ levels: dimensions.map(dimension => ({ dimension })) })).rows)
const where = async (filter: object) =>
  (await ask({ levels: [{ dimension: 'sub1' }], filters: [filter] })).totals.clicks

test('the totals are of the tracked clicks in the window', async () => {
  const { totals } = await ask({ levels: [{ dimension: 'sub1' }], measures: MEASURES })
  assert.deepEqual(totals, {
    clicks: 6,
    new_visitors: 3,
    landed: 1,
    started: 0,
    registered: 0,
    lead: 1,
    deposit: 0,
    ftd: 0,
    // The clicks were stored without the events of their conversions.
    conversions: 0,
    conversions_pending: 0,
    conversions_rejected: 0,
    approved: 2,
    pending: 1,
    rejected: 3,
    unread_costs: 1,
    clicks_without_cost: 4,
    revenue_without_cost: '0.000001',
    revenue: '12.500001',
    revenue_pending: '7.00',
    cost: '0.250000001',
    profit: '12.250000999',
    epc: '2.083334',
    cpc: '0.041667',
    cpa: null,
    cr: 0,
    roi: 12_250_000_999 / 250_000_001,
    approval_rate: 0.4,
    unique_visitors: 3,
  })
})

test('keys are times of the zone, objects, texts and statuses', async () => {
  const [spring, autumn] = [toWireId(SPRING), toWireId(AUTUMN)]
  assert.deepEqual(await by('campaign'), [
    [spring, 3],
    [autumn, 2],
    [null, 1],
  ])
  assert.deepEqual(await by('source'), [
    [toWireId(SOURCE), 3],
    [null, 3],
  ])
  assert.deepEqual(await by('funnel'), [
    [null, 4],
    [toWireId(FUNNEL), 2],
  ])
  assert.deepEqual(await by('is_new'), [
    ['false', 3],
    ['true', 3],
  ])
  assert.deepEqual(await by('status'), [
    ['clicked', 5],
    ['lead', 1],
  ])
  assert.deepEqual(await by('campaign', 'geo'), [
    [spring, 3, ['DE', 2], ['AT', 1]],
    [autumn, 2, ['DE', 1], [null, 1]],
    [null, 1, ['DE', 1]],
  ])
  const clocks = async (dimension: string, time_zone: string) =>
    keyTree((await ask({ levels: [{ dimension }], time_zone })).rows)
  assert.deepEqual(await clocks('hour', 'Europe/Kyiv'), [
    ['02', 2],
    ['04', 2],
    ['08', 1],
    ['15', 1],
  ])
  assert.deepEqual(await clocks('day', 'Europe/Kyiv'), [
    ['2026-03-29', 5],
    ['2026-03-30', 1],
  ])
  assert.deepEqual(await clocks('weekday', 'Europe/Kyiv'), [
    ['1', 1],
    ['7', 5],
  ])
  assert.deepEqual(await clocks('weekday_hour', 'Asia/Kathmandu'), [
    ['1-05', 1],
    ['7-06', 3],
    ['7-11', 1],
    ['7-17', 1],
  ])
})

test('each operator matches its values, and a missing value equals none of them', async () => {
  const cases: [filter: object, clicks: number][] = [
    [{ dimension: 'sub1', op: 'is', values: ['a'] }, 2],
    [{ dimension: 'sub1', op: 'is_not', values: ['a'] }, 4],
    [{ dimension: 'sub1', op: 'in', values: ['a', 'b', ''] }, 5],
    [{ dimension: 'sub1', op: 'not_in', values: ['a', 'b'] }, 2],
    [{ dimension: 'sub1', op: 'is', values: [''] }, 1],
    [{ dimension: 'sub1', op: 'contains', values: ['üND', 'B'] }, 3],
    [{ dimension: 'sub1', op: 'not_contains', values: ['ünd'] }, 5],
    [{ dimension: 'sub1', op: 'contains', values: ['%'] }, 0],
    [{ dimension: 'geo', op: 'is_empty' }, 1],
    [{ dimension: 'geo', op: 'is_filled' }, 5],
    [{ dimension: 'campaign', op: 'is', values: [toWireId(AUTUMN)] }, 2],
    [{ dimension: 'campaign', op: 'not_in', values: [toWireId(AUTUMN), toWireId(SPRING)] }, 1],
    [{ dimension: 'campaign', op: 'is', values: ['nobody'] }, 0],
    [{ dimension: 'source', op: 'is_empty' }, 3],
    [{ dimension: 'hour', op: 'in', values: ['01', '23'] }, 3],
    [{ dimension: 'weekday', op: 'is', values: ['7'] }, 6],
    [{ dimension: 'status', op: 'is', values: ['lead'] }, 1],
    [{ dimension: 'is_new', op: 'is_not', values: ['true'] }, 3],
  ]
  for (const [filter, clicks] of cases) assert.equal(await where(filter), clicks, JSON.stringify(filter))
})

test('the rows beyond the first ones are one row: the parent minus those rows, with its visitors counted again', async () => {
  const measures = ['clicks', 'revenue', 'unique_visitors']
  const { rows, totals, distinct } = await ask({
    levels: [
      { dimension: 'hour', top: 2 },
      { dimension: 'sub1', top: 1 },
    ],
    measures,
  })
  const [first, second, other, ...none] = rows
  assert.deepEqual([first?.key, first?.clicks, second?.key, second?.clicks, none.length], ['00', 1, '01', 2, 0])
  assert.deepEqual(keyTree(second?.children ?? []), [
    ['a', 1],
    ['OTHER', 1],
  ])
  // Of the other hours' three clicks, one has no visitor, and one visitor was counted before.
  assert.deepEqual(other, {
    key: null,
    is_other: true,
    count_of_other: 3,
    clicks: 3,
    revenue: '0.000001',
    unique_visitors: 2,
  })
  assert.deepEqual([totals.unique_visitors, distinct], [3, [5, 3]])
})

test('a branch is opened by its keys and continued after the rows already shown', async () => {
  const levels = [{ dimension: 'campaign' }, { dimension: 'sub1', top: 1, sort: { by: 'key', descending: true } }]
  const within = [toWireId(SPRING)]
  const { rows, totals, distinct } = await ask({ levels, within })
  assert.deepEqual(
    [keyTree(rows), totals.clicks, distinct],
    [
      [
        ['Ünder', 1],
        ['OTHER', 2],
      ],
      3,
      [2],
    ],
  )
  assert.equal(rows[1]?.count_of_other, 1)
  assert.deepEqual(keyTree((await ask({ levels, within, after: 1 })).rows), [['a', 2]])
  assert.deepEqual(keyTree((await ask({ levels, within: [null] })).rows), [[null, 1]])
  assert.deepEqual(keyTree((await ask({ levels, within: [toWireId(newId())] })).rows), [])
})

test('rows are sorted by a measure, rows without a value last, and ties by their keys', async () => {
  const sorted = async (by: string, descending: boolean) =>
    keyTree((await ask({ levels: [{ dimension: 'sub1' }], sort: { by, descending } })).rows).map(([key]) => key)
  assert.deepEqual(await sorted('approval_rate', true), ['a', 'b', 'Ünder', null])
  assert.deepEqual(await sorted('approval_rate', false), ['b', 'a', 'Ünder', null])
  assert.deepEqual(await sorted('cost', true), ['a', 'Ünder', 'b', null])
  assert.deepEqual(await sorted('key', false), ['a', 'b', 'Ünder', null])
  assert.deepEqual(await sorted('key', true), ['Ünder', 'b', 'a', null])
  const stages = await ask({ levels: [{ dimension: 'status', sort: { by: 'key', descending: true } }] })
  assert.deepEqual(keyTree(stages.rows), [
    ['lead', 1],
    ['clicked', 5],
  ])
})

test('the period before is as long, ends where this one begins, and has the same keys', async () => {
  const later = { date_from: '2026-03-29T01:00:00.000Z', date_to: '2026-03-29T01:59:59.999Z' }
  const levels = [{ dimension: 'sub1', top: 1 }]
  const { rows, totals } = await ask({ ...later, levels, compare: 'before', measures: ['clicks', 'revenue'] })
  assert.deepEqual(rows, [
    { key: 'a', is_other: false, clicks: 1, revenue: '0.00', before: { clicks: 1, revenue: '12.50' } },
    {
      key: null,
      is_other: true,
      count_of_other: 1,
      clicks: 1,
      revenue: '0.00',
      before: { clicks: 0, revenue: '0.00' },
    },
  ])
  assert.deepEqual(totals, { clicks: 2, revenue: '0.00', before: { clicks: 1, revenue: '12.50' } })
})

test('a window without clicks has only zeros', async () => {
  const { rows, totals, distinct } = await ask({
    date_from: '2020-01-01',
    date_to: '2020-01-02',
    levels: [{ dimension: 'geo' }, { dimension: 'day' }],
  })
  assert.deepEqual([rows, totals.clicks, totals.revenue, totals.cr, distinct], [[], 0, '0.00', null, [0, 0]])
})
