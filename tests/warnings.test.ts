// Warnings beside successful answers: the same for keys, tools and sessions, and only about the fields that were sent.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ALL_RIGHTS } from '../src/contract/rights.ts'
import { seedKey, startHouse, type TestHouse } from './support/house.ts'
import { type SignedIn, seedSignedIn } from './support/people.ts'
import { callTool } from './support/tools.ts'
import { BROWSER } from './support/visits.ts'

type Body = Record<string, unknown>
type Method = 'POST' | 'PUT' | 'PATCH'
type Warning = { code: string; field: string; message: string }

let house: TestHouse
let owner: SignedIn
let key: string
before(async () => {
  house = await startHouse({ ROLE: 'serve' })
  owner = await seedSignedIn(house)
  key = (await seedKey(house.database, owner, { rights: ALL_RIGHTS })).secret
})
after(() => house.end())

async function send(
  method: Method,
  url: string,
  body: Body,
  as: Body = owner,
): Promise<Body & { warnings: Warning[] }> {
  const reply = await house.call(method, url, { ...as, body })
  assert.ok(reply.statusCode < 300, reply.body)
  return reply.json()
}

const short = (warnings: readonly Warning[]) => warnings.map(({ code, field }) => `${code} ${field}`)

/** The warnings of a write; asserts that a session and a key get the same. */
async function warned(method: Method, url: string, body: Body): Promise<Warning[]> {
  const { warnings } = await send(method, url, body)
  assert.deepEqual((await send(method, url, body, { key })).warnings, warnings)
  return warnings
}

const redirect = (url = 'https://a.example/') => ({ type: 'redirect', url })
const geo = (...values: string[]) => ({
  nodes: [
    { id: 'in', type: 'entry' },
    { id: 'ask', type: 'condition', label: 'Country', field: 'geo', values },
    { id: 'a', type: 'redirect', url: 'https://a.example/?z={zone}' },
    { id: 'b', type: 'redirect', url: 'https://b.example/' },
  ],
  edges: [
    { from: 'in', to: 'ask' },
    { from: 'ask', to: 'a', branch: 'yes' },
    { from: 'ask', to: 'b', branch: 'no' },
  ],
})

test('unknown macros are listed for every address, and known ones are not', async () => {
  const bad = 'https://a.example/?c={click_id}&a={clickid}&b={payout}'
  const say =
    '{clickid}, {payout} are no macros of Sluice and are left out of the address. Correct the name, or remove it.'
  for (const path of ['/api/offers', '/api/landings']) {
    const made = await send('POST', path, { name: 'A', url: bad })
    assert.deepEqual(made.warnings, [{ code: 'unknown_macros', field: 'url', message: say }])
    const one = `${path}/${String(made['id'])}`
    assert.deepEqual(await warned('PUT', one, { name: 'B', url: bad }), made.warnings)
    assert.deepEqual(await warned('PUT', one, { name: 'C', url: 'https://a.example/?c={CLICK_ID}' }), [])
  }
  const rule = await send('POST', '/api/postbacks', {
    event_type: 'lead',
    url: 'https://a.example/?p={payout}&r={revenue}',
  })
  assert.deepEqual(short(rule.warnings), ['unknown_macros url'])
  const at = `/api/postbacks/${String(rule['id'])}`
  // No warning about the stored URL if no URL was sent.
  assert.deepEqual(await warned('PATCH', at, { active: false }), [])
  assert.deepEqual(short(await warned('PATCH', at, { url: 'https://a.example/?p={gone}' })), ['unknown_macros url'])
})

test('a campaign lists unknown macros of the sent fields, and a click flow without a fallback', async () => {
  const made = await send('POST', '/api/campaigns', { name: 'C', destination: redirect('https://a.example/{x}') })
  assert.deepEqual(short(made.warnings), ['unknown_macros destination.url'])
  const at = `/api/campaigns/${String(made['id'])}`
  assert.deepEqual(await warned('PATCH', at, { name: 'D' }), [])
  assert.deepEqual(short(await warned('PATCH', at, { fallback_url: 'https://a.example/{y}' })), [
    'unknown_macros fallback_url',
  ])
  const flow = await send('POST', '/api/click-flows', { name: 'F', graph: geo('DE') })
  const destination = { type: 'click_flow', click_flow_id: flow['id'] }
  assert.deepEqual(await warned('PATCH', at, { destination }), [])
  assert.deepEqual(short(await warned('PATCH', at, { fallback_url: null })), ['no_fallback fallback_url'])
  assert.deepEqual(short(await warned('PATCH', at, { destination })), ['no_fallback fallback_url'])
  assert.deepEqual(await warned('PATCH', at, { name: 'E' }), [])
  const published = await send('POST', `/api/click-flows/${String(flow['id'])}/publish`, {})
  assert.deepEqual(short(published.warnings), ['unknown_macros graph.nodes.2.url', 'no_fallback campaigns'])
  assert.match(published.warnings[1]?.message ?? '', /: E\. .*Give the campaigns a fallback/)
  await send('PATCH', at, { fallback_url: 'https://a.example/' })
  const again = await send('POST', `/api/click-flows/${String(flow['id'])}/publish`, {}, { key })
  assert.deepEqual(short(again.warnings), ['unknown_macros graph.nodes.2.url'])
})

test('an unknown country code is listed with the likely one, in a draft and at publishing', async () => {
  const graph = geo('DE', 'uk', 'ZZ', 'JA', 'XK')
  const made = await send('POST', '/api/click-flows', { name: 'F', graph })
  const said = made.warnings.filter(({ code }) => code === 'unknown_country')
  assert.deepEqual(
    said.map(({ message }) => message),
    [
      'Node ask (Country): no visitor comes from uk. Did you mean GB (United Kingdom)?',
      'Node ask (Country): no visitor comes from ZZ. Write the ISO code, such as DE.',
      'Node ask (Country): no visitor comes from JA. Did you mean JP (Japan)?',
    ],
  )
  assert.equal(said[0]?.field, 'graph.nodes.1.values')
  assert.deepEqual(made['problems'], [])
  const at = `/api/click-flows/${String(made['id'])}`
  assert.deepEqual(await warned('PUT', at, { name: 'F', graph }), made.warnings)
  assert.deepEqual(await warned('POST', `${at}/publish`, {}), made.warnings)
})

test('spend of a future day is recorded with a warning; today has none', async () => {
  const { id: campaign_id } = await send('POST', '/api/campaigns', { name: 'C', destination: redirect() })
  const day = (ahead: number) => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10)
  const put = (at: string, amount: unknown = 5) => warned('PUT', '/api/ad-spend', { campaign_id, day: at, amount })
  const late = day(365)
  const [future, ...more] = await put(late)
  assert.deepEqual([future?.code, future?.field, more], ['day_in_future', 'day', []])
  assert.match(future?.message ?? '', new RegExp(`^${late} is a day in the future`))
  assert.deepEqual(short(await put(day(-1))), ['no_clicks day'])
  assert.deepEqual(await put(late, ''), [])
  const csv = `day,campaign,amount\n${late},C,5\n${day(-1)},C,5\n`
  const { warnings } = await send('POST', '/api/ad-spend/import', { csv, dry_run: true, campaign_id })
  assert.deepEqual(short(warnings), ['day_in_future day'])
})

test('a date without a time as the end gets a warning that the day is not in the window, in report and feed, for keys and in the dashboard', async () => {
  const at = (from: string, to: string) => `date_from=${from}&date_to=${to}`
  const paths = ['/api/v1/report?dimension=day&', '/api/v1/clicks?', '/api/report?dimension=day&', '/api/clicks?']
  for (const path of paths) {
    const as = path.startsWith('/api/v1') ? { key } : owner
    const bare = (await house.call('GET', path + at('2026-03-01', '2026-03-02'), as)).json<{ warnings?: Warning[] }>()
    assert.deepEqual(bare.warnings, [
      {
        code: 'day_not_in_window',
        field: 'date_to',
        message:
          'The window ends at 2026-03-02T00:00:00.000Z, so that day is not in it. For the whole day send 2026-03-02T23:59:59.999Z.',
      },
    ])
    const whole = (await house.call('GET', path + at('2026-03-01', '2026-03-02T23:59:59.999Z'), as)).data()
    assert.ok(!('warnings' in whole), path)
  }
  const args = { dimension: 'day', date_from: '2026-03-01', date_to: '2026-03-02' }
  const { content } = await callTool(house, key, 'service_get_report', args)
  assert.match(content[0]?.text ?? '', /that day is not in it/)
})

test('a conversion sent again with another payout: by tool both payouts are returned, over HTTP the stored row byte for byte', async () => {
  const { key: at } = await send('POST', '/api/campaigns', {
    name: 'C',
    destination: redirect('https://a.example/?c={click_id}'),
  })
  const visit = await house.call('GET', `/c/${String(at)}`, { headers: BROWSER })
  const clickId = /c=([0-9a-z]{26})/.exec(String(visit.headers.location))?.[1]
  const body = { clickId, type: 'lead', nonce: 'order-1', payout: '3.50' }
  const first = await house.call('POST', '/api/events', { key, body })
  const again = await house.call('POST', '/api/events', { key, body: { ...body, payout: 9 } })
  assert.deepEqual([first.statusCode, again.statusCode, again.body], [201, 201, first.body])
  assert.equal(again.headers['idempotent-replayed'], 'true')
  const byTool = async (args: Body) => (await callTool(house, key, 'service_report_conversion', args)).structuredContent
  assert.deepEqual(await byTool({ ...body, payout: '9' }), {
    ...first.data(),
    replayed: true,
    warnings: [
      {
        code: 'payout_differs',
        field: 'payout',
        message:
          '9 was sent, and 3.5 is recorded and stays. If this is another conversion, send it with a nonce of its own.',
      },
    ],
  })
  for (const same of [body, { clickId, type: 'lead', nonce: 'order-1' }])
    assert.deepEqual(await byTool(same), { ...first.data(), replayed: true, warnings: [] })
  assert.ok(!('replayed' in (await byTool({ ...body, nonce: 'order-2' }))))
})
