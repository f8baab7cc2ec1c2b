import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Access, type Endpoint, rightOf } from '../src/contract/endpoint.ts'
import { ALL_RIGHTS, RIGHTS, rightsOf } from '../src/contract/rights.ts'
import { newId, useHouse, type TestHouse, toWireId } from './support/house.ts'
import { type SignedIn, seedSignedIn } from './support/people.ts'

const GOLDEN = join(import.meta.dirname, 'routes.golden.txt')
let house: TestHouse

before(async () => {
  house = await useHouse()
})
after(() => house.end())

function inWords(access: Access): string {
  if (access === 'anyone') return 'anyone'
  const right = access.session === undefined ? access.key : rightOf(access)
  return [access.session && `session:${access.session}`, right && `key:${right}`].filter(Boolean).join('  ')
}

test('the public surface changes only together with routes.golden.txt', () => {
  const lines = house.furnished.map(({ endpoint }) => {
    const { quota, once, visit, hosts, cors } = endpoint
    const shared = cors && 'any-origin'
    const marks = [quota && `quota:${quota}`, once && 'once', visit && 'visit', hosts && `${hosts}-host`, shared]
    return [endpoint.route.padEnd(44), inWords(endpoint.access), ...marks].filter(Boolean).join('  ').trimEnd()
  })
  const surface = `${lines.toSorted((a, b) => (a.slice(a.indexOf('/')) < b.slice(b.indexOf('/')) ? -1 : 1)).join('\n')}\n`
  if (process.env['UPDATE_GOLDEN']) writeFileSync(GOLDEN, surface)
  assert.equal(surface, readFileSync(GOLDEN, 'utf8'), 'run with UPDATE_GOLDEN=1 when the change is meant')
})

/** Without `cors`: the script of pages, reports of Telegram's Mini Apps, and images at the paths of reports, whose preflights are answered. */
const READ_BY_ANY = ['GET /k/:click.gif', 'GET /sluice.js', 'GET /v/:key.gif', 'POST /m/:bot']

test('only these endpoints tell browsers anything about other origins', async () => {
  const told: string[] = []
  const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
  for (const { route } of house.furnished.map(({ endpoint }) => endpoint as Endpoint)) {
    const [method, path] = route.split(' ') as ['GET' | 'POST', string]
    const url = path.replaceAll(/:\w+/g, toWireId(newId()))
    const replies = [await house.call('OPTIONS', url, { headers }), await house.call(method, url, { headers })]
    const names = replies.flatMap(reply => Object.keys(reply.headers))
    if (names.some(name => name.startsWith('access-control-'))) told.push(route)
    assert.ok(!names.includes('access-control-allow-credentials'), route)
  }
  const declared = house.furnished.filter(({ endpoint }) => endpoint.cors !== undefined)
  const expected = [...declared.map(({ endpoint }) => endpoint.route as string), ...READ_BY_ANY]
  assert.deepEqual(told.toSorted(), expected.toSorted())
})

/** The writes of a member's session: the person's own things. */
const MEMBERS_OWN = [
  'DELETE /api/api-keys/:id',
  'DELETE /api/api-keys/:id/grant',
  'DELETE /api/avatar',
  'DELETE /api/explore-views/:id',
  'DELETE /api/members/:id',
  'DELETE /api/sessions/:id',
  'PATCH /api/api-keys/:id',
  'PATCH /api/explore-views/:id',
  'POST /api/api-keys',
  'POST /api/connections',
  'POST /api/explore-views',
  // It asks for the role of the write that it makes.
  'POST /api/history/:id/undo',
  'POST /api/invitation-links/:secret/accept',
  'POST /api/organizations',
  'POST /api/organizations/:id/activate',
  'PUT /api/api-keys/:id/grant',
  'PUT /api/avatar',
  'PUT /api/preferences',
]

/** POST routes that change nothing. */
const QUESTIONS = [
  'POST /api/broadcasts/audience',
  'POST /api/campaigns/:id/try-link',
  'POST /api/campaigns/csv',
  'POST /api/click-flows/:id/try',
  'POST /api/click-flows/csv',
  'POST /api/explore',
  'POST /api/explore/csv',
  'POST /api/funnels/csv',
  'POST /api/landings/csv',
  'POST /api/landings/preview',
  'POST /api/networks/:id/try',
  'POST /api/offers/csv',
  'POST /api/offers/preview',
  'POST /api/postbacks/csv',
  'POST /api/subscribers/csv',
  'POST /api/traffic-sources/csv',
  'POST /api/split-tests/figures',
]

/** Routes without a role: for visitors, networks, Telegram, sign-in, or keys only. */
const WITHOUT_ROLE = [
  'POST /api/auth/*',
  'POST /api/mcp',
  'POST /mcp',
  'POST /api/setup',
  'POST /hooks/telegram/:bot',
  'POST /k/:click',
  'POST /l/:click',
  'POST /m/:bot',
  'POST /oauth/register',
  'POST /oauth/revoke',
  'POST /oauth/token',
  'POST /postback/:token',
  'POST /v/:key',
]

/** Calls every writing route with an empty body and unknown ids, and sorts the routes by whether the role is refused. */
async function tryWrites({ cookie }: SignedIn, organization_id = newId()) {
  const refused: string[] = []
  const open: string[] = []
  for (const { route } of house.furnished.map(({ endpoint }) => endpoint as Endpoint)) {
    const [method, path] = route.split(' ') as ['GET' | 'POST', string]
    if (method === 'GET' || WITHOUT_ROLE.includes(route)) continue
    // The role in a workspace is read with its id.
    const id = path.startsWith('/api/organizations/') ? organization_id : newId()
    const reply = await house.call(method, path.replaceAll(/:\w+/g, toWireId(id)), { cookie, body: {} })
    const isRefused = reply.statusCode === 403 && reply.data()['code'] === 'role_forbidden'
    ;(isRefused ? refused : open).push(route)
  }
  return { refused: refused.toSorted(), open: open.toSorted() }
}

test('a member’s session can write the person’s own things and ask questions, and is refused every other write', async () => {
  const owner = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const { refused, open } = await tryWrites(member, owner.organization_id)
  assert.deepEqual(open, [...MEMBERS_OWN, ...QUESTIONS].toSorted())
  assert.ok(refused.includes('POST /api/events'))
})

test('an admin’s session is refused only what owners may do, and an owner’s nothing', async () => {
  const owner = await seedSignedIn(house)
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  assert.deepEqual((await tryWrites(admin, owner.organization_id)).refused, [
    'DELETE /api/organizations/:id',
    'PATCH /api/organizations/:id',
    'POST /api/backups',
    'POST /api/billing/adjustments',
    'POST /api/billing/top-ups',
    'POST /api/organizations/:id/restore',
    'PUT /api/billing/hold-when-empty',
    'PUT /api/billing/low-balance',
    'PUT /api/billing/price-per-person',
  ])
  assert.deepEqual((await tryWrites(owner)).refused, [])
})

test('a member’s writes change nothing of the workspace or of somebody else', async () => {
  const owner = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const as = (person: SignedIn, method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, body?: object) =>
    house.call(method, url, { cookie: person.cookie, ...(body && { body }) })
  const idOf = async (person: SignedIn, url: string, body: object) => {
    const made = await as(person, 'POST', url, body)
    assert.equal(made.statusCode, 201, made.body)
    return String(made.data()['id'])
  }
  const draft = { name: 'View', question: { levels: [{ dimension: 'geo' }] }, is_shared: true }
  const view = await idOf(owner, '/api/explore-views', draft)
  const theirs = await idOf(owner, '/api/api-keys', { name: 'The owner’s' })
  const own = await idOf(member, '/api/api-keys', { name: 'The member’s' })
  const members = (await as(owner, 'GET', '/api/members')).json<{ data: { id: string; is_you: boolean }[] }>().data
  const ownerId = members.find(({ is_you }) => is_you)?.id
  const organization_id = toWireId(owner.organization_id)
  const grant = { organization_id, write: ['events'] }
  const tries = [
    await as(member, 'DELETE', `/api/members/${ownerId}`),
    await as(member, 'POST', '/api/explore-views', draft),
    await as(member, 'PATCH', `/api/explore-views/${view}`, { name: 'Mine' }),
    await as(member, 'DELETE', `/api/explore-views/${view}`),
    await as(member, 'PUT', `/api/api-keys/${own}/grant`, grant),
    await as(member, 'PUT', `/api/api-keys/${theirs}/grant`, grant),
    await as(member, 'PATCH', `/api/api-keys/${theirs}`, { enabled: false }),
    await as(member, 'DELETE', `/api/api-keys/${theirs}`),
  ]
  assert.deepEqual(
    tries.map(reply => [reply.statusCode, reply.data()['code']]),
    [...Array(5).fill([403, 'role_forbidden']), ...Array(3).fill([404, 'not_found'])],
  )
})

test('there are 26 rights: 2 to read, 9 to write, 15 final; 15 take a campaign list', () => {
  assert.equal(ALL_RIGHTS.length, 26)
  assert.deepEqual([rightsOf('read').length, rightsOf('write').length, rightsOf('delete').length], [2, 9, 15])
  const narrowed = ALL_RIGHTS.filter(slug => RIGHTS[slug].reach === 'campaigns')
  assert.equal(narrowed.length, 15)
})

test('a route without a declaration keeps the server from starting', () => {
  assert.throws(() => house.app.get('/undeclared', () => 'hello'), /already listening|no endpoint/)
})

test('the API document has every route and needs no network', async () => {
  const document = (await house.call('GET', '/api/openapi.json')).data() as { paths: Record<string, object> }
  const declared = house.furnished.flatMap(({ endpoint }) => Object.values(endpoint.parts ?? { endpoint }))
  for (const endpoint of declared) {
    const [method = '', path = ''] = endpoint.route.split(' ')
    const place = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]
    assert.ok(place !== undefined && method.toLowerCase() in place, endpoint.route)
  }
  assert.ok(!JSON.stringify(document).includes('#/$defs/'))
  const page = await house.call('GET', '/api/docs')
  assert.equal(page.statusCode, 200)
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'/)
  assert.doesNotMatch(page.body, /https?:\/\//)
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'start.js'])
    assert.equal((await house.call('GET', `/api/docs/${file}`)).statusCode, 200, file)
})
