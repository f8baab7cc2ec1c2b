// Testing a campaign link through the gate: it reads what a click would store, and records nothing.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'

let house: TestHouse
let owner: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
})
after(() => house.end())

async function did(method: 'POST' | 'PATCH' | 'GET', path: string, body?: object) {
  const reply = await house.call(method, path, { ...owner, ...(body && { body }) })
  assert.ok(reply.statusCode < 300, reply.body)
  return reply.data()
}

let made = 0
async function bought(source: object | null, fields: object = {}) {
  const traffic_source_id =
    source && (await did('POST', '/api/traffic-sources', { name: `Source ${(made += 1)}`, ...source }))['id']
  const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
  const body = { name: 'Push', destination, traffic_source_id, ...fields }
  return (await did('POST', '/api/campaigns', body)) as { id: string; key: string; filled_url: string }
}

type Reply = {
  url: string
  fields: { field: string; parameter: string; sent: string | null; value: string | null; state: string }[]
  unknown: object[]
  cost: { usd: string | null; original: string | null; currency: string | null } | null
}
const tried = (id: string, body: object = {}) =>
  did('POST', `/api/campaigns/${id}/try-link`, body) as unknown as Promise<Reply>
const states = ({ fields }: Reply) => Object.fromEntries(fields.map(({ field, state }) => [field, state]))

const kept = async () =>
  (
    await house.database.reads.query<{ count: number }>(
      'select (select count(*) from clicks)::int + (select count(*) from source_faults)::int as count',
    )
  ).rows[0]?.count

test('without an address the source’s own is tried with sample values, all of them read, and nothing is recorded', async () => {
  const before = await kept()
  const { id, key } = await bought(
    { template: 'propellerads' },
    { cost: { model: 'link' }, source: { sub2: 'banner' } },
  )
  const reply = await tried(id)
  assert.equal(
    reply.url,
    `http://localhost:8080/c/${key}?ref_id=sample-ref-id&sub1=sample-sub1&banner=sample-sub2&sub3=sample-sub3&cost=0.01`,
  )
  assert.deepEqual(reply.fields[0], {
    field: 'ref_id',
    parameter: 'ref_id',
    sent: 'sample-ref-id',
    value: 'sample-ref-id',
    state: 'read',
  })
  assert.deepEqual(reply.fields[2], {
    field: 'sub2',
    parameter: 'banner',
    sent: 'sample-sub2',
    value: 'sample-sub2',
    state: 'read',
  })
  assert.deepEqual(new Set(Object.values(states(reply))), new Set(['read']))
  assert.deepEqual(reply.cost, { usd: '0.01', original: '0.01', currency: 'USD' })
  assert.deepEqual(reply.unknown, [])
  await tried(id, { url: `/c/${key}?ref_id=\${SUBID}` })
  await did('GET', `/api/campaigns/${id}/source-faults`)
  assert.equal(await kept(), before)
})

test('what is not read says why: not sent, empty, a macro, too long, no amount, no click id, or a cost that nobody takes', async () => {
  const parameters = [
    ...['ref_id', 'sub1', 'sub2', 'sub3', 'sub4'].map(field => ({ field, parameter: field, macro: '-x-' })),
    { field: 'cost', parameter: 'bid', macro: '{bid}' },
  ]
  const { id, key } = await bought({ parameters }, { cost: { model: 'link', max: '0.5' } })
  const query = `ref_id=${'x'.repeat(501)}&sub1=-x-&sub2={zone}&sub3=&bid=0,25&gclid=a%20b&camp=7&sub6=grün&sluice_test=1#sub4=9`
  const reply = await tried(id, { url: `https://elsewhere.example/C/${key.toUpperCase()}?${query}` })
  assert.deepEqual(states(reply), {
    ref_id: 'too_long',
    sub1: 'unreplaced',
    sub2: 'unreplaced',
    sub3: 'empty',
    sub4: 'not_sent',
    cost: 'unreadable',
    gclid: 'unusable',
    sub6: 'read',
  })
  assert.equal(reply.fields.find(({ field }) => field === 'sub6')?.value, 'grün')
  assert.deepEqual(reply.unknown, [{ parameter: 'camp', sent: '7' }])
  assert.equal(reply.cost?.usd, null)
  assert.equal(states(await tried(id, { url: '?bid=0.51' }))['cost'], 'unreadable')
  assert.equal(states(await tried(id, { url: '?bid={bid}' }))['cost'], 'unreplaced')
  await did('PATCH', `/api/campaigns/${id}`, { cost: { model: 'cpc', amount: '0.2' } })
  const fixed = await tried(id, { url: '?bid=0.25' })
  assert.deepEqual(fixed.fields.at(-1), { field: 'cost', parameter: 'bid', sent: '0.25', value: null, state: 'unused' })
  assert.equal(fixed.cost?.usd, '0.2')
})

test('what is said to be kept is what the click keeps', async () => {
  const parameters = [
    { field: 'ref_id', parameter: 'visitor', macro: '(V)' },
    { field: 'sub1', parameter: 'zone', macro: '$$z$$' },
    { field: 'sub9', parameter: 'sub9', macro: 'push-1' },
    { field: 'cost', parameter: 'bid', macro: '[bid]' },
    { field: 'currency', parameter: 'cur', macro: '{cur}' },
  ]
  const { id, key } = await bought({ parameters, cost_unit: 'cpm' }, { cost: { model: 'link' } })
  const sample = new URL((await tried(id)).url).search.slice(1)
  for (const query of [
    sample,
    'visitor=(V)&ref_id=7&zone=a&sub1=b&bid=2.5&cur=usd',
    'visitor=1&visitor=2&zone=$$z$$&zone=c&bid=[bid]&fbclid=Iw',
    'zone=a+b%20c&sub9=push-1&bid=2.5&cur={cur}',
    'zone=x?fbclid=Iw&bid=3&cur=EUR&&?sub4=d&amp;sub5=e',
  ]) {
    const { fields, cost } = await tried(id, { url: `/c/${key}?${query}` })
    const { headers } = await house.call('GET', `/c/${key}?${query}`, { headers: BROWSER })
    const { rows } = await house.database.reads.query<Record<string, string | null>>(
      'select * from clicks where id = $1',
      [toUuid(new URL(String(headers.location)).searchParams.get('c') ?? '')],
    )
    const click = rows[0] ?? {}
    const said = Object.fromEntries(fields.map(({ field, value }) => [field, value]))
    for (const field of ['ref_id', 'sub1', 'sub4', 'sub5', 'sub9', 'fbclid'])
      assert.equal(said[field] ?? null, click[field], `${query}: ${field}`)
    assert.deepEqual(cost, { usd: click['cost'], original: click['cost_original'], currency: click['cost_currency'] })
  }
})

test('an amount in another currency is told in US dollars, at the rate that the click would have', async () => {
  const parameters = [{ field: 'cost', parameter: 'bid', macro: '[bid]' }]
  const { id, key } = await bought({ parameters, cost_currency: 'CHF' }, { cost: { model: 'link' } })
  const rate = { usd_per_unit: '1.25', from_day: '2020-01-01' }
  assert.equal((await house.call('PUT', '/api/rates/CHF', { ...owner, body: rate })).statusCode, 200)
  // Rates are cached, and refreshed every few seconds.
  await eventually('the rate is known', async () => (await tried(id, { url: '?bid=0.4' })).cost?.usd !== null)
  const { cost } = await tried(id, { url: '?bid=0.4' })
  assert.deepEqual(cost, { usd: '0.5', original: '0.4', currency: 'CHF' })
  await house.call('GET', `/c/${key}?bid=0.4`, { headers: BROWSER })
  const { rows } = await house.database.reads.query('select cost from clicks order by id desc limit 1')
  assert.deepEqual(rows, [{ cost: '0.5' }])
})

test('a campaign without a source is tried by its own names', async () => {
  const { id, key } = await bought(null, { source: { ref_id: 'clickid' } })
  const reply = await tried(id)
  assert.equal(reply.url, `http://localhost:8080/c/${key}?clickid=sample-ref-id&sub1=sample-sub1`)
  assert.deepEqual(states(reply), { ref_id: 'read', sub1: 'read' })
  assert.equal(reply.cost, null)
})

test('another campaign’s address, one that is none, and another organization’s campaign are refused', async () => {
  const { id } = await bought(null)
  const { key } = await bought(null)
  for (const [url, words] of [
    [`https://sluice.example/c/${key}?sub1=a`, /the link is another campaign's: \/c\//],
    ['', /url/],
    ['x'.repeat(9000), /url/],
  ] as const) {
    const reply = await house.call('POST', `/api/campaigns/${id}/try-link`, { ...owner, body: { url } })
    assert.equal(reply.statusCode, 400)
    assert.match(String(reply.data()['error']), words)
  }
  const stranger = await seedSignedIn(house)
  const reply = await house.call('POST', `/api/campaigns/${id}/try-link`, { ...stranger, body: {} })
  assert.deepEqual([reply.statusCode, reply.data()['code']], [404, 'not_found'])
})
