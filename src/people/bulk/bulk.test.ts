// Many objects at once: a dry run says what then happens, each object is judged by itself, and the whole act is put back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Row = {
  id: string
  name: string | null
  fate: string
  fields: { name: string; before: unknown; after: unknown }[]
  code: string | null
  error: string | null
  made_id: string | null
}
type Answer = { dry_run: boolean; act_id: string | null; changed: number; same: number; refused: number; data: Row[] }
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

async function workspace() {
  const owner = await seedSignedIn(house)
  const call = (method: Method, url: string, body?: unknown) =>
    house.call(method, url, { cookie: owner.cookie, ...(body === undefined ? {} : { body }) })
  const made = async (url: string, body: unknown) => {
    const reply = await call('POST', url, body)
    assert.equal(reply.statusCode, 201, reply.body)
    return String(reply.data()['id'])
  }
  const offer = (name: string) => made('/api/offers', { name, url: 'https://o.example/' })
  const campaign = (body: object = {}) =>
    made('/api/campaigns', { name: 'C', destination: { type: 'redirect', url: 'https://s.example/' }, ...body })
  const bulk = async (list: string, body: object) => {
    const reply = await call('POST', `/api/${list}/bulk`, { dry_run: false, ...body })
    assert.equal(reply.statusCode, 200, reply.body)
    return reply.json<Answer>()
  }
  /** Checks that a dry run keeps nothing and answers as the call does afterwards. */
  const tried = async (list: string, body: object) => {
    const history = async () => (await call('GET', '/api/history?limit=200')).body
    const earlier = await history()
    const dry = await bulk(list, { ...body, dry_run: true })
    assert.equal(await history(), earlier)
    const real = await bulk(list, body)
    assert.notEqual(real.act_id, null)
    const without = real.data.map(row => ({ ...row, made_id: null }))
    assert.deepEqual(dry, { ...real, dry_run: true, act_id: null, data: without })
    return real
  }
  const read = async (url: string) => (await call('GET', url)).data()
  return { call, made, offer, campaign, bulk, tried, read }
}

const ENTRY = { nodes: [{ id: 'e', type: 'entry' }], edges: [] }
const fates = ({ data }: Answer) => data.map(({ fate, code }) => code ?? fate)

test('campaigns are paused together, each that cannot be is named, and the act is put back as one', async () => {
  const { call, campaign, tried, read } = await workspace()
  const [one, two, paused, archived] = [await campaign(), await campaign(), await campaign(), await campaign()]
  await call('PUT', `/api/campaigns/${paused}/status`, { status: 'paused' })
  await call('PUT', `/api/campaigns/${archived}/status`, { status: 'archived' })
  const foreign = await (await workspace()).campaign()
  const unknown = toWireId(newId())
  const ids = [two, archived, one, paused, foreign, unknown, one]
  const answer = await tried('campaigns', { ids, act: { type: 'pause' } })
  assert.deepEqual(
    answer.data.map(({ id }) => id),
    ids.slice(0, 6),
  )
  assert.deepEqual(fates(answer), ['changes', 'is_archived', 'changes', 'same', 'not_found', 'not_found'])
  assert.deepEqual([answer.changed, answer.same, answer.refused], [2, 1, 3])
  assert.deepEqual(answer.data[0]?.fields, [{ name: 'status', before: 'active', after: 'paused' }])
  assert.deepEqual([answer.data[1]?.name, answer.data[4]?.name], ['C', null])
  const { data } = (await call('GET', `/api/history?act=${answer.act_id}`)).json<{ data: { id: string }[] }>()
  assert.equal(data.length, 2)
  assert.equal((await read(`/api/campaigns/${one}`))['status'], 'paused')
  const undone = await call('POST', `/api/history/${data[0]?.id}/undo`, { whole_act: true })
  assert.equal(undone.statusCode, 200, undone.body)
  for (const id of [one, two]) assert.equal((await read(`/api/campaigns/${id}`))['status'], 'active')
  assert.equal((await read(`/api/campaigns/${paused}`))['status'], 'paused')
})

test('an offer is replaced in campaigns, funnels and drafts of click flows', async () => {
  const { made, offer, campaign, tried, bulk, read } = await workspace()
  const [from, to] = [await offer('Old'), await offer('New')]
  const act = { type: 'replace_offer', from_offer_id: from, to_offer_id: to }
  const leads = await campaign({ destination: { type: 'offer', offer_id: from } })
  const earns = await campaign({ offer_id: from })
  const neither = await campaign()
  const campaigns = await tried('campaigns', { ids: [leads, earns, neither], act })
  assert.deepEqual(fates(campaigns), ['changes', 'changes', 'same'])
  assert.deepEqual((await read(`/api/campaigns/${leads}`))['destination'], { type: 'offer', offer_id: to })
  assert.equal((await read(`/api/campaigns/${earns}`))['offer_id'], to)

  const member = { name: 'F', offers: [{ offer_id: from, weight: 3 }] }
  const funnel = await made('/api/funnels', member)
  const both = await made('/api/funnels', { name: 'G', offers: [...member.offers, { offer_id: to, weight: 1 }] })
  const funnels = await tried('funnels', { ids: [funnel, both], act })
  assert.deepEqual(fates(funnels), ['changes', 'invalid_request'])
  const [share] = (await read(`/api/funnels/${funnel}`))['offers'] as { offer_id: string; weight: number }[]
  assert.deepEqual([share?.offer_id, share?.weight], [to, 3])

  const graph = {
    nodes: [
      { id: 'e', type: 'entry' },
      { id: 'o', type: 'offer', offer_id: from },
    ],
    edges: [{ from: 'e', to: 'o' }],
  }
  const flow = await made('/api/click-flows', { name: 'Flow', graph })
  assert.deepEqual(fates(await tried('click-flows', { ids: [flow], act })), ['changes'])
  const { nodes } = (await read(`/api/click-flows/${flow}`))['graph'] as { nodes: { offer_id?: string }[] }
  assert.equal(nodes[1]?.offer_id, to)
  assert.deepEqual(fates(await bulk('click-flows', { ids: [flow], act })), ['same'])
})

test('every kind is cloned, with the id of the copy', async () => {
  const { made, offer, campaign, tried, read } = await workspace()
  const original: [string, string][] = [
    ['campaigns', await campaign({ fallback_url: 'https://f.example/', sites: ['shop.example'] })],
    ['offers', await offer('Alps')],
    ['landings', await made('/api/landings', { name: 'L', url: 'https://l.example/' })],
    ['funnels', await made('/api/funnels', { name: 'F', offers: [{ offer_id: await offer('O'), weight: 2 }] })],
    ['traffic-sources', await made('/api/traffic-sources', { name: 'S', template: 'propellerads' })],
    ['postbacks', await made('/api/postbacks', { event_type: 'lead', url: 'https://p.example/?e={event_id}' })],
    ['click-flows', await made('/api/click-flows', { name: 'Flow', graph: ENTRY })],
  ]
  for (const [list, id] of original) {
    const [row] = (await tried(list, { ids: [id], act: { type: 'clone' } })).data
    assert.equal(row?.fate, 'changes', `${list}: ${row?.error}`)
    const [was, is] = [await read(`/api/${list}/${id}`), await read(`/api/${list}/${row?.made_id}`)]
    if (list !== 'postbacks') assert.equal(is['name'], `Copy of ${String(was['name'])}`)
    for (const field of ['url', 'fallback_url', 'sites', 'offers', 'parameters', 'event_type', 'graph', 'payout'])
      assert.deepEqual(is[field], field === 'url' && list === 'campaigns' ? is[field] : was[field], `${list}: ${field}`)
  }
})

test('rules are switched off and on, and fields of campaigns are set', async () => {
  const { made, campaign, tried, bulk, read } = await workspace()
  const rule = await made('/api/postbacks', { event_type: 'lead', url: 'https://p.example/' })
  assert.deepEqual(fates(await tried('postbacks', { ids: [rule], act: { type: 'pause' } })), ['changes'])
  assert.equal((await read(`/api/postbacks/${rule}`))['active'], false)
  assert.deepEqual(fates(await tried('postbacks', { ids: [rule], act: { type: 'resume' } })), ['changes'])
  const id = await campaign()
  const fallback = { type: 'set_fallback', fallback_url: 'https://f.example/' }
  assert.deepEqual(fates(await tried('campaigns', { ids: [id], act: fallback })), ['changes'])
  assert.deepEqual(fates(await bulk('campaigns', { ids: [id], act: fallback })), ['same'])
  const cost = { type: 'set_cost', cost: { model: 'cpc', amount: '0.02' } }
  assert.deepEqual(fates(await tried('campaigns', { ids: [id], act: cost })), ['changes'])
  const { cost: set } = (await read(`/api/campaigns/${id}`)) as { cost: { amount: string } }
  assert.equal(set.amount, '0.02')
})

test('a filter is the query of the list, and leave_out is not touched', async () => {
  const { call, campaign, tried } = await workspace()
  const [spring, summer, other] = [
    await campaign({ name: 'Spring A' }),
    await campaign({ name: 'Spring B' }),
    await campaign(),
  ]
  const body = { filter: { q: 'Spring' }, leave_out: [spring], act: { type: 'archive' } }
  const { data } = await tried('campaigns', body)
  assert.deepEqual(
    data.map(({ id }) => id),
    [summer],
  )
  const { data: left } = (await call('GET', '/api/campaigns')).json<{ data: { id: string }[] }>()
  assert.deepEqual(
    left.map(({ id }) => id),
    [other, spring],
  )
})

test('a call that is malformed, too large, or names what is not there changes nothing', async () => {
  const { call, offer, campaign, read } = await workspace()
  const id = await campaign()
  const [own, foreign] = [await offer('Own'), await (await workspace()).offer('Foreign')]
  const act = { type: 'pause' }
  const replace = { type: 'replace_offer', from_offer_id: own, to_offer_id: foreign }
  const account = { type: 'set_ad_account', ad_account_id: toWireId(newId()) }
  const refused: [object, string][] = [
    [{ ids: [id], act }, 'dry_run'],
    [{ act, dry_run: false }, 'ids'],
    [{ ids: [id], filter: {}, act, dry_run: false }, 'ids'],
    [{ filter: { nmae: 'x' }, act, dry_run: false }, 'nmae'],
    [{ ids: [id], act: { type: 'fly' }, dry_run: false }, 'act'],
    [{ ids: [id], act: replace, dry_run: false }, 'to_offer_id'],
    [{ ids: [id], act: account, dry_run: false }, 'ad_account_id'],
  ]
  for (const [body, named] of refused) {
    const reply = await call('POST', '/api/campaigns/bulk', body)
    assert.equal(reply.statusCode, 400, reply.body)
    assert.ok(String(reply.data()['error']).includes(named), reply.body)
  }
  const many = { ids: [id, ...Array.from({ length: 500 }, () => toWireId(newId()))], act, dry_run: false }
  const reply = await call('POST', '/api/campaigns/bulk', many)
  assert.deepEqual([reply.statusCode, reply.data()['code']], [400, 'too_many_objects'])
  const unknown = await call('POST', '/api/offers/bulk', { ids: [own], act: { type: 'pause' }, dry_run: false })
  assert.match(String(unknown.data()['error']), /resume, archive, clone/)
  const people = await call('POST', '/api/subscribers/bulk', { filter: {}, act: { type: 'pause' }, dry_run: true })
  assert.equal(people.statusCode, 400, people.body)
  assert.match(String(people.data()['error']), /pause is not possible here/)
  assert.equal((await read(`/api/campaigns/${id}`))['status'], 'active')
})

test('two calls about the same objects at once do not wait for each other, and each change is recorded once', async () => {
  const { call, campaign, bulk } = await workspace()
  const ids = await Promise.all(Array.from({ length: 12 }, () => campaign()))
  const answers = await Promise.all([
    bulk('campaigns', { ids, act: { type: 'pause' } }),
    bulk('campaigns', { ids: ids.toReversed(), act: { type: 'pause' } }),
    bulk('campaigns', { ids: ids.toSorted(), act: { type: 'archive' } }),
  ])
  const { data } = (await call('GET', '/api/history?kind=campaign&limit=200')).json<{ data: { change: string }[] }>()
  const changes = answers.reduce((sum, { changed }) => sum + changed, 0)
  assert.equal(data.filter(({ change }) => change === 'changed').length, changes)
  assert.ok(changes >= 24 - 12 && changes <= 24, String(changes))
})
