// Open hours through the door, and what they do to visitors.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { capsAs } from '../../../tests/support/caps.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, openTestHouse, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'

let house: TestHouse
let owner: SignedIn
let at: ReturnType<typeof capsAs>
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  at = capsAs(house, owner)
})
after(() => house.end())

const FALLBACK = 'https://back.example/?c={click_id}'
const SHUT = '0'.repeat(48)
/** Open on Mondays from 9:30 to 17:00, in that zone. */
const MONDAYS = {
  timezone: 'Europe/Kyiv',
  week: ['0'.repeat(19) + '1'.repeat(15) + '0'.repeat(14), ...Array.from({ length: 6 }, () => SHUT)],
}
const hoursOf = (kind: 'offers' | 'campaigns', id: string) => `/api/${kind}/${id}/open-hours`
type Hours = { open_hours: object | null; is_open: boolean }

test('an offer takes visitors in its hours alone, by the clock of its zone', async t => {
  const offer = await at.offer()
  const { key } = await at.follow(offer.id, { fallback_url: FALLBACK })
  assert.deepEqual(await at.did('GET', hoursOf('offers', offer.id)), { open_hours: null, is_open: true })
  const set = await at.did<Hours>('PUT', hoursOf('offers', offer.id), { open_hours: MONDAYS })
  assert.deepEqual(set.open_hours, MONDAYS)
  assert.deepEqual(await at.did('GET', hoursOf('offers', offer.id)), set)
  const hosts: [string, string | undefined][] = []
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  // Kyiv is two hours ahead of UTC in winter, three in summer; the last is a Tuesday.
  for (const time of [
    '2026-11-23T07:29:59.999Z',
    '2026-11-23T07:30:00Z',
    '2026-11-23T14:59:59Z',
    '2026-11-23T15:00:00Z',
    '2026-07-06T06:30:00Z',
    '2026-11-24T10:00:00Z',
  ]) {
    t.mock.timers.setTime(Date.parse(time))
    hosts.push([time, (await at.visit(key)).host])
  }
  assert.deepEqual(
    hosts.map(([, host]) => host === offer.host),
    [false, true, true, false, true, false],
  )
  assert.equal(hosts[0]?.[1], 'back.example')
})

/** Half an hour that is not now, whenever that is. */
const notNow = () => {
  const now = new Date()
  const week = Array.from({ length: 7 }, () => SHUT)
  week[(now.getUTCDay() + 2) % 7] = '1'.repeat(48)
  return { open_hours: { timezone: 'UTC', week } }
}

test('a campaign outside of its hours is as if it were paused, in every process, and null opens it', async t => {
  const offer = await at.offer()
  const { id, key } = await at.follow(offer.id)
  const second = await openTestHouse(house.database, {})
  t.after(() => second.end())
  assert.equal((await at.did<Hours>('PUT', hoursOf('campaigns', id), notNow())).is_open, false)
  assert.equal((await at.visit(key)).status, 200)
  await eventually('the other process', async () => (await at.visit(key, second)).status === 200)
  const { clicks } = await at.did('GET', `/api/campaigns/${id}/clicks-while-paused`)
  assert.ok(Number(clicks) >= 2)
  assert.deepEqual(await at.did('PUT', hoursOf('campaigns', id), { open_hours: null }), {
    open_hours: null,
    is_open: true,
  })
  assert.equal((await at.visit(key)).host, offer.host)
  await eventually('open there', async () => (await at.visit(key, second)).host === offer.host)
})

test('an offer outside of its hours leaves the draw of a funnel, and no cap leads to it', async () => {
  const [shut, open, full] = [await at.offer(), await at.offer(), await at.offer()]
  await at.did('PUT', hoursOf('offers', shut.id), notNow())
  const funnel = await at.did('POST', '/api/funnels', {
    name: 'Share',
    landings: [],
    offers: [shut, open].map(({ id }) => ({ offer_id: id, weight: 1 })),
  })
  const { key } = await at.campaign({ type: 'funnel', funnel_id: funnel['id'] })
  for (let n = 0; n < 12; n += 1)
    assert.equal((await at.visit(key, house, { cookie: `vis_id=${crypto.randomUUID()}` })).host, open.host)
  const { key: led } = await at.follow(full.id, { fallback_url: FALLBACK })
  await at.cap(full.id, { then_offer_id: shut.id })
  await at.convert((await at.visit(led)).click)
  await eventually('the fallback', async () => (await at.visit(led)).host === 'back.example')
})

test('an offer that is replaced whole keeps its hours', async () => {
  const offer = await at.offer()
  await at.did('PUT', hoursOf('offers', offer.id), { open_hours: MONDAYS })
  await at.did('PUT', `/api/offers/${offer.id}`, { name: 'Anew', url: 'https://anew.example/' })
  assert.deepEqual((await at.did<Hours>('GET', hoursOf('offers', offer.id))).open_hours, MONDAYS)
})

test('what are no hours, not theirs or not there is refused and changes nothing', async () => {
  const offer = await at.offer()
  const { id } = await at.follow(offer.id)
  await at.did('PUT', hoursOf('offers', offer.id), { open_hours: MONDAYS })
  const { week } = MONDAYS
  for (const wrong of [
    { timezone: 'Mars/Olympus' },
    { week: week.slice(1) },
    { week: [...week.slice(1), '1'] },
    { week: week.map(() => SHUT) },
    { week: week.map(day => day.replaceAll('0', '2')) },
  ])
    assert.equal(
      (await at.ask('PUT', hoursOf('offers', offer.id), { open_hours: { ...MONDAYS, ...wrong } })).statusCode,
      400,
    )
  assert.equal((await at.ask('PUT', hoursOf('offers', offer.id), {})).statusCode, 400)
  const stranger = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const { secret } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  for (const url of [hoursOf('offers', offer.id), hoursOf('campaigns', id)])
    for (const method of ['GET', 'PUT'] as const) {
      const body = method === 'PUT' ? { open_hours: null } : undefined
      assert.equal((await at.ask(method, url, body, { cookie: stranger.cookie })).statusCode, 404)
      assert.equal(
        (await at.ask(method, url, body, { cookie: member.cookie })).statusCode,
        method === 'GET' ? 200 : 403,
      )
      const asKey = await at.ask(method, url, body, { key: secret })
      assert.deepEqual([asKey.statusCode, asKey.data()['code']], [403, 'api_key_resource_forbidden'])
    }
  for (const of of [
    hoursOf('offers', id),
    hoursOf('campaigns', offer.id),
    hoursOf('offers', toWireId(newId())),
    hoursOf('offers', 'nonsense'),
  ])
    assert.equal((await at.ask('PUT', of, { open_hours: null })).statusCode, 404)
  assert.deepEqual((await at.did<Hours>('GET', hoursOf('offers', offer.id))).open_hours, MONDAYS)
})
