// Pausing, archiving and deleting campaigns, as their visitors and their people see it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, openTestHouse, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'
import type { Right } from '../../contract/rights.ts'

let house: TestHouse
let owner: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
})
after(() => house.end())

type As = { cookie?: string; key?: string }
const URL_OF = 'https://shop.example/?c={click_id}'
const FALLBACK = 'https://back.example/?c={click_id}'

async function made(fields: object = {}, as: As = owner) {
  const body = { name: 'Spring', destination: { type: 'redirect', url: URL_OF }, ...fields }
  const reply = await house.call('POST', '/api/campaigns', { ...as, body })
  assert.equal(reply.statusCode, 201, reply.body)
  return reply.json<{ id: string; key: string; status: string }>()
}
const turn = (id: string, status: unknown, as: As = owner) =>
  house.call('PUT', `/api/campaigns/${id}/status`, { ...as, body: { status } })
const remove = (id: string, as: As = owner) => house.call('DELETE', `/api/campaigns/${id}`, as)
const read = async (id: string) => (await house.call('GET', `/api/campaigns/${id}`, owner)).data()
const whilePaused = (id: string, as: As = owner) => house.call('GET', `/api/campaigns/${id}/clicks-while-paused`, as)
const visit = (key: string, headers: Record<string, string> = {}, query = '') =>
  house.call('GET', `/c/${key}${query}`, { headers: { ...BROWSER, ...headers } })
const clickOf = (location: unknown) => new URL(String(location)).searchParams.get('c') ?? ''
const keyWith = async (...rights: Right[]) => ({ key: (await seedKey(house.database, owner, { rights })).secret })

async function clicksOf(id: string) {
  const { rows } = await house.database.reads.query<{ tracked: number; untracked: number }>(
    `select count(*) filter (where tracked)::int as tracked, count(*) filter (where not tracked)::int as untracked
     from clicks where org_id = $1 and campaign_id = $2`,
    [owner.org_id, toUuid(id)],
  )
  return rows[0]
}

async function counted(id: string): Promise<number> {
  const at = (ms: number) => new Date(Date.now() + ms).toISOString()
  const query = `dimension=campaign&date_from=${at(-3_600_000)}&date_to=${at(3_600_000)}&campaign_id=${id}`
  const { rows } = (await house.call('GET', `/api/report?${query}`, owner)).json<{ rows: { clicks: number }[] }>()
  return rows[0]?.clicks ?? 0
}

const holds = async () =>
  assert.equal((await house.call('GET', '/api/billing/reconciliation', owner)).data()['holds'], true)

test('a paused or archived campaign sends visitors to its fallback, stored untracked and counted apart', async () => {
  const { id, key, status } = await made({ fallback_url: FALLBACK })
  assert.equal(status, 'active')
  await visit(key)
  for (const [at, state] of ['paused', 'archived'].entries()) {
    assert.equal((await turn(id, state)).data()['status'], state)
    assert.equal((await read(id))['status'], state)
    const { statusCode, headers } = await visit(key)
    assert.deepEqual([statusCode, new URL(String(headers.location)).host], [302, 'back.example'])
    assert.deepEqual(await clicksOf(id), { tracked: 1, untracked: at + 1 })
    assert.equal((await whilePaused(id)).data()['clicks'], at + 1)
  }
  assert.equal((await turn(id, 'active')).statusCode, 200)
  assert.equal(new URL(String((await visit(key)).headers.location)).host, 'shop.example')
  assert.deepEqual(await clicksOf(id), { tracked: 2, untracked: 2 })
  assert.equal(await counted(id), 2)
  const { clicks, last_at } = (await whilePaused(id)).data()
  assert.equal(clicks, 2)
  assert.match(String(last_at), /^\d{4}-.*Z$/)
  await holds()
})

test('without a fallback a page says that the offer is closed, and no search engine keeps it', async () => {
  const { id, key } = await made()
  await turn(id, 'paused')
  const page = await visit(key)
  assert.deepEqual(
    [page.statusCode, page.headers['x-robots-tag'], page.headers['cache-control'], page.headers.location],
    [200, 'noindex', 'no-store', undefined],
  )
  assert.match(page.body, /This offer is closed/)
  const head = await house.call('HEAD' as 'GET', `/c/${key}`, { headers: BROWSER })
  assert.equal(head.statusCode, 200)
  assert.deepEqual(await clicksOf(id), { tracked: 0, untracked: 1 })
})

test('bots and tests are not among the clicks while paused', async () => {
  const { id, key } = await made({ fallback_url: FALLBACK })
  await turn(id, 'paused')
  await visit(key, { 'user-agent': 'facebookexternalhit/1.1' })
  await visit(key, { 'sec-purpose': 'prefetch' })
  const link = String((await house.call('GET', `/api/campaigns/${id}/test-link`, owner)).data()['url'])
  const { pathname, search } = new URL(link, 'http://localhost')
  await house.call('GET', pathname + search, { headers: BROWSER })
  assert.deepEqual(await clicksOf(id), { tracked: 0, untracked: 3 })
  assert.deepEqual((await whilePaused(id)).data(), { clicks: 0, last_at: null })
})

test('a conversion counts for an earlier click as ever, and proves a click made while paused', async () => {
  const offer = await house.call('POST', '/api/offers', { ...owner, body: { name: 'O', url: URL_OF, payout: '5' } })
  const destination = { type: 'offer', offer_id: offer.data()['id'] }
  const { id, key } = await made({ destination, fallback_url: FALLBACK })
  const earlier = clickOf((await visit(key)).headers.location)
  await turn(id, 'paused')
  const meanwhile = clickOf((await visit(key)).headers.location)
  const convert = async (clickId: string) => {
    const reply = await house.call('POST', '/api/events', { ...owner, body: { clickId, type: 'lead' } })
    assert.equal(reply.statusCode, 201, reply.body)
    return reply.data()['payout']
  }
  assert.equal(await convert(earlier), '5')
  assert.equal(await counted(id), 1)
  // It went to the fallback: there is no offer to earn for.
  assert.equal(await convert(meanwhile), null)
  assert.equal(await counted(id), 2)
  assert.deepEqual(await clicksOf(id), { tracked: 2, untracked: 0 })
  assert.equal((await whilePaused(id)).data()['clicks'], 1)
  const traced = (await house.call('GET', `/api/clicks/${meanwhile}/trace`, owner)).data()['click']
  assert.deepEqual(
    [(traced as Record<string, unknown>)['path'], (traced as Record<string, unknown>)['while_paused']],
    [null, true],
  )
  await holds()
})

test('of visits that race with a pause each is either counted and led on, or neither', async () => {
  const { id, key } = await made({ fallback_url: FALLBACK })
  const hosts: string[] = []
  const crowd = async () => {
    for (let n = 0; n < 15; n += 1) hosts.push(new URL(String((await visit(key)).headers.location)).host)
  }
  const states = ['paused', 'active', 'archived', 'active', 'paused']
  await Promise.all([
    ...Array.from({ length: 8 }, crowd),
    (async () => {
      for (const state of states) assert.equal((await turn(id, state)).statusCode, 200)
      // From the answer on nobody is led there.
      assert.equal(new URL(String((await visit(key)).headers.location)).host, 'back.example')
      hosts.push('back.example')
    })(),
  ])
  const led = hosts.filter(host => host === 'shop.example').length
  assert.deepEqual(await clicksOf(id), { tracked: led, untracked: hosts.length - led })
  assert.equal((await whilePaused(id)).data()['clicks'], hosts.length - led)
  assert.equal(await counted(id), led)
  await holds()
})

test('other processes pause with this one', async t => {
  const { id, key } = await made({ fallback_url: FALLBACK })
  const second = await openTestHouse(house.database, {})
  t.after(() => second.close())
  const hostThere = async () =>
    new URL(String((await second.call('GET', `/c/${key}`, { headers: BROWSER })).headers.location)).host
  assert.equal(await hostThere(), 'shop.example')
  await turn(id, 'paused')
  await eventually('the pause', async () => (await hostThere()) === 'back.example')
})

test('a person deletes from the archive only; then the fallback takes visitors, and without one nothing is there', async () => {
  for (const fallback_url of [FALLBACK, null]) {
    const { id, key } = await made({ fallback_url })
    for (const state of ['active', 'paused']) {
      await turn(id, state)
      const no = await remove(id)
      assert.deepEqual([no.statusCode, no.data()['code']], [409, 'campaign_not_archived'])
      assert.equal((await read(id))['status'], state)
    }
    await turn(id, 'archived')
    assert.equal((await remove(id)).statusCode, 200)
    assert.equal((await visit(key)).statusCode, fallback_url === null ? 404 : 302)
    assert.equal((await turn(id, 'active')).statusCode, 404)
    assert.equal((await remove(id)).statusCode, 404)
  }
})

test("a key's right deletes whatever the status, and sets none", async () => {
  const { id } = await made()
  const key = await keyWith('campaigns', 'campaigns:update', 'campaigns:delete')
  for (const reply of [await turn(id, 'paused', key), await whilePaused(id, key)])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'api_key_resource_forbidden'])
  // Nor does a change say it by the way.
  await house.call('PATCH', `/api/campaigns/${id}`, { ...key, body: { status: 'paused' } })
  assert.equal((await read(id))['status'], 'active')
  assert.equal((await remove(id, key)).statusCode, 200)
})

test('of a deletion and a return from the archive at once one is refused, and nothing is left between', async () => {
  for (let n = 0; n < 10; n += 1) {
    const { id } = await made()
    await turn(id, 'archived')
    const [back, gone] = await Promise.all([turn(id, 'active'), remove(id)])
    const isDeleted = (await house.call('GET', `/api/campaigns/${id}`, owner)).statusCode === 404
    if (isDeleted) assert.equal(gone.statusCode, 200)
    else assert.deepEqual([back.statusCode, gone.statusCode], [200, 409])
  }
})

test('what is no status, not there, or not theirs is refused and changes nothing', async () => {
  const { id } = await made()
  const stranger = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  for (const status of ['stopped', null, 7, undefined]) assert.equal((await turn(id, status)).statusCode, 400)
  for (const [reply, code] of [
    [await turn(id, 'paused', { cookie: stranger.cookie }), 404],
    [await whilePaused(id, { cookie: stranger.cookie }), 404],
    [await turn(toWireId(newId()), 'paused'), 404],
    [await turn('nonsense', 'paused'), 404],
    [await turn(id, 'paused', { cookie: member.cookie }), 403],
  ] as const)
    assert.equal(reply.statusCode, code, reply.body)
  assert.equal((await read(id))['status'], 'active')
})

test('the list leaves archived ones out unless it is asked for them', async () => {
  const lister = await seedSignedIn(house)
  const as = { cookie: lister.cookie }
  const ids: Record<string, string> = {}
  for (const state of ['active', 'paused', 'archived']) {
    const { id } = await made({ name: state }, as)
    ids[state] = id
    assert.equal((await turn(id, state, as)).statusCode, 200)
  }
  const listed = async (query: string) =>
    (await house.call('GET', `/api/campaigns?${query}`, as))
      .json<{ data: { name: string }[] }>()
      .data.map(({ name }) => name)
  assert.deepEqual(await listed(''), ['paused', 'active'])
  assert.deepEqual(await listed('status=all'), ['archived', 'paused', 'active'])
  for (const state of Object.keys(ids)) assert.deepEqual(await listed(`status=${state}`), [state])
  assert.equal((await house.call('GET', '/api/campaigns?status=closed', as)).statusCode, 400)
})
