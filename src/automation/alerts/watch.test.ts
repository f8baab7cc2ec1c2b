// What is told without any rule: falls with their causes, what needs attention, and books that do not reconcile. Each of them once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { seedKey, type TestHouse, useHouse } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import type { AlertBody } from '../../contract/alerts.ts'
import { HOUR_MS } from '../../contract/days.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { mintClickId } from '../../intake/clicks/click-id.ts'
import { findBooks } from './books.ts'
import { fallOf, WEEK_MS } from './falls.ts'
import { atMost, isFall } from './poisson.ts'
import { lookForFalls, lookForStanding } from './watch.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

const HOUR = Math.floor(Date.now() / HOUR_MS) * HOUR_MS

async function workspace() {
  const owner = await seedSignedIn(house)
  const did = async <T = { id: string }>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH',
    url: string,
    body?: object,
  ): Promise<T> => {
    const reply = await house.call(method, url, { cookie: owner.cookie, ...(body && { body }) })
    assert.ok(reply.statusCode < 300, reply.body)
    return reply.json<T>()
  }
  const offers = [
    await did('POST', '/api/offers', { name: 'Slots', url: 'https://o.example/' }),
    await did('POST', '/api/offers', { name: 'Poker', url: 'https://p.example/' }),
  ] as const
  const campaign = await did('POST', '/api/campaigns', {
    name: 'Summer',
    destination: { type: 'offer', offer_id: offers[0].id },
  })
  await did('POST', '/api/receivers', { type: 'webhook', name: 'Pager', url: 'https://pager.example/' })
  const { kysely: db } = house.database
  /** Stores clicks in the hour that ends so many hours after HOUR, in each of these weeks before. */
  async function clicks(number: number, { sub1 = 'a', offer = offers[0], after = 0, weeks = [0] }) {
    const stored = weeks.flatMap(week =>
      Array.from({ length: number }, (_, place) => {
        const at = HOUR + (after - 1) * HOUR_MS - week * WEEK_MS + place * 1000
        const id = mintClickId(house.ground.secrets.clickKey, owner.org_id, at)
        return { id, at, campaign_id: toUuid(campaign.id) ?? '', offer_id: toUuid(offer.id) ?? '', sub1 }
      }),
    )
    await seedCountedClicks(house.database, owner.org_id, stored)
    return stored
  }
  async function conversions(number: number, where: { offer?: { id: string }; weeks?: number[] }) {
    for (const { id, at } of await clicks(number, where)) {
      const event = await did('POST', '/api/events', { clickId: toWireId(id), type: 'lead' })
      await db
        .updateTable('events')
        .set({ created_at: new Date(at).toISOString() })
        .where('org_id', '=', owner.org_id)
        .where('id', '=', toUuid(event.id) ?? '')
        .execute()
    }
  }
  const told = async (): Promise<AlertBody[]> =>
    (
      await db.selectFrom('receiver_messages').select('body').where('org_id', '=', owner.org_id).orderBy('id').execute()
    ).map(({ body }) => body as unknown as AlertBody)
  const look = (after = 0) => lookForFalls(house.ground, owner.org_id, HOUR + after * HOUR_MS)
  return { owner, did, offers, campaign, db, clicks, conversions, told, look }
}

const EARLIER = [1, 2, 3, 4]

test('clicks of a zone that stop are told once with the zone as the cause, again when it grows, and when it is over', async () => {
  const { campaign, clicks, told, look } = await workspace()
  for (const after of [0, 1, 2]) {
    await clicks(60, { sub1: 'zone-a', after, weeks: EARLIER })
    await clicks(40, { sub1: 'zone-b', after, weeks: EARLIER })
  }
  await clicks(40, { sub1: 'zone-b' })
  await Promise.all([look(), look()])
  await look()
  const [first, ...more] = await told()
  assert.deepEqual(more, [])
  assert.deepEqual([first?.type, first?.phase, first?.object?.id], ['clicks_fall', 'begins', campaign.id])
  assert.deepEqual(first?.figures, { clicks: 40, expected: 100, hours: 1 })
  assert.match(String(first?.text), /“Summer” had 40 clicks in the last hour\. .* had 100 on average/)
  assert.deepEqual(first?.causes, [{ dimension: 'sub1', value: 'zone-a', label: 'sub1 zone-a', share: 1 }])
  // The next hour has none at all, so twice as many are missing.
  await look(1)
  await clicks(70, { sub1: 'zone-a', after: 2 })
  await clicks(40, { sub1: 'zone-b', after: 2 })
  await look(2)
  assert.deepEqual(
    (await told()).map(({ phase }) => phase),
    ['begins', 'grows', 'over'],
  )
})

test('a fall that came after a change names the change, and how much of the fall came after it', async () => {
  const { did, campaign, offers, clicks, told, look } = await workspace()
  await did('PUT', `/api/offers/${offers[0].id}`, { name: 'Slots', url: 'https://new.example/' })
  await did('PUT', `/api/offers/${offers[1].id}`, { name: 'Poker', url: 'https://other.example/' })
  await did('POST', `/api/campaigns/${campaign.id}/left-out`, { field: 'sub1', values: ['x', 'y'] })
  // In the last minutes of the next hour, which begins after the changes.
  await clicks(50, { after: 2.9, weeks: EARLIER })
  await clicks(10, { after: 2.9 })
  await look(2)
  const [fall] = await told()
  const changes = fall?.causes.filter(({ dimension }) => dimension === 'change')
  assert.deepEqual(
    changes?.map(({ label, share }) => [label.replace(/ at .*/, ''), share]),
    [
      ['“sub1 = x and 1 more” was left out', 1],
      ['Offer “Slots” was changed (url)', 1],
    ],
  )
  const { data } = await did<{ data: { id: string; object_id: string }[] }>('GET', '/api/history?kind=offer')
  const [row] = data.filter(({ object_id }) => object_id === offers[0].id)
  assert.equal(changes?.[1]?.value, row?.id)
  assert.equal(fall?.object?.id, campaign.id)
})

test('conversions that stop are told with the offer as the cause; a few that fail to come are not', async () => {
  const { did, offers, conversions, told, look } = await workspace()
  const falls = async () => (await told()).filter(({ type }) => type === 'conversions_fall')
  await conversions(15, { offer: offers[0], weeks: EARLIER })
  await conversions(5, { offer: offers[1], weeks: [...EARLIER, 0] })
  await did('PUT', '/api/alert-settings', { off: [], fall: { conversions: { min_expected: 21 } } })
  await look()
  assert.deepEqual(await falls(), [])
  await did('PUT', '/api/alert-settings', { off: ['conversions_fall'], fall: { conversions: { min_expected: 20 } } })
  await look()
  assert.deepEqual(await falls(), [])
  await did('PUT', '/api/alert-settings', { off: [], fall: { conversions: { min_expected: 20 } } })
  await look()
  const [fall, ...more] = await falls()
  assert.deepEqual(more, [])
  assert.deepEqual(fall?.figures, { conversions: 5, expected: 20, hours: 1 })
  assert.deepEqual(fall?.causes[0], { dimension: 'offer', value: offers[0].id, label: 'Offer Slots', share: 1 })
})

test('a fall is below the bound of chance, and weeks that differ widen it', () => {
  assert.ok(Math.abs(atMost(8, 20) - 0.002087) < 1e-6)
  assert.ok(Math.abs(atMost(7, 20) - 0.000779) < 1e-6)
  assert.equal(isFall(8, [20, 20, 20, 20]), false)
  assert.equal(isFall(7, [20, 20, 20, 20]), true)
  assert.equal(isFall(9600, [10_000, 10_050, 9950, 10_000]), true)
  assert.equal(isFall(9600, [12_000, 9000, 10_000, 9000]), false)
  assert.equal(isFall(0, [80, 0, 0, 0]), true)
})

test('a fall that goes on is one episode although single hours reach what is expected, and one that ends is over within hours', () => {
  /** The hours at which an episode begins or is over. `counts` by hour; each earlier week had 10 an hour. */
  const episodes = (counts: readonly number[]): string[] => {
    const said: string[] = []
    let isOpen = false
    for (let end = 24; end <= counts.length; end += 1) {
      const inLast = (hours: number) => counts.slice(end - hours, end).reduce((sum, count) => sum + count, 0)
      const rows = [0, ...EARLIER].map(week => ({
        week,
        counts: [1, 3, 6, 12, 24].map(hours => (week === 0 ? inLast(hours) : 10 * hours)),
      }))
      const isFallen: boolean = fallOf(rows, 20, isOpen) !== undefined
      if (isFallen !== isOpen) said.push(`${isFallen ? 'begins' : 'over'} ${end}`)
      isOpen = isFallen
    }
    return said
  }
  // Seven an hour on average, in a hundred hours, some of them with 10 and more.
  const low = [7, 4, 12, 6, 9, 5, 10, 3, 8, 7, 11, 5, 6, 4, 9, 8, 5, 12, 2, 7]
  const usual = Array.from({ length: 24 }, () => 10)
  const fallen = Array.from({ length: 100 }, (_, hour) => low[hour % low.length] ?? 7)
  assert.match(episodes([...usual, ...fallen]).join(', '), /^begins (3|4)\d$/)
  const none = Array.from({ length: 12 }, () => 0)
  assert.deepEqual(episodes([...usual, ...none, ...usual]), ['begins 26', 'over 39'])
})

test('what needs attention is told once by two processes at once, and its end too', async () => {
  const { owner, did, db, told } = await workspace()
  const rule = await did('POST', '/api/postbacks', { event_type: 'lead', url: 'https://hook.example/?c={click_id}' })
  const now = new Date().toISOString()
  await db
    .insertInto('failing_targets')
    .values({
      org_id: owner.org_id,
      kind: 'postback',
      target_id: toUuid(rule.id) ?? '',
      failures: 12,
      failing_since: now,
      paused_until: now,
    })
    .execute()
  const look = () => lookForStanding(house.ground, owner.org_id, Date.now())
  await Promise.all([look(), look(), look()])
  const [failing, ...more] = await told()
  assert.deepEqual(more, [])
  assert.deepEqual(
    [failing?.type, failing?.object],
    ['delivery_failing', { kind: 'postback', id: rule.id, name: 'hook.example' }],
  )
  assert.equal(failing?.text, 'The postback to hook.example has failed 12 times in a row.')
  await db.deleteFrom('failing_targets').where('org_id', '=', owner.org_id).execute()
  await Promise.all([look(), look()])
  assert.deepEqual(
    (await told()).map(({ phase }) => phase),
    ['begins', 'over'],
  )
})

test('books that do not reconcile are found once a day', async () => {
  const { owner, db } = await workspace()
  const day = Date.now()
  const ended = new pg.Pool()
  await ended.end()
  const away = { ...house.ground, database: { ...house.database, worker: ended } }
  await assert.rejects(findBooks(away, owner.org_id, day), /after calling end/)
  // A recount that failed does not count as today's.
  assert.equal((await findBooks(house.ground, owner.org_id, day))?.phase, 'over')
  await db.updateTable('balances').set({ balance: '123' }).where('org_id', '=', owner.org_id).execute()
  assert.equal(await findBooks(house.ground, owner.org_id, day), undefined)
  const next = await findBooks(house.ground, owner.org_id, day + 24 * HOUR_MS)
  assert.equal(next?.phase, 'begins')
  assert.match(String(next?.text), /^The books do not reconcile: \d+ figures? differs? from a recount\.$/)
})

test('settings are read by members and set by admins of the workspace alone', async () => {
  const { owner, did } = await workspace()
  const usual = { off: [], fall: { conversions: { min_expected: 20 } } }
  assert.deepEqual(await did('GET', '/api/alert-settings'), usual)
  const mine = { off: ['cap_reached'], fall: { conversions: { min_expected: 50 } } }
  assert.deepEqual(await did('PUT', '/api/alert-settings', mine), mine)
  assert.deepEqual(await (await workspace()).did('GET', '/api/alert-settings'), usual)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const status = async (method: 'GET' | 'PUT', as: object, body?: object) =>
    (await house.call(method, '/api/alert-settings', { ...as, ...(body && { body }) })).statusCode
  assert.equal(await status('GET', { cookie: member.cookie }), 200)
  assert.equal(await status('PUT', { cookie: member.cookie }, mine), 403)
  const { secret: key } = await seedKey(house.database, owner)
  assert.equal(await status('GET', { key }), 403)
  for (const wrong of [
    { ...mine, off: ['rain'] },
    { ...mine, fall: { conversions: { min_expected: 0 } } },
    { off: [] },
  ])
    assert.equal(await status('PUT', { cookie: owner.cookie }, wrong), 400)
  assert.deepEqual(await did('GET', '/api/alert-settings'), mine)
})
