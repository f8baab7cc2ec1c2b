// What a stranger can learn from a campaign domain, over all public servers: every route of the golden file is requested.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type IncomingHttpHeaders, type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { type AcmeStub, startAcmeStub } from './support/acme-stub.ts'
import { type FakeDns, startDns } from './support/dns-fake.ts'
import { eventually } from './support/eventually.ts'
import { newId, toWireId } from './support/house.ts'
import { type SignedIn, seedSignedIn } from './support/people.ts'
import { freePort } from './support/ports.ts'
import { sendLines } from './support/raw-http.ts'
import { openStreetHouse, type StreetHouse, shake } from './support/street.ts'
import { BROWSER, seedCampaign } from './support/visits.ts'

/** The dashboard's host, which no answer may contain. */
const MAIN = 'panel-of-nobody.test'
const DOMAIN = 'd1.test'
const LOOPBACK = ['localhost', 'localhost:443', '127.0.0.1', '[::1]', 'LOCALHOST.']
const ROUTES = readFileSync(join(import.meta.dirname, 'routes.golden.txt'), 'utf8')
  .trimEnd()
  .split('\n')
  .map(line => line.split(/\s+/, 2) as [method: string, path: string])
const FILES = [
  '/',
  '/index.html',
  '/sign-in',
  '/assets/x.js',
  '/favicon.svg',
  '/robots.txt',
  '/api/docs',
  '/no/such/path',
]

let dns: FakeDns
let stub: AcmeStub
let house: StreetHouse
let owner: SignedIn
let port = 0
const agents = { http: new PlainAgent({ keepAlive: true }), https: new SecureAgent({ keepAlive: true }) }

before(async () => {
  const [http_port, https_port] = [await freePort(), await freePort()]
  dns = await startDns()
  dns.set(MAIN, { A: ['127.0.0.1'] })
  dns.set(DOMAIN, { A: ['127.0.0.1'] })
  stub = await startAcmeStub(() => http_port)
  port = await freePort()
  house = await openStreetHouse({
    BASE_URL: `https://${MAIN}`,
    PORT: String(port),
    HTTP_PORT: String(http_port),
    HTTPS_PORT: String(https_port),
    ACME_DIRECTORY: stub.directory,
    DNS_SERVERS: dns.address,
    CHECK_PORTS: `${http_port},${https_port}`,
  })
  owner = await seedSignedIn(house)
  await seedCampaign(house.database, owner.org_id, { key: 'spring' })
  const { id } = await did('POST', '/api/domains', { name: DOMAIN })
  await eventually('it is active', async () => (await did('GET', `/api/domains/${String(id)}`))['status'] === 'active')
  await house.certified(MAIN)
  await house.certified(DOMAIN)
})
after(async () => {
  agents.http.destroy()
  agents.https.destroy()
  await house.end()
  await stub.close()
  await dns.close()
})

async function did(method: 'GET' | 'POST', url: string, body?: object) {
  const headers = { host: MAIN, origin: `https://${MAIN}` }
  const reply = await house.call(method, url, { cookie: `__Host-${owner.cookie}`, headers, ...(body && { body }) })
  assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.body}`)
  return reply.data()
}

type Sent = { method?: string; headers?: Record<string, string>; body?: string; by?: 'http' | 'https' | 'plain' }
type PublicAnswer = { status: number; headers: IncomingHttpHeaders; body: string; names: string }

/** Sends a request with this Host. By HTTPS the handshake names the domain, and `names` are those of the certificate. */
async function ask(host: string, path: string, { method = 'GET', headers = {}, body, by = 'https' }: Sent = {}) {
  const shared = { host: '127.0.0.1', path, method, headers: { host, ...headers } }
  const sent =
    by === 'https'
      ? secureRequest({
          ...shared,
          port: house.https_port,
          agent: agents.https,
          servername: DOMAIN,
          rejectUnauthorized: false,
        })
      : plainRequest({ ...shared, port: by === 'http' ? house.http_port : port, agent: agents.http })
  return await new Promise<PublicAnswer>((resolve, reject) => {
    sent.once('error', reject)
    sent.once('response', (answer: IncomingMessage) => {
      const names = by === 'https' ? JSON.stringify((answer.socket as TLSSocket).getPeerCertificate()) : ''
      const { statusCode: status = 0, headers: heard } = answer
      text(answer).then(said => resolve({ status, headers: heard, body: said, names }), reject)
    })
    sent.end(body)
  })
}

/** How many routes are tried by HTTPS for each one by other servers, which have the same routes; the long form tries all. */
const OF_ROUTES = process.env['SLUICE_TEST_ALL'] ? 1 : 6

/** Every route of the golden file, with unknown ids, and some other paths; or every so many of them. */
function everything(of = 1): { method: string; path: string; body?: string }[] {
  const routes = ROUTES.map(([method, path]) => ({
    method,
    path: path.replaceAll(/:\w+/g, toWireId(newId())).replace('*', 'get-session'),
    ...(method === 'GET' || method === 'DELETE' ? {} : { body: '{}' }),
  }))
  return [
    ...routes.filter(({ path }, at) => at % of === 0 || path === '/sluice.js'),
    ...FILES.map(path => ({ method: 'GET', path })),
    { method: 'OPTIONS', path: '/' },
  ]
}

/** Some at a time, which is faster than one after another. */
async function each<T>(all: readonly T[], check: (one: T, at: number) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += 20)
    await Promise.all(all.slice(at, at + 20).map((one, more) => check(one, at + more)))
}

describe('nothing on a campaign domain shows where the dashboard is', () => {
  const FORGED = {
    'x-forwarded-host': 'localhost',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    'x-real-ip': '127.0.0.1',
    forwarded: 'for=127.0.0.1;host=localhost',
    origin: `https://${DOMAIN}`,
  }
  const OTHERS = [...LOOPBACK, 'unknown.test', '192.0.2.7']
  for (const by of ['https', 'http'] as const)
    test(`by ${by}: no status, header, body or certificate, with any Host and X-Forwarded-*`, async () => {
      const seen = new Set<number>()
      await each(everything(by === 'https' ? 1 : OF_ROUTES), async ({ path, ...sent }, at) => {
        const other = OTHERS[at % OTHERS.length] ?? ''
        for (const [host, headers] of [
          [DOMAIN, FORGED],
          [DOMAIN, { 'x-api-key': 'k' }],
          ['localhost', { origin: 'https://localhost' }],
          [other, { origin: `https://${other}` }],
        ] as const) {
          const heard = await ask(host, path, { ...sent, headers, by })
          const what = `${sent.method} ${path} as ${host}`
          assert.doesNotMatch(JSON.stringify(heard), new RegExp(MAIN), what)
          assert.notEqual(heard.status, 308, what)
          seen.add(heard.status)
        }
      })
      assert.deepEqual(
        [200, 404, 421].filter(status => !seen.has(status)),
        [],
        'there was an answer',
      )
    })

  test('a handshake for any other name gets no certificate', async () => {
    for (const name of ['localhost', 'unknown.test', 'x.d1.test', undefined])
      await assert.rejects(shake(house.https_port, name === undefined ? {} : { name }), String(name))
  })
})

describe('nothing on a campaign domain names the product', () => {
  /** The names of the script and its API, which pages of others contain. */
  const PUBLIC_NAMES = /sluice\.js|data-sluice-offer|window\.sluice\b|sluice_(click|\$\{campaign\})/g

  /** Addresses that exist, in addition to the routes with unknown ids. */
  async function opened(): Promise<{ method: string; path: string; body?: string }[]> {
    const made = async (path: string, body: object) => String((await did('POST', path, body))['id'])
    const landing_id = await made('/api/landings', { name: 'L', url: 'https://landing.example/?c={click_id}' })
    const offer_id = await made('/api/offers', { name: 'O', url: 'https://offer.example/?c={click_id}' })
    const shares = { landings: [{ landing_id, weight: 1 }], offers: [{ offer_id, weight: 1 }] }
    const funnel_id = await made('/api/funnels', { name: 'F', ...shares })
    const destination = { type: 'funnel', funnel_id }
    await did('POST', '/api/campaigns', { name: 'C', key: 'by-funnel', destination })
    const visit = await ask(DOMAIN, '/by-funnel', { headers: BROWSER })
    const click = new URL(visit.headers.location ?? '').searchParams.get('c') ?? ''
    assert.match(click, /^\w{26}$/)
    const bot = await made('/api/bots', { token: '7:AAE-token', username: 'A_bot' })
    const network = await did('POST', '/api/networks', { name: 'N', template: 'plain' })
    const { pathname } = new URL(String(network['postback_url']))
    const nonce = 'a'.repeat(22)
    return [
      ...['/by-funnel', '/c/by-funnel', `/o/${click}`, `/o?click_id=${click}`, '/o', '/sluice.js', pathname].map(
        path => ({
          method: 'GET',
          path,
        }),
      ),
      ...[`/.well-known/proof/${nonce}`, '/.well-known/proof/x', `${pathname}?click_id=${click}&payout=x`].map(
        path => ({
          method: 'GET',
          path,
        }),
      ),
      { method: 'POST', path: `/l/${click}`, body: '' },
      { method: 'POST', path: `/m/${bot}`, body: 'junk' },
      { method: 'POST', path: pathname, body: '{broken' },
      { method: 'PUT', path: '/c/by-funnel', body: '{}' },
    ]
  }

  for (const by of ['https', 'http', 'plain'] as const)
    test(`by ${by}: no header and no body, except the names of the script`, async () => {
      const seen = new Map<string, number>()
      const asked = by === 'https' ? [...everything(), ...(await opened())] : everything(OF_ROUTES)
      await each(asked, async ({ path, ...sent }) => {
        const heard = await ask(DOMAIN, path, { ...sent, headers: BROWSER, by })
        seen.set(`${sent.method} ${path}`, heard.status)
        const said = `${JSON.stringify(heard.headers)} ${heard.body}`.replaceAll(PUBLIC_NAMES, '')
        assert.doesNotMatch(said, /sluice/i, `${sent.method} ${path}`)
      })
      assert.equal(seen.get('GET /sluice.js'), 200)
      if (by !== 'https') return
      const statuses = ['GET /by-funnel', `GET /.well-known/proof/${'a'.repeat(22)}`].map(one => seen.get(one))
      assert.deepEqual(statuses, [302, 200])
    })

  test('nor does an answer to a broken request', async () => {
    for (const lines of [['NOT HTTP'], ['GET /%zz HTTP/1.1', `Host: ${DOMAIN}`, 'Connection: close']])
      assert.doesNotMatch(JSON.stringify(await sendLines(house.http_port, lines)), /sluice/i)
  })
})

describe('every answer has nosniff', () => {
  for (const [by, host] of [
    ['https', MAIN],
    ['https', DOMAIN],
    ['http', MAIN],
    ['plain', MAIN],
    ['plain', 'unknown.test'],
  ] as const)
    test(`by ${by} as ${host}: pages, JSON, redirects, refusals and scripts`, async () => {
      const session = { cookie: `__Host-${owner.cookie}`, origin: `https://${MAIN}` }
      const visit = { method: 'GET', path: '/c/spring' }
      // Without the route that would end the session.
      const asked = [...everything(by === 'https' && host === MAIN ? 1 : OF_ROUTES), visit].filter(
        ({ path }) => !path.startsWith('/api/sessions'),
      )
      await each(asked, async ({ path, ...sent }) => {
        const headers = path === visit.path ? BROWSER : session
        const heard = await ask(host, path, { ...sent, headers, by })
        assert.equal(heard.headers['x-content-type-options'], 'nosniff', `${sent.method} ${path}`)
      })
    })

  test('so have answers to requests that reach no route', async () => {
    for (const at of [port, house.http_port])
      for (const [status, lines] of [
        [400, ['NOT HTTP']],
        [400, ['GET / HTTP/1.1', 'Connection: close']],
        [400, ['GET /%zz HTTP/1.1', `Host: ${DOMAIN}`, 'Connection: close']],
        [400, ['GET / HTTP/1.1', `Host: ${DOMAIN}`, `Host: ${MAIN}`, 'Connection: close']],
        [417, ['GET / HTTP/1.1', `Host: ${DOMAIN}`, 'Expect: nothing', 'Connection: close']],
        [431, ['GET / HTTP/1.1', `Host: ${DOMAIN}`, `X: ${'x'.repeat(20_000)}`]],
      ] as const) {
        const heard = await sendLines(at, lines)
        assert.deepEqual([heard.status, heard.headers['x-content-type-options']], [status, ['nosniff']], lines[0])
      }
  })
})
