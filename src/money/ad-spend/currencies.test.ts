// Spend in other currencies: converted at the rate of its day, shown with the original amount, and never guessed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { importRates } from '../rates/rates-file.ts'
import type { AdSpend, SpendLine } from './api.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
  const client = await house.database.worker.connect()
  const csv = 'day,currency,usd_per_unit\n2026-03-01,EUR,1.1\n2026-03-02,EUR,1.2\n2026-03-01,VND,0.00004\n'
  await importRates(client, csv).finally(() => client.release())
})
after(() => house.end())

type Place = SignedIn & { campaign_id: string }
async function seedPlace(): Promise<Place> {
  const owner = await seedSignedIn(house)
  const [id, now] = [newId(), new Date().toISOString()]
  await house.database.worker.query(
    `insert into campaigns (org_id, id, name, key, destination, source, strict_filter, created_at, updated_at)
    values ($1, $2, 'Alpha', $3, '{"type":"redirect","url":"https://a.example"}', '{}', false, $4, $4)`,
    [owner.org_id, id, id, now],
  )
  return { ...owner, campaign_id: toWireId(id) }
}

const put = ({ cookie, campaign_id }: Place, body: object) =>
  house.call('PUT', '/api/ad-spend', { cookie, body: { campaign_id, ...body } })
const send = ({ cookie }: Place, body: object) =>
  house.call('POST', '/api/ad-spend/import', { cookie, body: { dry_run: false, ...body } })
const listed = async ({ cookie }: Place) =>
  (
    await house.call('GET', '/api/ad-spend?date_from=2026-02-20T00:00:00Z&date_to=2026-03-20T00:00:00Z', { cookie })
  ).json<{ data: AdSpend[] }>().data
const euro = (original_amount: string, usd_per_unit = '1.1', rate_day = '2026-03-01') => ({
  original_amount,
  currency: 'EUR',
  usd_per_unit,
  rate_day,
  rate_source: 'import',
})

test('an amount in euro is kept in dollars by the rate of its day, with what was entered', async () => {
  const place = await seedPlace()
  const reply = await put(place, { day: '2026-03-02', amount: '10', currency: 'eur' })
  assert.equal(reply.statusCode, 200, reply.body)
  assert.equal(reply.data()['amount'], '11')
  assert.deepEqual(reply.data()['original'], euro('10'))
  await put(place, { day: '2026-03-03', amount: '10', currency: 'EUR' })
  await put(place, { day: '2026-03-04', amount: '10' })
  assert.deepEqual(
    (await listed(place)).map(({ day, amount, original }) => [day, Number(amount), original]),
    [
      ['2026-03-04', 10, null],
      ['2026-03-03', 12, euro('10', '1.2', '2026-03-02')],
      ['2026-03-02', 11, euro('10')],
    ],
  )
  // Entered again in dollars it loses the original amount, even if the dollars are the same.
  await put(place, { day: '2026-03-02', amount: '11' })
  assert.deepEqual((await listed(place)).at(-1)?.original, null)
})

test('without a rate for the day nothing is written, and a key’s amounts are in dollars', async () => {
  const place = await seedPlace()
  for (const [day, currency] of [
    ['2026-03-01', 'EUR'],
    ['2026-03-10', 'EUR'],
    ['2026-03-02', 'XYZ'],
  ] as const) {
    const reply = await put(place, { day, amount: '10', currency })
    assert.deepEqual([reply.statusCode, reply.data()['code']], [422, 'rate_unknown'])
    assert.match(String(reply.data()['error']), new RegExp(`no rate of ${currency} is known for ${day}`))
  }
  assert.deepEqual(await listed(place), [])
  assert.equal((await put(place, { day: '2026-03-02', amount: '10', currency: 'E' })).statusCode, 400)
  const { secret } = await seedKey(house.database, place, { rights: ['ad-spend'] })
  const body = { campaign_id: place.campaign_id, day: '2026-03-02', amount: '10', currency: 'EUR' }
  assert.equal((await house.call('PUT', '/api/ad-spend', { key: secret, body })).statusCode, 200)
  assert.deepEqual(
    (await listed(place)).map(({ amount, original }) => [Number(amount), original]),
    [[10, null]],
  )
})

test('what a process of the version before replaces is no more what was entered', async () => {
  const place = await seedPlace()
  await put(place, { day: '2026-03-02', amount: '10', currency: 'EUR' })
  // Written as an older version would write it.
  await house.database.worker.query(
    `insert into ad_spend (org_id, campaign_id, day, sub1, amount, source, updated_at)
     select org_id, campaign_id, day, sub1, 7, 'manual', now() from ad_spend where org_id = $1
     on conflict (org_id, day, campaign_id, sub1) do update set amount = excluded.amount`,
    [place.org_id],
  )
  const [row] = await listed(place)
  assert.deepEqual([Number(row?.amount), row?.original], [7, null])
})

test('a file is in the currency of its column, its title or the one chosen, and a dry run shows each rate', async () => {
  const place = await seedPlace()
  const csv = [
    'day,campaign,sub1,cost,currency',
    '2026-03-02,Alpha,a,10,EUR',
    '2026-03-02,Alpha,a,5.5,EUR',
    '2026-03-02,Alpha,b,"1000000",VND',
    '2026-03-02,Alpha,c,1,',
    '2026-03-03,Alpha,c,€10,EUR',
    '2026-03-03,Alpha,d,$10,EUR',
    '2026-03-30,Alpha,d,10,EUR',
  ].join('\n')
  const dry = (await send(place, { csv, dry_run: true })).json<{ lines: SpendLine[]; total: string }>()
  assert.deepEqual(
    dry.lines.map(({ line, amount, becomes, original, error }) => [line, amount, becomes, original, error]),
    [
      [2, '11', '17.05', euro('10'), null],
      [3, '6.05', '17.05', euro('5.5'), null],
      [
        4,
        '40',
        '40',
        {
          original_amount: '1000000',
          currency: 'VND',
          usd_per_unit: '0.00004',
          rate_day: '2026-03-01',
          rate_source: 'import',
        },
        null,
      ],
      [5, '1', '1', null, null],
      [6, '12', '12', euro('10', '1.2', '2026-03-02'), null],
      [7, null, null, null, '“$10” is not in EUR'],
      [8, null, null, null, 'no rate of EUR is known for 2026-03-30: set an own rate in Settings, Rates'],
    ],
  )
  assert.deepEqual(await listed(place), [])
  const done = await send(place, { csv, leave_out: [7, 8] })
  assert.equal(done.statusCode, 200, done.body)
  const rows = await listed(place)
  assert.deepEqual(
    rows.map(({ sub1, amount, original }) => [sub1, Number(amount), original?.original_amount ?? null]),
    [
      ['c', 12, '10'],
      ['c', 1, null],
      ['b', 40, '1000000'],
      ['a', 17.05, '15.5'],
    ],
  )
  const again = (await send(place, { csv, leave_out: [7, 8] })).json<{ changed: number }>()
  assert.equal(again.changed, 0)
  for (const body of [
    { csv: 'day,campaign,Amount spent (EUR)\n2026-03-04,Alpha,10' },
    { csv: 'day,campaign,amount\n2026-03-04,Alpha,10', currency: 'EUR' },
    { csv: 'day,campaign,amount,Money\n2026-03-04,Alpha,10,EUR', columns: { currency: 'Money' } },
  ]) {
    const { lines } = (await send(place, { ...body, dry_run: true })).json<{ lines: SpendLine[] }>()
    assert.deepEqual([lines[0]?.amount, lines[0]?.original], ['12', euro('10', '1.2', '2026-03-02')], body.csv)
  }
})

test('lines of several currencies for one place are added up in dollars', async () => {
  const place = await seedPlace()
  const csv = 'day,campaign,amount,currency\n2026-03-02,Alpha,10,EUR\n2026-03-02,Alpha,1,USD'
  assert.equal((await send(place, { csv })).statusCode, 200)
  const [row, ...more] = await listed(place)
  assert.deepEqual([Number(row?.amount), row?.original, more], [12, null, []])
})
