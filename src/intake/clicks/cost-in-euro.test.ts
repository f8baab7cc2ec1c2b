// The cost of a click whose link has another currency: converted at the rate in memory, and stored with the click.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { dayOf } from '../../contract/days.ts'
import { toUuid } from '../../contract/ids.ts'
import { openLiveRates } from '../../money/rates/live.ts'

let house: TestHouse
let owner: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
})
after(() => house.end())

async function did(method: 'POST' | 'PUT', path: string, body: object, as: SignedIn = owner) {
  const reply = await house.call(method, path, { ...as, body })
  assert.ok(reply.statusCode < 300, reply.body)
  return reply.data()
}

async function campaignOf(as: SignedIn): Promise<string> {
  const parameters = [{ field: 'cost', parameter: 'bid', macro: '{bid}' }]
  const source = await did('POST', '/api/traffic-sources', { name: 'Euro', parameters, cost_currency: 'EUR' }, as)
  const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
  const body = { name: 'Euro', destination, traffic_source_id: source['id'], cost: { model: 'link' } }
  return String((await did('POST', '/api/campaigns', body, as))['key'])
}

async function costOf(key: string): Promise<unknown[]> {
  const { headers } = await house.call('GET', `/c/${key}?bid=0.5`, { headers: BROWSER })
  const id = toUuid(new URL(String(headers.location)).searchParams.get('c') ?? '')
  const { rows } = await house.database.reads.query(
    'select cost, cost_original, cost_currency from clicks where id = $1',
    [id],
  )
  return Object.values(rows[0] ?? {})
}

test('a cost in euro is taken at the own rate of its organization alone, from the answer to its author on, and what is stored stays', async () => {
  const other = await seedSignedIn(house)
  const [mine, theirs] = [await campaignOf(owner), await campaignOf(other)]
  assert.deepEqual(await costOf(mine), [null, '0.5', 'EUR'])
  await did('PUT', '/api/rates/EUR', { from_day: dayOf(Date.now()), usd_per_unit: '1.1' })
  assert.deepEqual(await costOf(mine), ['0.55', '0.5', 'EUR'])
  assert.deepEqual(await costOf(theirs), [null, '0.5', 'EUR'])
  await house.database.worker.query(
    `insert into fx_rates (currency, source, day, usd_per_unit, fetched_at) values ('EUR', 'ecb', $1::date - 1, 1.2, now())`,
    [dayOf(Date.now())],
  )
  await did('PUT', '/api/rates/EUR', { from_day: dayOf(Date.now()), usd_per_unit: '1.3' })
  assert.deepEqual(await costOf(mine), ['0.65', '0.5', 'EUR'])
  const { rows } = await house.database.reads.query(
    'select cost, count(*)::int as clicks from clicks where org_id = $1 and cost is not null group by 1 order by 1',
    [owner.org_id],
  )
  assert.deepEqual(rows, [
    { cost: '0.55', clicks: 1 },
    { cost: '0.65', clicks: 1 },
  ])
})

test('another process is told of an own rate', async () => {
  const as = await seedSignedIn(house)
  const { ground } = house
  // This process is notified through `db`.
  const another = await openLiveRates({ ...ground, db: ground.db.withoutPlugins() })
  try {
    const today = dayOf(Date.now())
    await did('PUT', '/api/rates/GBP', { from_day: today, usd_per_unit: '1.7' }, as)
    await eventually('it goes by the rate', async () => another.usdPerUnit(as.org_id, 'GBP', today) === '1.7')
    assert.equal(another.usdPerUnit(owner.org_id, 'GBP', today), undefined)
  } finally {
    await another.close()
  }
})
