// Caps on clicks: the limit is never passed, by however many processes, and nearly all of it is given.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { type CapReply, capsAs } from '../../../tests/support/caps.ts'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse, type TestHouse } from '../../../tests/support/house.ts'
import { awayFromMidnight } from '../../../tests/support/midnight.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { type Proxy, startProxy } from '../../../tests/support/proxy.ts'
import { toUuid } from '../../contract/ids.ts'
import { connect, type Database } from '../../ground/db/connect.ts'

let fresh: FreshDatabase
let house: TestHouse
let second: TestHouse
let behind: Database
let proxy: Proxy
let owner: SignedIn
let at: ReturnType<typeof capsAs>
before(async () => {
  await awayFromMidnight()
  fresh = await freshDatabase()
  house = await openTestHouse(fresh.database, {})
  proxy = await startProxy(fresh.connection)
  behind = connect([proxy.connection], { log: pino({ level: 'silent' }), isBehind: false })
  // As long as visitors really wait, because its database is taken away.
  second = await openTestHouse(behind, {}, { patience: {} })
  owner = await seedSignedIn(house)
  at = capsAs(house, owner)
})
after(async () => {
  await second.end()
  await behind.close()
  await house.end()
  await proxy.close()
  await fresh.drop()
})

const FALLBACK = 'https://back.example/?c={click_id}'

/** Visits one after the other by each of some visitors; where they were sent, by the host. */
async function crowd(key: string, count: number, houses: readonly TestHouse[], visitors = 40) {
  const hosts = new Map<string | undefined, number>()
  const walk = async (n: number) => {
    for (let at_ = n; at_ < count; at_ += visitors) {
      const { host } = await at.visit(key, houses[at_ % houses.length])
      hosts.set(host, (hosts.get(host) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: visitors }, (_, n) => walk(n)))
  return (host: string) => hosts.get(host) ?? 0
}
const clicksFor = async (offer_id: string) =>
  Number(
    (
      await fresh.database.reads.query<{ count: string }>('select count(*) from clicks where offer_id = $1', [
        toUuid(offer_id),
      ])
    ).rows[0]?.count,
  )

const LIMIT = process.env['SLUICE_TEST_ALL'] ? 1000 : 200

test('of many visits by two processes exactly as many as the cap allows go to the offer, the others to the next one', async () => {
  const [offer, next] = [await at.offer(), await at.offer()]
  const cap = await at.cap(offer.id, { metric: 'clicks', limit: LIMIT, then_offer_id: next.id })
  // Made after its cap: a process that learns of it knows the cap as well.
  const { key } = await at.follow(offer.id, { fallback_url: FALLBACK })
  const to = await crowd(key, 5 * LIMIT, [house, second])
  assert.ok(to(offer.host) <= LIMIT && to(offer.host) + to(next.host) === 5 * LIMIT, String(to(offer.host)))
  // On a busy machine a process may have been answered too late; what it holds then is given to those who come later.
  let given = to(offer.host)
  await eventually('all are given', async () => {
    given += (await crowd(key, 20, [house, second], 4))(offer.host)
    return given >= LIMIT
  })
  given += (await crowd(key, 200, [house, second]))(offer.host)
  assert.equal(given, LIMIT)
  assert.equal(await clicksFor(offer.id), LIMIT)
  await eventually('all is told', async () => (await at.read(cap.id)).used === LIMIT)
  const { state, reserved, over_by } = await at.read(cap.id)
  assert.deepEqual([state, reserved, over_by], ['reached', 0, 0])
})

test('bots, tests and requests that record nothing take no place, and go where everybody goes', async () => {
  const offer = await at.offer()
  const { id, key } = await at.follow(offer.id, { fallback_url: FALLBACK })
  const cap = await at.cap(offer.id, { metric: 'clicks', limit: 2 })
  const bot = { 'user-agent': 'facebookexternalhit/1.1' }
  const link = new URL(String((await at.did('GET', `/api/campaigns/${id}/test-link`))['url']), 'http://localhost')
  for (let n = 0; n < 3; n += 1) {
    assert.equal((await at.visit(key, house, bot)).host, offer.host)
    assert.equal((await at.visit(`${key}${link.search}`)).host, offer.host)
    assert.equal((await house.call('HEAD', `/c/${key}`)).statusCode, 302)
  }
  assert.deepEqual([(await at.read(cap.id)).used, (await at.read(cap.id)).reserved], [0, 0])
  for (const host of [offer.host, offer.host, 'back.example', 'back.example'])
    assert.equal((await at.visit(key)).host, host)
  assert.equal((await at.visit(key, house, bot)).host, 'back.example')
})

test('a click takes a place of its offer and of its campaign, or of neither', async () => {
  const offer = await at.offer()
  const { id, key } = await at.follow(offer.id, { fallback_url: FALLBACK })
  const { key: other } = await at.follow(offer.id, { fallback_url: FALLBACK })
  const ofOffer = await at.cap(offer.id, { metric: 'clicks', limit: 5 })
  const ofCampaign = await at.cap(id, { object: 'campaign', metric: 'clicks', limit: 3 })
  const hosts: (string | undefined)[] = []
  for (let n = 0; n < 5; n += 1) hosts.push((await at.visit(key)).host)
  for (let n = 0; n < 4; n += 1) hosts.push((await at.visit(other)).host)
  const [to, back] = [offer.host, 'back.example']
  assert.deepEqual(hosts, [to, to, to, back, back, to, to, back, back])
  await eventually('both are told', async () => {
    const [one, two] = [await at.read(ofOffer.id), await at.read(ofCampaign.id)]
    return one.used === 5 && two.used === 3 && one.state === 'reached' && two.state === 'reached'
  })
  const { clicks } = await at.did('GET', `/api/campaigns/${id}/clicks-while-paused`)
  assert.equal(clicks, 2)
})

test('another limit holds for the next visitor, and a cap that is opened again lets everybody in', async () => {
  const offer = await at.offer()
  const { key } = await at.follow(offer.id, { fallback_url: FALLBACK })
  const { id } = await at.cap(offer.id, { metric: 'clicks', limit: 1 })
  const hosts = async (count: number) => {
    const seen: boolean[] = []
    for (let n = 0; n < count; n += 1) seen.push((await at.visit(key)).host === offer.host)
    return seen
  }
  assert.deepEqual(await hosts(2), [true, false])
  await at.did('PATCH', `/api/caps/${id}`, { limit: 3 })
  assert.deepEqual(await hosts(3), [true, true, false])
  const opened = await at.did<CapReply>('POST', `/api/caps/${id}/reopen`)
  assert.equal(opened.state, 'open')
  assert.deepEqual(await hosts(4), [true, true, true, true])
  await eventually('what is over is told', async () => (await at.read(id)).over_by === 4)
  assert.equal((await at.did<CapReply>('PATCH', `/api/caps/${id}`, { limit: 5 })).state, 'reached')
  assert.deepEqual(await hosts(1), [false])
})

test('a process that ends gives its places back', async () => {
  const offer = await at.offer()
  const { key } = await at.follow(offer.id, { fallback_url: FALLBACK })
  const cap = await at.cap(offer.id, { metric: 'clicks', limit: 160 })
  const third = await openTestHouse(fresh.database, {})
  assert.equal((await at.visit(key, third)).host, offer.host)
  const held = await at.read(cap.id)
  assert.equal(held.used + held.reserved, 10)
  await third.end()
  assert.deepEqual([(await at.read(cap.id)).used, (await at.read(cap.id)).reserved], [1, 0])
})

test('without the database the places at hand are given, and then nobody or everybody, as the cap says', async () => {
  for (const when_unknown of ['closed', 'open'] as const) {
    const offer = await at.offer()
    const cap = await at.cap(offer.id, { metric: 'clicks', limit: 320, when_unknown })
    const { key } = await at.follow(offer.id, { fallback_url: FALLBACK })
    assert.equal((await at.visit(key, second)).host, offer.host)
    const { used, reserved } = await at.read(cap.id)
    assert.equal(used + reserved, 20)
    // What is being told when the database goes is known to nobody.
    await eventually('the first is told', async () => (await at.read(cap.id)).used === 1)
    proxy.set('cut')
    const to = await crowd(key, 60, [second], 4)
    assert.equal(to(offer.host) + to('back.example'), 60)
    if (when_unknown === 'open') assert.equal(to('back.example'), 0)
    else assert.ok(to(offer.host) < 20, String(to(offer.host)))
    proxy.set('flow')
    await eventually('all is told', async () => (await at.read(cap.id)).used === 1 + to(offer.host))
  }
})

test('a cap on cost closes by what clicks have cost, in every process, and says how much that was', async () => {
  const [offer, next] = [await at.offer(), await at.offer()]
  const ofOffer = await at.cap(offer.id, { metric: 'cost', limit: 2, then_offer_id: next.id })
  const { id, key } = await at.follow(offer.id, {
    fallback_url: FALLBACK,
    cost: { model: 'cpc', amount: '0.305', currency: 'USD' },
  })
  const ofCampaign = await at.cap(id, { object: 'campaign', metric: 'cost', limit: 4, period: 'total' })
  const bot = { 'user-agent': 'facebookexternalhit/1.1' }
  for (let n = 0; n < 3; n += 1) await at.visit(key, house, bot)
  for (let n = 0; n < 8; n += 1) assert.equal((await at.visit(key, n % 2 === 0 ? house : second)).host, offer.host)
  await eventually('the offer is full', async () => (await at.read(ofOffer.id)).state === 'reached')
  // Each process keeps the rest of a cent until there is more.
  assert.deepEqual([(await at.read(ofOffer.id)).used, (await at.read(ofOffer.id)).over_by], [2, 0])
  assert.equal((await at.read(ofCampaign.id)).state, 'open')
  for (const there of [house, second])
    await eventually('the next offer', async () => (await at.visit(key, there)).host === next.host)
  // What a process has told when its connection broke may be lost: it is a brake, no book.
  await eventually('the campaign is full', async () => {
    await at.visit(key)
    return (await at.read(ofCampaign.id)).state === 'reached'
  })
  await eventually('the fallback', async () => (await at.visit(key)).host === 'back.example')
  // Far more than a slow process can have let through before it heard that the offer is full.
  assert.equal((await at.did<CapReply>('PATCH', `/api/caps/${ofOffer.id}`, { limit: 1000 })).state, 'open')
  const wrong = { object: 'offer', object_id: offer.id, metric: 'cost', limit: 1, period: 'day', event_types: ['ftd'] }
  assert.equal((await at.ask('POST', '/api/caps', wrong)).statusCode, 400)
})
