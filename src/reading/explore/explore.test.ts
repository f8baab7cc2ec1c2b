import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { seedExplored, seedUnsealed } from '../../../tests/support/explored.ts'
import { seedKey, seedOrganization, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedCampaign } from '../../../tests/support/visits.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import type { ExploreAnswer } from '../../contract/explore-answer.ts'
import { sealAll } from '../segments/seal.ts'

let house: TestHouse
before(async () => {
  // The house does not seal, merge or check in the background: the test does.
  house = await startHouse({ ROLE: 'serve' })
})
after(() => house.end())

const NOON = Date.UTC(2026, 2, 2, 12)
const WEEK = { date_from: '2026-03-01', date_to: '2026-03-07T23:59:59.999Z' }
const MINUTE = 60_000

const post = (cookie: string, body: object) => house.call('POST', '/api/explore', { cookie, body })

async function ask(cookie: string, question: object): Promise<ExploreAnswer> {
  const response = await post(cookie, { ...WEEK, ...question })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<ExploreAnswer>()
}

test('clicks are broken down by levels, each with its first rows and one for all others, with their figures', async () => {
  const { org_id, cookie } = await seedSignedIn(house)
  await house.call('PUT', '/api/event-settings', { cookie, body: { names: {}, goal: ['lead'] } })
  const { id } = await seedCampaign(house.database, org_id)
  const converted = [
    { type: 'lead', status: 'approved' },
    // No conversions: one is not of the goal, the others are not approved.
    { type: 'ftd', status: 'approved' },
    { type: 'lead', status: 'pending' },
    { type: 'lead', status: 'rejected' },
  ] as const
  const paid = { stages: 0b1100011, revenue: '12.5', approved: 1, converted }
  await seedExplored(house.database, org_id, [
    { at: NOON, campaign: id, geo: 'DE', os: 'iOS', ...paid, cost: '0.5', cost_counts: true },
    { at: NOON + 1, campaign: id, geo: 'DE', os: 'Android', cost: '0.25', cost_counts: true },
    { at: NOON + 2, campaign: id, geo: 'FR', os: 'iOS' },
    { at: NOON + 3, campaign: id, geo: null, os: 'iOS', tracked: false },
    { at: NOON + 4, campaign: id, geo: null, os: 'iOS' },
  ])
  const levels = [{ dimension: 'geo', top: 1 }, { dimension: 'os' }]
  const counted = ['conversions', 'conversions_pending', 'conversions_rejected', 'cr', 'cpa']
  const withPending = await ask(cookie, { levels, measures: counted, count_pending: true })
  const [known, two] = [0, 2].map(clicks => ({ clicks_without_cost: clicks, revenue_without_cost: '0.00' }))
  const held = { conversions: 2, conversions_pending: 1, conversions_rejected: 1, cr: 0.5, cpa: '0.375' }
  assert.deepEqual(withPending.totals, { ...held, ...two })
  const ofFtd = await ask(cookie, { levels, measures: counted, goal: 'ftd' })
  assert.deepEqual(ofFtd.totals, {
    ...two,
    conversions: 1,
    conversions_pending: 0,
    conversions_rejected: 0,
    cr: 0.25,
    cpa: '0.75',
  })
  const measures = ['clicks', 'ftd', 'revenue', 'cost', 'profit', 'cr', 'epc', 'roi', 'approval_rate', 'cpa']
  const { rows, totals, distinct, window } = await ask(cookie, { levels, measures })
  assert.deepEqual(window, { from: '2026-03-01T00:00:00.000Z', to: '2026-03-07T23:59:59.999Z' })
  assert.deepEqual(distinct, [3, 2])
  const none = { ftd: 0, revenue: '0.00', cr: 0, epc: '0.00', approval_rate: null, cpa: null }
  const de = { revenue: '12.50', cost: '0.75', profit: '11.75', approval_rate: 1, cpa: '0.75' }
  assert.deepEqual(totals, { clicks: 4, ftd: 1, ...de, ...two, cr: 0.25, epc: '3.125', roi: 11.75 / 0.75 })
  assert.deepEqual(rows, [
    {
      key: 'DE',
      label: 'Germany',
      is_other: false,
      clicks: 2,
      ftd: 1,
      ...de,
      ...known,
      cr: 0.5,
      epc: '6.25',
      roi: 11.75 / 0.75,
      children: [
        {
          key: 'Android',
          label: 'Android',
          is_other: false,
          ...none,
          ...known,
          clicks: 1,
          cost: '0.25',
          profit: '-0.25',
          roi: -1,
        },
        {
          key: 'iOS',
          label: 'iOS',
          is_other: false,
          ...known,
          clicks: 1,
          ftd: 1,
          revenue: '12.50',
          cost: '0.50',
          profit: '12.00',
          cr: 1,
          epc: '12.50',
          roi: 24,
          approval_rate: 1,
          cpa: '0.50',
        },
      ],
    },
    {
      key: null,
      label: '(other)',
      is_other: true,
      count_of_other: 2,
      ...none,
      ...two,
      clicks: 2,
      cost: null,
      profit: null,
      roi: null,
    },
  ])
  const { rows: named } = await ask(cookie, { levels: [{ dimension: 'campaign' }], measures: ['clicks', 'epc'] })
  assert.deepEqual(named, [{ key: toWireId(id), label: 'A campaign', is_other: false, clicks: 4, epc: '3.125' }])
})

test('a row is opened by its keys, and the next page continues after the rows that were shown', async () => {
  const { org_id, cookie } = await seedSignedIn(house)
  const clicks = ['a', 'a', 'a', 'b', 'b', 'c', 'd'].map((sub1, at) => ({ at: NOON + at, geo: 'DE', sub1 }))
  await seedExplored(house.database, org_id, [...clicks, { at: NOON, geo: 'FR', sub1: 'a' }])
  const question = {
    levels: [{ dimension: 'geo' }, { dimension: 'sub1', top: 2 }],
    measures: ['clicks'],
    within: ['DE'],
  }
  const shown = (answer: ExploreAnswer) => answer.rows.map(row => [row.key, row.clicks, row.count_of_other])
  const first = await ask(cookie, question)
  assert.deepEqual(shown(first), [
    ['a', 3, undefined],
    ['b', 2, undefined],
    [null, 2, 2],
  ])
  assert.deepEqual(first.totals, { clicks: 7 })
  assert.deepEqual(shown(await ask(cookie, { ...question, after: 2 })), [
    ['c', 1, undefined],
    ['d', 1, undefined],
  ])
  assert.deepEqual(shown(await ask(cookie, { ...question, after: 1 })), [
    ['b', 2, undefined],
    ['c', 1, undefined],
    [null, 1, 1],
  ])
})

test('the period before is counted over the same keys', async () => {
  const { org_id, cookie } = await seedSignedIn(house)
  const week = 7 * 24 * 60 * MINUTE
  await seedExplored(house.database, org_id, [
    { at: NOON, sub1: 'a' },
    { at: NOON, sub1: 'a' },
    { at: NOON, sub1: 'b' },
    { at: NOON - week, sub1: 'a' },
    { at: NOON - week, sub1: 'b' },
    { at: NOON - week, sub1: 'gone' },
    { at: NOON - 2 * week, sub1: 'a' },
  ])
  const answer = await ask(cookie, { levels: [{ dimension: 'sub1', top: 1 }], measures: ['clicks'], compare: 'before' })
  assert.deepEqual(answer.window_before, { from: '2026-02-22T00:00:00.000Z', to: '2026-02-28T23:59:59.999Z' })
  assert.deepEqual(answer.totals, { clicks: 3, before: { clicks: 3 } })
  assert.deepEqual(
    answer.rows.map(({ key, clicks, before: then }) => [key, clicks, then]),
    [
      ['a', 2, { clicks: 1 }],
      [null, 1, { clicks: 2 }],
    ],
  )
})

test('another organization’s clicks, names and ids are as if they were not there', async () => {
  const [one, other] = [await seedSignedIn(house), await seedSignedIn(house)]
  const { id } = await seedCampaign(house.database, other.org_id)
  await seedExplored(house.database, other.org_id, [{ at: NOON, campaign: id, sub1: 'secret' }])
  const levels = [{ dimension: 'sub1' }]
  const filters = [{ dimension: 'campaign', op: 'is', values: [toWireId(id)] }]
  for (const question of [{ levels }, { levels, filters }]) assert.deepEqual((await ask(one.cookie, question)).rows, [])
  for (const query of [`dimension=sub1&date_from=2026-03-01&date_to=2026-03-08`, 'dimension=campaign']) {
    const values = await house.call('GET', `/api/explore/values?${query}`, { cookie: one.cookie })
    assert.deepEqual(values.json(), { values: [] })
  }
})

test('a file has a line for each row without rows below it, and no text in it is a formula', async () => {
  const { org_id, cookie } = await seedSignedIn(house)
  await seedExplored(house.database, org_id, [
    { at: NOON, geo: 'DE', sub1: '=1+1' },
    { at: NOON, geo: 'DE', sub1: '@a,"b"' },
    { at: NOON, geo: 'FR', sub1: null, cost: '1', cost_counts: true },
    { at: NOON, geo: 'FR', sub1: null },
  ])
  const body = { ...WEEK, levels: [{ dimension: 'geo' }, { dimension: 'sub1' }], measures: ['clicks', 'profit', 'roi'] }
  const file = await house.call('POST', '/api/explore/csv', { cookie, body })
  assert.equal(file.statusCode, 200, file.body)
  assert.deepEqual(file.body.split('\r\n'), [
    '"geo","geo_label","sub1","sub1_label","clicks","profit","roi"',
    `"DE","Germany","'=1+1","'=1+1",1,,`,
    `"DE","Germany","'@a,""b""","'@a,""b""",1,,`,
    '"FR","France","","(none)",2,-1.00,-1',
  ])
})

test('values for filters: texts by clicks, objects by name, fixed words as they are', async () => {
  const { org_id, cookie } = await seedSignedIn(house)
  const { id } = await seedCampaign(house.database, org_id)
  await seedExplored(house.database, org_id, [
    { at: NOON, sub1: 'Shoes' },
    { at: NOON, sub1: 'shoe rack' },
    { at: NOON, sub1: 'shoe rack' },
    { at: NOON, sub1: 'hat' },
  ])
  const values = async (query: string) =>
    (await house.call('GET', `/api/explore/values?${query}`, { cookie })).json<{ values: unknown }>().values
  assert.deepEqual(await values('dimension=sub1&search=shoe&date_from=2026-03-01&date_to=2026-03-08'), [
    { key: 'shoe rack', label: 'shoe rack', clicks: 2 },
    { key: 'Shoes', label: 'Shoes', clicks: 1 },
  ])
  assert.deepEqual(await values('dimension=campaign&search=CAMP'), [
    { key: toWireId(id), label: 'A campaign', clicks: null },
  ])
  assert.deepEqual(await values('dimension=is_new&search=new'), [{ key: 'true', label: 'New', clicks: null }])
})

test('each invalid question is refused, and the error names the field', async () => {
  const { cookie } = await seedSignedIn(house)
  const levels = [{ dimension: 'geo' }]
  const filter = (dimension: string, op: string, ...values: string[]) => ({
    levels,
    filters: [{ dimension, op, values }],
  })
  const refusals: [object, string, RegExp][] = [
    [{}, 'invalid_question', /levels/],
    [{ levels: [] }, 'invalid_question', /levels/],
    [{ levels: [{ dimension: 'ip' }] }, 'invalid_question', /levels\.0\.dimension/],
    [{ levels: [...levels, ...levels] }, 'invalid_question', /levels\.1\.dimension/],
    [{ levels, time_zone: 'Nowhere/None' }, 'invalid_question', /time_zone/],
    [{ levels, sort: { by: 'unique_visitors', descending: true } }, 'invalid_question', /sort\.by/],
    [{ levels, within: ['DE'] }, 'invalid_question', /within/],
    [{ levels, after: 1 }, 'invalid_question', /after/],
    [{ levels: [{ dimension: 'day' }], compare: 'before' }, 'invalid_question', /compare/],
    [{ levels, colour: 'red' }, 'invalid_question', /colour/],
    [filter('campaign', 'contains', 'a'), 'invalid_question', /filters\.0\.op/],
    [filter('geo', 'is'), 'invalid_question', /filters\.0\.values/],
    [filter('geo', 'is_empty', 'a'), 'invalid_question', /filters\.0\.values/],
    [filter('campaign', 'is', 'no id'), 'invalid_question', /filters\.0\.values\.0: is not an id/],
    [filter('hour', 'in', '24'), 'invalid_question', /filters\.0\.values\.0/],
    [filter('weekday_hour', 'in', '0-00'), 'invalid_question', /filters\.0\.values\.0/],
    [filter('day', 'in', '2026-13-01'), 'invalid_question', /filters\.0\.values\.0/],
    [filter('status', 'is', 'rich'), 'invalid_question', /filters\.0\.values\.0/],
    [{ levels, date_to: undefined }, 'window_required', /window/],
    [{ levels, date_to: 'soon' }, 'invalid_window', /date_to/],
    [{ levels, date_to: '2026-02-01' }, 'invalid_window', /date_to/],
    [{ levels, date_from: '2024-01-01' }, 'window_too_wide', /wide/],
  ]
  for (const [question, code, words] of refusals) {
    for (const route of ['/api/explore', '/api/explore/csv']) {
      const response = await house.call('POST', route, { cookie, body: { ...WEEK, ...question } })
      const body = response.data()
      assert.deepEqual(
        [response.statusCode, body['code']],
        [400, code],
        `${JSON.stringify(question)}: ${response.body}`,
      )
      assert.match(String(body['error']), words)
    }
  }
})

test('workspaces with more questions than may wait keep no later workspace out, and nobody waits for all their questions', async () => {
  const greedy = await Promise.all(Array.from({ length: 5 }, () => seedSignedIn(house)))
  const late = await seedSignedIn(house)
  const answered: string[] = []
  const refused: string[] = []
  const put = async (name: string, cookie: string) => {
    const reply = await post(cookie, { ...WEEK, levels: [{ dimension: 'geo' }] })
    if (reply.statusCode === 200) return void answered.push(name)
    const { error, code, hint } = reply.data()
    assert.deepEqual([reply.statusCode, code, reply.headers['retry-after']], [503, 'explore_busy', '5'], reply.body)
    assert.deepEqual(
      [error, hint],
      ['4 questions of this workspace are waiting', 'Ask again when one of them is answered.'],
    )
    refused.push(name)
  }
  const ask = (name: string, cookie: string, count: number) => Array.from({ length: count }, () => put(name, cookie))
  const client = await house.database.worker.connect()
  try {
    await client.query('begin')
    // The present question waits for a lock on this table, so that the others queue behind it.
    await client.query('lock table segments in access exclusive mode')
    const race = greedy.flatMap(({ cookie }, at) => ask(`greedy ${at}`, cookie, 8))
    // One question is being answered, and four wait for each workspace.
    await eventually('the rest is refused', () => refused.length === 5 * 8 - 5 * 4 - 1)
    race.push(...ask('late', late.cookie, 5))
    await eventually('four of the latecomer wait', () => refused.includes('late'))
    assert.equal(answered.length, 0)
    await client.query('commit')
    await Promise.all(race)
  } finally {
    client.release(true)
  }
  assert.equal(answered.length, 5 * 4 + 1 + 4)
  // Besides the present question, one of each greedy workspace comes before the latecomer's first. Answers may arrive slightly out of order.
  assert.ok(answered.indexOf('late') <= 10, answered.join(', '))
})

test('neither a stranger nor a key may ask', async () => {
  const body = { ...WEEK, levels: [{ dimension: 'geo' }] }
  const response = await house.call('POST', '/api/explore', { body, headers: { origin: 'http://localhost:8080' } })
  assert.equal(response.statusCode, 401)
  const { secret } = await seedKey(house.database, await seedOrganization(house.database), { rights: ['report'] })
  const byKey = await house.call('POST', '/api/explore', { body, key: secret })
  assert.deepEqual([byKey.statusCode, byKey.data()['code']], [403, 'api_key_resource_forbidden'])
})

test('lost or broken local files cost time, but no figure', async () => {
  const { org_id, cookie } = await seedSignedIn(house)
  await seedExplored(house.database, org_id, [{ at: NOON, geo: 'DE' }])
  const question = { levels: [{ dimension: 'geo' }], measures: ['clicks'] }
  const { rows } = await ask(cookie, question)
  await rm(`${house.ground.config.dataDir}/explore`, { recursive: true })
  assert.deepEqual((await ask(cookie, question)).rows, rows)
})

test('committed clicks are in the next answer, and sealing changes no figure', async () => {
  const { org_id, cookie } = await seedSignedIn(house)
  await seedExplored(house.database, org_id, [{ at: NOON, geo: 'DE' }])
  const stored = [
    { at: NOON + 1, geo: 'FR', stages: 3 },
    { at: NOON + 2, geo: 'DE' },
  ]
  await seedUnsealed(house.database, org_id, stored)
  const question = { levels: [{ dimension: 'geo' }], measures: ['clicks', 'landed'] }
  const shown = async () => (await ask(cookie, question)).rows.map(({ key, clicks, landed }) => [key, clicks, landed])
  const wanted = [
    ['DE', 2, 0],
    ['FR', 1, 1],
  ]
  assert.deepEqual(await shown(), wanted)
  await sealAll(house.database.worker, house.ground.secrets)
  const { rows } = await house.database.worker.query('select 1 from click_sheet where org_id = $1', [org_id])
  assert.deepEqual(rows, [])
  assert.deepEqual(await shown(), wanted)
})
