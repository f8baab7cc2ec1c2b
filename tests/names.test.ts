// The host of a request decides which routes are open: the dashboard has one address, links work on every name.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Endpoint } from '../src/contract/endpoint.ts'
import {
  newId,
  type SeededOrganization,
  seedKey,
  seedOrganization,
  startHouse,
  useHouse,
  type TestHouse,
  toWireId,
} from './support/house.ts'
import { askAs, sendLines } from './support/raw-http.ts'
import { BROWSER, recount, seedCampaign } from './support/visits.ts'

const MAIN = 'track.example'
const OTHER = 'elsewhere.example'

let house: TestHouse
let port: number
let place: SeededOrganization
before(async () => {
  house = await startHouse({
    BASE_URL: `https://${MAIN}`,
    ALSO_HOSTS: 'www.track.example, 10.0.0.5',
    TRUST_PROXY: '127.0.0.1',
  })
  port = Number(new URL(await house.listen()).port)
  place = await seedOrganization(house.database)
  await seedCampaign(house.database, place.org_id, { key: 'spring' })
  const destination = { type: 'redirect', url: 'https://offer.example/' }
  await seedCampaign(house.database, place.org_id, { key: 'other', destination })
})
after(() => house.end())

const statusAs = async (host: string, path: string) => (await askAs(port, host, path)).status

describe('an unknown name', () => {
  test('still redirects visitors, and routes for machines work', async () => {
    const before = await recount(house.database, place.org_id)
    const visit = await askAs(port, OTHER, '/c/spring', { headers: BROWSER })
    assert.equal(visit.status, 302)
    assert.match(String(visit.headers['location']), /^https:\/\/offer\.example\/\?c=/)
    assert.equal((await recount(house.database, place.org_id)).clicks, before.clicks + 1)
    for (const path of ['/sluice.js', '/healthz', '/readyz', '/metrics'])
      assert.equal(await statusAs(OTHER, path), 200, path)
    const { secret } = await seedKey(house.database, place, { rights: ['clicks'] })
    const read = await askAs(port, OTHER, '/api/v1/clicks', { headers: { 'x-api-key': secret } })
    assert.equal(read.status, 200)
    assert.equal((await askAs(port, OTHER, '/api/v1/clicks')).status, 401)
  })

  test('has no dashboard: pages are 421 with an explanation, routes of sessions with a code', async () => {
    for (const path of ['/', '/sign-in', '/assets/x.js', '/api/docs', '/api/openapi.json', '/robots.txt']) {
      const page = await askAs(port, OTHER, path)
      assert.deepEqual([page.status, page.headers['content-type']], [421, ['text/plain; charset=utf-8']], path)
      assert.match(page.body, /BASE_URL/)
    }
    const cookie = { cookie: '__Host-sluice.session_token=x' }
    for (const path of ['/api/organizations', '/api/auth/get-session', '/api/setup', '/api/preferences']) {
      const answer = await askAs(port, OTHER, path, { headers: cookie })
      assert.equal(answer.status, 421, path)
      assert.equal((JSON.parse(answer.body) as { code: string }).code, 'misdirected_request')
      assert.equal(answer.headers['set-cookie'], undefined)
    }
  })

  test('gets 421 on every route that only a session opens, and a key is told that no right covers it', async () => {
    const { secret } = await seedKey(house.database, place)
    const sessions = house.furnished
      .map(({ endpoint }) => endpoint as Endpoint)
      .filter(({ access }) => access !== 'anyone' && !('key' in access))
    assert.ok(sessions.length > 100)
    for (const { route } of sessions) {
      const [method = '', path = ''] = route.split(' ')
      const url = path.replaceAll(/:\w+/g, toWireId(newId()))
      assert.equal((await askAs(port, OTHER, url, { method })).status, 421, route)
      const byKey = await askAs(port, OTHER, url, { method, headers: { 'x-api-key': secret } })
      assert.match(byKey.body, /api_key_resource_forbidden/, route)
    }
  })

  test('may send any X-Forwarded-Host: it is ignored, even from a trusted proxy', async () => {
    const forged = { 'X-Forwarded-Host': MAIN, Forwarded: `host=${MAIN}` }
    assert.equal((await askAs(port, OTHER, '/api/setup', { headers: forged })).status, 421)
    const turned = { 'X-Forwarded-Host': OTHER }
    assert.equal((await askAs(port, MAIN, '/api/setup', { headers: turned })).status, 200)
  })
})

test('the dashboard is at BASE_URL in any spelling, at ALSO_HOSTS, and on the machine itself', async () => {
  const names = [
    MAIN,
    `${MAIN}:443`,
    'TRACK.Example',
    `${MAIN}.`,
    `${MAIN}.:8443`,
    'www.track.example',
    '10.0.0.5:8080',
  ]
  for (const name of [...names, 'localhost:8080', '127.0.0.1', `[::1]:${port}`])
    assert.equal(await statusAs(name, '/api/setup'), 200, name)
  for (const name of [
    'track.example.evil.example',
    'xtrack.example',
    'track.example..',
    '10.0.0.51',
    'localhost.example',
  ])
    assert.equal(await statusAs(name, '/api/setup'), 421, name)
})

describe('a loopback name', () => {
  const LOOPBACK = ['localhost', 'localhost:8080', '127.0.0.1:8080', '127.1.2.3', '[::1]', 'LOCALHOST.']

  test('is not the main host for requests from other machines: no page, no sign-in, with any Origin', async () => {
    for (const host of LOOPBACK)
      for (const remoteAddress of ['192.0.2.7', '10.0.0.9', '2001:db8::1', '::ffff:192.0.2.7']) {
        const get = (url: string) => house.app.inject({ url, headers: { host }, remoteAddress })
        assert.equal((await get('/')).statusCode, 421, host)
        assert.equal((await get('/api/setup')).statusCode, 421, host)
        const headers = { host, origin: `http://${host.toLowerCase()}` }
        const body = { email: 'a@example.com', password: 'a long enough password' }
        const signIn = { method: 'POST', url: '/api/auth/sign-in/email', headers, body, remoteAddress } as const
        assert.equal((await house.app.inject(signIn)).statusCode, 421, host)
        assert.equal((await get('/readyz')).statusCode, 200, host)
      }
    const mapped = { url: '/api/setup', headers: { host: 'localhost' }, remoteAddress: '::ffff:127.0.0.1' }
    assert.equal((await house.app.inject(mapped)).statusCode, 200)
  })

  test('is not the main host for requests through a proxy on this machine', async () => {
    for (const [name, value] of [
      ['X-Forwarded-For', '127.0.0.1'],
      ['X-Forwarded-Proto', 'https'],
      ['X-Forwarded-Host', MAIN],
      ['X-Forwarded', 'for=127.0.0.1'],
      ['Forwarded', 'for=192.0.2.7'],
      ['X-Real-IP', '192.0.2.7'],
      ['Via', '1.1 proxy'],
      ['CF-Connecting-IP', '192.0.2.7'],
      ['True-Client-IP', '192.0.2.7'],
    ] as const)
      for (const host of LOOPBACK)
        assert.equal((await askAs(port, host, '/api/setup', { headers: { [name]: value } })).status, 421, name)
    assert.equal((await askAs(port, MAIN, '/api/setup', { headers: { 'X-Forwarded-For': '192.0.2.7' } })).status, 200)
  })

  test('is the main host for everyone if BASE_URL names it, and in ALSO_HOSTS for requests without a proxy', async () => {
    const own = await startHouse({ BASE_URL: 'http://localhost:8080', ALSO_HOSTS: '127.0.0.1' })
    try {
      const status = async (host: string, more: Record<string, string> = {}) => {
        const headers = { host, ...more }
        return (await own.app.inject({ url: '/api/setup', headers, remoteAddress: '172.17.0.1' })).statusCode
      }
      const proxied = { 'x-forwarded-for': '192.0.2.7' }
      assert.deepEqual([await status('localhost:8080'), await status('localhost', proxied)], [200, 200])
      assert.deepEqual([await status('127.0.0.1:8080'), await status('127.0.0.1:8080', proxied)], [200, 421])
      assert.equal(await status('[::1]:8080'), 421)
    } finally {
      await own.end()
    }
  })
})

test('two Host headers are refused, because a proxy may have read the other one', async () => {
  const twice = ['GET /c/spring HTTP/1.1', `Host: ${MAIN}`, `hOST: ${OTHER}`, 'Connection: close']
  const before = await recount(house.database, place.org_id)
  const answer = await sendLines(port, twice)
  assert.equal(answer.status, 400)
  assert.match(answer.body, /Host: must be sent once/)
  assert.deepEqual(await recount(house.database, place.org_id), before)
})

test('without a Host, or with a whole address as its path, only Host decides which name a request came to', async () => {
  assert.equal((await sendLines(port, ['GET /api/setup HTTP/1.0'])).status, 421)
  assert.equal((await sendLines(port, ['GET /c/spring HTTP/1.0'])).status, 302)
  assert.equal((await sendLines(port, ['GET /c/spring HTTP/1.1', 'Connection: close'])).status, 400)
  const absolute = (host: string) =>
    sendLines(port, [`GET http://${MAIN}/api/setup HTTP/1.1`, `Host: ${host}`, 'Connection: close'])
  assert.equal((await absolute(OTHER)).status, 421)
  assert.equal((await absolute(MAIN)).status, 200)
})

test('without BASE_URL every name is the main host', async () => {
  const plain = await useHouse()
  try {
    const at = Number(new URL(await plain.listen()).port)
    for (const name of [OTHER, '192.0.2.7:8080', MAIN, `localhost:${at}`, '127.0.0.1', '[::1]'])
      for (const path of ['/api/setup', '/api/docs', '/healthz'])
        assert.equal((await askAs(at, name, path)).status, 200, `${name} ${path}`)
    assert.equal((await sendLines(at, ['GET /api/setup HTTP/1.0'])).status, 200)
    // A container's port: requests come from the gateway of the container's network.
    const mapped = { url: '/api/setup', headers: { host: 'localhost:8080' }, remoteAddress: '172.17.0.1' }
    assert.equal((await plain.app.inject(mapped)).statusCode, 200)
  } finally {
    await plain.end()
  }
})

describe('cookies of visitors', () => {
  const cookieOf = async (at: number, headers: Record<string, string> = {}) => {
    const answer = await askAs(at, MAIN, '/c/other', { headers: { ...BROWSER, ...headers } })
    return String(answer.headers['set-cookie'])
  }

  test('are Secure if the visitor came by HTTPS, by the last value that the trusted proxy added', async () => {
    assert.match(await cookieOf(port, { 'X-Forwarded-Proto': 'https' }), /; Secure$/)
    assert.match(await cookieOf(port, { 'X-Forwarded-Proto': 'http, HTTPS' }), /; Secure$/)
    assert.match(await cookieOf(port, { 'X-Forwarded-Proto': 'http' }), /SameSite=Lax$/)
    assert.match(await cookieOf(port, { 'X-Forwarded-Proto': 'https, http' }), /SameSite=Lax$/)
    assert.match(await cookieOf(port), /; Secure$/, 'by BASE_URL if no proxy says')
  })

  test('do not become Secure by a header that anybody can send', async () => {
    for (const [BASE_URL, said, is] of [
      [`https://${MAIN}`, 'http', /; Secure$/],
      [`http://${MAIN}`, 'https', /SameSite=Lax$/],
    ] as const) {
      const open = await startHouse({ BASE_URL, TRUST_PROXY: '192.0.2.1' })
      try {
        const org = await seedOrganization(open.database)
        await seedCampaign(open.database, org.org_id, { key: 'other' })
        const at = Number(new URL(await open.listen()).port)
        assert.match(await cookieOf(at, { 'X-Forwarded-Proto': said }), is)
      } finally {
        await open.end()
      }
    }
  })
})
