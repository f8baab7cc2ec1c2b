// Rules as objects: their fields, what is refused, and who may do what.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedKey, type TestHouse, toWireId, useHouse } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { seedRuled, ZONE_RULE } from '../../../tests/support/ruled.ts'
import { toUuid } from '../../contract/ids.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

test('a rule is created, read, listed, changed and deleted, and each change counts', async () => {
  const place = await seedRuled(house)
  const over = { campaign_ids: [place.campaign.id] }
  const body = {
    name: 'Zones',
    over,
    value_of: 'sub1',
    when: [
      { figure: 'cost', is: 'above', times_payout: 3 },
      { figure: 'roi', is: 'below', value: -0.4 },
      { figure: 'profit', is: 'below', value: '-12.5' },
    ],
    window: { hours: 24 },
    at_least: { clicks: 100 },
    then: [{ type: 'leave_out' }],
    every: 'day',
  }
  const made = await place.did('POST', '/api/rules', body)
  const { id, created_at, updated_at, next_check_at, ...shown } = made
  assert.deepEqual(shown, {
    ...body,
    active: true,
    version: 1,
    window: { hours: 24, leave_out_newest_hours: 0 },
    at: '09:00',
    back: null,
    stop_line: { clicks_percent: 20, objects: 50 },
    state: 'watching',
    waits_for: null,
  })
  assert.equal(created_at, updated_at)
  assert.match(String(next_check_at), /T09:00:00.000Z$/)
  const one = `/api/rules/${String(id)}`
  assert.deepEqual(await place.did('GET', one), made)
  assert.deepEqual((await place.did<{ data: object[] }>('GET', '/api/rules')).data, [made])
  const back = { when: [{ figure: 'roi', is: 'above', value: -0.1 }] }
  const changed = await place.did('PATCH', one, { back, every: 60, at: null, active: false })
  assert.deepEqual(
    [changed['version'], changed['back'], changed['every'], changed['at'], changed['next_check_at'], changed['when']],
    [2, back, 60, null, null, body.when],
  )
  assert.equal((await place.did('PATCH', one, { back }))['version'], 2, 'nothing has changed')
  const history = await place.did<{
    data: { id: string; change: string; object_name: string; fields: { name: string }[] }[]
  }>('GET', '/api/history?kind=rule')
  assert.deepEqual(
    history.data.map(({ change, object_name }) => [change, object_name]),
    [
      ['changed', 'Zones'],
      ['created', 'Zones'],
    ],
  )
  assert.equal((await place.undo(history.data[0]?.id ?? '')).statusCode, 200)
  const again = await place.did('GET', one)
  assert.deepEqual([again['version'], again['back'], again['every'], again['active']], [3, null, 'day', true])
  await place.did('DELETE', one)
  assert.equal((await place.ask('GET', one)).statusCode, 404)
})

test('a deleted rule takes its log and its open alerts along, and objects that it acted on today stay claimed', async () => {
  const place = await seedRuled(house)
  const { kysely: db } = house.database
  const { org_id } = place.owner
  const { id } = await place.did('POST', '/api/rules', { ...ZONE_RULE, over: { campaign_ids: [place.campaign.id] } })
  const rule_id = toUuid(String(id)) ?? ''
  const now = Date.now()
  const at = new Date(now).toISOString()
  const episode = { kind: 'rule', object_kind: 'campaign', messages: 1, began_at: at, told_at: at }
  await db
    .insertInto('alert_episodes')
    .values({ org_id, id: newId(), key: 'one', rule_id, ...episode })
    .execute()
  const object = { org_id, campaign_id: toUuid(place.campaign.id) ?? '', field: 'sub1', rule_id, check_id: newId() }
  const acted = (value: string, hours: number) => {
    const acted_at = new Date(now - hours * 3_600_000).toISOString()
    return db
      .insertInto('rule_objects')
      .values({ ...object, value, act: 'left_out', acted_at })
      .execute()
  }
  await acted('today', 1)
  await acted('before', 25)
  await place.did('DELETE', `/api/rules/${String(id)}`)
  const open = db.selectFrom('alert_episodes').select('key').where('org_id', '=', org_id).where('over_at', 'is', null)
  assert.deepEqual(await open.execute(), [])
  const claimed = await db.selectFrom('rule_objects').select('value').where('org_id', '=', org_id).execute()
  assert.deepEqual(claimed, [{ value: 'today' }])
})

test('a rule that cannot be is refused', async () => {
  const place = await seedRuled(house)
  const stranger = await seedRuled(house)
  const over = { campaign_ids: [place.campaign.id] }
  const refused = async (fields: object, code = 400) => {
    const reply = await place.ask('POST', '/api/rules', { ...ZONE_RULE, over, ...fields })
    assert.equal(reply.statusCode, code, `${JSON.stringify(fields)}: ${reply.body}`)
    return reply.data()['code']
  }
  const condition = { figure: 'roi', is: 'below', value: 0 }
  for (const fields of [
    { at_least: undefined },
    { at_least: {} },
    { value_of: null },
    { value_of: 'landing' },
    { value_of: 'sub10' },
    { then: [] },
    { then: [{ type: 'pause' }, { type: 'pause' }] },
    { then: [{ type: 'tell', receiver_ids: [toWireId(newId())] }] },
    { then: [{ type: 'tell', receiver_ids: [] }], back: { after_days: 3, share: 0.05 } },
    { then: [{ type: 'weights', share: 0.1 }] },
    { then: [{ type: 'leave_out', leads_to: { type: 'offer', offer_id: stranger.offer.id } }] },
    { when: [] },
    { when: Array(7).fill(condition) },
    { when: [{ figure: 'ctr', is: 'below', value: 0 }] },
    { when: [{ figure: 'clicks', is: 'below', times_payout: 2 }] },
    { when: [{ ...condition, value: '1e3' }] },
    { window: { hours: 0 } },
    { window: { hours: 721 } },
    { window: { hours: 1, leave_out_newest_hours: 73 } },
    { every: 30 },
    { every: 'day', at: '9:00' },
    { over: { campaign_ids: [] } },
    { over: { ...over, tag_id: toWireId(newId()) } },
    { over: { campaign_ids: [stranger.campaign.id] } },
    { over: { tag_id: toWireId(newId()) } },
    { over: { traffic_source_id: toWireId(newId()) } },
    { stop_line: { clicks_percent: 0 } },
    { colour: 'red' },
  ])
    await refused(fields)
  const rule = await place.rule()
  const patch = await place.ask('PATCH', `/api/rules/${rule.id}`, { value_of: null })
  assert.equal(patch.statusCode, 400)
  assert.deepEqual(await place.did('GET', `/api/rules/${rule.id}`), rule)
})

test('a condition on spend that is known by day alone is refused, unless it is checked daily over whole days', async () => {
  const place = await seedRuled(house)
  const day = new Date().toISOString().slice(0, 10)
  const early = await place.rule()
  await place.did('PUT', '/api/ad-spend', { campaign_id: place.campaign.id, day, amount: '10' })
  const over = { campaign_ids: [place.campaign.id] }
  const coarse = { ...ZONE_RULE, over }
  for (const fields of [
    {},
    { every: 'day', window: { hours: 36 } },
    { when: [{ figure: 'roi', is: 'below', value: 0 }] },
  ]) {
    const reply = await place.ask('POST', '/api/rules', { ...coarse, ...fields })
    assert.deepEqual([reply.statusCode, reply.data()['code']], [422, 'spend_by_day_only'], JSON.stringify(fields))
  }
  const tried = await place.ask('POST', '/api/rules/try', { rule: coarse, days: 7 })
  assert.equal(tried.statusCode, 422)
  await place.rule({ every: 'day' })
  await place.rule({ when: [{ figure: 'conversions', is: 'below', value: 1 }] })
  await place.visit([{ sub1: 'bad', hours_ago: 5, clicks: 16 }])
  const waited = await place.check(early.id)
  assert.deepEqual([waited.state, waited.reason], ['waited', 'spend_by_day_only'])
  const again = await place.ask('POST', `/api/rules/${early.id}/try`, { days: 7 })
  assert.deepEqual([again.statusCode, again.data()['code']], [422, 'spend_by_day_only'])
})

test('members read rules, and keys and strangers reach none', async () => {
  const place = await seedRuled(house)
  const rule = await place.rule()
  const member = await seedSignedIn(house, { place: place.owner, role: 'member' })
  const stranger = await seedSignedIn(house)
  const { secret: key } = await seedKey(house.database, place.owner, {
    rights: ALL_RIGHTS,
    campaigns: [toUuid(place.campaign.id) ?? ''],
  })
  const one = `/api/rules/${rule.id}`
  const check_id = toWireId(newId())
  const draft = { ...ZONE_RULE, over: { campaign_ids: [place.campaign.id] } }
  type Sent = readonly ['GET' | 'POST' | 'PATCH' | 'DELETE', string, object?]
  const reads: Sent[] = [
    ['GET', one],
    ['GET', `${one}/log`],
  ]
  const writes: Sent[] = [
    ['PATCH', one, { name: 'X' }],
    ['DELETE', one],
    ['POST', `${one}/check`],
    ['POST', `${one}/try`, { days: 7 }],
    ['POST', `${one}/confirm`, { check_id }],
  ]
  const open: Sent[] = [
    ['GET', '/api/rules'],
    ['POST', '/api/rules', draft],
    ['POST', '/api/rules/try', { rule: draft, days: 7 }],
  ]
  for (const [method, url, body] of [...reads, ...writes, ...open]) {
    const byKey = await place.ask(method, url, body, { key })
    assert.deepEqual([byKey.statusCode, byKey.data()['code']], [403, 'api_key_resource_forbidden'], url)
  }
  for (const [method, url, body] of [...reads, ...writes]) {
    const byStranger = await place.ask(method, url, body, stranger)
    assert.deepEqual([byStranger.statusCode, byStranger.data()['code']], [404, 'not_found'], `${method} ${url}`)
  }
  for (const [method, url, body] of [...writes, ...open.slice(1)])
    assert.equal((await place.ask(method, url, body, member)).statusCode, 403, `${method} ${url}`)
  for (const [method, url] of [...reads, ['GET', '/api/rules'] as const])
    assert.equal((await place.ask(method, url, undefined, member)).statusCode, 200, url)
  const byStranger = await place.ask('GET', '/api/rules', undefined, stranger)
  assert.deepEqual(byStranger.json<{ data: object[] }>().data, [])
  assert.equal((await place.ask('POST', `${one}/confirm`, { check_id })).statusCode, 404)
  assert.deepEqual(await place.did('GET', one), rule)
})
