// The report by day in another currency: each day at its own rate, totals that are the sums of the days, and books in dollars.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedPlainCampaign, seedClick } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import type { ExploreAnswer } from '../../contract/explore-answer.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { importRates } from '../../money/rates/rates-file.ts'
import type { MemberReport } from './api.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

const day = (ago: number) => dayOf(Date.now() - ago * DAY_MS)

async function rates(lines: readonly string[]): Promise<void> {
  const client = await house.database.worker.connect()
  await importRates(client, `day,currency,usd_per_unit\n${lines.join('\n')}`).finally(() => client.release())
}

/** Revenue and spend on the two days before today. */
async function place(): Promise<SignedIn> {
  const owner = await seedSignedIn(house)
  const campaign_id = await seedPlainCampaign(house.database, owner.org_id)
  for (const [ago, payout, amount] of [
    [2, '10', '3'],
    [1, '0.05', '7.01'],
  ] as const) {
    const at = Date.parse(`${day(ago)}T12:00:00Z`)
    const click = await seedClick(house.database, owner.org_id, { campaign_id, at })
    const body = { clickId: toWireId(click), type: 'deposit', payout }
    assert.equal((await house.call('POST', '/api/events', { ...owner, body })).statusCode, 201)
    const spend = { campaign_id: toWireId(campaign_id), day: day(ago), amount }
    assert.equal((await house.call('PUT', '/api/ad-spend', { ...owner, body: spend })).statusCode, 200)
  }
  return owner
}

const ask = (owner: SignedIn, more: string) =>
  house.call('GET', `/api/report?date_from=${day(2)}T00:00:00Z&date_to=${day(1)}T23:59:59.999Z&${more}`, owner)
const told = ({ rows, totals }: MemberReport) =>
  [...rows, { key: 'all', ...totals }].map(({ key, clicks, revenue, cost }) => `${key} ${clicks} ${revenue} ${cost}`)

const askExplore = (owner: SignedIn, question: object) => {
  const usual = { levels: [{ dimension: 'day', top: 1 }], measures: ['clicks', 'revenue', 'cost', 'profit'] }
  const body = { date_from: day(2), date_to: `${day(1)}T23:59:59.999Z`, ...usual, ...question }
  return house.call('POST', '/api/explore', { ...owner, body })
}

test('each day uses its own rate, and the totals are the sums of the days', async () => {
  await rates([`${day(3)},DKK,0.15`, `${day(2)},DKK,0.3`])
  const owner = await place()
  const reply = await ask(owner, 'dimension=day&currency=dkk')
  assert.equal(reply.statusCode, 200, reply.body)
  const report = reply.json<MemberReport>()
  assert.deepEqual(told(report), [
    `${day(2)} 1 66.67 20.00`,
    `${day(1)} 1 0.17 23.37`,
    // Not 10.05 or 10.01 dollars at any single rate.
    'all 2 66.84 43.37',
  ])
  const explored = (await askExplore(owner, { currency: 'DKK' })).json<ExploreAnswer>()
  assert.deepEqual(
    [...explored.rows, { key: 'all', ...explored.totals }].map(
      ({ key, clicks, revenue, cost, profit }) => `${key} ${clicks} ${revenue} ${cost} ${profit}`,
    ),
    [`${day(2)} 1 66.67 20.00 46.67`, `${day(1)} 1 0.17 23.37 -23.20`, 'all 2 66.84 43.37 23.47'],
  )
  const dollars = [`${day(2)} 1 10.00 3.00`, `${day(1)} 1 0.05 7.01`, 'all 2 10.05 10.01']
  for (const query of ['dimension=day', 'dimension=day&currency=USD'])
    assert.deepEqual(told((await ask(owner, query)).json<MemberReport>()), dollars)
  // An own rate takes precedence, in this workspace alone.
  const other = await place()
  const own = { from_day: day(1), usd_per_unit: '1' }
  assert.equal((await house.call('PUT', '/api/rates/DKK', { ...owner, body: own })).statusCode, 200)
  assert.equal((await ask(owner, 'dimension=day&currency=DKK')).json<MemberReport>().totals.cost, '27.01')
  assert.equal((await ask(other, 'dimension=day&currency=DKK')).json<MemberReport>().totals.cost, '43.37')
})

test('a day with money and no rate refuses the report, and so does any other dimension', async () => {
  const owner = await place()
  await rates([`${day(2)},ISK,0.008`])
  const refused = await ask(owner, 'dimension=day&currency=ISK')
  assert.deepEqual([refused.statusCode, refused.data()['code']], [422, 'rate_unknown'])
  assert.equal(refused.data()['error'], `no rate of ISK is known for ${day(2)}`)
  const unknown = await askExplore(owner, { currency: 'ISK' })
  assert.deepEqual([unknown.statusCode, unknown.data()['error']], [422, `no rate of ISK is known for ${day(2)}`])
  for (const wrong of [
    { levels: [{ dimension: 'campaign' }] },
    { levels: [{ dimension: 'day' }, { dimension: 'geo' }] },
    { time_zone: 'Europe/Kyiv' },
    { having: [{ measure: 'clicks', op: 'gt', value: '1' }] },
  ]) {
    const reply = await askExplore(owner, { currency: 'DKK', ...wrong })
    assert.deepEqual([reply.statusCode, reply.data()['code']], [400, 'invalid_question'])
    assert.match(String(reply.data()['error']), /^currency: goes with the level day alone/)
  }
  const file = { date_from: day(2), date_to: day(1), levels: [{ dimension: 'day' }], currency: 'DKK' }
  assert.match(
    String((await house.call('POST', '/api/explore/csv', { ...owner, body: file })).data()['error']),
    /^currency: must be left out/,
  )
  for (const dimension of ['campaign', 'geo', 'sub1', 'offer', 'local_hour']) {
    const reply = await ask(owner, `dimension=${dimension}&tz=UTC&currency=EUR`)
    assert.equal(reply.statusCode, 400)
    assert.match(String(reply.data()['error']), /^currency: goes with dimension=day only/)
  }
  assert.match(String((await ask(owner, 'dimension=day&currency=E')).data()['error']), /currency/)
  const empty = await seedSignedIn(house)
  const { rows, totals } = (await ask(empty, 'dimension=day&currency=ISK')).json<MemberReport>()
  assert.deepEqual([rows, totals.revenue, totals.cost], [[], '0.00', '0.00'])
})

test('the workspace’s currency is set by admins, shown to all its members, and changes nothing a key reads', async () => {
  const owner = await place()
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const other = await seedSignedIn(house)
  const { secret } = await seedKey(house.database, owner, { rights: ['report'] })
  const window = `date_from=${day(2)}T00:00:00Z&date_to=${day(1)}T23:59:59.999Z`
  const read = async () => (await house.call('GET', `/api/v1/report?dimension=day&${window}`, { key: secret })).body
  const before = await read()
  const set = (by: object, currency: unknown) =>
    house.call('PUT', '/api/reporting-currency', { ...by, body: { currency } })
  const shown = async (by: SignedIn) => {
    const { data } = (await house.call('GET', '/api/organizations', by)).json<{
      data: { active: boolean; reporting_currency: string | null }[]
    }>()
    return data.find(({ active }) => active)?.reporting_currency
  }
  assert.equal(await shown(owner), null)
  assert.equal((await set(owner, 'eur')).data()['reporting_currency'], 'EUR')
  assert.deepEqual([await shown(owner), await shown(member), await shown(other)], ['EUR', 'EUR', null])
  assert.equal((await set(member, 'GBP')).data()['code'], 'role_forbidden')
  assert.equal((await set({ key: secret }, 'GBP')).data()['code'], 'api_key_resource_forbidden')
  assert.equal((await set(owner, 'no money')).statusCode, 400)
  assert.equal((await set(owner, undefined)).statusCode, 400)
  assert.equal(await shown(owner), 'EUR')
  assert.equal(await read(), before)
  assert.equal((await set(owner, 'usd')).data()['reporting_currency'], null)
  assert.equal((await set(owner, 'EUR')).statusCode, 200)
  assert.equal((await set(owner, null)).data()['reporting_currency'], null)
})
