import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedKey, startHouse, type TestHouse, toWireId } from '../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../tests/support/people.ts'
import { toUuid } from '../contract/ids.ts'
import type { Right } from '../contract/rights.ts'

type As = { cookie?: string; key?: string }

let house: TestHouse
let owner: SignedIn
let other: SignedIn
before(async () => {
  house = await startHouse()
  owner = await seedSignedIn(house)
  other = await seedSignedIn(house)
})
after(() => house.end())

const DRAFT = { name: 'Casino', url: 'https://offer.example/?c={click_id}' }
const FULL = { ...DRAFT, payout: '12.50', payout_types: ['ftd', 'lead'] }

const create = (body: unknown, as: As = owner) => house.call('POST', '/api/offers', { ...as, body })
const put = (id: string, body: unknown, as: As = owner) => house.call('PUT', `/api/offers/${id}`, { ...as, body })
const setStatus = (id: string, body: unknown, as: As = owner) =>
  house.call('PUT', `/api/offers/${id}/status`, { ...as, body })
const remove = (id: string, as: As = owner) => house.call('DELETE', `/api/offers/${id}`, as)
const read = (id: string, as: As = owner) => house.call('GET', `/api/offers/${id}`, as)

async function made(fields: object = FULL, as: As = owner): Promise<string> {
  const reply = await create(fields, as)
  assert.equal(reply.statusCode, 201, reply.body)
  return String(reply.data()['id'])
}

const keyWith = async (...rights: Right[]): Promise<As> => ({
  key: (await seedKey(house.database, owner, { rights })).secret,
})

const rows = async () => {
  const { rows } = await house.database.reads.query<{ all: string }>(
    `select md5(string_agg(o::text, '' order by id)) as all from offers o`,
  )
  return rows[0]?.all
}

test('an offer is created with what it pays and for which events', async () => {
  const reply = await create(FULL)
  assert.equal(reply.statusCode, 201)
  const { id, created_at, updated_at, ...rest } = reply.data()
  assert.deepEqual(rest, { ...FULL, payout: '12.5', payout_types: ['lead', 'ftd'], status: 'active' })
  assert.equal(updated_at, created_at)
  assert.deepEqual((await read(String(id))).data(), reply.data())
})

test('payouts are exact decimals from 0 to a million, and nothing that only looks like one', async () => {
  const exact: [unknown, string | null][] = [
    [0, '0'],
    ['0.000001', '0.000001'],
    [0.1, '0.1'],
    ['1000000', '1000000'],
    ['999999.9999999', '1000000'],
    ['0.0000005', '0.000001'],
    [null, null],
    [undefined, null],
  ]
  for (const [payout, stored] of exact)
    assert.equal((await read(await made({ ...DRAFT, payout }))).data()['payout'], stored, String(payout))
  const before = await rows()
  for (const payout of [
    -1,
    '-1',
    1000001,
    '1000000.000001',
    'NaN',
    '0x10',
    '1e3',
    ' ',
    '',
    '1_000',
    true,
    {},
    ['1'],
    '1,5',
  ])
    assert.equal((await create({ ...DRAFT, payout })).statusCode, 400, JSON.stringify(payout))
  assert.equal(await rows(), before)
})

test('what cannot be an offer is refused and leaves nothing behind', async () => {
  const id = await made()
  const before = await rows()
  const wrong: [unknown, RegExp][] = [
    [undefined, /./],
    [{ url: DRAFT.url }, /name/],
    [{ name: 'No url' }, /url/],
    [{ ...DRAFT, name: '' }, /name/],
    [{ ...DRAFT, url: 'offer.example' }, /url/],
    [{ ...DRAFT, url: 'https://{geo}.example/' }, /url/],
    [{ ...DRAFT, payout_types: ['sale'] }, /payout_types/],
    [{ ...DRAFT, payout_types: 'lead' }, /payout_types/],
  ]
  for (const [body, field] of wrong) {
    for (const reply of [await create(body), await put(id, body)]) {
      assert.equal(reply.statusCode, 400, JSON.stringify(body))
      assert.match(reply.body, field)
    }
  }
  for (const body of [undefined, {}, { status: 'paused' }]) assert.equal((await setStatus(id, body)).statusCode, 400)
  assert.equal(await rows(), before)
})

test('replacing an offer clears what is not sent, and leaves its status', async () => {
  const id = await made()
  await setStatus(id, { status: 'archived' })
  const replaced = (await put(id, { name: 'New', url: 'https://new.example/' })).data()
  const { updated_at, created_at, ...rest } = replaced
  assert.ok(String(updated_at) > String(created_at))
  assert.deepEqual(rest, {
    id,
    name: 'New',
    url: 'https://new.example/',
    payout: null,
    payout_types: [],
    status: 'archived',
  })
  assert.deepEqual((await read(id)).data(), replaced)
})

test('an offer is archived and unarchived, and found by its status', async () => {
  const lister = await seedSignedIn(house)
  const [first, second] = [
    await made({ ...DRAFT, name: 'First' }, lister),
    await made({ ...DRAFT, name: 'Second' }, lister),
  ]
  assert.equal((await setStatus(first, { status: 'archived' }, lister)).data()['status'], 'archived')
  const names = async (query: string) => {
    const reply = await house.call('GET', `/api/offers?${query}`, { cookie: lister.cookie })
    return reply.json<{ data: { name: string }[] }>().data.map(({ name }) => name)
  }
  assert.deepEqual(await names(''), ['Second', 'First'])
  assert.deepEqual(await names('status=active'), ['Second'])
  assert.deepEqual(await names('status=archived'), ['First'])
  assert.deepEqual(await names('q=sec'), ['Second'])
  assert.equal((await setStatus(first, { status: 'active' }, lister)).data()['status'], 'active')
  const page = (await house.call('GET', '/api/offers?limit=1', { cookie: lister.cookie })).data()
  const rest = (
    await house.call('GET', `/api/offers?cursor=${String(page['next_cursor'])}`, { cookie: lister.cookie })
  ).data()
  assert.deepEqual(
    [(page['data'] as { id: string }[])[0]?.id, (rest['data'] as { id: string }[])[0]?.id, rest['next_cursor']],
    [second, first, null],
  )
})

async function aCampaign(fields: object): Promise<{ id: string; visit: () => Promise<unknown> }> {
  const destination = { type: 'redirect', url: 'https://shop.example/?o={offer_id}' }
  const { id, key } = (
    await house.call('POST', '/api/campaigns', { ...owner, body: { name: 'C', destination, ...fields } })
  ).data()
  return { id: String(id), visit: async () => (await house.call('GET', `/c/${String(key)}`)).headers.location }
}

test('a deleted offer is gone for every route, its campaigns go on without it, and its row stays', async () => {
  const id = await made()
  const campaign = await aCampaign({ offer_id: id })
  assert.equal(await campaign.visit(), `https://shop.example/?o=${id}`)
  assert.deepEqual((await remove(id)).data(), { ok: true })
  assert.equal(await campaign.visit(), 'https://shop.example/?o=')
  for (const reply of [
    await read(id),
    await put(id, FULL),
    await setStatus(id, { status: 'active' }),
    await remove(id),
  ])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [404, 'not_found'])
  assert.equal(
    (await house.call('PATCH', `/api/campaigns/${campaign.id}`, { ...owner, body: { name: 'Still there' } }))
      .statusCode,
    200,
  )
})

test('an archived offer gets no new clicks: visitors go to the fallback, and only where there is none they go on without it', async () => {
  const id = await made()
  const guarded = await aCampaign({ offer_id: id, fallback_url: 'https://fallback.example/' })
  const plain = await aCampaign({ offer_id: id })
  assert.equal(await guarded.visit(), `https://shop.example/?o=${id}`)
  await setStatus(id, { status: 'archived' })
  assert.equal(await guarded.visit(), 'https://fallback.example/')
  assert.equal(await plain.visit(), 'https://shop.example/?o=')
  const refused = await house.call('POST', '/api/campaigns', {
    ...owner,
    body: { name: 'C', destination: { type: 'redirect', url: 'https://shop.example/' }, offer_id: id },
  })
  assert.deepEqual([refused.statusCode, refused.data()['error']], [400, 'offer_id: the offer is archived'])
  const { rows } = await house.database.reads.query<{ offer_id: string | null }>(
    'select offer_id from clicks where org_id = $1 and campaign_id = any($2) order by id',
    [owner.org_id, [guarded.id, plain.id].map(toUuid)],
  )
  assert.deepEqual(
    rows.map(row => row.offer_id === null),
    [false, true, true],
  )
  await setStatus(id, { status: 'active' })
  assert.equal(await guarded.visit(), `https://shop.example/?o=${id}`)
})

test('an address is shown as visitors will see it, with the macros that are none', async () => {
  const before = await rows()
  const preview = (url: unknown, as: As = owner) => house.call('POST', '/api/offers/preview', { ...as, body: { url } })
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const { url, unknown_macros } = (
    await preview('https://o.example/?c={click_id}&s={sub1}&x={payout}&y={clickid}&z={payout}', member)
  ).data()
  assert.match(String(url), /^https:\/\/o\.example\/\?c=[0-9a-z]{26}&s=sub1&x=&y=&z=$/)
  assert.deepEqual(unknown_macros, ['payout', 'clickid'])
  for (const wrong of [undefined, '', 'o.example', 'javascript:alert(1)', 'https://{geo}.example/'])
    assert.equal((await preview(wrong)).statusCode, 400, String(wrong))
  const byKey = await preview('https://o.example/', await keyWith('offers'))
  assert.deepEqual([byKey.statusCode, byKey.data()['code']], [403, 'api_key_resource_forbidden'])
  assert.equal(await rows(), before)
})

test("another organization's offer is as if it were not there", async () => {
  const id = await made(FULL, other)
  const before = await rows()
  const random = toWireId(newId())
  for (const as of [owner, await keyWith('offers:update', 'offers:status', 'offers:delete')]) {
    const calls = [
      (one: string) => put(one, FULL, as),
      (one: string) => setStatus(one, { status: 'archived' }, as),
      (one: string) => remove(one, as),
    ]
    for (const call of calls) {
      const [theirs, nobodys] = [await call(id), await call(random)]
      assert.deepEqual([theirs.statusCode, theirs.body], [404, nobodys.body])
    }
  }
  assert.equal((await read(id)).body, (await read(random)).body)
  assert.equal(await rows(), before)
})

test('a key does what its rights say and nothing else', async () => {
  const id = await made()
  const [creates, archives, replaces] = [
    await keyWith('offers'),
    await keyWith('offers:status'),
    await keyWith('offers:update'),
  ]
  assert.equal((await create(FULL, creates)).statusCode, 201)
  assert.equal((await setStatus(id, { status: 'archived' }, archives)).statusCode, 200)
  assert.equal((await put(id, FULL, replaces)).statusCode, 200)
  const before = await rows()
  const refusals = [
    [await create(FULL, replaces), 'api_key_write_not_granted'],
    [await setStatus(id, { status: 'active' }, replaces), 'api_key_write_not_granted'],
    [await put(id, FULL, creates), 'api_key_delete_not_granted'],
    [await remove(id, replaces), 'api_key_delete_not_granted'],
    [await read(id, replaces), 'api_key_resource_forbidden'],
    [await house.call('GET', '/api/offers', replaces), 'api_key_resource_forbidden'],
  ] as const
  for (const [reply, code] of refusals) assert.deepEqual([reply.statusCode, reply.data()['code']], [403, code])
  assert.equal(await rows(), before)
  assert.equal((await remove(id, await keyWith('offers:delete'))).statusCode, 200)
})

test('a member looks and does not touch', async () => {
  const id = await made()
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  assert.equal((await read(id, member)).statusCode, 200)
  const before = await rows()
  for (const reply of [
    await create(FULL, member),
    await put(id, FULL, member),
    await setStatus(id, { status: 'archived' }, member),
    await remove(id, member),
  ])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'role_forbidden'])
  assert.equal(await rows(), before)
})
