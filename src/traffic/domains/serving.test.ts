// What is answered under the name of a domain: its organization's links, and nothing of the dashboard.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sign } from '@telegram-apps/init-data-node'
import { register } from 'prom-client'
import { type DomainHouse, HERE, MAIN_HOST, startDomainHouse } from '../../../tests/support/domains.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, seedKey, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { sendLines } from '../../../tests/support/raw-http.ts'
import { BROWSER, recount, seedCampaign } from '../../../tests/support/visits.ts'
import type { Endpoint } from '../../contract/endpoint.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'

let house: DomainHouse
let owner: SignedIn
let other: SignedIn
const D1 = 'd1.test'
const D2 = 'd2.test'
let id = ''
let id2 = ''

const did = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, body?: object, as = owner) => {
  const reply = await house.call(method, url, { cookie: as.cookie, ...(body && { body }) })
  assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.body}`)
  return reply.data()
}
const active = async (name: string, as = owner) => {
  house.dns.set(name, { A: [HERE] })
  const domain = await did('POST', '/api/domains', { name }, as)
  const checked = await did('POST', `/api/domains/${String(domain['id'])}/check`, undefined, as)
  assert.equal(checked['status'], 'active')
  return String(checked['id'])
}
const change = (body: object) => did('PATCH', `/api/domains/${id}`, body)
const statusOf = async (host: string, path: string) => (await house.visit(host, path, { headers: BROWSER })).status

before(async () => {
  house = await startDomainHouse()
  owner = await seedSignedIn(house)
  other = await seedSignedIn(house)
  id = await active(D1)
  id2 = await active(D2)
  await seedCampaign(house.database, owner.org_id, { key: 'spring' })
  await seedCampaign(house.database, other.org_id, { key: 'theirs' })
})
after(() => house.end())

describe('the dashboard is not there', () => {
  test('no page, no API, no probe of monitoring; nothing sets a cookie, and search engines are refused', async () => {
    const { secret } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
    const headers = { ...BROWSER, 'x-api-key': secret, cookie: owner.cookie }
    for (const path of [
      '/',
      '/sign-in',
      '/assets/x.js',
      '/api/organizations',
      '/api/v1/clicks',
      '/api/auth/get-session',
      '/api/setup',
      '/api/mcp',
      '/healthz',
      '/readyz',
      '/metrics',
      '/tls-ask?domain=d1.test',
      '/api/docs',
      '/api/openapi.json',
      '/favicon.svg',
      '/index.html',
      '/.well-known/security.txt',
    ]) {
      const answer = await house.visit(D1, path, { headers })
      assert.deepEqual([answer.status, answer.body], [404, 'not found\n'], path)
      assert.equal(answer.headers['set-cookie'], undefined)
      assert.deepEqual(answer.headers['x-robots-tag'], ['noindex'])
    }
    const robots = await house.visit(D1, '/robots.txt')
    assert.deepEqual([robots.status, robots.body], [200, 'User-agent: *\nDisallow: /\n'])
    await change({ robots: 'allow' })
    assert.equal((await house.visit(D1, '/robots.txt')).body, 'User-agent: *\nDisallow:\n')
    assert.equal((await house.visit(D1, '/')).headers['x-robots-tag'], undefined)
    await change({ robots: 'refuse' })
  })

  test('each answer is counted once in the metrics of requests and of their durations, whatever its route', async () => {
    const counted = async () => {
      const [requests, durations] = await Promise.all(
        ['sluice_http_requests_total', 'sluice_http_request_duration_seconds'].map(name =>
          register.getSingleMetricAsString(name),
        ),
      )
      const sum = (text: string | undefined, series: RegExp) =>
        [...(text ?? '').matchAll(series)].reduce((total, [, value]) => total + Number(value), 0)
      return [sum(requests, /^\w+\{.*\} (\d+)$/gm), sum(durations, /^\w+_count\{.*\} (\d+)$/gm)]
    }
    const before = await counted()
    const paths = [
      '/',
      '/no/such/page',
      '/spring',
      '/c/spring',
      '/c/none',
      '/healthz',
      '/robots.txt',
      '/api/organizations',
    ]
    for (const path of paths) await house.visit(D1, path, { headers: BROWSER })
    await house.visit(MAIN_HOST, '/c/spring', { headers: BROWSER })
    await house.visit(MAIN_HOST, '/healthz', { headers: BROWSER })
    const after = before.map(count => count + paths.length + 2)
    await eventually('all are counted', async () => ((await counted())[0] ?? 0) >= (after[0] ?? 0))
    assert.deepEqual(await counted(), after)
  })

  test('no route answers but those declared for any host', async () => {
    const { secret } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
    const closed = house.furnished.map(({ endpoint }) => endpoint as Endpoint).filter(({ hosts }) => hosts !== 'any')
    assert.ok(closed.length > 150)
    for (const { route } of closed) {
      const [method = '', path = ''] = route.split(' ')
      const url = path.replaceAll(/:\w+/g, toWireId(newId())).replace('*', 'get-session')
      for (const headers of [{ cookie: owner.cookie, origin: `http://${D1}` }, { 'x-api-key': secret }]) {
        const answer = await house.visit(D1, url, { method, headers, ...(method === 'GET' ? {} : { body: '{}' }) })
        assert.deepEqual([answer.status, answer.body], [404, 'not found\n'], route)
        assert.equal(answer.headers['set-cookie'], undefined, route)
      }
    }
  })

  test('and those are the links, the script, what pages report, postbacks and the probes of names', () => {
    const open = house.furnished.map(({ endpoint }) => endpoint as Endpoint).filter(({ hosts }) => hosts === 'any')
    assert.deepEqual(
      open
        .map(({ route }) => route)
        .filter(route => !route.includes('acme-challenge'))
        .toSorted(),
      [
        'GET /.well-known/proof/:nonce',
        'GET /:name.js',
        'GET /c/:key',
        'GET /k/:click.gif',
        'GET /o',
        'GET /o/:click',
        'GET /o/v/:token',
        'GET /postback/:token',
        'GET /sluice.js',
        'GET /v/:key.gif',
        'POST /k/:click',
        'POST /l/:click',
        'POST /m/:bot',
        'POST /postback/:token',
        'POST /v/:key',
      ],
    )
  })
})

test('the script has a neutral name of its own on each host; that of another host is an unknown path', async () => {
  const { rows } = await house.database.reads.query('select id from campaigns where org_id = $1', [owner.org_id])
  const nameOn = async (domain_id: string) => {
    await did('PATCH', `/api/campaigns/${toWireId(rows[0].id)}`, { domain_id })
    const { neutral_script } = await did('GET', `/api/campaigns/${toWireId(rows[0].id)}/tag`)
    const [, host, path] = /src="http:\/\/([^/]+)(\/[a-z]{8}\.js)"/.exec(String(neutral_script)) ?? []
    return { host, path: String(path) }
  }
  const [one, other] = [await nameOn(id), await nameOn(id2)]
  assert.deepEqual([one.host, other.host], [D1, D2])
  for (const { host, path } of [one, other]) assert.equal((await house.visit(String(host), path)).status, 200)
  const unknown = await house.visit(D1, other.path)
  assert.deepEqual([unknown.status, unknown.body], [404, 'not found\n'])
  assert.equal((await house.visit(MAIN_HOST, one.path)).status, 404)
})

test('only Host says where a request came to', async () => {
  const forged = { 'X-Forwarded-Host': MAIN_HOST, Forwarded: `host=${MAIN_HOST}` }
  assert.equal((await house.visit(D1, '/api/setup', { headers: forged })).status, 404)
  assert.equal((await house.visit('D1.TEST.:5001', '/api/setup')).status, 404)
  assert.equal((await house.visit('D1.TEST.:5001', '/spring', { headers: BROWSER })).status, 302)
  const absolute = (path: string) =>
    sendLines(house.port, [
      `GET http://${MAIN_HOST}${path} HTTP/1.1`,
      `Host: ${D1}`,
      'Connection: close',
      'User-Agent: x',
    ])
  assert.equal((await absolute('/api/setup')).status, 404)
  assert.equal((await absolute('/c/theirs')).status, 404)
  assert.equal((await absolute('/')).status, 404)
})

describe('links of one organization do not open on the domain of another', () => {
  test('a campaign does not, and stores no click', async () => {
    const before = await recount(house.database, other.org_id)
    for (const path of ['/c/theirs', '/theirs', '/THEIRS/', '/c/no-such', '/no-such', '/spring/more'])
      assert.equal(await statusOf(D1, path), 404, path)
    assert.deepEqual(await recount(house.database, other.org_id), before)
    assert.equal(await statusOf(MAIN_HOST, '/c/theirs'), 302)
    assert.equal((await recount(house.database, other.org_id)).clicks, before.clicks + 1)
  })

  test('neither does the way on from a landing page, nor its beacon, nor the address of a network', async () => {
    for (const [as, mine] of [
      [owner, true],
      [other, false],
    ] as const) {
      const offer = (await did('POST', '/api/offers', { name: 'O', url: 'https://offer.example/' }, as))['id']
      const campaign = await did(
        'POST',
        '/api/campaigns',
        { name: 'C', destination: { type: 'offer', offer_id: offer } },
        as,
      )
      const visit = await house.visit(MAIN_HOST, `/c/${String(campaign['key'])}`, { headers: BROWSER })
      assert.equal(visit.status, 302)
      const { rows } = await house.database.reads.query<{ id: string }>(
        'select id from clicks where org_id = $1 order by id desc limit 1',
        [as.org_id],
      )
      const click = toWireId(rows[0]?.id ?? '')
      assert.equal(await statusOf(D1, `/o/${click}`), mine ? 302 : 404)
      assert.equal(await statusOf(D1, `/o?click_id=${click}`), mine ? 302 : 404)
      assert.equal(await statusOf(MAIN_HOST, `/o/${click}`), 302)
      const beacon = await house.visit(D1, `/l/${click}`, { method: 'POST', headers: BROWSER, body: '' })
      assert.equal(beacon.status, mine ? 204 : 404)
      const network = await did('POST', '/api/networks', { name: 'N', template: 'plain' }, as)
      const postback = new URL(String(network['postback_url']))
      assert.equal(await statusOf(D1, postback.pathname), mine ? 200 : 404)
      assert.equal(await statusOf(MAIN_HOST, postback.pathname), 200)
    }
  })
})

test('a Mini App tells of its launch on a domain of its organization, and on no other’s', async () => {
  for (const [as, mine] of [
    [owner, true],
    [other, false],
  ] as const) {
    const token = `${as.org_id}:AAE-token`
    const bot = String((await did('POST', '/api/bots', { token, username: `A${as.org_id}_bot` }, as))['id'])
    const body = sign({ user: { id: 5, first_name: 'A' } } as never, token, new Date())
    for (const [host, status] of [
      [D1, mine ? 200 : 401],
      [MAIN_HOST, 200],
    ] as const)
      assert.equal((await house.visit(host, `/m/${bot}`, { method: 'POST', body })).status, status, host)
  }
})

test('a link opens with and without /c/, however its slashes and letters were rewritten, with all it brings along', async () => {
  const { key } = await seedCampaign(house.database, owner.org_id, {
    key: 'told',
    destination: { type: 'redirect', url: 'https://offer.example/?s={sub1}' },
  })
  for (const path of [
    `/${key}?sub1=a`,
    `/${key}/?sub1=a`,
    `//${key}//?sub1=a`,
    '/TOLD?sub1=a',
    `/${key}&sub1=a`,
    `/c/${key}?sub1=a`,
  ]) {
    const answer = await house.visit(D1, path, { headers: BROWSER })
    assert.deepEqual([answer.status, answer.headers['location']], [302, ['https://offer.example/?s=a']], path)
  }
})

describe('what stands at / and at unknown paths', () => {
  test('a redirect leads where it leads, and passes nothing on', async () => {
    await change({
      root: { type: 'redirect', url: 'https://shop.example/?from=root' },
      unknown_path: { type: 'redirect', url: 'https://shop.example/404' },
    })
    const at = async (path: string) => (await house.visit(D1, path, { headers: BROWSER })).headers['location']
    assert.deepEqual(await at('/?sub1=x'), ['https://shop.example/?from=root'])
    for (const path of ['/no/such?x=1', '/no-such', '/c/theirs', '/api/setup', '/sign-in'])
      assert.deepEqual(await at(path), ['https://shop.example/404'], path)
    assert.equal((await house.visit(D1, '/api/setup', { method: 'POST', body: '{}' })).status, 404)
    assert.equal((await house.visit(D1, '/.well-known/x')).status, 404)
  })

  test('a campaign opens as by its link; deleted it leads to its fallback, and without one nowhere', async () => {
    const destination = { type: 'redirect', url: 'https://offer.example/?s={sub2}' }
    const { id: campaign_id } = await did('POST', '/api/campaigns', { name: 'Root', destination })
    await change({ root: { type: 'campaign', campaign_id }, unknown_path: { type: 'campaign', campaign_id } })
    const before = await recount(house.database, owner.org_id)
    for (const path of ['/?sub2=b', '/a/b/c?sub2=b']) {
      const answer = await house.visit(D1, path, { headers: BROWSER })
      assert.deepEqual(answer.headers['location'], ['https://offer.example/?s=b'], path)
    }
    assert.equal((await recount(house.database, owner.org_id)).clicks, before.clicks + 2)
    const path = `/api/campaigns/${String(campaign_id)}`
    await did('PATCH', path, { fallback_url: 'https://fallback.example/' })
    const archived = await house.call('PUT', `${path}/status`, { cookie: owner.cookie, body: { status: 'archived' } })
    assert.equal(archived.statusCode, 200)
    await did('DELETE', path)
    assert.deepEqual((await house.visit(D1, '/')).headers['location'], ['https://fallback.example/'])
    await house.database.kysely
      .updateTable('campaigns')
      .set({ fallback_url: null, updated_at: new Date().toISOString() })
      .where('org_id', '=', owner.org_id)
      .where('name', '=', 'Root')
      .execute()
    await eventually('nothing is left', async () => (await statusOf(D1, '/')) === 404)
    await change({ root: { type: 'not_found' }, unknown_path: { type: 'not_found' } })
    assert.equal(await statusOf(D1, '/'), 404)
  })
})

describe('visitors', () => {
  const cookieOf = (answer: { headers: Record<string, string[]> }) => String(answer.headers['set-cookie'])

  test('get Secure cookies by https, others by http, each for the one domain alone', async () => {
    const by = (proto: string) => house.visit(D1, '/spring', { headers: { ...BROWSER, 'X-Forwarded-Proto': proto } })
    assert.match(cookieOf(await by('https')), /; Secure$/)
    const plain = cookieOf(await by('http'))
    assert.match(plain, /^vis_id=[\w-]{36}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/)
    const again = await house.visit(D1, '/spring', { headers: { ...BROWSER, cookie: plain.split(';')[0] ?? '' } })
    assert.equal(again.headers['set-cookie'], undefined, 'who was here before is the same visitor')
    // A browser sends no cookie of one name to another, so there they are somebody new.
    assert.match(cookieOf(await house.visit(D2, '/spring', { headers: BROWSER })), /^vis_id=/)
  })

  test('find the offer by the cookie of the domain they came by', async () => {
    const landing = (await did('POST', '/api/landings', { name: 'L', url: 'https://landing.example/' }))['id']
    const offer = (await did('POST', '/api/offers', { name: 'O', url: 'https://offer.example/?c={click_id}' }))['id']
    const funnel = await did('POST', '/api/funnels', {
      name: 'F',
      landings: [{ landing_id: landing, weight: 1 }],
      offers: [{ offer_id: offer, weight: 1 }],
    })
    const campaign = await did('POST', '/api/campaigns', {
      name: 'C',
      destination: { type: 'funnel', funnel_id: funnel['id'] },
    })
    const visit = await house.visit(D1, `/${String(campaign['key'])}`, { headers: BROWSER })
    assert.equal(visit.status, 302)
    const cookie = (visit.headers['set-cookie'] ?? []).map(one => one.split(';')[0]).join('; ')
    assert.match(cookie, /vis_click=/)
    const on = await house.visit(D1, '/o', { headers: { ...BROWSER, cookie } })
    assert.match(String(on.headers['location']), /^https:\/\/offer\.example\/\?c=\w{26}$/)
  })
})

test('https alone: by http visitors are led over once a certificate is there, and served as long as there is none', async () => {
  await change({ https: 'only' })
  const by = (path: string, proto: string, method = 'GET') =>
    house.visit(D1, path, {
      method,
      headers: { ...BROWSER, 'X-Forwarded-Proto': proto },
      ...(method === 'POST' ? { body: '' } : {}),
    })
  const before = await recount(house.database, owner.org_id)
  assert.equal((await by('/spring', 'http')).status, 302)
  assert.equal((await recount(house.database, owner.org_id)).clicks, before.clicks + 1)
  await house.database.kysely
    .updateTable('domains')
    .set({
      certificate: JSON.stringify({ issuer: 'A', not_after: null, problem: null }),
      updated_at: new Date().toISOString(),
    })
    .where('org_id', '=', owner.org_id)
    .where('name', '=', D1)
    .execute()
  await eventually('it leads over', async () => {
    const { headers } = await by('/spring?sub1=a', 'http')
    return String(headers['location']) === `https://${D1}/spring?sub1=a`
  })
  const stored = await recount(house.database, owner.org_id)
  assert.deepEqual((await by('/c/spring', 'http')).headers['location'], [`https://${D1}/c/spring`])
  assert.deepEqual(await recount(house.database, owner.org_id), stored)
  assert.match(String((await by('/spring', 'https')).headers['location']), /^https:\/\/offer\.example/)
  const { rows } = await house.database.reads.query<{ id: string }>(
    'select id from clicks where org_id = $1 order by id desc limit 1',
    [owner.org_id],
  )
  const click = toWireId(rows[0]?.id ?? '')
  assert.equal((await by(`/l/${click}`, 'http', 'POST')).status, 204, 'what is sent is taken')
  assert.equal((await by(`/.well-known/proof/${'a'.repeat(22)}`, 'http')).status, 200)
  // Nobody says how this one came.
  assert.match(String((await house.visit(D1, '/spring', { headers: BROWSER })).headers['location']), /^https:\/\/offer/)
  await change({ https: 'optional' })
})

test('a deleted domain is a name like any other from the answer on, and the last visit of a domain is known', async () => {
  const gone = await active('gone.test')
  assert.equal(await statusOf('gone.test', '/spring'), 302)
  await eventually(
    'the visit is written',
    async () => (await did('GET', `/api/domains/${gone}`))['last_visit_at'] !== null,
  )
  await did('DELETE', `/api/domains/${gone}`)
  assert.deepEqual([await statusOf('gone.test', '/spring'), await statusOf('gone.test', '/c/theirs')], [421, 302])
  assert.equal((await house.call('GET', `/api/domains/${gone}`, { cookie: owner.cookie })).statusCode, 404)
})

describe('what a proxy asks before it orders a certificate', () => {
  const ask = async (name: string, headers: Record<string, string> = {}) =>
    (await house.visit('127.0.0.1', `/tls-ask?domain=${name}`, { headers })).status

  test('is answered for names that are served here, and for no other', async () => {
    await did('POST', '/api/domains', { name: 'pending.test' })
    for (const name of [D1, D1.toUpperCase(), MAIN_HOST]) assert.equal(await ask(name), 200, name)
    for (const name of ['pending.test', 'gone.test', 'unknown.test', '', 'sub.d1.test'])
      assert.equal(await ask(name), 404, name)
  })

  test('is nobody’s to ask who was proxied, or is neither this machine nor a trusted proxy', async () => {
    assert.equal(await ask(D1, { 'X-Forwarded-For': '192.0.2.1' }), 404)
    const by = async (remoteAddress: string) =>
      (await house.app.inject({ url: `/tls-ask?domain=${D1}`, headers: { host: MAIN_HOST }, remoteAddress })).statusCode
    assert.deepEqual([await by('192.0.2.1'), await by('::1'), await by('::ffff:127.0.0.1')], [404, 200, 200])
  })
})
