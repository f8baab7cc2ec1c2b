import assert from 'node:assert/strict'
import { request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, before, test } from 'node:test'
import { eventually } from '../../tests/support/eventually.ts'
import {
  newId,
  type SeededOrganization,
  seedKey,
  seedOrganization,
  useHouse,
  type TestHouse,
} from '../../tests/support/house.ts'
import { seedSignedIn } from '../../tests/support/people.ts'
import { isFaithful } from '../contract/fields.ts'

let house: TestHouse
let acme: SeededOrganization
let fresh: string
let full: string

before(async () => {
  house = await useHouse()
  acme = await seedOrganization(house.database)
  fresh = (await seedKey(house.database, acme)).secret
  full = (await seedKey(house.database, acme, { rights: ['events', 'clicks', 'report', 'offers'] })).secret
})
after(() => house.end())

const BIG = 'x'.repeat(1_048_577)

test('a body that is too large is refused before the key is checked, by its header and by its bytes', async () => {
  const byHeader = await house.call('POST', '/api/events', { key: 'nonsense', payload: BIG })
  assert.equal(byHeader.statusCode, 413)
  assert.deepEqual(byHeader.data()['error'], 'payload too large')
})

test('an unknown key is refused before the body is read', async () => {
  const answer = await house.call('POST', '/api/events', { key: 'nonsense', payload: '{broken' })
  assert.equal(answer.statusCode, 401)
  assert.equal(answer.data()['code'], undefined)
})

test('a body that is no JSON is refused before the right and the quota', async () => {
  const { secret } = await seedKey(house.database, acme, { rights: ['clicks'] })
  const answer = await house.call('POST', '/api/events', { key: secret, payload: '{broken' })
  assert.equal(answer.statusCode, 400)
  assert.equal(answer.data()['error'], 'invalid JSON body')
  assert.equal(answer.headers['x-ratelimit-limit'], undefined)
})

test('an ungranted right is refused before validation, naming the right', async () => {
  const { secret } = await seedKey(house.database, acme, { rights: ['clicks'] })
  const answer = await house.call('POST', '/api/events', { key: secret, body: {} })
  assert.equal(answer.statusCode, 403)
  assert.equal(answer.data()['code'], 'api_key_write_not_granted')
  assert.match(String(answer.data()['hint']), /"events"/)
})

test('a new key allows intake and nothing else', async () => {
  assert.equal((await house.call('POST', '/api/events', { key: fresh, body: {} })).statusCode, 400)
  for (const route of ['/api/v1/clicks', '/api/v1/report?dimension=day'])
    assert.equal((await house.call('GET', route, { key: fresh })).data()['code'], 'api_key_read_not_granted')
  assert.equal(
    (await house.call('POST', '/api/offers', { key: fresh, body: {} })).data()['code'],
    'api_key_write_not_granted',
  )
  assert.equal(
    (await house.call('DELETE', `/api/offers/${newId()}`, { key: fresh })).data()['code'],
    'api_key_delete_not_granted',
  )
})

test('hostile bodies get a documented 400 and nothing worse', async () => {
  const bodies: (string | Buffer)[] = [
    '',
    ' ',
    'null',
    '[]',
    '"text"',
    '{"clickId":"a\\u0000b","type":"lead"}',
    '{"clickId":"\\ud800","type":"lead"}',
    Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    '\ufeff{"clickId":"x","type":"lead"}',
    '{"__proto__":{"x":1},"clickId":"x","type":"lead"}',
    '{"\\u005f_proto__":{"x":1},"clickId":"x","type":"lead"}',
    '{"constructor":{"prototype":{"x":1}},"clickId":"x","type":"lead"}',
    `${'['.repeat(500_000)}`,
    `{"clickId":"x","type":"lead","payload":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`,
    '{"clickId":"x","type":"lead","payout":1e400}',
    '{"clickId":"x","type":"lead","payout":"0x10"}',
    '{"clickId":"x","type":"lead","payout":" "}',
    '{"clickId":"x","type":"lead","payout":"1_000"}',
    '{"clickId":"x","type":"lead","payout":NaN}',
    '{"clickId":"x","type":"lead","payout":"NaN"}',
    '{"clickId":"x","type":"lead","payout":-1}',
    '{"clickId":"x","type":"lead","payout":1000000.01}',
    '{"clickId":"","type":"lead"}',
    '{"clickId":7,"type":"lead"}',
    '{"clickId":"x","type":"nonsense"}',
    '{"clickId":"x","type":"lead","nonce":""}',
    `{"clickId":"x","type":"lead","nonce":"${'n'.repeat(129)}"}`,
    '{"clickId":"x","type":"lead","payload":[]}',
  ]
  for (const payload of bodies) {
    const answer = await house.call('POST', '/api/events', { key: full, payload })
    const said = `${payload.toString().slice(0, 60)} → ${answer.statusCode} ${answer.body}`
    assert.equal(answer.statusCode, 400, said)
    const { error, hint: _, ...others } = answer.data()
    assert.equal(typeof error, 'string', said)
    assert.deepEqual(others, {}, said)
  }
  assert.equal(
    (await house.call('POST', '/api/events', { key: full, payload: '{}', headers: { 'content-encoding': 'gzip' } }))
      .statusCode,
    415,
  )
})

test('a body of exactly one MiB with sixty thousand fields is read', async () => {
  const wide = JSON.stringify({
    clickId: '{click_id}',
    type: 'lead',
    payload: Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`k${n}`, n])),
  })
  assert.equal((await house.call('POST', '/api/events', { key: full, payload: wide })).statusCode, 403)
  const exact = JSON.stringify({ clickId: '{click_id}', type: 'lead', payload: { text: '' } })
  const payload = exact.replace('"text":""', `"text":"${'x'.repeat(1_048_576 - exact.length)}"`)
  assert.equal((await house.call('POST', '/api/events', { key: full, payload })).statusCode, 403)
})

test('with a key the content type is ignored', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', ''])
    assert.equal(
      (
        await house.call('POST', '/api/events', {
          key: full,
          payload: '{"clickId":"{click_id}","type":"lead"}',
          headers: { 'content-type': type },
        })
      ).statusCode,
      403,
    )
})

test('reads answer GET only, before they ask for a key, and every refusal carries error, code and hint', async () => {
  for (const route of ['/api/v1/clicks', '/api/v1/report'])
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
      const answer = await house.call(method, route)
      assert.equal(answer.statusCode, 405)
      assert.equal(answer.data()['code'], 'method_not_allowed')
      assert.deepEqual(Object.keys(answer.data()), ['error', 'code', 'hint'])
    }
  assert.equal((await house.call('HEAD', '/api/v1/clicks', { key: full })).statusCode, 405)
  const missing = await house.call('GET', '/api/v1/clicks')
  assert.deepEqual([missing.statusCode, missing.data()['code']], [401, 'api_key_required'])
  const empty = await house.call('GET', '/api/v1/clicks', { headers: { 'x-api-key': '' } })
  assert.equal(empty.data()['code'], 'api_key_required')
  const unknown = await house.call('GET', '/api/v1/clicks', { key: 'nonsense' })
  assert.deepEqual([unknown.statusCode, unknown.data()['code']], [401, 'unauthorized'])
})

test('a method that only other protocols know is refused on reads like any other', async () => {
  const address = await house.listen()
  for (const method of ['PROPFIND', 'TRACE', 'LOCK']) {
    const status = await new Promise((resolve, reject) =>
      request(`${address}/api/v1/clicks`, { method, headers: { 'x-api-key': full } }, answer =>
        resolve(answer.resume().statusCode),
      )
        .on('error', reject)
        .end(),
    )
    assert.equal(status, 405, method)
  }
})

test('a malformed HTTP request is answered in the form of every refusal', async () => {
  const { port } = house.app.server.address() as AddressInfo
  const answer = await new Promise<string>((resolve, reject) => {
    let said = ''
    const socket = connect(port, '127.0.0.1', () => socket.write('nonsense\r\n\r\n'))
    socket
      .on('data', chunk => (said += chunk.toString()))
      .on('end', () => resolve(said))
      .on('error', reject)
  })
  assert.match(answer, /^HTTP\/1.1 400 Bad Request\r\n/)
  assert.match(answer, /\r\n\r\n\{"error":"bad request"\}$/)
})

test('an empty body where one is expected is invalid JSON, and is refused before right and quota', async () => {
  const { secret } = await seedKey(house.database, acme, { rights: ['clicks'] })
  const answer = await house.call('POST', '/api/events', { key: secret })
  assert.deepEqual([answer.statusCode, answer.data()['error']], [400, 'invalid JSON body'])
  assert.match(String(answer.data()['hint']), /body is empty/)
  assert.equal(answer.headers['x-ratelimit-limit'], undefined)
})

test('every fault of a request is described in words', async () => {
  const { cookie } = await seedSignedIn(house)
  const said = async (method: 'GET' | 'POST', url: string, payload?: string | Buffer) => {
    const { statusCode, body } = await house.call(method, url, {
      cookie,
      ...(payload === undefined ? {} : { payload }),
    })
    assert.equal(statusCode, 400, url)
    return body
  }
  assert.match(
    await said('GET', '/api/offers?limit=1&limit=2&status=active&status=x'),
    /"limit, status: must be sent once"/,
  )
  assert.match(await said('GET', '/api/offers/%ff'), /path is not valid.*Percent-encode/)
  assert.match(
    await said('POST', '/api/offers', '{"name":'),
    /invalid JSON body.*Send one JSON object\. Unexpected end/,
  )
  assert.match(await said('POST', '/api/offers', '{"__proto__":{}}'), /__proto__/)
  assert.match(await said('POST', '/api/offers', '{"prototype": x}'), /Send one JSON object\. Unexpected token 'x'/)
  for (const torn of ['{"a":😀}', '{"a":\u0000}', `{"${'😀'.repeat(20)}":${'😀'.repeat(20)}}`]) {
    const { hint } = JSON.parse(await said('POST', '/api/offers', torn)) as { hint: string }
    assert.match(hint, /Send one JSON object\. Unexpected token '\ufffd'/)
    assert.ok(isFaithful(hint), 'the hint holds what JSON readers and databases refuse')
  }
  assert.match(await said('POST', '/api/offers', '[]'), /"the body must be an object"/)
  assert.match(await said('POST', '/api/offers', 'name=x'), /invalid JSON body/)
})

test('routes that no right covers are closed to keys, and unknown routes answer in JSON', async () => {
  for (const [method, route] of [
    ['GET', '/api/members'],
    ['POST', '/api/api-keys'],
    ['GET', '/api/nowhere'],
    ['DELETE', '/api/campaigns'],
  ] as const) {
    const answer = await house.call(method, route, { key: full })
    assert.deepEqual([answer.statusCode, answer.data()['code']], [403, 'api_key_resource_forbidden'], route)
    assert.match(String(answer.data()['hint']), /dashboard session/)
    assert.equal((await house.call(method, route, { key: 'nonsense' })).statusCode, 401)
  }
  const misspelled = await house.call('GET', '/api/v1/clicks/', { key: full })
  assert.match(String(misspelled.data()['hint']), /Compare its method and path/)
  assert.equal((await house.call('POST', '/api/auth/sign-in/email', { key: full, body: {} })).statusCode, 403)
  assert.equal((await house.call('GET', '/api/auth/get-session', { key: 'nonsense' })).statusCode, 403)
  assert.equal((await house.call('GET', '/%61pi/auth/get-session', { key: 'nonsense' })).statusCode, 403)
  for (const route of [
    '/api/nowhere',
    '/.well-known/oauth-protected-resource',
    '/assets/none.js',
    '/v/summer',
    '/k/summer',
  ]) {
    const answer = await house.call('GET', route)
    assert.equal(answer.statusCode, 404)
    assert.equal(answer.data()['error'], 'not found')
  }
})

test('a request without a key that changes something must carry the Origin of the dashboard', async () => {
  // The last ones are the same routes, spelled with escapes.
  for (const origin of [
    undefined,
    'null',
    'http://evil.example',
    'https://localhost:8080',
    'http://localhost:8081',
    'http://sub.localhost:8080',
  ])
    for (const route of [
      '/api/events',
      '/api/offers',
      '/api/api-keys',
      '/api/auth/sign-in/email',
      '/%61pi/offers',
      '/api/%61uth/sign-in/email',
    ]) {
      const answer = await house.call('POST', route, { body: {}, headers: origin === undefined ? {} : { origin } })
      assert.equal(answer.statusCode, 403, `${route} from ${origin}`)
      assert.match(String(answer.data()['error']), /Origin header required/)
    }
  const right = await house.call('POST', '/api/offers', { body: {}, headers: { origin: 'http://localhost:8080' } })
  assert.deepEqual([right.statusCode, right.data()['code']], [401, 'sign_in_required'])
})

test('no key route answers with a cross-origin header', async () => {
  for (const route of ['/api/events', '/api/v1/clicks', '/api/v1/report']) {
    const answer = await house.call('OPTIONS', route, {
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    assert.deepEqual(
      Object.keys(answer.headers).filter(name => name.startsWith('access-control')),
      [],
    )
  }
})

test('the states of key, grant, owner and organization are refused in the order the interface gives', async () => {
  const { database } = house
  const db = database.kysely
  const org = await seedOrganization(database)
  const { secret, key_id } = await seedKey(database, org, { rights: ['clicks', 'events'] })
  const code = async () => {
    const answer = await house.call('GET', '/api/v1/clicks', { key: secret })
    return [answer.statusCode, answer.data()['code']]
  }
  assert.equal((await house.call('GET', '/api/v1/clicks', { key: secret })).statusCode, 200)

  await db.updateTable('members').set({ role: 'member' }).where('org_id', '=', org.org_id).execute()
  assert.deepEqual(await code(), [403, 'role_forbidden'])
  await db
    .updateTable('organizations')
    .set({ deleted_at: new Date().toISOString() })
    .where('org_id', '=', org.org_id)
    .execute()
  assert.deepEqual(await code(), [409, 'org_deleted'])
  await db.deleteFrom('members').where('org_id', '=', org.org_id).execute()
  assert.deepEqual(await code(), [403, 'api_key_org_not_member'])
  await db.updateTable('api_key_grants').set({ org_id: null }).where('key_id', '=', key_id).execute()
  assert.deepEqual(await code(), [403, 'api_key_grant_unverifiable'])
  await db.updateTable('api_keys').set({ enabled: false }).where('id', '=', key_id).execute()
  assert.deepEqual(await code(), [401, 'unauthorized'])
})

test('revoked, disabled and expired keys are refused at the next call', async () => {
  const db = house.database.kysely
  const past = new Date(Date.now() - 1000).toISOString()
  for (const change of [{ revoked_at: past }, { enabled: false }, { expires_at: past }]) {
    const { secret, key_id } = await seedKey(house.database, acme, { rights: ['events'] })
    assert.equal((await house.call('POST', '/api/events', { key: secret, body: {} })).statusCode, 400)
    await db.updateTable('api_keys').set(change).where('id', '=', key_id).execute()
    assert.equal((await house.call('POST', '/api/events', { key: secret, body: {} })).statusCode, 401)
  }
})

test('keys older than 2 September 2026 skip the role check on intake and nowhere else', async () => {
  const org = await seedOrganization(house.database, { role: 'member' })
  const rights = ['events', 'clicks'] as const
  const old = await seedKey(house.database, org, { rights, issued_at: '2026-09-01T23:59:59Z' })
  const young = await seedKey(house.database, org, { rights, issued_at: '2026-09-02T00:00:00Z' })
  assert.equal((await house.call('POST', '/api/events', { key: old.secret, body: {} })).statusCode, 400)
  assert.equal(
    (await house.call('POST', '/api/events', { key: young.secret, body: {} })).data()['code'],
    'role_forbidden',
  )
  assert.equal((await house.call('GET', '/api/v1/clicks', { key: old.secret })).data()['code'], 'role_forbidden')
})

test('a new key belongs to the earliest membership of its owner, even if that organization is deleted', async () => {
  const { database } = house
  const first = await seedOrganization(database)
  // Two memberships of the same millisecond would have no order.
  const earlier = `update members set joined_at = '2020-01-01T00:00:00Z' where org_id = $1`
  await database.worker.query(earlier, [first.org_id])
  await seedOrganization(database, { user_id: first.user_id })
  const { secret } = await seedKey(database, first)
  await database.kysely
    .updateTable('organizations')
    .set({ deleted_at: new Date().toISOString() })
    .where('org_id', '=', first.org_id)
    .execute()
  const answer = await house.call('POST', '/api/events', { key: secret, body: {} })
  assert.deepEqual([answer.statusCode, answer.data()['code']], [409, 'org_deleted'])
})

test('the use of a key is recorded, unless it is refused', async () => {
  const used = await seedKey(house.database, acme, { rights: ['events'] })
  const idle = await seedKey(house.database, acme, { rights: ['events'] })
  await house.database.kysely.updateTable('api_keys').set({ enabled: false }).where('id', '=', idle.key_id).execute()
  for (const { secret } of [used, idle]) await house.call('POST', '/api/events', { key: secret, body: {} })
  const uses = () =>
    house.database.kysely
      .selectFrom('api_key_uses')
      .select('key_id')
      .where('key_id', 'in', [used.key_id, idle.key_id])
      .execute()
  await eventually('the use is remarked', async () => (await uses()).length > 0)
  assert.deepEqual(await uses(), [{ key_id: used.key_id }])
})
