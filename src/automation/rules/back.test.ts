// Objects that come back, shares of a funnel, and what receivers are told.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { earlier } from '../../../tests/support/earlier.ts'
import { newId, type TestHouse, toWireId, useHouse } from '../../../tests/support/house.ts'
import { seedRuled } from '../../../tests/support/ruled.ts'
import { seedUnsealed } from '../../../tests/support/explored.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Place = Awaited<ReturnType<typeof seedRuled>>
const BAD = { sub1: 'bad', hours_ago: 5, clicks: 16 }
const acts = ({ objects }: { objects: { act: string; value: string | null }[] }) =>
  objects.map(({ act, value }) => `${value} ${act}`)

/** As if the last acts had been so many days ago. */
const age = (place: Place, days: number) =>
  house.database.worker.query(
    `update rule_objects set acted_at = ${earlier('acted_at', `${days} days`)} where org_id = $1`,
    [place.owner.org_id],
  )

test('a value comes back once the counter-condition holds, a day after the act at the earliest', async () => {
  const place = await seedRuled(house)
  const clicks = await place.visit([BAD])
  const back = { when: [{ figure: 'roi', is: 'above', value: -0.1 }] }
  const rule = await place.rule({ back })
  assert.deepEqual(acts(await place.check(rule.id)), ['bad left_out'])
  await age(place, 2)
  assert.equal((await place.check(rule.id)).state, 'nothing', 'it still loses money')
  await place.did('POST', '/api/events', { clickId: clicks[0], type: 'lead', payout: '40' })
  await place.did('POST', '/api/events', { clickId: clicks[1], type: 'lead', payout: '40' })
  const done = await place.check(rule.id)
  assert.deepEqual(acts(done), ['bad let_in'])
  assert.deepEqual(await place.leftOut(), [])
  assert.equal((await place.undo(done.objects[0]?.history_id ?? null)).statusCode, 200)
  assert.equal((await place.leftOut()).length, 1)
})

test('after its days a part of a value’s visitors is let in, and after as many days all of them', async () => {
  const place = await seedRuled(house)
  await place.visit([BAD])
  const rule = await place.rule({ back: { after_days: 3, share: 0.5 } })
  const hosts = async () => {
    const found = new Set<string | undefined>()
    for (let visitor = 0; visitor < 24; visitor += 1) {
      const headers = {
        ...BROWSER,
        'x-forwarded-for': `203.0.113.${visitor}`,
        'user-agent': `${BROWSER['user-agent']} ${visitor}`,
      }
      const reply = await house.call('GET', `/c/${place.campaign.key}?sub1=bad`, { headers })
      found.add(URL.parse(String(reply.headers.location))?.host)
    }
    return ['back.example', 'o.example'].filter(host => found.has(host))
  }
  assert.deepEqual(acts(await place.check(rule.id)), ['bad left_out'])
  assert.deepEqual(await hosts(), ['back.example'])
  await age(place, 2)
  assert.equal((await place.check(rule.id)).state, 'nothing')
  await place.did('PATCH', `/api/rules/${rule.id}`, { when: [{ figure: 'clicks', is: 'below', value: 1 }] })
  await age(place, 2)
  const done = await place.check(rule.id)
  assert.deepEqual(acts(done), ['bad let_in'])
  assert.deepEqual(await hosts(), ['back.example', 'o.example'])
  assert.equal((await place.leftOut()).length, 1)
  await age(place, 4)
  assert.deepEqual(acts(await place.check(rule.id)), ['bad let_in'])
  assert.deepEqual(await hosts(), ['o.example'])
})

test('a dry run counts the visitors who are not let in on probation as left out', async () => {
  const place = await seedRuled(house)
  await place.visit([
    { sub1: 'bad', hours_ago: 120, clicks: 16 },
    { sub1: 'bad', hours_ago: 110, clicks: 10, converted: 2, payout: '3' },
    { sub1: 'bad', hours_ago: 85, clicks: 8, converted: 1, payout: '2' },
    { sub1: 'bad', hours_ago: 60, clicks: 9 },
  ])
  const rule = await place.rule({
    when: [{ figure: 'cost', is: 'above', value: '15' }],
    window: { hours: 12 },
    back: { after_days: 1, share: 0.25 },
  })
  const { acts: tried, saved, lost } = await place.tried(rule.id)
  assert.deepEqual(
    tried.map(({ act }) => act),
    ['left_out', 'let_in', 'let_in'],
  )
  // All of ten clicks, and three quarters of eight.
  assert.deepEqual([saved, lost], ['16.00', '7.50'])
})

test('a value that is still bad on probation is left out again', async () => {
  const place = await seedRuled(house)
  await place.visit([BAD])
  const rule = await place.rule({ back: { after_days: 1, share: 0.5 } })
  await place.check(rule.id)
  await age(place, 2)
  assert.deepEqual(acts(await place.check(rule.id)), ['bad let_in'])
  assert.equal((await place.check(rule.id)).state, 'nothing')
  await age(place, 2)
  assert.deepEqual(acts(await place.check(rule.id)), ['bad left_out'])
})

test('a paused campaign comes back after its days', async () => {
  const place = await seedRuled(house)
  await place.visit([BAD])
  const rule = await place.rule({ value_of: null, then: [{ type: 'pause' }], back: { after_days: 2, share: 1 } })
  const status = async () => (await place.did('GET', `/api/campaigns/${place.campaign.id}`))['status']
  await place.check(rule.id)
  assert.equal(await status(), 'paused')
  await age(place, 3)
  assert.deepEqual(acts(await place.check(rule.id)), ['null let_in'])
  assert.equal(await status(), 'active')
})

test('a landing that loses money gets a smaller share of its funnel', async () => {
  const place = await seedRuled(house)
  const { org_id } = place.owner
  const landing = async (name: string) =>
    (await place.did<{ id: string }>('POST', '/api/landings', { name, url: `https://${name}.example/` })).id
  const [one, two] = [await landing('one'), await landing('two')]
  const landings = [one, two].map(landing_id => ({ landing_id, weight: 1 }))
  const offers = [{ offer_id: place.offer.id, weight: 1 }]
  const funnel = await place.did<{ id: string }>('POST', '/api/funnels', { name: 'F', landings, offers })
  const destination = { type: 'funnel', funnel_id: funnel.id }
  const campaign = await place.did<{ id: string }>('POST', '/api/campaigns', { name: 'C', destination })
  const at = Date.now() - 5 * 3_600_000
  const clicks = Array.from({ length: 20 }, (_, place_of) => ({
    at: at + place_of,
    campaign: toUuid(campaign.id) ?? '',
    landing: toUuid(place_of < 12 ? one : two) ?? '',
    cost: '1',
    cost_counts: true,
  }))
  await seedUnsealed(house.database, org_id, clicks)
  const rule = await place.rule({
    over: { campaign_ids: [campaign.id] },
    value_of: 'landing',
    when: [{ figure: 'roi', is: 'below', value: 0 }],
    then: [{ type: 'weights', share: 0.1 }],
  })
  const done = await place.check(rule.id)
  assert.deepEqual(acts(done), [`${one} weights`])
  const weights = async () =>
    (await place.did<{ landings: { weight: number }[] }>('GET', `/api/funnels/${funnel.id}`)).landings.map(
      ({ weight }) => weight,
    )
  assert.deepEqual(await weights(), [1000, 9000])
  const undone = await place.undo(done.objects[0]?.history_id ?? null)
  assert.equal(undone.statusCode, 200, undone.body)
  assert.deepEqual(await weights(), [1, 1])
})

test('receivers are told once when it begins and once when it is over, and once when a rule asks', async () => {
  const place = await seedRuled(house)
  const { org_id } = place.owner
  const receiver_id = newId()
  const now = new Date().toISOString()
  await house.database.kysely
    .insertInto('receivers')
    .values({
      org_id,
      id: receiver_id,
      type: 'mail',
      name: 'M',
      email: 'm@example.com',
      created_at: now,
      updated_at: now,
    })
    .execute()
  await place.visit([BAD])
  const tell = { type: 'tell', receiver_ids: [toWireId(receiver_id)] }
  const rule = await place.rule({ then: [tell] })
  const phases = async () =>
    (
      await house.database.kysely
        .selectFrom('receiver_messages')
        .select('body')
        .where('org_id', '=', org_id)
        .orderBy('id')
        .execute()
    )
      .map(({ body }) => body as { type: string; phase: string })
      .filter(({ type }) => type === 'rule')
      .map(({ phase }) => phase)
  const done = await place.check(rule.id)
  assert.deepEqual(acts(done), ['bad told'])
  assert.equal(done.objects[0]?.history_id, null)
  assert.equal((await place.check(rule.id)).state, 'nothing')
  assert.deepEqual(await phases(), ['begins'])
  await place.did('PATCH', `/api/rules/${rule.id}`, { at_least: { clicks: 17 } })
  await place.check(rule.id)
  await place.check(rule.id)
  assert.deepEqual(await phases(), ['begins', 'over'])
  await place.did('PATCH', `/api/rules/${rule.id}`, {
    at_least: { clicks: 1 },
    then: [tell, { type: 'leave_out' }],
    stop_line: { objects: 1 },
  })
  await place.visit([{ ...BAD, sub1: 'worse' }])
  const asked = await place.check(rule.id)
  await place.check(rule.id)
  assert.deepEqual(await phases(), ['begins', 'over', 'asks'])
  await place.did('POST', `/api/rules/${rule.id}/confirm`, { check_id: asked.id })
  assert.deepEqual(await phases(), ['begins', 'over', 'asks', 'over'])
  // A rule whose receivers were all deleted tells the others.
  await place.did('DELETE', `/api/receivers/${toWireId(receiver_id)}`)
  await place.did('POST', '/api/receivers', { type: 'webhook', name: 'Other', url: 'https://other.example/' })
  await place.did('PATCH', `/api/rules/${rule.id}`, { then: [tell], at_least: { clicks: 17 } })
  await place.check(rule.id)
  await place.did('PATCH', `/api/rules/${rule.id}`, { at_least: { clicks: 1 } })
  await place.check(rule.id)
  assert.ok((await phases()).includes('begins'))
})
