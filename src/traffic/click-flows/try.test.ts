import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { flowCalls } from '../../../tests/support/flows.ts'
import { forked, parted, straight } from '../../../tests/support/graphs.ts'
import { newId, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import type { Tried } from './api.ts'

let house: TestHouse
let owner: SignedIn
let calls: ReturnType<typeof flowCalls>
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  calls = flowCalls(house, owner)
})
after(() => house.end())

async function tried(id: string, body: object): Promise<Tried> {
  const reply = await calls.attempt(id, body)
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json()
}

const clickCount = async () =>
  (await house.database.reads.query<{ count: number }>('select count(*)::int as count from clicks')).rows[0]?.count

test('a described visitor is told every node passed and why, by the draft and by the published version', async () => {
  const offer = await calls.offer('Prize')
  const graph = forked({ field: 'geo', values: ['DE'], label: 'Germans' })
  const id = await calls.flow(graph)
  await calls.publish(id)
  graph.nodes[2] = { id: 'a', type: 'offer', offer_id: offer }
  await calls.put(id, { name: 'Flow', graph })
  const { visitors, changed, ends, problems } = await tried(id, { visitor: { geo: 'DE', device: 'mobile' } })
  assert.deepEqual([changed, problems], [1, []])
  const [visitor] = visitors
  assert.equal(visitor?.says, 'DE, mobile, new')
  assert.deepEqual(visitor?.draft, {
    steps: [
      { node_id: 'entry', type: 'entry', label: '', reason: 'Everyone begins here.' },
      { node_id: 'ask', type: 'condition', label: 'Germans', reason: 'geo is DE, asked for DE: yes.' },
      { node_id: 'a', type: 'offer', label: '', reason: 'Leads to offer Prize.' },
    ],
    outcome: 'offer',
    leads_to: 'offer Prize',
    address: 'https://offer.example/Prize?c=01jb2k7q4nf7mrk0t5c8h3v9xz',
    earns_for: 'offer Prize',
  })
  assert.equal(visitor?.published?.leads_to, 'https://end.example/yes')
  assert.deepEqual(ends, [
    { leads_to: 'offer Prize', draft: 1, published: 0 },
    { leads_to: 'https://end.example/yes', draft: 0, published: 1 },
  ])
  assert.equal((await tried(id, { visitor: { geo: 'FR' } })).changed, 0)
})

test('the address is told with the values of the try, and what the click earns for', async () => {
  const offer = await calls.offer('Prize')
  const redirect = {
    id: 'end',
    type: 'redirect',
    url: 'https://end.example/?geo={geo}&s={sub1}&c={click_id}&r={ref_id}&k={campaign_id}&o={offer_id}',
    earns_for_offer_id: offer,
  } as const
  const graph = { ...straight(), nodes: [{ id: 'entry', type: 'entry' }, redirect] }
  const id = await calls.flow(graph)
  const told = async (body: object) => (await tried(id, body)).visitors[0]?.draft
  const EXAMPLES = { click: '01jb2k7q4nf7mrk0t5c8h3v9xz', campaign: '01jazt5y0qfk8a2m4n6p8r0s2t' }
  const described = await told({ visitor: { geo: 'DE', sub1: 'a b' } })
  assert.equal(
    described?.address,
    `https://end.example/?geo=DE&s=a%20b&c=${EXAMPLES.click}&r=&k=${EXAMPLES.campaign}&o=${offer}`,
  )
  assert.equal(described.steps.at(-1)?.reason, `Leads to ${described.address}.`)
  assert.equal(described.earns_for, 'offer Prize')
  const campaign = await calls.campaign(id)
  await house.call('GET', `/c/${campaign.key}?sub1=z&ref_id=R`, { headers: { 'user-agent': 'curl/8' } })
  const reply = await calls.attempt(id, { last_clicks: 1 })
  const { visitors } = reply.json<Tried>()
  assert.equal(
    visitors[0]?.draft.address,
    `https://end.example/?geo=&s=z&c=${String(visitors[0]?.click_id)}&r=R&k=${campaign.id}&o=${offer}`,
  )
  await house.call('PUT', `/api/offers/${offer}/status`, { ...owner, body: { status: 'archived' } })
  assert.equal((await told({ visitor: {} }))?.earns_for, null)
})

test('a plain redirect and the fallback are told to earn for none, a bare landing for the campaign’s offer', async () => {
  const earnsFor = async (graph: object) => {
    const { draft } = (await tried(await calls.flow(graph), { visitor: {} })).visitors[0] ?? {}
    return [draft?.outcome, draft?.address, draft?.earns_for]
  }
  assert.deepEqual(await earnsFor(straight()), ['redirect', 'https://end.example/', null])
  assert.deepEqual(await earnsFor({ nodes: [{ id: 'entry', type: 'entry' }], edges: [] }), ['fallback', null, null])
  const bare = {
    nodes: [
      { id: 'entry', type: 'entry' },
      { id: 'l', type: 'landing', landing_id: await calls.landing('Bare') },
    ],
    edges: [{ from: 'entry', to: 'l' }],
  }
  assert.deepEqual(await earnsFor(bare), [
    'landing',
    'https://land.example/Bare?c=01jb2k7q4nf7mrk0t5c8h3v9xz',
    'the offer of the campaign, where it has one',
  ])
})

test('a draft with gaps, and an archived object, end at the fallback and say why', async () => {
  const offer = await calls.offer('Gone')
  const graph = forked({ field: 'bot' })
  graph.nodes[3] = { id: 'b', type: 'offer', offer_id: offer }
  graph.edges = graph.edges.filter(({ branch }) => branch !== 'yes')
  const id = await calls.flow(graph)
  await house.call('PUT', `/api/offers/${offer}/status`, { ...owner, body: { status: 'archived' } })
  const way = async (visitor: object) => (await tried(id, { visitor })).visitors[0]
  const bot = await way({ is_bot: true })
  assert.deepEqual([bot?.draft.outcome, bot?.published], ['fallback', null])
  assert.equal(bot?.draft.steps.at(-1)?.reason, 'This is a bot: this branch leads nowhere.')
  const person = await way({})
  assert.equal(person?.draft.outcome, 'fallback')
  assert.equal(
    person?.draft.steps.at(-1)?.reason,
    'Its offer is archived, so the visitor goes to the fallback of the campaign.',
  )
  assert.equal((await tried(id, { visitor: {} })).problems.length, 3)
})

test('the same visitor takes the same branch, as in traffic', async () => {
  const id = await calls.flow(parted(1, 1, 1))
  const [one, two] = [
    await tried(id, { visitor: { visitor: 'somebody' } }),
    await tried(id, { visitor: { visitor: 'somebody', geo: 'DE' } }),
  ]
  assert.equal(one.visitors[0]?.draft.leads_to, two.visitors[0]?.draft.leads_to)
  assert.match(one.visitors[0]?.draft.steps[1]?.reason ?? '', /share of end\d, 1 of 3/)
})

test('the last clicks of the campaigns behind a flow are tried, newest first, and nothing is recorded', async () => {
  const id = await calls.flow(forked({ field: 'sub1', values: ['a'] }))
  await calls.publish(id)
  const [first, second] = [await calls.campaign(id), await calls.campaign(id)]
  const visit = (key: string, sub1: string) =>
    house.call('GET', `/c/${key}?sub1=${sub1}`, { headers: { 'user-agent': 'curl/8' } })
  await visit(first.key, 'a')
  await visit(second.key, 'b')
  await visit(first.key, 'b')
  const before = await clickCount()
  const graph = forked({ field: 'sub1', values: ['b'] })
  await calls.put(id, { name: 'Flow', graph })
  const all = await tried(id, { last_clicks: 200 })
  assert.deepEqual([all.tried, all.changed], [3, 3])
  const ends = new Map(all.ends.map(({ leads_to, draft, published }) => [leads_to, [draft, published]]))
  assert.deepEqual(
    [ends.size, ends.get('https://end.example/no'), ends.get('https://end.example/yes')],
    [2, [1, 2], [2, 1]],
  )
  assert.ok(all.visitors.every(({ click_id }) => click_id !== null))
  assert.equal((await tried(id, { last_clicks: 2 })).tried, 2)
  assert.equal((await tried(id, { last_clicks: 9, campaign_id: second.id })).tried, 1)
  assert.equal(await clickCount(), before)
})

test('a try that cannot be made is refused', async () => {
  const id = await calls.flow(straight())
  const stranger = await seedSignedIn(house)
  const theirs = await calls.campaign(await calls.flow(straight(), stranger), {}, stranger)
  const wrong: [object, RegExp][] = [
    [{}, /either/],
    [{ visitor: {}, last_clicks: 5 }, /either/],
    [{ last_clicks: 0 }, /last_clicks/],
    [{ last_clicks: 201 }, /last_clicks/],
    [{ last_clicks: 5 }, /no campaign leads/],
    [{ last_clicks: 5, campaign_id: theirs.id }, /no such campaign/],
    [{ last_clicks: 5, campaign_id: toWireId(newId()) }, /no such campaign/],
    [{ visitor: { at: 'tomorrow' } }, /at/],
  ]
  for (const [body, words] of wrong) {
    const reply = await calls.attempt(id, body)
    assert.equal(reply.statusCode, 400, JSON.stringify(body))
    assert.match(reply.body, words)
  }
})
