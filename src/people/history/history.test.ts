// The list of changes: filters, pages, who sees what, its file, the actor of tools, races of writers, and that differences lead back to the first state.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { raceInto } from '../../../tests/support/blocked.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'
import { seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { callTool, send } from '../../../tests/support/tools.ts'
import { join, type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Field = { name: string; before: unknown; after: unknown }
type Row = {
  id: string
  created_at: string
  act_id: string
  actor: { kind: string; id: string; name: string; tool: string | null; host: object | null; because: string | null }
  kind: string
  object_id: string
  change: 'created' | 'changed' | 'deleted'
  fields: Field[]
}
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type As = { cookie?: string; key?: string }

const call = (as: As, method: Method, url: string, body?: unknown) =>
  house.call(method, url, {
    ...(as.key === undefined ? { cookie: as.cookie ?? '' } : { key: as.key }),
    ...(body === undefined ? {} : { body }),
  })
async function list(as: As, query = '') {
  const reply = await call(as, 'GET', `/api/history?${query}`)
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json<{ data: Row[]; next_cursor: string | null }>()
}
async function made(as: As, url: string, body: unknown): Promise<string> {
  const reply = await call(as, 'POST', url, body)
  assert.equal(reply.statusCode, 201, reply.body)
  return String(reply.data()['id'])
}
const OFFER = { name: 'Casino', url: 'https://o.example/' }

test('rows are filtered by kind, object, actor, act and time, and paged newest first', async () => {
  const owner = await seedSignedIn(house)
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  const { secret: key, key_id } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  const offer = await made(owner, '/api/offers', OFFER)
  const landing = await made(admin, '/api/landings', { name: 'L', url: 'https://l.example/' })
  await call({ key }, 'PUT', `/api/offers/${offer}`, { ...OFFER, name: 'By key' })
  const all = (await list(owner)).data
  assert.deepEqual(
    all.map(({ kind, change, actor }) => [kind, change, actor.kind, actor.id]),
    [
      ['offer', 'changed', 'key', toWireId(key_id)],
      ['landing', 'created', 'person', toWireId(admin.user_id)],
      ['offer', 'created', 'person', toWireId(owner.user_id)],
    ],
  )
  const idsOf = async (query: string) => (await list(owner, query)).data.map(({ id }) => id)
  const [third, second, first] = all.map(({ id }) => id)
  assert.deepEqual(await idsOf('kind=offer'), [third, first])
  assert.deepEqual(await idsOf(`id=${landing}`), [second])
  assert.deepEqual(await idsOf(`actor=${toWireId(key_id)}`), [third])
  assert.deepEqual(await idsOf('actor=sluice'), [])
  assert.deepEqual(await idsOf(`act=${all[1]?.act_id}`), [second])
  assert.deepEqual(await idsOf(`from=${all[1]?.created_at}`), [third, second])
  assert.deepEqual(await idsOf(`to=${all[1]?.created_at}`), [second, first])
  assert.deepEqual(await idsOf(`from=${all[1]?.created_at}&to=${all[1]?.created_at}`), [second])
  const page = await list(owner, 'limit=2')
  assert.deepEqual(
    [page.data.length, (await list(owner, `limit=2&cursor=${page.next_cursor}`)).data[0]?.id],
    [2, first],
  )
  for (const wrong of ['kind=tree', 'actor=me', 'id=x'])
    assert.equal((await call(owner, 'GET', `/api/history?${wrong}`)).statusCode, 400)
  const refused = await call(owner, 'GET', '/api/history?from=yesterday')
  assert.deepEqual([refused.statusCode, refused.data()['code']], [400, 'invalid_window'])
  const byKey = await call({ key }, 'GET', '/api/history')
  assert.deepEqual([byKey.statusCode, byKey.data()['code']], [403, 'api_key_resource_forbidden'])
})

test('members see neither invitations nor keys of others, nobody sees a private view of somebody else, and strangers see nothing', async () => {
  const owner = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  await made(owner, '/api/invitations', { email: 'guest@example.com', role: 'member' })
  await made(owner, '/api/api-keys', { name: 'Theirs' })
  const own = await made(member, '/api/api-keys', { name: 'Own' })
  const question = { levels: [{ dimension: 'geo' }] }
  await made(owner, '/api/explore-views', { name: 'Shared', question, is_shared: true })
  await made(member, '/api/explore-views', { name: 'Private', question })
  const kinds = async (as: SignedIn) => (await list(as)).data.map(({ kind, object_id }) => [kind, object_id === own])
  assert.deepEqual(await kinds(member), [
    ['view', false],
    ['view', false],
    ['api_key', true],
  ])
  assert.deepEqual(
    (await kinds(owner)).map(([kind]) => kind),
    ['view', 'api_key', 'api_key', 'invitation'],
  )
  assert.deepEqual(await kinds(await seedSignedIn(house)), [])
  const text = JSON.stringify(await list(owner))
  assert.doesNotMatch(text, /org_id|hash/)
})

test('the file has the plain fields of the listed rows, and names cannot become formulas', async () => {
  const owner = await seedSignedIn(house)
  await made(owner, '/api/offers', { ...OFFER, name: '=1+1' })
  await made(owner, '/api/landings', { name: 'L', url: 'https://l.example/' })
  const reply = await call(owner, 'GET', '/api/history/csv?kind=offer')
  assert.equal(reply.statusCode, 200, reply.body)
  assert.match(String(reply.headers['content-type']), /^text\/csv/)
  const [row] = (await list(owner, 'kind=offer')).data
  assert.deepEqual(reply.body.split('\r\n'), [
    'id,created_at,act_id,kind,object_id,object_name,change,undoes_id,undone_by_id,cannot_undo',
    `${row?.id},${row?.created_at},${row?.act_id},offer,${row?.object_id},"'=1+1",created,,,`,
    '',
  ])
})

test('a tool is named with its AI host, by each message or by the connection', async () => {
  const owner = await seedSignedIn(house)
  const { secret: key } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  const clientInfo = { name: 'Claude Desktop', version: '1.2' }
  await send(house, key, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }, 'legacy')
  const offer = { name: 'By tool', url: 'https://o.example/' }
  await callTool(house, key, 'service_create_offer', offer, 'legacy')
  const [row] = (await list(owner)).data
  assert.deepEqual([row?.actor.kind, row?.actor.tool, row?.actor.host], ['key', 'service_create_offer', clientInfo])
  await callTool(house, key, 'service_create_offer', offer)
  assert.deepEqual((await list(owner)).data[0]?.actor.host, { name: 'test', version: '1' })
})

/** The state after all rows, and before them: `after` of the newest and `before` of the oldest row of each field. */
function replayBackwards(state: Map<string, Record<string, unknown>>, rows: readonly Row[]): void {
  for (const { object_id, change, fields } of rows) {
    if (change === 'created') state.delete(object_id)
    else {
      const object = state.get(object_id) ?? {}
      for (const { name, before: value } of fields) object[name] = value
      state.set(object_id, object)
    }
  }
}

test('two writers on one object leave rows in the order of their commits, each from what the other left', async () => {
  const owner = await seedSignedIn(house)
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  const id = await made(owner, '/api/offers', OFFER)
  const names = Array.from({ length: 40 }, (_, at) => `Name ${at}`)
  const replies = await Promise.all(
    names.map((name, at) => call(at % 2 === 0 ? owner : admin, 'PUT', `/api/offers/${id}`, { ...OFFER, name })),
  )
  assert.ok(replies.every(({ statusCode }) => statusCode === 200))
  const rows = (await list(owner, `id=${id}&limit=200`)).data.toReversed()
  assert.equal(rows.length, 41)
  for (const [at, { fields }] of rows.entries()) {
    if (at === 0) continue
    const name = (of: Row | undefined) => of?.fields.find(field => field.name === 'name')?.after
    assert.deepEqual(
      fields.map(field => [field.name, field.before]),
      [['name', name(rows[at - 1])]],
    )
  }
  const last = rows.at(-1)?.fields[0]?.after
  assert.equal((await call(owner, 'GET', `/api/offers/${id}`)).data()['name'], last)
})

test('of two views that become the start page at once, the history shows that the first was replaced', async () => {
  const owner = await seedSignedIn(house)
  const view = (is_start_page: boolean) =>
    made(owner, '/api/explore-views', {
      name: `V${is_start_page}`,
      question: { levels: [{ dimension: 'campaign' }] },
      is_shared: true,
      is_start_page,
    })
  const [first, one, other] = [await view(true), await view(false), await view(false)]
  const { worker } = house.database
  const heads = `insert into history_heads (org_id, bucket, at) select $1, n, '-infinity' from generate_series(0, 255) as n`
  await worker.query(`${heads} on conflict do nothing`, [owner.org_id])
  const choose = (id: string) => () => call(owner, 'PATCH', `/api/explore-views/${id}`, { is_start_page: true })
  const hold = `select from history_heads where org_id = ${owner.org_id} for update`
  for (const { statusCode } of await raceInto(house.database, hold, [choose(one), choose(other)]))
    assert.equal(statusCode, 200)
  const views = (await call(owner, 'GET', '/api/explore-views')).data()['data'] as {
    id: string
    is_start_page: boolean
  }[]
  for (const id of [first, one, other]) {
    const [newest] = (await list(owner, `kind=view&id=${id}`)).data
    const known = newest?.fields.find(({ name }) => name === 'is_start_page')?.after
    assert.equal(known, views.find(each => each.id === id)?.is_start_page, id)
  }
})

test('a key that moves to another workspace takes nothing of the first into its history', async () => {
  const owner = await seedSignedIn(house)
  const other = await seedSignedIn(house)
  await join(house, other, owner.user_id, 'owner')
  const offer_id = await made(owner, '/api/offers', OFFER)
  const campaign_id = await made(owner, '/api/campaigns', { name: 'Hidden', destination: { type: 'offer', offer_id } })
  const key = await made(owner, '/api/api-keys', { name: 'K' })
  const grant = { read: ['clicks'], write: [], delete: [] }
  const saved = async (organization_id: string, campaigns: string[] | null) => {
    const body = { ...grant, organization_id, campaigns }
    const reply = await call(owner, 'PUT', `/api/api-keys/${key}/grant`, body)
    assert.equal(reply.statusCode, 200, reply.body)
  }
  await saved(owner.organization_id, [campaign_id])
  await saved(other.organization_id, null)
  const { data } = await list(other, `kind=api_key&id=${key}`)
  assert.equal(data.length, 1)
  assert.equal(data[0]?.fields[0]?.before, null)
  assert.ok(!JSON.stringify(data).includes(campaign_id) && !JSON.stringify(data).includes(owner.organization_id))
  const [before] = (await list(owner, `kind=api_key&id=${key}`)).data
  const undone = await call(owner, 'POST', `/api/history/${before?.id}/undo`, {})
  assert.equal(undone.data()['code'], 'changed_since')
  assert.ok(!undone.body.includes(other.organization_id), undone.body)
})

test('the differences of many mixed writes by four actors, applied backwards, lead to the first state', async () => {
  const owner = await seedSignedIn(house)
  const actors: As[] = [owner, await seedSignedIn(house, { place: owner, role: 'admin' })]
  for (let at = 0; at < 2; at += 1)
    actors.push({ key: (await seedKey(house.database, owner, { rights: ALL_RIGHTS })).secret })
  const offers: string[] = []
  const landings: string[] = []
  for (let at = 0; at < 5; at += 1) {
    offers.push(await made(owner, '/api/offers', { ...OFFER, name: `O${at}` }))
    landings.push(await made(owner, '/api/landings', { name: `L${at}`, url: 'https://l.example/' }))
  }
  const read = async () => {
    const state = new Map<string, Record<string, unknown>>()
    for (const [path, ids] of [
      ['offers', offers],
      ['landings', landings],
    ] as const)
      for (const id of ids) {
        const reply = await call(owner, 'GET', `/api/${path}/${id}`)
        if (reply.statusCode !== 200) continue
        const { updated_at: _, unknown_macros: __, campaigns: ___, ...fields } = reply.data()
        state.set(id, fields)
      }
    return state
  }
  const first = await read()
  const [mark] = (await list(owner, 'limit=1')).data
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * below)
  }
  const write = async (as: As) => {
    const offer = offers[random(offers.length)] ?? ''
    const landing = landings[random(landings.length)] ?? ''
    const what = random(10)
    if (what < 4)
      return call(as, 'PUT', `/api/offers/${offer}`, { ...OFFER, name: `N${random(9)}`, payout: String(random(5)) })
    if (what < 6)
      return call(as, 'PUT', `/api/offers/${offer}/status`, { status: random(2) === 0 ? 'active' : 'archived' })
    if (what < 8)
      return call(as, 'PUT', `/api/landings/${landing}`, { name: `M${random(9)}`, url: 'https://l.example/' })
    if (what < 9)
      return call(as, 'PUT', `/api/landings/${landing}/status`, { status: random(2) === 0 ? 'active' : 'archived' })
    // Refused: it leaves no row.
    return call(as, 'PUT', `/api/offers/${offer}`, { name: '' })
  }
  const writes = process.env['SLUICE_TEST_ALL'] ? 250 : 60
  const each = actors.map(async as => {
    for (let at = 0; at < writes; at += 1) await write(as)
  })
  await Promise.all(each)
  const state = await read()
  const rows: Row[] = []
  let cursor = ''
  do {
    const page = await list(owner, `limit=200${cursor}`)
    rows.push(...page.data)
    cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`
  } while (cursor !== '' && !rows.some(({ id }) => id === mark?.id))
  const since = rows.slice(
    0,
    rows.findIndex(({ id }) => id === mark?.id),
  )
  assert.ok(since.length > writes, String(since.length))
  replayBackwards(state, since)
  assert.deepEqual(state, first)
})
