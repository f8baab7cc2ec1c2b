// Left-out values through the door: their lists, and visitors who have one.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { capsAs } from '../../../tests/support/caps.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, openTestHouse, seedKey, type TestHouse, toWireId, useHouse } from '../../../tests/support/house.ts'
import { pagesOf, SITE } from '../../../tests/support/pages.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { BROWSER } from '../../../tests/support/visits.ts'

let house: TestHouse
let owner: SignedIn
let at: ReturnType<typeof capsAs>
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  at = capsAs(house, owner)
})
after(() => house.end())

const FALLBACK = 'https://back.example/'
type Row = { id: string; field: string; value: string; leads_to: object; note: string | null; until: string | null }
type Added = { added: number; same: number; data: Row[] }
const listOf = (id: string) => `/api/campaigns/${id}/left-out`

async function hostOf(key: string, query: string, through = house): Promise<string | undefined> {
  const reply = await through.call('GET', `/c/${key}?${query}`, { headers: BROWSER })
  const { location } = reply.headers
  return location === undefined ? String(reply.statusCode) : URL.parse(String(location))?.host
}

async function added(id: string, body: object): Promise<[number, number]> {
  const answer = await at.did<Added>('POST', listOf(id), body)
  return [answer.added, answer.same]
}

const text = async (id: string, query: string) => (await at.ask('GET', `${listOf(id)}/text?${query}`)).body

const clicksOf = async (campaign_id: string) =>
  (
    await house.database.kysely
      .selectFrom('clicks as c')
      .innerJoin('campaigns as g', join => join.onRef('g.org_id', '=', 'c.org_id').onRef('g.id', '=', 'c.campaign_id'))
      .select(['c.tracked', 'c.offer_id', 'c.left_out', 'c.sub1'])
      .where('c.org_id', '=', owner.org_id)
      .where('g.key', '=', campaign_id)
      .orderBy('c.id')
      .execute()
  ).map(({ tracked, offer_id, left_out, sub1 }) => [
    tracked,
    offer_id === null ? null : toWireId(offer_id),
    left_out,
    sub1,
  ])

test('visitors with a left-out value go to the fallback or the named offer, in every process, and are tracked clicks', async t => {
  const [offer, other] = [await at.offer(), await at.offer()]
  const { id, key } = await at.follow(offer.id, { fallback_url: FALLBACK })
  const second = await openTestHouse(house.database, {})
  t.after(() => second.end())
  assert.equal(await hostOf(key, 'sub1=bad', second), offer.host)
  const added = await at.did<Added>('POST', listOf(id), { field: 'sub1', values: ['bad', 'worse', 'bad'] })
  assert.deepEqual([added.added, added.same], [2, 1])
  assert.equal(await hostOf(key, 'sub1=bad'), 'back.example')
  assert.equal(await hostOf(key, 'sub1=Bad'), offer.host)
  await eventually(
    'the other process leaves it out',
    async () => (await hostOf(key, 'sub1=worse', second)) === 'back.example',
  )
  const leads_to = { type: 'offer', offer_id: other.id }
  const note = 'tablets only break'
  await at.did('POST', listOf(id), { field: 'device', values: ['desktop', 'mobile'], leads_to, note })
  assert.equal(await hostOf(key, 'sub1=good'), other.host)
  const clicks = await clicksOf(key)
  assert.ok(clicks.every(([tracked]) => tracked))
  assert.deepEqual(clicks.at(-1), [true, other.id, 'device=mobile', 'good'])
  assert.deepEqual(clicks[1], [true, null, 'sub1=bad', 'bad'])
  assert.deepEqual(await at.did('DELETE', `${listOf(id)}?field=device`), { removed: 2 })
  assert.equal(await hostOf(key, 'sub1=good'), offer.host)
})

test('a value is let in again by itself behind its end, by the clock of the process', async t => {
  const offer = await at.offer()
  const { id, key } = await at.follow(offer.id, { fallback_url: FALLBACK })
  const until = new Date(Date.now() + 60_000).toISOString()
  await at.did('POST', listOf(id), { field: 'sub1', values: ['bad'], until })
  assert.equal(await hostOf(key, 'sub1=bad'), 'back.example')
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse(until) + 1 })
  assert.equal(await hostOf(key, 'sub1=bad'), offer.host)
  assert.equal(await text(id, 'field=sub1'), '')
  // Whoever leaves it out again means now, although the old entry is still on the list. Putting that back brings the old entry back.
  assert.deepEqual(await added(id, { field: 'sub1', values: ['bad'] }), [1, 0])
  assert.equal(await hostOf(key, 'sub1=bad'), 'back.example')
  const [change] = (await at.did<{ data: { id: string; change: string }[] }>('GET', '/api/history?kind=left_out')).data
  assert.equal(change?.change, 'changed')
  await at.did('POST', `/api/history/${change?.id}/undo`, {})
  assert.equal(await hostOf(key, 'sub1=bad'), offer.host)
  assert.deepEqual(
    (await at.did<{ data: Row[] }>('GET', listOf(id))).data.map(row => row.until),
    [until],
  )
})

test('hours are those of the workspace, and a creative is the sub that the source labels so', async t => {
  const offer = await at.offer()
  const parameters = [{ field: 'sub2', parameter: 'banner', macro: '{bannerid}', label: 'Creative' }]
  const source = await at.did<{ id: string }>('POST', '/api/traffic-sources', { name: 'Push', parameters })
  const { id, key } = await at.follow(offer.id, { fallback_url: FALLBACK, traffic_source_id: source.id })
  assert.deepEqual(await added(id, { field: 'creative', values: ['b7'] }), [1, 0])
  assert.equal(await hostOf(key, 'banner=b7'), 'back.example')
  assert.equal(await hostOf(key, 'sub1=b7'), offer.host)
  await at.did('PATCH', `/api/organizations/${owner.organization_id}`, { timezone: 'Europe/Kyiv' })
  await added(id, { field: 'hour', values: ['03'] })
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-24T01:59:59Z') })
  assert.equal(await hostOf(key, ''), 'back.example')
  t.mock.timers.setTime(Date.parse('2026-11-24T02:00:00Z'))
  assert.equal(await hostOf(key, ''), offer.host)
  const marks = (await clicksOf(key)).flatMap(([, , mark]) => (mark === null ? [] : [String(mark)]))
  assert.deepEqual(new Set(marks), new Set(['creative=b7', 'hour=03']))
})

test('a visit that a page reports is left out too: its way on leads to the fallback or the named offer', async () => {
  const [offer, other] = [await at.offer(), await at.offer()]
  const pages = pagesOf(house, owner)
  const fields = { sites: ['shop.example'], fallback_url: FALLBACK }
  const { id, key } = await at.follow(offer.id, fields)
  await added(id, { field: 'sub1', values: ['bad'] })
  await added(id, { field: 'sub1', values: ['led'], leads_to: { type: 'offer', offer_id: other.id } })
  const wayOn = async (query: string) => {
    const report = await pages.report(key, { u: `${SITE}/?${query}` })
    const on = await pages.get(`/o/${String(report.data()['click_id'])}`)
    return URL.parse(String(on.headers.location))?.host
  }
  assert.deepEqual(
    [await wayOn('sub1=bad'), await wayOn('sub1=led'), await wayOn('sub1=good')],
    ['back.example', other.host, offer.host],
  )
  assert.deepEqual((await clicksOf(key)).map(([tracked, , mark]) => [tracked, mark]).slice(0, 2), [
    [true, 'sub1=bad'],
    [true, 'sub1=led'],
  ])
})

test('the list of clicks, the trace and the report tell left-out clicks from others', async () => {
  const { id, key } = await at.follow((await at.offer()).id, { fallback_url: FALLBACK })
  await added(id, { field: 'sub1', values: ['a=b'] })
  for (const query of ['sub1=a%3Db', 'sub1=good', 'sub1=fine']) await hostOf(key, query)
  type Seen = { id: string; sub1: string; is_left_out: boolean; left_out?: object }
  const { data } = await at.did<{ data: Seen[] }>('GET', `/api/clicks?campaign_id=${id}`)
  assert.deepEqual(
    data.map(({ sub1, is_left_out }) => [sub1, is_left_out]),
    [
      ['fine', false],
      ['good', false],
      ['a=b', true],
    ],
  )
  const traceOf = async (click: Seen | undefined) =>
    (await at.did<{ click: Seen }>('GET', `/api/clicks/${click?.id}/trace`)).click
  const [other, , leftOut] = data
  assert.deepEqual((await traceOf(leftOut)).left_out, { field: 'sub1', value: 'a=b' })
  assert.deepEqual([(await traceOf(other)).is_left_out, (await traceOf(other)).left_out], [false, null])
  const window = { date_from: new Date(Date.now() - 3_600_000).toISOString(), date_to: new Date().toISOString() }
  const explored = async (filters: object[]) => {
    const levels = [{ dimension: 'is_left_out' }]
    const question = { ...window, levels, measures: ['clicks'], filters }
    const { rows } = await at.did<{ rows: { key: string; clicks: number }[] }>('POST', '/api/explore', question)
    return rows.map(row => [row.key, row.clicks])
  }
  const here = { dimension: 'campaign', op: 'is', values: [id] }
  assert.deepEqual(await explored([here]), [
    ['false', 2],
    ['true', 1],
  ])
  assert.deepEqual(await explored([here, { dimension: 'is_left_out', op: 'is', values: ['true'] }]), [['true', 1]])
})

test('a left-out visitor without a fallback gets a page, and the click is stored', async () => {
  const offer = await at.offer()
  const { id, key } = await at.follow(offer.id)
  await at.did('POST', listOf(id), { field: 'sub1', values: ['bad'] })
  assert.equal(await hostOf(key, 'sub1=bad'), '200')
  assert.deepEqual(await clicksOf(key), [[true, null, 'sub1=bad', 'bad']])
})

test('the list is read, searched and emptied', async () => {
  const { id } = await at.follow((await at.offer()).id)
  await at.did('POST', listOf(id), { field: 'sub1', values: ['zone-1', 'zone-2'] })
  await at.did('POST', listOf(id), { field: 'hour', values: ['03'] })
  const read = async (query: string) =>
    (await at.did<{ data: Row[] }>('GET', listOf(id) + query)).data.map(({ value }) => value).sort()
  assert.deepEqual(await read(''), ['03', 'zone-1', 'zone-2'])
  assert.deepEqual(await read('?field=sub1&q=E-2'), ['zone-2'])
  assert.deepEqual(await at.did('DELETE', `${listOf(id)}?field=sub1&value=zone-1`), { removed: 1 })
  assert.deepEqual(await at.did('DELETE', `${listOf(id)}?field=sub1&value=zone-1`), { removed: 0 })
  assert.deepEqual(await read(''), ['03', 'zone-2'])
})

test('each refusal, and nothing is left out by it', async () => {
  const { id } = await at.follow((await at.offer()).id)
  for (const body of [
    { field: 'sub1', values: [''] },
    { field: 'sub1', values: ['{zoneid}'] },
    { field: 'sub1', values: ['x'.repeat(501)] },
    { field: 'hour', values: ['24'] },
    { field: 'creative', values: ['1'] },
    { field: 'sub1', values: [] },
    { field: 'ref_id', values: ['1'] },
  ])
    assert.equal((await at.ask('POST', listOf(id), body)).statusCode, 400, JSON.stringify(body))
  const gone = toWireId(newId())
  const stranger = await seedSignedIn(house)
  const good = { field: 'sub1', values: ['a'] }
  assert.equal((await at.ask('POST', listOf(gone), good)).statusCode, 404)
  assert.equal((await at.ask('POST', listOf(id), good, stranger)).statusCode, 404)
  assert.equal((await at.ask('GET', listOf(id), undefined, stranger)).statusCode, 404)
  const entries = [id, gone].map(campaign_id => ({ campaign_id, field: 'sub1', value: 'a' }))
  assert.equal((await at.ask('POST', '/api/left-out', { entries })).statusCode, 404)
  const { secret: key } = await seedKey(house.database, owner)
  assert.equal(
    (await at.ask('POST', listOf(id), good, { key })).json<{ code: string }>().code,
    'api_key_resource_forbidden',
  )
  assert.deepEqual((await at.did<{ data: Row[] }>('GET', listOf(id))).data, [])
})

test('a campaign has at most 10,000 values, also when two writes come at once', async () => {
  const { id } = await at.follow((await at.offer()).id)
  const portion = (from: number) => Array.from({ length: 1000 }, (_, index) => `zone ${from + index}`)
  for (let from = 0; from < 9000; from += 1000)
    await at.did('POST', listOf(id), { field: 'sub1', values: portion(from) })
  const both = await Promise.all(
    [9000, 9500].map(from => at.ask('POST', listOf(id), { field: 'sub1', values: portion(from) })),
  )
  assert.deepEqual(
    both.map(({ statusCode }) => statusCode).sort((a, b) => a - b),
    [201, 409],
  )
  assert.equal(both.find(({ statusCode }) => statusCode === 409)?.json<{ code: string }>().code, 'left_out_limit')
})

test('several campaigns are one act of the history, which is put back as a whole', async () => {
  const offer = await at.offer()
  const [one, other] = [await at.follow(offer.id, { fallback_url: FALLBACK }), await at.follow(offer.id)]
  const entries = [one, other].map(({ id: campaign_id }) => ({ campaign_id, field: 'sub1', value: 'a = b' }))
  await at.did('POST', '/api/left-out', { entries, note: 'loses' })
  type Change = { id: string; act_id: string; object_id: string; object_name: string; change: string }
  const rows = async () => (await at.did<{ data: Change[] }>('GET', '/api/history?kind=left_out')).data.slice(0, 2)
  const written = await rows()
  assert.deepEqual(new Set(written.map(({ object_id }) => object_id)), new Set([one.id, other.id]))
  assert.deepEqual(new Set(written.map(({ object_name }) => object_name)), new Set(['sub1 = a = b']))
  assert.equal(written[0]?.act_id, written[1]?.act_id)
  assert.equal(await hostOf(one.key, 'sub1=a%20%3D%20b'), 'back.example')
  await at.did('POST', `/api/history/${written[0]?.id}/undo`, { whole_act: true })
  assert.equal(await hostOf(one.key, 'sub1=a%20%3D%20b'), offer.host)
  const [undone] = await rows()
  assert.equal(undone?.change, 'deleted')
  await at.did('POST', `/api/history/${undone?.id}/undo`, {})
  const again = await Promise.all(
    [one, other].map(({ id }) => at.did<{ data: (Row & { note: string })[] }>('GET', listOf(id))),
  )
  assert.deepEqual(
    again.flatMap(({ data }) => data.map(({ note }) => note)),
    ['loses'],
  )
})
