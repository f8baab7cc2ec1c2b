// Filters on figures, and a column for each type of events.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ExploredClick, seedExplored } from '../../../tests/support/explored.ts'
import { newId, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { aClick, seedCampaign } from '../../../tests/support/visits.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import type { ExploreAnswer } from '../../contract/explore-answer.ts'
import { storeClicks } from '../../intake/clicks/store.ts'
import { openFolder } from '../reports/fold.ts'
import { checkSegments } from '../segments/check.ts'
import { sealAll } from '../segments/seal.ts'

let house: TestHouse
before(async () => {
  // The house does not seal, merge or check in the background: the test does.
  house = await startHouse({ ROLE: 'serve' })
})
after(() => house.end())

const NOON = Date.UTC(2026, 2, 2, 12)
const WEEK = { date_from: '2026-03-01', date_to: '2026-03-07T23:59:59.999Z' }

async function ask({ cookie }: Pick<SignedIn, 'cookie'>, question: object): Promise<ExploreAnswer> {
  const response = await house.call('POST', '/api/explore', { cookie, body: { ...WEEK, ...question } })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<ExploreAnswer>()
}

/** Clicks of a zone at ten cents each; the first one earns. */
const zone = (geo: string, sub1: string | null, count: number, revenue: string, at = NOON): ExploredClick[] =>
  Array.from({ length: count }, (_, nth) => ({
    at: at + nth,
    geo,
    sub1,
    cost: '0.1',
    cost_counts: true,
    ...(nth === 0 && { revenue, stages: 3 }),
  }))

/** Two countries with losing zones and others. */
async function seedZones(): Promise<SignedIn> {
  const owner = await seedSignedIn(house)
  await seedExplored(house.database, owner.org_id, [
    ...zone('DE', 'bad', 10, '0.5'),
    ...zone('DE', 'good', 10, '3'),
    ...zone('DE', 'small', 2, '0'),
    ...zone('FR', 'worse', 12, '0.3'),
    ...zone('FR', 'even', 10, '0.8'),
    ...zone('PL', 'good', 20, '9'),
    ...zone('PL', null, 1, '9'),
    // The week before, in zones that match and others.
    ...zone('DE', 'bad', 4, '1', NOON - 7 * DAY_MS),
    ...zone('DE', 'good', 5, '1', NOON - 7 * DAY_MS),
    ...zone('DE', 'ended', 3, '1', NOON - 7 * DAY_MS),
  ])
  return owner
}
const LEVELS = [{ dimension: 'geo' }, { dimension: 'sub1' }]
const LOSING = [
  { measure: 'roi', op: 'lt', value: '-0.2' },
  { measure: 'clicks', op: 'gt', value: '5' },
]
const MEASURES = ['clicks', 'profit', 'roi']
const brief = ({ rows }: ExploreAnswer) =>
  rows.map(({ key, clicks, profit, count_of_other, children = [] }) => [
    key,
    clicks,
    profit,
    ...(count_of_other === undefined ? [] : [count_of_other]),
    ...children.map(({ key: below, clicks: count }) => [below, count]),
  ])

test('rows of the last level that match every filter stay, and all sums are of these rows', async () => {
  const owner = await seedZones()
  const answer = await ask(owner, { levels: LEVELS, measures: MEASURES, having: LOSING })
  assert.deepEqual(brief(answer), [
    ['FR', 12, '-0.90', ['worse', 12]],
    ['DE', 10, '-0.50', ['bad', 10]],
  ])
  assert.deepEqual(answer.distinct, [2, 2])
  assert.deepEqual([answer.totals.clicks, answer.totals.profit], [22, '-1.40'])
  const whole = await ask(owner, { levels: LEVELS, measures: MEASURES })
  assert.deepEqual(answer.totals_without_having, whole.totals)
  assert.ok(!('totals_without_having' in whole))
})

test('other is the rest of the matching rows, and an opened row continues among them', async () => {
  const owner = await seedZones()
  const having = [{ measure: 'profit', op: 'lte', value: '0' }]
  const question = { levels: [{ dimension: 'sub1', top: 1 }], measures: MEASURES, having }
  const cut = await ask(owner, question)
  assert.deepEqual(brief(cut), [
    ['worse', 12, '-0.90'],
    [null, 22, '-0.90', 3],
  ])
  assert.deepEqual([cut.distinct, cut.totals.clicks], [[4], 34])
  const next = await ask(owner, { ...question, within: [], after: 1 })
  assert.deepEqual(brief(next), [
    ['bad', 10, '-0.50'],
    [null, 12, '-0.40', 2],
  ])
  const opened = await ask(owner, { levels: LEVELS, measures: MEASURES, having, within: ['FR'] })
  assert.deepEqual(brief(opened), [
    ['worse', 12, '-0.90'],
    ['even', 10, '-0.20'],
  ])
  assert.deepEqual([opened.totals.clicks, opened.totals_without_having?.clicks], [22, 22])
  // The last level decides, even where it is not in the answer.
  const first = await ask(owner, { levels: LEVELS, measures: MEASURES, having, within: [] })
  assert.deepEqual(brief(first), [
    ['FR', 22, '-1.10'],
    ['DE', 12, '-0.70'],
  ])
})

test('a level has filters of its own, which its whole rows must match', async () => {
  const owner = await seedZones()
  const [geo, sub1] = LEVELS
  const levels = [{ ...geo, having: [{ measure: 'profit', op: 'gt', value: '0' }] }, sub1]
  const having = [{ measure: 'roi', op: 'lt', value: '0' }]
  // Germany's losing rows, though as a whole it has earned more.
  assert.deepEqual(brief(await ask(owner, { levels, measures: MEASURES, having })), [
    ['DE', 12, '-0.70', ['bad', 10], ['small', 2]],
  ])
})

test('the period before is that of the matching rows', async () => {
  const owner = await seedZones()
  const { rows, totals, totals_without_having } = await ask(owner, {
    levels: LEVELS,
    measures: MEASURES,
    having: LOSING,
    compare: 'before',
  })
  assert.deepEqual(
    rows.map(({ key, before }) => [key, before?.clicks, before?.profit]),
    [
      ['FR', 0, '0.00'],
      ['DE', 4, '0.60'],
    ],
  )
  assert.deepEqual([totals.before?.clicks, totals_without_having?.before?.clicks], [4, 12])
})

test('a row that matches its level’s filter has all its clicks of the period before, also those of rows below that have none now', async () => {
  const owner = await seedZones()
  const [geo, sub1] = LEVELS
  const levels = [{ ...geo, having: [{ measure: 'profit', op: 'gt', value: '0' }] }, sub1]
  const question = { levels, measures: MEASURES, compare: 'before' }
  const { rows, totals } = await ask(owner, question)
  const before = rows.map(row => [row.key, row.before?.clicks, row.children?.map(child => child.before?.clicks)])
  assert.deepEqual(before, [
    ['DE', 12, [4, 5, 0]],
    ['PL', 0, [0, 0]],
  ])
  assert.equal(totals.before?.clicks, 12)
  // The filter of a level above the opened row is not applied.
  const opened = await ask(owner, { ...question, within: ['DE'] })
  assert.deepEqual(
    opened.rows.map(row => [row.key, row.before?.clicks]),
    rows.find(({ key }) => key === 'DE')?.children?.map(child => [child.key, child.before?.clicks]),
  )
  assert.equal(opened.totals.before?.clicks, 12)
})

test('figures are compared exactly, and an unknown figure matches no filter', async () => {
  const owner = await seedSignedIn(house)
  await seedExplored(house.database, owner.org_id, [
    // A third, which equals no decimal.
    ...zone('DE', 'third', 3, '0.1'),
    ...zone('DE', 'free', 1, '0.1').map(click => ({ ...click, cost: null, cost_counts: null })),
    ...zone('DE', 'exact', 1, '0.123456'),
  ])
  const left = async (measure: string, op: string, value: string) => {
    const { rows } = await ask(owner, { levels: [{ dimension: 'sub1' }], having: [{ measure, op, value }] })
    return rows.map(({ key }) => String(key)).toSorted()
  }
  assert.deepEqual(await left('epc', 'gt', '0.033333'), ['exact', 'free', 'third'])
  assert.deepEqual(await left('epc', 'lte', '0.033334'), ['third'])
  assert.deepEqual(await left('epc', 'eq', '0.033333'), [])
  assert.deepEqual(await left('epc', 'eq', '0.123456'), ['exact'])
  assert.deepEqual(await left('cpc', 'gte', '0.1'), ['exact', 'third'])
  assert.deepEqual(await left('cpc', 'gt', '0.1'), [])
  assert.deepEqual(await left('roi', 'ne', '5'), ['exact', 'third'])
  assert.deepEqual(await left('cpa', 'ne', '0'), [])
})

test('spend without clicks is a row like any other', async () => {
  const owner = await seedSignedIn(house)
  const { id } = await seedCampaign(house.database, owner.org_id)
  await seedExplored(house.database, owner.org_id, [{ at: NOON, campaign: id, sub1: 'here', geo: 'DE' }])
  await house.database.worker.query(
    `insert into ad_spend (org_id, day, campaign_id, sub1, amount, source, updated_at)
    values ($1, '2026-03-02', $2, 'nowhere', 5, 'manual', now()), ($1, '2026-03-02', $2, 'here', 1, 'manual', now())`,
    [owner.org_id, id],
  )
  const having = [{ measure: 'roi', op: 'lte', value: '-1' }]
  const levels = [{ dimension: 'campaign' }, { dimension: 'geo' }]
  const answer = await ask(owner, { levels, measures: ['clicks', 'cost', 'roi'], having })
  const [campaign] = answer.rows
  assert.deepEqual([campaign?.key, campaign?.cost], [toWireId(id), '6.00'])
  assert.deepEqual(
    campaign?.children?.map(({ key, clicks, cost }) => [key, clicks, cost]),
    [
      ['DE', 1, '1.00'],
      ['', 0, '5.00'],
    ],
  )
  const clicked = await ask(owner, {
    levels,
    measures: ['clicks', 'cost', 'roi'],
    having: [...having, { measure: 'clicks', op: 'gte', value: '1' }],
  })
  assert.deepEqual([clicked.totals.cost, clicked.totals_without_having?.cost], ['1.00', '6.00'])
})

test('a file has the matching rows, and a view stores the filters', async () => {
  const { cookie } = await seedZones()
  const question = { levels: LEVELS, measures: MEASURES, having: LOSING }
  const { body } = await house.call('POST', '/api/explore/csv', { cookie, body: { ...WEEK, ...question } })
  assert.deepEqual(
    body.split('\r\n').map(line => line.split(',')[2]),
    ['"sub1"', '"worse"', '"bad"'],
  )
  const saved = await house.call('POST', '/api/explore-views', { cookie, body: { name: 'Losing', question } })
  assert.equal(saved.statusCode, 201, saved.body)
  assert.deepEqual(saved.data()['question'], question)
})

test('each type of events is a column with its approved conversions, in rows, totals, sorts, filters and files', async () => {
  const owner = await seedSignedIn(house)
  const [lead, first] = [
    { type: 'lead', status: 'approved' },
    { type: 'custom_1', status: 'approved' },
  ] as const
  await seedExplored(house.database, owner.org_id, [
    { at: NOON, geo: 'DE', converted: [lead, lead, first] },
    { at: NOON, geo: 'DE', converted: [{ type: 'lead', status: 'pending' }] },
    { at: NOON, geo: 'FR', converted: [lead, { type: 'custom_1', status: 'rejected' }] },
    { at: NOON, geo: 'PL' },
    { at: NOON, geo: 'PL', tracked: false, converted: [lead] },
  ])
  const measures = ['events_lead', 'events_custom_1', 'events_purchase']
  const levels = [{ dimension: 'geo', top: 2 }]
  const sort = { by: 'events_lead', descending: true }
  const { rows, totals, event_types } = await ask(owner, { levels, measures, sort })
  const told = (of: object) => measures.map(name => (of as Record<string, unknown>)[name])
  assert.deepEqual(
    [...rows.map(told), told(totals)],
    [
      [2, 1, 0],
      [1, 0, 0],
      [0, 0, 0],
      [3, 1, 0],
    ],
  )
  assert.deepEqual(event_types, ['lead', 'custom_1'])
  const having = [{ measure: 'events_custom_1', op: 'eq', value: '0' }]
  assert.equal((await ask(owner, { levels, measures, having })).totals.events_lead, 1)
  const usual = await ask(owner, { levels })
  assert.deepEqual(
    Object.keys(usual.totals).filter(name => name.startsWith('events_')),
    [],
  )
  const columns = ['events_custom_1', { name: 'Leads each', formula: 'events_lead / clicks' }]
  const { body } = await house.call('POST', '/api/explore/csv', {
    cookie: owner.cookie,
    body: { ...WEEK, levels, sort, measures: [...measures, 'clicks'], columns },
  })
  assert.deepEqual(body.split('\r\n')[1], '"DE","Germany",1,1')
  const stranger = await seedSignedIn(house)
  assert.deepEqual((await ask(stranger, { levels, measures })).event_types, [])
})

test('the revenue of each type of events is a column, which every verdict changes and by which rows are sorted and filtered', async () => {
  const owner = await seedSignedIn(house)
  const click = { ...aClick(house.ground.secrets.clickKey, owner.org_id, { sub1: 'zone' }), id: newId(Date.now()) }
  const other = { ...aClick(house.ground.secrets.clickKey, owner.org_id, { sub1: 'other' }), id: newId(Date.now()) }
  await storeClicks(house.database.clicks, [click, other])
  const call = async (path: string, body: object) => {
    const response = await house.call('POST', path, { cookie: owner.cookie, body })
    assert.ok(response.statusCode < 300, response.body)
    return String(response.data()['eventId'] ?? response.data()['event_id'] ?? response.data()['id'])
  }
  const convert = (type: string, payout: string, of = click) =>
    call('/api/events', { clickId: toWireId(of.id), type, payout, nonce: payout })
  const today = { date_from: dayOf(Date.now() - DAY_MS), date_to: new Date(Date.now() + DAY_MS).toISOString() }
  const measures = ['revenue_ftd', 'revenue_lead', 'revenue', 'revenue_purchase']
  const question = {
    ...today,
    levels: [{ dimension: 'sub1' }],
    measures,
    sort: { by: 'revenue_ftd', descending: true },
  }
  const told = async (more: object = {}) =>
    (await ask(owner, { ...question, ...more })).rows.map(row => [
      row.key,
      row.revenue_ftd,
      row.revenue_lead,
      row.revenue,
    ])
  const sold = await convert('ftd', '40')
  const led = await convert('lead', '2.5')
  await convert('ftd', '0.000001', other)
  const first = [
    ['zone', '40.00', '2.50', '42.50'],
    ['other', '0.000001', '0.00', '0.000001'],
  ]
  assert.deepEqual(await told(), first)
  await sealAll(house.database.worker, house.ground.secrets)
  assert.deepEqual(await told(), first, 'sealed')
  const revise = (event: string, body: object) => call(`/api/events/${event}/revisions`, body)
  await revise(sold, { status: 'approved', amount: '55.25' })
  assert.deepEqual((await told())[0], ['zone', '55.25', '2.50', '57.75'])
  await revise(led, { status: 'pending' })
  await sealAll(house.database.worker, house.ground.secrets)
  assert.deepEqual((await told())[0], ['zone', '55.25', '0.00', '55.25'])
  await revise(sold, { status: 'refunded' })
  await revise(led, { status: 'approved' })
  assert.deepEqual((await told())[1], ['zone', '0.00', '2.50', '2.50'])
  assert.deepEqual(await told({ having: [{ measure: 'revenue_lead', op: 'gte', value: '2.5' }] }), [
    ['zone', '0.00', '2.50', '2.50'],
  ])
  const { body } = await house.call('POST', '/api/explore/csv', {
    cookie: owner.cookie,
    body: { ...question, columns: ['revenue_lead', { name: 'Share', formula: 'revenue_lead / revenue' }] },
  })
  assert.equal(body.split('\r\n')[2], '"zone","zone",2.50,1')
})

test('facts that an earlier version wrote without amounts never count as 0: their days are rebuilt, and where that is impossible there is no figure', async () => {
  const owner = await seedSignedIn(house)
  const { org_id } = owner
  const click = { ...aClick(house.ground.secrets.clickKey, org_id, { sub1: 'zone' }), id: newId(Date.now()) }
  await storeClicks(house.database.clicks, [click])
  await sealAll(house.database.worker, house.ground.secrets)
  const body = { clickId: toWireId(click.id), type: 'ftd', payout: '40' }
  assert.equal((await house.call('POST', '/api/events', { cookie: owner.cookie, body })).statusCode, 201)
  const { worker } = house.database
  await worker.query(`update click_sheet set conversions = '{"ftd:1,0,0"}' where org_id = $1 and changes is not null`, [
    org_id,
  ])
  const question = {
    date_from: dayOf(Date.now() - DAY_MS),
    date_to: new Date(Date.now() + DAY_MS).toISOString(),
    levels: [{ dimension: 'sub1' }],
    measures: ['revenue', 'revenue_ftd', 'revenue_lead', 'events_ftd'],
  }
  const told = async () => {
    const { totals, incomplete_days } = await ask(owner, question)
    return [totals.revenue, totals.revenue_ftd, totals.revenue_lead, totals.events_ftd, incomplete_days]
  }
  const right = ['40.00', '40.00', '0.00', 1, []]
  assert.deepEqual(await told(), right, 'waiting, it is told from the clicks')
  await sealAll(worker, house.ground.secrets)
  assert.deepEqual(await told(), right, 'sealed, it is told from the clicks')
  const lacking = async () => {
    const text = 'select sum(without_amounts)::int as rows from segments where org_id = $1'
    return (await worker.query<{ rows: number }>(text, [org_id])).rows[0]?.rows
  }
  assert.equal(await lacking(), 1)
  // As if the check had found nothing: then no day is named.
  await worker.query('update segments set without_amounts = 0 where org_id = $1', [org_id])
  assert.deepEqual(await told(), ['40.00', null, null, 1, []])
  const having = [{ measure: 'revenue_ftd', op: 'ne', value: '1' }]
  assert.deepEqual((await ask(owner, { ...question, having })).rows, [])
  await worker.query('update segments set without_amounts = 1 where org_id = $1', [org_id])
  const folder = openFolder(house.ground, DAY_MS)
  await folder.foldAll()
  await folder.close()
  await checkSegments(house.ground)
  assert.equal(await lacking(), 0)
  assert.deepEqual(await told(), right, 'built anew')
})

test('an invalid filter on a figure is refused, and the error names the field', async () => {
  const { cookie } = await seedSignedIn(house)
  const question = (one: object, more: object = {}) => ({
    ...WEEK,
    levels: [{ dimension: 'geo' }],
    having: [one],
    ...more,
  })
  const roi = { measure: 'roi', op: 'lt', value: '-0.2' }
  const refusals: [object, RegExp][] = [
    [question({ ...roi, measure: 'luck' }), /having\.0\.measure/],
    [question({ ...roi, measure: 'events_luck' }), /having\.0\.measure/],
    [question(roi, { measures: ['clicks'] }), /having\.0\.measure: must be among the measures/],
    [question({ ...roi, measure: 'events_lead' }), /having\.0\.measure: must be among the measures/],
    [question({ ...roi, op: 'like' }), /having\.0\.op/],
    ...['', 'x', '1e3', '1,5', '.5', '1234567890', '0.1234567'].map((value): [object, RegExp] => [
      question({ ...roi, value }),
      /having\.0\.value: must be a decimal string/,
    ]),
    [question({ ...roi, value: -0.2 }), /having\.0\.value/],
    [question({ ...roi, times: 2 }), /having\.0/],
    [question(roi, { having: Array(13).fill(roi) }), /having/],
    [
      question(roi, { measures: ['clicks'], having: [], levels: [{ dimension: 'geo', having: [roi] }] }),
      /levels\.0\.having\.0/,
    ],
  ]
  for (const [body, words] of refusals)
    for (const route of ['/api/explore', '/api/explore/csv']) {
      const response = await house.call('POST', route, { cookie, body })
      assert.deepEqual([response.statusCode, response.data()['code']], [400, 'invalid_question'], response.body)
      assert.match(String(response.data()['error']), words)
    }
})
