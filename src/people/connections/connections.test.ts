// AI hosts connected by OAuth: the flow, each attack on it, and the key behind a connection.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import {
  challengeOf,
  codeIn,
  grantOf,
  HOST,
  hostsAt,
  newVerifier,
  REDIRECT,
  RESOURCE,
} from '../../../tests/support/connecting.ts'
import { ORIGIN, seedKey, startHouse, type TestHouse, useHouse } from '../../../tests/support/house.ts'
import { join, type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { messageFor, type ToolMessage } from '../../../tests/support/tools.ts'
import { findClient } from './clients.ts'

type Body = Record<string, unknown>

let house: TestHouse
let owner: SignedIn
let hosts: ReturnType<typeof hostsAt>
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  hosts = hostsAt(house, owner)
})
after(() => house.end())

const metadataOf = (path: string, headers: Record<string, string> = HOST) =>
  house.call('GET', `/.well-known/${path}`, { headers })

describe('a host without a token', () => {
  test('is told where to begin, and the metadata leads it to the endpoints', async () => {
    const refused = await hosts.call(undefined, 'tools/list')
    assert.equal(refused.statusCode, 401)
    assert.equal(
      refused.headers['www-authenticate'],
      `Bearer resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource/mcp"`,
    )
    assert.equal(refused.json<ToolMessage>().error?.code, -32001)
    const resource = (await metadataOf('oauth-protected-resource/mcp')).data()
    assert.deepEqual([resource['resource'], resource['authorization_servers']], [RESOURCE, [ORIGIN]])
    const server = (await metadataOf('oauth-authorization-server')).data()
    assert.deepEqual(
      [server['issuer'], server['code_challenge_methods_supported'], server['registration_endpoint']],
      [ORIGIN, ['S256'], `${ORIGIN}/oauth/register`],
    )
    assert.equal((await metadataOf('oauth-protected-resource')).statusCode, 404)
    assert.equal((await metadataOf('oauth-protected-resource/api/mcp')).statusCode, 404)
  })

  test('with an unknown token or a key gets no further', async () => {
    const { secret } = await seedKey(house.database, owner, { rights: ['offers'] })
    for (const token of ['nonsense', secret, 'sluice_at_x']) {
      const refused = await hosts.call(token, 'tools/list')
      assert.equal(refused.statusCode, 401)
      assert.match(String(refused.headers['www-authenticate']), /, error="invalid_token"$/)
    }
    const byKey = await house.call('POST', '/mcp', { key: secret, ...messageFor('tools/list') })
    assert.equal(byKey.statusCode, 401)
  })

  test('is told nothing at the key endpoint, which stays as it was', async () => {
    const { headers, body } = messageFor('tools/list')
    const refused = await house.call('POST', '/api/mcp', { body, headers })
    assert.equal(refused.statusCode, 401)
    assert.equal(refused.headers['www-authenticate'], undefined)
    const { tokens } = await hosts.connected()
    const authorization = `Bearer ${String(tokens['access_token'])}`
    const byToken = await house.call('POST', '/api/mcp', { body, headers: { ...headers, authorization } })
    assert.equal(byToken.statusCode, 401)
  })
})

describe('a connection', () => {
  test('calls tools with the rights of its consent, and no others', async () => {
    const { tokens } = await hosts.connected()
    const list = (await hosts.call(tokens['access_token'], 'tools/list')).json<ToolMessage>()
    assert.equal((list.result?.['tools'] as unknown[] | undefined)?.length, 25)
    const made = (await hosts.createOffer(tokens['access_token'])).json<ToolMessage>().result?.[
      'structuredContent'
    ] as Body
    assert.equal((await house.call('GET', `/api/offers/${String(made['id'])}`, owner)).data()['name'], 'By host')
    const denied = (
      await hosts.call(tokens['access_token'], 'tools/call', {
        name: 'service_get_report',
        arguments: { dimension: 'day' },
      })
    ).json<ToolMessage>()
    assert.equal((denied.result?.['structuredContent'] as Body | undefined)?.['code'], 'api_key_read_not_granted')
  })

  test('is a key in the list, with its host, and a revocation holds at the next call', async () => {
    const { key_id, client_id, tokens } = await hosts.connected()
    const keys = (await house.call('GET', '/api/api-keys', owner)).data()['data'] as Body[]
    const listed = keys.find(({ id }) => id === key_id)
    assert.deepEqual([listed?.['name'], listed?.['kind']], ['Claude', 'connection'])
    assert.equal((await hosts.createOffer(tokens['access_token'])).statusCode, 200)
    await house.call('PATCH', `/api/api-keys/${key_id}`, { ...owner, body: { enabled: false } })
    assert.equal((await hosts.createOffer(tokens['access_token'])).statusCode, 401)
    assert.equal((await hosts.renew(client_id, tokens['refresh_token'])).statusCode, 400)
    await house.call('PATCH', `/api/api-keys/${key_id}`, { ...owner, body: { enabled: true } })
    assert.equal((await hosts.createOffer(tokens['access_token'])).statusCode, 200)
    await house.call('DELETE', `/api/api-keys/${key_id}`, owner)
    assert.equal((await hosts.createOffer(tokens['access_token'])).statusCode, 401)
  })

  test('gets the code at its registered address, with state and issuer', async () => {
    const url = new URL((await hosts.connected()).redirect)
    assert.equal(url.origin + url.pathname, REDIRECT)
    assert.deepEqual([url.searchParams.get('state'), url.searchParams.get('iss')], ['xyz', ORIGIN])
  })

  test('needs what a grant needs: DELETE typed, a workspace of the person, the Origin of the dashboard', async () => {
    const ask = await hosts.asked()
    const rights = grantOf(owner, { delete: ['offers:delete'] })
    const count = async () => ((await house.call('GET', '/api/api-keys', owner)).data()['data'] as unknown[]).length
    const before = await count()
    const unconfirmed = await hosts.consent(ask.request, owner, rights)
    assert.deepEqual([unconfirmed.statusCode, unconfirmed.data()['code']], [400, 'delete_confirmation_required'])
    const other = await seedSignedIn(house)
    assert.equal((await hosts.consent(ask.request, owner, grantOf(other))).statusCode, 403)
    const body = { request: ask.request, grant: grantOf(owner) }
    const { cookie } = owner
    for (const origin of [undefined, 'https://evil.example']) {
      const headers = { cookie: cookie ?? '', ...(origin === undefined ? {} : { origin }) }
      assert.equal((await house.call('POST', '/api/connections', { body, headers })).statusCode, 403)
    }
    assert.equal((await house.call('POST', '/api/connections', { body, headers: { origin: ORIGIN } })).statusCode, 401)
    assert.equal(await count(), before)
    assert.equal((await hosts.consent(ask.request, owner, { ...rights, confirmation: 'DELETE' })).statusCode, 201)
  })
})

test('a connection needs the second factor that its workspace requires, and ends with the role and with the workspace', async () => {
  const place = await seedSignedIn(house)
  const admin = await seedSignedIn(house, { place, role: 'admin' })
  const { worker } = house.database
  const requires = (isSo: boolean) =>
    worker.query('update organizations set requires_second_factor = $2 where org_id = $1', [place.org_id, isSo])
  const ask = await hosts.asked()
  await requires(true)
  assert.equal((await hosts.consent(ask.request, admin)).data()['code'], 'second_factor_required')
  await requires(false)
  const code = codeIn((await hosts.consent(ask.request, admin)).data()['redirect'])
  const { access_token } = (await hosts.exchange(ask, code)).data()
  const refusal = async () => /"code":"(\w+)"/.exec((await hosts.createOffer(access_token)).body)?.[1]
  assert.equal(await refusal(), undefined)
  await worker.query(`update members set role = 'member' where user_id = $1`, [admin.user_id])
  assert.equal(await refusal(), 'role_forbidden')
  await worker.query('delete from members where user_id = $1', [admin.user_id])
  assert.equal(await refusal(), 'api_key_org_not_member')
  await join(house, place, admin.user_id, 'admin')
  await worker.query('update organizations set deleted_at = now() where org_id = $1', [place.org_id])
  assert.equal(await refusal(), 'org_deleted')
})

test('a connection for another workspace is in the history there, and nowhere else', async () => {
  const elsewhere = await seedSignedIn(house)
  await join(house, elsewhere, owner.user_id, 'owner')
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  const ask = await hosts.asked()
  const { key_id } = (await hosts.consent(ask.request, owner, grantOf(elsewhere))).data()
  const rowsOf = async (person: SignedIn) =>
    ((await house.call('GET', `/api/history?kind=api_key&id=${String(key_id)}`, person)).data()['data'] as Body[])
      .length
  assert.deepEqual([await rowsOf(admin), await rowsOf(elsewhere)], [0, 1])
})

test('a program on the person’s machine is sent the code by its own scheme, and need not repeat the address', async () => {
  const redirect_uri = 'cursor://anysphere.cursor-mcp/oauth/callback'
  const { client_id } = (await hosts.register([redirect_uri])).data() as { client_id: string }
  const ask = await hosts.asked({ client_id, redirect_uri })
  const shown = await house.call(
    'GET',
    `/api/connections/request?${new URLSearchParams(ask.request).toString()}`,
    owner,
  )
  assert.deepEqual([shown.data()['redirect_host'], shown.data()['is_local']], ['cursor://anysphere.cursor-mcp', true])
  const { redirect } = (await hosts.consent(ask.request)).data()
  assert.match(String(redirect), /^cursor:\/\/anysphere\.cursor-mcp\/oauth\/callback\?code=/)
  const tokens = await hosts.exchange({ ...ask, client_id }, codeIn(redirect), { redirect_uri: undefined })
  assert.equal(tokens.statusCode, 200, tokens.body)
})

describe('an attack', () => {
  test('by a code that is used twice ends the connection', async () => {
    const ask = await hosts.asked()
    const code = codeIn((await hosts.consent(ask.request)).data()['redirect'])
    const tokens = (await hosts.exchange(ask, code)).data()
    assert.equal((await hosts.createOffer(tokens['access_token'])).statusCode, 200)
    assert.equal((await hosts.exchange(ask, code)).data()['error'], 'invalid_grant')
    assert.equal((await hosts.createOffer(tokens['access_token'])).statusCode, 401)
    assert.equal((await hosts.renew(ask.client_id, tokens['refresh_token'])).data()['error'], 'invalid_grant')
    const [row] = await house.database.kysely
      .selectFrom('history')
      .select(['actor_kind', 'change'])
      .where('org_id', '=', owner.org_id)
      .where('kind', '=', 'api_key')
      .orderBy('id', 'desc')
      .limit(1)
      .execute()
    assert.deepEqual(row, { actor_kind: 'sluice', change: 'deleted' })
  })

  test('by a stolen code without its verifier, of another client or address, gets nothing', async () => {
    const other = await hosts.asked()
    for (const changes of [
      { code_verifier: newVerifier() },
      { code_verifier: '' },
      { client_id: other.client_id },
      { redirect_uri: 'https://evil.example/callback' },
    ]) {
      const ask = await hosts.asked()
      const code = codeIn((await hosts.consent(ask.request)).data()['redirect'])
      assert.equal((await hosts.exchange(ask, code, changes)).data()['error'], 'invalid_grant')
    }
  })

  test('by leaving PKCE out or weakening it is refused before consent and never redirected', async () => {
    for (const changes of [
      { code_challenge: undefined },
      { code_challenge_method: undefined },
      { code_challenge_method: 'plain' },
      { code_challenge: 'short' },
      { response_type: 'token' },
      { resource: undefined },
      { resource: 'https://other.example/mcp' },
      { resource: `${ORIGIN}/api/mcp` },
    ]) {
      const { request } = await hosts.asked(changes)
      const shown = await house.call(
        'GET',
        `/api/connections/request?${new URLSearchParams(request).toString()}`,
        owner,
      )
      assert.deepEqual([shown.statusCode, shown.data()['code']], [400, 'connection_request_invalid'])
      assert.equal((await hosts.consent(request)).data()['code'], 'connection_request_invalid')
    }
  })

  test('by a verifier that can be guessed from its challenge gets nothing', async () => {
    for (const verifier of ['', 'secret', 'x'.repeat(42), 'x'.repeat(129), `${'x'.repeat(43)} `]) {
      const ask = { ...(await hosts.asked({ code_challenge: challengeOf(verifier) })), verifier }
      const code = codeIn((await hosts.consent(ask.request)).data()['redirect'])
      assert.equal((await hosts.exchange(ask, code)).data()['error'], 'invalid_grant', verifier)
    }
  })

  test('by another address than the registered one is refused, and never redirected', async () => {
    for (const redirect_uri of [
      'https://evil.example/callback',
      `${REDIRECT}/../evil`,
      `${REDIRECT}?x=1`,
      'https://host.example:444/callback',
      'https://host.example.evil.example/callback',
      'http://host.example/callback',
    ]) {
      const { request } = await hosts.asked({ redirect_uri })
      const shown = await house.call(
        'GET',
        `/api/connections/request?${new URLSearchParams(request).toString()}`,
        owner,
      )
      assert.deepEqual([shown.statusCode, shown.data()['code']], [400, 'connection_redirect_unknown'])
      assert.equal((await hosts.consent(request)).data()['code'], 'connection_redirect_unknown')
    }
    const forgotten = await hosts.asked({ client_id: 'host_unknown' })
    assert.equal((await hosts.consent(forgotten.request)).data()['code'], 'connection_client_unknown')
  })

  test('by addresses that are no place for a code is refused at the registration', async () => {
    for (const bad of [
      'http://host.example/callback',
      'javascript:alert(1)',
      'data:text/html,x',
      'https://user:pass@host.example/',
      'https://host.example/#x',
      '/callback',
      'blob:https://host.example/x',
      'file://host.example/x',
      'intent://host.example/x',
      'ms-word://host.example/x',
      'cursor:callback',
    ])
      assert.equal((await hosts.register([bad])).data()['error'], 'invalid_redirect_uri', bad)
    assert.equal((await hosts.register(['http://127.0.0.1:1/cb', 'http://localhost/cb'])).statusCode, 201)
  })

  test('by a refresh token that is used twice ends the connection, also in a race', async () => {
    const { client_id, tokens } = await hosts.connected()
    const next = (await hosts.renew(client_id, tokens['refresh_token'])).data()
    assert.equal((await hosts.createOffer(next['access_token'])).statusCode, 200)
    assert.equal((await hosts.renew(client_id, tokens['refresh_token'])).data()['error'], 'invalid_grant')
    assert.equal((await hosts.createOffer(next['access_token'])).statusCode, 401)
    assert.equal((await hosts.renew(client_id, next['refresh_token'])).data()['error'], 'invalid_grant')
    const raced = await hosts.connected()
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => hosts.renew(raced.client_id, raced.tokens['refresh_token'])),
    )
    assert.ok(answers.filter(({ statusCode }) => statusCode === 200).length <= 1)
    for (const answer of answers.filter(({ statusCode }) => statusCode === 200))
      assert.equal((await hosts.createOffer(answer.data()['access_token'])).statusCode, 401)
  })

  test('by a token for another resource, of another client or in another role gets nothing', async () => {
    const { client_id, tokens } = await hosts.connected()
    const other = await hosts.asked()
    const wrong = await hosts.renew(client_id, tokens['refresh_token'], { resource: 'https://other.example/mcp' })
    assert.equal(wrong.data()['error'], 'invalid_target')
    assert.equal((await hosts.renew(other.client_id, tokens['refresh_token'])).data()['error'], 'invalid_grant')
    assert.equal((await hosts.renew(client_id, tokens['access_token'])).data()['error'], 'invalid_grant')
    assert.equal((await hosts.createOffer(tokens['refresh_token'])).statusCode, 401)
    // None of these used the refresh token up.
    assert.equal((await hosts.renew(client_id, tokens['refresh_token'])).statusCode, 200)
  })

  test('by asking a second time under a known client still needs a consent of its own', async () => {
    const first = await hosts.connected()
    const verifier = newVerifier()
    const request = { ...first.request, code_challenge: challengeOf(verifier) }
    const second = (await hosts.consent(request)).data()
    assert.notEqual(second['key_id'], first.key_id)
    const tokens = (await hosts.exchange({ ...first, verifier }, codeIn(second['redirect']))).data()
    await house.call('DELETE', `/api/api-keys/${String(second['key_id'])}`, owner)
    assert.equal((await hosts.createOffer(tokens['access_token'])).statusCode, 401)
    assert.equal((await hosts.createOffer(first.tokens['access_token'])).statusCode, 200)
  })

  test('by a frame around the consent page is refused by its headers', async () => {
    const page = await house.call('GET', '/connect?client_id=x', { headers: HOST })
    assert.match(String(page.headers['content-security-policy']), /frame-ancestors 'none'/)
  })

  test('by a document at a private address, by http or with a redirect reads nothing', async t => {
    const strict = await startHouse({ ALLOW_PRIVATE_TARGETS: 'false' })
    t.after(() => strict.end())
    const { db, config } = strict.ground
    for (const id of [
      'https://127.0.0.1/client.json',
      'https://localhost/client.json',
      'https://169.254.169.254/latest/meta-data',
      'https://[::1]/client.json',
      'https://10.0.0.1/client.json',
      'http://host.example/client.json',
      'https://user@host.example/client.json',
      'https://host.example/',
      'https://host.example/client.json#x',
    ])
      assert.equal(await findClient(db, config, id), undefined, id)
  })
})

test('a connection that asks first is refused a destructive call, also at /mcp', async () => {
  const ask = await hosts.asked()
  const grant = { ...grantOf(owner), write: ['offers'], delete: ['offers:delete'], confirmation: 'DELETE' }
  const answer = (await hosts.consent(ask.request, owner, grant, { ask_first: true })).data()
  const { access_token } = (await hosts.exchange(ask, codeIn(answer['redirect']))).data()
  const tool = async (name: string, args: Body) =>
    (await hosts.call(access_token, 'tools/call', { name, arguments: args })).json<ToolMessage>().result?.[
      'structuredContent'
    ] as Body
  const made = await tool('service_create_offer', { name: 'By host', url: 'https://o.example/' })
  const args = { offer_id: made['id'] }
  assert.equal((await tool('service_delete_offer', args))['code'], 'confirmation_needed')
  const { confirmation } = await tool('service_delete_offer', { ...args, dry_run: true })
  assert.equal((await tool('service_delete_offer', { ...args, confirmation }))['ok'], true)
})

test('revoking a token ends the connection of its own client only', async () => {
  const { client_id, tokens } = await hosts.connected()
  const other = await hosts.asked()
  const token = String(tokens['refresh_token'])
  assert.equal((await hosts.form('/oauth/revoke', { token, client_id: other.client_id })).statusCode, 200)
  assert.equal((await hosts.createOffer(tokens['access_token'])).statusCode, 200)
  assert.equal((await hosts.form('/oauth/revoke', { token, client_id })).statusCode, 200)
  assert.equal((await hosts.createOffer(tokens['access_token'])).statusCode, 401)
})

test('on other names nothing tells that connections exist', async t => {
  const named = await startHouse({ BASE_URL: 'https://sluice.example' })
  t.after(() => named.end())
  const headers = { host: 'clicks.example' }
  for (const path of ['oauth-protected-resource/mcp', 'oauth-authorization-server'])
    assert.equal((await named.call('GET', `/.well-known/${path}`, { headers })).statusCode, 404)
  const { headers: sent, body } = messageFor('tools/list')
  const refused = await named.call('POST', '/mcp', { body, headers: { ...sent, ...headers } })
  assert.deepEqual([refused.statusCode, refused.headers['www-authenticate']], [404, undefined])
})

test('registrations from one network are limited', async () => {
  const statuses: number[] = []
  for (let count = 0; count < 21; count += 1) {
    const payload = JSON.stringify({ redirect_uris: [REDIRECT] })
    statuses.push(
      (await house.call('POST', '/oauth/register', { payload, headers: HOST, from: '198.51.100.7' })).statusCode,
    )
  }
  assert.deepEqual([statuses.filter(status => status === 201).length, statuses.at(-1)], [20, 429])
})

test("a client of the protocol's own SDK goes from the address alone to a tool call, and renews its token", async () => {
  const calls: string[] = []
  const fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input)
    const method = (init.method ?? 'GET') as 'GET' | 'POST'
    calls.push(`${method} ${url.pathname}`)
    const headers = Object.fromEntries(new Headers(init.headers).entries())
    const payload =
      init.body === undefined || init.body === null ? {} : { payload: await new Response(init.body).text() }
    const from = '100.65.0.1'
    const reply = await house.call(method, url.pathname + url.search, {
      headers: { ...HOST, ...headers },
      from,
      ...payload,
    })
    const answered = new Headers()
    for (const [name, value] of Object.entries(reply.headers))
      if (value !== undefined) answered.set(name, String(value))
    const hasBody = ![202, 204].includes(reply.statusCode)
    return new Response(hasBody ? reply.body : null, { status: reply.statusCode, headers: answered })
  }
  const kept: { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier?: string; asked?: URL } = {}
  const provider: OAuthClientProvider = {
    redirectUrl: 'http://localhost:3118/callback',
    clientMetadata: { client_name: 'SDK', redirect_uris: ['http://localhost:3118/callback'] },
    clientInformation: () => kept.client,
    saveClientInformation: client => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: tokens => void (kept.tokens = tokens),
    redirectToAuthorization: url => void (kept.asked = url),
    saveCodeVerifier: verifier => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier ?? '',
  }
  const open = () => new StreamableHTTPClientTransport(new URL(RESOURCE), { authProvider: provider, fetch })
  const waiting = open()
  await assert.rejects(new Client({ name: 'sdk', version: '1' }).connect(waiting), UnauthorizedError)
  const { asked } = kept
  assert.equal(`${asked?.origin}${asked?.pathname}`, `${ORIGIN}/oauth/authorize`)
  const led = await house.call('GET', `/oauth/authorize${asked?.search}`, { headers: HOST })
  const packed = new URL(String(led.headers.location)).searchParams.get('request') ?? ''
  assert.equal(`?${Buffer.from(packed, 'base64url').toString()}`, asked?.search)
  const request = Object.fromEntries(asked?.searchParams ?? [])
  const shown = await house.call('GET', `/api/connections/request${asked?.search}`, owner)
  assert.deepEqual(
    [shown.data()['host_name'], shown.data()['redirect_host'], shown.data()['is_local']],
    ['SDK', 'localhost:3118', true],
  )
  const { redirect } = (await hosts.consent(request)).data()
  await waiting.finishAuth(new URL(String(redirect)).searchParams)
  const client = new Client({ name: 'sdk', version: '1' })
  await client.connect(open())
  assert.equal((await client.listTools()).tools.length, 25)
  const made = await client.callTool({
    name: 'service_create_offer',
    arguments: { name: 'SDK', url: 'https://o.example/' },
  })
  assert.equal(made.isError, undefined)
  const first = kept.tokens
  kept.tokens = { ...(first as OAuthTokens), access_token: 'expired' }
  assert.equal((await client.listTools()).tools.length, 25)
  assert.notEqual(kept.tokens.refresh_token, first?.refresh_token)
  await client.close()
  assert.ok(calls.includes('POST /oauth/register') && calls.includes('GET /.well-known/oauth-protected-resource/mcp'))
})
