// Further attacks on connections: tokens at other places, codes and tokens that are late or raced, mixed answers, sessions of others.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { codeIn, HOST, hostsAt, REDIRECT, RESOURCE } from '../../../tests/support/connecting.ts'
import { ORIGIN, type TestHouse, useHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { messageFor, type ToolMessage } from '../../../tests/support/tools.ts'

let house: TestHouse
let owner: SignedIn
let hosts: ReturnType<typeof hostsAt>
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  hosts = hostsAt(house, owner)
})
after(() => house.end())

const consentedCode = async () => {
  const ask = await hosts.asked()
  return { ask, code: codeIn((await hosts.consent(ask.request)).data()['redirect']) }
}

test('a token of a connection is neither a key nor a session anywhere else, and not taken from an address', async () => {
  const { tokens } = await hosts.connected()
  const token = String(tokens['access_token'])
  const authorization = `Bearer ${token}`
  for (const path of ['/api/v1/clicks', '/api/offers', '/api/api-keys']) {
    assert.equal((await house.call('GET', path, { headers: { ...HOST, authorization } })).statusCode, 401, path)
    assert.equal((await house.call('GET', path, { key: token })).statusCode, 401, path)
  }
  const event = { clickId: 'x', type: 'lead' }
  assert.equal((await house.call('POST', '/api/events', { key: token, body: event })).statusCode, 401)
  const { headers, body } = messageFor('tools/list')
  const inAddress = `/mcp?access_token=${token}`
  assert.equal((await house.call('POST', inAddress, { body, headers: { ...HOST, ...headers } })).statusCode, 401)
  assert.equal((await hosts.call(token, 'tools/list')).statusCode, 200)
})

test('a session id of the protocol identifies nobody', async () => {
  const { tokens } = await hosts.connected()
  const { headers, body } = messageFor('tools/list')
  const session = { 'mcp-session-id': '11111111-1111-4111-8111-111111111111' }
  const call = (more: Record<string, string>) =>
    house.call('POST', '/mcp', { body, headers: { ...HOST, ...headers, ...session, ...more } })
  const known = await call({ authorization: `Bearer ${String(tokens['access_token'])}` })
  assert.deepEqual([known.statusCode, known.headers['mcp-session-id']], [200, undefined])
  assert.equal((await call({})).statusCode, 401)
})

test('of five exchanges of one code at once at most one gets tokens, and they end with the connection', async () => {
  const { ask, code } = await consentedCode()
  const answers = await Promise.all(Array.from({ length: 5 }, () => hosts.exchange(ask, code)))
  const given = answers.filter(({ statusCode }) => statusCode === 200)
  assert.equal(given.length, 1)
  assert.equal((await hosts.createOffer(given[0]?.data()['access_token'])).statusCode, 401)
})

test('a code is good for two minutes, an access token for an hour, a refresh token for 60 days', async () => {
  const { kysely } = house.database
  const late = await consentedCode()
  await kysely
    .updateTable('connection_codes')
    .set({ created_at: new Date(Date.now() - 121_000).toISOString() })
    .where('used_at', 'is', null)
    .execute()
  assert.equal((await hosts.exchange(late.ask, late.code)).data()['error'], 'invalid_grant')
  const { client_id, tokens } = await hosts.connected()
  assert.equal(tokens['expires_in'], 3600)
  const { rows } = await house.database.worker.query<{ kind: string; days: string }>(
    `select kind, round(extract(epoch from expires_at - now()) / 3600)::text as days from connection_tokens
     order by expires_at desc limit 1`,
  )
  assert.deepEqual(rows, [{ kind: 'refresh', days: '1440' }])
  await kysely.updateTable('connection_tokens').set({ expires_at: new Date().toISOString() }).execute()
  const refused = await hosts.createOffer(tokens['access_token'])
  assert.equal(refused.statusCode, 401)
  assert.match(String(refused.headers['www-authenticate']), /error="invalid_token"/)
  assert.equal((await hosts.renew(client_id, tokens['refresh_token'])).data()['error'], 'invalid_grant')
})

test('a refusal by the person is sent to the registered address alone, with state and issuer', async () => {
  const { request } = await hosts.asked()
  const query = new URLSearchParams(request).toString()
  const shown = await house.call('GET', `/api/connections/request?${query}`, owner)
  const url = new URL(String(shown.data()['denied']))
  assert.equal(url.origin + url.pathname, REDIRECT)
  assert.deepEqual(Object.fromEntries(url.searchParams), { error: 'access_denied', state: 'xyz', iss: ORIGIN })
})

test('parameters of the registered address cannot take the place of the answer’s own', async () => {
  const redirect_uri = `${REDIRECT}?code=old&state=old&iss=https%3A%2F%2Fevil.example`
  const { client_id } = (await hosts.register([redirect_uri])).data() as { client_id: string }
  const ask = await hosts.asked({ client_id, redirect_uri })
  const url = new URL(String((await hosts.consent(ask.request)).data()['redirect']))
  assert.deepEqual([url.searchParams.getAll('state'), url.searchParams.getAll('iss')], [['xyz'], [ORIGIN]])
  assert.equal(url.searchParams.getAll('code').length, 1)
  assert.notEqual(url.searchParams.get('code'), 'old')
})

test('the page of consent is the only place to which the address of authorization leads', async () => {
  for (const query of ['redirect_uri=https://evil.example/', 'x=1&redirect_uri=javascript:alert(1)', '']) {
    const led = await house.call('GET', `/oauth/authorize?${query}`, { headers: HOST })
    assert.equal(led.statusCode, 302)
    const location = new URL(String(led.headers.location))
    assert.equal(location.origin + location.pathname, `${ORIGIN}/connect`)
  }
})

test('a token request that names a parameter twice, another grant or no client gets nothing', async () => {
  const { ask, code } = await consentedCode()
  const right = { grant_type: 'authorization_code', code, client_id: ask.client_id, code_verifier: ask.verifier }
  const twice = `${new URLSearchParams(right).toString()}&code_verifier=${'x'.repeat(43)}`
  const doubled = await house.call('POST', '/oauth/token', { payload: twice, headers: HOST })
  assert.equal(doubled.data()['error'], 'invalid_request')
  for (const grant_type of ['password', 'client_credentials', 'implicit', ''])
    assert.equal((await hosts.form('/oauth/token', { ...right, grant_type })).data()['error'], 'unsupported_grant_type')
  assert.equal((await hosts.form('/oauth/token', { ...right, resource: 'https://x.example' })).statusCode, 400)
  // None of these used the code up.
  const { client_id: _, ...without } = right
  assert.equal((await hosts.exchange(ask, code)).statusCode, 200)
  const other = await consentedCode()
  const nobody = await hosts.form('/oauth/token', { ...without, code: other.code, code_verifier: other.ask.verifier })
  assert.equal(nobody.data()['error'], 'invalid_grant')
})

test('a person of another workspace cannot end or renew a connection, and sees nothing of it', async () => {
  const { key_id, tokens } = await hosts.connected()
  const stranger = await seedSignedIn(house)
  for (const [method, path] of [
    ['GET', `/api/api-keys/${key_id}/grant`],
    ['DELETE', `/api/api-keys/${key_id}`],
  ] as const)
    assert.equal((await house.call(method, path, stranger)).statusCode, 404)
  assert.equal((await hosts.createOffer(tokens['access_token'])).statusCode, 200)
})

test('a name cannot turn the direction of the words around it, or break their line', async () => {
  const registered = await hosts.register([REDIRECT], { client_name: 'Claude\u202e\u2066\n by Sluice' })
  assert.equal(registered.data()['client_name'], 'Claude by Sluice')
  const nameless = await hosts.register([REDIRECT], { client_name: '\u202e' })
  assert.equal(nameless.data()['error'], 'invalid_client_metadata')
})

test('a call is only for this resource: a consent for another one is refused, and its tokens name none', async () => {
  const list = (await hosts.call((await hosts.connected()).tokens['access_token'], 'tools/list')).json<ToolMessage>()
  assert.ok(list.result !== undefined)
  for (const resource of [`${ORIGIN}/`, `${RESOURCE}/`, `${RESOURCE}?x`, RESOURCE.toUpperCase()]) {
    const { request } = await hosts.asked({ resource })
    assert.equal((await hosts.consent(request)).data()['code'], 'connection_request_invalid', resource)
  }
})
