// Putting changes back: what is written, what is refused and why, whole acts, and putting back what was put back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Row = {
  id: string
  act_id: string
  kind: string
  object_id: string
  change: string
  fields: { name: string; before: unknown; after: unknown }[]
  undoes_id: string | null
  undone_by_id: string | null
  cannot_undo: string | null
}
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

async function workspace(as?: SignedIn) {
  const owner = as ?? (await seedSignedIn(house))
  const call = (method: Method, url: string, body?: unknown) =>
    house.call(method, url, { cookie: owner.cookie, ...(body === undefined ? {} : { body }) })
  const made = async (url: string, body: unknown) => {
    const reply = await call('POST', url, body)
    assert.equal(reply.statusCode, 201, reply.body)
    return String(reply.data()['id'])
  }
  const rows = async (query = '') => {
    const reply = await call('GET', `/api/history?${query}`)
    assert.equal(reply.statusCode, 200, reply.body)
    return reply.json<{ data: Row[] }>().data
  }
  const undo = (row: Row | undefined, body: object = {}) => call('POST', `/api/history/${row?.id}/undo`, body)
  return { owner, call, made, rows, undo }
}

const refusalOf = (reply: Awaited<ReturnType<TestHouse['call']>>) => [reply.statusCode, reply.data()['code']]
const OFFER = { name: 'Casino', url: 'https://o.example/', payout: '7', payout_currency: 'EUR' }

test('a change of an address is put back through the same checks, as a new row that names the old one', async () => {
  const { call, made, rows, undo } = await workspace()
  const id = await made('/api/offers', OFFER)
  await call('PUT', `/api/offers/${id}`, { ...OFFER, url: 'https://wrong.example/' })
  const [changed] = await rows(`kind=offer&id=${id}`)
  assert.equal(changed?.cannot_undo, null)
  const reply = await undo(changed)
  assert.equal(reply.statusCode, 200, reply.body)
  const { act_id, data } = reply.json<{ act_id: string; data: Row[] }>()
  assert.deepEqual(
    data.map(({ undoes_id, act_id: of, fields }) => [undoes_id, of, fields]),
    [[changed?.id, act_id, [{ name: 'url', before: 'https://wrong.example/', after: OFFER.url }]]],
  )
  const { url, payout, payout_currency } = (await call('GET', `/api/offers/${id}`)).data()
  assert.deepEqual([url, payout, payout_currency], [OFFER.url, '7', 'EUR'])
  const [undone, before] = await rows(`kind=offer&id=${id}`)
  assert.deepEqual([before?.undone_by_id, before?.cannot_undo], [undone?.id, 'undone_before'])
  assert.deepEqual(refusalOf(await undo(before)), [409, 'undone_before'])
  const again = await undo(undone)
  assert.equal(again.statusCode, 200, again.body)
  assert.equal((await call('GET', `/api/offers/${id}`)).data()['url'], 'https://wrong.example/')
})

test('a field that was changed again since is not put back, whatever changed it and whatever came between', async () => {
  const { call, made, rows, undo } = await workspace()
  const id = await made('/api/offers', OFFER)
  const put = (fields: object) => call('PUT', `/api/offers/${id}`, { ...OFFER, ...fields })
  await put({ name: 'Two' })
  const [first] = await rows(`id=${id}`)
  await put({ name: 'Three' })
  const [, listed] = await rows(`id=${id}`)
  assert.equal(listed?.cannot_undo, 'changed_since')
  const refused = await undo(first)
  assert.deepEqual(refusalOf(refused), [409, 'changed_since'])
  for (const words of ['Two', 'name', '"Three"', '"Two"'])
    assert.ok(String(refused.data()['error']).includes(words), words)
  assert.equal((await rows(`id=${id}`)).length, 3)
  // The value is what the change wrote once more, so the rows between do not matter.
  await put({ name: 'Two' })
  assert.equal((await undo(first)).statusCode, 200)
  assert.equal((await call('GET', `/api/offers/${id}`)).data()['name'], 'Casino')
  // Another field may have changed.
  await put({ name: 'Casino', url: 'https://new.example/' })
  const [url] = await rows(`id=${id}`)
  await put({ name: 'Four', url: 'https://new.example/' })
  assert.equal((await undo(url)).statusCode, 200)
  const { name, url: is } = (await call('GET', `/api/offers/${id}`)).data()
  assert.deepEqual([name, is], ['Four', OFFER.url])
})

test('a creation is put back by archiving, or by deleting what nothing uses', async () => {
  const { call, made, rows, undo } = await workspace()
  const offer = await made('/api/offers', OFFER)
  const created = await undo((await rows(`id=${offer}`))[0])
  assert.equal(created.statusCode, 200, created.body)
  assert.equal((await call('GET', `/api/offers/${offer}`)).data()['status'], 'archived')
  const other = await made('/api/offers', OFFER)
  const funnel = await made('/api/funnels', { name: 'F', offers: [{ offer_id: other, weight: 1 }] })
  const [row] = await rows(`id=${funnel}`)
  const destination = { type: 'funnel', funnel_id: funnel }
  const campaign = await made('/api/campaigns', { name: 'Named', destination })
  const used = await undo(row)
  assert.deepEqual(refusalOf(used), [409, 'in_use'])
  assert.match(String(used.data()['error']), /Named/)
  await call('PATCH', `/api/campaigns/${campaign}`, { destination: { type: 'redirect', url: 'https://x.example/' } })
  assert.equal((await undo(row)).statusCode, 200)
  assert.equal((await call('GET', `/api/funnels/${funnel}`)).statusCode, 404)
})

test('a deletion is put back with its id, unless what it needs is gone or its address was given away', async () => {
  const { call, made, rows, undo } = await workspace()
  const offer = await made('/api/offers', OFFER)
  const before = (await call('GET', `/api/offers/${offer}`)).data()
  const funnel = await made('/api/funnels', { name: 'F', offers: [{ offer_id: offer, weight: 1 }] })
  await call('DELETE', `/api/funnels/${funnel}`)
  await call('DELETE', `/api/offers/${offer}`)
  const [offerRow, funnelRow] = await rows('limit=2')
  assert.deepEqual([offerRow?.cannot_undo, funnelRow?.cannot_undo], [null, 'undo_needs'])
  const needy = await undo(funnelRow)
  assert.deepEqual(refusalOf(needy), [409, 'undo_needs'])
  assert.match(String(needy.data()['error']), /offer “Casino”/)
  const restored = await undo(offerRow)
  assert.equal(restored.statusCode, 200, restored.body)
  const { updated_at: _, ...same } = before
  const { updated_at: __, ...now } = (await call('GET', `/api/offers/${offer}`)).data()
  assert.deepEqual({ ...now, campaigns: null }, { ...same, campaigns: null })
  assert.equal((await undo(funnelRow)).statusCode, 200)
  assert.equal((await call('GET', `/api/funnels/${funnel}`)).statusCode, 200)
  const campaign = await made('/api/campaigns', {
    name: 'C',
    destination: { type: 'redirect', url: 'https://x.example/' },
  })
  await call('PUT', `/api/campaigns/${campaign}/status`, { status: 'archived' })
  await call('DELETE', `/api/campaigns/${campaign}`)
  const [gone] = await rows(`id=${campaign}`)
  assert.equal(gone?.cannot_undo, 'cannot_undo')
  assert.deepEqual(refusalOf(await undo(gone)), [409, 'cannot_undo'])
})

test('every kind of object without another server is put back to what it was', async () => {
  const { call, made, rows, undo } = await workspace()
  const offer = await made('/api/offers', OFFER)
  const campaign = await made('/api/campaigns', { name: 'C', destination: { type: 'offer', offer_id: offer } })
  const source = await made('/api/traffic-sources', { name: 'Push' })
  const rule = await made('/api/postbacks', { event_type: 'lead', url: 'https://p.example/' })
  const network = await made('/api/networks', { name: 'N', template: 'plain' })
  const cap = await made('/api/caps', {
    object: 'offer',
    object_id: offer,
    metric: 'conversions',
    limit: 5,
    period: 'day',
  })
  const view = await made('/api/explore-views', { name: 'V', question: { levels: [{ dimension: 'geo' }] } })
  const landing = await made('/api/landings', { name: 'L', url: 'https://l.example/' })
  const hours = { timezone: 'UTC', week: Array(7).fill('1'.repeat(48)) }
  const writes: [Method, string, unknown, string][] = [
    [
      'PATCH',
      `/api/campaigns/${campaign}`,
      { destination: { type: 'redirect', url: 'https://x.example/' } },
      `/api/campaigns/${campaign}`,
    ],
    ['PATCH', `/api/campaigns/${campaign}`, { cost: { model: 'cpc', amount: '0.1' } }, `/api/campaigns/${campaign}`],
    ['PATCH', `/api/campaigns/${campaign}`, { traffic_source_id: source }, `/api/campaigns/${campaign}`],
    ['PUT', `/api/campaigns/${campaign}/status`, { status: 'paused' }, `/api/campaigns/${campaign}`],
    ['PUT', `/api/campaigns/${campaign}/open-hours`, { open_hours: hours }, `/api/campaigns/${campaign}/open-hours`],
    ['PATCH', `/api/traffic-sources/${source}`, { name: 'Pop', cost_unit: 'cpm' }, `/api/traffic-sources/${source}`],
    ['PATCH', `/api/postbacks/${rule}`, { active: false, url: 'https://q.example/' }, `/api/postbacks/${rule}`],
    ['DELETE', `/api/postbacks/${rule}`, undefined, `/api/postbacks/${rule}`],
    ['PATCH', `/api/networks/${network}`, { name: 'N2', hold_days: 3 }, `/api/networks/${network}`],
    ['PATCH', `/api/caps/${cap}`, { limit: 9, period: 'month' }, '/api/caps'],
    ['DELETE', `/api/caps/${cap}`, undefined, '/api/caps'],
    ['PATCH', `/api/explore-views/${view}`, { name: 'V2', is_start_page: true }, '/api/explore-views'],
    ['PUT', `/api/landings/${landing}`, { name: 'L2', url: 'https://m.example/' }, `/api/landings/${landing}`],
    ['PUT', `/api/landings/${landing}/status`, { status: 'archived' }, `/api/landings/${landing}`],
    ['DELETE', `/api/landings/${landing}`, undefined, `/api/landings/${landing}`],
    ['PUT', '/api/event-settings', { names: { purchase: 'Sale' }, goal: ['lead'] }, '/api/event-settings'],
    ['PUT', '/api/billing/price-per-person', { price_per_person: '0.4' }, '/api/billing'],
    ['PUT', '/api/billing/low-balance', { low_balance_threshold: '2' }, '/api/billing'],
    ['PUT', '/api/reporting-currency', { currency: 'EUR' }, '/api/organizations'],
    [
      'PUT',
      '/api/ad-spend',
      { campaign_id: campaign, day: '2026-11-20', amount: '3' },
      `/api/ad-spend?date_from=2026-11-20&date_to=2026-11-21`,
    ],
  ]
  const stable = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (name, inner: unknown) =>
      ['updated_at', 'updated_by', 'counted_from', 'warnings'].includes(name) ? undefined : inner,
    )
  for (const [method, url, body, read] of writes) {
    const was = stable((await call('GET', read)).json())
    const written = await call(method, url, body)
    assert.ok(written.statusCode < 300, `${url}: ${written.body}`)
    assert.notDeepEqual(stable((await call('GET', read)).json()), was, url)
    const [row] = await rows('limit=1')
    assert.equal(row?.cannot_undo, null, `${url} ${JSON.stringify(row)}`)
    const undone = await undo(row)
    assert.equal(undone.statusCode, 200, `${url}: ${undone.body}`)
    assert.deepEqual(
      undone.json<{ data: Row[] }>().data.map(({ undoes_id }) => undoes_id),
      [row?.id],
      url,
    )
    assert.deepEqual(stable((await call('GET', read)).json()), was, url)
  }
})

test('an act is put back as one: all of its rows or none, except those that are left out', async () => {
  const { call, made, rows, undo } = await workspace()
  const campaign = await made('/api/campaigns', {
    name: 'C',
    destination: { type: 'redirect', url: 'https://x.example/' },
  })
  const days = ['2026-11-01', '2026-11-02', '2026-11-03']
  const csv = ['campaign,day,amount', ...days.map(day => `${campaign},${day},5`)].join('\n')
  const imported = await call('POST', '/api/ad-spend/import', { csv, dry_run: false })
  assert.equal(imported.statusCode, 200, imported.body)
  const written = await rows('kind=ad_spend')
  assert.deepEqual([written.length, new Set(written.map(({ act_id }) => act_id)).size], [3, 1])
  assert.deepEqual((await rows(`act=${written[0]?.act_id}`)).length, 3)
  await call('PUT', '/api/ad-spend', { campaign_id: campaign, day: days[1], amount: '8' })
  const spent = async () =>
    (await call('GET', '/api/ad-spend?date_from=2026-11-01&date_to=2026-11-05')).json<{
      data: { day: string; amount: string }[]
    }>().data
  const before = await spent()
  assert.deepEqual(refusalOf(await undo(written[0], { whole_act: true })), [409, 'changed_since'])
  assert.deepEqual(await spent(), before)
  assert.equal((await rows('kind=ad_spend')).length, 4)
  const changed = written.find(
    row => row.fields.length > 0 && row.cannot_undo === null && row.object_id === campaign && rowsDay(row) === days[1],
  )
  const done = await undo(written[0], { whole_act: true, leave_out: [changed?.id ?? ''] })
  assert.equal(done.statusCode, 200, done.body)
  assert.equal(done.json<{ data: Row[] }>().data.length, 2)
  assert.deepEqual(
    (await spent()).map(({ day, amount }) => [day, amount]),
    [[days[1], '8']],
  )
  const again = await undo(done.json<{ data: Row[] }>().data[0], { whole_act: true })
  assert.equal(again.statusCode, 200, again.body)
  assert.equal((await spent()).length, 3)
})

const rowsDay = (row: Row): string => (row as unknown as { object_name: string }).object_name

test('verdicts on conversions are put back as one', async () => {
  const { owner, call, made, rows, undo } = await workspace()
  const offer = await made('/api/offers', { ...OFFER, payout_currency: null })
  const { id, key } = (
    await call('POST', '/api/campaigns', { name: 'C', destination: { type: 'offer', offer_id: offer } })
  ).data()
  assert.ok(id)
  const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x64) Chrome/130.0.0.0' }
  await house.call('GET', `/c/${String(key)}`, { headers: browser })
  await house.call('GET', `/c/${String(key)}`, { headers: browser })
  const clicks = (await call('GET', '/api/clicks')).json<{ data: { id: string }[] }>().data
  const events: string[] = []
  for (const click of clicks)
    events.push(String((await call('POST', '/api/events', { clickId: click.id, type: 'lead' })).data()['id']))
  assert.equal(events.length, 2)
  const csv = ['event_id,status', ...events.map(event => `${event},rejected`)].join('\n')
  await call('POST', '/api/events/revisions/import', { csv, dry_run: false })
  const written = await rows('kind=event')
  assert.equal(written.length, 2)
  const done = await undo(written[0], { whole_act: true })
  assert.equal(done.statusCode, 200, done.body)
  assert.equal(done.json<{ data: Row[] }>().data.length, 2)
  for (const event of events) {
    const { status, amount } = (await call('GET', `/api/events/${event}/revisions`)).data()
    assert.deepEqual([status, amount], ['approved', '7'])
  }
  assert.ok(owner)
  await call('POST', '/api/events/revisions/import', { csv, dry_run: false })
  const [again] = await rows('kind=event&limit=1')
  await call('POST', `/api/events/${events[0]}/revisions`, { status: 'approved' })
  assert.deepEqual(refusalOf(await undo(again, { whole_act: true })), [409, 'changed_since'])
  const standing = await Promise.all(events.map(event => call('GET', `/api/events/${event}/revisions`)))
  assert.deepEqual(
    standing.map(reply => reply.data()['status']),
    ['approved', 'rejected'],
  )
})

test('a version of a click flow is put back by publishing the earlier one again; the draft stays', async () => {
  const { call, made, rows, undo } = await workspace()
  const graph = (url: string) => ({
    nodes: [
      { id: 'entry', type: 'entry' },
      { id: 'end', type: 'redirect', url },
    ],
    edges: [{ from: 'entry', to: 'end' }],
  })
  const id = await made('/api/click-flows', { name: 'F', graph: graph('https://one.example/') })
  await call('POST', `/api/click-flows/${id}/publish`)
  const [first] = await rows(`id=${id}`)
  assert.equal(first?.cannot_undo, 'cannot_undo')
  await call('PUT', `/api/click-flows/${id}`, { name: 'F', graph: graph('https://two.example/') })
  await call('POST', `/api/click-flows/${id}/publish`)
  const [second] = await rows(`id=${id}`)
  const draft = graph('https://three.example/')
  await call('PUT', `/api/click-flows/${id}`, { name: 'F', graph: draft })
  const undone = await undo(second)
  assert.equal(undone.statusCode, 200, undone.body)
  const flow = (await call('GET', `/api/click-flows/${id}`)).data()
  assert.deepEqual([flow['published_version'], flow['graph']], [3, draft])
  const version = (await call('GET', `/api/click-flows/${id}/versions/3`)).data()
  assert.deepEqual(version['graph'], graph('https://one.example/'))
})

test('putting back asks for the role of the write, and finds nothing of another workspace', async () => {
  const { owner, made, rows, undo } = await workspace()
  await made('/api/offers', OFFER)
  const [row] = await rows()
  const member = await workspace(await seedSignedIn(house, { place: owner, role: 'member' }))
  assert.equal((await member.rows()).length, 1)
  assert.deepEqual(refusalOf(await member.undo(row)), [403, 'role_forbidden'])
  const stranger = await workspace()
  assert.deepEqual(await stranger.rows(), [])
  assert.deepEqual(refusalOf(await stranger.undo(row)), [404, 'not_found'])
  assert.deepEqual(refusalOf(await undo({ ...row, id: toWireId(newId()) } as Row)), [404, 'not_found'])
  assert.equal((await rows()).length, 1)
})

test('a secret and an entry of the ledger cannot be put back', async () => {
  const { call, made, rows, undo } = await workspace()
  const network = await made('/api/networks', { name: 'N', template: 'plain' })
  await call('POST', `/api/networks/${network}/rotate`, {})
  await call('POST', '/api/billing/top-ups', { amount: '5' })
  const [top, rotated] = await rows('limit=2')
  for (const row of [top, rotated]) {
    assert.equal(row?.cannot_undo, 'cannot_undo')
    assert.deepEqual(refusalOf(await undo(row)), [409, 'cannot_undo'])
  }
})

test('an act that moves the start page from one view to another is put back whole, and again', async () => {
  const { call, made, rows, undo } = await workspace()
  const view = (name: string, more: object) =>
    made('/api/explore-views', { name, question: { levels: [{ dimension: 'campaign' }] }, is_shared: true, ...more })
  const first = await view('First', { is_start_page: true })
  const second = await view('Second', {})
  await call('PATCH', `/api/explore-views/${second}`, { name: 'Renamed', is_start_page: true })
  const state = async () =>
    ((await call('GET', '/api/explore-views')).data()['data'] as { id: string; name: string; is_start_page: boolean }[])
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ id, name, is_start_page }) => [id, name, is_start_page])
  const moved = await state()
  const putBack = async () => {
    const [row] = await rows('kind=view&limit=1')
    const done = await undo(row, { whole_act: true })
    assert.equal(done.statusCode, 200, done.body)
    const act = await rows(`act=${row?.act_id}`)
    assert.ok(act.every(({ undone_by_id }) => undone_by_id !== null))
  }
  await putBack()
  assert.deepEqual(await state(), [
    [first, 'First', true],
    [second, 'Second', false],
  ])
  await putBack()
  assert.deepEqual(await state(), moved)
})
