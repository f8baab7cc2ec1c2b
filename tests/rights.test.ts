// Every right against every route, in every state of a key. The table is written by hand, and the declarations in the code
// must agree with it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Endpoint } from '../src/contract/endpoint.ts'
import { ALL_RIGHTS, RIGHTS, type Right } from '../src/contract/rights.ts'
import {
  newId,
  type SeededOrganization,
  seedKey,
  seedOrganization,
  startHouse,
  type TestHouse,
  toWireId,
} from './support/house.ts'

type Row = { tier: 'read' | 'write' | 'delete'; takesCampaigns: boolean; route: string }
const row = (tier: Row['tier'], takesCampaigns: boolean, route: string): Row => ({ tier, takesCampaigns, route })

const TABLE: Record<Right, Row> = {
  report: row('read', true, 'GET /api/v1/report'),
  clicks: row('read', true, 'GET /api/v1/clicks'),
  campaigns: row('write', true, 'POST /api/campaigns'),
  offers: row('write', false, 'POST /api/offers'),
  'offers:status': row('write', false, 'PUT /api/offers/:id/status'),
  landings: row('write', false, 'POST /api/landings'),
  'landings:status': row('write', false, 'PUT /api/landings/:id/status'),
  funnels: row('write', false, 'POST /api/funnels'),
  'click-flows': row('write', true, 'POST /api/click-flows'),
  'click-flows:status': row('write', true, 'PUT /api/click-flows/:id/status'),
  events: row('write', true, 'POST /api/events'),
  'campaigns:update': row('delete', true, 'PATCH /api/campaigns/:id'),
  'campaigns:delete': row('delete', true, 'DELETE /api/campaigns/:id'),
  'offers:update': row('delete', false, 'PUT /api/offers/:id'),
  'offers:delete': row('delete', false, 'DELETE /api/offers/:id'),
  'landings:update': row('delete', false, 'PUT /api/landings/:id'),
  'landings:delete': row('delete', false, 'DELETE /api/landings/:id'),
  'funnels:update': row('delete', false, 'PATCH /api/funnels/:id'),
  'funnels:delete': row('delete', true, 'DELETE /api/funnels/:id'),
  'click-flows:update': row('delete', false, 'PUT /api/click-flows/:id'),
  'click-flows:delete': row('delete', true, 'DELETE /api/click-flows/:id'),
  'click-flows:publish': row('delete', true, 'POST /api/click-flows/:id/publish'),
  postbacks: row('delete', true, 'POST /api/postbacks'),
  'postbacks:update': row('delete', true, 'PATCH /api/postbacks/:id'),
  'postbacks:delete': row('delete', true, 'DELETE /api/postbacks/:id'),
  'ad-spend': row('delete', true, 'PUT /api/ad-spend'),
}
const rightOfRoute = new Map(Object.entries(TABLE).map(([right, { route }]) => [route, right as Right]))

/** Open to every valid key or connection, with any rights; they have their own tests. */
const TOOLS = ['POST /api/mcp', 'POST /mcp']

const UNREACHED = 1_000_000
let house: TestHouse
let place: SeededOrganization

before(async () => {
  house = await startHouse(
    {},
    { quotas: { events: UNREACHED, clicks: UNREACHED, report: UNREACHED, writes: UNREACHED } },
  )
  place = await seedOrganization(house.database)
})
after(() => house.end())

/** The routes that a key could be tried on: all under /api that are not open to anyone. */
function guardedRoutes(): string[] {
  return house.furnished
    .map(({ endpoint }) => endpoint as Endpoint)
    .filter(({ access, route }) => access !== 'anyone' && !TOOLS.includes(route))
    .map(({ route }) => route)
}

/** The answer of a route to a key with an empty request: the refusal's status and code, or that the key was let in. */
async function tried(route: string, key: string): Promise<string> {
  const [method, path] = route.split(' ') as ['GET', string]
  const url = path.replaceAll(/:\w+/g, toWireId(newId()))
  const reply = await house.call(method, url, { key, ...(method === 'GET' ? {} : { body: {} }) })
  const { code } = reply.json<{ code?: string }>()
  const isRefused = [401, 403].includes(reply.statusCode) || code === 'org_deleted'
  return isRefused ? `${reply.statusCode} ${code ?? 'without a code'}` : 'let in'
}

/** Tries every route, or these, and compares the answers with the expected ones. */
async function tryAll(
  key: string,
  expected: (route: string, needed: Right | undefined) => string,
  routes: Iterable<string> = guardedRoutes(),
): Promise<void> {
  const wanted: Record<string, string> = {}
  const found: Record<string, string> = {}
  for (const route of routes) {
    wanted[route] = expected(route, rightOfRoute.get(route))
    found[route] = await tried(route, key)
  }
  assert.deepEqual(found, wanted)
}

const RESOURCE = '403 api_key_resource_forbidden'
const ungranted = (right: Right) => `403 api_key_${TABLE[right].tier}_not_granted`
const unlessHeld = (held: readonly Right[]) => (_route: string, needed: Right | undefined) =>
  needed === undefined ? RESOURCE : held.includes(needed) ? 'let in' : ungranted(needed)

test('rights are declared as in the contract: each with its tier, its scope and its one route', () => {
  const declared = Object.fromEntries(
    ALL_RIGHTS.map(right => {
      const routes = house.furnished
        .map(({ endpoint }) => endpoint as Endpoint)
        .filter(({ access }) => access !== 'anyone' && 'key' in access && access.key === right)
        .map(({ route }) => route)
      return [right, row(RIGHTS[right].tier, RIGHTS[right].reach === 'campaigns', routes.join(', '))]
    }),
  )
  assert.deepEqual(declared, TABLE)
})

test('a fresh key can report conversions and nothing else', async () => {
  const { secret } = await seedKey(house.database, place)
  await tryAll(secret, unlessHeld(['events']))
})

test('an emptied key can do nothing, not even what a fresh one can', async () => {
  const { secret } = await seedKey(house.database, place, { rights: [] })
  await tryAll(secret, unlessHeld([]))
})

test('all rights together open their routes and no others', async () => {
  const { secret } = await seedKey(house.database, place, { rights: ALL_RIGHTS })
  await tryAll(secret, unlessHeld(ALL_RIGHTS))
})

for (const right of ALL_RIGHTS)
  test(`of the routes that take a right, the right "${right}" opens its own alone`, async () => {
    const { secret } = await seedKey(house.database, place, { rights: [right] })
    await tryAll(secret, unlessHeld([right]), rightOfRoute.keys())
  })

test('a campaign list removes no right and adds none', async () => {
  const held = ALL_RIGHTS.filter(right => TABLE[right].takesCampaigns)
  const { secret } = await seedKey(house.database, place, { rights: held, campaigns: [newId()] })
  await tryAll(secret, unlessHeld(held))
})

test('a revoked, a disabled and an expired key are refused everywhere, with any rights', async () => {
  const past = new Date(Date.now() - 1000).toISOString()
  for (const change of [{ revoked_at: past }, { enabled: false }, { expires_at: past }]) {
    const { secret, key_id } = await seedKey(house.database, place, { rights: ALL_RIGHTS })
    await house.database.kysely.updateTable('api_keys').set(change).where('id', '=', key_id).execute()
    const isRead = (route: string) => route.startsWith('GET /api/v1/')
    const codes = new Map<string, string>()
    for (const route of guardedRoutes()) {
      const answer = await tried(route, secret)
      assert.match(answer, /^401 /, route)
      codes.set(isRead(route) ? 'reads' : route === TABLE.events.route ? 'events' : 'others', answer)
    }
    assert.equal(codes.get('reads'), '401 unauthorized')
    assert.equal(codes.get('events'), '401 without a code')
  }
})

test('a key of a deleted organization is told so on every route it may use', async () => {
  const gone = await seedOrganization(house.database)
  const deleted_at = new Date().toISOString()
  await house.database.kysely
    .updateTable('organizations')
    .set({ deleted_at })
    .where('org_id', '=', gone.org_id)
    .execute()
  for (const rights of [ALL_RIGHTS, [], undefined]) {
    const { secret } = await seedKey(house.database, gone, rights === undefined ? {} : { rights })
    await tryAll(secret, (_route, needed) => (needed === undefined ? RESOURCE : '409 org_deleted'))
  }
})

test('a key whose owner is a member can do nothing; one from before 2 September 2026 can still report conversions', async () => {
  const lowered = await seedOrganization(house.database, { role: 'member' })
  const refused = (_route: string, needed: Right | undefined) =>
    needed === undefined ? RESOURCE : '403 role_forbidden'
  const later = await seedKey(house.database, lowered, { rights: ALL_RIGHTS, issued_at: '2026-09-02T00:00:00Z' })
  await tryAll(later.secret, refused)
  const earlier = await seedKey(house.database, lowered, { rights: ALL_RIGHTS, issued_at: '2026-09-01T23:59:59Z' })
  await tryAll(earlier.secret, (route, needed) => (needed === 'events' ? 'let in' : refused(route, needed)))
})

test('a key whose owner has left the organization can do nothing there', async () => {
  const left = await seedOrganization(house.database)
  const { secret } = await seedKey(house.database, left, { rights: ALL_RIGHTS })
  await house.database.kysely.deleteFrom('members').where('org_id', '=', left.org_id).execute()
  await tryAll(secret, (_route, needed) => (needed === undefined ? RESOURCE : '403 api_key_org_not_member'))
})

test('a grant without an organization, or with an unknown right, opens nothing', async () => {
  for (const broken of [{ org_id: null }, { write: ['everything'] }, { write: ['ad-spend'] }]) {
    const { secret, key_id } = await seedKey(house.database, place, { rights: ALL_RIGHTS })
    await house.database.kysely.updateTable('api_key_grants').set(broken).where('key_id', '=', key_id).execute()
    await tryAll(secret, (_route, needed) => (needed === undefined ? RESOURCE : '403 api_key_grant_unverifiable'))
  }
})
