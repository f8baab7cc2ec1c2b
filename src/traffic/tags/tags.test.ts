// Tags and notes: on every kind of object, in lists, in the history, and never in an answer to a key.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { BROWSER } from '../../../tests/support/visits.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

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
  const tag = (name: string) => made('/api/tags', { name, color: 'teal' })
  const listed = async (url: string) =>
    (await call('GET', url)).json<{ data: Record<string, unknown>[] }>().data.map(({ id }) => id)
  return { owner, call, made, tag, listed }
}

const CAMPAIGN = { name: 'C', destination: { type: 'redirect', url: 'https://s.example/' } }
const OFFER = { name: 'O', url: 'https://o.example/' }

test('each kind of object carries tags and a note, is found by its tag, and its changes are put back', async () => {
  const { call, made, tag, listed } = await workspace()
  const [one, two] = [await tag('Spring'), await tag('Tier 1')]
  const graph = { nodes: [{ id: 'e', type: 'entry' }], edges: [] }
  const bodies: [string, object][] = [
    ['campaigns', CAMPAIGN],
    ['offers', OFFER],
    ['landings', { name: 'L', url: 'https://l.example/' }],
    ['funnels', { name: 'F', offers: [{ offer_id: await made('/api/offers', OFFER), weight: 1 }] }],
    ['click-flows', { name: 'Flow', graph }],
    ['traffic-sources', { name: 'S' }],
    ['networks', { name: 'N', template: 'plain' }],
  ]
  for (const [list, body] of bodies) {
    const [id, other] = [await made(`/api/${list}`, body), await made(`/api/${list}`, { ...body, name: 'Other' })]
    const at = `/api/${list}/${id}`
    const set = await call('PUT', `${at}/tags`, { tag_ids: [two, one] })
    assert.deepEqual([set.statusCode, set.data()], [200, { id, tag_ids: [two, one] }], list)
    assert.deepEqual((await call('PUT', `${at}/note`, { note: ' Why ' })).data(), { id, note: 'Why' })
    const read = (await call('GET', at)).data()
    assert.deepEqual([read['tag_ids'], read['note']], [[two, one], 'Why'], list)
    assert.deepEqual(await listed(`/api/${list}?tag_id=${one}`), [id])
    assert.equal((await listed(`/api/${list}`)).includes(other), true)
    const { data } = (await call('GET', `/api/history?id=${id}`)).json<{
      data: { id: string; fields: { name: string; after: unknown }[] }[]
    }>()
    assert.deepEqual(
      data.slice(0, 2).map(({ fields }) => fields.map(({ name, after: is }) => [name, is])),
      [[['note', 'Why']], [['tag_ids', [two, one]]]],
    )
    const undone = await call('POST', `/api/history/${data[1]?.id}/undo`, {})
    assert.equal(undone.statusCode, 200, undone.body)
    assert.deepEqual((await call('GET', at)).data()['tag_ids'], [])
  }
})

test('a whole PUT of an offer and an answer to a key leave tags and note alone', async () => {
  const { owner, call, made, tag } = await workspace()
  const id = await made('/api/offers', OFFER)
  const tag_ids = [await tag('A')]
  await call('PUT', `/api/offers/${id}/tags`, { tag_ids })
  await call('PUT', `/api/offers/${id}/note`, { note: 'Mine' })
  const put = await call('PUT', `/api/offers/${id}`, { ...OFFER, name: 'O2' })
  assert.deepEqual([put.data()['tag_ids'], put.data()['note']], [tag_ids, 'Mine'])
  const { secret } = await seedKey(house.database, owner, { rights: ['offers', 'offers:update'] })
  const headers = { 'x-api-key': secret }
  const created = await house.call('POST', '/api/offers', { headers, body: OFFER })
  assert.equal(created.statusCode, 201, created.body)
  const changed = await house.call('PUT', `/api/offers/${id}`, { headers, body: OFFER })
  for (const answer of [created, changed])
    for (const field of ['tag_ids', 'note']) assert.equal(Object.hasOwn(answer.data(), field), false, answer.body)
  const tags = await house.call('GET', '/api/tags', { headers })
  assert.deepEqual([tags.statusCode, tags.data()['code']], [403, 'api_key_resource_forbidden'])
})

test('names of tags are unique whatever the case; a deleted tag is taken off all objects', async () => {
  const { call, made, tag } = await workspace()
  const id = await tag('Spring')
  const twice = await call('POST', '/api/tags', { name: 'SPRING', color: 'red' })
  assert.deepEqual([twice.statusCode, twice.data()['code']], [409, 'already_exists'])
  const other = await tag('Autumn')
  const renamed = await call('PATCH', `/api/tags/${other}`, { name: 'spring' })
  assert.deepEqual([renamed.statusCode, renamed.data()['code']], [409, 'already_exists'])
  assert.equal((await call('PATCH', `/api/tags/${other}`, { color: 'pink' })).data()['color'], 'pink')
  for (const body of [
    { name: '', color: 'red' },
    { name: 'x'.repeat(41), color: 'red' },
    { name: 'x', color: 'mauve' },
  ])
    assert.equal((await call('POST', '/api/tags', body)).statusCode, 400)
  const campaign = await made('/api/campaigns', CAMPAIGN)
  await call('PUT', `/api/campaigns/${campaign}/tags`, { tag_ids: [id, other] })
  assert.equal((await call('DELETE', `/api/tags/${id}`)).statusCode, 200)
  assert.deepEqual((await call('GET', `/api/campaigns/${campaign}`)).data()['tag_ids'], [other])
  assert.equal((await call('DELETE', `/api/tags/${id}`)).statusCode, 404)

  // Taking a tag off cannot be put back once the tag is gone.
  await call('PUT', `/api/campaigns/${campaign}/tags`, { tag_ids: [] })
  const [row] = (await call('GET', `/api/history?kind=campaign&id=${campaign}`)).json<{ data: { id: string }[] }>().data
  await call('DELETE', `/api/tags/${other}`)
  const undone = await call('POST', `/api/history/${row?.id}/undo`, {})
  assert.deepEqual([undone.statusCode, undone.data()['code']], [409, 'undo_needs'])
})

test('unknown tags, too many of them, and other workspaces are refused, and nothing changes', async () => {
  const { call, made, tag } = await workspace()
  const stranger = await workspace()
  const foreign = await stranger.tag('Theirs')
  const own = await tag('Ours')
  const id = await made('/api/campaigns', CAMPAIGN)
  const lists = [[foreign], [toWireId(newId())], [own, own], Array.from({ length: 21 }, () => toWireId(newId()))]
  for (const tag_ids of lists)
    assert.equal((await call('PUT', `/api/campaigns/${id}/tags`, { tag_ids })).statusCode, 400)
  assert.equal((await call('PUT', `/api/campaigns/${id}/note`, { note: 'x'.repeat(4001) })).statusCode, 400)
  for (const [path, body] of [
    ['tags', { tag_ids: [foreign] }],
    ['note', { note: 'x' }],
  ] as const) {
    const reply = await stranger.call('PUT', `/api/campaigns/${id}/${path}`, body)
    assert.deepEqual([reply.statusCode, reply.data()['code']], [404, 'not_found'])
  }
  for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
    const reply = await stranger.call(method, `/api/tags/${own}`, method === 'PATCH' ? { color: 'red' } : undefined)
    assert.equal(reply.statusCode, 404)
  }
  const read = (await call('GET', `/api/campaigns/${id}`)).data()
  assert.deepEqual([read['tag_ids'], read['note']], [[], null])
})

test('objects are tagged together, and the act is put back as one', async () => {
  const { call, made, tag } = await workspace()
  const tag_id = await tag('Spring')
  const ids = [await made('/api/offers', OFFER), await made('/api/offers', OFFER)]
  await call('PUT', `/api/offers/${ids[0]}/tags`, { tag_ids: [tag_id] })
  const bulk = async (type: string) =>
    (await call('POST', '/api/offers/bulk', { ids, act: { type, tag_id }, dry_run: false })).data()
  const done = await bulk('tag')
  assert.deepEqual([done['changed'], done['same']], [1, 1])
  const { data } = (await call('GET', `/api/history?act=${String(done['act_id'])}`)).json<{ data: { id: string }[] }>()
  assert.equal((await call('POST', `/api/history/${data[0]?.id}/undo`, { whole_act: true })).statusCode, 200)
  assert.deepEqual((await bulk('untag'))['changed'], 1)
})

test('clicks and conversions are filtered by a tag of their campaign, offer or landing, and the tag is found', async () => {
  const { call, made, tag, listed } = await workspace()
  const tag_id = await tag('Spring')
  const offer_id = await made('/api/offers', OFFER)
  const campaigns = [
    await made('/api/campaigns', { ...CAMPAIGN, key: `tagged-${toWireId(newId())}` }),
    await made('/api/campaigns', { ...CAMPAIGN, destination: { type: 'offer', offer_id } }),
    await made('/api/campaigns', CAMPAIGN),
  ]
  const clicks: string[] = []
  for (const id of campaigns) {
    const { key } = (await call('GET', `/api/campaigns/${id}`)).data()
    await house.call('GET', `/c/${String(key)}`, { headers: BROWSER })
    const [click] = await listed(`/api/clicks?campaign_id=${id}`)
    clicks.push(String(click))
    await call('POST', '/api/events', { clickId: click, type: 'lead' })
  }
  await call('PUT', `/api/campaigns/${campaigns[0]}/tags`, { tag_ids: [tag_id] })
  await call('PUT', `/api/offers/${offer_id}/tags`, { tag_ids: [tag_id] })
  assert.deepEqual(await listed(`/api/clicks?tag_id=${tag_id}`), clicks.slice(0, 2).toReversed())
  assert.equal((await listed(`/api/events?tag_id=${tag_id}`)).length, 2)
  const { data } = (await call('GET', '/api/find?q=spring')).json<{ data: { kind: string; id: string }[] }>()
  assert.deepEqual(
    data.map(({ kind, id }) => [kind, id]),
    [['tag', tag_id]],
  )
})

test('a tag that is deleted while objects get it is on none of them', async () => {
  const { call, made, tag } = await workspace()
  const id = await made('/api/offers', OFFER)
  for (let round = 0; round < 5; round += 1) {
    const tag_id = await tag(`T${round}`)
    const [set] = await Promise.all([
      call('PUT', `/api/offers/${id}/tags`, { tag_ids: [tag_id] }),
      call('DELETE', `/api/tags/${tag_id}`),
    ])
    assert.ok([200, 400].includes(set.statusCode), set.body)
    assert.deepEqual((await call('GET', `/api/offers/${id}`)).data()['tag_ids'], [])
  }
})
