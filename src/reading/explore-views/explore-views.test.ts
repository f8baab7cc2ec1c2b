// Saved views through the door: who sees and changes which, what is refused, and that there is one start page.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { toUuid } from '../../contract/ids.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'
import { MOST_OWN, MOST_SHARED } from './api.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

const PATH = '/api/explore-views'
const QUESTION = {
  levels: [{ dimension: 'campaign', top: 20 }, { dimension: 'sub1' }],
  filters: [{ dimension: 'geo', op: 'in', values: ['DE', 'AT'] }],
  sort: { by: 'revenue', descending: true },
}
const SCREEN = { range: '7d', columns: ['clicks', 'revenue'], formulas: [{ name: 'Rate', formula: 'lead / clicks' }] }
const DRAFT = { name: 'Zones that lose', question: QUESTION }

type As = { cookie?: string; key?: string }
type View = { id: string; name: string; is_shared: boolean; is_start_page: boolean; is_own: boolean } & Record<
  string,
  unknown
>
const create = (as: As, body: unknown) => house.call('POST', PATH, { ...as, body })
const change = (as: As, id: string, body: unknown) => house.call('PATCH', `${PATH}/${id}`, { ...as, body })
const remove = (as: As, id: string) => house.call('DELETE', `${PATH}/${id}`, as)
const list = async (as: SignedIn): Promise<View[]> => {
  const reply = await house.call('GET', PATH, { cookie: as.cookie })
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json<{ data: View[] }>().data
}
const namesOf = async (as: SignedIn) => (await list(as)).map(({ name }) => name)
const startsOf = async (as: SignedIn) => (await list(as)).filter(one => one.is_start_page).map(({ name }) => name)
async function made(as: As, fields: object = {}): Promise<string> {
  const reply = await create(as, { ...DRAFT, ...fields })
  assert.equal(reply.statusCode, 201, reply.body)
  return String(reply.data()['id'])
}
type Reply = Awaited<ReturnType<typeof create>>
const refusalOf = (reply: Reply) => [reply.statusCode, reply.data()['code']]
const NOT_FOUND = [404, 'not_found']
const ROLE = [403, 'role_forbidden']

/** A workspace with an owner, an admin and two members. */
async function team() {
  const owner = await seedSignedIn(house)
  const [admin, ada, ben] = await Promise.all(
    (['admin', 'member', 'member'] as const).map(role => seedSignedIn(house, { place: owner, role })),
  )
  return { owner, admin, ada, ben } as { [name in 'owner' | 'admin' | 'ada' | 'ben']: SignedIn }
}

/** All rows of an organization, to check that nothing has changed. */
const rowsOf = async ({ org_id }: SignedIn) =>
  await house.database.kysely
    .selectFrom('explore_views')
    .selectAll()
    .where('org_id', '=', org_id)
    .orderBy('id')
    .execute()

test('a view is saved, read as it was sent, changed in part and deleted', async () => {
  const { ada } = await team()
  assert.deepEqual(await list(ada), [])
  const reply = await create(ada, { ...DRAFT, name: ' Zones that lose ', screen: SCREEN })
  assert.equal(reply.statusCode, 201, reply.body)
  const { id, created_at, updated_at, ...rest } = reply.data()
  assert.deepEqual(rest, {
    name: 'Zones that lose',
    question: QUESTION,
    screen: SCREEN,
    is_shared: false,
    is_start_page: false,
    is_own: true,
    saved_by: 'Person',
  })
  assert.equal(updated_at, created_at)
  assert.deepEqual(await list(ada), [reply.data()])
  const other = {
    levels: [{ dimension: 'hour' }],
    time_zone: 'Europe/Kyiv',
    date_from: '2026-01-01',
    date_to: '2026-01-31',
  }
  const changed = await change(ada, String(id), { question: other })
  assert.equal(changed.statusCode, 200, changed.body)
  assert.deepEqual({ ...changed.data(), updated_at }, { ...reply.data(), question: other })
  assert.equal((await change(ada, String(id), { name: 'By hour', screen: null })).data()['screen'], null)
  await made(ada, { name: 'A first one' })
  assert.deepEqual(await namesOf(ada), ['A first one', 'By hour'])
  assert.deepEqual((await remove(ada, String(id))).data(), { ok: true })
  assert.deepEqual(await namesOf(ada), ['A first one'])
  assert.deepEqual(refusalOf(await remove(ada, String(id))), NOT_FOUND)
})

test('a private view is visible to nobody else, owners included; a shared one to its workspace alone', async () => {
  const { owner, admin, ada, ben } = await team()
  const stranger = await seedSignedIn(house)
  const own = await made(ada, { name: 'Ada’s' })
  const shared = await made(admin, { name: 'Ours', is_shared: true })
  assert.deepEqual(await namesOf(ada), ['Ada’s', 'Ours'])
  for (const other of [owner, admin, ben]) {
    const [view, ...none] = await list(other)
    const isOwn = other === admin
    assert.deepEqual([view?.name, view?.is_own, view?.['saved_by'], none.length], ['Ours', isOwn, 'Person', 0])
  }
  assert.deepEqual(await list(stranger), [])
  const before = await rowsOf(ada)
  for (const other of [owner, admin, ben, stranger]) {
    assert.deepEqual(refusalOf(await change(other, own, { name: 'Mine' })), NOT_FOUND)
    assert.deepEqual(refusalOf(await remove(other, own)), NOT_FOUND)
  }
  assert.deepEqual(refusalOf(await change(stranger, shared, { name: 'Mine' })), NOT_FOUND)
  assert.deepEqual(refusalOf(await remove(stranger, shared)), NOT_FOUND)
  assert.deepEqual(refusalOf(await change(ada, toWireId(newId()), { name: 'None' })), NOT_FOUND)
  assert.deepEqual(refusalOf(await change(ada, 'none', { name: 'None' })), NOT_FOUND)
  assert.deepEqual(await rowsOf(ada), before)
})

test('owners and admins share views, and change and delete shared ones', async () => {
  const { owner, admin, ben } = await team()
  const id = await made(admin, { name: 'Ours', is_shared: true })
  assert.equal((await change(owner, id, { name: 'Better' })).data()['name'], 'Better')
  assert.deepEqual(await namesOf(ben), ['Better'])
  const taken = await change(owner, id, { is_shared: false })
  assert.deepEqual(refusalOf(taken), ROLE)
  assert.match(String(taken.data()['error']), /only the person who saved a view makes it private/)
  assert.equal((await change(admin, id, { is_shared: false })).data()['is_shared'], false)
  assert.deepEqual([await namesOf(admin), await namesOf(owner)], [['Better'], []])
  await change(admin, id, { is_shared: true })
  assert.equal((await remove(owner, id)).statusCode, 200)
  assert.deepEqual(await list(admin), [])
})

test('a member shares no view and changes no shared one, not even one they saved as an admin', async () => {
  const { owner, admin, ada } = await team()
  const own = await made(ada, { name: 'Ada’s' })
  const shared = await made(admin, { name: 'Ours', is_shared: true })
  await house.database.kysely
    .updateTable('members')
    .set({ role: 'member' })
    .where('org_id', '=', admin.org_id)
    .where('user_id', '=', admin.user_id)
    .execute()
  const before = await rowsOf(ada)
  const tries = [
    await create(ada, { ...DRAFT, is_shared: true }),
    await change(ada, own, { is_shared: true }),
    ...(await Promise.all([ada, admin].map(member => change(member, shared, { name: 'Mine' })))),
    ...(await Promise.all([ada, admin].map(member => change(member, shared, { is_shared: false })))),
    ...(await Promise.all([ada, admin].map(member => remove(member, shared)))),
  ]
  for (const reply of tries) {
    assert.deepEqual(refusalOf(reply), ROLE)
    assert.match(String(reply.data()['error']), /only owners and admins share views/)
  }
  assert.deepEqual(await rowsOf(ada), before)
  assert.equal((await remove(owner, shared)).statusCode, 200)
})

test('a person has one start page and the workspace one; choosing another ends the present one', async () => {
  const { admin, ada, ben } = await team()
  const first = await made(ada, { name: 'First', is_start_page: true })
  await made(ada, { name: 'Second', is_start_page: true })
  const bens = await made(ben, { name: 'Ben’s', is_start_page: true })
  assert.deepEqual([await startsOf(ada), await startsOf(ben)], [['Second'], ['Ben’s']])
  await change(ada, first, { is_start_page: true })
  assert.deepEqual(await startsOf(ada), ['First'])
  await made(admin, { name: 'Team', is_shared: true, is_start_page: true })
  const news = await made(admin, { name: 'News', is_shared: true })
  assert.deepEqual(
    [await startsOf(ada), await startsOf(ben)],
    [
      ['First', 'Team'],
      ['Ben’s', 'Team'],
    ],
  )
  await change(admin, news, { is_start_page: true })
  assert.deepEqual(await startsOf(ben), ['Ben’s', 'News'])
  await change(ben, bens, { is_start_page: false })
  assert.deepEqual(await startsOf(ben), ['News'])
})

test('owners and admins choose the workspace’s start page, and a view that is shared or made private is none', async () => {
  const { owner, admin, ada } = await team()
  const id = await made(admin, { name: 'Ours', is_shared: true, is_start_page: true })
  const own = await made(admin, { name: 'Mine', is_start_page: true })
  const before = await rowsOf(ada)
  assert.deepEqual(refusalOf(await create(ada, { ...DRAFT, is_shared: true, is_start_page: true })), ROLE)
  assert.deepEqual(refusalOf(await change(ada, id, { is_start_page: false })), ROLE)
  assert.deepEqual(await rowsOf(ada), before)
  await change(owner, id, { name: 'Still ours' })
  assert.deepEqual(await startsOf(ada), ['Still ours'])
  await change(admin, own, { is_shared: true })
  assert.deepEqual(await startsOf(ada), ['Still ours'])
  await change(admin, id, { is_shared: false })
  assert.deepEqual(await startsOf(ada), [])
  await change(admin, own, { is_shared: false, is_start_page: true })
  assert.deepEqual([await startsOf(admin), await startsOf(owner)], [['Mine'], []])
})

test('an invalid view is refused with the reason, and changes nothing', async () => {
  const { ada } = await team()
  const id = await made(ada)
  const before = await rowsOf(ada)
  const long = Array.from({ length: 12 }, (_, at) => ({
    dimension: `sub${1 + (at % 9)}`,
    op: 'in',
    values: Array.from({ length: 200 }, (_, value) => `zone-${at}-${value}`),
  }))
  const wrong: [fields: object, says: RegExp][] = [
    [{ name: ' ' }, /^name/],
    [{ name: 'x'.repeat(81) }, /^name/],
    [{ question: 'all' }, /^question/],
    [{ question: { levels: [] } }, /^question\.levels/],
    [{ question: { levels: [{ dimension: 'weather' }] } }, /^question\.levels\.0\.dimension/],
    [{ question: { ...QUESTION, colour: 'red' } }, /^question/],
    [{ question: { ...QUESTION, filters: long } }, /^question: is longer than 16,384 characters/],
    [{ question: { ...QUESTION, within: ['x'] } }, /^question\.within: belongs to an opened row/],
    [{ question: { ...QUESTION, within: [], after: 20 } }, /^question\.within: belongs to an opened row/],
    [{ screen: 'wide' }, /^screen/],
    [{ screen: { columns: ['x'.repeat(16_384)] } }, /^screen: is longer/],
    [{ is_shared: 'yes' }, /^is_shared/],
    [{ is_start_page: 1 }, /^is_start_page/],
  ]
  for (const [fields, says] of wrong)
    for (const reply of [await create(ada, { ...DRAFT, ...fields }), await change(ada, id, fields)]) {
      assert.equal(reply.statusCode, 400, `${JSON.stringify(fields).slice(0, 100)}: ${reply.body}`)
      assert.match(String(reply.data()['error']), says)
    }
  for (const body of [undefined, {}, { name: 'No question' }, { question: QUESTION }])
    assert.equal((await create(ada, body)).statusCode, 400)
  assert.deepEqual(await rowsOf(ada), before)
})

/** Adds views up to `count`. */
async function fill(as: SignedIn, count: number, is_shared: boolean): Promise<void> {
  const now = new Date().toISOString()
  const row = {
    org_id: as.org_id,
    question: JSON.stringify(QUESTION),
    is_shared,
    is_start_page: false,
    created_by: as.user_id,
  }
  const rows = Array.from({ length: count }, (_, at) => ({
    ...row,
    id: newId(),
    name: `View ${at}`,
    created_at: now,
    updated_at: now,
  }))
  await house.database.kysely.insertInto('explore_views').values(rows).execute()
}

test('the last place for private and for shared views is given once, however many requests race for it', async () => {
  const { owner, admin: ada, ben } = await team()
  await fill(ada, MOST_OWN - 1, false)
  await fill(ben, MOST_SHARED - 1, true)
  for (const is_shared of [false, true]) {
    const replies = await Promise.all(Array.from({ length: 6 }, () => create(ada, { ...DRAFT, is_shared })))
    const codes = replies.map(({ statusCode }) => statusCode)
    assert.deepEqual(
      codes.toSorted((a, b) => a - b),
      [201, 400, 400, 400, 400, 400],
    )
    const no = replies.find(({ statusCode }) => statusCode === 400)
    assert.match(String(no?.data()['error']), is_shared ? /at most 100 shared views/ : /at most 50 private views/)
  }
  const [own] = (await list(ada)).filter(view => !view.is_shared)
  assert.equal((await change(ada, String(own?.id), { is_shared: true })).statusCode, 400)
  // Private views of others, and views of other workspaces, do not count.
  await made(ben)
  await made(owner)
  assert.equal((await list(ada)).length, MOST_OWN + MOST_SHARED)
})

test('of start pages chosen at once one remains, and no request fails', async () => {
  const { admin, ada } = await team()
  const ids = await Promise.all([1, 2, 3, 4, 5].map(at => made(ada, { name: `View ${at}` })))
  const chosen = await Promise.all(ids.map(id => change(ada, id, { is_start_page: true })))
  assert.deepEqual(
    chosen.map(({ statusCode }) => statusCode),
    [200, 200, 200, 200, 200],
  )
  const shared = await Promise.all(
    [1, 2, 3].map(at => create(admin, { ...DRAFT, name: `${at}`, is_shared: true, is_start_page: true })),
  )
  assert.deepEqual(
    shared.map(({ statusCode }) => statusCode),
    [201, 201, 201],
  )
  assert.deepEqual([(await startsOf(ada)).length, (await startsOf(admin)).length], [2, 1])
})

test('a question that this version cannot read is null, and the other views are listed', async () => {
  const { ada } = await team()
  const id = await made(ada, { name: 'Of a version to come' })
  await made(ada, { name: 'Usual' })
  await house.database.kysely
    .updateTable('explore_views')
    .set({ question: JSON.stringify({ levels: [{ dimension: 'weather' }] }) })
    .where('org_id', '=', ada.org_id)
    .where('id', '=', toUuid(id) ?? '')
    .execute()
  const questions = (await list(ada)).map(({ name, question }) => [name, question])
  assert.deepEqual(questions, [
    ['Of a version to come', null],
    ['Usual', QUESTION],
  ])
})

test('keys cannot reach views, and nobody can without a session', async () => {
  const { ada } = await team()
  const { secret: key } = await seedKey(house.database, ada, { rights: ALL_RIGHTS })
  const id = await made(ada)
  for (const as of [{ key }, {}]) {
    const replies = [
      await house.call('GET', PATH, as),
      await create(as, DRAFT),
      await change(as, id, {}),
      await remove(as, id),
    ]
    for (const reply of replies)
      if ('key' in as) assert.deepEqual(refusalOf(reply), [403, 'api_key_resource_forbidden'])
      else assert.ok([401, 403].includes(reply.statusCode), reply.body)
  }
  assert.equal((await list(ada)).length, 1)
})
