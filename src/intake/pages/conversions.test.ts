// Conversions that pages report: nothing counts before somebody who can be trusted confirms it, and then it is one conversion, counted and told once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestHouse, seedKey, useHouse } from '../../../tests/support/house.ts'
import { openQueue } from '../../../tests/support/organization-queue.ts'
import { clicksOf, pagesOf, SITE } from '../../../tests/support/pages.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { aClick, BROWSER } from '../../../tests/support/visits.ts'
import { DAY_MS } from '../../contract/days.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { auditBooks } from '../../reading/audit/audit.ts'
import { mintClickId } from '../clicks/click-id.ts'
import { storeClicks } from '../clicks/store.ts'
import { openHolds } from '../events/holds.ts'

let house: TestHouse
let owner: SignedIn
let pages: ReturnType<typeof pagesOf>
let secret: string
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  pages = pagesOf(house, owner)
  ;({ secret } = await seedKey(house.database, owner, { rights: ['events'] }))
  for (const told_on of ['recorded', 'approved', 'any_change', 'rejected'])
    await made('postbacks', {
      event_type: 'purchase',
      url: `https://receiver.example/${told_on}?p={payout}`,
      on: told_on,
    })
})
after(() => house.end())

async function made(path: string, body: object) {
  const answer = await house.call('POST', `/api/${path}`, { ...owner, body })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.data()
}

const report = (click: string, body: object, headers: Record<string, string> = {}) =>
  house.call('POST', `/k/${click}`, {
    payload: JSON.stringify(body),
    headers: { ...BROWSER, origin: SITE, 'content-type': 'text/plain', ...headers },
  })
const event = (clickId: string, body: object) =>
  house.call('POST', '/api/events', { key: secret, body: { clickId, type: 'purchase', ...body } })
const revise = (id: unknown, body: object) =>
  house.call('POST', `/api/events/${String(id)}/revisions`, { ...owner, body })
const eventsOf = async (click: string) =>
  (await house.call('GET', `/api/events?click_id=${click}`, owner)).data()['data'] as Record<string, unknown>[]

async function visit(fields: object = {}): Promise<{ id: string; key: string; click: string }> {
  const { id, key } = await pages.campaign(fields)
  const answer = await pages.report(key, { u: `${SITE}/` })
  return { id, key, click: String(answer.data()['click_id']) }
}

/** What a conversion has changed: charges, the addresses that are told, and the click. */
async function effectsOn(click: string) {
  const id = toUuid(click)
  const { rows: charges } = await house.database.reads.query(
    "select l.amount from ledger l join events e on e.org_id = l.org_id and e.id = l.event_id where e.click_id = $1 and l.kind = 'charge'",
    [id],
  )
  const { rows: told } = await house.database.reads.query<{ url: string; seq: number }>(
    `select r.url, d.seq from deliveries d join postback_rules r on r.org_id = d.org_id and r.id = d.target_id where d.click_id = $1`,
    [id],
  )
  const { rows } = await house.database.reads.query<Record<string, unknown>>(
    'select status, stages, trim_scale(revenue)::text as revenue, pending, trim_scale(revenue_pending)::text as held from clicks where id = $1',
    [id],
  )
  const rules = told.map(({ url, seq }) => `${new URL(url).pathname.slice(1)} ${seq}`).toSorted()
  return { charges: charges.length, told: rules, click: rows[0] }
}

const UNTOUCHED = { charges: 0, told: [], click: { status: 1, stages: 3, revenue: null, pending: null, held: null } }
const PAID = (revenue: string) => ({
  charges: 1,
  told: ['approved 0', 'recorded 0'],
  click: { status: 1, stages: 3, revenue, pending: 0, held: '0' },
})
const isInOrder = async () => assert.deepEqual(await auditBooks(house.database.reads, owner.org_id), [])

test("a browser's conversion is on hold, worth nothing, and nobody hears of it", async () => {
  const { click } = await visit()
  const answer = await report(click, { type: 'purchase', nonce: 'o-1', value: 49.9, currency: 'eur' })
  assert.deepEqual([answer.statusCode, answer.data()], [200, { status: 'pending' }], answer.body)
  assert.equal(answer.headers['access-control-allow-origin'], '*')
  const [stored, ...others] = await eventsOf(click)
  assert.equal(others.length, 0)
  const { source, status, payout, amount, claimed, test: isTest } = stored ?? {}
  assert.deepEqual(
    { source, status, payout, amount, claimed, isTest },
    {
      source: 'browser',
      status: 'pending',
      payout: '0',
      amount: '0',
      claimed: { value: '49.9', currency: 'EUR' },
      isTest: false,
    },
  )
  assert.deepEqual(await effectsOn(click), UNTOUCHED)
  assert.equal((await report(click, { type: 'purchase', nonce: 'o-1', value: 7 })).data()['status'], 'pending')
  assert.equal((await eventsOf(click)).length, 1)
  assert.deepEqual(await effectsOn(click), UNTOUCHED)
  await isInOrder()
})

test('the API confirms it: the same id, the payout sent, charged, told and counted once', async () => {
  const { click } = await visit()
  await report(click, { type: 'purchase', nonce: 'o-1', value: 5 })
  const [held] = await eventsOf(click)
  const confirmed = await event(click, { nonce: 'o-1', payout: '12.5' })
  assert.deepEqual(
    [confirmed.statusCode, confirmed.data()['id'], confirmed.data()['payout']],
    [201, held?.['id'], '12.5'],
  )
  assert.equal(confirmed.headers['idempotent-replayed'], undefined)
  assert.deepEqual(await effectsOn(click), PAID('12.5'))
  assert.equal((await event(click, { nonce: 'o-1', payout: '99' })).headers['idempotent-replayed'], 'true')
  assert.equal((await report(click, { type: 'purchase', nonce: 'o-1' })).data()['status'], 'approved')
  assert.equal((await effectsOn(click)).charges, 1)
  const [stored] = await eventsOf(click)
  assert.deepEqual([stored?.['status'], stored?.['amount'], stored?.['source']], ['approved', '12.5', 'browser'])
  assert.equal((await revise(held?.['id'], { status: 'refunded' })).statusCode, 200)
  assert.deepEqual((await effectsOn(click)).told, ['any_change 3', 'approved 0', 'recorded 0'])
  await isInOrder()
})

test("without a payout the API confirms it with the offer's", async () => {
  const { click } = await visit()
  await report(click, { type: 'purchase' })
  const confirmed = await event(click, {})
  assert.equal(confirmed.data()['payout'], '40')
  assert.equal((await effectsOn(click)).click?.['revenue'], '40')
  await isInOrder()
})

test('a network confirms it by the transaction id, also if it names no event; a pending call does not', async () => {
  const { postback_url } = await made('networks', { name: 'Net', template: 'plain' })
  const path = new URL(String(postback_url)).pathname
  const { click } = await visit()
  await report(click, { type: 'purchase', nonce: 'tx-1' })
  const call = (query: string) => house.call('GET', `${path}?click_id=${click}&txid=tx-1&${query}`)
  const [held] = await eventsOf(click)
  await call('status=pending&payout=8')
  assert.deepEqual(await effectsOn(click), UNTOUCHED)
  assert.equal((await call('status=approved&payout=8')).body.trim(), 'OK')
  await call('status=approved&payout=8')
  const [stored, ...others] = await eventsOf(click)
  assert.deepEqual([others.length, stored?.['id'], stored?.['amount']], [0, held?.['id'], '8'])
  assert.equal((await effectsOn(click)).charges, 1)
  await isInOrder()
})

test('a person approves it with an amount; rejected, it stays so for the API and is never told', async () => {
  const [one, two] = [await visit(), await visit()]
  await report(one.click, { type: 'purchase', nonce: 'a' })
  await report(two.click, { type: 'purchase', nonce: 'a' })
  const [[first], [second]] = [await eventsOf(one.click), await eventsOf(two.click)]
  assert.equal((await revise(first?.['id'], { status: 'approved', amount: '3' })).statusCode, 200)
  assert.deepEqual((await effectsOn(one.click)).told, ['approved 0', 'recorded 0'])
  assert.deepEqual([(await effectsOn(one.click)).charges, (await effectsOn(one.click)).click?.['revenue']], [1, '3'])
  assert.equal((await eventsOf(one.click))[0]?.['payout'], '3')
  assert.equal((await revise(second?.['id'], { status: 'rejected' })).statusCode, 200)
  const late = await event(two.click, { nonce: 'a', payout: '9' })
  assert.deepEqual(
    [late.statusCode, late.data()['id'], late.headers['idempotent-replayed']],
    [201, second?.['id'], 'true'],
  )
  assert.deepEqual(await effectsOn(two.click), UNTOUCHED)
  assert.equal((await eventsOf(two.click))[0]?.['status'], 'rejected')
  await isInOrder()
})

test('twenty confirmations at once charge once and tell once', async () => {
  const { click } = await visit()
  await report(click, { type: 'purchase', nonce: 'r' })
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      at % 2 === 0 ? event(click, { nonce: 'r', payout: '2' }) : report(click, { type: 'purchase', nonce: 'r' }),
    ),
  )
  assert.ok(answers.every(({ statusCode }) => statusCode === 200 || statusCode === 201))
  assert.deepEqual((await effectsOn(click)).charges, 1)
  assert.deepEqual((await effectsOn(click)).told, ['approved 0', 'recorded 0'])
  await isInOrder()
})

test('types that the campaign counts at once count, with a payout of 0', async () => {
  const { click } = await visit({ browser_types: ['lead'] })
  assert.equal((await report(click, { type: 'lead', nonce: 'l', value: 100 })).data()['status'], 'approved')
  assert.equal((await report(click, { type: 'lead', nonce: 'l' })).data()['status'], 'approved')
  const [stored] = await eventsOf(click)
  assert.deepEqual([stored?.['status'], stored?.['payout'], stored?.['amount']], ['approved', '0', '0'])
  const { charges, click: row } = await effectsOn(click)
  assert.deepEqual([charges, row?.['status'], row?.['revenue']], [1, 4, null])
  assert.equal((await report(click, { type: 'ftd' })).data()['status'], 'pending')
  await isInOrder()
})

test('a type that counts at once gets the payout of the first trusted report, once, unless a person has changed it', async () => {
  const at = await visit({ browser_types: ['purchase'] })
  await report(at.click, { nonce: 'n', type: 'purchase', value: 9 })
  const answers = await Promise.all(Array.from({ length: 8 }, () => event(at.click, { nonce: 'n', payout: 20 })))
  const ids = new Set(answers.map(answer => answer.data()['id']))
  const [stored, ...others] = await eventsOf(at.click)
  assert.deepEqual([ids.size, others.length, ids.has(stored?.['id'])], [1, 0, true])
  assert.deepEqual([stored?.['status'], stored?.['amount'], stored?.['source']], ['approved', '20', 'browser'])
  const { charges, told, click } = await effectsOn(at.click)
  assert.deepEqual([charges, click?.['revenue']], [1, '20'])
  assert.deepEqual(told, ['any_change 1', 'approved 0', 'approved 1', 'recorded 0'])
  assert.equal((await report(at.click, { nonce: 'n', type: 'purchase' })).data()['status'], 'approved')
  await report(at.click, { type: 'purchase' })
  const { postback_url } = await made('networks', { name: 'Net', template: 'plain' })
  const call = (query: string) =>
    house.call('GET', `${new URL(String(postback_url)).pathname}?click_id=${at.click}&event=purchase&${query}`)
  await call('status=pending')
  await call('status=approved')
  await call('status=approved')
  assert.equal((await effectsOn(at.click)).click?.['revenue'], '60', "the offer's payout")
  await call('status=rejected')
  assert.equal((await effectsOn(at.click)).click?.['revenue'], '20', 'the network decides on what it has paid')
  await report(at.click, { nonce: 'r', type: 'purchase' })
  const rejected = (await eventsOf(at.click)).find(({ nonce }) => nonce === 'r')
  assert.equal((await revise(rejected?.['id'], { status: 'rejected' })).statusCode, 200)
  await event(at.click, { nonce: 'r', payout: 5 })
  assert.equal((await report(at.click, { nonce: 'r', type: 'purchase' })).data()['status'], 'pending')
  assert.equal((await effectsOn(at.click)).click?.['revenue'], '20')
  await isInOrder()
})

test("a network's pending call leaves it outside the books, and the end of the network's hold brings it in with the payout of that call", async () => {
  const { id, postback_url } = await made('networks', { name: 'Held', template: 'plain' })
  await house.call('PATCH', `/api/networks/${String(id)}`, { ...owner, body: { hold_days: 3 } })
  const { click } = await visit()
  await report(click, { type: 'purchase', nonce: 'h' })
  const callOn = (on: string, query: string) =>
    house.call('GET', `${new URL(String(postback_url)).pathname}?click_id=${on}&txid=h&${query}`)
  const call = (query: string) => callOn(click, query)
  const unpaid = await visit()
  await report(unpaid.click, { type: 'registration', nonce: 'h' })
  for (let times = 0; times < 2; times += 1) await callOn(unpaid.click, 'status=pending&event=registration&payout=0')
  await call('status=pending&payout=8')
  await call('status=pending&payout=8')
  assert.deepEqual(await effectsOn(click), UNTOUCHED)
  const queue = openQueue(house.database)
  const holds = openHolds(house.ground, queue, DAY_MS)
  try {
    await holds.approveDue()
    assert.deepEqual(await effectsOn(click), UNTOUCHED)
    await house.database.worker.query('update held_events set approve_at = now() where org_id = $1', [owner.org_id])
    await Promise.all([holds.approveDue(), holds.approveDue()])
  } finally {
    await holds.close()
    await queue.close()
  }
  assert.deepEqual(await effectsOn(click), PAID('8'))
  assert.equal((await effectsOn(unpaid.click)).charges, 1, 'also one that is worth nothing')
  await isInOrder()
})

test('it proves no untracked click, fills no cap, and does so when it is confirmed', async () => {
  const { id, key } = await pages.campaign()
  const cap = await made('caps', {
    object: 'campaign',
    object_id: id,
    metric: 'conversions',
    limit: 1,
    period: 'total',
    timezone: 'UTC',
  })
  const crawler = await pages.report(key, {}, { 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' })
  const click = String(crawler.data()['click_id'])
  await report(click, { type: 'purchase', nonce: 'n' })
  assert.equal((await clicksOf(house, id))[0]?.tracked, false)
  const used = async () => {
    const { rows } = await house.database.reads.query<{ used: number }>(
      'select used from cap_counts where cap_id = $1',
      [toUuid(String(cap['id']))],
    )
    return rows[0]?.used ?? 0
  }
  assert.equal(await used(), 0)
  await isInOrder()
  await event(click, { nonce: 'n' })
  assert.equal((await clicksOf(house, id))[0]?.tracked, true)
  assert.equal(await used(), 1)
  await isInOrder()
})

test('identity is click, nonce and type', async () => {
  const { click } = await visit()
  const other = await visit()
  for (const [of, body] of [
    [click, { type: 'purchase', nonce: 'x' }],
    [click, { type: 'lead', nonce: 'x' }],
    [click, { type: 'lead' }],
    [click, { type: 'lead', nonce: '' }],
    [other.click, { type: 'purchase', nonce: 'x' }],
  ] as const)
    assert.equal((await report(of, body)).statusCode, 200)
  assert.deepEqual([(await eventsOf(click)).length, (await eventsOf(other.click)).length], [3, 1])
})

test('what is not a conversion of a listed site on a young click of a living campaign is refused', async () => {
  const { id, click } = await visit()
  const codeOf = async (answer: ReturnType<typeof report>) => (await answer).statusCode
  for (const body of [
    {},
    { type: 'click' },
    { type: 'land' },
    { type: 'bot_start' },
    { type: 'subscription_renewed' },
    { type: 'lead', nonce: 'x'.repeat(129) },
    { type: 'lead', value: 'much' },
    { type: 'lead', value: 1, currency: 'dollars' },
  ])
    assert.equal(await codeOf(report(click, body)), 400, JSON.stringify(body))
  const foreign = await report(click, { type: 'lead' }, { origin: 'https://evil.example' })
  assert.deepEqual([foreign.statusCode, foreign.data()['code']], [403, 'site_not_listed'])
  const { clickKey } = house.ground.secrets
  const old = mintClickId(clickKey, owner.org_id, Date.now() - 31 * 86_400_000)
  await storeClicks(house.database.clicks, [
    aClick(clickKey, owner.org_id, { id: old, campaign_id: toUuid(id) ?? null }),
  ])
  for (const unknown of [toWireId(old), toWireId(mintClickId(house.ground.secrets.clickKey, owner.org_id)), 'nonsense'])
    assert.equal(await codeOf(report(unknown, { type: 'lead' })), 404, unknown)
  assert.deepEqual(await eventsOf(click), [])
})

test('the image does the same', async () => {
  const { click } = await visit()
  const image = (query: string) => pages.get(`/k/${click}.gif?${query}`, { referer: `${SITE}/thanks` })
  const answer = await image('type=purchase&nonce=i&value=7.5&currency=USD')
  assert.deepEqual(
    [answer.statusCode, answer.headers['content-type'], answer.headers['cache-control']],
    [200, 'image/gif', 'no-store'],
  )
  assert.deepEqual((await eventsOf(click))[0]?.['claimed'], { value: '7.5', currency: 'USD' })
  await image('type=lead&nonce=a?b')
  assert.equal((await eventsOf(click)).find(({ type }) => type === 'lead')?.['nonce'], 'a?b')
  assert.equal((await image('type=nonsense')).statusCode, 400)
  assert.equal((await pages.get(`/k/${click}.gif?type=lead`, { referer: 'https://evil.example/' })).statusCode, 403)
  assert.equal(
    (await house.call('HEAD', `/k/${click}.gif?type=lead`, { headers: { referer: `${SITE}/` } })).statusCode,
    200,
  )
  assert.equal((await eventsOf(click)).length, 2)
})
