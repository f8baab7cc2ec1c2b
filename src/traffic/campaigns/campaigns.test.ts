import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedKey, startHouse, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import type { Right } from '../../contract/rights.ts'

let house: TestHouse
let owner: SignedIn
let other: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  other = await seedSignedIn(house)
})
after(() => house.end())

const REDIRECT = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
const draft = (fields: object = {}) => ({ name: 'Spring', destination: REDIRECT, ...fields })

const create = (body: unknown, as: { cookie?: string; key?: string } = owner) =>
  house.call('POST', '/api/campaigns', { ...as, body })
const patch = (id: string, body: unknown, as: { cookie?: string; key?: string } = owner) =>
  house.call('PATCH', `/api/campaigns/${id}`, { ...as, body })
/** A person deletes from the archive only. */
const remove = async (id: string, as: { cookie?: string; key?: string } = owner) => {
  if (as.cookie !== undefined)
    await house.call('PUT', `/api/campaigns/${id}/status`, { ...as, body: { status: 'archived' } })
  return await house.call('DELETE', `/api/campaigns/${id}`, as)
}
const read = (id: string, as: SignedIn = owner) => house.call('GET', `/api/campaigns/${id}`, { cookie: as.cookie })

async function made(fields: object = {}, as: SignedIn = owner): Promise<{ id: string; key: string }> {
  const reply = await create(draft(fields), { cookie: as.cookie })
  assert.equal(reply.statusCode, 201, reply.body)
  return reply.json()
}

async function keyWith(rights: Right[], campaigns?: string[]): Promise<{ key: string }> {
  const { secret } = await seedKey(house.database, owner, { rights, ...(campaigns === undefined ? {} : { campaigns }) })
  return { key: secret }
}

const rows = async () => {
  const { reads } = house.database
  const { rows: campaigns } = await reads.query(
    `select md5(string_agg(c::text, '' order by id)) as all from campaigns c`,
  )
  const { rows: keys } = await reads.query('select count(*) as all from campaign_keys')
  return JSON.stringify([campaigns, keys])
}

test('a campaign is created with a random key, and answered with the address traffic is sent to', async () => {
  const reply = await create(draft())
  assert.equal(reply.statusCode, 201)
  const { warnings, ...row } = reply.data()
  assert.deepEqual(warnings, [])
  const { id, key, created_at, updated_at, ...rest } = row
  assert.match(String(key), /^[a-z0-9]{8}$/)
  assert.match(String(id), /^[0-9a-z]{26}$/)
  assert.match(String(created_at), /^\d{4}-.*Z$/)
  assert.equal(updated_at, created_at)
  assert.deepEqual(rest, {
    name: 'Spring',
    url: `http://localhost:8080/c/${String(key)}`,
    filled_url: `http://localhost:8080/c/${String(key)}`,
    destination: REDIRECT,
    offer_id: null,
    fallback_url: null,
    unknown_macros: [],
    ad_account_id: null,
    traffic_source_id: null,
    domain_id: null,
    source: {},
    strict_filter: false,
    cost: null,
    goal: null,
    sites: [],
    tag_ids: [],
    note: null,
    browser_types: [],
    status: 'active',
  })
  assert.deepEqual((await read(String(id))).data(), { ...row, warnings: [] })
})

test('every answer with a campaign names the macros of its addresses that are none, each once', async () => {
  const destination = { type: 'redirect', url: 'https://example.com/?p={payout}&c={click_id}&x={zone}' }
  const reply = await create(draft({ destination, fallback_url: 'https://example.com/{zone}?q={quality}' }))
  const { warnings, ...made } = reply.data()
  assert.deepEqual(
    (warnings as { code: string; field: string }[]).map(({ code, field }) => `${code} ${field}`),
    ['unknown_macros destination.url', 'unknown_macros fallback_url'],
  )
  assert.deepEqual(made['unknown_macros'], ['payout', 'zone', 'quality'])
  assert.deepEqual((await read(String(made['id']))).data(), { ...made, warnings: [] })
})

test("a campaign's address is under BASE_URL where it is set, else where the caller reached us, else a path", async () => {
  const { secret: key } = await seedKey(house.database, owner, { rights: ['campaigns'] })
  const asked = async (host: string) =>
    (
      await house.call('POST', '/api/campaigns', {
        key,
        body: draft({ key: `at-${host.replace(/\W/g, '-')}` }),
        headers: { host, origin: 'https://evil.example' },
      })
    ).data()['url']
  assert.equal(await asked('127.0.0.1:9000'), 'http://127.0.0.1:9000/c/at-127-0-0-1-9000')
  assert.equal(await asked('evil.example'), '/c/at-evil-example')
  const named = await startHouse({ BASE_URL: 'https://track.example.com' })
  const place = await seedSignedIn(named)
  const { secret } = await seedKey(named.database, place, { rights: ['campaigns'] })
  const reply = await named.call('POST', '/api/campaigns', { key: secret, body: draft({ key: 'spring' }) })
  assert.equal(reply.data()['url'], 'https://track.example.com/c/spring')
  await named.end()
})

test('a campaign redirects as soon as its author is told that it was made, changed or deleted', async () => {
  const { id, key } = await made({
    destination: { type: 'redirect', url: 'https://one.example/' },
    fallback_url: 'https://back.example/',
  })
  const target = async () => (await house.call('GET', `/c/${key}`)).headers.location
  assert.equal(await target(), 'https://one.example/')
  await patch(id, { destination: { type: 'redirect', url: 'https://two.example/' } })
  assert.equal(await target(), 'https://two.example/')
  await remove(id)
  assert.equal(await target(), 'https://back.example/')
})

test('a wanted key is taken once, over all organizations and for ever', async () => {
  const { id, key } = await made({ key: 'spring-2026' })
  assert.equal(key, 'spring-2026')
  for (const as of [owner, other]) {
    const taken = await create(draft({ key }), { cookie: as.cookie })
    assert.deepEqual([taken.statusCode, taken.data()['code']], [409, 'already_exists'])
  }
  await remove(id)
  assert.equal((await create(draft({ key }))).statusCode, 409)
})

test('of many who want one key at once, one gets it', async () => {
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, i) => create(draft({ key: 'rush' }), i % 2 ? owner : other)),
  )
  const statuses = replies.map(({ statusCode }) => statusCode)
  assert.deepEqual([statuses.filter(one => one === 201).length, statuses.filter(one => one === 409).length], [1, 11])
})

test('what cannot be a campaign is refused, says which field, and leaves nothing behind', async () => {
  const archived = (
    await house.call('POST', '/api/offers', { ...owner, body: { name: 'Old', url: 'https://o.example/' } })
  ).data()
  await house.call('PUT', `/api/offers/${String(archived['id'])}/status`, { ...owner, body: { status: 'archived' } })
  const foreign = (
    await house.call('POST', '/api/offers', { cookie: other.cookie, body: { name: 'X', url: 'https://o.example/' } })
  ).data()
  const before = await rows()
  const random = toWireId(newId())
  const wrong: [object | undefined, RegExp][] = [
    [undefined, /./],
    [{}, /name/],
    [draft({ name: '  ' }), /name/],
    [draft({ name: 'x'.repeat(201) }), /name/],
    [draft({ name: 'half \ud800' }), /name|JSON/],
    [draft({ key: 'Up' }), /key/],
    [draft({ key: 'ab' }), /key/],
    [draft({ key: 'with space' }), /key/],
    [draft({ key: 'x'.repeat(65) }), /key/],
    [{ name: 'No destination' }, /destination/],
    [draft({ destination: { type: 'elsewhere' } }), /destination/],
    [draft({ destination: { type: 'redirect' } }), /destination/],
    [draft({ destination: { type: 'redirect', url: 'javascript:alert(1)' } }), /destination\.url/],
    [draft({ destination: { type: 'redirect', url: 'https://user:pass@shop.example/' } }), /destination\.url/],
    [draft({ destination: { type: 'redirect', url: 'https://{sub1}.example/' } }), /destination\.url/],
    [draft({ destination: { type: 'redirect', url: `https://shop.example/${'x'.repeat(2048)}` } }), /destination\.url/],
    [draft({ destination: { type: 'funnel', funnel_id: random } }), /no such funnel/],
    [draft({ destination: { type: 'click_flow', click_flow_id: random } }), /no such click flow/],
    [draft({ offer_id: random }), /no such offer/],
    [draft({ offer_id: foreign['id'] }), /no such offer/],
    [draft({ offer_id: archived['id'] }), /archived/],
    [draft({ offer_id: 'x' }), /offer_id/],
    [draft({ ad_account_id: random }), /no such ad account/],
    [draft({ fallback_url: 'ftp://back.example/' }), /fallback_url/],
    [draft({ source: { sub10: 'x' } }), /source/],
    [draft({ source: { sub1: 'a b' } }), /source/],
    [draft({ strict_filter: 'yes' }), /strict_filter/],
  ]
  for (const [body, field] of wrong) {
    const reply = await create(body)
    assert.equal(reply.statusCode, 400, JSON.stringify(body))
    assert.match(reply.body, field)
  }
  assert.equal(await rows(), before)
})

test('a change touches only what is sent, and null clears what may be empty', async () => {
  const offer = (
    await house.call('POST', '/api/offers', { ...owner, body: { name: 'O', url: 'https://o.example/' } })
  ).data()
  const full = {
    offer_id: offer['id'],
    fallback_url: 'https://back.example/',
    source: { sub1: 'utm_source', ref_id: 'ext' },
    strict_filter: true,
  }
  const { id } = await made(full)
  const before = (await read(id)).data()
  assert.deepEqual((await patch(id, {})).data(), { ...before, warnings: [] })
  const renamed = (await patch(id, { name: 'Summer' })).data()
  assert.deepEqual(renamed, { ...before, name: 'Summer', updated_at: renamed['updated_at'], warnings: [] })
  const cleared = (await patch(id, { offer_id: null, fallback_url: null, source: { sub2: 'x', sub1: null } })).data()
  assert.deepEqual(cleared, {
    ...renamed,
    offer_id: null,
    fallback_url: null,
    source: { sub2: 'x' },
    updated_at: cleared['updated_at'],
  })
})

test('a form can be sent back as it was read, also when its offer was archived meanwhile', async () => {
  const offer = (
    await house.call('POST', '/api/offers', { ...owner, body: { name: 'O', url: 'https://o.example/' } })
  ).data()
  const { id } = await made({ offer_id: offer['id'] })
  await house.call('PUT', `/api/offers/${String(offer['id'])}/status`, { ...owner, body: { status: 'archived' } })
  assert.equal((await patch(id, (await read(id)).data())).statusCode, 200)
})

test('a campaign keeps its key', async () => {
  const { id, key } = await made()
  const reply = await patch(id, { key: 'another' })
  assert.equal(reply.statusCode, 400)
  assert.equal((await read(id)).data()['key'], key)
})

test('a deleted campaign is gone for every route, and its row stays', async () => {
  const { id } = await made()
  assert.deepEqual((await remove(id)).data(), { ok: true, id, campaigns_on_fallback: [] })
  for (const reply of [await read(id), await patch(id, { name: 'x' }), await remove(id)])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [404, 'not_found'])
  const list = (await house.call('GET', '/api/campaigns?limit=200', owner)).data()['data'] as { id: string }[]
  assert.ok(!list.some(campaign => campaign.id === id))
})

test('the list is newest first, pages without gaps, and finds by name, key and offer', async () => {
  const lister = await seedSignedIn(house)
  const names = ['Alpha', 'Beta', 'Gamma', 'Delta', '50% off']
  for (const name of names) await made({ name, key: `list-${name.toLowerCase().replace(/\W+/g, '-')}` }, lister)
  const list = async (query: string) => {
    const reply = await house.call('GET', `/api/campaigns?${query}`, { cookie: lister.cookie })
    assert.equal(reply.statusCode, 200, reply.body)
    return reply.json<{ data: { name: string }[]; next_cursor: string | null }>()
  }
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const page = await list(`limit=2${cursor}`)
    assert.ok(page.data.length <= 2)
    seen.push(...page.data.map(({ name }) => name))
    if (page.next_cursor === null) break
    cursor = `&cursor=${page.next_cursor}`
  }
  assert.deepEqual(seen, names.toReversed())
  assert.deepEqual(
    (await list('q=AL')).data.map(({ name }) => name),
    ['Alpha'],
  )
  assert.deepEqual(
    (await list('q=list-g')).data.map(({ name }) => name),
    ['Gamma'],
  )
  assert.deepEqual(
    (await list('q=%25')).data.map(({ name }) => name),
    ['50% off'],
  )
  await made({ name: 'Elsewhere', key: 'list-elsewhere' }, other)
  assert.equal((await list('q=list-')).data.length, 5, 'only of the own organization')
  assert.equal((await list('q=list-&status=paused')).data.length, 0, 'only of the status')
  assert.equal((await list('limit=abc')).data.length, 5)
  assert.equal((await list(`offer_id=${toWireId(newId())}`)).data.length, 0)
  for (const query of ['cursor=x', 'q=%00', 'offer_id=x', 'q=a&q=b'])
    assert.equal((await house.call('GET', `/api/campaigns?${query}`, { cookie: lister.cookie })).statusCode, 400, query)
})

test("another organization's campaign is as if it were not there", async () => {
  const { id } = await made({}, other)
  const before = await rows()
  const random = toWireId(newId())
  const key = await keyWith(['campaigns:update', 'campaigns:delete'])
  const restricted = await keyWith(['campaigns:update', 'campaigns:delete'], [newId()])
  for (const as of [owner, key, restricted]) {
    for (const call of [(one: string) => patch(one, { name: 'Taken' }, as), (one: string) => remove(one, as)]) {
      const [theirs, nobodys, noId] = [await call(id), await call(random), await call('x')]
      assert.deepEqual([theirs.statusCode, theirs.body], [404, nobodys.body])
      assert.deepEqual([noId.statusCode, noId.body], [404, nobodys.body])
    }
  }
  assert.equal((await read(id)).statusCode, 404)
  assert.equal(await rows(), before)
})

test('a key does what its rights say and nothing else', async () => {
  const { id } = await made()
  const creates = await keyWith(['campaigns'])
  assert.equal((await create(draft(), creates)).statusCode, 201)
  const updates = await keyWith(['campaigns:update'])
  assert.equal((await patch(id, { name: 'By key' }, updates)).statusCode, 200)
  const before = await rows()
  const refusals = [
    [await create(draft(), updates), 'api_key_write_not_granted'],
    [await patch(id, { name: 'x' }, creates), 'api_key_delete_not_granted'],
    [await remove(id, creates), 'api_key_delete_not_granted'],
    [await house.call('GET', '/api/campaigns', creates), 'api_key_resource_forbidden'],
    [await house.call('GET', `/api/campaigns/${id}`, creates), 'api_key_resource_forbidden'],
  ] as const
  for (const [reply, code] of refusals) assert.deepEqual([reply.statusCode, reply.data()['code']], [403, code])
  assert.equal(await rows(), before)
  assert.equal((await remove(id, await keyWith(['campaigns:delete']))).statusCode, 200)
})

test('a restricted key changes and deletes listed campaigns only; what it creates does not join its list', async () => {
  const [listed, unlisted] = [await made(), await made()]
  const uuids = await house.database.kysely.selectFrom('campaigns').select('id').where('key', '=', listed.key).execute()
  const key = await keyWith(
    ['campaigns', 'campaigns:update', 'campaigns:delete'],
    uuids.map(({ id }) => id),
  )
  assert.equal((await patch(listed.id, { name: 'Listed' }, key)).statusCode, 200)
  const own = (await create(draft(), key)).data()
  const before = await rows()
  for (const id of [unlisted.id, String(own['id'])]) {
    for (const reply of [await patch(id, { name: 'x' }, key), await remove(id, key)])
      assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'campaign_scope_forbidden'])
  }
  assert.equal(await rows(), before)
  assert.equal((await remove(listed.id, key)).statusCode, 200)
  assert.equal(
    (await patch(unlisted.id, { name: 'x' }, key)).statusCode,
    403,
    'deleting the last listed campaign widens nothing',
  )
})

test('a member looks and does not touch; nobody else does either', async () => {
  const { id } = await made()
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  assert.equal((await read(id, member)).statusCode, 200)
  const before = await rows()
  for (const reply of [await create(draft(), member), await patch(id, { name: 'x' }, member), await remove(id, member)])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'role_forbidden'])
  assert.equal((await house.call('GET', '/api/campaigns')).statusCode, 401)
  assert.equal((await house.call('POST', '/api/campaigns', { body: draft() })).statusCode, 403)
  assert.equal(await rows(), before)
})

test('the traffic source is kept, and no incoming name fills two fields', async () => {
  const { id } = await made({ source: { template: 'propellerads', sub1: 'zoneid' } })
  assert.deepEqual((await read(id)).data()['source'], { template: 'propellerads', sub1: 'zoneid' })
  for (const [source, named] of [
    [{ sub1: 'zone', sub4: 'zone' }, /source\.sub4: \\"zone\\" fills sub1 already/],
    [{ ref_id: 'sub1' }, /source\.ref_id: \\"sub1\\" fills sub1 already/],
    [{ template: 'somebody' }, /source\.template/],
  ] as const)
    for (const reply of [await create(draft({ source })), await patch(id, { source })])
      assert.deepEqual([reply.statusCode, named.test(reply.body)], [400, true], reply.body)
  assert.deepEqual((await read(id)).data()['source'], { template: 'propellerads', sub1: 'zoneid' })
  assert.equal((await patch(id, { source: { sub1: 'sub1', sub2: 'zone' } })).statusCode, 200)
})

test('campaigns are named by their ids, deleted ones too, and those of other workspaces are as if they were not there', async () => {
  const [one, gone, theirs] = [await made({ name: 'Here' }), await made({ name: 'Gone' }), await made({}, other)]
  await remove(gone.id)
  const name = (ids: string, as: { cookie?: string; key?: string } = { cookie: owner.cookie }) =>
    house.call('GET', `/api/campaigns/names?ids=${ids}`, as)
  const named = await name([one.id, gone.id, theirs.id, toWireId(newId())].join())
  assert.deepEqual(named.json(), {
    data: [
      { id: one.id, name: 'Here', is_deleted: false },
      { id: gone.id, name: 'Gone', is_deleted: true },
    ],
  })
  for (const wrong of ['x', '', Array.from({ length: 201 }, () => one.id).join()])
    assert.equal((await name(wrong)).statusCode, 400, wrong)
  assert.equal((await house.call('GET', '/api/campaigns/names', { cookie: owner.cookie })).statusCode, 400)
  const refused = await name(one.id, await keyWith(['campaigns']))
  assert.deepEqual([refused.statusCode, refused.data()['code']], [403, 'api_key_resource_forbidden'])
})
