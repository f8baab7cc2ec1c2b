// What a check does, and what it leaves alone: acts, their log and their way back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse, type TestHouse, useHouse } from '../../../tests/support/house.ts'
import { RULE_HOUR, seedRuled } from '../../../tests/support/ruled.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

test('a zone that costs more than three payouts without a conversion is left out, once, and can be put back', async () => {
  const place = await seedRuled(house)
  await place.visit([
    { sub1: 'bad', hours_ago: 5, clicks: 16 },
    { sub1: 'good', hours_ago: 5, clicks: 90, converted: 1 },
    { sub1: '{zoneid}', hours_ago: 5, clicks: 20 },
    { sub1: null, hours_ago: 5, clicks: 20 },
  ])
  const rule = await place.rule()
  const done = await place.check(rule.id)
  assert.equal(done.state, 'acted', JSON.stringify(done))
  const figures = {
    clicks: 16,
    conversions: 0,
    cost: '16.00',
    revenue: '0.00',
    profit: '-16.00',
    roi: -1,
    cpa: null,
    cr: 0,
  }
  const [object] = done.objects
  assert.ok(object !== undefined)
  assert.deepEqual(done.objects, [
    {
      campaign_id: place.campaign.id,
      field: 'sub1',
      value: 'bad',
      act: 'left_out',
      figures: { ...figures, epc: '0.00', approval_rate: null },
      history_id: object.history_id,
    },
  ])
  const row = (
    await place.did<{ data: { id: string; kind: string; actor: object }[] }>('GET', '/api/history?kind=left_out')
  ).data[0]
  assert.deepEqual([row?.id, row?.kind], [object.history_id, 'left_out'])
  assert.deepEqual(row?.actor, { kind: 'sluice', id: null, name: null, tool: null, host: null, because: 'rule' })
  const { data: marks } = await place.did<{ data: { at: string }[] }>(
    'GET',
    `/api/marks?campaign_id=${place.campaign.id}`,
  )
  const mark = { kind: 'rule', text: 'sub1 = bad', campaign_id: place.campaign.id, history_id: object.history_id }
  const at = marks[0]?.at
  assert.deepEqual(marks, [{ ...mark, at, day: at?.slice(0, 10) }])
  assert.deepEqual(
    (await place.leftOut()).map(({ value, rule_id }) => [value, rule_id]),
    [['bad', rule.id]],
  )
  assert.deepEqual(await place.log(rule.id), [done])
  assert.equal((await place.check(rule.id)).state, 'nothing')
  const host = async () =>
    URL.parse(
      String((await house.call('GET', `/c/${place.campaign.key}?sub1=bad`, { headers: BROWSER })).headers.location),
    )?.host
  assert.equal(await host(), 'back.example')
  assert.equal((await place.undo(object.history_id)).statusCode, 200)
  assert.equal(await host(), 'o.example')
  assert.deepEqual((await place.check(rule.id)).state, 'nothing', 'not again within 24 hours')
  assert.equal((await place.log(rule.id)).length, 1)
})

const BAD = { sub1: 'bad', hours_ago: 5, clicks: 16 }

test('clicks and conversions of the newest hours that are left out change nothing', async () => {
  const place = await seedRuled(house)
  await place.visit([BAD, { sub1: 'bad', hours_ago: 1, clicks: 1, converted: 1 }])
  assert.equal((await place.check((await place.rule()).id)).state, 'nothing')
  const window = { hours: 24, leave_out_newest_hours: 3 }
  const done = await place.check((await place.rule({ window })).id)
  assert.deepEqual([done.state, done.objects[0]?.figures.clicks], ['acted', 16])
  const to = Date.parse(done.window.to)
  assert.deepEqual([to - Date.parse(done.window.from), to % RULE_HOUR], [24 * RULE_HOUR, 0])
})

test('nothing is done below the minimum, on unfilled values, and in other campaigns', async () => {
  const place = await seedRuled(house)
  const other = await place.campaignOf('Other')
  await place.visit([{ ...BAD, clicks: 9, cost: '9' }])
  await place.visit([BAD], other)
  assert.equal((await place.check((await place.rule()).id)).state, 'nothing')
  assert.equal((await place.check((await place.rule({ at_least: { cost: '82' } })).id)).state, 'nothing')
  assert.equal((await place.check((await place.rule({ at_least: { cost: 81 } })).id)).state, 'acted')
  assert.deepEqual(await place.leftOut(other), [])
})

test('campaigns of a tag or a source belong to a rule, also later ones', async () => {
  const place = await seedRuled(house)
  const tag = await place.did<{ id: string }>('POST', '/api/tags', { name: 'Judged', color: 'red' })
  const rule = await place.rule({ over: { tag_id: tag.id } })
  await place.visit([BAD])
  assert.equal((await place.check(rule.id)).state, 'nothing')
  await place.did('PUT', `/api/campaigns/${place.campaign.id}/tags`, { tag_ids: [tag.id] })
  assert.equal((await place.check(rule.id)).state, 'acted')
})

test('of two rules and two processes on one object the first act counts', async t => {
  const place = await seedRuled(house)
  await place.visit([BAD])
  const second = await openTestHouse(house.database, { ROLE: 'serve' })
  t.after(() => second.end())
  const [one, two] = [await place.rule(), await place.rule()]
  const post = (of: TestHouse, id: string) => of.call('POST', `/api/rules/${id}/check`, { cookie: place.owner.cookie })
  const replies = await Promise.all([
    post(house, one.id),
    post(second, one.id),
    post(house, two.id),
    post(second, two.id),
  ])
  assert.deepEqual(
    replies.filter(reply => reply.data()['state'] === 'acted').length,
    1,
    replies.map(({ body }) => body).join(),
  )
  assert.equal((await place.leftOut()).length, 1)
  assert.equal((await place.log(one.id)).length + (await place.log(two.id)).length, 1)
})

test('a rule is checked at the full interval of the clock by one of the processes, once', async t => {
  const place = await seedRuled(house)
  await place.visit([BAD])
  const second = await openTestHouse(house.database, {})
  t.after(() => second.end())
  const rule = await place.rule({ active: true, every: 5 })
  const due = Math.ceil((Date.now() + 1) / (5 * 60_000)) * 5 * 60_000
  assert.equal(rule['next_check_at'], new Date(due).toISOString())
  t.mock.timers.enable({ apis: ['Date'], now: due + 50 })
  await eventually('the rule has acted', async () => (await place.log(rule.id)).length > 0)
  t.mock.timers.setTime(due + 5 * 60_000)
  await eventually('it was checked again', async () => {
    const row = await house.database.kysely
      .selectFrom('rules')
      .select('due_checked_at')
      .where('org_id', '=', place.owner.org_id)
      .executeTakeFirst()
    return Date.parse(String(row?.due_checked_at)) === due + 5 * 60_000
  })
  const log = await place.log(rule.id)
  assert.equal(log.length, 1)
  assert.equal(Date.parse(String(log[0]?.window.to)), due)
})

test('an act whose row in the log cannot be written has not happened', async () => {
  const place = await seedRuled(house)
  await place.visit([BAD])
  const { id } = await place.rule()
  const { schema } = house.database
  await sql.raw(`alter table rule_checks add constraint broken check (rule_id <> '${toUuid(id)}')`).execute(schema)
  assert.equal((await place.ask('POST', `/api/rules/${id}/check`)).statusCode, 500)
  await sql`alter table rule_checks drop constraint broken`.execute(schema)
  assert.deepEqual(await place.leftOut(), [])
  assert.deepEqual((await place.did<{ data: object[] }>('GET', '/api/history?kind=left_out')).data, [])
  assert.equal((await place.check(id)).state, 'acted')
})

test('campaigns are paused and capped, and both are put back', async () => {
  const place = await seedRuled(house)
  await place.visit([BAD])
  const fields = {
    value_of: null,
    when: [{ figure: 'roi', is: 'below', value: -0.5 }],
    then: [{ type: 'cap', limit: 100, period: 'day' }, { type: 'pause' }],
  }
  const done = await place.check((await place.rule(fields)).id)
  assert.deepEqual(
    done.objects.map(({ act, field, value }) => [act, field, value]),
    [
      ['cap', null, null],
      ['paused', null, null],
    ],
  )
  const status = async () => (await place.did('GET', `/api/campaigns/${place.campaign.id}`))['status']
  const caps = async () =>
    (await place.did<{ data: { limit: number; metric: string }[] }>('GET', '/api/caps')).data.map(
      ({ limit, metric }) => [limit, metric],
    )
  assert.deepEqual([await status(), await caps()], ['paused', [[100, 'clicks']]])
  for (const { history_id } of done.objects) assert.equal((await place.undo(history_id)).statusCode, 200)
  assert.deepEqual([await status(), await caps()], ['active', []])
})

test('a rule waits while the report names days incomplete', async () => {
  const place = await seedRuled(house)
  await place.visit([0, 24, 48].map(days => ({ ...BAD, hours_ago: 5 + days })))
  await house.database.worker.query('update report_day set clicks = clicks + 1 where org_id = $1', [place.owner.org_id])
  const rule = await place.rule({ window: { hours: 96 } })
  const waited = await place.check(rule.id)
  assert.deepEqual([waited.state, waited.reason, waited.objects], ['waited', 'days_incomplete', []])
  const shown = await place.did('GET', `/api/rules/${rule.id}`)
  assert.deepEqual([shown['state'], shown['waits_for']], ['waiting', 'days_incomplete'])
  assert.deepEqual(await place.leftOut(), [])
  assert.deepEqual(await place.log(rule.id), [waited])
})

test('above the stop line a rule asks, and does it once when it is confirmed', async () => {
  const place = await seedRuled(house)
  const yesterday = { sub1: 'bad', hours_ago: 24 + new Date().getUTCHours() - 12, clicks: 16 }
  await place.visit([yesterday, { ...yesterday, sub1: 'worse' }])
  const window = { hours: 72 }
  const rule = await place.rule({ window, stop_line: {} })
  const asked = await place.check(rule.id)
  assert.deepEqual([asked.state, asked.objects.length], ['asked', 2])
  assert.deepEqual(await place.leftOut(), [])
  assert.equal((await place.check(rule.id)).id, asked.id)
  assert.equal((await place.did('GET', `/api/rules/${rule.id}`))['state'], 'asking')
  const confirm = (check_id = asked.id) => place.ask('POST', `/api/rules/${rule.id}/confirm`, { check_id })
  const replies = await Promise.all([confirm(), confirm()])
  assert.deepEqual(
    replies.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b),
    [200, 409],
  )
  assert.equal(replies.find(({ statusCode }) => statusCode === 409)?.data()['code'], 'asked_before')
  assert.equal((await place.leftOut()).length, 2)
  const log = await place.log(rule.id)
  assert.deepEqual(
    log.map(({ state }) => state),
    ['acted', 'asked'],
  )
  assert.ok(log[0]?.objects.every(({ history_id }) => history_id !== null))
  assert.equal((await confirm(log[0]?.id)).statusCode, 404)
  const next = await place.rule({ window, stop_line: { objects: 1 } })
  const [campaign] = [await place.campaignOf('Second')]
  await place.visit(
    [
      yesterday,
      { ...yesterday, sub1: 'worse' },
      { ...yesterday, sub1: 'good', clicks: 200, converted: 1, payout: '500' },
    ],
    campaign,
  )
  await place.did('PATCH', `/api/rules/${next.id}`, { over: { campaign_ids: [campaign.id] } })
  const other = await place.check(next.id)
  assert.equal(other.state, 'asked')
  await place.did('PATCH', `/api/rules/${next.id}`, { name: 'Changed' })
  const outdated = await place.ask('POST', `/api/rules/${next.id}/confirm`, { check_id: other.id })
  assert.deepEqual([outdated.statusCode, outdated.data()['code']], [409, 'check_outdated'])
  assert.deepEqual(
    (await place.log(next.id)).map(({ version }) => version),
    [2],
  )
  await place.did('PATCH', `/api/rules/${next.id}`, { stop_line: { objects: 2 } })
  assert.equal((await place.check(next.id)).state, 'acted')
})
