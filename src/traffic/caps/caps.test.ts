// Caps through the door: who may, what is refused, what they count, and where visitors go when they are reached.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type CapReply, capsAs } from '../../../tests/support/caps.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, openTestHouse, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { awayFromMidnight } from '../../../tests/support/midnight.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'

let house: TestHouse
let owner: SignedIn
let at: ReturnType<typeof capsAs>
before(async () => {
  await awayFromMidnight()
  house = await useHouse()
  owner = await seedSignedIn(house)
  at = capsAs(house, owner)
})
after(() => house.end())

const FALLBACK = 'https://back.example/?c={click_id}'

const holds = async () => {
  const books = await at.did('GET', '/api/billing/reconciliation')
  assert.equal(books['holds'], true, JSON.stringify(books))
}

/** Sends conversions of a new click each, all at once. */
async function convertMany(key: string, count: number): Promise<string[]> {
  const clicks = await Promise.all(Array.from({ length: count }, () => at.visit(key)))
  const replies = await Promise.all(clicks.map(({ click }) => at.convert(click)))
  for (const reply of replies) assert.equal(reply.statusCode, 201, reply.body)
  return clicks.map(({ click }) => click)
}
const goesTo = (key: string, host: string, of = house) =>
  eventually(`visitors of ${key} go to ${host}`, async () => (await at.visit(key, of)).host === host)

/** All that stands of a workspace's caps. Only where no click is being settled does nothing of it move by itself. */
async function rows({ org_id }: Pick<SignedIn, 'org_id'>) {
  const { reads } = house.database
  const { rows: caps } = await reads.query('select c::text as row from caps c where org_id = $1 order by 1', [org_id])
  const { rows: counts } = await reads.query('select n::text as row from cap_counts n where org_id = $1 order by 1', [
    org_id,
  ])
  return { caps, counts }
}
/** A workspace of its own, which no other test's clicks are settled in. */
async function calm() {
  const person = await seedSignedIn(house)
  return { person, at: capsAs(house, person) }
}

test('of thirty conversions at once all count, the limit is reached once, and the next visitors go to the other offer', async () => {
  const [first, second] = [await at.offer(), await at.offer()]
  const { key } = await at.follow(first.id, { fallback_url: FALLBACK })
  const cap = await at.cap(first.id, { limit: 10, then_offer_id: second.id })
  assert.deepEqual([cap.state, cap.used, cap.reached_at, cap.object_name], ['open', 0, null, 'offer1'])
  const [click = ''] = await convertMany(key, 30)
  await goesTo(key, second.host)
  const full = await at.read(cap.id)
  assert.deepEqual([full.state, full.used, full.over_by], ['reached', 30, 20])
  assert.ok(full.reached_at !== null)
  // The same conversion again is the same row, and counts no second time.
  assert.equal((await at.convert(click)).statusCode, 201)
  assert.deepEqual(await at.read(cap.id), full)
  // What was sent to the other offer counts for that one, and a late conversion of a click before still for the first.
  const { click: led } = await at.visit(key)
  assert.equal((await at.convert(led)).data()['offer_id'], second.id)
  assert.equal((await at.convert(click, { type: 'deposit' })).data()['offer_id'], first.id)
  assert.equal((await at.read(cap.id)).used, 31)
  const { rows: reached } = await house.database.reads.query(
    'select count(*)::int as count, min(used) as used from cap_counts where cap_id = $1 and reached_at is not null',
    [toUuid(cap.id)],
  )
  assert.deepEqual(reached, [{ count: 1, used: 31 }])
  await holds()
})

test('conversions that race over two processes are all counted', async t => {
  const offer = await at.offer()
  const { key } = await at.follow(offer.id, { fallback_url: FALLBACK })
  const cap = await at.cap(offer.id, { limit: 15 })
  const second = await openTestHouse(house.database, {})
  t.after(() => second.end())
  const clicks = await Promise.all(Array.from({ length: 30 }, () => at.visit(key)))
  await Promise.all(
    clicks.map(({ click }, n) =>
      (n % 2 === 0 ? house : second).call('POST', '/api/events', {
        cookie: owner.cookie,
        body: { clickId: click, type: 'lead' },
      }),
    ),
  )
  assert.equal((await at.read(cap.id)).used, 30)
  await goesTo(key, 'back.example', house)
  await goesTo(key, 'back.example', second)
  await holds()
})

test('only the types that are named count, and no test click', async () => {
  const offer = await at.offer()
  const { id, key } = await at.follow(offer.id)
  const cap = await at.cap(offer.id, { limit: 2, event_types: ['ftd', 'deposit'] })
  assert.deepEqual(cap.event_types, ['deposit', 'ftd'])
  const { click } = await at.visit(key)
  await at.convert(click)
  const link = new URL(String((await at.did('GET', `/api/campaigns/${id}/test-link`))['url']), 'http://localhost')
  const tried = await at.visit(`${key}${link.search}`)
  await at.convert(tried.click, { type: 'ftd' })
  assert.equal((await at.read(cap.id)).used, 0)
  await at.convert(click, { type: 'deposit' })
  assert.equal((await at.read(cap.id)).used, 1)
})

test('without another offer, or with one that is archived, visitors go as if the offer were archived', async () => {
  const [full, other] = [await at.offer(), await at.offer()]
  const { key } = await at.follow(full.id, { fallback_url: FALLBACK })
  const { key: without } = await at.follow(full.id)
  const cap = await at.cap(full.id, { then_offer_id: other.id })
  await convertMany(key, 1)
  await goesTo(key, other.host)
  await at.did('PUT', `/api/offers/${other.id}/status`, { status: 'archived' })
  assert.equal((await at.visit(key)).host, 'back.example')
  await at.did('PUT', `/api/offers/${other.id}/status`, { status: 'active' })
  await at.did('PATCH', `/api/caps/${cap.id}`, { then_offer_id: null })
  assert.equal((await at.visit(key)).host, 'back.example')
  // Where there is no fallback somebody has paid for them all the same: they go on, and the click earns for no offer.
  const { host, click } = await at.visit(without)
  assert.equal(host, full.host)
  assert.equal((await at.convert(click)).data()['offer_id'], null)
})

test('a chain leads on to the first offer that takes visitors', async () => {
  const offers = [await at.offer(), await at.offer(), await at.offer()] as const
  const keys = await Promise.all(offers.map(async ({ id }) => (await at.follow(id, { fallback_url: FALLBACK })).key))
  const [a, b, c] = offers
  await at.cap(a.id, { then_offer_id: b.id })
  await at.cap(b.id, { then_offer_id: c.id })
  await convertMany(keys[0] ?? '', 1)
  await goesTo(keys[0] ?? '', b.host)
  await convertMany(keys[1] ?? '', 1)
  await goesTo(keys[0] ?? '', c.host)
  assert.equal((await at.visit(keys[1] ?? '')).host, c.host)
})

test('a funnel gives its visitors to its other offers, and where all are full to the offers their caps lead to', async () => {
  const offers = [await at.offer(), await at.offer(), await at.offer()] as const
  const [a, b, c] = offers
  const { id } = await at.did<{ id: string }>('POST', '/api/funnels', {
    name: 'Share',
    landings: [],
    offers: [
      { offer_id: a.id, weight: 1 },
      { offer_id: b.id, weight: 1 },
    ],
  })
  const { key } = await at.campaign({ type: 'funnel', funnel_id: id }, { fallback_url: FALLBACK })
  const { key: only } = await at.follow(a.id)
  const { key: other } = await at.follow(b.id)
  const hosts = async () => {
    const seen = new Set<string | undefined>()
    for (let n = 0; n < 24; n += 1)
      seen.add((await at.visit(key, house, { cookie: `vis_id=${crypto.randomUUID()}` })).host)
    return [...seen].join(' ')
  }
  assert.match(await hosts(), new RegExp(`^(${a.host} ${b.host}|${b.host} ${a.host})$`))
  const first = await at.cap(a.id, { then_offer_id: c.id })
  await convertMany(only, 1)
  await eventually('the first is full', async () => (await hosts()) === b.host)
  await at.cap(b.id)
  await convertMany(other, 1)
  await eventually('both are full', async () => (await hosts()) === c.host)
  await at.did('PATCH', `/api/caps/${first.id}`, { then_offer_id: null })
  assert.equal(await hosts(), 'back.example')
})

test('a campaign that is full is as if it were paused', async () => {
  const offer = await at.offer()
  const { id, key } = await at.follow(offer.id)
  await at.cap(id, { object: 'campaign', limit: 2 })
  await convertMany(key, 2)
  let led = 2
  await eventually('the page of a paused campaign', async () => {
    const { status } = await at.visit(key)
    if (status === 302) led += 1
    return status === 200
  })
  const { clicks } = await at.did('GET', `/api/campaigns/${id}/clicks-while-paused`)
  assert.equal(clicks, 1)
  const { rows: stored } = await house.database.reads.query(
    'select count(*) filter (where tracked)::int as tracked, count(*)::int as every from clicks where campaign_id = $1',
    [toUuid(id)],
  )
  assert.deepEqual(stored, [{ tracked: led, every: led + 1 }])
  await holds()
})

test('a click flow leads on from an offer that is full, also behind a landing; who was on the landing before goes on', async () => {
  const [full, other] = [await at.offer(), await at.offer()]
  const landing = await at.did('POST', '/api/landings', { name: 'Page', url: 'https://page.example/?c={click_id}' })
  const nodes = (withLanding: boolean) => ({
    nodes: [
      { id: 'in', type: 'entry' },
      ...(withLanding ? [{ id: 'page', type: 'landing', landing_id: landing['id'] }] : []),
      { id: 'out', type: 'offer', offer_id: full.id },
    ],
    edges: withLanding
      ? [
          { from: 'in', to: 'page' },
          { from: 'page', to: 'out' },
        ]
      : [{ from: 'in', to: 'out' }],
  })
  const flowed = async (withLanding: boolean) => {
    const { id } = await at.did('POST', '/api/click-flows', { name: 'Flow', graph: nodes(withLanding) })
    await at.did('POST', `/api/click-flows/${String(id)}/publish`)
    return at.campaign({ type: 'click_flow', click_flow_id: id }, { fallback_url: FALLBACK })
  }
  const [{ key }, { key: landed }] = [await flowed(false), await flowed(true)]
  const before = await at.visit(landed)
  const { id } = await at.cap(full.id, { then_offer_id: other.id })
  await convertMany(key, 1)
  await goesTo(key, other.host)
  const goOn = async (click: string) =>
    new URL(String((await house.call('GET', `/o/${click}`, { headers: BROWSER })).headers.location)).host
  const now = await at.visit(landed)
  assert.deepEqual([now.host, await goOn(now.click), await goOn(before.click)], ['page.example', other.host, full.host])
  assert.equal((await at.convert(now.click)).data()['offer_id'], other.id)
  await at.did('PATCH', `/api/caps/${id}`, { then_offer_id: null })
  assert.deepEqual([(await at.visit(key)).host, (await at.visit(landed)).host], ['back.example', 'back.example'])
})

test('a period ends at the midnight of its zone, and nothing has to run for it', async t => {
  const offer = await at.offer()
  const { key } = await at.follow(offer.id, { fallback_url: FALLBACK })
  const cap = await at.cap(offer.id, { timezone: 'America/Sao_Paulo' })
  await convertMany(key, 1)
  await goesTo(key, 'back.example')
  const { resets_at } = await at.read(cap.id)
  assert.match(String(resets_at), /T03:00:00\.000Z$/)
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse(String(resets_at)) - 1 })
  assert.equal((await at.visit(key)).host, 'back.example')
  t.mock.timers.setTime(Date.parse(String(resets_at)))
  assert.equal((await at.visit(key)).host, offer.host)
})

test('the first conversion of a new period begins its count, and what the one before came to stays', async () => {
  const offer = await at.offer()
  const { key } = await at.follow(offer.id, { fallback_url: FALLBACK })
  const cap = await at.cap(offer.id, { limit: 2 })
  await convertMany(key, 2)
  await goesTo(key, 'back.example')
  // As it is a day later.
  const { rows: was } = await house.database.reads.query<{ start: string; end: string }>(
    `select n.period_start - interval '1 day' as start, c.closed_until - interval '1 day' as end
    from caps c join cap_counts n on n.org_id = c.org_id and n.cap_id = c.id where c.org_id = $1 and c.id = $2`,
    [owner.org_id, toUuid(cap.id)],
  )
  const { start, end } = was[0] ?? assert.fail()
  const moved = [owner.org_id, toUuid(cap.id)]
  await house.database.worker.query('update cap_counts set period_start = $3 where org_id = $1 and cap_id = $2', [
    ...moved,
    start,
  ])
  await house.database.worker.query(
    'update caps set closed_until = $3, updated_at = now() where org_id = $1 and id = $2',
    [...moved, end],
  )
  await goesTo(key, offer.host)
  assert.deepEqual(
    [(await at.read(cap.id)).state, (await at.read(cap.id)).used, (await at.read(cap.id)).reached_at],
    ['open', 0, null],
  )
  await convertMany(key, 1)
  assert.deepEqual([(await at.read(cap.id)).state, (await at.read(cap.id)).used], ['open', 1])
  await convertMany(key, 1)
  await goesTo(key, 'back.example')
  const { rows: kept } = await house.database.reads.query(
    'select used, reached_at is not null as reached from cap_counts where cap_id = $1 order by period_start',
    [toUuid(cap.id)],
  )
  assert.deepEqual(kept, [
    { used: 2, reached: true },
    { used: 2, reached: true },
  ])
  // What was moved to yesterday has its conversions today.
  await at.did('DELETE', `/api/caps/${cap.id}`)
})

test('a cap counts what its period has brought before it was made; a total one counts from then on', async () => {
  const offer = await at.offer()
  const { key } = await at.follow(offer.id, { fallback_url: FALLBACK })
  await convertMany(key, 3)
  const day = await at.cap(offer.id, { limit: 5 })
  const month = await at.cap(offer.id, { limit: 5, period: 'month', timezone: 'Asia/Tokyo' })
  const total = await at.cap(offer.id, { limit: 5, period: 'total' })
  assert.deepEqual([day.used, month.used, total.used, total.resets_at], [3, 3, 0, null])
  assert.ok(day.counted_from < month.resets_at!)
  const closed = await at.cap(offer.id, { limit: 3 })
  assert.equal(closed.state, 'reached')
  assert.equal((await at.visit(key)).host, 'back.example')
})

test('another limit opens or closes at once, and a cap that is switched off or deleted closes nothing', async () => {
  const offer = await at.offer()
  const { key } = await at.follow(offer.id, { fallback_url: FALLBACK })
  const { id } = await at.cap(offer.id, { limit: 2 })
  const change = (fields: object) => at.did<CapReply>('PATCH', `/api/caps/${id}`, fields)
  await convertMany(key, 2)
  await goesTo(key, 'back.example')
  assert.equal((await change({ limit: 3 })).state, 'open')
  assert.equal((await at.visit(key)).host, offer.host)
  assert.equal((await change({ limit: 1 })).state, 'reached')
  assert.equal((await at.visit(key)).host, 'back.example')
  assert.equal((await change({ active: false })).state, 'open')
  const { click } = await at.visit(key)
  // Not counted while it is off, and counted when it is on again.
  await at.convert(click)
  const again = await change({ active: true })
  assert.deepEqual([again.state, again.used], ['reached', 3])
  assert.deepEqual([(await change({ event_types: ['ftd'] })).used, (await change({ event_types: [] })).used], [0, 3])
  assert.deepEqual(await at.did('DELETE', `/api/caps/${id}`), { ok: true })
  assert.equal((await at.visit(key)).host, offer.host)
  for (const [method, url] of [
    ['PATCH', `/api/caps/${id}`],
    ['DELETE', `/api/caps/${id}`],
    ['POST', `/api/caps/${id}/reopen`],
  ] as const)
    assert.equal((await at.ask(method, url, {})).statusCode, 404)
})

test('in another zone it counts the day of that zone, and is reached there', async () => {
  const offer = await at.offer()
  const { key } = await at.follow(offer.id, { fallback_url: FALLBACK })
  const { id } = await at.cap(offer.id, { limit: 4 })
  for (const timezone of ['Pacific/Kiritimati', 'UTC', 'Pacific/Kiritimati', 'UTC']) {
    const { used } = await at.did<CapReply>('PATCH', `/api/caps/${id}`, { timezone })
    await convertMany(key, 1)
    assert.equal((await at.read(id)).used, used + 1)
    await holds()
  }
  await goesTo(key, 'back.example')
})

test('a cap that is opened again stays open for its period, counts on, and says who did it', async () => {
  const offer = await at.offer()
  const { key } = await at.follow(offer.id, { fallback_url: FALLBACK })
  const { id } = await at.cap(offer.id, { limit: 2 })
  const reopen = () => at.did<CapReply>('POST', `/api/caps/${id}/reopen`)
  const untouched = await reopen()
  assert.deepEqual([untouched.state, untouched.reopened_at], ['open', null])
  await convertMany(key, 2)
  await goesTo(key, 'back.example')
  const opened = await reopen()
  assert.deepEqual([opened.state, opened.reopened_by, opened.used], ['open', 'Person', 2])
  assert.ok(opened.reopened_at !== null && opened.reached_at !== null)
  assert.equal((await at.visit(key)).host, offer.host)
  await convertMany(key, 2)
  assert.deepEqual([(await at.read(id)).state, (await at.read(id)).over_by], ['open', 2])
  // A change that is not of its limit leaves it open; another limit holds.
  assert.equal((await at.did<CapReply>('PATCH', `/api/caps/${id}`, { event_types: ['lead'] })).state, 'open')
  const anew = await at.did<CapReply>('PATCH', `/api/caps/${id}`, { limit: 3 })
  assert.deepEqual([anew.state, anew.reopened_at], ['reached', null])
})

test('a circle is refused, and a chain that is too long', async () => {
  const { person, at } = await calm()
  const offers = await Promise.all(Array.from({ length: 8 }, () => at.offer()))
  const ids = offers.map(({ id }) => id)
  const before = async (n: number) => at.cap(ids[n] ?? '', { then_offer_id: ids[n + 1] ?? '' })
  for (const n of [0, 1, 2, 3, 4]) await before(n)
  const draft = (from: number, to: number) => ({
    object: 'offer',
    object_id: ids[from],
    metric: 'conversions',
    limit: 1,
    period: 'day',
    then_offer_id: ids[to],
  })
  const was = await rows(person)
  for (const [from, to, code] of [
    [2, 0, 'cap_cycle'],
    [3, 3, 'cap_cycle'],
    [5, 6, undefined],
  ] as const) {
    const reply = await at.ask('POST', '/api/caps', draft(from, to))
    assert.deepEqual([reply.statusCode, reply.data()['code']], [400, code], reply.body)
  }
  assert.deepEqual(await rows(person), was)
  const alone = await at.cap(ids[4] ?? '')
  const moved = await at.ask('PATCH', `/api/caps/${alone.id}`, { then_offer_id: ids[0] })
  assert.deepEqual([moved.statusCode, moved.data()['code']], [400, 'cap_cycle'])
  assert.equal((await at.read(alone.id)).then_offer_id, null)
})

test('of two caps that would close a circle together one is refused', async () => {
  for (let n = 0; n < 5; n += 1) {
    const [a, b] = [await at.offer(), await at.offer()]
    const lead = (from: string, to: string) =>
      at.ask('POST', '/api/caps', {
        object: 'offer',
        object_id: from,
        metric: 'conversions',
        limit: 1,
        period: 'day',
        then_offer_id: to,
      })
    const replies = await Promise.all([lead(a.id, b.id), lead(b.id, a.id)])
    assert.deepEqual(
      replies.map(({ statusCode }) => statusCode).toSorted((x, y) => x - y),
      [201, 400],
    )
  }
})

test('what cannot be a cap is refused and leaves nothing behind', async () => {
  const { person, at } = await calm()
  const [offer, archived, foreign] = [await at.offer(), await at.offer(), newId()]
  const { id: campaign_id } = await at.follow(offer.id)
  await at.did('PUT', `/api/offers/${archived.id}/status`, { status: 'archived' })
  const stranger = capsAs(house, await seedSignedIn(house))
  const theirs = await stranger.offer('theirs')
  const good = { object: 'offer', object_id: offer.id, metric: 'conversions', limit: 1, period: 'day' }
  const was = await rows(person)
  for (const wrong of [
    { limit: 0 },
    { limit: 1.5 },
    { limit: '5' },
    { period: 'hour' },
    { timezone: 'Europe/Atlantis' },
    { timezone: '+03:00' },
    { metric: 'visits' },
    { event_types: ['sale'] },
    { object: 'funnel' },
    { object: 'campaign' },
    { object: 'campaign', object_id: campaign_id, then_offer_id: offer.id },
    { object_id: toWireId(foreign) },
    { object_id: theirs.id },
    { object_id: 'nonsense' },
    { then_offer_id: theirs.id },
    { then_offer_id: archived.id },
    { then_offer_id: toWireId(foreign) },
  ])
    assert.equal((await at.ask('POST', '/api/caps', { ...good, ...wrong })).statusCode, 400, JSON.stringify(wrong))
  assert.deepEqual(await rows(person), was)
  const own = await at.cap(offer.id)
  const ofCampaign = await at.cap(campaign_id, { object: 'campaign' })
  const then = await rows(person)
  assert.equal((await at.ask('PATCH', `/api/caps/${own.id}`, { limit: 0 })).statusCode, 400)
  const led = await at.ask('PATCH', `/api/caps/${ofCampaign.id}`, { then_offer_id: offer.id })
  assert.equal(led.statusCode, 400)
  for (const id of [own.id, toWireId(newId()), 'nonsense'])
    for (const [method, url, body] of [
      ['PATCH', `/api/caps/${id}`, { limit: 9 }],
      ['DELETE', `/api/caps/${id}`, undefined],
      ['POST', `/api/caps/${id}/reopen`, undefined],
    ] as const)
      assert.equal((await stranger.ask(method, url, body)).statusCode, 404)
  assert.deepEqual((await stranger.did<{ data: object[] }>('GET', '/api/caps')).data, [])
  assert.deepEqual((await stranger.did<{ data: object[] }>('GET', `/api/caps?object_id=${offer.id}`)).data, [])
  assert.deepEqual(await rows(person), then)
})

test('members read caps, admins change them, and no key does either', async () => {
  const { person, at } = await calm()
  const offer = await at.offer()
  const cap = await at.cap(offer.id)
  const member = await seedSignedIn(house, { place: person, role: 'member' })
  const { secret } = await seedKey(house.database, person, { rights: ALL_RIGHTS })
  const draft = { object: 'offer', object_id: offer.id, metric: 'conversions', limit: 1, period: 'day' }
  const calls = [
    ['GET', `/api/caps?object_id=${offer.id}`, undefined],
    ['POST', '/api/caps', draft],
    ['PATCH', `/api/caps/${cap.id}`, { limit: 2 }],
    ['POST', `/api/caps/${cap.id}/reopen`, undefined],
    ['DELETE', `/api/caps/${cap.id}`, undefined],
  ] as const
  const was = await rows(person)
  for (const [method, url, body] of calls) {
    const asMember = await at.ask(method, url, body, { cookie: member.cookie })
    assert.equal(asMember.statusCode, method === 'GET' ? 200 : 403, `${method} ${url}`)
    const asKey = await at.ask(method, url, body, { key: secret })
    assert.deepEqual([asKey.statusCode, asKey.data()['code']], [403, 'api_key_resource_forbidden'])
  }
  assert.deepEqual(await rows(person), was)
})

test('the list is paged, and knows no caps of what was deleted', async () => {
  const offer = await at.offer()
  const ids = [await at.cap(offer.id), await at.cap(offer.id), await at.cap(offer.id)].map(({ id }) => id)
  const page = (query: string) =>
    at.did<{ data: CapReply[]; next_cursor: string | null }>('GET', `/api/caps?object_id=${offer.id}&${query}`)
  const first = await page('limit=2')
  const second = await page(`limit=2&cursor=${first.next_cursor}`)
  assert.deepEqual(
    [...first.data, ...second.data].map(({ id }) => id),
    ids.toReversed(),
  )
  assert.equal(second.next_cursor, null)
  await at.did('DELETE', `/api/offers/${offer.id}`)
  assert.deepEqual((await page('')).data, [])
})
