import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { useDatabase } from '../../../tests/support/database.ts'
import { recount, seedCampaign, startTraffic } from '../../../tests/support/visits.ts'
import { newId, toUuid, toWireId } from '../../contract/ids.ts'
import { announceChange, announceOrganization } from '../../traffic/campaigns/live.ts'
import { organizationOfClick } from './click-id.ts'
import { testToken } from './test-visits.ts'

const { database } = await useDatabase()
const traffic = await startTraffic(database, { BASE_URL: 'https://track.example', TRUST_PROXY: '127.0.0.1' })
after(() => traffic.close())

let organizations = 0

type Fields = Parameters<typeof seedCampaign>[2]

/** A new organization with one campaign, served at once. */
async function campaign(fields: Fields = {}) {
  const org_id = ++organizations
  await database.kysely
    .insertInto('organizations')
    .values({ org_id, id: newId(), name: 'Acme', created_at: new Date().toISOString() })
    .execute()
  const seeded = await seedCampaign(database, org_id, fields)
  await announceChange(database.kysely, org_id, seeded.id)
  return seeded
}

const locationOf = ({ headers }: LightMyRequestResponse): URL => new URL(String(headers['location']))
const idOf = (answer: LightMyRequestResponse): string => locationOf(answer).searchParams.get('c') ?? ''

async function rowOf(org_id: number, wire_id: string) {
  const { rows } = await database.reads.query<Record<string, unknown>>(
    "select *, encode(ip_hash, 'hex') as ip_hash from clicks where org_id = $1 and id = $2",
    [org_id, toUuid(wire_id)],
  )
  return rows[0]
}

const redirectTo = (url: string) => ({ destination: { type: 'redirect', url } })

test('a visit is stored before its redirect, with all it brought, under the id in the address', async () => {
  const offer_id = newId()
  const { org_id, id, key } = await campaign({
    ...redirectTo(
      'https://offer.example/a?c={click_id}&s={sub1}&r={ref_id}&g={geo}&d={device}&o={os}&b={browser}&cp={campaign_id}&of={offer_id}&x={foo}',
    ),
    offer_id,
    source: { ref_id: 'clickid' },
  })
  const answer = await traffic.visit(`/c/${key}?sub1=a%26b&sub2={macro}&clickid=src-1&fbclid=IwAR0`, {
    'x-forwarded-for': '8.8.8.8',
  })
  assert.equal(answer.statusCode, 302)
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal(answer.headers['referrer-policy'], 'strict-origin-when-cross-origin')
  assert.equal(answer.body, '')
  const click_id = idOf(answer)
  assert.equal(organizationOfClick(traffic.ground.secrets.clickKey, toUuid(click_id) ?? ''), org_id)
  assert.equal(
    answer.headers['location'],
    `https://offer.example/a?c=${click_id}&s=a%26b&r=src-1&g=US&d=mobile&o=Android&b=Chrome&cp=${toWireId(id)}&of=${toWireId(offer_id)}&x=`,
  )
  const row = await rowOf(org_id, click_id)
  assert.match(String(row?.['ip_hash']), /^[0-9a-f]{32}$/)
  const expected = {
    campaign_id: id,
    offer_id,
    status: 0,
    stages: 1,
    tracked: true,
    test: false,
    revenue: null,
    geo: 'US',
    device: 'mobile',
    os: 'Android',
    browser: 'Chrome',
    platform: 'meta',
    ref_id: 'src-1',
    sub1: 'a&b',
    sub2: null,
    fbclid: 'IwAR0',
    gclid: null,
    visitor_is_new: true,
    ip_encrypted: null,
    suppressed_delivery: false,
  }
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map(name => [name, row?.[name]])), expected)
  assert.deepEqual(await recount(database, org_id), { clicks: 1, tracked: 1, counted: 1 })
})

test('a visitor keeps one id over visits; the cookie is for us alone and only over https', async () => {
  const { org_id, key } = await campaign()
  const first = await traffic.visit(`/c/${key}`)
  const cookie = String(first.headers['set-cookie'])
  assert.match(cookie, /^vis_id=[0-9a-f-]{36}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
  const second = await traffic.visit(`/c/${key}`, { cookie: cookie.split(';')[0] ?? '' })
  assert.equal(second.headers['set-cookie'], undefined)
  const [one, two] = [await rowOf(org_id, idOf(first)), await rowOf(org_id, idOf(second))]
  assert.equal(two?.['visitor_id'], one?.['visitor_id'])
  assert.deepEqual([one?.['visitor_is_new'], two?.['visitor_is_new']], [true, false])
})

test('crawlers, previews and prefetches are stored apart and redirected like everyone', async () => {
  const { org_id, key } = await campaign()
  const visits = [
    await traffic.visit(`/c/${key}`, { 'user-agent': 'facebookexternalhit/1.1' }),
    await traffic.visit(`/c/${key}`, { 'user-agent': 'TelegramBot (like TwitterBot)' }),
    await traffic.visit(`/c/${key}`, { 'sec-purpose': 'prefetch;prerender' }),
  ]
  for (const answer of visits) {
    assert.equal(answer.statusCode, 302)
    const row = await rowOf(org_id, idOf(answer))
    assert.deepEqual([row?.['tracked'], row?.['test'], row?.['suppressed_delivery']], [false, false, false])
  }
  // A prefetching browser gets a visitor id, a crawler none.
  assert.deepEqual(
    visits.map(answer => answer.headers['set-cookie'] !== undefined),
    [false, false, true],
  )
  assert.deepEqual(await recount(database, org_id), { clicks: 3, tracked: 0, counted: 0 })
})

test('HTTP libraries are visitors unless the campaign filters strictly', async () => {
  const lenient = await campaign()
  const strict = await campaign({ strict_filter: true })
  for (const { key } of [lenient, strict])
    assert.equal((await traffic.visit(`/c/${key}`, { 'user-agent': 'curl/8.5.0' })).statusCode, 302)
  assert.deepEqual(await recount(database, lenient.org_id), { clicks: 1, tracked: 1, counted: 1 })
  assert.deepEqual(await recount(database, strict.org_id), { clicks: 1, tracked: 0, counted: 0 })
})

test('HEAD redirects with an empty id and stores nothing', async () => {
  const { org_id, key } = await campaign(redirectTo('https://offer.example/?c={click_id}&s={sub1}'))
  const answer = await traffic.visit(`/c/${key}?sub1=x`, {}, 'HEAD')
  assert.equal(answer.statusCode, 302)
  assert.equal(answer.headers['location'], 'https://offer.example/?c=&s=x')
  assert.equal(answer.headers['set-cookie'], undefined)
  assert.deepEqual(await recount(database, org_id), { clicks: 0, tracked: 0, counted: 0 })
})

test("a test click needs the dashboard's token and counts nowhere", async () => {
  const { org_id, id, key } = await campaign()
  const token = testToken(traffic.ground.secrets, id)
  const marked = await rowOf(org_id, idOf(await traffic.visit(`/c/${key}?sub1=a&sluice_test=${token}&sub2=b`)))
  assert.deepEqual([marked?.['test'], marked?.['tracked'], marked?.['sub2']], [true, false, 'b'])
  for (const wrong of ['1', '', token.slice(1), testToken(traffic.ground.secrets, newId())]) {
    const row = await rowOf(org_id, idOf(await traffic.visit(`/c/${key}?sluice_test=${wrong}`)))
    assert.deepEqual([row?.['test'], row?.['tracked']], [false, true], wrong)
  }
  assert.deepEqual(await recount(database, org_id), { clicks: 5, tracked: 4, counted: 4 })
})

test('a key that no campaign has answers a plain 404', async () => {
  for (const key of [
    'no-such-key',
    'x'.repeat(300),
    '%00',
    '..%2f',
    'a b',
    '{key}',
    '%F0%9F%98%80',
    '__proto__',
    'constructor',
  ]) {
    const answer = await traffic.visit(`/c/${key}`)
    assert.equal(answer.statusCode, 404, key)
    assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(answer.body, 'This link leads nowhere.\n')
  }
})

test('a network that changes the case of the address loses no visitor', async () => {
  const { key } = await campaign({ key: 'spring-sale' })
  assert.equal((await traffic.visit(`/c/${key.toUpperCase()}`)).statusCode, 302)
})

test('a deleted campaign goes to its fallback and stores nothing; without one it leads nowhere', async () => {
  const deleted_at = new Date().toISOString()
  const one = await campaign({ deleted_at, fallback_url: 'https://fallback.example/?c={click_id}&s={sub1}' })
  const answer = await traffic.visit(`/c/${one.key}?sub1=x`)
  assert.equal(answer.statusCode, 302)
  assert.equal(answer.headers['location'], 'https://fallback.example/?c=&s=x')
  const two = await campaign({ deleted_at })
  assert.equal((await traffic.visit(`/c/${two.key}`)).statusCode, 404)
  for (const { org_id } of [one, two])
    assert.deepEqual(await recount(database, org_id), { clicks: 0, tracked: 0, counted: 0 })
})

test("a deleted organization's campaigns go to their fallbacks and store nothing until it is restored", async () => {
  const { org_id, key } = await campaign({ fallback_url: 'https://fallback.example/' })
  const set = async (deleted_at: string | null) => {
    await database.kysely.updateTable('organizations').set({ deleted_at }).where('org_id', '=', org_id).execute()
    await announceOrganization(database.kysely, org_id)
  }
  await set(new Date().toISOString())
  assert.equal(locationOf(await traffic.visit(`/c/${key}`)).host, 'fallback.example')
  assert.equal((await recount(database, org_id)).clicks, 0)
  await set(null)
  assert.equal(locationOf(await traffic.visit(`/c/${key}`)).host, 'offer.example')
  assert.equal((await recount(database, org_id)).clicks, 1)
})

test('a destination that takes no visitors sends them to the fallback, as clicks', async () => {
  const { org_id, key } = await campaign({
    destination: { type: 'funnel', funnel_id: newId() },
    fallback_url: 'https://fallback.example/?c={click_id}',
  })
  const answer = await traffic.visit(`/c/${key}`)
  assert.equal(locationOf(answer).host, 'fallback.example')
  assert.notEqual(await rowOf(org_id, idOf(answer)), undefined)
})

test('whatever the query holds, the visitor is redirected and the click is stored', async () => {
  const { org_id, key } = await campaign(redirectTo('https://offer.example/?c={click_id}&s={sub1}'))
  const queries = [
    'sub1=%00',
    'sub1=%',
    'sub1=%E4',
    'sub1=%ED%A0%80',
    'sub1=%zz&sub2=%u0041',
    '&&&===',
    '?',
    `sub1=${'ü'.repeat(2000)}`,
    'sub1=%0d%0aset-cookie:%20x=1',
    'sub1="><script>',
    "sub1='; drop table clicks; --",
    'sub1=\\',
    '__proto__=1&constructor=2',
    `fbclid=${'x'.repeat(4000)}`,
    'sub1=a&sub1=b&sub1[]=c',
    'sub1=%f0%9f%98%80',
    'sub1={"a":1},(),NULL',
  ]
  for (const query of queries) {
    const answer = await traffic.visit(`/c/${key}?${query}`, { 'user-agent': 'x\u00ff"\\', cookie: 'vis_id=%00' })
    assert.equal(answer.statusCode, 302, query)
    assert.match(String(answer.headers['location']), /^https:\/\/offer\.example\/\?c=[0-9a-z]{26}&s=[\x21-\x7e]*$/)
    assert.notEqual(await rowOf(org_id, idOf(answer)), undefined, query)
    assert.doesNotMatch(String(answer.headers['set-cookie']), /x=1/)
  }
  assert.deepEqual(await recount(database, org_id), {
    clicks: queries.length,
    tracked: queries.length,
    counted: queries.length,
  })
})
