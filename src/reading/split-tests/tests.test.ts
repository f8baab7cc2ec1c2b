// The split tests of funnels and click flows count visitors by the variant of their first click, and name a winner by rules that are shown beforehand.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { parted } from '../../../tests/support/graphs.ts'
import { newId, seedKey, type TestHouse, toWireId, useHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { seedTested, twoLandings, visitsOf } from '../../../tests/support/split-tests.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { DAY_MS } from '../../contract/days.ts'
import { judge } from './verdict.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

test('visitors count once, by their first landing; bots, tests, left-out clicks and rejected conversions do not', async () => {
  const room = await seedTested(house)
  const { a, b, funnel, campaign } = await twoLandings(room)
  const both = newId()
  await room.visited(campaign, [
    ...visitsOf(150, { landing: a, days_ago: 9 }),
    ...visitsOf(50, { landing: a, days_ago: 9, converted_after_days: 0.1, payout: '10' }),
    ...visitsOf(120, { landing: b, days_ago: 9 }),
    ...visitsOf(80, { landing: b, days_ago: 9, converted_after_days: 0.1, payout: '10' }),
    { landing: a, days_ago: 8, visitor: both },
    { landing: b, days_ago: 7, visitor: both, converted_after_days: 0.1, payout: '10' },
    { landing: a, days_ago: 9, converted_after_days: 0.1, payout: '10', rejected: true },
    ...visitsOf(30, { landing: a, days_ago: 9, more: { tracked: false } }),
    ...visitsOf(30, { landing: a, days_ago: 9, more: { left_out: 'sub1=zone' } }),
    ...visitsOf(30, { landing: a, days_ago: 12 }),
  ])
  const [one, ...others] = await room.testsOf(`funnels/${funnel}`)
  assert.ok(one !== undefined && others.length === 0, 'a funnel with one offer has one test')
  assert.deepEqual([one.id, one.of, one.node, one.heavy_tail], ['landings', 'landings', null, false])
  assert.deepEqual(one.rules, { expected_loss: 0.01, days: 7, conversions: 100 })
  assert.deepEqual(
    one.variants.map(({ id, name, weight, visitors, matured, conversions }) => [
      id,
      name,
      weight,
      visitors,
      matured,
      conversions,
    ]),
    [
      [a, 'one', 60, 202, 202, 51],
      [b, 'two', 40, 200, 200, 80],
    ],
  )
  const [first, second] = one.variants
  assert.ok(first && second)
  const figures = await house.call('POST', '/api/split-tests/figures', {
    ...room.owner,
    body: { variants: one.variants.map(({ matured, conversions }) => ({ visitors: matured, conversions })) },
  })
  assert.deepEqual(
    one.variants.map(({ rate }) => rate),
    figures.data()['variants'],
  )
  assert.ok(second.epv.from < second.epv.mean && second.epv.mean < second.epv.to && second.epv.best > 0.99)
  assert.ok(Math.abs(second.epv.mean - 10 * second.rate.mean) < 1e-9)
  // Neither variant has a hundred conversions.
  assert.deepEqual([one.state, one.winner], ['running', null])
  assert.ok((one.needs.visitors ?? 0) > 100)
})

test('visitors who may still convert wait, so a landing that converts after three days is not punished', async () => {
  const room = await seedTested(house)
  const { a, b, funnel, campaign } = await twoLandings(room)
  await room.visited(campaign, [
    ...visitsOf(50, { landing: a, days_ago: 9 }),
    ...visitsOf(50, { landing: a, days_ago: 9, converted_after_days: 3 }),
    ...visitsOf(50, { landing: b, days_ago: 9 }),
    ...visitsOf(50, { landing: b, days_ago: 9, converted_after_days: 3 }),
    ...visitsOf(400, { landing: a, days_ago: 1 }),
  ])
  const [one] = await room.testsOf(`funnels/${funnel}`)
  assert.deepEqual(
    one?.variants.map(({ visitors, matured, conversions }) => [visitors, matured, conversions]),
    [
      [500, 100, 50],
      [100, 100, 50],
    ],
  )
})

test('a test is ready after a week, a hundred conversions each and little left to lose, unless one visitor brings most', () => {
  const now_ms = Date.UTC(2026, 5, 1)
  const named = { name: 'x', weight: 1 }
  const asked = (days: number, most: number, conversions = 300) => ({
    test: { id: 'landings', of: 'landings' as const, node: null },
    since_ms: now_ms - days * DAY_MS,
    now_ms,
    kept: undefined,
    variants: [200, conversions].map((count, at) => ({
      ...named,
      id: `v${at}`,
      counted: [{ visitors: 2000, matured: 2000, conversions: count, revenue: count * 5, squares: count * 25, most }],
    })),
  })
  const decided = judge(asked(8, 5))
  assert.deepEqual([decided.state, decided.winner, decided.needs], ['ready', 'v1', { visitors: 0, days: 0 }])
  const early = judge(asked(3, 5))
  assert.deepEqual([early.state, early.winner, early.needs], ['running', null, { visitors: 0, days: 4 }])
  const heavy = judge(asked(8, 900))
  assert.deepEqual([heavy.state, heavy.winner, heavy.heavy_tail], ['running', null, true])
  const alike = judge(asked(8, 5, 203))
  assert.equal(alike.state, 'running')
  assert.ok((alike.needs.visitors ?? 0) > 4000)
  const none = judge({
    ...asked(8, 0),
    variants: asked(8, 0).variants.map(one => ({
      ...one,
      counted: [{ visitors: 0, matured: 0, conversions: 0, revenue: 0, squares: 0, most: 0 }],
    })),
  })
  assert.deepEqual(none.needs, { visitors: null, days: null })
})

test('each split of a published flow is a test of its branches; a draft has none', async () => {
  const room = await seedTested(house)
  const offers = [
    (await room.made('/api/offers', { name: 'Left', url: 'https://left.example/?c={click_id}' })).id,
    (await room.made('/api/offers', { name: 'Right', url: 'https://right.example/?c={click_id}' })).id,
  ]
  const graph = {
    nodes: [
      { id: 'in', type: 'entry' },
      { id: 'halves', type: 'split' },
      { id: 'l-1', type: 'offer', offer_id: offers[0] },
      { id: 'r-1', type: 'offer', offer_id: offers[1], label: 'The right one' },
    ],
    edges: [
      { from: 'in', to: 'halves' },
      { from: 'halves', to: 'l-1', weight: 1 },
      { from: 'halves', to: 'r-1', weight: 3 },
    ],
  }
  const flow = await room.made('/api/click-flows', { name: 'Flow', graph })
  assert.deepEqual(await room.testsOf(`click-flows/${flow.id}`), [])
  const published = await house.call('POST', `/api/click-flows/${flow.id}/publish`, { ...room.owner, body: {} })
  assert.equal(published.statusCode, 200, published.body)
  const destination = { type: 'click_flow', click_flow_id: flow.id }
  const { key } = await room.made('/api/campaigns', { name: 'C', destination })
  for (let at = 0; at < 20; at += 1) await house.call('GET', `/c/${key}`, { headers: BROWSER })
  const [one, ...others] = await room.testsOf(`click-flows/${flow.id}`)
  assert.ok(one !== undefined && others.length === 0)
  assert.deepEqual([one.id, one.of, one.node], ['halves', 'split', 'halves'])
  assert.deepEqual(
    one.variants.map(({ id, name, weight }) => [id, name, weight]),
    [
      ['l-1', 'Left', 1],
      ['r-1', 'The right one', 3],
    ],
  )
  assert.equal(
    one.variants.reduce((sum, { visitors }) => sum + visitors, 0),
    20,
  )
  assert.ok(one.variants.every(({ visitors }) => visitors > 0))
})

test('members read them, keys do not, and another workspace’s are as if they were not there', async () => {
  const room = await seedTested(house)
  const { funnel } = await twoLandings(room)
  const { secret } = await seedKey(house.database, room.owner)
  const keyed = await house.call('GET', `/api/funnels/${funnel}/tests`, { headers: { 'x-api-key': secret } })
  assert.deepEqual([keyed.statusCode, keyed.data()['code']], [403, 'api_key_resource_forbidden'])
  const stranger = await seedSignedIn(house)
  for (const path of [`funnels/${funnel}`, `click-flows/${funnel}`, `funnels/${toWireId(newId())}`]) {
    const reply = await house.call('GET', `/api/${path}/tests`, stranger)
    assert.deepEqual([reply.statusCode, reply.data()['code']], [404, 'not_found'])
  }
})

test('an ended test gives new visitors the winner, everybody else keeps theirs, and an undo lets it go on', async () => {
  const room = await seedTested(house)
  const { a, b, funnel } = await twoLandings(room)
  const destination = { type: 'funnel', funnel_id: funnel }
  const { key } = await room.made('/api/campaigns', { name: 'C', destination })
  const visit = async (cookie?: string) => {
    const headers = { ...BROWSER, ...(cookie === undefined ? {} : { cookie }) }
    const { headers: answer } = await house.call('GET', `/c/${key}`, { headers })
    const set = [answer['set-cookie'] ?? []].flat().find(one => one.startsWith('vis_id='))
    return { host: new URL(String(answer['location'])).host, cookie: set?.split(';')[0] ?? cookie ?? assert.fail() }
  }
  const visitors = await Promise.all(Array.from({ length: 30 }, () => visit()))
  assert.equal(new Set(visitors.map(({ host }) => host)).size, 2)
  const end = (winner: string | null, person: SignedIn = room.owner) =>
    house.call('POST', `/api/funnels/${funnel}/tests/end`, { ...person, body: { test_id: 'landings', winner } })
  const reply = await end(b)
  assert.equal(reply.statusCode, 200, reply.body)
  assert.deepEqual([reply.data()['test_id'], reply.data()['winner']], ['landings', b])
  await eventually('new visitors get the winner', async () => {
    const hosts = await Promise.all(Array.from({ length: 12 }, () => visit()))
    return hosts.every(({ host }) => host === 'two.example')
  })
  const late = await Promise.all(Array.from({ length: 20 }, () => visit()))
  for (const { host, cookie } of [...visitors, ...late]) assert.equal((await visit(cookie)).host, host)
  const [one] = await room.testsOf(`funnels/${funnel}`)
  assert.deepEqual([one?.state, one?.winner], ['ended', b])

  const listed = await house.call('GET', '/api/history?kind=split_test', room.owner)
  const [row, ...others] = listed.json<{ data: { id: string; object_id: string; object_name: string }[] }>().data
  assert.deepEqual([row?.object_id, row?.object_name, others.length], [funnel, 'landings', 0])
  assert.equal((await end(b)).statusCode, 200)
  const undone = await house.call('POST', `/api/history/${row?.id}/undo`, { ...room.owner, body: {} })
  assert.equal(undone.statusCode, 200, undone.body)
  assert.equal((await room.testsOf(`funnels/${funnel}`))[0]?.state, 'running')
  for (const wrong of [toWireId(newId()), 'x', 7]) assert.equal((await end(wrong as string)).statusCode, 400)
  const stranger = await end(a, await seedSignedIn(house))
  assert.deepEqual([stranger.statusCode, stranger.data()['code']], [404, 'not_found'])
})

test('the tests of one funnel that are ended at the same time both end', async () => {
  const room = await seedTested(house)
  const { a, b, funnel } = await twoLandings(room)
  const offers = [
    await room.made('/api/offers', { name: 'One', url: 'https://one.example/' }),
    await room.made('/api/offers', { name: 'Two', url: 'https://two.example/' }),
  ]
  const members = {
    landings: [a, b].map(landing_id => ({ landing_id, weight: 1 })),
    offers: offers.map(({ id }) => ({ offer_id: id, weight: 1 })),
  }
  const body = { name: 'F', ...members }
  assert.equal((await house.call('PATCH', `/api/funnels/${funnel}`, { ...room.owner, body })).statusCode, 200)
  const end = (test_id: string, winner: string | null) =>
    house.call('POST', `/api/funnels/${funnel}/tests/end`, { ...room.owner, body: { test_id, winner } })
  for (let round = 0; round < 5; round += 1) {
    await Promise.all([end('landings', a), end('offers', offers[0]?.id ?? '')])
    const tests = await room.testsOf(`funnels/${funnel}`)
    assert.deepEqual(
      tests.map(({ id, winner }) => [id, winner]),
      [
        ['landings', a],
        ['offers', offers[0]?.id],
      ],
    )
    await Promise.all([end('landings', null), end('offers', null)])
  }
})

test('an ended split of a flow sends new visitors one way', async () => {
  const room = await seedTested(house)
  const graph = parted(1, 1)
  const flow = await room.made('/api/click-flows', { name: 'Flow', graph })
  await house.call('POST', `/api/click-flows/${flow.id}/publish`, { ...room.owner, body: {} })
  const destination = { type: 'click_flow', click_flow_id: flow.id }
  const { key } = await room.made('/api/campaigns', { name: 'C', destination })
  const end = (test_id: string, winner: string | null) =>
    house.call('POST', `/api/click-flows/${flow.id}/tests/end`, { ...room.owner, body: { test_id, winner } })
  assert.equal((await end('part', 'end7')).statusCode, 400)
  assert.equal((await end('entry', 'part')).statusCode, 400)
  assert.equal((await end('part', 'end1')).statusCode, 200)
  await eventually('new visitors go the way that was kept', async () => {
    const visits = Array.from({ length: 12 }, () => house.call('GET', `/c/${key}`, { headers: BROWSER }))
    return (await Promise.all(visits)).every(({ headers }) => String(headers['location']).endsWith('/1'))
  })
  const [one] = await room.testsOf(`click-flows/${flow.id}`)
  assert.deepEqual([one?.state, one?.winner], ['ended', 'end1'])
})
