// Accounts that are told of held conversions on approval, and what is reported when a conversion's amount is reduced.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import {
  ACTION,
  accountOf,
  type AdPlatforms,
  callsOf,
  connectAdAccount,
  convert,
  type Delivery,
  deliveriesOf,
  inState,
  type Advertiser,
  seedAdvertiser,
  startAdPlatforms,
  untilDelivery,
  visit,
} from '../../../tests/support/advertisers.ts'
import { toUuid } from '../../contract/ids.ts'
import { auditBooks } from '../../reading/audit/audit.ts'

let platforms: AdPlatforms
let meta: AdPlatforms['meta']
let google: AdPlatforms['google']
let house: AdPlatforms['house']
before(async () => {
  platforms = await startAdPlatforms()
  ;({ meta, google, house } = platforms)
})
after(() => platforms.end())
afterEach(() => platforms.forget())

const settle = () => seedAdvertiser(platforms)

const say = async (place: Advertiser, event_id: string, body: object) => {
  const reply = await house.call('POST', `/api/events/${event_id}/revisions`, { cookie: place.cookie, body })
  assert.equal(reply.statusCode, 200, reply.body)
}

/** Records a conversion that a network puts on hold. */
async function hold(place: Advertiser, clickId: string) {
  const body = { name: 'Net', template: 'keitaro' }
  const made = await house.call('POST', '/api/networks', { cookie: place.cookie, body })
  const path = new URL(String(made.data()['postback_url'])).pathname
  const fire = async (query: string) =>
    assert.equal((await house.call('GET', `${path}?subid=${clickId}&tid=T&${query}`)).body.trim(), 'OK')
  await fire('status=hold&payout=40')
  const { data } = (await house.call('GET', `/api/events?click_id=${clickId}`, { cookie: place.cookie })).data() as {
    data: { id: string }[]
  }
  return { event_id: data[0]?.id ?? assert.fail(), fire }
}

const GOOGLE = { event_map: { purchase: { name: ACTION }, lead: { name: ACTION } } }
const sound = async (place: Advertiser) => assert.deepEqual(await auditBooks(house.database.reads, place.org_id), [])
const told = async (place: Advertiser, event_id: string) => {
  const rows = await deliveriesOf(place, event_id)
  return rows
    .map(({ state, reason, ...row }) => [(row as unknown as { revision: number }).revision, state, reason])
    .toReversed()
}

test('what is held is told once it is approved: once, with the amount approved and at its own time', async () => {
  const place = await settle()
  const account = await connectAdAccount(place, 'google', { ...GOOGLE, send_when: 'approved' })
  assert.equal((await accountOf(place, account))['send_when'], 'approved')
  const { event_id, fire } = await hold(place, await visit(place, 'gclid=abc'))
  assert.deepEqual(await deliveriesOf(place, event_id), [])
  await sound(place)
  await Promise.all([fire('status=approved&payout=35'), say(place, event_id, { status: 'approved', amount: 35 })])
  await untilDelivery(place, event_id, inState('delivered'))
  await say(place, event_id, { status: 'pending' })
  await say(place, event_id, { status: 'approved' })
  assert.deepEqual(await told(place, event_id), [[null, 'delivered', null]])
  const [call, ...others] = callsOf(google, event_id)
  assert.equal(others.length, 0)
  const [event] = (JSON.parse(call?.body ?? '') as { events: Record<string, unknown>[] }).events
  assert.deepEqual([event?.['transactionId'], event?.['conversionValue']], [event_id, 35])
  const { rows } = await house.database.reads.query<{ at: string }>(
    'select created_at as at from events where id = $1',
    [toUuid(event_id)],
  )
  const at = Date.parse(String(rows[0]?.at).replace(/([+-]\d\d)$/, '$1:00'))
  assert.equal(Date.parse(String(event?.['eventTimestamp'])), Math.floor(at))
  await sound(place)
})

test('by default it is told when it is recorded, and what is not held is told at once by every account', async () => {
  const place = await settle()
  await connectAdAccount(place, 'google', GOOGLE)
  const { event_id, fire } = await hold(place, await visit(place, 'gclid=abc'))
  await untilDelivery(place, event_id, inState('delivered'))
  await fire('status=approved&payout=40')
  assert.deepEqual(await told(place, event_id), [[null, 'delivered', null]])
  const other = await settle()
  await connectAdAccount(other, 'google', { ...GOOGLE, send_when: 'approved' })
  const recorded = await convert(other, await visit(other, 'gclid=abc'), { payout: 5 })
  await untilDelivery(other, recorded, inState('delivered'))
  await sound(other)
})

test('approved when it is too old for the platform, it is skipped and the trace says so', async () => {
  const place = await settle()
  await connectAdAccount(place, 'meta', { send_when: 'approved' })
  const clickId = await visit(place, 'fbclid=abc')
  const { event_id } = await hold(place, clickId)
  const longAgo = new Date(Date.now() - 8 * 86_400_000)
  for (const [table, name] of [
    ['events', 'id'],
    ['event_revisions', 'event_id'],
  ])
    await house.database.worker.query(`update ${table} set created_at = $3 where org_id = $1 and ${name} = $2`, [
      place.org_id,
      toUuid(event_id),
      longAgo,
    ])
  await say(place, event_id, { status: 'approved' })
  const trace = await house.call('GET', `/api/clicks/${clickId}/trace`, { cookie: place.cookie })
  const { deliveries } = trace.json<{ deliveries: Delivery[] }>()
  assert.deepEqual(
    deliveries.map(({ state, reason }) => [state, reason]),
    [['skipped', 'too_old: it was approved after the 7 days that Meta accepts']],
  )
  assert.equal(callsOf(meta, event_id).length, 0)
})

test('Google is told a smaller amount under the same transaction id where the account restates, and never 0', async () => {
  const place = await settle()
  await connectAdAccount(place, 'google', { ...GOOGLE, restate: true })
  const event_id = await convert(place, await visit(place, 'gclid=abc'), { payout: 50 })
  await untilDelivery(place, event_id, inState('delivered'))
  await say(place, event_id, { status: 'approved', amount: 60 })
  await say(place, event_id, { status: 'approved', amount: 20 })
  await eventually('it is restated', async () =>
    (await told(place, event_id)).every(([, state]) => state === 'delivered'),
  )
  const values = callsOf(google, event_id).map(({ body }) => {
    const [event] = (JSON.parse(body) as { events: Record<string, unknown>[] }).events
    return [event?.['transactionId'], event?.['conversionValue']]
  })
  assert.deepEqual(values, [
    [event_id, 50],
    [event_id, 20],
  ])
  await say(place, event_id, { status: 'approved', amount: 0 })
  await say(place, event_id, { status: 'refunded' })
  const why =
    'cannot be taken back here: Google is never sent 0, because it could not correct that again. Retract it in Google Ads'
  assert.deepEqual(await told(place, event_id), [
    [null, 'delivered', null],
    [2, 'delivered', null],
    [3, 'skipped', why],
    [4, 'skipped', why],
  ])
  await sound(place)
})

test('without it, and at Meta and TikTok, nothing is told, and the log says so', async () => {
  const words = {
    google: ['the ad account does not restate amounts', /^cannot be taken back here: Google/],
    tiktok: [/TikTok accepts no corrections/, /TikTok accepts no corrections/],
    meta: [/Meta accepts no corrections/, /Meta accepts no corrections/],
  }
  const ids = { google: 'gclid', tiktok: 'ttclid', meta: 'fbclid' }
  for (const platform of ['google', 'tiktok', 'meta'] as const) {
    const place = await settle()
    await connectAdAccount(place, platform)
    const event_id = await convert(place, await visit(place, `${ids[platform]}=abc`), { payout: 50 })
    await untilDelivery(place, event_id, inState('delivered'))
    await say(place, event_id, { status: 'approved', amount: 20 })
    await say(place, event_id, { status: 'rejected' })
    await say(place, event_id, { status: 'refunded' })
    const found = (await told(place, event_id)).slice(1)
    assert.deepEqual(
      found.map(([seq, state]) => [seq, state]),
      [
        [1, 'skipped'],
        [2, 'skipped'],
      ],
    )
    for (const [at, word] of words[platform].entries()) assert.match(String(found[at]?.[2]), new RegExp(word))
    await sound(place)
  }
})
