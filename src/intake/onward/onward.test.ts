import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Script } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { useDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { startProxy } from '../../../tests/support/proxy.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { HOUR_MS } from '../../contract/days.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { connect } from '../../ground/db/connect.ts'
import { mintClickId } from '../clicks/click-id.ts'

let house: TestHouse
let owner: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
})
after(() => house.end())

const LANDING = 'https://landing.example/?click_id={click_id}'
const OFFER =
  'https://offer.example/?c={click_id}&s={sub1}&l={landing_id}&o={offer_id}&g={geo}&d={device}&t={timestamp}'

async function made(path: string, body: object, on: TestHouse = house, as: SignedIn = owner) {
  const reply = await on.call('POST', `/api/${path}`, { ...as, body })
  assert.equal(reply.statusCode, 201, reply.body)
  return reply.data()
}

/** A campaign whose funnel has one landing and one offer. */
async function aWay(fields: object = {}, on: TestHouse = house, as: SignedIn = owner) {
  const landing_id = String((await made('landings', { name: 'L', url: LANDING }, on, as))['id'])
  const offer_id = String((await made('offers', { name: 'O', url: OFFER }, on, as))['id'])
  const members = { landings: [{ landing_id, weight: 1 }], offers: [{ offer_id, weight: 1 }] }
  const funnel_id = String((await made('funnels', { name: 'F', ...members }, on, as))['id'])
  const destination = { type: 'funnel', funnel_id }
  const campaign = await made('campaigns', { name: 'C', destination, ...fields }, on, as)
  return { landing_id, offer_id, funnel_id, campaign_id: String(campaign['id']), key: String(campaign['key']) }
}

/** A visit of the landing page: the click id in its URL, and the cookies set. */
async function arrive(key: string, query = '', on: TestHouse = house) {
  const answer = await on.call('GET', `/c/${key}${query}`, { headers: BROWSER })
  assert.equal(answer.statusCode, 302, answer.body)
  const location = new URL(String(answer.headers.location))
  const cookies = [answer.headers['set-cookie'] ?? []].flat().map(String)
  return { id: location.searchParams.get('click_id') ?? '', location, cookies }
}

const go = (path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  house.call(method, path, { headers: { ...BROWSER, ...headers } })
const beacon = (id: string, headers: Record<string, string> = {}) =>
  house.call('POST', `/l/${id}`, { headers: { ...BROWSER, ...headers } })
const goesTo = async (path: string, headers: Record<string, string> = {}) =>
  new URL(String((await go(path, headers)).headers.location)).host

async function statusOf(id: string): Promise<number | undefined> {
  const { rows } = await house.database.reads.query<{ status: number }>('select status from clicks where id = $1', [
    toUuid(id),
  ])
  return rows[0]?.status
}

/** Waits until the click is raised: a visitor waits at most a second, and on a busy machine it happens later. */
const isLanded = (id: string) => eventually('the click has landed', async () => (await statusOf(id)) === 1)

const setStatus = (path: string, id: string, status: string) =>
  house.call('PUT', `/api/${path}/${id}/status`, { ...owner, body: { status } })

test("a click goes over its landing on to its offer, with the click's own values in the address", async () => {
  const { key, landing_id, offer_id } = await aWay()
  const { id, location } = await arrive(key, '?sub1=a%26b')
  assert.equal(location.host, 'landing.example')
  assert.equal(await statusOf(id), 0)
  const answer = await go(`/o/${id}`)
  assert.equal(answer.statusCode, 302)
  assert.equal(answer.headers['cache-control'], 'no-store')
  const to = new URL(String(answer.headers.location))
  const said = Object.fromEntries(to.searchParams)
  assert.deepEqual([said['c'], said['s'], said['l'], said['o'], said['d']], [id, 'a&b', landing_id, offer_id, 'mobile'])
  assert.equal(
    Number(said['t']),
    Math.floor(Number.parseInt((toUuid(id) ?? '').replace('-', '').slice(0, 12), 16) / 1000),
  )
  await isLanded(id)
})

test('the beacon raises a click to landed, once, and writes no event', async () => {
  const { key, campaign_id } = await aWay()
  const { id } = await arrive(key)
  for (let times = 0; times < 3; times += 1) assert.equal((await beacon(id)).statusCode, 204)
  await isLanded(id)
  const { rows } = await house.database.reads.query<{ landed: number }>(
    `select coalesce(sum(landed), 0)::int as landed from
      (select landed, campaign_id from report_delta where org_id = $1
       union all select landed, campaign_id from report_day where org_id = $1 and dimension = 1) as counted
     where campaign_id = $2`,
    [owner.org_id, toUuid(campaign_id)],
  )
  assert.equal(rows[0]?.landed, 1)
  const events = await house.database.reads.query('select from events where org_id = $1', [owner.org_id])
  assert.equal(events.rows.length, 0)
})

test('a beacon may carry whatever a page puts into one', async () => {
  const { key } = await aWay()
  for (const [type, payload] of [
    ['text/plain;charset=UTF-8', 'landed'],
    ['application/x-www-form-urlencoded', 'a=1&b=2'],
    ['application/json', '{"broken'],
    ['multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n\ufffd\r\n--x--'],
  ] as const) {
    const { id } = await arrive(key)
    const headers = { ...BROWSER, 'content-type': type }
    assert.equal((await house.call('POST', `/l/${id}`, { headers, payload })).statusCode, 204, type)
    await isLanded(id)
  }
})

test('the id is understood in any case and as a plain uuid', async () => {
  const { key } = await aWay()
  for (const spelled of [(id: string) => id.toUpperCase(), (id: string) => toUuid(id) ?? '']) {
    const { id } = await arrive(key)
    assert.equal((await beacon(spelled(id))).statusCode, 204)
    await isLanded(id)
    assert.equal(await goesTo(`/o/${spelled(id)}`), 'offer.example')
  }
})

test('the click is found by the query, by the address of the landing page, or by the cookie of the visit', async () => {
  const { key } = await aWay()
  const { id, cookies } = await arrive(key)
  const cookie = cookies.map(text => text.split(';')[0]).join('; ')
  const onward = cookies.find(text => text.startsWith('vis_click='))
  assert.match(onward ?? '', /^vis_click=[0-9a-z]{26}; Max-Age=2592000; Path=\/o; HttpOnly; SameSite=Lax$/)
  const clickOf = async (path: string, headers: Record<string, string> = {}) =>
    new URL(String((await go(path, headers)).headers.location)).searchParams.get('c')
  assert.equal(await clickOf(`/o?click_id=${id}`), id)
  assert.equal(await clickOf(`/o?clickid=${id}`), id)
  assert.equal(await clickOf('/o', { referer: `https://landing.example/?click_id=${id}` }), id)
  assert.equal(await clickOf('/o', { cookie }), id)
  // A macro that the landing page did not replace.
  assert.equal(await clickOf('/o/%7Bclick_id%7D', { cookie }), id)
  const { id: second } = await arrive(key)
  assert.equal(await clickOf(`/o/${second}`, { cookie }), second)
  await isLanded(id)
})

test("a page's link that names its campaign leads there, though the visitor's last click is of another campaign or workspace", async () => {
  const own = await aWay()
  const { id, cookies } = await arrive(own.key)
  const cookie = cookies.map(text => text.split(';')[0]).join('; ')
  const destination = { type: 'redirect', url: 'https://page.example/?c={click_id}' }
  const neighbour = await seedSignedIn(house)
  const [campaign, foreign] = [
    await made('campaigns', { name: 'P', destination }),
    await made('campaigns', { name: 'F', destination }, house, neighbour),
  ]
  for (const { key } of [campaign, foreign])
    assert.equal((await go(`/o?k=${String(key)}`, { cookie })).headers.location, 'https://page.example/?c=')
  const ofForeign = await go(`/o?k=${String(foreign['key'])}&click_id=${id}`)
  assert.equal(ofForeign.headers.location, 'https://page.example/?c=')
  assert.equal(await statusOf(id), 0)
  const referer = `https://landing.example/?click_id=${id}`
  assert.equal(await goesTo(`/o?k=${String(campaign['key'])}`, { referer }), 'offer.example')
  assert.equal(await goesTo(`/o?k=${own.key}`, { cookie }), 'offer.example')
  await isLanded(id)
})

test('HEAD, prefetches and crawlers are led on and raise nothing', async () => {
  const { key } = await aWay()
  const { id } = await arrive(key)
  const answers = [
    await go(`/o/${id}`, {}, 'HEAD'),
    await go(`/o/${id}`, { 'sec-purpose': 'prefetch' }),
    await go(`/o/${id}`, { 'user-agent': 'facebookexternalhit/1.1' }),
  ]
  for (const answer of answers) {
    assert.equal(answer.statusCode, 302)
    assert.match(String(answer.headers.location), /^https:\/\/offer\.example\//)
  }
  assert.equal((await beacon(id, { 'user-agent': 'Googlebot/2.1' })).statusCode, 204)
  assert.equal(await statusOf(id), 0)
})

test('where the offer is archived or deleted the visitor gets the fallback, else a page that says so', async () => {
  const [guarded, plain] = [await aWay({ fallback_url: 'https://fallback.example/?c={click_id}' }), await aWay()]
  const [one, two] = [await arrive(guarded.key), await arrive(plain.key)]
  for (const { offer_id } of [guarded, plain]) await setStatus('offers', offer_id, 'archived')
  assert.equal((await go(`/o/${one.id}`)).headers.location, `https://fallback.example/?c=${one.id}`)
  const answer = await go(`/o/${two.id}`)
  assert.deepEqual([answer.statusCode, answer.headers.location], [404, undefined])
  assert.match(answer.body, /not available/)
  await setStatus('offers', guarded.offer_id, 'active')
  assert.equal(await goesTo(`/o/${one.id}`), 'offer.example')
  await house.call('DELETE', `/api/offers/${guarded.offer_id}`, owner)
  assert.equal(await goesTo(`/o/${one.id}`), 'fallback.example')
})

test('visitors on a landing page still get on when landing, funnel or campaign are deleted', async () => {
  const { key, landing_id, funnel_id, campaign_id } = await aWay({ fallback_url: 'https://fallback.example/' })
  const { id } = await arrive(key)
  const archived = { ...owner, body: { status: 'archived' } }
  await house.call('PUT', `/api/campaigns/${campaign_id}/status`, archived)
  for (const [path, one] of [
    ['landings', landing_id],
    ['funnels', funnel_id],
    ['campaigns', campaign_id],
  ])
    assert.equal((await house.call('DELETE', `/api/${path}/${one}`, owner)).statusCode, 200)
  assert.equal(await goesTo(`/o/${id}`), 'offer.example')
  assert.equal((await go(`/c/${key}`)).headers.location, 'https://fallback.example/')
})

test("a plain redirect's click goes on to the offer it earns for", async () => {
  const offer_id = (await made('offers', { name: 'O', url: OFFER }))['id']
  const destination = { type: 'redirect', url: LANDING }
  const { id } = await arrive(String((await made('campaigns', { name: 'C', destination, offer_id }))['key']))
  assert.equal(await goesTo(`/o/${id}`), 'offer.example')
  await isLanded(id)
})

test('no address in the request leads anywhere, and unknown clicks get a page that says so', async () => {
  const stranger = toWireId(mintClickId(house.ground.secrets.clickKey, owner.org_id))
  const evil = 'https://evil.example/'
  for (const path of [
    '/o',
    '/o/',
    '/o/nonsense',
    `/o/${stranger}`,
    `/o/${encodeURIComponent(evil)}`,
    `/o?url=${evil}&click_id=${evil}`,
    `/o/${toWireId('00000000-0000-4000-8000-000000000000')}`,
  ]) {
    const answer = await go(path, { referer: `${evil}?click_id=${evil}` })
    assert.deepEqual([answer.statusCode, answer.headers.location], [404, undefined], path)
  }
  for (const id of ['nonsense', stranger, '%7Bclick_id%7D']) assert.equal((await beacon(id)).statusCode, 404, id)
})

test("a deleted organization's visitors go to the fallback and nothing is written", async () => {
  const place = await seedSignedIn(house)
  const { key } = await aWay({ fallback_url: 'https://fallback.example/' }, house, place)
  const { id } = await arrive(key)
  const deleted = await house.call('DELETE', `/api/organizations/${toWireId(place.organization_id)}`, place)
  assert.equal(deleted.statusCode, 200, deleted.body)
  assert.equal(await goesTo(`/o/${id}`), 'fallback.example')
  assert.equal((await beacon(id)).statusCode, 204)
  assert.equal(await statusOf(id), 0)
})

test('the script is small, plain, cacheable and may be used on any site', async () => {
  const answer = await go('/sluice.js')
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.headers['content-type'], 'text/javascript; charset=utf-8')
  assert.equal(answer.headers['cache-control'], 'public, max-age=3600')
  assert.equal(answer.headers['cross-origin-resource-policy'], 'cross-origin')
  assert.ok(new Script(answer.body))
  assert.ok(gzipSync(answer.body).length < 2500, `it has ${gzipSync(answer.body).length} bytes compressed`)
})

test('a browser that has the script gets 304 without a body, also behind a proxy that compresses; one with another version gets it', async () => {
  const { etag } = (await go('/sluice.js')).headers
  assert.match(String(etag), /^"[\w-]{22}"$/)
  for (const known of [`${etag}`, `W/${etag}`, `"older", ${etag}`]) {
    const same = await go('/sluice.js', { 'if-none-match': known })
    assert.deepEqual([same.statusCode, same.body], [304, ''])
    assert.deepEqual([same.headers['etag'], same.headers['cache-control']], [etag, 'public, max-age=3600'])
  }
  assert.equal((await go('/sluice.js', { 'if-none-match': '"older"' })).statusCode, 200)
})

test('while the database hangs or is away visitors get on from their landing page, and their clicks are landed afterwards', async () => {
  const fresh = await useDatabase()
  const proxy = await startProxy(fresh.connection)
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-onward-'))
  const behind = connect([proxy.connection], { log: pino({ level: 'silent' }), isBehind: false })
  const far = await openTestHouse(behind, { DATA_DIR: dataDir })
  try {
    const as = await seedSignedIn(far)
    const { key } = await aWay({}, far, as)
    const known = await arrive(key, '', far)
    const stranger = toWireId(mintClickId(far.ground.secrets.clickKey, as.org_id))
    const visit = (path: string) => far.call('GET', path, { headers: BROWSER })
    proxy.set('freeze')
    const hanging = await arrive(key, '', far)
    assert.equal(new URL(String((await visit(`/o/${hanging.id}`)).headers.location)).host, 'offer.example')
    proxy.set('cut')
    const during = await arrive(key, '', far)
    for (const { id } of [known, during]) {
      assert.notEqual(id, '')
      assert.equal(new URL(String((await visit(`/o/${id}`)).headers.location)).host, 'offer.example')
    }
    assert.equal((await far.call('POST', `/l/${during.id}`, { headers: BROWSER })).statusCode, 204)
    const unsure = await visit(`/o/${stranger}`)
    assert.deepEqual([unsure.statusCode, unsure.headers['refresh']], [503, '3'])
    proxy.set('flow')
    const landed = async () => {
      const { rows } = await fresh.database.reads.query('select from clicks where org_id = $1 and status = 1', [
        as.org_id,
      ])
      return rows.length
    }
    await eventually('the clicks are landed', async () => (await landed()) >= 3)
    // Made before the outage, it is in no journal.
    const older = toWireId(mintClickId(far.ground.secrets.clickKey, as.org_id, Date.now() - HOUR_MS))
    assert.equal((await visit(`/o/${older}`)).statusCode, 404)
  } finally {
    proxy.set('flow')
    await far.end()
    await behind.close()
    await proxy.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
})
