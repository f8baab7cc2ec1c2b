// Automatic weights: which tests are moved, where to, how often, by whom, and how a move is put back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { untilWaiting } from '../../../tests/support/blocked.ts'
import { earlier } from '../../../tests/support/earlier.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, openTestHouse, seedKey, type TestHouse, toWireId, useHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import {
  branch,
  seedTested,
  type TestedPlace,
  twoBranches,
  twoLandings,
  visitsOf,
} from '../../../tests/support/split-tests.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Moved = { id: string; act_id: string; actor: object; fields: { name: string; before: never; after: never }[] }

function callsOf({ owner, testsOf }: TestedPlace, path: string) {
  const { worker } = house.database
  const turn = (test_id: string, automatic: unknown, sent: object = owner) =>
    house.call('PUT', `/api/${path}/tests/automatic`, { ...sent, body: { test_id, automatic } })
  const of = async (id: string) => (await testsOf(path)).find(one => one.id === id) ?? assert.fail(`no test ${id}`)
  const rows = async (kind: string) => {
    const reply = await house.call('GET', `/api/history?kind=${kind}&limit=50`, owner)
    return reply.json<{ data: Moved[] }>().data
  }
  const undo = (id: string, body: object = {}) => house.call('POST', `/api/history/${id}/undo`, { ...owner, body })
  return {
    turn,
    of,
    undo,
    /** Switches the test on. */
    async on(test_id: string) {
      const reply = await turn(test_id, true)
      assert.equal(reply.statusCode, 200, reply.body)
    },
    weights: async (id: string) => (await of(id)).variants.map(({ weight }) => weight),
    /** The rows of the history that Sluice itself wrote, newest first. */
    moves: async (kind = 'funnel') =>
      (await rows(kind)).filter(({ actor }) => 'kind' in actor && actor.kind === 'sluice'),
    rows,
    /** Waits until a process has looked at all due tests of the workspace. */
    looked: () =>
      eventually('the test was looked at', async () => {
        const { rows: due } = await worker.query(
          'select 1 from automatic_tests where org_id = $1 and automatic and next_look_at <= now()',
          [owner.org_id],
        )
        return due.length === 0
      }),
    /** Makes the tests due again, as if this time had passed. */
    async later(hours: number) {
      const before = (column: string) => `${column} = ${earlier(column, `${hours} hours`)}`
      await worker.query(`update weight_moves set ${before('moved_at')} where org_id = $1`, [owner.org_id])
      await worker.query(
        `update history set ${before('created_at')} where org_id = $1 and act_id in (select act_id from weight_moves where org_id = $1)`,
        [owner.org_id],
      )
      await worker.query(`update automatic_tests set next_look_at = now() where org_id = $1 and automatic`, [
        owner.org_id,
      ])
    },
  }
}

const CONVERTED = { days_ago: 9, converted_after_days: 0.1, payout: '10' }

/** Both landings with 200 visitors each, and so many of them converted. */
const results = (a: string, b: string, [ofA, ofB]: readonly [number, number]) => [
  ...visitsOf(200 - ofA, { landing: a, days_ago: 9 }),
  ...visitsOf(ofA, { landing: a, ...CONVERTED }),
  ...visitsOf(200 - ofB, { landing: b, days_ago: 9 }),
  ...visitsOf(ofB, { landing: b, ...CONVERTED }),
]

test('weights stay until somebody switches them on; the switch is in the history and can be put back', async () => {
  const place = await seedTested(house)
  const { a, b, funnel, campaign } = await twoLandings(place)
  const { turn, of, rows, undo, weights, looked } = callsOf(place, `funnels/${funnel}`)
  await place.visited(campaign, results(a, b, [20, 60]))
  const idle = await of('landings')
  assert.deepEqual([idle.automatic, idle.weight_moves], [false, { last_at: null, waits_for: null }])
  const replies = [await turn('landings', true), await turn('landings', true)]
  assert.deepEqual(
    replies.map(reply => [reply.statusCode, reply.data()]),
    [200, 200].map(code => [code, { test_id: 'landings', automatic: true }]),
  )
  const [row, ...others] = await rows('split_test')
  assert.deepEqual([row?.fields, others.length], [[{ name: 'automatic', before: false, after: true }], 0])
  assert.equal((await of('landings')).automatic, true)
  assert.equal((await undo(row?.id ?? '')).statusCode, 200)
  assert.equal((await of('landings')).automatic, false)
  assert.equal((await rows('split_test')).length, 2)
  await looked()
  const before = await weights('landings')
  await house.database.worker.query('update automatic_tests set next_look_at = now() where org_id = $1', [
    place.owner.org_id,
  ])
  // A test that became due later is moved.
  const other = await seedTested(house)
  const made = await twoLandings(other)
  const calls = callsOf(other, `funnels/${made.funnel}`)
  await other.visited(made.campaign, results(made.a, made.b, [20, 60]))
  await calls.on('landings')
  await calls.looked()
  assert.equal((await calls.moves()).length, 1)
  assert.deepEqual(await weights('landings'), before)
})

test('unknown and ended tests, members, keys and other workspaces are refused', async () => {
  const place = await seedTested(house)
  const { a, funnel } = await twoLandings(place)
  const { flow } = await twoBranches(place)
  const { turn, of, rows } = callsOf(place, `funnels/${funnel}`)
  const inFlow = callsOf(place, `click-flows/${flow}`)
  for (const [name, automatic] of [
    ['offers', true],
    ['nothing', true],
    ['landings', 'yes'],
  ] as const)
    assert.equal((await turn(name, automatic)).statusCode, 400, name)
  for (const name of ['entry', 'end0', 'nothing']) assert.equal((await inFlow.turn(name, true)).statusCode, 400, name)
  const end = (winner: string | null) =>
    house.call('POST', `/api/funnels/${funnel}/tests/end`, { ...place.owner, body: { test_id: 'landings', winner } })
  assert.equal((await end(a)).statusCode, 200)
  const ended = await turn('landings', true)
  assert.deepEqual([ended.statusCode, ended.data()['error']], [400, 'test_id: the test landings was ended'])
  assert.equal((await turn('landings', false)).statusCode, 200)
  assert.equal((await end(null)).statusCode, 200)
  const member = await seedSignedIn(house, { place: place.owner, role: 'member' })
  assert.equal((await turn('landings', true, member)).statusCode, 403)
  const { secret } = await seedKey(house.database, place.owner)
  for (const calls of [callsOf(place, `funnels/${funnel}`), inFlow]) {
    const keyed = await calls.turn('landings', true, { headers: { 'x-api-key': secret } })
    assert.deepEqual([keyed.statusCode, keyed.data()['code']], [403, 'api_key_resource_forbidden'])
  }
  const stranger: SignedIn = await seedSignedIn(house)
  const unknown = callsOf(place, `funnels/${toWireId(newId())}`)
  const foreign = [
    turn('landings', true, stranger),
    inFlow.turn('part', true, stranger),
    unknown.turn('landings', true),
  ]
  for (const reply of await Promise.all(foreign))
    assert.deepEqual([reply.statusCode, reply.data()['code']], [404, 'not_found'])
  assert.equal((await of('landings')).automatic, false)
  assert.equal((await rows('split_test')).length, 2, 'only the end and its withdrawal')
})

test('the weights move to the best at 50 conversions, keep 5 % for the others, once a day, and begin no new test', async () => {
  const place = await seedTested(house)
  const { a, b, funnel, campaign } = await twoLandings(place)
  const calls = callsOf(place, `funnels/${funnel}`)
  await place.visited(campaign, results(a, b, [5, 44]))
  await calls.on('landings')
  await calls.looked()
  const waiting = await calls.of('landings')
  assert.deepEqual([waiting.weight_moves.waits_for, await calls.weights('landings')], ['conversions', [60, 40]])
  assert.deepEqual(await calls.moves(), [])

  await place.visited(campaign, [{ landing: b, ...CONVERTED }])
  await calls.later(1)
  await calls.looked()
  const [move, ...others] = await calls.moves()
  assert.deepEqual(move?.actor, { kind: 'sluice', id: null, name: null, tool: null, host: null, because: 'schedule' })
  assert.deepEqual([move?.fields.map(({ name }) => name), others.length], [['landings'], 0])
  const moved = await calls.of('landings')
  assert.deepEqual(
    moved.variants.map(({ weight, visitors, conversions }) => [weight, visitors, conversions]),
    [
      [5, 200, 5],
      [95, 201, 45],
    ],
  )
  assert.deepEqual([moved.since, moved.weight_moves.waits_for], [waiting.since, 'next_day'])
  assert.ok(Date.now() - Date.parse(moved.weight_moves.last_at ?? '') < 60_000)
  assert.deepEqual(
    moved.variants.map(({ rate }) => rate.best > 0),
    waiting.variants.map(({ rate }) => rate.best > 0),
  )

  // The other landing is better from now on.
  await calls.later(23)
  await calls.looked()
  assert.equal((await calls.moves()).length, 1, 'not within a day')
  await calls.later(2)
  await calls.looked()
  assert.equal((await calls.moves()).length, 1, 'nothing has changed')
  await calls.later(7 * 24)
  const sevenDays = { days_ago: 7.5 }
  await place.visited(campaign, [
    ...visitsOf(300, { landing: a, ...sevenDays, converted_after_days: 0.1, payout: '10' }),
    ...visitsOf(200, { landing: b, ...sevenDays }),
  ])
  await calls.later(0)
  await calls.looked()
  assert.deepEqual(await calls.weights('landings'), [95, 5])
  assert.equal((await calls.moves()).length, 2)
  assert.equal((await calls.of('landings')).since, waiting.since)
})

test('a landing with a weight of 5 gets 5 % of the visitors', async () => {
  const place = await seedTested(house)
  const { a, b, funnel, campaign } = await twoLandings(place)
  const calls = callsOf(place, `funnels/${funnel}`)
  await place.visited(campaign, results(a, b, [0, 60]))
  await calls.on('landings')
  await calls.looked()
  const key = (await house.call('GET', `/api/campaigns/${campaign}`, place.owner)).data()['key']
  const visit = async () => {
    const { headers } = await house.call('GET', `/c/${String(key)}`, { headers: BROWSER })
    return URL.parse(String(headers['location']))?.host
  }
  await eventually('most visitors get the best', async () => {
    const hosts = await Promise.all(Array.from({ length: 40 }, visit))
    return hosts.filter(host => host === 'two.example').length > 30
  })
  let floor = 0
  for (let at = 0; at < 40; at += 1)
    floor += (await Promise.all(Array.from({ length: 50 }, visit))).filter(host => host === 'one.example').length
  // Of 2000 visitors 100 are expected; the standard deviation is 9.7.
  assert.ok(floor > 55 && floor < 145, `${floor} of 2000`)
})

test('a move is put back like a change by a person, which begins the test anew; so does any other change', async () => {
  const place = await seedTested(house)
  const { a, b, funnel, campaign } = await twoLandings(place)
  const calls = callsOf(place, `funnels/${funnel}`)
  await place.visited(campaign, results(a, b, [20, 60]))
  await calls.on('landings')
  await calls.looked()
  const [move] = await calls.moves()
  assert.ok(move !== undefined)
  assert.equal((await calls.undo(move.id)).statusCode, 200)
  const back = await calls.of('landings')
  assert.deepEqual(
    back.variants.map(({ weight, visitors }) => [weight, visitors]),
    [
      [60, 0],
      [40, 0],
    ],
  )
  assert.ok(Date.now() - Date.parse(back.since) < 60_000)
  assert.deepEqual([back.automatic, back.weight_moves.waits_for], [true, 'conversions'])
  assert.deepEqual((await calls.undo(move.id)).data()['code'], 'undone_before')

  const changed = await house.call('PATCH', `/api/funnels/${funnel}`, {
    ...place.owner,
    body: {
      landings: [
        { landing_id: a, weight: 1 },
        { landing_id: b, weight: 2 },
      ],
    },
  })
  assert.equal(changed.statusCode, 200)
  await calls.later(25)
  await calls.looked()
  assert.deepEqual([await calls.weights('landings'), (await calls.moves()).length], [[1, 2], 1])
})

test('a change of less than one point is none', async () => {
  const place = await seedTested(house)
  const { a, b, funnel, campaign } = await twoLandings(place)
  const calls = callsOf(place, `funnels/${funnel}`)
  const shares = [
    { landing_id: a, weight: 449 },
    { landing_id: b, weight: 8551 },
  ]
  await house.call('PATCH', `/api/funnels/${funnel}`, { ...place.owner, body: { landings: shares } })
  await house.database.worker.query(
    `update history set created_at = ${earlier('created_at', '11 days')} where org_id = $1`,
    [place.owner.org_id],
  )
  await place.visited(campaign, results(a, b, [20, 60]))
  await calls.on('landings')
  await calls.looked()
  const stayed = await calls.of('landings')
  assert.deepEqual([await calls.moves(), stayed.weight_moves], [[], { last_at: null, waits_for: null }])
})

test('two processes that look at once move once', async t => {
  const place = await seedTested(house)
  const { a, b, funnel, campaign } = await twoLandings(place)
  const calls = callsOf(place, `funnels/${funnel}`)
  const second = await openTestHouse(house.database, {})
  t.after(() => second.end())
  await place.visited(campaign, results(a, b, [20, 60]))
  await calls.on('landings')
  await calls.looked()
  assert.equal((await calls.moves()).length, 1)
  const equal = [a, b].map(landing_id => ({ landing_id, weight: 50 }))
  const changed = await house.call('PATCH', `/api/funnels/${funnel}`, { ...place.owner, body: { landings: equal } })
  assert.equal(changed.statusCode, 200)
  const { worker } = house.database
  const { org_id } = place.owner
  await worker.query(`update history set created_at = ${earlier('created_at', '11 days')} where org_id = $1`, [org_id])
  const holder = await worker.connect()
  try {
    await holder.query('begin')
    await holder.query('select 1 from history_heads where org_id = $1 for update', [org_id])
    const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid')
    await calls.later(25)
    // Both have judged the test by then.
    await untilWaiting(house.database, 2, rows[0]?.pid)
    await holder.query('commit')
  } finally {
    holder.release(true)
  }
  await calls.looked()
  assert.equal((await calls.moves()).length, 2)
  const { rows } = await worker.query('select 1 from weight_moves where org_id = $1', [org_id])
  assert.equal(rows.length, 2)
})

test('a test that cannot be moved does not stop the others, and says so', async () => {
  const broken = await seedTested(house)
  const { a, b, funnel, campaign } = await twoLandings(broken)
  const calls = callsOf(broken, `funnels/${funnel}`)
  await broken.visited(campaign, results(a, b, [20, 60]))
  await sql
    .raw(`alter table weight_moves add constraint broken check (object_id <> '${toUuid(funnel)}')`)
    .execute(house.database.schema)
  try {
    await calls.on('landings')
    const place = await seedTested(house)
    const whole = await twoLandings(place)
    const others = callsOf(place, `funnels/${whole.funnel}`)
    await place.visited(whole.campaign, results(whole.a, whole.b, [20, 60]))
    await others.on('landings')
    await others.looked()
    await calls.looked()
    assert.equal((await others.moves()).length, 1)
  } finally {
    await sql.raw('alter table weight_moves drop constraint broken').execute(house.database.schema)
  }
  const one = await calls.of('landings')
  assert.deepEqual([one.weight_moves.waits_for, await calls.weights('landings')], ['refused', [60, 40]])
  assert.deepEqual(await calls.moves(), [], 'neither the move nor its row')
  await calls.later(1)
  await calls.looked()
  assert.equal((await calls.moves()).length, 1)
})

test('a split of a flow is moved by the next version, only if the draft is the published one', async () => {
  const place = await seedTested(house)
  const { flow, campaign } = await twoBranches(place)
  const calls = callsOf(place, `click-flows/${flow}`)
  await place.visited(campaign, [
    ...visitsOf(180, branch('end0', { days_ago: 9 })),
    ...visitsOf(20, branch('end0', CONVERTED)),
    ...visitsOf(140, branch('end1', { days_ago: 9 })),
    ...visitsOf(60, branch('end1', CONVERTED)),
  ])
  const read = async () => (await house.call('GET', `/api/click-flows/${flow}`, place.owner)).data()
  const { name, graph } = (await read()) as { name: string; graph: { nodes: object[]; edges: object[] } }
  const replace = (of: object) =>
    house.call('PUT', `/api/click-flows/${flow}`, { ...place.owner, body: { name, graph: of } })
  const draft = { ...graph, nodes: graph.nodes.map(node => ({ ...node, x: 7 })) }
  assert.equal((await replace(draft)).statusCode, 200)
  await calls.on('part')
  await calls.looked()
  assert.deepEqual([(await calls.of('part')).weight_moves.waits_for, await calls.moves('click_flow')], ['draft', []])

  assert.equal((await replace(graph)).statusCode, 200)
  const pause = (status: string) =>
    house.call('PUT', `/api/click-flows/${flow}/status`, { ...place.owner, body: { status } })
  await pause('paused')
  await calls.later(1)
  await calls.looked()
  assert.deepEqual(
    [(await calls.of('part')).weight_moves.waits_for, (await read())['status']],
    ['not_active', 'paused'],
  )

  await pause('active')
  const { since } = await calls.of('part')
  await calls.later(1)
  await calls.looked()
  const moved = await calls.of('part')
  assert.deepEqual(
    moved.variants.map(({ weight, visitors }) => [weight, visitors]),
    [
      [5, 200],
      [95, 200],
    ],
  )
  assert.deepEqual([moved.since, moved.weight_moves.waits_for], [since, 'next_day'])
  const now = await read()
  assert.deepEqual([now['published_version'], now['is_draft_published'], now['status']], [2, true, 'active'])

  // Clicks of the second version are counted with those of the first.
  await calls.later(25)
  await place.visited(
    campaign,
    visitsOf(30, { ...branch('end1', { days_ago: 0.1 }), more: { click_flow_node_path: '2:entry>part>end1' } }),
  )
  assert.deepEqual(
    (await calls.of('part')).variants.map(({ visitors }) => visitors),
    [200, 230],
  )

  const rows = await calls.moves('click_flow')
  assert.deepEqual(new Set(rows.map(({ act_id }) => act_id)).size, 1)
  const undone = await calls.undo(rows[0]?.id ?? '', { whole_act: true })
  assert.equal(undone.statusCode, 200, undone.body)
  const back = await calls.of('part')
  assert.deepEqual(
    back.variants.map(({ weight, visitors }) => [weight, visitors]),
    [
      [1, 0],
      [1, 0],
    ],
  )
  assert.deepEqual([(await read())['published_version'], (await read())['is_draft_published']], [3, true])
})

test('a weekend with a high rate does not favour the landing that had more of it: strata, not totals, are compared', async () => {
  const place = await seedTested(house)
  const { a, b, funnel, campaign } = await twoLandings(place)
  const { of } = callsOf(place, `funnels/${funnel}`)
  // a is better in each time: 6 % against 4 %, and 30 % against 25 %. In total b seems better, because it had most of the weekend.
  const part = (landing: string, visitors: number, converted: number, days_ago: number) => [
    ...visitsOf(visitors - converted, { landing, days_ago }),
    ...visitsOf(converted, { landing, days_ago, converted_after_days: 0.1, payout: '10' }),
  ]
  await place.visited(campaign, [
    ...part(a, 1500, 90, 10),
    ...part(b, 500, 20, 10),
    ...part(a, 100, 30, 8),
    ...part(b, 1900, 475, 8),
  ])
  const totals = await of('landings')
  const means = ({ variants }: typeof totals) => variants.map(({ epv }) => epv.mean)
  assert.ok((means(totals)[0] ?? 0) < (means(totals)[1] ?? 0), 'without the move totals are compared')
  await house.database.worker.query(
    `insert into weight_moves (org_id, object_id, test, act_id, moved_at) values ($1, $2, 'landings', $3, now() - interval '9 days')`,
    [place.owner.org_id, toUuid(funnel), newId()],
  )
  const strata = await of('landings')
  const [first, second] = strata.variants
  assert.ok(first !== undefined && second !== undefined)
  // Half of all visitors came in each time.
  for (const [{ rate, epv }, truth] of [
    [first, (0.06 + 0.3) / 2],
    [second, (0.04 + 0.25) / 2],
  ] as const) {
    assert.ok(rate.from < truth && truth < rate.to, JSON.stringify(rate))
    assert.ok(Math.abs(rate.mean - truth) < 0.01, `${rate.mean} is not ${truth}`)
    assert.ok(Math.abs(epv.mean - 10 * rate.mean) < 1e-9)
  }
  assert.ok(first.epv.best > 0.8, String(first.epv.best))
  assert.deepEqual(
    strata.variants.map(({ visitors, matured, conversions }) => [visitors, matured, conversions]),
    totals.variants.map(({ visitors, matured, conversions }) => [visitors, matured, conversions]),
  )
  assert.equal(strata.since, totals.since)
})
