// Receivers through the door: created, changed, listed, deleted, tested; their secrets; refusals; other organizations.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedBot } from '../../../tests/support/intake.ts'
import { newId, seedKey, type TestHouse, toWireId, useHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { startReceiver } from '../../../tests/support/receiver.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Row = Record<string, unknown> & { id: string; secret?: string; next_cursor: string | null }
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
const as =
  ({ cookie }: SignedIn) =>
  async (method: Method, url: string, body?: unknown) => {
    const reply = await house.call(method, url, { cookie, ...(body === undefined ? {} : { body }) })
    return { ...reply, data: () => reply.data() as Row }
  }

const MAIL = { type: 'mail', name: 'Ops', email: 'ops@example.com' }
const HOOK = { type: 'webhook', name: 'Pager', url: 'https://hooks.example/in/secret-path?k=1' }
const NONE = { about: null, quiet_hours: null, digest: null, state: 'works', last_error: null }

test('a receiver of each type is created, read, listed and changed; the secret of a webhook is shown once', async () => {
  const owner = await seedSignedIn(house)
  const call = as(owner)
  const bot_id = toWireId(await seedBot(house.database, owner.org_id, 'told_bot'))
  const created: Row[] = []
  for (const draft of [MAIL, { type: 'telegram', name: 'Chat', bot_id, chat_id: -1001234 }, HOOK]) {
    const reply = await call('POST', '/api/receivers', draft)
    assert.equal(reply.statusCode, 201, reply.body)
    const { id, created_at, updated_at, secret, ...fields } = reply.data()
    const wanted = { ...draft, ...('chat_id' in draft ? { chat_id: '-1001234' } : {}) }
    assert.deepEqual(fields, { ...wanted, ...NONE })
    assert.equal(created_at, updated_at)
    assert.match(secret ?? 'none', draft === HOOK ? /^whsec_[\w+/]{43}=$/ : /^none$/)
    const read = await call('GET', `/api/receivers/${id}`)
    assert.deepEqual(read.data(), { id, created_at, updated_at, ...fields })
    created.unshift(read.data())
  }
  const [first] = created
  const page = (await call('GET', '/api/receivers?limit=2')).data()
  assert.deepEqual(page['data'], created.slice(0, 2))
  const rest = (await call('GET', `/api/receivers?limit=2&cursor=${page.next_cursor}`)).data()
  assert.deepEqual(rest, { data: created.slice(2), next_cursor: null })
  const changes = {
    name: 'Pager 2',
    about: ['rule', 'balance_low'],
    quiet_hours: { from: '22:00', to: '07:00', time_zone: 'Europe/Kyiv' },
    digest: { at: '09:00', time_zone: 'Europe/Kyiv' },
  }
  const changed = await call('PATCH', `/api/receivers/${first?.id}`, changes)
  assert.equal(changed.statusCode, 200, changed.body)
  assert.deepEqual({ ...changed.data(), updated_at: 0 }, { ...first, ...changes, updated_at: 0 })
  const same = await call('PATCH', `/api/receivers/${first?.id}`, changes)
  assert.deepEqual(same.data(), changed.data())
})

test('members read receivers, see the host of a webhook alone, and change nothing; keys are refused', async () => {
  const owner = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const { id } = (await as(owner)('POST', '/api/receivers', HOOK)).data()
  const path = `/api/receivers/${id}`
  for (const url of [path, '/api/receivers']) {
    const { body } = await as(member)('GET', url)
    assert.match(body, /"url":"hooks\.example"/)
    assert.doesNotMatch(body, /secret/)
  }
  const { secret: key } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  const writes: [Method, string, object?][] = [
    ['POST', '/api/receivers', MAIL],
    ['PATCH', path, { name: 'X' }],
    ['DELETE', path],
    ['POST', `${path}/rotate`],
    ['POST', `${path}/test`],
  ]
  for (const [method, url, body] of writes) {
    const refused = await as(member)(method, url, body)
    assert.deepEqual([refused.statusCode, refused.data()['code']], [403, 'role_forbidden'], `${method} ${url}`)
  }
  for (const [method, url, body] of [['GET', path], ['GET', '/api/receivers'], ...writes] as typeof writes) {
    const refused = await house.call(method, url, { key, ...(body === undefined ? {} : { body }) })
    assert.deepEqual([refused.statusCode, refused.data()['code']], [403, 'api_key_resource_forbidden'], url)
  }
})

test('what no receiver can be is refused, and changes nothing', async () => {
  const owner = await seedSignedIn(house)
  const call = as(owner)
  const other = await seedSignedIn(house)
  const foreign = toWireId(await seedBot(house.database, other.org_id, 'foreign_bot'))
  const wrong: [object, RegExp][] = [
    [{ ...MAIL, email: 'nobody' }, /email/],
    [{ ...MAIL, name: ' ' }, /name/],
    [{ ...MAIL, about: ['nothing'] }, /about/],
    [{ ...MAIL, quiet_hours: { from: '22:00', to: '25:00', time_zone: 'UTC' } }, /quiet_hours/],
    [{ ...MAIL, quiet_hours: { from: '22:00', to: '22:00', time_zone: 'UTC' } }, /quiet_hours/],
    [{ ...MAIL, digest: { at: '09:00', time_zone: 'Mars' } }, /digest/],
    [{ ...MAIL, type: 'pigeon' }, /type/],
    [{ ...HOOK, url: 'ftp://x.example/' }, /url/],
    [{ ...HOOK, url: 'https://user:pass@x.example/' }, /url/],
    [{ type: 'telegram', name: 'Chat', bot_id: foreign, chat_id: '1' }, /bot_id/],
    [{ type: 'telegram', name: 'Chat', bot_id: foreign, chat_id: 'a chat' }, /chat_id/],
  ]
  for (const [draft, why] of wrong) {
    const reply = await call('POST', '/api/receivers', draft)
    assert.equal(reply.statusCode, 400, reply.body)
    assert.match(String(reply.data()['error']), why)
  }
  assert.deepEqual((await call('GET', '/api/receivers')).data()['data'], [])
  const { id, updated_at } = (await call('POST', '/api/receivers', MAIL)).data()
  for (const [method, path, body] of [
    ['PATCH', '', { url: 'https://x.example/' }],
    ['PATCH', '', { quiet_hours: { from: '01:00', to: '01:00', time_zone: 'UTC' } }],
    ['POST', '/rotate', undefined],
  ] as const) {
    const reply = await call(method, `/api/receivers/${id}${path}`, body)
    assert.equal(reply.statusCode, 400, reply.body)
  }
  assert.equal((await call('GET', `/api/receivers/${id}`)).data()['updated_at'], updated_at)
})

test('another organization’s receiver is as if it were not there', async () => {
  const [owner, other] = [await seedSignedIn(house), await seedSignedIn(house)]
  const { id } = (await as(owner)('POST', '/api/receivers', MAIL)).data()
  for (const missing of [id, toWireId(newId())])
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'Mine' }],
      ['DELETE', '', undefined],
      ['POST', '/rotate', undefined],
      ['POST', '/test', undefined],
    ] as const) {
      const reply = await as(other)(method, `/api/receivers/${missing}${path}`, body)
      assert.deepEqual([reply.statusCode, reply.data()['code']], [404, 'not_found'], `${method} ${path}`)
    }
  assert.deepEqual((await as(other)('GET', '/api/receivers')).data()['data'], [])
  assert.equal((await as(owner)('GET', `/api/receivers/${id}`)).data()['name'], 'Ops')
})

type HistoryRow = {
  id: string
  change: string
  fields: { name: string; is_secret?: true }[]
  cannot_undo: string | null
}

test('the history says who changed a receiver without its address and secret; a name and hours are put back, a secret is not', async () => {
  const owner = await seedSignedIn(house)
  const call = as(owner)
  const { id } = (await call('POST', '/api/receivers', HOOK)).data()
  const path = `/api/receivers/${id}`
  const last = async () => (await call('GET', '/api/history?kind=receiver')).json<{ data: [HistoryRow] }>().data[0]
  assert.doesNotMatch((await call('GET', '/api/history?kind=receiver')).body, /secret-path|whsec/)
  await call('PATCH', path, { name: 'New', about: ['rule'] })
  const named = await last()
  assert.deepEqual(named.fields.map(({ name }) => name).toSorted(), ['about', 'name'])
  assert.equal((await call('POST', `/api/history/${named.id}/undo`, {})).statusCode, 200)
  const { name, about } = (await call('GET', path)).data()
  assert.deepEqual([name, about], ['Pager', null])
  for (const [method, to, body, field] of [
    ['PATCH', path, { url: 'https://other.example/' }, 'url'],
    ['POST', `${path}/rotate`, undefined, 'secret'],
  ] as const) {
    assert.equal((await call(method, to, body)).statusCode, 200)
    const row = await last()
    assert.deepEqual([row.fields, row.cannot_undo], [[{ name: field, is_secret: true }], 'cannot_undo'])
  }
  assert.equal((await call('DELETE', path)).statusCode, 200)
  const gone = await last()
  assert.deepEqual([gone.change, gone.cannot_undo], ['deleted', 'cannot_undo'])
  assert.equal((await call('GET', path)).statusCode, 404)
})

test('a test is sent at once and says how it went; a receiver that fails says why until it works again', async () => {
  const owner = await seedSignedIn(house)
  const call = as(owner)
  let status = 500
  const program = await startReceiver((_, response) => void response.writeHead(status).end())
  const { id } = (await call('POST', '/api/receivers', { ...HOOK, url: `${program.origin}/in/secret-path` })).data()
  const tried = async () => {
    const { ok, error } = (await call('POST', `/api/receivers/${id}/test`)).data()
    const { state, last_error } = (await call('GET', `/api/receivers/${id}`)).data()
    return { ok, error, state, last_error }
  }
  assert.deepEqual(await tried(), {
    ok: false,
    error: 'it answered HTTP 500',
    state: 'fails',
    last_error: 'it answered HTTP 500',
  })
  status = 204
  assert.deepEqual(await tried(), { ok: true, error: null, state: 'works', last_error: null })
  await program.close()
  const { error, last_error } = await tried()
  assert.match(String(error), /ECONNREFUSED/)
  assert.doesNotMatch(String(last_error), /secret-path/)
  const [first] = program.arrivals
  const body = JSON.parse(first?.body ?? '') as Record<string, unknown>
  assert.deepEqual(
    [body['type'], body['phase'], first?.headers['content-type']],
    ['test', 'begins', 'application/json'],
  )
  assert.deepEqual(Object.keys(body), [
    'type',
    'phase',
    'episode',
    'object',
    'rule',
    'text',
    'figures',
    'causes',
    'at',
    'url',
  ])
})
