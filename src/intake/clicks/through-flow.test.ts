import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { flowCalls } from '../../../tests/support/flows.ts'
import { forked, parted, straight } from '../../../tests/support/graphs.ts'
import { openTestHouse, seedKey, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedBot } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import type { FlowNode, Graph } from '../../traffic/click-flows/api.ts'

let house: TestHouse
let owner: SignedIn
let calls: ReturnType<typeof flowCalls>
before(async () => {
  house = await startHouse({ TRUST_PROXY: '127.0.0.1' })
  owner = await seedSignedIn(house)
  calls = flowCalls(house, owner)
})
after(() => house.end())

const visit = (key: string, headers: Record<string, string> = {}, query = '') =>
  house.call('GET', `/c/${key}${query}`, { headers: { ...BROWSER, ...headers } })
const targetOf = async (key: string, headers: Record<string, string> = {}, query = ''): Promise<string> => {
  const answer = await visit(key, headers, query)
  assert.equal(answer.statusCode, 302, answer.body)
  return String(answer.headers.location)
}

/** The newest click of a campaign. */
async function clickOf(campaign_id: string) {
  const { rows } = await house.database.reads.query<Record<string, unknown>>(
    'select id, click_flow_node_path as path, offer_id, landing_id, bot_id from clicks where org_id = $1 and campaign_id = $2 order by id desc limit 1',
    [owner.org_id, toUuid(campaign_id)],
  )
  return rows[0] ?? {}
}

/** A published flow with a campaign that leads to it. */
async function published(graph: Graph, fields: object = {}) {
  const id = await calls.flow(graph)
  const reply = await calls.publish(id)
  assert.equal(reply.statusCode, 200, reply.body)
  return { id, campaign: await calls.campaign(id, fields) }
}

test('visitors go by the published version, from the answer to publish on, and the click keeps the path', async () => {
  const id = await calls.flow(straight('https://one.example/?c={click_id}'))
  const campaign = await calls.campaign(id)
  assert.match(await targetOf(campaign.key), /^https:\/\/fallback\.example/)
  assert.equal((await clickOf(campaign.id))['path'], null)
  await calls.publish(id)
  const target = await targetOf(campaign.key)
  const click = await clickOf(campaign.id)
  assert.equal(target, `https://one.example/?c=${toWireId(String(click['id']))}`)
  assert.equal(click['path'], '1:entry>end')
  await calls.put(id, { name: 'Flow', graph: straight('https://two.example/') })
  assert.match(await targetOf(campaign.key), /^https:\/\/one\.example/)
  await calls.publish(id)
  assert.equal(await targetOf(campaign.key), 'https://two.example/')
  assert.equal((await clickOf(campaign.id))['path'], '2:entry>end')
})

test('leaving active sends visitors to the fallback at once, and back', async () => {
  const { id, campaign } = await published(straight())
  for (const status of ['paused', 'archived']) {
    await calls.setStatus(id, status)
    assert.match(await targetOf(campaign.key), /^https:\/\/fallback\.example/, status)
    await calls.setStatus(id, 'active')
    assert.equal(await targetOf(campaign.key), 'https://end.example/')
  }
  await calls.remove(id)
  assert.match(await targetOf(campaign.key), /^https:\/\/fallback\.example/)
})

test('another process follows without being asked', async () => {
  const { id, campaign } = await published(straight('https://one.example/'))
  const second = await openTestHouse(house.database, {})
  try {
    const target = async () => (await second.call('GET', `/c/${campaign.key}`, { headers: BROWSER })).headers.location
    assert.equal(await target(), 'https://one.example/')
    await calls.put(id, { name: 'Flow', graph: straight('https://two.example/') })
    await calls.publish(id)
    await eventually('it follows', async () => (await target()) === 'https://two.example/')
  } finally {
    await second.end()
  }
})

test('conditions ask the visit itself', async () => {
  const asked: [Partial<FlowNode>, Record<string, string>, string][] = [
    [{ field: 'geo', values: ['US'] }, { 'x-forwarded-for': '8.8.8.8' }, ''],
    [{ field: 'device', values: ['mobile'] }, {}, ''],
    [{ field: 'os', values: ['android'] }, {}, ''],
    [{ field: 'browser', match: 'contains', values: ['chrome'] }, {}, ''],
    [{ field: 'language', values: ['pt'] }, { 'accept-language': 'en;q=0.3,pt-BR' }, ''],
    [{ field: 'sub4', values: ['x y'] }, {}, '?sub4=X%20Y'],
    [{ field: 'uniqueness' }, {}, ''],
    [
      { field: 'bot' },
      { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' },
      '',
    ],
    [{ field: 'bot' }, { 'sec-purpose': 'prefetch' }, ''],
    [{ field: 'time', days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] }, {}, ''],
  ]
  const known = { cookie: 'vis_id=7a0f4f0e-8c2b-4a53-9f0e-0f2b8a1f6c11' }
  for (const [condition, headers, query] of asked) {
    const { campaign } = await published(forked(condition))
    assert.equal(await targetOf(campaign.key, headers, query), 'https://end.example/yes', JSON.stringify(condition))
    if (condition.field === 'time') continue
    const other = {
      'x-forwarded-for': '127.0.0.1',
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
    }
    assert.equal(
      await targetOf(campaign.key, { ...other, ...known }),
      'https://end.example/no',
      JSON.stringify(condition),
    )
  }
})

test('a split sends a visitor the same way again and again', async () => {
  const { campaign } = await published(parted(1, 1, 1, 1))
  for (const digit of '0123456789') {
    const cookie = `vis_id=7a0f4f0e-8c2b-4a53-9f0e-0f2b8a1f6c1${digit}`
    const first = await targetOf(campaign.key, { cookie })
    assert.equal(await targetOf(campaign.key, { cookie }), first)
  }
})

const ends = (...nodes: FlowNode[]): Graph => ({
  nodes: [{ id: 'entry', type: 'entry' }, ...nodes],
  edges: nodes.map(({ id }, at) => ({ from: nodes[at - 1]?.id ?? 'entry', to: id })),
})

test('a bot node binds the click to its bot and starts it with the click id', async () => {
  const bot_id = await seedBot(house.database, owner.org_id, 'Flow_bot')
  await announceChange(house.ground.db, owner.org_id, bot_id)
  const { campaign } = await published(ends({ id: 'tg', type: 'bot', bot_id: toWireId(bot_id) }))
  const target = await targetOf(campaign.key)
  const click = await clickOf(campaign.id)
  assert.equal(target, `https://t.me/Flow_bot?start=${toWireId(String(click['id']))}`)
  assert.deepEqual([click['bot_id'], click['path']], [bot_id, '1:entry>tg'])
})

test('a deleted bot sends its branch to the fallback, from the answer on', async () => {
  const bot_id = await seedBot(house.database, owner.org_id, 'Leaving_bot', house.ground.secrets.seal('7:token'))
  await announceChange(house.ground.db, owner.org_id, bot_id)
  const { campaign } = await published(ends({ id: 'tg', type: 'bot', bot_id: toWireId(bot_id) }))
  assert.match(await targetOf(campaign.key), /^https:\/\/t\.me\/Leaving_bot/)
  const removed = await house.call('DELETE', `/api/bots/${toWireId(bot_id)}`, owner)
  assert.equal(removed.statusCode, 200, removed.body)
  assert.match(await targetOf(campaign.key), /^https:\/\/fallback\.example/)
  assert.equal((await clickOf(campaign.id))['bot_id'], null)
})

test('a landing leads on to the offer that the graph chose at the click', async () => {
  const [landing, offer] = [await calls.landing('Quiz'), await calls.offer('Prize')]
  const graph = ends({ id: 'l', type: 'landing', landing_id: landing }, { id: 'o', type: 'offer', offer_id: offer })
  const { campaign } = await published(graph)
  const target = await targetOf(campaign.key)
  const click = await clickOf(campaign.id)
  const wire = toWireId(String(click['id']))
  assert.equal(target, `https://land.example/Quiz?c=${wire}`)
  assert.deepEqual(
    [click['landing_id'], click['offer_id'], click['path']],
    [toUuid(landing), toUuid(offer), '1:entry>l>o'],
  )
  const onward = await house.call('GET', `/o/${wire}`, { headers: BROWSER })
  assert.equal(onward.headers.location, `https://offer.example/Prize?c=${wire}`)
})

test('a landing leads on to a bot as well', async () => {
  const bot_id = await seedBot(house.database, owner.org_id, 'Behind_bot')
  await announceChange(house.ground.db, owner.org_id, bot_id)
  const graph = ends(
    { id: 'l', type: 'landing', landing_id: await calls.landing('Pre') },
    { id: 'tg', type: 'bot', bot_id: toWireId(bot_id) },
  )
  const { campaign } = await published(graph)
  assert.match(await targetOf(campaign.key), /^https:\/\/land\.example\/Pre/)
  const click = await clickOf(campaign.id)
  assert.equal(click['bot_id'], bot_id)
  const wire = toWireId(String(click['id']))
  const onward = await house.call('GET', `/o/${wire}`, { headers: BROWSER })
  assert.equal(onward.headers.location, `https://t.me/Behind_bot?start=${wire}`)
})

test('what was archived sends its own branch to the fallback and no other', async () => {
  const offer = await calls.offer('Short-lived')
  const graph = forked({ field: 'sub1', values: ['a'] })
  graph.nodes[2] = { id: 'a', type: 'offer', offer_id: offer }
  const { campaign } = await published(graph)
  assert.match(await targetOf(campaign.key, {}, '?sub1=a'), /^https:\/\/offer\.example/)
  await house.call('PUT', `/api/offers/${offer}/status`, { ...owner, body: { status: 'archived' } })
  assert.match(await targetOf(campaign.key, {}, '?sub1=a'), /^https:\/\/fallback\.example/)
  const { path, offer_id } = await clickOf(campaign.id)
  assert.deepEqual([path, offer_id], ['1:entry>ask>a!', null])
  assert.equal(await targetOf(campaign.key), 'https://end.example/no')
})

test('without a fallback, a landing whose offer is closed is still shown', async () => {
  const [landing, offer] = [await calls.landing('Alone'), await calls.offer('Closed')]
  const graph = ends({ id: 'l', type: 'landing', landing_id: landing }, { id: 'o', type: 'offer', offer_id: offer })
  const { campaign } = await published(graph, { fallback_url: null })
  await house.call('PUT', `/api/offers/${offer}/status`, { ...owner, body: { status: 'archived' } })
  assert.match(await targetOf(campaign.key), /^https:\/\/land\.example\/Alone/)
  const { path, offer_id, landing_id } = await clickOf(campaign.id)
  assert.deepEqual([path, offer_id, landing_id], ['1:entry>l>o!', null, toUuid(landing)])
})

test('a redirect earns for no offer, whatever the campaign names', async () => {
  const { campaign } = await published(straight(), { offer_id: await calls.offer('Campaigns-own') })
  await targetOf(campaign.key)
  assert.equal((await clickOf(campaign.id))['offer_id'], null)
})

test('a conversion of a click that a redirect sent away brings no payout', async () => {
  const reply = await house.call('POST', '/api/offers', {
    ...owner,
    body: { name: 'Dear', url: 'https://offer.example/', payout: '18.50', payout_types: ['lead'] },
  })
  const { id: offer } = reply.json<{ id: string }>()
  const revenueOf = async (earns_for_offer_id: string | null) => {
    const graph = straight()
    graph.nodes[1] = { id: 'end', type: 'redirect', url: 'https://end.example/', earns_for_offer_id }
    const { campaign } = await published(graph, { offer_id: offer })
    await targetOf(campaign.key)
    const clickId = toWireId(String((await clickOf(campaign.id))['id']))
    const { secret } = await seedKey(house.database, owner, { rights: ['events'] })
    const told = await house.call('POST', '/api/events', { key: secret, body: { clickId, type: 'lead', nonce: 'n' } })
    assert.equal(told.statusCode, 201, told.body)
    const { rows } = await house.database.reads.query<{ revenue: string }>(
      'select revenue::float8::text as revenue from clicks where org_id = $1 and id = $2',
      [owner.org_id, toUuid(clickId)],
    )
    return rows[0]?.revenue
  }
  assert.deepEqual([await revenueOf(null), await revenueOf(offer)], [null, '18.5'])
})

test('a redirect earns for the offer it names, and for none once that is archived; visitors go the same way', async () => {
  const offer = await calls.offer('Elsewhere')
  const graph = straight('https://end.example/?o={offer_id}')
  graph.nodes[1] = { ...graph.nodes[1], id: 'end', type: 'redirect', earns_for_offer_id: offer }
  const { campaign } = await published(graph, { offer_id: await calls.offer('Not-this') })
  assert.equal(await targetOf(campaign.key), `https://end.example/?o=${offer}`)
  assert.equal((await clickOf(campaign.id))['offer_id'], toUuid(offer))
  await house.call('PUT', `/api/offers/${offer}/status`, { ...owner, body: { status: 'archived' } })
  assert.equal(await targetOf(campaign.key), 'https://end.example/?o=')
  const { path, offer_id } = await clickOf(campaign.id)
  assert.deepEqual([path, offer_id], ['1:entry>end', null])
})

test('what another type of node needs is ignored on a redirect', async () => {
  const graph = straight()
  graph.nodes[1] = { ...graph.nodes[1], id: 'end', type: 'redirect', offer_id: await calls.offer('Stray') }
  const { campaign } = await published(graph)
  assert.equal(await targetOf(campaign.key), 'https://end.example/')
  assert.equal((await clickOf(campaign.id))['offer_id'], null)
})

test('a bot, and a landing with nothing behind it, earn for the offer of the campaign', async () => {
  const offer = await calls.offer('Campaigns')
  const bot_id = await seedBot(house.database, owner.org_id, 'Earning_bot')
  await announceChange(house.ground.db, owner.org_id, bot_id)
  const landing = await calls.landing('Last')
  for (const node of [
    { id: 'tg', type: 'bot', bot_id: toWireId(bot_id) },
    { id: 'l', type: 'landing', landing_id: landing },
  ] as const) {
    const { campaign } = await published(ends(node), { offer_id: offer })
    await targetOf(campaign.key)
    assert.equal((await clickOf(campaign.id))['offer_id'], toUuid(offer), node.type)
  }
})

test('drafts that are changed and published at once: the last version is in traffic', async () => {
  const { id, campaign } = await published(straight())
  await Promise.all(
    ['a', 'b', 'c'].map(async name => {
      await calls.put(id, { name, graph: straight(`https://${name}.example/`) })
      await calls.publish(id)
    }),
  )
  await targetOf(campaign.key)
  const { published_version } = (await calls.read(id)).data()
  assert.ok(Number(published_version) > 1)
  assert.equal((await clickOf(campaign.id))['path'], `${String(published_version)}:entry>end`)
})

test('a visitor is new again when the hours have passed that a condition asks for, in this campaign and by a cookie of theirs alone', async t => {
  const asked = { field: 'uniqueness', within_hours: 24 } as const
  const { campaign } = await published(forked(asked))
  const { campaign: other } = await published(forked(asked))
  const { campaign: plain } = await published(forked({ field: 'uniqueness' }))
  const jar = new Map<string, string>()
  const come = async (key: string, cookies = jar) => {
    const answer = await visit(key, { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') })
    for (const set of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = '', path] = /^([^=]+)=([^;]*).*Path=([^;]+)/.exec(set) ?? []
      assert.equal(path, name === 'vis_seen' ? `/c/${key}` : '/')
      cookies.set(name, value)
    }
    return String(answer.headers.location).startsWith('https://end.example/yes')
  }
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  assert.equal(await come(campaign.key), true)
  assert.equal(await come(campaign.key), false)
  const here = jar.get('vis_seen') ?? ''
  // Another campaign's cookie, another visitor's and a forged one do not count.
  assert.equal(await come(other.key, new Map(jar)), true)
  assert.equal(
    await come(
      campaign.key,
      new Map([
        ['vis_id', crypto.randomUUID()],
        ['vis_seen', here],
      ]),
    ),
    true,
  )
  const [seconds = ''] = here.split('.')
  assert.equal(await come(campaign.key, new Map([...jar, ['vis_seen', `${seconds}.${'A'.repeat(16)}`]])), true)
  t.mock.timers.tick(23 * 3_600_000)
  assert.equal(await come(campaign.key), false)
  // From the last visit on, not from the first.
  t.mock.timers.tick(23 * 3_600_000)
  assert.equal(await come(campaign.key), false)
  t.mock.timers.tick(24 * 3_600_000)
  assert.equal(await come(campaign.key), true)
  assert.equal(await come(plain.key, new Map(jar)), false)
  const crawler = await visit(campaign.key, { 'user-agent': 'facebookexternalhit/1.1' })
  assert.match(String(crawler.headers.location), /^https:\/\/end\.example\/no/)
  assert.equal(crawler.headers['set-cookie'], undefined)
  const quiet = await visit(plain.key)
  assert.doesNotMatch(String(quiet.headers['set-cookie']), /vis_seen/)
})

test('so many hours as no cookie is kept for are refused', async () => {
  for (const within_hours of [0, 721, 1.5]) {
    const body = { name: 'Flow', graph: forked({ field: 'uniqueness', within_hours }) }
    assert.equal((await house.call('POST', '/api/click-flows', { cookie: owner.cookie, body })).statusCode, 400)
  }
})
