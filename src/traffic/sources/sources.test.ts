// Traffic sources through the door: who may, what is refused, what a campaign and its clicks have of them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, openTestHouse, seedKey, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'

let house: TestHouse
let owner: SignedIn
let other: SignedIn
before(async () => {
  house = await startHouse()
  owner = await seedSignedIn(house)
  other = await seedSignedIn(house)
})
after(() => house.end())

type As = { cookie?: string; key?: string }
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
const ask = (method: Method, url: string, body?: object, as: As = owner) =>
  house.call(method, url, { ...as, ...(body && { body }) })
const did = async (method: Method, url: string, body?: object, as: As = owner) => {
  const reply = await ask(method, url, body, as)
  assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.body}`)
  return reply.data()
}
let made = 0
const make = (fields: object = {}, as: As = owner) =>
  did('POST', '/api/traffic-sources', { name: `Source ${(made += 1)}`, ...fields }, as)
const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
const campaign = (fields: object = {}) => did('POST', '/api/campaigns', { name: 'Spring', destination, ...fields })

/** The click that a visit makes, as it is stored. */
async function clickOf(key: unknown, query: string, of = house) {
  const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/130.0.0.0' }
  const reply = await of.call('GET', `/c/${String(key)}?${query}`, { headers })
  assert.equal(reply.statusCode, 302, reply.body)
  const { rows } = await house.database.reads.query<Record<string, string | null>>(
    'select * from clicks order by id desc limit 1',
  )
  return rows[0] ?? {}
}

const rows = async () => {
  const { rows } = await house.database.reads.query<{ all: string }>(
    `select md5(string_agg(s::text, '' order by id)) as all from traffic_sources s`,
  )
  return rows[0]?.all
}

test('a source is made from a template, whose facts it holds as its own, and is found in the list', async () => {
  const source = await make({ name: 'Zone traffic', template: 'propellerads' })
  assert.equal(source['template'], 'propellerads')
  assert.deepEqual((source['parameters'] as object[])[1], {
    field: 'sub1',
    parameter: 'sub1',
    macro: '{zoneid}',
    label: 'Zone',
  })
  assert.deepEqual([source['cost_unit'], source['cost_currency'], source['campaigns']], ['cpc', 'USD', 0])
  assert.match(String(source['postback']), /visitor_id=\{ref_id\}/)
  assert.deepEqual(await did('GET', `/api/traffic-sources/${String(source['id'])}`), source)
  const listed = (await did('GET', '/api/traffic-sources?q=zone')) as { data: object[] }
  assert.deepEqual(listed.data, [source])
})

test('a source is changed by the fields that are sent, for the next click', async () => {
  const { id } = await make({ parameters: [{ field: 'sub1', parameter: 'zone', macro: '{zone}' }] })
  const { key } = await campaign({ traffic_source_id: id })
  assert.equal((await clickOf(key, 'zone=7&z=8'))['sub1'], '7')
  const changed = await did('PATCH', `/api/traffic-sources/${String(id)}`, {
    parameters: [{ field: 'sub1', parameter: 'z', macro: '{z}' }],
    cost_currency: 'eur',
  })
  assert.deepEqual([changed['cost_currency'], changed['campaigns']], ['EUR', 1])
  assert.equal((await clickOf(key, 'zone=7&z=8'))['sub1'], '8')
  assert.deepEqual(await did('PATCH', `/api/traffic-sources/${String(id)}`, {}), changed)
})

test('what cannot be a source is refused, by what is wrong, and leaves nothing behind', async () => {
  await make({ name: 'Taken' })
  const { id } = await make({ name: 'Before' })
  const before = await rows()
  const one = (parameter: object) => ({ name: 'New', parameters: [{ field: 'sub1', parameter: 'a', ...parameter }] })
  for (const [status, named, body] of [
    [400, /name/, {}],
    [409, /name/, { name: 'Taken' }],
    [400, /template/, { name: 'Other', template: 'no-such' }],
    [400, /cost_currency/, { name: 'New', cost_currency: 'DOLLAR' }],
    [400, /cost_unit/, { name: 'New', cost_unit: 'cpa' }],
    [400, /field/, one({ field: 'sub10' })],
    [400, /parameter/, one({ parameter: 'a b' })],
    [400, /"sub2" fills sub2 already/, one({ parameter: 'sub2' })],
    [400, /"cost" fills cost already/, one({ parameter: 'cost' })],
    [400, /macro/, one({ macro: 'a b' })],
    [400, /macro/, one({ macro: '{a}&sub2=x' })],
    [
      400,
      /sub1 is filled already/,
      { name: 'New', parameters: ['a', 'b'].map(p => ({ field: 'sub1', parameter: p })) },
    ],
    [400, /"a" fills sub1/, { name: 'New', parameters: ['sub1', 'sub2'].map(field => ({ field, parameter: 'a' })) }],
  ] as const) {
    const reply = await ask('POST', '/api/traffic-sources', body)
    assert.equal(reply.statusCode, status, `${JSON.stringify(body)}: ${reply.body}`)
    assert.match(reply.data()['error'] as string, named)
    // A change has no template, and none of its fields must be sent.
    if ('template' in body || Object.keys(body).length === 0) continue
    const patched = await ask('PATCH', `/api/traffic-sources/${String(id)}`, body)
    assert.equal(patched.statusCode, status, patched.body)
  }
  assert.equal(await rows(), before)
})

test('sources are the dashboard’s: no key, whatever it may, has a way to them, and nobody who is not signed in', async () => {
  const { id } = await make()
  const { secret } = await seedKey(house.database, owner, { rights: [...ALL_RIGHTS] })
  const before = await rows()
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/templates'],
    ['POST', ''],
    ['GET', `/${String(id)}`],
    ['PATCH', `/${String(id)}`],
    ['DELETE', `/${String(id)}`],
  ] as const) {
    const reply = await ask(method, `/api/traffic-sources${path}`, method === 'GET' ? undefined : { name: 'x' }, {
      key: secret,
    })
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'api_key_resource_forbidden'], `${method} ${path}`)
  }
  assert.equal((await ask('GET', '/api/traffic-sources', undefined, {})).statusCode, 401)
  const { id: campaign_id } = await campaign()
  const link = await ask('GET', `/api/campaigns/${String(campaign_id)}/link`, undefined, { key: secret })
  assert.equal(link.data()['code'], 'api_key_resource_forbidden')
  assert.equal(await rows(), before)
})

test('another organization’s source is as if it were not there', async () => {
  const { id } = await make({ name: 'Only ours' })
  const before = await rows()
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
  ] as const)
    for (const unknown of [id, toWireId(newId())]) {
      const reply = await ask(
        method,
        `/api/traffic-sources/${String(unknown)}${path}`,
        method === 'GET' ? undefined : { name: 'x' },
        other,
      )
      assert.equal(reply.statusCode, 404)
    }
  const listed = (await did('GET', '/api/traffic-sources', undefined, other)) as { data: object[] }
  assert.deepEqual(listed.data, [])
  const reply = await ask('POST', '/api/campaigns', { name: 'x', destination, traffic_source_id: id }, other)
  assert.equal(reply.statusCode, 400)
  assert.match(reply.body, /traffic_source_id: no such traffic source/)
  assert.equal((await did('POST', '/api/traffic-sources', { name: 'Only ours' }, other))['name'], 'Only ours')
  assert.notEqual(await rows(), before)
})

test('a source that campaigns name is not deleted, and they are named; afterwards it is, and its name is free', async () => {
  const { id } = await make({ name: 'Named' })
  const { id: one } = await campaign({ name: 'Uses it', traffic_source_id: id })
  const refused = await ask('DELETE', `/api/traffic-sources/${String(id)}`)
  assert.deepEqual([refused.statusCode, refused.data()['code']], [409, 'traffic_source_in_use'])
  assert.match(refused.body, /Uses it/)
  await did('PATCH', `/api/campaigns/${String(one)}`, { traffic_source_id: null })
  await did('DELETE', `/api/traffic-sources/${String(id)}`)
  assert.equal((await ask('GET', `/api/traffic-sources/${String(id)}`)).statusCode, 404)
  await make({ name: 'Named' })
})

test('a campaign is never left with a source that was deleted at the same time', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { id } = await make()
    const { id: one } = await campaign()
    const [named, gone] = await Promise.all([
      ask('PATCH', `/api/campaigns/${String(one)}`, { traffic_source_id: id }),
      ask('DELETE', `/api/traffic-sources/${String(id)}`),
    ])
    assert.deepEqual([named.statusCode, gone.statusCode].filter(status => status === 200).length, 1)
  }
})

test('a key that may change campaigns may name a source of its organization', async () => {
  const { id } = await make({ template: 'propellerads' })
  const { id: one } = await campaign()
  const { secret } = await seedKey(house.database, owner, { rights: ['campaigns:update'] })
  const reply = await did('PATCH', `/api/campaigns/${String(one)}`, { traffic_source_id: id }, { key: secret })
  assert.equal(reply['traffic_source_id'], id)
  const { filled_url } = await did('GET', `/api/campaigns/${String(one)}`)
  assert.match(String(filled_url), /\?ref_id=\$\{SUBID\}&sub1=\{zoneid\}&/)
})

test('the link holds the source’s macros raw, and the click has what the source put in their place', async () => {
  const { id, name } = await make({ template: 'propellerads' })
  const { id: one, key, filled_url: link } = await campaign({ traffic_source_id: id })
  const address = `http://localhost:8080/c/${String(key)}?ref_id=\${SUBID}&sub1={zoneid}&sub2={bannerid}&sub3={campaignid}&cost={cost}`
  assert.equal(link, address)
  const shown = await did('GET', `/api/campaigns/${String(one)}/link`)
  assert.deepEqual([shown['url'], shown['traffic_source'], shown['has_fragment']], [address, { id, name }, false])
  const filled = await clickOf(key, 'ref_id=abc&sub1=7&sub2=8&sub3=9&cost=0.01')
  assert.deepEqual([filled['ref_id'], filled['sub1'], filled['sub2'], filled['sub3']], ['abc', '7', '8', '9'])
  const unfilled = await clickOf(key, String(link).split('?')[1] ?? '')
  assert.deepEqual([unfilled['ref_id'], unfilled['sub1'], unfilled['sub2'], unfilled['sub3']], [null, null, null, null])
  assert.equal((await ask('GET', `/api/campaigns/${String(one)}/link`, undefined, other)).statusCode, 404)
})

test('the campaign’s own names go before the source’s, in the link and at the click, and our own before both', async () => {
  const { id } = await make({ template: 'propellerads' })
  const { key, filled_url: link } = await campaign({ traffic_source_id: id, source: { sub1: 'zone' } })
  assert.match(String(link), /&zone=\{zoneid\}&sub2=/)
  assert.equal((await clickOf(key, 'zone=7'))['sub1'], '7')
  assert.equal((await clickOf(key, 'zone=7&sub1=8'))['sub1'], '8')
})

test('a click id that is cut is none with a source, and what it was without one', async () => {
  const { id } = await make({ template: 'exoclick' })
  const long = 'x'.repeat(501)
  const withSource = await campaign({ traffic_source_id: id })
  assert.equal((await clickOf(withSource['key'], `ref_id=${long}`))['ref_id'], null)
  assert.equal((await clickOf(withSource['key'], `ref_id=${long.slice(1)}`))['ref_id'], long.slice(1))
  assert.equal((await clickOf((await campaign())['key'], `ref_id=${long}`))['ref_id'], long.slice(1))
})

const OF_SOURCE = /^(ref_id|sub\d|cost|cost_original)$/

test('a template’s link that is opened unfilled leaves nothing on the click, whatever its macros look like, and with no source either', async () => {
  const { data } = (await did('GET', '/api/traffic-sources/templates')) as {
    data: { slug: string; evidence: string; parameters: { field: string; macro: string | null }[] }[]
  }
  assert.ok(data.length >= 60, String(data.length))
  const { key: bare } = await campaign({ cost: { model: 'link' } })
  for (const { slug, evidence } of data) {
    assert.ok(URL.canParse(evidence), slug)
    const source = await make({ template: slug })
    const { key, filled_url: link } = await campaign({ traffic_source_id: source['id'], cost: { model: 'link' } })
    const query = String(link).split('?')[1] ?? ''
    const encoded = query.replace(/=([^&]*)/g, (_, macro: string) => `=${encodeURIComponent(macro)}`)
    for (const sent of [query, encoded]) {
      for (const [of, currency] of [
        [key, source['cost_currency']],
        [bare, 'USD'],
      ]) {
        const click = await clickOf(of, sent)
        const kept = Object.entries(click).filter(([name, value]) => OF_SOURCE.test(name) && value !== null)
        assert.deepEqual(kept, [], `${slug}: ${sent}`)
        assert.equal(click['cost_currency'], currency, slug)
      }
    }
  }
})

test('a constant in the link is kept, because it comes as it stands there', async () => {
  const { id } = await make({ parameters: [{ field: 'sub9', parameter: 'sub9', macro: 'push-1' }] })
  const { key, filled_url: link } = await campaign({ traffic_source_id: id })
  assert.match(String(link), /\?sub9=push-1$/)
  assert.equal((await clickOf(key, 'sub9=push-1'))['sub9'], 'push-1')
})

test('a campaign that names a template from before keeps its link, until a source takes its place', async () => {
  const { id: one, key, filled_url: link } = await campaign({ source: { sub1: 'zone', template: 'propellerads' } })
  const address = `http://localhost:8080/c/${String(key)}?ref_id=\${SUBID}&zone={zoneid}&sub2={bannerid}&sub3={campaignid}`
  assert.equal(link, address)
  const { id } = await make({ template: 'mondiad' })
  const changed = await did('PATCH', `/api/campaigns/${String(one)}`, { traffic_source_id: id })
  assert.match(String(changed['filled_url']), /\?ref_id=\[clickid\]&zone=\[zoneid\]/)
})

test('another process, and one that starts later, read clicks by the source as well', async () => {
  const { id } = await make({ parameters: [{ field: 'ref_id', parameter: 'visitor', macro: '(V)' }] })
  const { key } = await campaign({ traffic_source_id: id })
  const second = await openTestHouse(house.database, {})
  try {
    assert.equal((await clickOf(key, 'visitor=abc', second))['ref_id'], 'abc')
    assert.equal((await clickOf(key, 'visitor=(V)', second))['ref_id'], null)
  } finally {
    await second.close()
  }
})

test('the figures of a source are those of the campaigns that name it', async () => {
  const { id } = await make()
  for (const name of ['One', 'Two']) await clickOf((await campaign({ name, traffic_source_id: id }))['key'], '')
  const today = new Date().toISOString().slice(0, 10)
  const query = `type=traffic_source&date_from=${today}&date_to=${today}`
  const figures = (await did('GET', `/api/figures/destinations?${query}`)) as { rows: Record<string, unknown>[] }
  const own = figures.rows.find(({ key }) => key === id)
  assert.deepEqual([own?.['clicks'], own?.['campaigns']], [2, 2])
  const theirs = await did('GET', `/api/figures/destinations?${query}`, undefined, other)
  assert.deepEqual(theirs['rows'], [])
})

test('of the clicks of today it is told how many came with the source’s click id and how many with a cost', async () => {
  const { id } = await make({ template: 'propellerads' })
  const { key } = await campaign({ traffic_source_id: id, cost: { model: 'link' } })
  const { key: free } = await campaign({ traffic_source_id: id })
  await clickOf(key, 'ref_id=a&cost=0.1')
  await clickOf(key, 'ref_id=b&cost={cost}')
  await clickOf(key, 'ref_id={x}&cost=0')
  await clickOf(free, 'cost=0.1')
  await house.call('GET', `/c/${String(key)}?ref_id=bot&cost=1`, { headers: { 'user-agent': 'Googlebot/2.1' } })
  await clickOf((await campaign())['key'], 'ref_id=c')
  const shares = (await did('GET', '/api/figures/traffic-sources/today')) as { rows: { key: string }[] }
  assert.deepEqual(
    shares.rows.find(row => row.key === id),
    { key: id, clicks: 4, with_ref_id: 2, with_cost: 2 },
  )
  assert.ok(shares.rows.every(row => row.key !== null))
  const theirs = await did('GET', '/api/figures/traffic-sources/today', undefined, other)
  assert.deepEqual(theirs['rows'], [])
})

test('what a source leaves unfilled is counted by field, with what came, and told to the campaign’s people alone', async () => {
  const { id } = await make({ template: 'propellerads' })
  const { id: one, key } = await campaign({ traffic_source_id: id, source: { sub1: 'zone' } })
  for (const query of [
    'zone={zoneid}&ref_id=1&sub2=2',
    'zone=%7Bzoneid%7D&ref_id=1',
    'zone=&ref_id=1',
    'zone=7&ref_id=1',
  ])
    await clickOf(key, query)
  await clickOf(key, `zone=7&ref_id=${'x'.repeat(501)}`)
  const faults = await did('GET', `/api/campaigns/${String(one)}/source-faults`)
  assert.deepEqual(faults['data'], [
    { field: 'sub1', fault: 'unreplaced', parameter: 'zone', value: '{zoneid}', clicks: 2 },
    { field: 'ref_id', fault: 'too_long', parameter: 'ref_id', value: 'x'.repeat(120), clicks: 1 },
  ])
  assert.deepEqual(await did('GET', `/api/campaigns/${String(one)}/source-faults`), faults)
  const theirs = await did('GET', `/api/campaigns/${String(one)}/source-faults`, undefined, other)
  assert.deepEqual(theirs['data'], [])
})
