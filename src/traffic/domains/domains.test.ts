// Domains through the door: who may, what names are taken, what is refused, and what campaigns have of them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type DomainHouse, HERE, MAIN_HOST, startDomainHouse } from '../../../tests/support/domains.ts'
import { newId, seedKey, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'

let house: DomainHouse
let owner: SignedIn
before(async () => {
  house = await startDomainHouse({ ALSO_HOSTS: 'inside.test' })
  owner = await seedSignedIn(house)
})
after(() => house.end())

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
type As = { cookie?: string; key?: string }
const ask = (method: Method, url: string, body?: object, as: As = owner) =>
  house.call(method, url, { ...as, ...(body && { body }) })
const did = async (method: Method, url: string, body?: object, as: As = owner) => {
  const reply = await ask(method, url, body, as)
  assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.body}`)
  return reply.data()
}
let made = 0
/** A name that leads here. */
const named = () => {
  const name = `go.d${(made += 1)}.test`
  house.dns.set(name, { A: [HERE] })
  return name
}
const add = (fields: object = {}, as: As = owner) => did('POST', '/api/domains', { name: named(), ...fields }, as)
const check = (id: unknown, as: As = owner) => did('POST', `/api/domains/${String(id)}/check`, undefined, as)
/** One in service. */
const active = async (fields: object = {}, as: As = owner) => {
  const { id } = await add(fields, as)
  const checked = await check(id, as)
  assert.equal(checked['status'], 'active', JSON.stringify(checked['check']))
  return checked
}
const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
const campaign = (fields: object = {}, as: As = owner) =>
  did('POST', '/api/campaigns', { name: 'Spring', destination, ...fields }, as)
const rows = async () => {
  const { rows } = await house.database.reads.query<{ all: string }>(
    `select md5(string_agg(d.id::text || d.https || d.root::text || coalesce(d.deleted_at::text, ''), '' order by id)) as all from domains d`,
  )
  return rows[0]?.all
}

test('a domain is answered at once, pending, with what to set in DNS; and is found in the list', async () => {
  house.dns.set('later.shop.test', undefined)
  const domain = await did('POST', '/api/domains', { name: 'later.shop.test' })
  assert.deepEqual(
    { status: domain['status'], check: domain['check'], default: domain['is_default'], campaigns: domain['campaigns'] },
    { status: 'pending', check: null, default: false, campaigns: 0 },
  )
  assert.deepEqual(domain['records'], [
    { type: 'CNAME', name: 'later.shop.test', value: MAIN_HOST, why: 'pointing', is_needed: true, found: [] },
    { type: 'A', name: 'later.shop.test', value: HERE, why: 'pointing', is_needed: false, found: [] },
  ])
  assert.deepEqual([domain['root'], domain['https'], domain['robots']], [{ type: 'not_found' }, 'optional', 'refuse'])
  const { data } = (await did('GET', '/api/domains?q=LATER.shop')) as { data: { id: string; name: string }[] }
  assert.deepEqual(
    data.map(({ name }) => name),
    ['later.shop.test'],
  )
  assert.equal((await did('GET', `/api/domains/${String(domain['id'])}`))['name'], 'later.shop.test')
  const apex = await did('POST', '/api/domains', { name: 'apex.test' })
  assert.deepEqual(
    (apex['records'] as { type: string; is_needed: boolean }[]).map(({ type, is_needed }) => [type, is_needed]),
    [['A', true]],
    'no alias may stand at the top of a zone',
  )
})

test('names are taken as people paste them, and each that cannot be one is refused in its own words', async () => {
  for (const [sent, name] of [
    ['HTTPS://Go.X.test/a?b', 'go.x.test'],
    ['münchen.test', 'xn--mnchen-3ya.test'],
    [' dot.at.the.end.test. ', 'dot.at.the.end.test'],
    ['http://y.x.test#z', 'y.x.test'],
  ]) {
    const domain = await did('POST', '/api/domains', { name: sent })
    assert.equal(domain['name'], name)
  }
  const { data } = (await did('GET', '/api/domains?q=xn--mnchen')) as { data: { unicode_name: string }[] }
  assert.equal(data[0]?.unicode_name, 'münchen.test')
  const before = await rows()
  for (const [name, words] of [
    ['*.x.test', /single name/],
    ['10.0.0.1', /not an address/],
    ['[::1]', /not an address/],
    ['0x7f.1', /not a host name/],
    ['a_b.test', /underscore/],
    ['localhost', /must contain a dot/],
    ['x', /must contain a dot/],
    [`${'a.'.repeat(125)}test`, /at most 253/],
    ['x.test:81', /port/],
    ['me@x.test', /user name/],
    ['-a.test', /not a host name/],
    ['a..test', /not a host name/],
    ['a b.test', /not a host name/],
    ['x.123', /not a host name/],
    [MAIN_HOST, /address of Sluice itself/],
    [`https://${MAIN_HOST.toUpperCase()}/`, /address of Sluice itself/],
    ['inside.test', /address of Sluice itself/],
    ['', /name/],
  ] as const) {
    const reply = await ask('POST', '/api/domains', { name })
    assert.equal(reply.statusCode, 400, `${name}: ${reply.body}`)
    assert.match(String(reply.data()['error']), words)
  }
  const twice = await ask('POST', '/api/domains', { name: 'GO.x.test.' })
  assert.deepEqual([twice.statusCode, twice.data()['code']], [409, 'already_exists'])
  assert.equal(await rows(), before)
})

test('two hundred are as many as a workspace has', async () => {
  const other = await seedSignedIn(house)
  const now = new Date().toISOString()
  const row = {
    status: 'pending',
    https: 'optional',
    root: '{"type":"not_found"}',
    unknown_path: '{"type":"not_found"}',
  }
  await house.database.kysely
    .insertInto('domains')
    .values(
      Array.from({ length: 200 }, (_, at) => ({
        ...row,
        org_id: other.org_id,
        id: newId(),
        name: `many${at}.test`,
        robots: 'refuse',
        records: '[]',
        created_at: now,
        updated_at: now,
      })),
    )
    .execute()
  const reply = await ask('POST', '/api/domains', { name: 'one-more.test' }, other)
  assert.deepEqual([reply.statusCode, reply.data()['code']], [409, 'domain_limit'])
  const [one] = ((await did('GET', '/api/domains', undefined, other)) as { data: { id: string }[] }).data
  await did('DELETE', `/api/domains/${one?.id}`, undefined, other)
  await did('POST', '/api/domains', { name: 'one-more.test' }, other)
})

test('a member reads and changes nothing; no key has a way in; another organization’s is not there; no Origin, no change', async () => {
  const { id } = await add()
  const path = `/api/domains/${String(id)}`
  const routes = [
    ['GET', '/api/domains'],
    ['POST', '/api/domains'],
    ['GET', path],
    ['PATCH', path],
    ['DELETE', path],
    ['POST', `${path}/check`],
  ] as const
  const before = await rows()
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const other = await seedSignedIn(house)
  const full = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  const fresh = await seedKey(house.database, owner)
  for (const [method, url] of routes) {
    const body = method === 'POST' || method === 'PATCH' ? { body: { name: 'no.test' } } : {}
    const byMember = await house.call(method, url, { cookie: member.cookie, ...body })
    if (method === 'GET') assert.equal(byMember.statusCode, 200)
    else assert.deepEqual([byMember.statusCode, byMember.data()['code']], [403, 'role_forbidden'], `${method} ${url}`)
    for (const { secret } of [full, fresh]) {
      const byKey = await house.call(method, url, { key: secret, ...body })
      assert.deepEqual(
        [byKey.statusCode, byKey.data()['code']],
        [403, 'api_key_resource_forbidden'],
        `${method} ${url}`,
      )
    }
    if (url !== '/api/domains')
      assert.equal((await house.call(method, url, { cookie: other.cookie, ...body })).statusCode, 404)
    if (method === 'GET') continue
    const foreign = await house.call(method, url, { headers: { cookie: owner.cookie }, ...body })
    assert.equal(foreign.statusCode, 403)
    assert.match(foreign.body, /Origin header required/)
  }
  assert.equal((await ask('GET', `/api/domains/${toWireId(newId())}`)).statusCode, 404)
  assert.equal(await rows(), before)
})

test('the first in service is the default one, and another one takes that from it', async () => {
  const own = await seedSignedIn(house)
  const first = await active({}, own)
  assert.equal(first['is_default'], true)
  const second = await active({}, own)
  assert.equal(second['is_default'], false)
  await did('PATCH', `/api/domains/${String(second['id'])}`, { is_default: true }, own)
  const { data } = (await did('GET', '/api/domains', undefined, own)) as { data: { id: string; is_default: boolean }[] }
  assert.deepEqual(
    data.filter(({ is_default }) => is_default).map(({ id }) => id),
    [second['id']],
  )
  const pending = await did('POST', '/api/domains', { name: 'nowhere.test' }, own)
  const refused = await ask('PATCH', `/api/domains/${String(pending['id'])}`, { is_default: true }, own)
  assert.equal(refused.statusCode, 400)
  assert.match(String(refused.data()['error']), /does not lead here/)
  await did('DELETE', `/api/domains/${String(second['id'])}`, undefined, own)
  const left = (await did('GET', '/api/domains', undefined, own)) as { data: { is_default: boolean }[] }
  assert.ok(left.data.every(({ is_default }) => !is_default))
})

test('places and https are changed by the fields that are sent, and lead to nothing that is not there', async () => {
  const { id, name } = await add()
  const path = `/api/domains/${String(id)}`
  const { id: campaign_id } = await campaign()
  const changed = await did('PATCH', path, {
    https: 'only',
    root: { type: 'redirect', url: 'https://shop.example/' },
    unknown_path: { type: 'campaign', campaign_id },
    robots: 'allow',
  })
  assert.partialDeepStrictEqual(changed, {
    https: 'only',
    root: { type: 'redirect', url: 'https://shop.example/' },
    unknown_path: { type: 'campaign', campaign_id },
    robots: 'allow',
  })
  const kept = await did('PATCH', path, { robots: 'refuse' })
  assert.deepEqual([kept['https'], kept['robots']], ['only', 'refuse'])
  const other = await seedSignedIn(house)
  const theirs = await campaign({}, other)
  for (const [place, words] of [
    [{ type: 'campaign', campaign_id: theirs['id'] }, /no such campaign/],
    [{ type: 'redirect', url: `http://${String(name)}/x` }, /leads back/],
    [{ type: 'redirect', url: 'https://x.example/?c={click_id}' }, /must not contain macros/],
    [{ type: 'redirect', url: 'ftp://x.example' }, /must begin with/],
    [{ type: 'page' }, /root/],
  ] as const) {
    const reply = await ask('PATCH', path, { root: place })
    assert.equal(reply.statusCode, 400, reply.body)
    assert.match(String(reply.data()['error']), words)
  }
  assert.deepEqual((await did('GET', path))['root'], { type: 'redirect', url: 'https://shop.example/' })
})

test('campaigns are shown on their domain, else on the default one, else on the main host', async () => {
  const own = await seedSignedIn(house)
  const plain = await campaign({ key: 'shown-somewhere' }, own)
  assert.equal(plain['url'], `http://${MAIN_HOST}/c/shown-somewhere`)
  const first = await active({}, own)
  const second = await active({}, own)
  const read = async (of = plain) => did('GET', `/api/campaigns/${String(of['id'])}`, undefined, own)
  assert.equal((await read())['url'], `http://${String(first['name'])}/c/shown-somewhere`)
  const chosen = await did('PATCH', `/api/campaigns/${String(plain['id'])}`, { domain_id: second['id'] }, own)
  assert.deepEqual(
    [chosen['url'], chosen['domain_id']],
    [`http://${String(second['name'])}/c/shown-somewhere`, second['id']],
  )
  const shownOn = async (domain: Record<string, unknown>) => {
    for (const [method, url, body] of [
      ['GET', 'link', undefined],
      ['GET', 'test-link', undefined],
      ['POST', 'try-link', {}],
    ] as const)
      assert.match(
        String((await did(method, `/api/campaigns/${String(plain['id'])}/${url}`, body, own))['url']),
        new RegExp(`^http://${String(domain['name'])}/c/shown-somewhere`),
      )
  }
  await shownOn(second)
  const byDomain = `/api/campaigns?domain_id=${String(second['id'])}`
  assert.equal(((await did('GET', byDomain, undefined, own)) as { data: object[] }).data.length, 1)
  const counted = async ({ id }: Record<string, unknown>) =>
    (await did('GET', `/api/domains/${String(id)}`, undefined, own))['campaigns']
  assert.deepEqual([await counted(first), await counted(second)], [0, 1])
  await did('DELETE', `/api/domains/${String(second['id'])}`, undefined, own)
  const back = await read()
  assert.deepEqual([back['url'], back['domain_id']], [`http://${String(first['name'])}/c/shown-somewhere`, null])
  await shownOn(first)
  assert.equal(await counted(first), 1)
  const pending = await did('POST', '/api/domains', { name: 'not-yet.test' }, own)
  const other = await seedSignedIn(house)
  const theirs = await active({}, other)
  for (const domain_id of [pending['id'], theirs['id'], toWireId(newId())]) {
    const reply = await ask('PATCH', `/api/campaigns/${String(plain['id'])}`, { domain_id }, own)
    assert.equal(reply.statusCode, 400)
    assert.match(String(reply.data()['error']), /domain_id/)
  }
})

test('a key changes campaigns as ever, but never the domain they are shown on', async () => {
  const own = await seedSignedIn(house)
  const { id: domain_id, name } = await active({}, own)
  const { secret } = await seedKey(house.database, own, { rights: ['campaigns', 'campaigns:update'] })
  const as = { key: secret }
  const made = await campaign({ key: 'made-by-key' }, as)
  assert.equal(made['url'], `http://${String(name)}/c/made-by-key`)
  const path = `/api/campaigns/${String(made['id'])}`
  for (const reply of [
    await ask('PATCH', path, { domain_id, name: 'Other' }, as),
    await ask('POST', '/api/campaigns', { name: 'C', destination, domain_id }, as),
  ])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'api_key_resource_forbidden'])
  await did('PATCH', path, { name: 'Renamed', domain_id: null }, as)
  await did('PATCH', path, { domain_id }, own)
  await did('PATCH', path, { name: 'Again', domain_id }, as)
  const emptied = await ask('PATCH', path, { domain_id: null }, as)
  assert.equal(emptied.data()['code'], 'api_key_resource_forbidden')
  const now = await did('GET', path, undefined, own)
  assert.deepEqual([now['name'], now['domain_id']], ['Again', domain_id])
})
