// Visits that pages report: one click for each, whatever the browser sends and in whatever order, and nothing of a site that is not listed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { capsAs } from '../../../tests/support/caps.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { type TestHouse, useHouse } from '../../../tests/support/house.ts'
import { clicksOf, pagesOf, pageToken, SITE } from '../../../tests/support/pages.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { aClick, BROWSER } from '../../../tests/support/visits.ts'
import { HOUR_MS } from '../../contract/days.ts'
import { newId, toUuid, toWireId } from '../../contract/ids.ts'
import { auditBooks } from '../../reading/audit/audit.ts'
import { mintClickId } from '../clicks/click-id.ts'
import type { Click } from '../clicks/click.ts'
import { storeClicks } from '../clicks/store.ts'
import { storeVisits } from '../clicks/store-visits.ts'

let house: TestHouse
let owner: SignedIn
let pages: ReturnType<typeof pagesOf>
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  pages = pagesOf(house, owner)
})
after(() => house.end())

const idOf = (answer: { data: () => Record<string, unknown> }) => String(answer.data()['click_id'])
const redirect = (key: string, query: string) => pages.get(`/c/${key}${query}`)
const idIn = (answer: { headers: Record<string, unknown> }) =>
  String(new URL(String(answer.headers['location'])).searchParams.get('c'))

test('a page reports a visit: one landed click with its parameters, and the way on to its offer', async () => {
  const { id, key, offer_id } = await pages.campaign({ source: { sub1: 'zone' } })
  const answer = await pages.report(key, { u: `${SITE}/a/b?zone=7&sub2=x&gclid=G1#top` })
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.headers['access-control-allow-origin'], '*')
  assert.equal(answer.headers['access-control-allow-credentials'], undefined)
  assert.equal(answer.data()['onward'], `http://localhost:8080/o/${idOf(answer)}`)
  const [click, ...others] = await clicksOf(house, id)
  assert.deepEqual(others, [])
  assert.deepEqual(
    [
      click?.['way'],
      click?.['sub1'],
      click?.['sub2'],
      click?.['gclid'],
      click?.['status'],
      click?.['stages'],
      click?.tracked,
    ],
    ['page', '7', 'x', 'G1', 1, 3, true],
  )
  assert.equal(toWireId(String(click?.['offer_id'])), offer_id)
  const on = await pages.get(`/o/${idOf(answer)}`)
  assert.equal(on.headers.location, `https://offer.example/?c=${idOf(answer)}&s=7`)
  const arrived = await house.call('GET', `/api/campaigns/${id}/arrivals`, owner)
  const [{ received_at: _, ...arrival }] = arrived.data()['data'] as [Record<string, unknown>]
  const expected = { via: 'script', page: `${SITE}/a/b`, site: 'shop.example', click_id: idOf(answer) }
  assert.deepEqual(arrival, { ...expected, tracked: true, reason: null })
  assert.deepEqual(await auditBooks(house.database.reads, owner.org_id), [])
})

test('twenty equal reports at once, and later ones over every address, are one click', async () => {
  const { id, key } = await pages.campaign()
  const t = pageToken()
  const all = await Promise.all(Array.from({ length: 20 }, () => pages.report(key, { t, u: `${SITE}/` })))
  const ids = new Set(all.map(idOf))
  assert.equal(ids.size, 1)
  assert.equal((await pages.get(`/v/${key}.gif?t=${t}`, { referer: `${SITE}/` })).statusCode, 200)
  assert.equal(idIn(await pages.get(`/o/v/${t}?k=${key}&u=${SITE}/`)), [...ids][0])
  assert.equal(idIn(await pages.get(`/o/v/${t}`)), [...ids][0])
  assert.equal((await clicksOf(house, id)).length, 1)
})

test('the same token in another campaign is another visit', async () => {
  const [one, other] = [await pages.campaign(), await pages.campaign()]
  const t = pageToken()
  assert.notEqual(idOf(await pages.report(one.key, { t })), idOf(await pages.report(other.key, { t })))
})

test('the way on comes first: the offer is reached, and the later report is the same click', async () => {
  const { id, key } = await pages.campaign()
  const t = pageToken()
  const on = await pages.get(`/o/v/${t}?k=${key}&u=${encodeURIComponent(`${SITE}/?sub1=a`)}`)
  assert.equal(on.statusCode, 302)
  assert.equal(new URL(String(on.headers.location)).searchParams.get('s'), 'a')
  assert.equal(idOf(await pages.report(key, { t, u: `${SITE}/` })), idIn(on))
  assert.equal((await clicksOf(house, id)).length, 1)
})

test('the way on before the answer of a reload leads to the click that the browser has', async () => {
  const { id, key } = await pages.campaign()
  const first = idOf(await pages.report(key, { u: `${SITE}/` }))
  const t = pageToken()
  const on = await pages.get(`/o/v/${t}?k=${key}&u=${SITE}/&c=${first}`, { referer: `${SITE}/` })
  assert.equal(idIn(on), first)
  assert.equal(idOf(await pages.report(key, { t, u: `${SITE}/`, c: first })), first)
  const other = await pages.get(`/o/v/${pageToken()}?k=${key}&u=${SITE}/?gclid=B&c=${first}`, { referer: `${SITE}/` })
  assert.notEqual(idIn(other), first)
  assert.equal((await clicksOf(house, id)).length, 2)
})

test('a page that a redirect led to is that click, which it lands', async () => {
  const { id, key } = await pages.campaign()
  const click_id = idIn(await redirect(key, ''))
  assert.equal(idOf(await pages.report(key, { u: `${SITE}/?subid=${click_id.toUpperCase()}` })), click_id)
  await eventually('landed', async () => (await clicksOf(house, id))[0]?.['status'] === 1)
  const [click, ...others] = await clicksOf(house, id)
  assert.deepEqual([click?.['way'], others.length], [null, 0])
})

test('a redirect and a page with the same click id of an ad platform are one click, in both orders and at once', async () => {
  const { id, key } = await pages.campaign()
  const first = idIn(await redirect(key, '?gclid=A'))
  assert.equal(idOf(await pages.report(key, { u: `${SITE}/?gclid=A` })), first)
  const second = idOf(await pages.report(key, { u: `${SITE}/?gclid=B` }))
  assert.equal(idIn(await redirect(key, '?gclid=B')), second)
  await eventually('landed', async () => (await clicksOf(house, id)).every(({ status }) => status === 1))
  assert.deepEqual(
    (await clicksOf(house, id)).map(({ way }) => way),
    [null, 'page'],
  )
  for (let at = 0; at < 10; at += 1) {
    const [redirected, reported] = await Promise.all([
      redirect(key, `?fbclid=r${at}`),
      pages.report(key, { u: `${SITE}/?fbclid=r${at}` }, {}, `10.0.0.${at}`),
    ])
    assert.equal(idIn(redirected), idOf(reported))
  }
  assert.equal((await clicksOf(house, id)).length, 12)
  assert.deepEqual(await auditBooks(house.database.reads, owner.org_id), [])
})

test('a click that does not count is never taken for the person who comes with the same id', async () => {
  const { id, key } = await pages.campaign()
  const prefetch = { 'sec-purpose': 'prefetch' }
  const ahead = idIn(await pages.get(`/c/${key}?gclid=A`, prefetch))
  const person = idOf(await pages.report(key, { u: `${SITE}/?gclid=A` }))
  assert.notEqual(person, ahead)
  assert.equal(idIn(await redirect(key, '?gclid=A')), person)
  const reportedAhead = idOf(await pages.report(key, { u: `${SITE}/?gclid=B` }, prefetch))
  const redirected = idIn(await redirect(key, '?gclid=B'))
  assert.notEqual(redirected, reportedAhead)
  const ways = new Map((await clicksOf(house, id)).map(click => [toWireId(click.id), [click.tracked, click['way']]]))
  assert.deepEqual(
    [ahead, person, reportedAhead, redirected].map(click => ways.get(click)),
    [
      [false, null],
      [true, 'page'],
      [false, 'page'],
      [true, null],
    ],
  )
  assert.equal(ways.size, 4)
})

test('a visit that comes too late to count, or too often, is the click that counts and has the same id', async () => {
  const { id, key } = await pages.campaign()
  const setStatus = (status: string) => house.call('PUT', `/api/campaigns/${id}/status`, { ...owner, body: { status } })
  const counted = [idIn(await redirect(key, '?gclid=R')), idOf(await pages.report(key, { u: `${SITE}/?gclid=P` }))]
  assert.equal((await setStatus('paused')).statusCode, 200)
  await eventually('the campaign is paused', async () => (await redirect(key, '')).statusCode !== 302)
  const before = (await clicksOf(house, id)).length
  assert.equal(idOf(await pages.report(key, { u: `${SITE}/?gclid=R` })), counted[0])
  await redirect(key, '?gclid=P')
  assert.equal((await clicksOf(house, id)).length, before)
  assert.equal((await setStatus('active')).statusCode, 200)
  await eventually('the campaign is active', async () => (await redirect(key, '')).statusCode === 302)
  const from = '10.9.9.9'
  await Promise.all(Array.from({ length: 60 }, () => pages.report(key, { u: `${SITE}/` }, {}, from)))
  const clicks = (await clicksOf(house, id)).length
  assert.equal(idOf(await pages.report(key, { u: `${SITE}/?gclid=R` }, {}, from)), counted[0])
  await house.database.worker.query(
    `update platform_visits set made_at = made_at - interval '25 hours' where org_id = $1`,
    [owner.org_id],
  )
  assert.notEqual(idOf(await pages.report(key, { u: `${SITE}/?gclid=R` }, {}, from)), counted[0])
  assert.equal((await clicksOf(house, id)).length, clicks + 1)
})

test('a redirect that is the same click as a page which is another redirect is that other one', async () => {
  const { id } = await pages.campaign()
  const { clickKey } = house.ground.secrets
  const at = (fields: Partial<Click>) =>
    aClick(clickKey, owner.org_id, { campaign_id: toUuid(id) ?? null, platform: 'meta', ...fields })
  const first = at({ fbclid: 'Y' })
  const received_at = new Date().toISOString()
  const visit = { token: newId(), received_at, via: 'script', page: null, site: null, untracked_reason: null } as const
  const page = at({ fbclid: 'Y', gclid: 'X', way: 'page', visit })
  const second = at({ gclid: 'X' })
  const store = (clicks: Click[]) => storeVisits(house.database.clicks, owner.org_id, clicks, false)
  await store([first])
  await store([page, second])
  assert.deepEqual([page.joined_to, second.joined_to], [first.id, first.id])
  const later = at({ gclid: 'X', way: 'page', visit: { ...visit, token: newId() } })
  await store([later])
  assert.equal(later.joined_to, first.id)
  assert.equal((await clicksOf(house, id)).length, 1)
})

test('a redirect and a page that are one click take one place of a cap on clicks, and add one cost, in both orders and at once', async () => {
  const { id, key } = await pages.campaign({ cost: { model: 'cpc', amount: 0.1 } })
  const caps = capsAs(house, owner)
  const capOn = (metric: string) => caps.cap(id, { object: 'campaign', metric, limit: 100, period: 'total' })
  const [onClicks, onCost] = [await capOn('clicks'), await capOn('cost')]
  for (let at = 0; at < 20; at += 1) {
    const both = [
      () => redirect(key, `?gclid=c${at}`),
      () => pages.report(key, { u: `${SITE}/?gclid=c${at}` }, {}, `10.0.1.${at}`),
    ]
    if (at % 3 === 0) await Promise.all(both.map(one => one()))
    else for (const one of at % 3 === 1 ? both : both.toReversed()) await one()
  }
  assert.equal((await clicksOf(house, id)).length, 20)
  await eventually('the use is reported', async () => {
    const [clicks, cost] = [await caps.read(onClicks.id), await caps.read(onCost.id)]
    return clicks.used === 20 && clicks.reserved === 0 && cost.used === 2
  })
})

test('redirects of campaigns without sites stay clicks of their own', async () => {
  const { id, key } = await pages.campaign({ sites: [] })
  assert.notEqual(idIn(await redirect(key, '?gclid=A')), idIn(await redirect(key, '?gclid=A')))
  const { rows } = await house.database.reads.query('select from platform_visits where org_id = $1 and by_page', [0])
  assert.deepEqual([rows.length, (await clicksOf(house, id)).length], [0, 2])
})

test('after a day the same click id of an ad platform is another click', async () => {
  const { key } = await pages.campaign()
  const first = idOf(await pages.report(key, { u: `${SITE}/?gclid=A` }))
  await house.database.worker.query('update platform_visits set made_at = $3 where org_id = $1 and click_id = $2', [
    owner.org_id,
    toUuid(first),
    new Date(Date.now() - 25 * HOUR_MS).toISOString(),
  ])
  assert.notEqual(idIn(await redirect(key, '?gclid=A')), first)
})

test('a reload is no visit; a reload with another id of the source, or after half an hour, is one', async () => {
  const { id, key } = await pages.campaign()
  const first = idOf(await pages.report(key, { u: `${SITE}/?gclid=A` }))
  assert.equal(idOf(await pages.report(key, { u: `${SITE}/?gclid=A`, c: first })), first)
  assert.equal(idOf(await pages.report(key, { u: `${SITE}/other`, c: first })), first)
  assert.notEqual(idOf(await pages.report(key, { u: `${SITE}/?gclid=B`, c: first })), first)
  const ref = idOf(await pages.report(key, { u: `${SITE}/?ref_id=R`, c: first }))
  assert.notEqual(ref, first)
  const visitors = (await clicksOf(house, id)).map(({ visitor_id }) => visitor_id)
  assert.equal(new Set(visitors).size, 1, 'they are of one visitor')
  const { clickKey } = house.ground.secrets
  const old = mintClickId(clickKey, owner.org_id, Date.now() - 31 * 60_000)
  await storeClicks(house.database.clicks, [
    aClick(clickKey, owner.org_id, { id: old, campaign_id: toUuid(id) ?? null }),
  ])
  assert.notEqual(idOf(await pages.report(key, { u: `${SITE}/`, c: toWireId(old) })), toWireId(old))
})

test('a site that is not listed counts nothing, and is listed under Refused', async () => {
  const { id, key } = await pages.campaign({ sites: ['shop.example', '*.deep.example', '127.0.0.1:8123'] })
  for (const origin of [
    'https://evil.example',
    'https://shop.example.evil.example',
    'https://shop.example:444',
    'https://deep.example',
    'http://127.0.0.1',
    'null',
  ]) {
    const answer = await pages.report(key, {}, { origin })
    assert.deepEqual([answer.statusCode, answer.data()['code']], [403, 'site_not_listed'], origin)
    assert.equal(answer.headers['access-control-allow-origin'], '*')
  }
  assert.equal((await pages.get(`/v/${key}.gif`, { referer: 'https://evil.example/x' })).statusCode, 403)
  assert.deepEqual(await clicksOf(house, id), [])
  const on = await pages.get(`/o/v/${pageToken()}?k=${key}&u=https://evil.example/`)
  assert.equal(on.headers.location, 'https://offer.example/?c=&s=')
  assert.deepEqual(await clicksOf(house, id), [])
  for (const origin of ['http://shop.example', 'https://a.b.deep.example', 'http://127.0.0.1:8123'])
    assert.equal((await pages.report(key, {}, { origin })).statusCode, 200, origin)
  assert.equal((await pages.report(key, { u: `${SITE}/x` }, { origin: 'null' })).statusCode, 200)
  const refusedRows = async () =>
    (await house.call('GET', '/api/refused-events?surface=page', owner)).data()['data'] as Record<string, unknown>[]
  await eventually('kept', async () => (await refusedRows()).length === 7)
  const refused = await refusedRows()
  assert.deepEqual(
    [refused[0]?.['diagnosis'], refused[0]?.['status'], refused[0]?.['is_whole']],
    ['site_not_listed', 403, false],
  )
  const run = await house.call('POST', `/api/refused-events/${String(refused[0]?.['id'])}/run`, { ...owner, body: {} })
  assert.equal(run.data()['code'], 'cannot_run_again')
  const refusedArrivals = async () => {
    const answer = await house.call('GET', `/api/campaigns/${id}/arrivals`, owner)
    assert.equal(answer.statusCode, 200, answer.body)
    const arrivals = answer.data()['data'] as Record<string, unknown>[]
    return arrivals.filter(({ reason, click_id }) => reason === 'site_not_listed' && click_id === null)
  }
  assert.equal((await refusedArrivals()).length, 7)
  const longest = { u: `https://evil.example/${'p'.repeat(600)}?${'\\'.repeat(7000)}` }
  await pages.report(key, longest, { origin: `https://${'a'.repeat(5000)}.example` })
  await eventually('the largest report is kept', async () => (await refusedArrivals()).length === 8)
  await house.database.worker.query('update refused_events set body = left(body, 20) where campaign_id = $1', [
    toUuid(id),
  ])
  assert.equal((await refusedArrivals()).length, 8, 'an earlier version may have cut them off')
})

test('a visit without a usable token, with a bad body, too large, or of an unknown key is refused and stored nowhere', async () => {
  const { id, key } = await pages.campaign()
  for (const t of [undefined, 'short', 'x'.repeat(44), `${'x'.repeat(21)}!`, 7])
    assert.equal((await pages.report(key, { t })).statusCode, 400)
  const raw = (payload: string) => house.call('POST', `/v/${key}`, { payload, headers: { ...BROWSER, origin: SITE } })
  assert.equal((await raw('{')).statusCode, 400)
  assert.equal((await raw('[]')).statusCode, 400)
  assert.equal((await raw(JSON.stringify({ t: pageToken(), r: 'x'.repeat(16_384) }))).statusCode, 413)
  assert.equal((await pages.report('no-such-key', {})).statusCode, 404)
  const image = await pages.get('/v/no-such-key.gif')
  assert.deepEqual([image.statusCode, image.headers['content-type']], [404, 'image/gif'])
  assert.equal((await pages.get(`/o/v/${pageToken()}`)).statusCode, 404)
  await house.call('PUT', `/api/campaigns/${id}/status`, { ...owner, body: { status: 'archived' } })
  assert.equal((await house.call('DELETE', `/api/campaigns/${id}`, owner)).statusCode, 200)
  assert.equal((await pages.report(key, {})).statusCode, 404)
  assert.deepEqual(await clicksOf(house, id), [])
})

test('pages of a deleted workspace are answered 404 and store nothing', async () => {
  const place = await seedSignedIn(house)
  const others = pagesOf(house, place)
  const { id, key } = await others.campaign()
  const deleted = await house.call('DELETE', `/api/organizations/${toWireId(place.organization_id)}`, place)
  assert.equal(deleted.statusCode, 200, deleted.body)
  assert.equal((await others.report(key, {})).statusCode, 404)
  assert.equal((await others.get(`/v/${key}.gif`, { referer: `${SITE}/` })).statusCode, 404)
  assert.equal((await others.get(`/o/v/${pageToken()}?k=${key}&u=${SITE}`, { referer: `${SITE}/` })).statusCode, 404)
  assert.deepEqual(await clicksOf(house, id), [])
})

test('the image counts each load, reads the parameters, and counts nothing for HEAD', async () => {
  const { id, key } = await pages.campaign()
  const image = await pages.get(`/v/${key}.gif?sub1=a`, { referer: `${SITE}/p?sub1=b&sub2=c` })
  assert.deepEqual(
    [image.statusCode, image.headers['content-type'], image.headers['cache-control']],
    [200, 'image/gif', 'no-store'],
  )
  await pages.get(`/v/${key}.gif?t=bad`, { referer: `${SITE}/` })
  await house.call('HEAD', `/v/${key}.gif`, { headers: { ...BROWSER, referer: `${SITE}/` } })
  const clicks = await clicksOf(house, id)
  assert.deepEqual(
    clicks.map(({ sub1, sub2 }) => [sub1, sub2]),
    [
      ['a', 'c'],
      [null, null],
    ],
  )
})

test('crawlers, prefetches, visits of a paused campaign, tests and visits over the pace get an id and do not count', async () => {
  const { id, key } = await pages.campaign()
  const reasonOf = async (answer: { data: () => Record<string, unknown> }) => {
    const trace = (await house.call('GET', `/api/clicks/${idOf(answer)}/trace`, owner)).data()
    return (trace['click'] as Record<string, unknown>)['untracked_reason']
  }
  const crawler = await pages.report(
    key,
    {},
    { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' },
  )
  assert.equal(await reasonOf(crawler), 'crawler')
  assert.equal(await reasonOf(await pages.report(key, {}, { 'sec-purpose': 'prefetch' })), 'ahead')
  const link = (await house.call('GET', `/api/campaigns/${id}/test-link`, owner)).data()['url']
  assert.equal(await reasonOf(await pages.report(key, { u: `${SITE}/${new URL(String(link)).search}` })), 'test')
  const paced = []
  for (let at = 0; at < 61; at += 1) paced.push(await pages.report(key, {}, {}, '203.0.113.5'))
  const [last] = paced.slice(-1)
  assert.ok(last)
  assert.equal(await reasonOf(last), 'pace')
  assert.equal(await reasonOf(paced[59] ?? last), null)
  const other = await pages.campaign()
  for (let at = 0; at < 60; at += 1) await pages.report(other.key, {}, {}, `2001:db8:1:2::${at}`)
  assert.equal(await reasonOf(await pages.report(other.key, {}, {}, '2001:db8:1:2:ffff::1')), 'pace')
  assert.equal(await reasonOf(await pages.report(other.key, {}, {}, '2001:db8:1:3::1')), null)
  await house.call('PUT', `/api/campaigns/${id}/status`, { ...owner, body: { status: 'paused' } })
  const paused = await pages.report(key, {})
  assert.deepEqual([paused.statusCode, await reasonOf(paused)], [200, 'paused'])
  assert.match((await pages.get(`/o/${idOf(paused)}`)).body, /closed/)
  assert.equal((await clicksOf(house, id)).filter(({ tracked }) => tracked).length, 60)
})

test('the way on leads to the address that a campaign chooses, and without a click it leads on with an empty id', async () => {
  const url = 'https://own.example/?c={click_id}&s={sub1}'
  const { id, key } = await pages.campaign({ destination: { type: 'redirect', url } })
  const click_id = idOf(await pages.report(key, { u: `${SITE}/?sub1=a` }))
  assert.equal((await pages.get(`/o/${click_id}`)).headers.location, `https://own.example/?c=${click_id}&s=a`)
  const without = await pages.get(`/o?k=${key}`)
  assert.deepEqual([without.statusCode, without.headers.location], [302, 'https://own.example/?c=&s='])
  const ahead = await pages.get(`/o/v/${pageToken()}?k=${key}&u=${SITE}/?sub1=b`, { 'sec-purpose': 'prefetch' })
  assert.equal(ahead.headers.location, 'https://own.example/?c=&s=b')
  assert.equal((await pages.get('/o?k=no-such-key')).statusCode, 404)
  assert.equal((await clicksOf(house, id)).length, 1)
})

test("a page server reports in its visitor's name with its secret, until it is removed", async () => {
  const { id, key } = await pages.campaign({ sites: [] })
  const servers = `/api/campaigns/${id}/page-servers`
  const made = await house.call('POST', servers, { ...owner, body: { name: 'PHP' } })
  assert.equal(made.statusCode, 201, made.body)
  const { secret, ...server } = made.data()
  assert.deepEqual((await house.call('GET', servers, owner)).data()['data'], [server])
  const headers = { origin: '', 'x-sluice-secret': String(secret), 'x-visitor-address': '198.51.100.7' }
  const answer = await pages.report(key, { u: `${SITE}/p` }, headers)
  assert.equal(answer.statusCode, 200, answer.body)
  const other = await pages.report(key, {}, { ...headers, 'x-visitor-address': '198.51.100.8' })
  const [one, two] = await clicksOf(house, id)
  assert.notDeepEqual(one?.['ip_hash'], two?.['ip_hash'])
  assert.equal(other.statusCode, 200)
  const arrived = (await house.call('GET', `/api/campaigns/${id}/arrivals`, owner)).data()['data'] as Record<
    string,
    unknown
  >[]
  assert.deepEqual(
    arrived.map(({ via }) => via),
    ['server', 'server'],
  )
  const wrong = await pages.report(key, {}, { ...headers, 'x-sluice-secret': 'nonsense' })
  assert.deepEqual([wrong.statusCode, wrong.data()['code']], [403, 'page_server_unknown'])
  const stranger = await seedSignedIn(house)
  for (const [method, url] of [
    ['GET', servers],
    ['POST', servers],
    ['DELETE', `${servers}/${String(server['id'])}`],
    ['GET', `/api/campaigns/${id}/tag`],
    ['GET', `/api/campaigns/${id}/arrivals`],
  ] as const)
    assert.equal(
      (await house.call(method, url, { ...stranger, ...(method === 'POST' ? { body: { name: 'x' } } : {}) }))
        .statusCode,
      404,
      url,
    )
  assert.equal((await house.call('DELETE', `${servers}/${String(server['id'])}`, owner)).statusCode, 200)
  assert.equal((await pages.report(key, {}, headers)).statusCode, 403)
})

test('the address of the visitor is not looked at without a secret', async () => {
  const { id, key } = await pages.campaign()
  await pages.report(key, {}, { 'x-visitor-address': '198.51.100.7' })
  await pages.report(key, {}, {})
  const [one, two] = await clicksOf(house, id)
  assert.deepEqual(one?.['ip_hash'], two?.['ip_hash'])
})

test('the tag names the campaign and holds only the image for pages without JavaScript', async () => {
  const { id, key } = await pages.campaign()
  const tag = (await house.call('GET', `/api/campaigns/${id}/tag`, owner)).data()
  assert.equal(tag['script'], `<script src="http://localhost:8080/sluice.js" data-campaign="${key}" defer></script>`)
  assert.match(
    String(tag['noscript']),
    /^<noscript><img src="http:\/\/localhost:8080\/v\/[a-z0-9-]+\.gif"[^>]*><\/noscript>$/,
  )
  assert.deepEqual(tag['sites'], ['shop.example'])
})

test('the script has a neutral name too, which is the same for each campaign of a host', async () => {
  const [one, other] = [await pages.campaign(), await pages.campaign()]
  const tagOf = async (id: string) => (await house.call('GET', `/api/campaigns/${id}/tag`, owner)).data()
  const { neutral_script } = await tagOf(one.id)
  const name = String(neutral_script).match(/localhost:8080\/([a-z]{8})\.js/)?.[1]
  assert.equal(
    neutral_script,
    `<script src="http://localhost:8080/${name}.js" data-campaign="${one.key}" defer></script>`,
  )
  assert.equal((await tagOf(other.id))['neutral_script'], String(neutral_script).replace(one.key, other.key))
  const asked = (path: string, headers = {}) =>
    house.call('GET', path, { headers: { host: 'localhost:8080', ...headers } })
  const [own, plain] = await Promise.all([asked(`/${name}.js`), asked('/sluice.js')])
  assert.deepEqual([own.statusCode, own.body, own.headers['etag']], [200, plain.body, plain.headers['etag']])
  assert.equal((await asked(`/${name}.js`, { 'if-none-match': String(own.headers['etag']) })).statusCode, 304)
  for (const unknown of ['/abcdefgh.js', `/${name}a.js`, `/${String(name).toUpperCase()}.js`])
    assert.equal((await asked(unknown)).statusCode, 404, unknown)
  assert.equal((await house.call('GET', `/${name}.js`, { headers: { host: 'elsewhere.test' } })).statusCode, 404)
})

test('browsers are told that a page may send JSON', async () => {
  const { key } = await pages.campaign()
  const answer = await house.call('OPTIONS', `/v/${key}`, {
    headers: { origin: SITE, 'access-control-request-method': 'POST' },
  })
  assert.equal(answer.statusCode, 204)
  assert.equal(answer.headers['access-control-allow-origin'], '*')
  assert.match(String(answer.headers['access-control-allow-headers']), /content-type/)
})

test('sites and browser types are checked, and no API key changes them', async () => {
  const { id } = await pages.campaign({
    sites: ['SHOP.example', 'shop.example', '*.a.example', '[::1]:80'],
    browser_types: ['lead'],
  })
  const change = (body: object) => house.call('PATCH', `/api/campaigns/${id}`, { ...owner, body })
  assert.deepEqual((await change({})).data()['sites'], ['shop.example', '*.a.example', '[::1]'])
  for (const site of ['', '*', '*.example', 'a b', 'http://x', 'x/y', 'x:99999', '*.1.2.3.4'])
    assert.equal((await change({ sites: [site] })).statusCode, 400, site)
  assert.equal((await change({ sites: Array.from({ length: 51 }, (_, at) => `s${at}.example`) })).statusCode, 400)
  for (const type of ['click', 'land', 'bot_start', 'channel_join', 'subscription_renewed', 'nonsense'])
    assert.equal((await change({ browser_types: [type] })).statusCode, 400, type)
  assert.deepEqual((await change({ browser_types: ['ftd', 'ftd'] })).data()['browser_types'], ['ftd'])
})
