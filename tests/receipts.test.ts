// Answers to writes by key: they have what was written, nothing else of the row, and the campaigns that now use their fallback. A change without an effect
// changes nothing. By every route that a key may write to, and by tools.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { rightOf } from '../src/contract/endpoint.ts'
import { toUuid } from '../src/contract/ids.ts'
import { ALL_RIGHTS, type Right } from '../src/contract/rights.ts'
import { seedKey, startHouse, type TestHouse } from './support/house.ts'
import { type SignedIn, seedSignedIn } from './support/people.ts'
import { callTool } from './support/tools.ts'
import { BROWSER } from './support/visits.ts'

type Body = Record<string, unknown>
type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Row = Body & { id: string }

let house: TestHouse
let owner: SignedIn
let key: string
before(async () => {
  house = await startHouse({ ROLE: 'serve' }, { quotas: { writes: 100_000 } })
  owner = await seedSignedIn(house)
  key = (await seedKey(house.database, owner, { rights: ALL_RIGHTS })).secret
})
after(() => house.end())

type As = { key: string } | { cookie: string }

async function answer(as: As, method: Method | 'GET', url: string, body?: Body): Promise<Row> {
  const reply = await house.call(method, url, { ...as, ...(body === undefined ? {} : { body }) })
  assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.body}`)
  return reply.json<Row>()
}
const byOwner = (method: Method | 'GET', url: string, body?: Body) => answer(owner, method, url, body)
const byKey = (method: Method, url: string, body?: Body) => answer({ key }, method, url, body)
const read = (url: string) => byOwner('GET', url)

/** Part of every name and address, so that an answer that shows one is found. */
const SECRET = 'what-stood-there'
const url = (rest = '') => `https://${SECRET}.example/${rest}?c={click_id}`
const ENTRY = { id: 'in', type: 'entry' }

const anOffer = () =>
  byOwner('POST', '/api/offers', { name: SECRET, url: url(), payout: '7.25', payout_types: ['ftd'] })
const aLanding = () => byOwner('POST', '/api/landings', { name: SECRET, url: url() })
const aFunnel = (landings: Row[], offers: Row[]) =>
  byOwner('POST', '/api/funnels', {
    name: SECRET,
    landings: landings.map(({ id }) => ({ landing_id: id, weight: 1 })),
    offers: offers.map(({ id }) => ({ offer_id: id, weight: 1 })),
  })
const to = (...nodes: Body[]) => ({
  nodes: [ENTRY, ...nodes.map((node, at) => ({ id: `n${at}`, ...node }))],
  edges: nodes.map((_, at) => ({ from: at === 0 ? 'in' : `n${at - 1}`, to: `n${at}` })),
})
const aFlow = (graph: Body = to({ type: 'redirect', url: url() })) =>
  byOwner('POST', '/api/click-flows', { name: SECRET, graph })
const aCampaign = (destination: Body, fields: Body = {}) =>
  byOwner('POST', '/api/campaigns', { name: SECRET, destination, fallback_url: 'https://back.example/', ...fields })
const aRule = () => byOwner('POST', '/api/postbacks', { event_type: 'lead', url: url('token'), once_per_person: true })

async function published(graph?: Body): Promise<Row> {
  const flow = await aFlow(graph)
  return byOwner('POST', `/api/click-flows/${flow.id}/publish`)
}

describe('the answer to a key has what it wrote', () => {
  /** Each change by key: its effect on a new row, and the fields of its answer beside the id. */
  type Change = [route: string, make: () => Promise<Row>, body: Body | undefined, answered: (row: Row) => Body]
  const none = { warnings: [] }
  const CHANGES: Change[] = [
    [
      'PUT /api/offers/:id',
      anOffer,
      { name: 'N', url: 'https://n.example/', payout: null, payout_types: null },
      () => ({
        name: 'N',
        url: 'https://n.example/',
        unknown_macros: [],
        payout: null,
        payout_currency: null,
        payout_types: [],
        status: 'active',
        ...none,
      }),
    ],
    [
      'PUT /api/offers/:id/status',
      anOffer,
      { status: 'archived', name: 'x', url: 'x', payout: 1 },
      () => ({ status: 'archived', campaigns_on_fallback: [] }),
    ],
    [
      'PUT /api/landings/:id',
      aLanding,
      { name: 'N', url: 'https://n.example/' },
      () => ({ name: 'N', url: 'https://n.example/', unknown_macros: [], status: 'active', ...none }),
    ],
    [
      'PUT /api/landings/:id/status',
      aLanding,
      { status: 'archived', url: null },
      () => ({ status: 'archived', campaigns_on_fallback: [] }),
    ],
    [
      'PATCH /api/funnels/:id',
      async () => aFunnel([await aLanding()], [await anOffer()]),
      { name: 'N' },
      () => ({ name: 'N', ...none }),
    ],
    [
      'PATCH /api/campaigns/:id',
      () => aCampaign({ type: 'redirect', url: url() }),
      { name: 'N', strict_filter: null, key: null, created_at: 1 },
      () => ({ name: 'N', status: 'active', ...none }),
    ],
    [
      'PATCH /api/campaigns/:id',
      () => aCampaign({ type: 'redirect', url: url() }),
      {},
      () => ({ status: 'active', ...none }),
    ],
    [
      'PATCH /api/campaigns/:id',
      () => aCampaign({ type: 'redirect', url: url() }),
      { fallback_url: null, source: { sub1: 'z' } },
      () => ({ fallback_url: null, source: { sub1: 'z' }, status: 'active', ...none }),
    ],
    [
      'PUT /api/click-flows/:id',
      aFlow,
      { name: 'N', graph: to({ type: 'redirect', url: 'https://n.example/', label: null }) },
      () => ({
        name: 'N',
        graph: to({ type: 'redirect', url: 'https://n.example/' }),
        status: 'draft',
        published_version: null,
        problems: [],
        ...none,
      }),
    ],
    [
      'PUT /api/click-flows/:id/status',
      published,
      { status: 'paused', graph: {}, name: 'x' },
      () => ({ status: 'paused', published_version: 1, campaigns_on_fallback: [], ...none }),
    ],
    [
      'POST /api/click-flows/:id/publish',
      aFlow,
      undefined,
      () => ({ status: 'active', published_version: 1, ...none }),
    ],
    ['PATCH /api/postbacks/:id', aRule, { active: false }, () => ({ active: false, ...none })],
    [
      'PATCH /api/postbacks/:id',
      aRule,
      { active: null, once_per_person: null, method: null },
      () => ({ active: true, ...none }),
    ],
    ['DELETE /api/offers/:id', anOffer, undefined, () => ({ ok: true, campaigns_on_fallback: [] })],
    ['DELETE /api/landings/:id', aLanding, undefined, () => ({ ok: true, campaigns_on_fallback: [] })],
    [
      'DELETE /api/funnels/:id',
      async () => aFunnel([], [await anOffer()]),
      undefined,
      () => ({ ok: true, campaigns_on_fallback: [] }),
    ],
    ['DELETE /api/click-flows/:id', published, undefined, () => ({ ok: true, campaigns_on_fallback: [] })],
    ['DELETE /api/postbacks/:id', aRule, undefined, () => ({ ok: true })],
  ]

  for (const [route, make, body, answered] of CHANGES)
    test(`${route} ${JSON.stringify(body ?? null).slice(0, 60)}`, async () => {
      const [method, path] = route.split(' ') as [Method, string]
      const row = await make()
      const right = rightOf(house.furnished.find(one => one.endpoint.route === route)?.endpoint.access ?? 'anyone')
      const { secret } = await seedKey(house.database, owner, { rights: [right as Right] })
      const said = await answer({ key: secret }, method, path.replace(':id', row.id), body)
      assert.deepEqual(said, { id: row.id, ...answered(row) })
      assert.ok(!JSON.stringify(said).includes(SECRET))
    })

  test('every change of a row by key declares its receipt', () => {
    const whole = house.furnished
      .map(({ endpoint }) => endpoint)
      .filter(
        ({ access, route, receipt }) =>
          rightOf(access) !== undefined && /^(PUT|PATCH)|:id\//.test(route) && receipt === undefined,
      )
    assert.deepEqual(whole, [])
    const tried = new Set(CHANGES.map(([route]) => route))
    const missing = house.furnished
      .filter(
        ({ endpoint: { access, route } }) =>
          rightOf(access) !== undefined && route.includes(':id') && !tried.has(route),
      )
      .map(({ endpoint }) => endpoint.route)
    // A deleted campaign is in its own answer: see below.
    assert.deepEqual(missing, ['DELETE /api/campaigns/:id'])
  })

  test('has the members of a funnel without their names, which were not sent', async () => {
    const [landing, offer] = [await aLanding(), await anOffer()]
    const { id } = await aFunnel([landing], [])
    const sent = { offers: [{ offer_id: offer.id, weight: 2 }], landings: [{ landing_id: landing.id, weight: 3 }] }
    assert.deepEqual(await byKey('PATCH', `/api/funnels/${id}`, sent), { id, ...sent, warnings: [] })
    const [member] = (await byOwner('PATCH', `/api/funnels/${id}`, sent))['offers'] as Body[]
    assert.deepEqual([member?.['name'], member?.['status']], [SECRET, 'active'])
  })

  test('has all fields of a new row but its tags and note', async () => {
    const made = await byKey('POST', '/api/offers', { name: 'New', url: 'https://n.example/' })
    const { tag_ids: _, note: __, ...row } = await read(`/api/offers/${made.id}`)
    assert.deepEqual({ ...row, warnings: [] }, made)
  })

  test('also by tool: switching off a rule does not show the token in its address', async () => {
    const { id } = await aRule()
    const { secret } = await seedKey(house.database, owner, { rights: ['postbacks:update'] })
    const off = await callTool(house, secret, 'service_update_postback', { postback_id: id, active: false })
    assert.deepEqual(off.structuredContent, { id, active: false, warnings: [] })
    for (const args of [{}, { url: '' }, { url: null }, { active: '', once_per_person: null }]) {
      const shown = await callTool(house, secret, 'service_update_postback', { postback_id: id, ...args })
      assert.ok(!JSON.stringify(shown).includes(SECRET), JSON.stringify(shown))
    }
    const { updated_at } = await read(`/api/postbacks/${id}`)
    const again = await callTool(house, secret, 'service_update_postback', { postback_id: id, active: false })
    assert.deepEqual(again.structuredContent, off.structuredContent)
    assert.equal((await read(`/api/postbacks/${id}`))['updated_at'], updated_at)
  })

  test('has the whole row for sessions', async () => {
    const { id } = await aRule()
    const whole = await byOwner('PATCH', `/api/postbacks/${id}`, { active: false })
    assert.equal(whole['url'], url('token'))
    assert.deepEqual(whole, { ...(await read(`/api/postbacks/${id}`)), warnings: [] })
  })
})

describe('a change without an effect leaves the row as it is, for keys and sessions', () => {
  const same = (row: Row, ...names: string[]): Body => Object.fromEntries(names.map(name => [name, row[name]]))
  const EQUAL: [name: string, make: () => Promise<Row>, path: string, method: Method, body: (row: Row) => Body][] = [
    [
      'an offer',
      anOffer,
      '/api/offers/:id',
      'PUT',
      row => ({ ...same(row, 'name', 'url', 'payout_types'), payout: '7.2500' }),
    ],
    ['its status', anOffer, '/api/offers/:id/status', 'PUT', row => same(row, 'status')],
    ['a landing', aLanding, '/api/landings/:id', 'PUT', row => same(row, 'name', 'url')],
    ['its status', aLanding, '/api/landings/:id/status', 'PUT', row => same(row, 'status')],
    [
      'a funnel',
      async () => aFunnel([], [await anOffer()]),
      '/api/funnels/:id',
      'PATCH',
      row => ({ name: row['name'], landings: [] }),
    ],
    [
      'a campaign',
      () => aCampaign({ type: 'redirect', url: url() }, { source: { sub1: 'z' } }),
      '/api/campaigns/:id',
      'PATCH',
      row => same(row, 'name', 'destination', 'source', 'fallback_url', 'ad_account_id', 'strict_filter', 'key'),
    ],
    [
      'a rule',
      aRule,
      '/api/postbacks/:id',
      'PATCH',
      row => same(row, 'event_type', 'url', 'active', 'once_per_person'),
    ],
    ['a click flow', aFlow, '/api/click-flows/:id', 'PUT', row => same(row, 'name', 'graph')],
    ['its status', published, '/api/click-flows/:id/status', 'PUT', row => same(row, 'status')],
  ]
  for (const [name, make, path, method, body] of EQUAL)
    test(`${name}: ${method} ${path}`, async () => {
      const row = await make()
      const at = path.replace('/status', '').replace(':id', row.id)
      const before = await read(at)
      for (const as of [{ key }, owner]) {
        // Only a session sets a flow active; a key publishes it.
        if ('key' in as && path === '/api/click-flows/:id/status') continue
        await answer(as, method, path.replace(':id', row.id), body(row))
        assert.deepEqual(await read(at), before)
      }
    })

  test('spend with the same amount keeps who entered it, and when', async () => {
    const { id } = await aCampaign({ type: 'redirect', url: url() })
    const body = { campaign_id: id, day: '2026-03-02', amount: '12.50' }
    const first = await byOwner('PUT', '/api/ad-spend', body)
    const again = await byKey('PUT', '/api/ad-spend', { ...body, amount: 12.5 })
    assert.deepEqual(again, {
      campaign_id: id,
      day: '2026-03-02',
      sub1: '',
      amount: '12.5',
      deleted: false,
      warnings: first['warnings'],
    })
    const { deleted: _, warnings: __, ...kept } = first
    assert.deepEqual((await read(`/api/ad-spend?campaign_id=${id}&date_from=2026-03-01&date_to=2026-03-03`))['data'], [
      kept,
    ])
    await byKey('PUT', '/api/ad-spend', { ...body, amount: 13 })
    const [changed] = (await read(`/api/ad-spend?campaign_id=${id}&date_from=2026-03-01&date_to=2026-03-03`))[
      'data'
    ] as Body[]
    assert.deepEqual([changed?.['amount'], changed?.['source']], ['13', 'api'])
  })

  test('publishing the published version returns it, and activates a paused flow', async () => {
    const { id } = await published()
    const before = await read(`/api/click-flows/${id}`)
    const again = await byKey('POST', `/api/click-flows/${id}/publish`)
    assert.deepEqual(again, { id, status: 'active', published_version: 1, warnings: [] })
    assert.deepEqual(await read(`/api/click-flows/${id}`), before)
    await byKey('PUT', `/api/click-flows/${id}/status`, { status: 'paused' })
    assert.deepEqual(await byKey('POST', `/api/click-flows/${id}/publish`), again)
    assert.equal(((await read(`/api/click-flows/${id}/versions`))['data'] as Body[]).length, 1)
  })

  test('an outdated draft tag is refused, even if the draft equals the sent one', async () => {
    const flow = await aFlow()
    const body = { name: flow['name'], graph: flow['graph'], draft_tag: 'another' }
    const refused = await house.call('PUT', `/api/click-flows/${flow.id}`, { ...owner, body })
    assert.deepEqual([refused.statusCode, refused.data()['code']], [409, 'draft_changed'])
  })
})

describe('an answer that closes an object lists the campaigns that now use their fallback', () => {
  const named = (row: Body) => (row['campaigns_on_fallback'] as Row[]).map(({ id }) => id)
  const goesTo = async ({ key: at }: Body) =>
    URL.parse(String((await house.call('GET', `/c/${String(at)}`, { headers: BROWSER })).headers.location))?.host
  const close = (kind: string, { id }: Row, how: 'archived' | 'deleted') =>
    how === 'deleted'
      ? byKey('DELETE', `/api/${kind}/${id}`)
      : byKey('PUT', `/api/${kind}/${id}/status`, { status: how })

  for (const how of ['archived', 'deleted'] as const)
    test(`an offer that is ${how}`, async () => {
      const [offer, other, landing] = [await anOffer(), await anOffer(), await aLanding()]
      const following = await aCampaign({ type: 'offer', offer_id: offer.id })
      const own = await aCampaign({ type: 'redirect', url: 'https://own.example/' }, { offer_id: offer.id })
      const goesOn = await aCampaign({ type: 'offer', offer_id: offer.id }, { fallback_url: null })
      const funnel = await aFunnel([landing], [offer])
      const last = await aCampaign({ type: 'funnel', funnel_id: funnel.id })
      const page = await aCampaign({ type: 'funnel', funnel_id: funnel.id }, { fallback_url: null })
      const shared = await aCampaign({ type: 'funnel', funnel_id: (await aFunnel([], [offer, other])).id })
      const straight = await published(to({ type: 'offer', offer_id: offer.id }))
      const behind = await published(
        to({ type: 'landing', landing_id: landing.id }, { type: 'offer', offer_id: offer.id }),
      )
      const nowhere = await aCampaign({ type: 'click_flow', click_flow_id: straight.id }, { fallback_url: null })
      const flown = await aCampaign({ type: 'click_flow', click_flow_id: behind.id })
      const shown = await aCampaign({ type: 'click_flow', click_flow_id: behind.id }, { fallback_url: null })
      const paused = await aCampaign({ type: 'offer', offer_id: offer.id })
      await byOwner('PUT', `/api/campaigns/${paused.id}/status`, { status: 'paused' })
      const all = [following, own, goesOn, last, page, shared, nowhere, flown, shown]
      const before = await Promise.all(all.map(goesTo))
      assert.ok(!before.includes('back.example'))
      const lost = named(await close('offers', offer, how))
      const after = await Promise.all(all.map(goesTo))
      // The answer agrees with the redirect.
      const strayed = all.filter((_, at) => after[at] === 'back.example' || after[at] === undefined)
      assert.deepEqual(lost, strayed.map(({ id }) => id).toSorted())
      assert.deepEqual(strayed, [following, own, last, nowhere, flown])
      if (how === 'archived') assert.deepEqual(named(await close('offers', offer, 'deleted')), [])
    })

  for (const how of ['archived', 'deleted'] as const)
    test(`a landing that is ${how}`, async () => {
      const [offer, landing] = [await anOffer(), await aLanding()]
      const alone = await aCampaign({ type: 'funnel', funnel_id: (await aFunnel([landing], [])).id })
      const before = await aCampaign({ type: 'funnel', funnel_id: (await aFunnel([landing], [offer])).id })
      const flow = await published(
        to({ type: 'landing', landing_id: landing.id }, { type: 'offer', offer_id: offer.id }),
      )
      const flown = await aCampaign({ type: 'click_flow', click_flow_id: flow.id }, { fallback_url: null })
      const lost = named(await close('landings', landing, how))
      assert.deepEqual(lost, [alone.id, flown.id])
      assert.deepEqual(await Promise.all([alone, before, flown].map(goesTo)), [
        'back.example',
        `${SECRET}.example`,
        undefined,
      ])
    })

  test('a deleted funnel, but not one that had no member left', async () => {
    const offer = await anOffer()
    const funnels = [await aFunnel([], [await anOffer()]), await aFunnel([], [offer])] as const
    const campaigns = [
      await aCampaign({ type: 'funnel', funnel_id: funnels[0].id }),
      await aCampaign({ type: 'funnel', funnel_id: funnels[1].id }),
    ] as const
    assert.deepEqual(named(await close('offers', offer, 'archived')), [campaigns[1].id])
    assert.deepEqual(named(await close('funnels', funnels[0], 'deleted')), [campaigns[0].id])
    assert.deepEqual(named(await close('funnels', funnels[1], 'deleted')), [])
  })

  test('a click flow that is no longer active, once', async () => {
    const flow = await published()
    const { id, name } = await aCampaign({ type: 'click_flow', click_flow_id: flow.id })
    const paused = await byKey('PUT', `/api/click-flows/${flow.id}/status`, { status: 'paused' })
    assert.deepEqual(paused['campaigns_on_fallback'], [{ id, name, has_fallback: true }])
    assert.deepEqual(named(await close('click-flows', flow, 'archived')), [])
    assert.deepEqual(named(await close('click-flows', flow, 'deleted')), [])
    const other = await published()
    const deleted = await aCampaign({ type: 'click_flow', click_flow_id: other.id })
    assert.deepEqual(named(await close('click-flows', other, 'deleted')), [deleted.id])
  })

  test('a deleted campaign, unless it used its fallback before', async () => {
    const { id, name } = await aCampaign({ type: 'redirect', url: url() })
    const gone = { ok: true, id, campaigns_on_fallback: [{ id, name, has_fallback: true }] }
    assert.deepEqual(await byKey('DELETE', `/api/campaigns/${id}`), gone)
    const archived = await aCampaign({ type: 'redirect', url: url() })
    await byOwner('PUT', `/api/campaigns/${archived.id}/status`, { status: 'archived' })
    assert.deepEqual(named(await byOwner('DELETE', `/api/campaigns/${archived.id}`)), [])
  })

  test("another organization's campaigns are never among them", async () => {
    const stranger = await seedSignedIn(house)
    const body = { name: 'Theirs', destination: { type: 'redirect', url: url() }, fallback_url: url() }
    const { id } = await answer(stranger, 'POST', '/api/campaigns', body)
    const offer = await anOffer()
    await house.database.kysely
      .updateTable('campaigns')
      .set({ offer_id: toUuid(offer.id) ?? '' })
      .where('org_id', '=', stranger.org_id)
      .where('id', '=', toUuid(id) ?? '')
      .execute()
    assert.deepEqual(named(await close('offers', offer, 'archived')), [])
  })
})
