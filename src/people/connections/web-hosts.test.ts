// Hosts that are web pages without a server: what browsers let a page of another origin do here, and that a page gets no further than its own token.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { codeIn, HOST, hostsAt, REDIRECT } from '../../../tests/support/connecting.ts'
import { startHouse, type TestHouse, useHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { messageFor, type ToolMessage } from '../../../tests/support/tools.ts'

const FOREIGN = { ...HOST, origin: 'https://inspector.example' }
const METADATA = ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-authorization-server']
const OPEN = { '/mcp': 'POST', '/oauth/register': 'POST', '/oauth/token': 'POST', '/oauth/revoke': 'POST' }

let house: TestHouse
let owner: SignedIn
let hosts: ReturnType<typeof hostsAt>
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  hosts = hostsAt(house, owner)
})
after(() => house.end())

type Reply = Awaited<ReturnType<TestHouse['call']>>

/** The headers by which a browser lets a page of another origin do or read something. */
const allowed = ({ headers }: Pick<Reply, 'headers'>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')))

const preflight = (path: string, method: string, asked: string, headers: Record<string, string> = FOREIGN) =>
  house.call('OPTIONS', path, {
    headers: {
      ...headers,
      'access-control-request-method': method,
      'access-control-request-headers': asked,
    },
  })

/** What a browser checks: every header that it asked for is named, because `*` does not cover Authorization. */
function assertAllows(reply: Reply, asked: string): void {
  assert.equal(reply.statusCode, 204)
  const { 'access-control-allow-origin': origin, 'access-control-allow-headers': names } = allowed(reply)
  assert.equal(origin, '*')
  assert.equal(reply.headers['access-control-allow-credentials'], undefined)
  const named = String(names).split(', ')
  for (const name of asked.split(', ')) assert.ok(named.includes(name), name)
}

test('a page may ask every address of the connection, with the headers of all revisions', async () => {
  for (const path of METADATA)
    assertAllows(await preflight(path, 'GET', 'mcp-protocol-version'), 'mcp-protocol-version')
  for (const path of ['/oauth/register', '/oauth/token', '/oauth/revoke'])
    assertAllows(await preflight(path, 'POST', 'content-type'), 'content-type')
  const sent = 'authorization, content-type, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id'
  const reply = await preflight('/mcp', 'POST', sent)
  assertAllows(reply, sent)
  assert.equal(reply.headers['access-control-allow-methods'], 'POST')
})

test('a page reads every answer, also refusals, and where to begin', async () => {
  const read = (reply: Reply, status: number) => {
    assert.equal(reply.statusCode, status, reply.body)
    assert.equal(reply.headers['access-control-allow-origin'], '*')
    assert.equal(reply.headers['access-control-allow-credentials'], undefined)
    return reply
  }
  for (const path of METADATA) read(await house.call('GET', path, { headers: FOREIGN }), 200)
  const register = (payload: string) =>
    house.call('POST', '/oauth/register', { payload, headers: FOREIGN, from: '100.66.0.1' })
  read(await register(JSON.stringify({ redirect_uris: [REDIRECT] })), 201)
  read(await register('{'), 400)
  read(await hosts.form('/oauth/token', { grant_type: 'refresh_token' }, FOREIGN), 400)
  read(await hosts.form('/oauth/revoke', { token: 'unknown' }, FOREIGN), 200)
  const { headers, body } = messageFor('tools/list')
  const refused = read(await house.call('POST', '/mcp', { body, headers: { ...headers, ...FOREIGN } }), 401)
  assert.ok(refused.headers['www-authenticate'] !== undefined)
  const exposed = String(refused.headers['access-control-expose-headers']).split(', ')
  for (const name of ['www-authenticate', 'mcp-session-id', 'mcp-protocol-version']) assert.ok(exposed.includes(name))
  read(await house.call('GET', '/mcp', { headers: FOREIGN }), 405)
  const { tokens } = await hosts.connected()
  const authorization = `Bearer ${String(tokens['access_token'])}`
  const listed = read(
    await house.call('POST', '/mcp', { body, headers: { ...headers, ...FOREIGN, authorization } }),
    200,
  )
  assert.equal((listed.json<ToolMessage>().result?.['tools'] as unknown[] | undefined)?.length, 25)
})

test('the cookies of a signed-in person do nothing for a page of another origin', async () => {
  const headers = { ...FOREIGN, cookie: owner.cookie ?? '' }
  const keys = async () => ((await house.call('GET', '/api/api-keys', owner)).data()['data'] as unknown[]).length
  const before = await keys()
  const message = messageFor('tools/list')
  const refused = await house.call('POST', '/mcp', {
    body: message.body,
    headers: { ...message.headers, ...headers },
  })
  assert.equal(refused.statusCode, 401)
  const { request } = await hosts.asked()
  const form = { ...request, grant_type: 'authorization_code', code: 'sluice_code_guessed' }
  const answers = [
    refused,
    await hosts.form('/oauth/token', form, headers),
    await hosts.form('/oauth/revoke', { token: 'unknown' }, headers),
  ]
  for (const { headers: sent } of answers) assert.equal(sent['set-cookie'], undefined)
  // The consent, which a session can give, is refused and cannot be read.
  const grant = { organization_id: owner.organization_id, read: ['clicks'], write: [], delete: [] }
  const consent = await house.call('POST', '/api/connections', { body: { request, grant }, headers })
  assert.deepEqual([consent.statusCode, allowed(consent)], [403, {}])
  assert.equal(await keys(), before)
})

test('no page of another origin may ask or read the consent, the keys or the tools for keys', async () => {
  const { request } = await hosts.asked()
  const query = new URLSearchParams(request).toString()
  for (const path of [`/oauth/authorize?${query}`, '/connect', `/api/connections/request?${query}`, '/api/api-keys']) {
    const reply = await house.call('GET', path, { headers: { ...FOREIGN, cookie: owner.cookie ?? '' } })
    assert.deepEqual(allowed(reply), {}, path)
  }
  for (const path of [
    '/oauth/authorize',
    '/connect',
    '/api/connections',
    '/api/mcp',
    '/.well-known/openid-configuration',
  ])
    assert.deepEqual(allowed(await preflight(path, 'POST', 'content-type')), {}, path)
  const { headers, body } = messageFor('tools/list')
  const atKeys = await house.call('POST', '/api/mcp', { body, headers: { ...headers, ...FOREIGN } })
  assert.deepEqual([atKeys.statusCode, allowed(atKeys)], [403, {}])
})

test('on other names pages are told nothing, so that nothing tells that connections exist', async t => {
  const named = await startHouse({ BASE_URL: 'https://sluice.example' })
  t.after(() => named.end())
  const headers = { host: 'clicks.example', origin: FOREIGN.origin }
  for (const path of [...METADATA, ...Object.keys(OPEN)]) {
    const asked = await named.call('OPTIONS', path, { headers })
    assert.deepEqual([asked.statusCode, allowed(asked)], [404, {}], path)
    const method = METADATA.includes(path) ? 'GET' : 'POST'
    const answered = await named.call(method, path, { headers, payload: '{}' })
    assert.deepEqual([answered.statusCode, allowed(answered)], [404, {}], path)
  }
})

test('a code that a page got is exchanged by the page, and by nobody without its verifier', async () => {
  const ask = await hosts.asked()
  const code = codeIn((await hosts.consent(ask.request)).data()['redirect'])
  const { client_id, verifier } = ask
  const form = { grant_type: 'authorization_code', code, client_id, code_verifier: verifier, redirect_uri: REDIRECT }
  const exchanged = await hosts.form('/oauth/token', form, FOREIGN)
  assert.deepEqual([exchanged.statusCode, exchanged.headers['access-control-allow-origin']], [200, '*'])
})
