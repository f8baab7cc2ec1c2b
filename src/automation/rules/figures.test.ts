// One figure, one meaning: a rule judges by the report's figures, also where spend is booked by day, and waits where they are not known.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, type TestHouse, useHouse } from '../../../tests/support/house.ts'
import { RULE_HOUR, seedRuled, ZONE_RULE } from '../../../tests/support/ruled.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { toUuid } from '../../contract/ids.ts'
import { RULE_FIELDS } from '../../contract/rules.ts'
import type { TriedRule } from './api.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Place = Awaited<ReturnType<typeof seedRuled>>
type Reported = { rows: Record<string, unknown>[] }

const ANY = {
  when: [{ figure: 'clicks', is: 'above', value: 0 }],
  at_least: { clicks: 1 },
  stop_line: { clicks_percent: 100 },
}
const FIGURES = ['clicks', 'conversions', 'cost', 'revenue', 'profit', 'roi', 'cpa', 'cr', 'epc', 'approval_rate']

/** The figures of the report by a dimension, by key. */
async function reported(place: Place, dimension: string, { from, to }: { from: string; to: string }) {
  const { rows } = await place.did<Reported>('POST', '/api/explore', {
    date_from: from,
    date_to: new Date(Date.parse(to) - 1).toISOString(),
    levels: [{ dimension }],
    measures: FIGURES,
  })
  return new Map(rows.map(row => [row['key'], Object.fromEntries(FIGURES.map(name => [name, row[name]]))]))
}

test('the figures of a check are those of the report, for campaigns and for their values', async () => {
  const place = await seedRuled(house)
  await place.visit([
    { sub1: 'one', hours_ago: 30, clicks: 7, cost: '0.123456', converted: 2 },
    { sub1: 'two', hours_ago: 5, clicks: 9, cost: '0.5', converted: 1, payout: '7.5' },
    { sub1: 'two', hours_ago: 80, clicks: 3 },
  ])
  const cap = { type: 'cap', limit: 9, period: 'day' }
  const whole = await place.check((await place.rule({ ...ANY, value_of: null, then: [cap] })).id)
  const [campaign] = whole.objects
  assert.deepEqual(campaign?.figures, (await reported(place, 'campaign', whole.window)).get(place.campaign.id))
  assert.deepEqual([campaign?.figures.clicks, campaign?.figures.cost], [16, '5.364192'])
  const byZone = await place.check((await place.rule(ANY)).id)
  assert.deepEqual(
    new Map(byZone.objects.map(({ value, figures }) => [value, figures])),
    await reported(place, 'sub1', byZone.window),
  )
})

test('spend that is booked by day counts in a daily rule as in the report, and in its dry run once it was entered', async () => {
  const place = await seedRuled(house)
  await place.visit([
    { sub1: 'dear', hours_ago: 40, clicks: 10, cost: '0.1' },
    { sub1: 'cheap', hours_ago: 40, clicks: 30, cost: '0.1', converted: 1 },
  ])
  const day = dayOf(Date.now() - 40 * RULE_HOUR)
  const spend = (sub1: string, amount: string) =>
    place.did('PUT', '/api/ad-spend', { campaign_id: place.campaign.id, day, sub1, amount })
  await spend('dear', '33')
  await spend('', '80')
  const at = new Date(Date.now() - RULE_HOUR).toISOString().slice(11, 16)
  const rule = await place.rule({ ...ANY, every: 'day', at, window: { hours: 96 }, then: [{ type: 'leave_out' }] })
  const { org_id } = place.owner
  const entered = (hours_ago: number) =>
    house.database.worker.query('update ad_spend set updated_at = $2 where org_id = $1', [
      org_id,
      new Date(Date.now() - hours_ago * RULE_HOUR),
    ])
  await entered(3)
  const costs = (objects: readonly { value: string | null; figures: { cost: string | null } }[]) =>
    new Map(objects.map(({ value, figures }) => [value, Number(figures.cost)]))
  const done = await place.check(rule.id)
  assert.deepEqual([costs(done.objects).get('dear'), costs(done.objects).get('cheap')], [53, 60])
  const dear = await place.did<{ acts: TriedRule['acts'] }>('POST', '/api/rules/try', {
    rule: {
      name: 'Dear',
      over: { campaign_ids: [place.campaign.id] },
      ...ANY,
      value_of: 'sub1',
      when: [{ figure: 'cost', is: 'above', value: 50 }],
      every: 'day',
      at,
      window: { hours: 96 },
      then: [{ type: 'tell', receiver_ids: [] }],
    },
    days: 7,
  })
  assert.deepEqual(
    [dear.acts.map(({ at: when }) => when), costs(dear.acts).get('dear'), costs(dear.acts).get('cheap')],
    [[done.window.to, done.window.to], 53, 60],
  )
})

test('a rule on spend waits while an ad account of a campaign could not be read', async () => {
  const place = await seedRuled(house)
  const { org_id, user_id } = place.owner
  await place.visit([{ sub1: 'bad', hours_ago: 30, clicks: 16 }])
  const rule = await place.rule({ every: 'day', at: '00:00' })
  const now = new Date()
  await house.database.kysely
    .insertInto('spend_accounts')
    .values({
      org_id,
      id: newId(),
      provider: 'meta',
      external_id: '1',
      name: 'A',
      token: Buffer.from(''),
      token_hint: '',
      level: 'campaign',
      campaign_id: toUuid(place.campaign.id) ?? '',
      state: 'active',
      created_by: user_id,
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
      due_at: new Date(now.getTime() + DAY_MS).toISOString(),
      fault_code: 'token_refused',
      fault_since: now.toISOString(),
    })
    .execute()
  const waited = await place.check(rule.id)
  assert.deepEqual([waited.state, waited.reason], ['waited', 'spend_not_read'])
  const other = await place.rule({ when: [{ figure: 'conversions', is: 'below', value: 1 }] })
  assert.notEqual((await place.check(other.id)).state, 'waited', 'spend does not matter to it')
})

test('values of every field are judged, and found by a dry run', async () => {
  const place = await seedRuled(house)
  await place.visit([{ sub1: 'one', hours_ago: 5, clicks: 4 }])
  const over = { campaign_ids: [place.campaign.id] }
  for (const value_of of [null, ...RULE_FIELDS]) {
    const rule = { ...ZONE_RULE, ...ANY, name: 'Any', over, value_of, then: [{ type: 'pause' }] }
    const { acts } = await place.did<TriedRule>('POST', '/api/rules/try', { rule, days: 7 })
    const done = await place.check((await place.did<{ id: string }>('POST', '/api/rules', rule)).id)
    assert.deepEqual(
      done.objects.map(({ value, figures }) => [value, figures]),
      acts.map(({ value, figures }) => [value, figures]),
      String(value_of),
    )
    const isSeen = ['sub1', 'geo', 'hour', 'offer', null].includes(value_of)
    assert.equal(acts.length, isSeen ? 1 : 0, String(value_of))
    if (acts.length === 0) continue
    await place.did('PUT', `/api/campaigns/${place.campaign.id}/status`, { status: 'active' })
    await house.database.worker.query('delete from rule_objects where org_id = $1', [place.owner.org_id])
  }
})
