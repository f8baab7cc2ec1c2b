import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'
import type { Right } from '../../contract/rights.ts'

type As = { cookie?: string; key?: string }
type Funnel = {
  id: string
  landings: { landing_id: string; weight: number; name: string; status: string }[]
  offers: { offer_id: string; weight: number; name: string; status: string }[]
}

let house: TestHouse
let owner: SignedIn
let other: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  other = await seedSignedIn(house)
})
after(() => house.end())

const create = (body: unknown, as: As = owner) => house.call('POST', '/api/funnels', { ...as, body })
const patch = (id: string, body: unknown, as: As = owner) => house.call('PATCH', `/api/funnels/${id}`, { ...as, body })
const remove = (id: string, as: As = owner) => house.call('DELETE', `/api/funnels/${id}`, as)
const read = (id: string, as: As = owner) => house.call('GET', `/api/funnels/${id}`, as)

async function made(path: string, body: object, as: As = owner): Promise<string> {
  const reply = await house.call('POST', `/api/${path}`, { ...as, body })
  assert.equal(reply.statusCode, 201, reply.body)
  return String(reply.data()['id'])
}

const landing = (name: string, as: As = owner) =>
  made('landings', { name, url: `https://${name}.example/?c={click_id}` }, as)
const offer = (name: string, as: As = owner) =>
  made('offers', { name, url: `https://${name}.example/?c={click_id}` }, as)
const setStatus = (path: string, id: string, status: string) =>
  house.call('PUT', `/api/${path}/${id}/status`, { ...owner, body: { status } })

/** A funnel of one landing and one offer. */
async function aFunnel(as: As = owner) {
  const [landing_id, offer_id] = [await landing('l1', as), await offer('o1', as)]
  const members = { landings: [{ landing_id, weight: 1 }], offers: [{ offer_id, weight: 1 }] }
  return { id: await made('funnels', { name: 'Funnel', ...members }, as), landing_id, offer_id }
}

async function aCampaign(funnel_id: string, fields: object = {}, as: As = owner) {
  const destination = { type: 'funnel', funnel_id }
  const reply = await house.call('POST', '/api/campaigns', { ...as, body: { name: 'C', destination, ...fields } })
  assert.equal(reply.statusCode, 201, reply.body)
  return { id: String(reply.data()['id']), key: String(reply.data()['key']) }
}

const keyWith = async (rights: Right[], campaigns?: string[]): Promise<As> => ({
  key: (
    await seedKey(house.database, owner, {
      rights,
      ...(campaigns === undefined ? {} : { campaigns: campaigns.map(id => toUuid(id) ?? '') }),
    })
  ).secret,
})

const rows = async () => {
  const { rows } = await house.database.reads.query<{ all: string }>(
    `select md5(string_agg(f::text, '' order by id)) as all from funnels f`,
  )
  return rows[0]?.all
}

/** Visits by people of different addresses; answers where each is sent. */
async function visit(key: string, times = 1): Promise<URL[]> {
  const answers = await Promise.all(
    Array.from({ length: times }, () => house.call('GET', `/c/${key}`, { headers: BROWSER })),
  )
  return answers.map(({ headers }) => new URL(String(headers.location)))
}

async function clickOf(location: URL) {
  const { rows } = await house.database.reads.query<{ landing_id: string | null; offer_id: string | null }>(
    'select landing_id, offer_id from clicks where org_id = $1 and id = $2',
    [owner.org_id, toUuid(location.searchParams.get('c') ?? '')],
  )
  return { landing_id: rows[0]?.landing_id ?? null, offer_id: rows[0]?.offer_id ?? null }
}

test('a funnel is created with its members, and read with their names and states', async () => {
  const [l1, l2, o1] = [await landing('one'), await landing('two'), await offer('three')]
  const reply = await create({
    name: 'F',
    landings: [
      { landing_id: l1, weight: 70 },
      { landing_id: l2, weight: 30 },
    ],
    offers: [{ offer_id: o1, weight: 1 }],
  })
  assert.equal(reply.statusCode, 201, reply.body)
  const { id, created_at: _c, updated_at: _u, ...rest } = reply.data()
  const expected = {
    name: 'F',
    landings: [
      { landing_id: l1, weight: 70, name: 'one', status: 'active' },
      { landing_id: l2, weight: 30, name: 'two', status: 'active' },
    ],
    offers: [{ offer_id: o1, weight: 1, name: 'three', status: 'active' }],
    tag_ids: [],
    note: null,
  }
  assert.deepEqual(rest, { ...expected, warnings: [] })
  await setStatus('landings', l2, 'archived')
  await house.call('DELETE', `/api/offers/${o1}`, owner)
  const now = (await read(String(id))).data() as unknown as Funnel
  assert.deepEqual(
    [...now.landings, ...now.offers].map(({ status }) => status),
    ['active', 'archived', 'deleted'],
  )
  const listed = (await house.call('GET', '/api/funnels?q=f', owner)).json<{ data: Funnel[] }>().data
  assert.deepEqual(
    listed.find(one => one.id === id),
    now,
  )
})

test('what cannot be a funnel is refused and leaves nothing behind', async () => {
  const { id, landing_id, offer_id } = await aFunnel()
  const [theirs, archived] = [await landing('theirs', other), await landing('old')]
  await setStatus('landings', archived, 'archived')
  const before = await rows()
  const member = (landing_id: unknown, weight: unknown = 1) => ({ landings: [{ landing_id, weight }] })
  const wrong: [object, RegExp][] = [
    [{ landings: [], offers: [] }, /needs a landing or an offer/],
    [member('nonsense'), /landings\.0\.landing_id/],
    [member(toWireId(newId())), /landings\.0\.landing_id: no such landing/],
    [member(theirs), /landings\.0\.landing_id: no such landing/],
    [member(offer_id), /landings\.0\.landing_id: no such landing/],
    [member(archived), /landings\.0\.landing_id: the landing is archived/],
    [{ offers: [{ offer_id: landing_id, weight: 1 }] }, /offers\.0\.offer_id: no such offer/],
    [
      {
        landings: [
          { landing_id, weight: 1 },
          { landing_id, weight: 2 },
        ],
      },
      /landings: names one twice/,
    ],
    ...[0, -1, 1.5, 10_001, '5', null].map((weight): [object, RegExp] => [member(landing_id, weight), /weight/]),
    [{ landings: 'all' }, /landings/],
  ]
  for (const [fields, words] of wrong) {
    for (const reply of [await create({ name: 'F', ...fields }), await patch(id, fields)]) {
      assert.equal(reply.statusCode, 400, JSON.stringify(fields))
      assert.match(String(reply.data()['error']), words)
    }
  }
  assert.equal((await create({ landings: [{ landing_id, weight: 1 }] })).statusCode, 400)
  assert.equal((await create({ name: 'F' })).statusCode, 400)
  assert.equal(await rows(), before)
})

test('a change touches what is sent; members that were archived meanwhile may stay', async () => {
  const { id, landing_id, offer_id } = await aFunnel()
  await setStatus('landings', landing_id, 'archived')
  const renamed = (await patch(id, { name: 'New' })).data() as unknown as Funnel & { name: string }
  assert.deepEqual([renamed.name, renamed.landings.length, renamed.offers.length], ['New', 1, 1])
  const weighed = await patch(id, { landings: [{ landing_id, weight: 9 }] })
  assert.equal((weighed.data() as unknown as Funnel).landings[0]?.weight, 9)
  const cleared = (await patch(id, { landings: null })).data() as unknown as Funnel
  assert.deepEqual([cleared.landings, cleared.offers[0]?.offer_id], [[], offer_id])
  assert.equal((await patch(id, { offers: [] })).statusCode, 400)
})

test('two changes that together would empty a funnel do not both happen', async () => {
  const { id } = await aFunnel()
  const statuses = (await Promise.all([patch(id, { landings: [] }), patch(id, { offers: [] })])).map(
    ({ statusCode }) => statusCode,
  )
  assert.deepEqual(new Set(statuses), new Set([200, 400]))
})

test('a visitor gets a landing and an offer, both kept on the click, and the same ones when he comes again', async () => {
  const landings = [await landing('la'), await landing('lb'), await landing('lc')]
  const offers = [await offer('oa'), await offer('ob')]
  const funnel = await made('funnels', {
    name: 'F',
    landings: landings.map(landing_id => ({ landing_id, weight: 1 })),
    offers: offers.map(offer_id => ({ offer_id, weight: 1 })),
  })
  const { key } = await aCampaign(funnel)
  const seen = new Set<string>()
  for (let visitor = 0; visitor < 40; visitor += 1) {
    const first = await house.call('GET', `/c/${key}`, { headers: BROWSER })
    const [cookie = ''] = [first.headers['set-cookie']].flat().map(text => String(text).split(';')[0])
    const again = await house.call('GET', `/c/${key}`, { headers: { ...BROWSER, cookie } })
    const [one, two] = [new URL(String(first.headers.location)), new URL(String(again.headers.location))]
    assert.equal(two.host, one.host)
    const [click, later] = [await clickOf(one), await clickOf(two)]
    assert.deepEqual(later, click)
    assert.ok(landings.includes(toWireId(click.landing_id ?? '')) && offers.includes(toWireId(click.offer_id ?? '')))
    seen.add(one.host)
  }
  // 40 visitors on 3 landings: all the same has a chance of 3 in 3^40.
  assert.ok(seen.size > 1)
})

test('archived and deleted members get nothing: visitors go to the others, then past the landings, then to the fallback', async () => {
  const { id, landing_id, offer_id } = await aFunnel()
  const second = await offer('o2')
  await patch(id, {
    offers: [
      { offer_id, weight: 1 },
      { offer_id: second, weight: 1 },
    ],
  })
  const { key } = await aCampaign(id, { fallback_url: 'https://fallback.example/' })
  const hosts = async () => new Set((await visit(key, 12)).map(({ host }) => host))
  assert.deepEqual(await hosts(), new Set(['l1.example']))
  await setStatus('offers', offer_id, 'archived')
  for (const location of await visit(key, 12)) assert.equal((await clickOf(location)).offer_id, toUuid(second))
  await setStatus('landings', landing_id, 'archived')
  assert.deepEqual(await hosts(), new Set(['o2.example']))
  const [straight = new URL('https://nowhere.example')] = await visit(key)
  assert.deepEqual(await clickOf(straight), { landing_id: null, offer_id: toUuid(second) })
  await setStatus('landings', landing_id, 'active')
  await house.call('DELETE', `/api/offers/${second}`, owner)
  assert.deepEqual(await hosts(), new Set(['fallback.example']))
  await setStatus('offers', offer_id, 'active')
  assert.deepEqual(await hosts(), new Set(['l1.example']))
})

test('a funnel may be of offers alone, or of landings alone', async () => {
  const [l, o] = [await landing('lonely'), await offer('direct')]
  const straight = await aCampaign(await made('funnels', { name: 'F', offers: [{ offer_id: o, weight: 1 }] }))
  const lonely = await aCampaign(await made('funnels', { name: 'F', landings: [{ landing_id: l, weight: 1 }] }))
  assert.equal((await visit(straight.key))[0]?.host, 'direct.example')
  assert.equal((await visit(lonely.key))[0]?.host, 'lonely.example')
})

test("without a fallback a landing whose offers are all closed is still shown; a deleted funnel's campaign then leads nowhere", async () => {
  const { id, offer_id } = await aFunnel()
  const { key } = await aCampaign(id)
  await setStatus('offers', offer_id, 'archived')
  assert.equal((await visit(key))[0]?.host, 'l1.example')
  await remove(id)
  assert.equal((await house.call('GET', `/c/${key}`)).statusCode, 404)
})

test('a campaign leads only to a funnel of its organization that is there', async () => {
  const { id } = await aFunnel()
  const theirs = await aFunnel(other)
  const ours = await aCampaign(id)
  await remove(id)
  for (const funnel_id of [theirs.id, toWireId(newId()), id]) {
    const destination = { type: 'funnel', funnel_id }
    for (const reply of [
      await house.call('POST', '/api/campaigns', { ...owner, body: { name: 'C', destination } }),
      await house.call('PATCH', `/api/campaigns/${ours.id}`, { ...owner, body: { destination } }),
    ])
      assert.deepEqual([reply.statusCode, reply.data()['error']], [400, 'destination.funnel_id: no such funnel'])
  }
})

test('campaigns are found by the funnel they lead to', async () => {
  const [one, two] = [await aFunnel(), await aFunnel()]
  const campaign = await aCampaign(one.id)
  await aCampaign(two.id)
  const found = (await house.call('GET', `/api/campaigns?funnel_id=${one.id}`, owner)).json<{
    data: { id: string }[]
  }>()
  assert.deepEqual(
    found.data.map(({ id }) => id),
    [campaign.id],
  )
})

test('a deleted funnel is gone for every route, and its campaigns go to their fallback', async () => {
  const { id } = await aFunnel()
  const { key, ...campaign } = await aCampaign(id, { fallback_url: 'https://fallback.example/' })
  const { campaigns_on_fallback } = (await remove(id)).json<{ campaigns_on_fallback: { id: string }[] }>()
  assert.deepEqual(
    campaigns_on_fallback.map(one => one.id),
    [campaign.id],
  )
  assert.equal((await visit(key))[0]?.host, 'fallback.example')
  for (const reply of [await read(id), await patch(id, { name: 'x' }), await remove(id)])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [404, 'not_found'])
})

test('a key restricted to campaigns deletes a funnel only when all that lead to it are on its list', async () => {
  const { id } = await aFunnel()
  const [one, two] = [await aCampaign(id), await aCampaign(id)]
  const before = await rows()
  const partly = await remove(id, await keyWith(['funnels:delete'], [one.id]))
  assert.deepEqual([partly.statusCode, partly.data()['code']], [403, 'campaign_scope_forbidden'])
  assert.equal(await rows(), before)
  assert.equal((await remove(id, await keyWith(['funnels:delete'], [one.id, two.id]))).statusCode, 200)
  const unused = await aFunnel()
  assert.equal((await remove(unused.id, await keyWith(['funnels:delete'], [one.id]))).statusCode, 200)
})

test('the other rights on funnels cannot be restricted to campaigns', async () => {
  const { id } = await aFunnel()
  const campaign = await aCampaign(id)
  const { key_id } = await seedKey(house.database, owner)
  for (const [tier, slug] of [
    ['write', 'funnels'],
    ['delete', 'funnels:update'],
    ['write', 'landings'],
    ['write', 'landings:status'],
    ['delete', 'landings:update'],
    ['delete', 'landings:delete'],
  ] as const) {
    const grant = {
      organization_id: toWireId(owner.organization_id),
      read: [],
      write: [],
      delete: [],
      campaigns: [campaign.id],
    }
    const reply = await house.call('PUT', `/api/api-keys/${toWireId(key_id)}/grant`, {
      ...owner,
      body: { ...grant, [tier]: [slug], confirmation: 'DELETE' },
    })
    assert.deepEqual([reply.statusCode, reply.data()['code']], [400, 'grant_scope_unsupported_resource'], slug)
  }
})

test("another organization's funnel is as if it were not there", async () => {
  const { id } = await aFunnel(other)
  const before = await rows()
  const random = toWireId(newId())
  for (const as of [owner, await keyWith(['funnels:update', 'funnels:delete'])]) {
    for (const call of [(one: string) => patch(one, { name: 'x' }, as), (one: string) => remove(one, as)]) {
      const [theirs, nobodys] = [await call(id), await call(random)]
      assert.deepEqual([theirs.statusCode, theirs.body], [404, nobodys.body])
    }
  }
  assert.equal((await read(id)).body, (await read(random)).body)
  assert.equal(await rows(), before)
})

test('a key does what its rights say, and a member looks and does not touch', async () => {
  const { id, landing_id } = await aFunnel()
  const draft = { name: 'F', landings: [{ landing_id, weight: 1 }] }
  const [creates, updates] = [await keyWith(['funnels']), await keyWith(['funnels:update'])]
  assert.equal((await create(draft, creates)).statusCode, 201)
  assert.equal((await patch(id, { name: 'By key' }, updates)).statusCode, 200)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  assert.equal((await read(id, member)).statusCode, 200)
  const before = await rows()
  const refusals = [
    [await create(draft, updates), 'api_key_write_not_granted'],
    [await patch(id, { name: 'x' }, creates), 'api_key_delete_not_granted'],
    [await remove(id, updates), 'api_key_delete_not_granted'],
    [await read(id, updates), 'api_key_resource_forbidden'],
    [await house.call('GET', '/api/funnels', updates), 'api_key_resource_forbidden'],
    [await create(draft, member), 'role_forbidden'],
    [await patch(id, { name: 'x' }, member), 'role_forbidden'],
    [await remove(id, member), 'role_forbidden'],
  ] as const
  for (const [reply, code] of refusals) assert.deepEqual([reply.statusCode, reply.data()['code']], [403, code])
  assert.equal(await rows(), before)
})
