import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedKey, startHouse, type TestHouse, toWireId } from '../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../tests/support/people.ts'
import type { Right } from '../contract/rights.ts'

type As = { cookie?: string; key?: string }

let house: TestHouse
let owner: SignedIn
let other: SignedIn
before(async () => {
  house = await startHouse()
  owner = await seedSignedIn(house)
  other = await seedSignedIn(house)
})
after(() => house.end())

const DRAFT = { name: 'Prelander', url: 'https://landing.example/?click_id={click_id}' }

const create = (body: unknown, as: As = owner) => house.call('POST', '/api/landings', { ...as, body })
const put = (id: string, body: unknown, as: As = owner) => house.call('PUT', `/api/landings/${id}`, { ...as, body })
const setStatus = (id: string, body: unknown, as: As = owner) =>
  house.call('PUT', `/api/landings/${id}/status`, { ...as, body })
const remove = (id: string, as: As = owner) => house.call('DELETE', `/api/landings/${id}`, as)
const read = (id: string, as: As = owner) => house.call('GET', `/api/landings/${id}`, as)

async function made(fields: object = DRAFT, as: As = owner): Promise<string> {
  const reply = await create(fields, as)
  assert.equal(reply.statusCode, 201, reply.body)
  return String(reply.data()['id'])
}

const keyWith = async (...rights: Right[]): Promise<As> => ({
  key: (await seedKey(house.database, owner, { rights })).secret,
})

const rows = async () => {
  const { rows } = await house.database.reads.query<{ all: string }>(
    `select md5(string_agg(l::text, '' order by id)) as all from landings l`,
  )
  return rows[0]?.all
}

test('a landing is created active, and replaced whole but for its status', async () => {
  const reply = await create(DRAFT)
  assert.equal(reply.statusCode, 201)
  const { id, created_at, updated_at, ...rest } = reply.data()
  assert.deepEqual(rest, { ...DRAFT, status: 'active' })
  assert.equal(updated_at, created_at)
  assert.deepEqual((await read(String(id))).data(), reply.data())
  await setStatus(String(id), { status: 'archived' })
  const replaced = (await put(String(id), { name: 'New', url: 'https://new.example/' })).data()
  assert.deepEqual(
    [replaced['name'], replaced['url'], replaced['status'], replaced['created_at']],
    ['New', 'https://new.example/', 'archived', created_at],
  )
  assert.deepEqual((await read(String(id))).data(), replaced)
})

test('what cannot be a landing is refused and leaves nothing behind', async () => {
  const id = await made()
  const before = await rows()
  const wrong: [unknown, RegExp][] = [
    [undefined, /./],
    [{ url: DRAFT.url }, /name/],
    [{ name: 'No url' }, /url/],
    [{ ...DRAFT, name: ' ' }, /name/],
    [{ ...DRAFT, url: 'landing.example' }, /url/],
    [{ ...DRAFT, url: 'https://{geo}.example/' }, /url/],
    [{ ...DRAFT, url: 'javascript:alert(1)' }, /url/],
  ]
  for (const [body, field] of wrong) {
    for (const reply of [await create(body), await put(id, body)]) {
      assert.equal(reply.statusCode, 400, JSON.stringify(body))
      assert.match(reply.body, field)
    }
  }
  for (const body of [undefined, {}, { status: 'paused' }]) assert.equal((await setStatus(id, body)).statusCode, 400)
  assert.equal(await rows(), before)
})

test('landings are archived and unarchived, found by status and name, and paged', async () => {
  const lister = await seedSignedIn(house)
  const [first, second] = [
    await made({ ...DRAFT, name: 'First' }, lister),
    await made({ ...DRAFT, name: 'Second' }, lister),
  ]
  assert.equal((await setStatus(first, { status: 'archived' }, lister)).data()['status'], 'archived')
  const ids = async (query: string) => {
    const reply = await house.call('GET', `/api/landings?${query}`, { cookie: lister.cookie })
    return reply.json<{ data: { id: string }[] }>().data.map(({ id }) => id)
  }
  assert.deepEqual(new Set(await ids('')), new Set([first, second]))
  assert.deepEqual(await ids('status=active'), [second])
  assert.deepEqual(await ids('status=archived'), [first])
  assert.deepEqual(await ids('q=SEC'), [second])
  const page = (await house.call('GET', '/api/landings?limit=1', { cookie: lister.cookie })).data()
  const [shown] = await ids('limit=1')
  const rest = await ids(`cursor=${String(page['next_cursor'])}`)
  assert.deepEqual(new Set([shown, ...rest]), new Set([first, second]))
  assert.equal((await setStatus(first, { status: 'active' }, lister)).data()['status'], 'active')
})

test('a deleted landing is gone for every route, and its row stays', async () => {
  const id = await made()
  assert.deepEqual((await remove(id)).data(), { ok: true })
  const { rows } = await house.database.reads.query('select deleted_at from landings where deleted_at is not null')
  assert.equal(rows.length, 1)
  for (const reply of [
    await read(id),
    await put(id, DRAFT),
    await setStatus(id, { status: 'active' }),
    await remove(id),
  ])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [404, 'not_found'])
})

test("another organization's landing is as if it were not there", async () => {
  const id = await made(DRAFT, other)
  const before = await rows()
  const random = toWireId(newId())
  for (const as of [owner, await keyWith('landings:update', 'landings:status', 'landings:delete')]) {
    const calls = [
      (one: string) => put(one, DRAFT, as),
      (one: string) => setStatus(one, { status: 'archived' }, as),
      (one: string) => remove(one, as),
    ]
    for (const call of calls) {
      const [theirs, nobodys] = [await call(id), await call(random)]
      assert.deepEqual([theirs.statusCode, theirs.body], [404, nobodys.body])
    }
  }
  assert.equal((await read(id)).body, (await read(random)).body)
  assert.equal(await rows(), before)
})

test('a key does what its rights say and nothing else', async () => {
  const id = await made()
  const [creates, archives, replaces] = [
    await keyWith('landings'),
    await keyWith('landings:status'),
    await keyWith('landings:update'),
  ]
  assert.equal((await create(DRAFT, creates)).statusCode, 201)
  assert.equal((await setStatus(id, { status: 'archived' }, archives)).statusCode, 200)
  assert.equal((await put(id, DRAFT, replaces)).statusCode, 200)
  const before = await rows()
  const refusals = [
    [await create(DRAFT, await keyWith('offers')), 'api_key_write_not_granted'],
    [await setStatus(id, { status: 'active' }, creates), 'api_key_write_not_granted'],
    [await put(id, DRAFT, archives), 'api_key_delete_not_granted'],
    [await remove(id, replaces), 'api_key_delete_not_granted'],
    [await read(id, replaces), 'api_key_resource_forbidden'],
    [await house.call('GET', '/api/landings', replaces), 'api_key_resource_forbidden'],
    [
      await house.call('POST', '/api/landings/preview', { ...creates, body: { url: DRAFT.url } }),
      'api_key_resource_forbidden',
    ],
  ] as const
  for (const [reply, code] of refusals) assert.deepEqual([reply.statusCode, reply.data()['code']], [403, code])
  assert.equal(await rows(), before)
  assert.equal((await remove(id, await keyWith('landings:delete'))).statusCode, 200)
})

test('a member looks and does not touch', async () => {
  const id = await made()
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  assert.equal((await read(id, member)).statusCode, 200)
  const preview = await house.call('POST', '/api/landings/preview', { ...member, body: { url: DRAFT.url } })
  assert.match(String(preview.data()['url']), /click_id=[0-9a-z]{26}$/)
  const before = await rows()
  for (const reply of [
    await create(DRAFT, member),
    await put(id, DRAFT, member),
    await setStatus(id, { status: 'archived' }, member),
    await remove(id, member),
  ])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'role_forbidden'])
  assert.equal(await rows(), before)
})
