// Paths of click flows that end in a channel.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { flowCalls } from '../../../tests/support/flows.ts'
import { useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedChannel, seedLinks } from '../../../tests/support/invite-links.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import type { FlowNode, Graph, Tried } from '../../traffic/click-flows/api.ts'
import { grantOf } from '../../traffic/invite-links/invite-links.ts'

let house: TestHouse
let owner: SignedIn
let calls: ReturnType<typeof flowCalls>
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  calls = flowCalls(house, owner)
})
after(() => house.end())

const ENTRY: FlowNode = { id: 'entry', type: 'entry' }
const through = (...nodes: FlowNode[]): Graph => ({
  nodes: [ENTRY, ...nodes],
  edges: nodes.map(({ id }, at) => ({ from: at === 0 ? 'entry' : (nodes[at - 1]?.id ?? ''), to: id })),
})

async function aChannel(links = 20, about: { username?: string } = {}): Promise<string> {
  const { id } = await seedChannel(house.ground.db, owner.org_id, about)
  if (links > 0) await seedLinks(house.ground.db, owner.org_id, id, { count: links })
  await announceChange(house.ground.db, owner.org_id, id)
  return toWireId(id)
}

async function published(graph: Graph, fields: object = {}) {
  const id = await calls.flow(graph)
  const reply = await calls.publish(id)
  assert.equal(reply.statusCode, 200, reply.body)
  return { id, campaign: await calls.campaign(id, fields) }
}

const locationOf = async (url: string, headers: Record<string, string> = BROWSER) =>
  String((await house.call('GET', url, { headers })).headers.location)
const grant = (url: string) => grantOf(house.ground.db, owner.org_id, { url })
const count = async (channel_id: string) =>
  (
    await house.ground.db
      .selectFrom('link_grants')
      .select('link_id')
      .where('channel_id', '=', toUuid(channel_id) ?? '')
      .execute()
  ).length

test('a way ends in a channel by a link of the click’s own, and earns as at a bot', async () => {
  const [offer_id, channel_id] = [await calls.offer('Campaigns'), await aChannel()]
  const { campaign } = await published(through({ id: 'tg', type: 'channel', channel_id, link_host: 'telegram.me' }), {
    offer_id,
  })
  const [one, other] = [await locationOf(`/c/${campaign.key}`), await locationOf(`/c/${campaign.key}`)]
  assert.match(one, /^https:\/\/telegram\.me\/\+/)
  assert.notEqual(one, other)
  const found = await grant(one.replace('telegram.me', 't.me'))
  const { rows } = await house.database.reads.query<{ offer_id: string }>('select offer_id from clicks where id = $1', [
    found?.click_id,
  ])
  assert.equal(rows[0]?.offer_id, toUuid(offer_id))
})

test('behind a landing the link is given when the visitor goes on, once, and to nobody who only looks', async () => {
  const [landing_id, channel_id] = [await calls.landing('page'), await aChannel()]
  const { campaign } = await published(
    through({ id: 'page', type: 'landing', landing_id }, { id: 'tg', type: 'channel', channel_id }),
  )
  const [shared] = await seedLinks(house.ground.db, owner.org_id, toUuid(channel_id) ?? '', {
    campaign_id: toUuid(campaign.id) ?? '',
  })
  await announceChange(house.ground.db, owner.org_id, shared?.id ?? '')
  const landed = await locationOf(`/c/${campaign.key}`)
  const click = new URL(landed).searchParams.get('c') ?? ''
  assert.equal(new URL(landed).host, 'land.example')
  assert.equal(await count(channel_id), 0)
  assert.equal(await locationOf(`/o/${click}`, { 'user-agent': 'Googlebot/2.1' }), shared?.url)
  assert.equal(await count(channel_id), 0)
  const urls = await Promise.all([1, 2, 3].map(() => locationOf(`/o/${click}`)))
  assert.equal(new Set(urls).size, 1)
  assert.notEqual(urls[0], shared?.url)
  assert.equal(await count(channel_id), 1)
  assert.equal(toWireId((await grant(urls[0] ?? ''))?.click_id ?? ''), click)
})

test('behind a landing the campaign’s fallback comes before its offer and before the address of a public channel', async () => {
  const [landing_id, channel_id] = [await calls.landing('bare'), await aChannel(0, { username: 'deals_of_all' })]
  const offer_id = await calls.offer('Earned')
  const { campaign } = await published(
    through({ id: 'page', type: 'landing', landing_id }, { id: 'tg', type: 'channel', channel_id }),
    { offer_id },
  )
  const click = new URL(await locationOf(`/c/${campaign.key}`)).searchParams.get('c') ?? ''
  assert.equal(new URL(await locationOf(`/o/${click}`)).host, 'fallback.example')
})

test('a channel that is deleted takes no visitor of a flow: they go to the fallback', async () => {
  const [channel_id, offer_id] = [await aChannel(), await calls.offer('Another')]
  const { campaign } = await published(through({ id: 'tg', type: 'channel', channel_id }))
  const made = await house.call('POST', '/api/campaigns', {
    ...owner,
    body: {
      name: 'Straight there',
      destination: { type: 'channel', channel_id },
      fallback_url: 'https://fallback.example/',
      offer_id,
    },
  })
  assert.equal(made.statusCode, 201, made.body)
  // Joins are credited to the offer; visitors go to the channel.
  const listed = (await house.call('GET', '/api/offers', owner)).json<{ data: { id: string; campaigns: object }[] }>()
  assert.deepEqual(listed.data.find(({ id }) => id === offer_id)?.campaigns, {
    following: 0,
    own_address: 0,
    by_funnel: 0,
    by_click_flow: 0,
  })
  const archived = await house.call('PUT', `/api/offers/${offer_id}/status`, { ...owner, body: { status: 'archived' } })
  assert.deepEqual(archived.data()['campaigns_on_fallback'], [])
  const { id, campaigns_on_fallback } = (await house.call('DELETE', `/api/channels/${channel_id}`, owner)).json<{
    id: string
    campaigns_on_fallback: { id: string }[]
  }>()
  assert.equal(id, channel_id)
  assert.deepEqual(
    campaigns_on_fallback.map(one => one.id).toSorted(),
    [campaign.id, String(made.data()['id'])].toSorted(),
    'both are told',
  )
  assert.equal(new URL(await locationOf(`/c/${campaign.key}`)).host, 'fallback.example')
})

test('what is wrong with a channel in a flow is said before it is published', async () => {
  for (const [node, said] of [
    [{}, /^Node tg: names no channel\. Choose one \(channel_id\)\.$/],
    [{ channel_id: toWireId('00000000-0000-4000-8000-000000000000') }, /^Node tg: there is no such channel\./],
  ] as const) {
    const id = await calls.flow(through({ id: 'tg', type: 'channel', ...node }))
    const reply = await calls.publish(id)
    assert.equal(reply.statusCode, 422)
    const problems = ((await calls.read(id)).data()['problems'] as { message: string }[]).map(({ message }) => message)
    assert.match(problems[0] ?? '', said)
  }
  const channel_id = await aChannel(0)
  const id = await calls.flow(through({ id: 'tg', type: 'channel', channel_id }))
  const tried = (await calls.attempt(id, { visitor: {} })).data() as Tried
  const way = tried.visitors[0]?.draft
  assert.deepEqual([way?.outcome, way?.leads_to], ['channel', 'channel Deals'])
  assert.match(way?.address ?? '', /^https:\/\/t\.me\/\+/)
})
