// Lists as CSV files: the lines of each list, the guard of a million lines, and that a file is streamed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import Fastify from 'fastify'
import { toUuid } from '../src/contract/ids.ts'
import { fileOf } from '../src/ground/db/list-file.ts'
import { newId, type TestHouse, toWireId, useHouse } from './support/house.ts'
import { seedClick } from './support/intake.ts'
import { seedSignedIn, type SignedIn } from './support/people.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

const made = async ({ cookie }: SignedIn, url: string, body: object) => {
  const reply = await house.call('POST', url, { cookie, body })
  assert.equal(reply.statusCode, 201, reply.body)
  return reply.json<{ id: string }>()
}

/** The lines of a file, without the end of the last one. */
async function lines(as: SignedIn, url: string, body?: object): Promise<string[]> {
  const reply = await house.call(body === undefined ? 'GET' : 'POST', url, { cookie: as.cookie, ...(body && { body }) })
  assert.equal(reply.statusCode, 200, reply.body)
  assert.equal(reply.headers['content-type'], 'text/csv; charset=utf-8')
  assert.ok(reply.body.endsWith('\r\n'))
  return reply.body.slice(0, -2).split('\r\n')
}

const URL = 'https://example.com/'
/** The lists whose rows can be picked, with two objects of each. */
const OBJECTS: readonly [path: string, body: object][] = [
  ['offers', { name: 'one', url: URL }],
  ['landings', { name: 'one', url: URL }],
  ['funnels', { name: 'one' }],
  ['click-flows', { name: 'one', graph: { nodes: [], edges: [] } }],
  ['traffic-sources', { name: 'one' }],
  ['postbacks', { event_type: 'lead', url: URL }],
  ['campaigns', { name: 'one', destination: { type: 'redirect', url: URL } }],
]

test('each list of objects is saved as picked, by ids or by its filters, and another organization’s rows are never in it', async () => {
  const [owner, stranger] = [await seedSignedIn(house), await seedSignedIn(house)]
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const offer = await made(owner, '/api/offers', { name: 'member of funnels', url: URL })
  const theirOffer = await made(stranger, '/api/offers', { name: 'member of funnels', url: URL })
  for (const [path, given] of OBJECTS) {
    const of = (id: string) => (path === 'funnels' ? { ...given, offers: [{ offer_id: id, weight: 1 }] } : given)
    const first = await made(owner, `/api/${path}`, of(offer.id))
    await made(owner, `/api/${path}`, { ...of(offer.id), ...('name' in given && { name: 'two' }) })
    const theirs = await made(stranger, `/api/${path}`, of(theirOffer.id))
    const csv = `/api/${path}/csv`
    const [titles = '', ...all] = await lines(member, csv, { filter: {} })
    const listed = (await house.call('GET', `/api/${path}`, { cookie: owner.cookie })).json<{
      data: Record<string, unknown>[]
    }>().data
    const plain = Object.entries(listed[0] ?? {}).flatMap(([name, value]) =>
      typeof value === 'object' && value !== null ? [] : [name],
    )
    // Objects and lists are left out, and a field that is null now may be plain at other times.
    const sent = titles.split(',')
    assert.deepEqual(
      Object.keys(listed[0] ?? {}).filter(name => sent.includes(name)),
      sent,
      path,
    )
    for (const name of sent) assert.ok(plain.includes(name), `${path}: ${name}`)
    assert.deepEqual(
      all.map(line => line.split(',')[0]),
      listed.map(({ id }) => id),
      path,
    )
    const picked = await lines(owner, csv, { ids: [theirs.id, first.id, toWireId(newId()), first.id] })
    assert.deepEqual(
      picked.slice(1).map(line => line.split(',')[0]),
      [first.id],
      path,
    )
    for (const body of [
      {},
      { ids: [first.id], filter: {} },
      { ids: [] },
      { filter: { unknown: 1 } },
      { filter: { limit: 1 } },
    ])
      assert.equal(
        (await house.call('POST', csv, { cookie: owner.cookie, body })).statusCode,
        400,
        JSON.stringify(body),
      )
  }
  assert.equal((await lines(owner, '/api/offers/csv', { filter: { q: 'FUNNELS' } })).length, 2)
  await house.call('PUT', `/api/offers/${offer.id}/status`, { cookie: owner.cookie, body: { status: 'archived' } })
  assert.equal((await lines(owner, '/api/offers/csv', { filter: { status: 'archived' } })).length, 2)
  assert.equal((await lines(owner, '/api/offers/csv', { ids: [offer.id] })).length, 2)
  assert.equal((await lines(owner, '/api/subscribers/csv', { filter: {} })).length, 1)
})

test('a cell with quotes, separators or line ends is one cell, a formula is defused, and null is not an empty text', async () => {
  const owner = await seedSignedIn(house)
  const clickId = toWireId(await seedClick(house.database, owner.org_id, { sub1: '=1+1' }))
  for (const nonce of ['a "b", c', '-1', '@x', 'T-1', '+2'])
    await made(owner, '/api/events', { clickId, type: 'lead', nonce, payout: '1.50' })
  await made(owner, '/api/events', { clickId, type: 'lead' })
  const [titles, ...rows] = await lines(owner, '/api/events/csv')
  assert.equal(
    titles,
    'id,created_at,click_id,campaign_id,offer_id,type,payout,nonce,source,test,status,amount,revisions',
  )
  assert.deepEqual(
    rows.map(row => row.split(/,lead,(?:1\.5)?,/)[1]?.split(',dashboard')[0]),
    ['', `"'+2"`, 'T-1', `"'@x"`, `"'-1"`, '"a ""b"", c"'],
  )
  assert.match(rows[0] ?? '', /^[0-9a-z]{26},20\d\d-.*Z,[0-9a-z]{26},,,lead,,,dashboard,false,approved,0,0$/)
  const clicks = await lines(owner, '/api/clicks/csv')
  assert.ok(clicks[1]?.includes(`,"'=1+1",`), clicks[1])
  assert.equal((await lines(owner, `/api/clicks/csv?q=${clickId}&type=ftd`)).length, 1)
})

test('lists that nobody picks from are saved with their filters too', async () => {
  const owner = await seedSignedIn(house)
  for (const path of ['deliveries', 'refused-events', 'history', 'subscribers', 'events', 'clicks'])
    assert.equal((await lines(owner, `/api/${path}/csv`)).length, 1, path)
  for (const path of [
    'deliveries?state=held',
    'refused-events?state=refused',
    'subscribers?state=gone',
    'clicks?status=lead',
  ])
    assert.equal((await lines(owner, `/api/${path.replace('?', '/csv?')}`)).length, 1, path)
  for (const path of [
    'deliveries/csv?state=x',
    'clicks/csv?status=x',
    'events/csv?payout_from=-1',
    'clicks/csv?type=x',
  ])
    assert.equal((await house.call('GET', `/api/${path}`, { cookie: owner.cookie })).statusCode, 400, path)
})

test('a file of 110,000 lines is streamed: the next portion is read when the one before is taken @detail', async () => {
  const owner = await seedSignedIn(house)
  await house.database.worker.query(
    `insert into events (org_id, id, click_id, type, payout_is_explicit, person_id, source, created_at, nonce)
     select $1, gen_random_uuid(), $2, 'lead', false, $2, 'api', timestamptz '2026-03-01' + n * interval '1 second', 'n' || n
     from generate_series(1, 110000) n`,
    [owner.org_id, newId()],
  )
  const { app } = house
  const reply = await app.inject({
    method: 'GET',
    url: '/api/events/csv',
    headers: { host: 'localhost:8080', cookie: owner.cookie },
    payloadAsStream: true,
  })
  const stream = reply.stream()
  let count = 0
  let [last, most] = ['', 0]
  for await (const part of stream) {
    const text = last + String(part)
    most = Math.max(most, text.length)
    const found = text.split('\r\n')
    last = found.pop() ?? ''
    count += found.length
  }
  assert.deepEqual([count, last], [110_001, ''])
  // A portion of a thousand lines, not the file of ten million characters.
  assert.ok(most < 1_000_000, String(most))
})

test('a list with more rows than lines is refused before the first byte, and a fault after it breaks the answer off', async () => {
  const lines_ = { titles: ['id'], encode: async (rows: readonly { id: number }[]) => rows }
  const refused = fileOf({ isTooLong: async () => true, read: async () => [] }, lines_)
  await assert.rejects(refused, /more than a million lines/)
  const portion = Array.from({ length: 1000 }, (_, id) => ({ id }))
  let reads = 0
  const broken = await fileOf(
    {
      isTooLong: async () => false,
      read: async () => {
        reads += 1
        if (reads === 3) throw new Error('the connection ended')
        return portion
      },
    },
    lines_,
  )
  assert.equal(reads, 1)
  const parts: string[] = []
  const server = Fastify().get('/', async () => broken)
  const from = await server.listen({ port: 0, host: '127.0.0.1' })
  await assert.rejects(async () => {
    for await (const part of (await fetch(from)).body ?? []) parts.push(Buffer.from(part).toString())
  }, /terminated/)
  await server.close()
  assert.equal(parts.join('').split('\r\n').length, 2002)
})

test('conversions and clicks are narrowed by network, source, offer, landing, type, status and amount, all joined by and', async () => {
  const [owner, stranger] = [await seedSignedIn(house), await seedSignedIn(house)]
  const source = await made(owner, '/api/traffic-sources', { name: 'Src' })
  const network = await made(owner, '/api/networks', { name: 'Net', template: 'plain' })
  const theirs = await made(stranger, '/api/networks', { name: 'Net', template: 'plain' })
  const offers = [
    await made(owner, '/api/offers', { name: 'O1', url: URL }),
    await made(owner, '/api/offers', { name: 'O2', url: URL }),
  ]
  const landing = newId()
  const campaign = async (offer_id: string, more = {}) =>
    toUuid(
      (
        await made(owner, '/api/campaigns', {
          name: 'C',
          offer_id,
          destination: { type: 'redirect', url: URL },
          ...more,
        })
      ).id,
    )
  const campaigns = [
    await campaign(offers[0]?.id ?? '', { traffic_source_id: source.id }),
    await campaign(offers[1]?.id ?? ''),
  ]
  const clicks = await Promise.all(
    [0, 1].map(at =>
      seedClick(house.database, owner.org_id, {
        campaign_id: campaigns[at] ?? null,
        offer_id: toUuid(offers[at]?.id ?? '') ?? null,
        // Clicks of one millisecond are in no order.
        at: Date.now() - 1000 + at,
      }),
    ),
  )
  await house.database.worker.query('update clicks set landing_id = $2, ref_id = $3 where org_id = $1 and id = $4', [
    owner.org_id,
    landing,
    'src "1"',
    clicks[0],
  ])
  const [one = '', two = ''] = clicks.map(toWireId)
  const { postback_url } = (await house.call('GET', `/api/networks/${network.id}`, { cookie: owner.cookie })).json<{
    postback_url: string
  }>()
  const { pathname } = new globalThis.URL(postback_url)
  assert.equal(
    (await house.call('GET', `${pathname}?click_id=${one}&payout=20&transaction_id=T-1&status=purchase`)).statusCode,
    200,
  )
  await made(owner, '/api/events', { clickId: two, type: 'lead', payout: '5', nonce: 'T-2' })
  const ids = async (path: string, query: string, field: string) => {
    const url = `/api/${path}?${query}`
    const { data } = (await house.call('GET', url, { cookie: owner.cookie })).json<{
      data: Record<string, unknown>[]
    }>()
    const [titles = '', ...all] = await lines(owner, url.replace('?', '/csv?'))
    const at = titles.split(',').indexOf(field)
    const listed = data.map(row => row[field])
    assert.deepEqual(
      all.map(line => line.split(',')[at]),
      listed,
      url,
    )
    return listed
  }
  for (const [query, wanted] of [
    [`network_id=${network.id}`, [one]],
    [`network_id=${theirs.id}`, []],
    [`traffic_source_id=${source.id}`, [one]],
    [`offer_id=${offers[1]?.id}`, [two]],
    [`landing_id=${toWireId(landing)}`, [one]],
    ['type=purchase', [one]],
    ['type=lead', [two]],
    ['payout_from=5&payout_to=5.00', [two]],
    ['payout_from=5', [two, one]],
    ['payout_to=19.99', [two]],
    [`network_id=${network.id}&type=lead`, []],
    [`network_id=${network.id}&type=purchase&payout_from=20`, [one]],
    ['q=T-1', [one]],
    [`q=${encodeURIComponent(` "${two.toUpperCase()}" `)}`, [two]],
    [`q=${encodeURIComponent('T-2')}&type=purchase`, []],
  ] satisfies [string, string[]][]) {
    assert.deepEqual(await ids('events', query, 'click_id'), wanted, query)
    assert.deepEqual(await ids('clicks', query, 'id'), wanted, query)
  }
  assert.deepEqual(await ids('events', 'status=approved&payout_from=20', 'click_id'), [one])
  const none = await house.call('GET', `/api/events?network_id=${network.id}`, { cookie: stranger.cookie })
  assert.deepEqual(none.data()['data'], [])
})

test('the source’s click id finds clicks and conversions', async () => {
  const owner = await seedSignedIn(house)
  const old = await seedClick(house.database, owner.org_id, { at: Date.now() - 50 * 86_400_000 })
  await house.database.worker.query("update clicks set ref_id = 'abc-1' where org_id = $1", [owner.org_id])
  await made(owner, '/api/events', { clickId: toWireId(old), type: 'lead' })
  assert.equal((await lines(owner, '/api/events/csv?q=abc-1')).length, 2)
  // Without a window, all clicks that are kept are searched.
  assert.equal((await lines(owner, '/api/clicks/csv?q=abc-1')).length, 2)
  assert.equal((await lines(owner, '/api/clicks/csv')).length, 1)
  assert.equal((await lines(owner, '/api/clicks/csv?q=abc')).length, 1)
})
