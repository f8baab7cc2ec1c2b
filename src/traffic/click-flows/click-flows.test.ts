import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { flowCalls, type WireFlow } from '../../../tests/support/flows.ts'
import { forked, straight } from '../../../tests/support/graphs.ts'
import { newId, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedBot } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { toUuid } from '../../contract/ids.ts'
import type { Right } from '../../contract/rights.ts'

let house: TestHouse
let owner: SignedIn
let other: SignedIn
let calls: ReturnType<typeof flowCalls>
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  other = await seedSignedIn(house)
  calls = flowCalls(house, owner)
})
after(() => house.end())

const ALL: Right[] = ['click-flows', 'click-flows:status', 'click-flows:delete', 'click-flows:publish']

const rows = async () => {
  const { reads } = house.database
  const { rows: flows } = await reads.query(`select md5(string_agg(f::text, '' order by id)) as all from click_flows f`)
  const { rows: versions } = await reads.query('select count(*) as all from click_flow_versions')
  return JSON.stringify([flows, versions])
}

const uuid = (id: string): string => toUuid(id) ?? ''

test('a flow begins as a draft, kept as it was sent without what was null', async () => {
  const graph = forked({ field: 'geo', values: ['DE'], label: 'Country', x: 10.5, y: -3 })
  const sent = structuredClone(graph)
  Object.assign(sent.nodes[0] ?? {}, { label: null, values: null })
  const reply = await calls.create({ name: ' Spring ', graph: sent, status: 'active' })
  assert.equal(reply.statusCode, 201, reply.body)
  const { warnings, ...row } = reply.data()
  assert.deepEqual(warnings, [])
  const { id, created_at, updated_at, draft_tag, ...rest } = row
  assert.equal(updated_at, created_at)
  assert.match(String(draft_tag), /^[0-9a-f]{32}$/)
  assert.deepEqual(rest, {
    name: 'Spring',
    status: 'draft',
    published_version: null,
    is_draft_published: false,
    campaigns: [],
    tag_ids: [],
    note: null,
    graph,
    problems: [],
  })
  assert.deepEqual((await calls.read(String(id))).data(), row)
})

test('a draft may be incomplete, and says what is missing', async () => {
  const { problems } = (
    await calls.create({ name: 'Half', graph: { nodes: [{ id: 'a', type: 'offer', label: 'Casino' }], edges: [] } })
  ).json<WireFlow>()
  assert.deepEqual(problems, [
    { node_id: null, message: 'There is no entry. Add a node of type entry and connect it to the first step.' },
    { node_id: 'a', message: 'Node a (Casino): names no offer. Choose one (offer_id).' },
  ])
})

test('what cannot be a graph is refused, says where, and leaves nothing behind', async () => {
  const id = await calls.flow(straight())
  const before = await rows()
  const graph = (fields: object) => ({ name: 'X', graph: { ...straight(), ...fields } })
  const node = (fields: object) => graph({ nodes: [{ id: 'a', type: 'entry', ...fields }] })
  const wrong: [unknown, RegExp][] = [
    [undefined, /./],
    [{ name: 'X' }, /graph/],
    [{ graph: straight() }, /name/],
    [node({ id: 'a b' }), /nodes\.0\.id/],
    [node({ type: 'exit' }), /nodes\.0\.type/],
    [node({ field: 'weather' }), /field/],
    [node({ from_time: '25:00' }), /from_time/],
    [node({ days: ['someday'] }), /days/],
    [node({ offer_id: 'x' }), /offer_id/],
    [node({ url: 'x'.repeat(2049) }), /url/],
    [
      graph({
        nodes: [
          { id: 'a', type: 'entry' },
          { id: 'a', type: 'bot' },
        ],
      }),
      /names two nodes/,
    ],
    [graph({ nodes: Array.from({ length: 101 }, (_, at) => ({ id: `n${at}`, type: 'bot' })) }), /nodes/],
    [graph({ edges: Array.from({ length: 201 }, () => ({ from: 'a', to: 'b' })) }), /edges/],
    [graph({ edges: [{ from: 'a', to: 'b', branch: 'maybe' }] }), /branch/],
    [graph({ edges: [{ from: 'a', to: 'b', weight: 1001 }] }), /weight/],
    [graph({ edges: [{ from: 'a', to: 'b', weight: 0.5 }] }), /weight/],
  ]
  for (const [body, field] of wrong)
    for (const reply of [await calls.create(body), await calls.put(id, body)]) {
      assert.equal(reply.statusCode, 400, JSON.stringify(body))
      assert.match(reply.body, field)
    }
  for (const status of ['draft', 'gone', undefined]) assert.equal((await calls.setStatus(id, status)).statusCode, 400)
  assert.equal(await rows(), before)
})

test('who changes a draft that someone else has changed meanwhile is told, and overwrites nothing', async () => {
  const id = await calls.flow(straight('https://one.example/'))
  const { draft_tag } = (await calls.read(id)).data()
  // Neither a new status nor a new name is a change of the graph.
  await calls.publish(id)
  const renamed = await calls.put(id, { name: 'Renamed', graph: straight('https://one.example/'), draft_tag })
  assert.deepEqual([renamed.statusCode, renamed.data()['draft_tag']], [200, draft_tag])
  const two = straight('https://two.example/')
  const replies = await Promise.all([
    calls.put(id, { name: 'By one', graph: two, draft_tag }),
    calls.put(id, { name: 'By another', graph: forked({ field: 'bot' }), draft_tag }),
  ])
  const refused = replies.filter(({ statusCode }) => statusCode === 409)
  assert.deepEqual([refused.length, refused[0]?.data()['code']], [1, 'draft_changed'])
  const kept = replies.find(({ statusCode }) => statusCode === 200)?.json<WireFlow>()
  assert.deepEqual((await calls.read(id)).json<WireFlow>().graph, kept?.graph)
  assert.equal((await calls.put(id, { name: 'Anyhow', graph: two })).statusCode, 200)
})

test('publishing makes versions, and the draft may change without them', async () => {
  const id = await calls.flow(straight('https://one.example/'))
  const first = (await calls.publish(id)).json<WireFlow>()
  assert.deepEqual([first.status, first.published_version, first.is_draft_published], ['active', 1, true])
  const two = straight('https://two.example/')
  const changed = (await calls.put(id, { name: 'Renamed', graph: two })).json<WireFlow>()
  assert.deepEqual(
    [changed.name, changed.status, changed.published_version, changed.is_draft_published],
    ['Renamed', 'active', 1, false],
  )
  assert.equal((await calls.publish(id)).json<WireFlow>().published_version, 2)
  type Versions = { data: { version: number; nodes: number }[]; next_before: number | null }
  const all = (await calls.versions(id)).json<Versions>()
  assert.deepEqual(
    [all.data.map(({ version, nodes }) => [version, nodes]), all.next_before],
    [
      [
        [2, 2],
        [1, 2],
      ],
      null,
    ],
  )
  const page = (await calls.versions(id, '?limit=1')).json<Versions>()
  assert.deepEqual([page.data.map(({ version }) => version), page.next_before], [[2], 2])
  const rest = (await calls.versions(id, '?limit=1&before=2')).json<Versions>()
  assert.deepEqual([rest.data.map(({ version }) => version), rest.next_before], [[1], null])
  const { graph, ...listed } = (await calls.version(id, 1)).data()
  assert.deepEqual([graph, listed], [straight('https://one.example/'), all.data[1]])
  assert.deepEqual((await calls.version(id, 2)).data()['graph'], two)
  const restored = (await calls.restore(id, 1)).json<WireFlow>()
  assert.deepEqual([restored.graph, restored.published_version], [straight('https://one.example/'), 2])
  assert.equal(restored.is_draft_published, false)
  for (const version of [0, 3, 'x', '99999999999', '1.5'])
    for (const reply of [await calls.restore(id, version), await calls.version(id, version)])
      assert.deepEqual([reply.statusCode, reply.data()['error']], [404, 'no such version'], String(version))
})

test('publishing says everything that is wrong at once and changes nothing', async () => {
  const archived = await calls.offer('Archived')
  await house.call('PUT', `/api/offers/${archived}/status`, { ...owner, body: { status: 'archived' } })
  const theirs = await calls.landing('Theirs', other)
  const graph = forked({ field: 'geo', label: 'Country' })
  graph.nodes[2] = { id: 'a', type: 'offer', label: 'Casino', offer_id: archived }
  graph.nodes[3] = { id: 'b', type: 'landing', landing_id: theirs }
  const id = await calls.flow(graph)
  const before = await rows()
  const reply = await calls.publish(id)
  assert.deepEqual([reply.statusCode, reply.data()['code']], [422, 'click_flow_incomplete'])
  assert.equal(
    reply.data()['error'],
    'the click flow cannot be published: Node ask (Country): has no values. Enter at least one that leads to yes (values). ' +
      'Node a (Casino): the offer Archived is archived. Unarchive it, or choose another one (offer_id). ' +
      'Node b: there is no such landing. Choose another one (landing_id).',
  )
  assert.equal(await rows(), before)
})

test('the offer that a redirect earns for must be there and take traffic', async () => {
  const archived = await calls.offer('Old-payer')
  await house.call('PUT', `/api/offers/${archived}/status`, { ...owner, body: { status: 'archived' } })
  const wrong = [
    [archived, 'the offer Old-payer is archived. Unarchive it, or choose another one (earns_for_offer_id).'],
    [await calls.offer('Theirs', other), 'there is no such offer. Choose another one (earns_for_offer_id).'],
  ] as const
  for (const [earns_for_offer_id, words] of wrong) {
    const graph = straight()
    graph.nodes[1] = { id: 'end', type: 'redirect', url: 'https://end.example/', earns_for_offer_id }
    const reply = await calls.publish(await calls.flow(graph))
    assert.equal(reply.statusCode, 422)
    assert.equal(reply.data()['error'], `the click flow cannot be published: Node end: ${words}`)
  }
})

test('one draft published several times at once is one version', async () => {
  const id = await calls.flow(straight())
  const replies = await Promise.all([calls.publish(id), calls.publish(id), calls.publish(id)])
  assert.deepEqual(
    replies.map(({ statusCode }) => statusCode),
    [200, 200, 200],
  )
  assert.equal((await calls.read(id)).json<WireFlow>().published_version, 1)
  const { data } = (await calls.versions(id)).json<{ data: { version: number }[] }>()
  assert.deepEqual(
    data.map(({ version }) => version),
    [1],
  )
})

test('a person pauses, archives and sets active again what was published', async () => {
  const id = await calls.flow(straight())
  const never = await calls.setStatus(id, 'active')
  assert.deepEqual([never.statusCode, never.data()['code']], [409, 'click_flow_not_published'])
  await calls.publish(id)
  for (const status of ['paused', 'archived', 'active', 'archived'])
    assert.equal((await calls.setStatus(id, status)).data()['status'], status)
  assert.equal((await calls.publish(id)).data()['status'], 'active')
})

test('flows are listed newest first with the campaigns that lead to them', async () => {
  const lister = await seedSignedIn(house)
  const [first, second] = [
    await calls.flow(straight(), lister, 'First'),
    await calls.flow(straight(), lister, 'Second'),
  ]
  await calls.publish(first, lister)
  const campaign = await calls.campaign(first, { name: 'Ads' }, lister)
  const list = async (query: string) =>
    (await house.call('GET', `/api/click-flows?${query}`, lister)).json<{
      data: WireFlow[]
      next_cursor: string | null
    }>()
  assert.deepEqual(
    (await list('')).data.map(({ name, campaigns }) => [name, campaigns]),
    [
      ['Second', []],
      ['First', [{ id: campaign.id, name: 'Ads' }]],
    ],
  )
  assert.deepEqual(
    (await list('status=active')).data.map(({ id }) => id),
    [first],
  )
  assert.deepEqual(
    (await list('q=sec')).data.map(({ id }) => id),
    [second],
  )
  const page = await list('limit=1')
  assert.deepEqual(
    (await list(`cursor=${page.next_cursor}`)).data.map(({ id }) => id),
    [first],
  )
})

test('a campaign leads only to a flow that is there and not archived', async () => {
  const campaign = (click_flow_id: string) =>
    house.call('POST', '/api/campaigns', {
      ...owner,
      body: { name: 'C', destination: { type: 'click_flow', click_flow_id } },
    })
  const id = await calls.flow(straight())
  const led = await campaign(id)
  assert.equal(led.statusCode, 201)
  const theirs = await calls.flow(straight(), other)
  for (const unknown of [theirs, toWireId(newId())]) {
    const reply = await campaign(unknown)
    assert.equal(reply.statusCode, 400)
    assert.match(reply.body, /no such click flow/)
  }
  await calls.setStatus(id, 'archived')
  assert.match((await campaign(id)).body, /archived/)
  const destination = { type: 'click_flow', click_flow_id: id }
  const kept = await house.call('PATCH', `/api/campaigns/${String(led.data()['id'])}`, {
    ...owner,
    body: { destination },
  })
  assert.equal(kept.statusCode, 200, 'what leads there already may stay')
  await calls.remove(id)
  assert.match((await campaign(id)).body, /no such click flow/)
})

test("another organization's flow is as if it were not there", async () => {
  const id = await calls.flow(straight(), other)
  await calls.publish(id, other)
  const before = await rows()
  const nobodys = toWireId(newId())
  const key = await calls.key(ALL)
  const everything = [
    (one: string) => calls.read(one),
    (one: string) => calls.put(one, { name: 'X', graph: straight() }),
    (one: string) => calls.versions(one),
    (one: string) => calls.version(one, 1),
    (one: string) => calls.restore(one, 1),
    (one: string) => calls.attempt(one, { visitor: {} }),
    ...[owner, key].flatMap(as => [
      (one: string) => calls.setStatus(one, 'paused', as),
      (one: string) => calls.publish(one, as),
      (one: string) => calls.remove(one, as),
    ]),
  ]
  for (const call of everything) {
    const [theirs, none] = [await call(id), await call(nobodys)]
    assert.deepEqual([theirs.statusCode, theirs.body], [404, none.body])
    assert.equal((await call('x')).statusCode, 404)
  }
  assert.equal(await rows(), before)
})

test('a deleted flow is gone for every route, and its row stays', async () => {
  const id = await calls.flow(straight())
  await calls.publish(id)
  assert.deepEqual((await calls.remove(id)).data(), { ok: true, id, campaigns_on_fallback: [] })
  for (const reply of [
    await calls.read(id),
    await calls.put(id, { name: 'X', graph: straight() }),
    await calls.setStatus(id, 'paused'),
    await calls.publish(id),
    await calls.versions(id),
    await calls.version(id, 1),
    await calls.restore(id, 1),
    await calls.attempt(id, { visitor: {} }),
    await calls.remove(id),
  ])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [404, 'not_found'])
})

test('a key does what its rights say, never sets active, and never reads', async () => {
  const id = await calls.flow(straight())
  const [creates, holds, updates, publishes, deletes] = [
    await calls.key(['click-flows']),
    await calls.key(['click-flows:status']),
    await calls.key(['click-flows:update']),
    await calls.key(['click-flows:publish']),
    await calls.key(['click-flows:delete']),
  ]
  assert.equal((await calls.create({ name: 'By key', graph: straight() }, creates)).statusCode, 201)
  assert.equal((await calls.put(id, { name: 'By key', graph: straight() }, updates)).statusCode, 200)
  assert.equal((await calls.publish(id, publishes)).data()['status'], 'active')
  for (const status of ['paused', 'archived'])
    assert.equal((await calls.setStatus(id, status, holds)).data()['status'], status)
  const before = await rows()
  const refusals = [
    [await calls.setStatus(id, 'active', holds), 'click_flow_active_forbidden'],
    [await calls.create({ name: 'X', graph: straight() }, publishes), 'api_key_write_not_granted'],
    [await calls.setStatus(id, 'paused', creates), 'api_key_write_not_granted'],
    [await calls.put(id, { name: 'X', graph: straight() }, creates), 'api_key_delete_not_granted'],
    [await calls.publish(id, holds), 'api_key_delete_not_granted'],
    [await calls.remove(id, publishes), 'api_key_delete_not_granted'],
    ...[
      await calls.read(id, publishes),
      await calls.versions(id, '', publishes),
      await calls.version(id, 1, publishes),
      await calls.restore(id, 1, updates),
      await calls.attempt(id, { visitor: {} }, publishes),
      await house.call('GET', '/api/click-flows', creates),
    ].map(reply => [reply, 'api_key_resource_forbidden'] as const),
  ] as const
  for (const [reply, code] of refusals) assert.deepEqual([reply.statusCode, reply.data()['code']], [403, code])
  assert.equal(await rows(), before)
  assert.equal((await calls.remove(id, deletes)).statusCode, 200)
})

test('a restricted key acts on a flow only when it lists every campaign that leads there', async () => {
  const id = await calls.flow(straight())
  const [one, two] = [await calls.campaign(id), await calls.campaign(id)]
  const [some, all] = [await calls.key(ALL, [uuid(one.id)]), await calls.key(ALL, [uuid(one.id), uuid(two.id)])]
  const before = await rows()
  for (const reply of [
    await calls.publish(id, some),
    await calls.setStatus(id, 'paused', some),
    await calls.remove(id, some),
  ])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'campaign_scope_forbidden'])
  assert.equal(await rows(), before)
  assert.equal((await calls.publish(id, all)).statusCode, 200)
  assert.equal((await calls.setStatus(id, 'paused', all)).statusCode, 200)
  // A deleted campaign carries no traffic that anybody could harm.
  await house.call('PUT', `/api/campaigns/${two.id}/status`, { ...owner, body: { status: 'archived' } })
  await house.call('DELETE', `/api/campaigns/${two.id}`, owner)
  assert.equal((await calls.publish(id, some)).statusCode, 200)
  const own = await calls.create({ name: 'Its own', graph: straight() }, some)
  assert.equal(own.statusCode, 201)
  assert.equal((await calls.publish(String(own.data()['id']), some)).statusCode, 200)
  assert.equal((await calls.remove(id, some)).statusCode, 200)
})

test('a member looks and tries, and does not touch', async () => {
  const id = await calls.flow(straight())
  await calls.publish(id)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  for (const reply of [
    await calls.read(id, member),
    await calls.versions(id, '', member),
    await calls.version(id, 1, member),
    await calls.attempt(id, { visitor: {} }, member),
  ])
    assert.equal(reply.statusCode, 200)
  const before = await rows()
  for (const reply of [
    await calls.create({ name: 'X', graph: straight() }, member),
    await calls.put(id, { name: 'X', graph: straight() }, member),
    await calls.setStatus(id, 'paused', member),
    await calls.publish(id, member),
    await calls.restore(id, 1, member),
    await calls.remove(id, member),
  ])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'role_forbidden'])
  assert.equal(await rows(), before)
})

test('objects of all kinds that are live may be published', async () => {
  const graph = forked({ field: 'bot' })
  graph.nodes[2] = { id: 'a', type: 'bot', bot_id: toWireId(await seedBot(house.database, owner.org_id, 'flow_bot')) }
  graph.nodes[3] = { id: 'b', type: 'landing', landing_id: await calls.landing('Quiz') }
  graph.nodes.push({ id: 'c', type: 'offer', offer_id: await calls.offer('Prize') })
  graph.edges.push({ from: 'b', to: 'c' })
  const reply = await calls.publish(await calls.flow(graph))
  assert.equal(reply.statusCode, 200, reply.body)
  assert.deepEqual(reply.json<WireFlow>().graph, graph)
})
