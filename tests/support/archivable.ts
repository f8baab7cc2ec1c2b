// Tests that offers and landings share, because both are created, replaced, archived and deleted by the same routes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Right } from '../../src/contract/rights.ts'
import { newId, type Sent, seedKey, useHouse, type TestHouse, toWireId } from './house.ts'
import { type SignedIn, seedSignedIn } from './people.ts'

type Login = Pick<Sent, 'cookie' | 'key'>

/** A house for the tests of one file, its owner and a stranger, and the calls of the room. `draft` is what `made` creates. */
export function openRoom(room: 'offers' | 'landings', draft: object) {
  let house: TestHouse
  let owner: SignedIn
  let other: SignedIn
  before(async () => {
    house = await useHouse()
    owner = await seedSignedIn(house)
    other = await seedSignedIn(house)
  })
  after(() => house.end())

  const create = (body: unknown, as: Login = owner) => house.call('POST', `/api/${room}`, { ...as, body })
  return {
    room,
    draft,
    people: () => ({ house, owner, other }),
    create,
    put: (id: string, body: unknown, as: Login = owner) => house.call('PUT', `/api/${room}/${id}`, { ...as, body }),
    setStatus: (id: string, body: unknown, as: Login = owner) =>
      house.call('PUT', `/api/${room}/${id}/status`, { ...as, body }),
    remove: (id: string, as: Login = owner) => house.call('DELETE', `/api/${room}/${id}`, as),
    read: (id: string, as: Login = owner) => house.call('GET', `/api/${room}/${id}`, as),
    list: (query: string, as: Login = owner) => house.call('GET', `/api/${room}?${query}`, as),
    preview: (url: unknown, as: Login = owner) => house.call('POST', `/api/${room}/preview`, { ...as, body: { url } }),
    made: async (fields: object = draft, as: Login = owner): Promise<string> => {
      const reply = await create(fields, as)
      assert.equal(reply.statusCode, 201, reply.body)
      return String(reply.data()['id'])
    },
    keyWith: async (...rights: Right[]): Promise<Login> => ({
      key: (await seedKey(house.database, owner, { rights })).secret,
    }),
    /** A checksum of all rows of all organizations. */
    rows: async (): Promise<string | undefined> => {
      const { rows } = await house.database.reads.query<{ all: string }>(
        `select md5(string_agg(r::text, '' order by id)) as all from ${room} r`,
      )
      return rows[0]?.all
    },
  }
}

type Room = ReturnType<typeof openRoom>

/** Bodies that are refused when creating and when replacing, each with what the refusal must name. */
export function refuses(room: Room, wrong: readonly (readonly [body: unknown, names: RegExp])[]): void {
  test(`what cannot be one of the ${room.room} is refused and leaves nothing behind`, async () => {
    const id = await room.made()
    const before = await room.rows()
    for (const [body, named] of wrong) {
      for (const reply of [await room.create(body), await room.put(id, body)]) {
        assert.equal(reply.statusCode, 400, JSON.stringify(body))
        assert.match(reply.body, named)
      }
    }
    for (const body of [undefined, {}, { status: 'paused' }])
      assert.equal((await room.setStatus(id, body)).statusCode, 400)
    assert.equal(await room.rows(), before)
  })
}

export function areArchivedFoundAndPaged(room: Room): void {
  test(`${room.room} are archived and unarchived, found by status and name, and paged`, async () => {
    const lister = await seedSignedIn(room.people().house)
    const first = await room.made({ ...room.draft, name: 'First' }, lister)
    const second = await room.made({ ...room.draft, name: 'Second' }, lister)
    assert.equal((await room.setStatus(first, { status: 'archived' }, lister)).data()['status'], 'archived')
    const page = async (query: string) => {
      const { data, next_cursor } = (await room.list(query, lister)).json<{
        data: { id: string }[]
        next_cursor: string | null
      }>()
      return { ids: data.map(({ id }) => id), next_cursor }
    }
    assert.deepEqual(new Set((await page('')).ids), new Set([first, second]))
    assert.deepEqual((await page('status=active')).ids, [second])
    assert.deepEqual((await page('status=archived')).ids, [first])
    assert.deepEqual((await page('q=SEC')).ids, [second])
    const newest = await page('limit=1')
    const rest = await page(`cursor=${newest.next_cursor}`)
    assert.deepEqual([newest.ids.length, rest.ids.length, rest.next_cursor], [1, 1, null])
    assert.deepEqual(new Set([...newest.ids, ...rest.ids]), new Set([first, second]))
    assert.equal((await room.setStatus(first, { status: 'active' }, lister)).data()['status'], 'active')
  })
}

export function areGoneWhenDeleted(room: Room): void {
  test(`a deleted row of ${room.room} is gone for every route, and stays in its table`, async () => {
    const { house } = room.people()
    const id = await room.made()
    const count = async () => {
      const { rows } = await house.database.reads.query<{ gone: number }>(
        `select count(deleted_at)::int as gone from ${room.room}`,
      )
      return rows[0]?.gone ?? 0
    }
    const before = await count()
    assert.deepEqual((await room.remove(id)).data(), { ok: true, id, campaigns_on_fallback: [] })
    assert.equal(await count(), before + 1)
    for (const reply of [
      await room.read(id),
      await room.put(id, room.draft),
      await room.setStatus(id, { status: 'active' }),
      await room.remove(id),
    ])
      assert.deepEqual([reply.statusCode, reply.data()['code']], [404, 'not_found'])
  })
}

export function areTheirOrganizationsAlone(room: Room): void {
  test(`another organization's ${room.room} are as if they were not there`, async () => {
    const { owner, other } = room.people()
    const id = await room.made(room.draft, other)
    const before = await room.rows()
    const random = toWireId(newId())
    const path = room.room
    for (const as of [owner, await room.keyWith(`${path}:update`, `${path}:status`, `${path}:delete`)]) {
      const calls = [
        (one: string) => room.put(one, room.draft, as),
        (one: string) => room.setStatus(one, { status: 'archived' }, as),
        (one: string) => room.remove(one, as),
      ]
      for (const call of calls) {
        const [theirs, nobodys] = [await call(id), await call(random)]
        assert.deepEqual([theirs.statusCode, theirs.body], [404, nobodys.body])
      }
    }
    assert.equal((await room.read(id)).body, (await room.read(random)).body)
    assert.equal(await room.rows(), before)
  })
}

export function openToKeysByRight(room: Room): void {
  const { room: path, draft, create, put, setStatus, remove, read, list, preview, keyWith } = room
  test(`a key does to ${path} what its rights say and nothing else`, async () => {
    const id = await room.made()
    const creates = await keyWith(path)
    const archives = await keyWith(`${path}:status`)
    const replaces = await keyWith(`${path}:update`)
    const stranger = await keyWith(path === 'offers' ? 'landings' : 'offers')
    assert.equal((await create(draft, creates)).statusCode, 201)
    assert.equal((await setStatus(id, { status: 'archived' }, archives)).statusCode, 200)
    assert.equal((await put(id, draft, replaces)).statusCode, 200)
    const before = await room.rows()
    const refusals = [
      [await create(draft, stranger), 'api_key_write_not_granted'],
      [await create(draft, replaces), 'api_key_write_not_granted'],
      [await setStatus(id, { status: 'active' }, creates), 'api_key_write_not_granted'],
      [await setStatus(id, { status: 'active' }, replaces), 'api_key_write_not_granted'],
      [await put(id, draft, archives), 'api_key_delete_not_granted'],
      [await put(id, draft, creates), 'api_key_delete_not_granted'],
      [await remove(id, replaces), 'api_key_delete_not_granted'],
      [await read(id, replaces), 'api_key_resource_forbidden'],
      [await list('', replaces), 'api_key_resource_forbidden'],
      [await preview('https://page.example/', creates), 'api_key_resource_forbidden'],
    ] as const
    for (const [reply, code] of refusals) assert.deepEqual([reply.statusCode, reply.data()['code']], [403, code])
    assert.equal(await room.rows(), before)
    assert.equal((await remove(id, await keyWith(`${path}:delete`))).statusCode, 200)
  })
}

export function areNotTouchedByMembers(room: Room): void {
  test(`a member looks at ${room.room} and does not touch them`, async () => {
    const { house, owner } = room.people()
    const id = await room.made()
    const member = await seedSignedIn(house, { place: owner, role: 'member' })
    assert.equal((await room.read(id, member)).statusCode, 200)
    const preview = await room.preview('https://page.example/?c={click_id}', member)
    assert.match(String(preview.data()['url']), /c=[0-9a-z]{26}$/)
    const before = await room.rows()
    for (const reply of [
      await room.create(room.draft, member),
      await room.put(id, room.draft, member),
      await room.setStatus(id, { status: 'archived' }, member),
      await room.remove(id, member),
    ])
      assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'role_forbidden'])
    assert.equal(await room.rows(), before)
  })
}
