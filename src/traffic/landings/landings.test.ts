import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  areArchivedFoundAndPaged,
  areGoneWhenDeleted,
  areNotTouchedByMembers,
  areTheirOrganizationsAlone,
  openRoom,
  openToKeysByRight,
  refuses,
} from '../../../tests/support/archivable.ts'

const DRAFT = { name: 'Prelander', url: 'https://landing.example/?click_id={click_id}' }

const room = openRoom('landings', DRAFT)
const { create, put, setStatus, read } = room

test('a landing is created active, and replaced whole but for its status', async () => {
  const reply = await create(DRAFT)
  assert.equal(reply.statusCode, 201)
  const { warnings, ...row } = reply.data()
  assert.deepEqual(warnings, [])
  const { id, created_at, updated_at, ...rest } = row
  assert.deepEqual(rest, { ...DRAFT, unknown_macros: [], status: 'active', tag_ids: [], note: null })
  assert.equal(updated_at, created_at)
  assert.deepEqual((await read(String(id))).data(), row)
  await setStatus(String(id), { status: 'archived' })
  const { warnings: named, ...replaced } = (
    await put(String(id), { name: 'New', url: 'https://new.example/?z={zone}' })
  ).data()
  assert.match(JSON.stringify(named), /unknown_macros.*\{zone\}/)
  assert.deepEqual(
    [replaced['name'], replaced['url'], replaced['unknown_macros'], replaced['status'], replaced['created_at']],
    ['New', 'https://new.example/?z={zone}', ['zone'], 'archived', created_at],
  )
  assert.deepEqual((await read(String(id))).data(), replaced)
})

refuses(room, [
  [undefined, /./],
  [{ url: DRAFT.url }, /name/],
  [{ name: 'No url' }, /url/],
  [{ ...DRAFT, name: ' ' }, /name/],
  [{ ...DRAFT, url: 'landing.example' }, /url/],
  [{ ...DRAFT, url: 'https://{geo}.example/' }, /url/],
  [{ ...DRAFT, url: 'javascript:alert(1)' }, /url/],
])
areArchivedFoundAndPaged(room)
areGoneWhenDeleted(room)
areTheirOrganizationsAlone(room)
openToKeysByRight(room)
areNotTouchedByMembers(room)
