// From a platform's report to booked spend: days, campaigns and unmatched spend.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { type TestHouse, toWireId } from '../../../tests/support/house.ts'
import {
  adHour,
  bookedSpend,
  connectSpendAccount,
  type Platforms,
  readSpendAccount,
  type SpendPlace,
  seedClicksWithSubs,
  seedSpendPlace,
  startPlatforms,
  startServing,
  syncSpendAccount,
  TIKTOK,
} from '../../../tests/support/spend-accounts.ts'
import { seedCampaign } from '../../../tests/support/visits.ts'
import { DAY_MS, dayOf, HOUR_MS } from '../../contract/days.ts'
import { auditBooks } from '../../reading/audit/audit.ts'
import { syncDueAccounts } from './worker.ts'

/** Noon: not night in any time zone near UTC. */
const NOW = Date.parse(`${dayOf(Date.now())}T12:30:00Z`)
const ago = (days: number) => dayOf(NOW - days * DAY_MS)
const at = (day: string, hour = 12) => Date.parse(`${day}T00:00:00Z`) + hour * HOUR_MS
const [TODAY, YESTERDAY] = [ago(0), ago(1)]
const [AD, OTHER_AD] = ['120210000000000001', '120210000000000002']

let platforms: Platforms
let house: TestHouse
before(async () => {
  platforms = await startPlatforms()
  house = await startServing(platforms)
})
after(async () => {
  await house.end()
  await platforms.close()
})
beforeEach(() => {
  for (const books of [platforms.books, platforms.tiktokBooks]) {
    books.hours = []
    books.page_rows = 1000
    for (const account of Object.values(books.accounts)) account.timezone = 'UTC'
  }
  for (const fake of [platforms.meta, platforms.tiktok]) fake.taken.length = 0
})

const carry = (
  place: SpendPlace,
  subs: Parameters<typeof seedClicksWithSubs>[2],
  when: Parameters<typeof seedClicksWithSubs>[3],
) => seedClicksWithSubs(house.database, place, subs, when)

/** Connects an account and reads it for the first time. */
async function connected(place: SpendPlace, draft: object = {}): Promise<string> {
  const id = await connectSpendAccount(house, place, draft)
  assert.equal(await syncDueAccounts(house.ground, { now: NOW }), 1)
  return id
}

/** An organization's cost in a report of these days, by campaign or sub1. */
async function report(place: SpendPlace, dimension: string, from = YESTERDAY) {
  const window = `date_from=${from}T00:00:00Z&date_to=${TODAY}T23:59:59.999Z`
  const reply = await house.call('GET', `/api/report?dimension=${dimension}&${window}`, { cookie: place.cookie })
  assert.equal(reply.statusCode, 200, reply.body)
  const { rows, totals } = reply.json<{
    rows: { key: string; cost?: string; cost_source?: string }[]
    totals: { cost: string }
  }>()
  return { rows: rows.map(({ key, cost, cost_source }) => `${key} ${cost} ${cost_source}`), total: totals.cost }
}

async function assertBooks(place: SpendPlace) {
  assert.deepEqual(await auditBooks(house.database.reads, place.org_id), [])
}

describe('what is booked', () => {
  test('is the campaign’s whose clicks carry the ad’s id, and what no click carries is listed apart', async () => {
    const place = await seedSpendPlace(house)
    await carry(place, { sub2: AD }, { at: at(YESTERDAY), count: 3 })
    platforms.books.hours = [
      adHour(YESTERDAY, 9, AD, '1.25'),
      adHour(YESTERDAY, 23, AD, '2.50'),
      adHour(TODAY, 0, AD, '4.00'),
      adHour(TODAY, 3, OTHER_AD, '8.00'),
      adHour(YESTERDAY, 3, OTHER_AD, '0.50'),
    ]
    const id = await connected(place)
    const account = await readSpendAccount(house, place, id)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [
      `${YESTERDAY} ${place.campaign_id} - 3.75`,
      `${TODAY} ${place.campaign_id} - 4`,
    ])
    assert.deepEqual(account.last_30_days, { spent: '16.25', unmatched: '8.5', unmatched_ids: 1, is_estimated: false })
    assert.deepEqual(account.unmatched, [
      { external_id: OTHER_AD, name: `The ad ${OTHER_AD}`, amount: '8.5', first_day: YESTERDAY, last_day: TODAY },
    ])
    assert.deepEqual(
      account.days.map(({ day, spent, unmatched }) => [day, spent, unmatched]),
      [
        [TODAY, '12', '8'],
        [YESTERDAY, '4.25', '0.5'],
      ],
    )
    assert.deepEqual([account.timezone, account.currency, account.fault], ['UTC', 'USD', null])
    assert.deepEqual(await report(place, 'campaign'), {
      rows: [`${toWireId(place.campaign_id)} 7.75 account`],
      total: '7.75',
    })
    await assertBooks(place)
  })

  test('is of the sub1 as well, where that holds the id', async () => {
    const place = await seedSpendPlace(house)
    for (const sub1 of [AD, OTHER_AD]) await carry(place, { sub1 }, { at: at(TODAY) })
    platforms.books.hours = [adHour(TODAY, 1, AD, '1.00'), adHour(TODAY, 2, OTHER_AD, '2.00')]
    await connected(place, { id_in: 'sub1' })
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [
      `${TODAY} ${place.campaign_id} ${AD} 1`,
      `${TODAY} ${place.campaign_id} ${OTHER_AD} 2`,
    ])
    const { rows } = await report(place, 'sub1')
    assert.deepEqual(rows.toSorted(), [`${AD} 1.00 account`, `${OTHER_AD} 2.00 account`])
  })

  test('gives way to what was entered, and is back when that is deleted', async () => {
    const place = await seedSpendPlace(house)
    await carry(place, { sub2: AD }, { at: at(TODAY) })
    platforms.books.hours = [adHour(TODAY, 1, AD, '3.00')]
    await connected(place)
    const enter = (amount: string) =>
      house.call('PUT', '/api/ad-spend', {
        cookie: place.cookie,
        body: { campaign_id: toWireId(place.campaign_id), day: TODAY, amount },
      })
    await enter('10')
    assert.equal((await report(place, 'campaign')).total, '10.00')
    await enter('')
    assert.equal((await report(place, 'campaign')).total, '3.00')
  })

  test('is one campaign’s where the account says so, whatever clicks carry', async () => {
    const place = await seedSpendPlace(house)
    platforms.books.hours = [adHour(TODAY, 1, AD, '1.00'), adHour(TODAY, 2, OTHER_AD, '2.00')]
    await connected(place, { id_in: null, campaign_id: toWireId(place.campaign_id) })
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [`${TODAY} ${place.campaign_id} - 3`])
  })

  test('goes by the campaign with most tracked clicks of the day, and on days without clicks by that of the last', async () => {
    const place = await seedSpendPlace(house)
    const second = { ...place, campaign_id: (await seedCampaign(house.database, place.org_id)).id }
    await carry(place, { sub2: AD }, { at: at(ago(3)), count: 2 })
    await carry(second, { sub2: AD }, { at: at(ago(3)), count: 1 })
    await carry(second, { sub2: AD }, { at: at(ago(3)), count: 5, tracked: false })
    await carry(second, { sub2: AD }, { at: at(YESTERDAY), count: 1 })
    platforms.books.hours = [3, 2, 1, 0].map(days => adHour(ago(days), 5, AD, '1.00'))
    await connected(place)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [
      `${ago(3)} ${place.campaign_id} - 1`,
      `${ago(2)} ${place.campaign_id} - 1`,
      `${YESTERDAY} ${second.campaign_id} - 1`,
      `${TODAY} ${second.campaign_id} - 1`,
    ])
  })

  test('leaves another organization’s clicks and campaigns alone', async () => {
    const [place, other] = [await seedSpendPlace(house), await seedSpendPlace(house)]
    await carry(other, { sub2: AD }, { at: at(TODAY) })
    platforms.books.hours = [adHour(TODAY, 1, AD, '1.00')]
    const id = await connected(place)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [])
    assert.equal((await readSpendAccount(house, place, id)).last_30_days.unmatched, '1')
    assert.deepEqual(await bookedSpend(house.database, other.org_id), [])
  })

  test('is matched later, once a click has carried the id', async () => {
    const place = await seedSpendPlace(house)
    platforms.books.hours = [adHour(ago(20), 1, AD, '5.00'), adHour(TODAY, 1, AD, '1.00')]
    const id = await connected(place)
    assert.equal((await readSpendAccount(house, place, id)).last_30_days.unmatched, '6')
    await carry(place, { sub2: AD }, { at: at(TODAY) })
    await syncSpendAccount(house, place, id, NOW)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [
      `${ago(20)} ${place.campaign_id} - 5`,
      `${TODAY} ${place.campaign_id} - 1`,
    ])
    assert.deepEqual((await readSpendAccount(house, place, id)).unmatched, [])
    await assertBooks(place)
  })

  test('is matched also where the only click came on a day on which the ad cost nothing', async () => {
    const place = await seedSpendPlace(house)
    await carry(place, { sub2: AD }, { at: at(TODAY, 0) })
    platforms.books.hours = [adHour(YESTERDAY, 23, AD, '5.00'), adHour(ago(8), 0, OTHER_AD, '1.00')]
    const id = await connected(place)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [`${YESTERDAY} ${place.campaign_id} - 5`])
    await carry(place, { sub2: OTHER_AD }, { at: at(YESTERDAY) })
    await syncSpendAccount(house, place, id, NOW)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [
      `${ago(8)} ${place.campaign_id} - 1`,
      `${YESTERDAY} ${place.campaign_id} - 5`,
    ])
    await assertBooks(place)
  })
})

describe('the hours of an account', () => {
  test('are booked on the UTC day they lie in', async () => {
    const place = await seedSpendPlace(house)
    await carry(place, { sub2: AD }, { at: at(YESTERDAY) })
    for (const account of Object.values(platforms.books.accounts)) account.timezone = 'Pacific/Kiritimati'
    platforms.books.hours = [adHour(TODAY, 13, AD, '1.00'), adHour(TODAY, 14, AD, '2.00')]
    const id = await connected(place)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [
      `${YESTERDAY} ${place.campaign_id} - 1`,
      `${TODAY} ${place.campaign_id} - 2`,
    ])
    assert.equal((await readSpendAccount(house, place, id)).last_30_days.is_estimated, false)
  })

  test('are halved and marked where they lie in two', async () => {
    const place = await seedSpendPlace(house)
    await carry(place, { sub2: AD }, { at: at(YESTERDAY) })
    for (const account of Object.values(platforms.books.accounts)) account.timezone = 'Asia/Kolkata'
    platforms.books.hours = [adHour(TODAY, 4, AD, '1.00'), adHour(TODAY, 5, AD, '0.25'), adHour(TODAY, 6, AD, '4.00')]
    const id = await connected(place)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [
      `${YESTERDAY} ${place.campaign_id} - 1.125`,
      `${TODAY} ${place.campaign_id} - 4.125`,
    ])
    const account = await readSpendAccount(house, place, id)
    assert.equal(account.last_30_days.is_estimated, true)
    assert.equal(account.last_30_days.spent, '5.25')
  })
})

describe('reading again', () => {
  const versions = async (org_id: number) => {
    const { rows } = await house.database.reads.query<{ row: string }>(
      `select xmin::text || ' ' || external_id as row from account_spend where org_id = $1
      union all select xmin::text || ' ' || sub1 || amount from booked_spend where org_id = $1 order by 1`,
      [org_id],
    )
    return rows.map(({ row }) => row)
  }

  test('the same changes nothing, not even a row', async () => {
    const place = await seedSpendPlace(house)
    await carry(place, { sub2: AD }, { at: at(TODAY) })
    platforms.books.hours = [adHour(TODAY, 1, AD, '1.00'), adHour(YESTERDAY, 2, OTHER_AD, '2.00')]
    const id = await connected(place)
    const before = await versions(place.org_id)
    assert.equal(before.length, 3)
    await syncSpendAccount(house, place, id, NOW, { days: 30 })
    assert.deepEqual(await versions(place.org_id), before)
  })

  test('takes over what the platform has put right, and keeps what an ad cost that is deleted', async () => {
    const place = await seedSpendPlace(house)
    await carry(place, { sub2: AD }, { at: at(TODAY) })
    await carry(place, { sub2: OTHER_AD }, { at: at(TODAY) })
    platforms.books.hours = [adHour(TODAY, 1, AD, '1.00'), adHour(TODAY, 1, OTHER_AD, '5.00')]
    const id = await connected(place)
    platforms.books.hours = [
      adHour(TODAY, 1, AD, '0.75'),
      adHour(TODAY, 2, AD, '0.10'),
      adHour(TODAY, 1, OTHER_AD, '5.00', { is_deleted: true }),
    ]
    await syncSpendAccount(house, place, id, NOW)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [`${TODAY} ${place.campaign_id} - 5.85`])
    platforms.books.hours = []
    await syncSpendAccount(house, place, id, NOW)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [])
    await assertBooks(place)
  })

  test('asks for 30 days at first, then for today and yesterday, each night for 7, and for what was missed', async () => {
    const place = await seedSpendPlace(house)
    const id = await connected(place)
    const asked = () => platforms.meta.taken.splice(0).map(({ since }) => since)
    const days = (from: number, now = NOW) =>
      Array.from({ length: from + 1 }, (_, day) => dayOf(now - (from - day) * DAY_MS))
    assert.deepEqual(asked(), days(30))
    await syncSpendAccount(house, place, id, NOW)
    assert.deepEqual(asked(), days(1))
    // Reading stores the database's current time, but these readings pretend to be at other times.
    const readLast = (at: number) =>
      house.database.worker.query(`update spend_accounts set synced_at = $2 where org_id = $1`, [
        place.org_id,
        new Date(at),
      ])
    const tomorrow = NOW + DAY_MS
    await readLast(tomorrow - 11 * HOUR_MS)
    await syncSpendAccount(house, place, id, tomorrow - 10 * HOUR_MS)
    assert.deepEqual(asked(), days(1, tomorrow), 'at half past two of the night')
    await readLast(tomorrow - 10 * HOUR_MS)
    await syncSpendAccount(house, place, id, tomorrow - 9 * HOUR_MS)
    assert.deepEqual(asked(), days(7, tomorrow), 'at half past three')
    await readLast(tomorrow - 9 * HOUR_MS)
    await syncSpendAccount(house, place, id, tomorrow - 8 * HOUR_MS)
    assert.deepEqual(asked(), days(1, tomorrow), 'an hour later')
    await readLast(NOW - 12 * DAY_MS)
    await syncSpendAccount(house, place, id, NOW)
    assert.deepEqual(asked(), days(13), 'after twelve days of faults')
  })

  test('goes through all pages of a report', async () => {
    const place = await seedSpendPlace(house)
    const ads = Array.from({ length: 23 }, (_, at) => `1202100000000001${10 + at}`)
    for (const sub2 of ads) await carry(place, { sub2 }, { at: at(TODAY) })
    platforms.books.hours = ads.map((ad, at) => adHour(TODAY, at, ad, '1.00'))
    platforms.books.page_rows = 5
    await connected(place)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [`${TODAY} ${place.campaign_id} - 23`])
    assert.deepEqual(
      platforms.meta.taken.filter(({ since }) => since === TODAY).map(({ rows }) => rows),
      [5, 5, 5, 5, 3],
    )
    assert.deepEqual(platforms.meta.refusals, [])
  })

  test('by another level or sub books the last 30 days anew', async () => {
    const place = await seedSpendPlace(house)
    const [adset, campaign] = [`${AD}1`, `${AD}2`]
    await carry(place, { sub2: adset, sub1: campaign }, { at: at(ago(25)) })
    platforms.books.hours = [adHour(ago(25), 1, AD, '1.00')]
    const id = await connected(place)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [])
    const patch = (body: object) => house.call('PATCH', `/api/spend-accounts/${id}`, { cookie: place.cookie, body })
    assert.equal((await patch({ level: 'adset' })).statusCode, 200)
    assert.equal(await syncDueAccounts(house.ground, { now: NOW }), 1)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [`${ago(25)} ${place.campaign_id} - 1`])
    assert.equal((await patch({ level: 'campaign', id_in: 'sub1' })).statusCode, 200)
    assert.equal(await syncDueAccounts(house.ground, { now: NOW }), 1)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [`${ago(25)} ${place.campaign_id} ${campaign} 1`])
  })
})

describe('an account in another currency', () => {
  const rate = (currency: string, day: string, usd_per_unit: string) =>
    house.database.worker.query(
      `insert into fx_rates (currency, source, day, usd_per_unit, fetched_at) values ($1, 'import', $2, $3, now())`,
      [currency, day, usd_per_unit],
    )
  const bill = (currency: string) => {
    for (const account of Object.values(platforms.books.accounts)) account.currency = currency
  }
  after(() => bill('USD'))

  test('is booked in dollars by the rate of each day, which it keeps', async () => {
    const place = await seedSpendPlace(house)
    await carry(place, { sub2: AD }, { at: at(YESTERDAY) })
    await rate('EUR', ago(2), '1.1')
    await rate('EUR', YESTERDAY, '1.2')
    bill('EUR')
    platforms.books.hours = [adHour(YESTERDAY, 1, AD, '10.00'), adHour(TODAY, 1, AD, '10.00')]
    const id = await connected(place)
    const rows = [`${YESTERDAY} ${place.campaign_id} - 11`, `${TODAY} ${place.campaign_id} - 12`]
    assert.deepEqual(await bookedSpend(house.database, place.org_id), rows)
    const account = await readSpendAccount(house, place, id)
    assert.deepEqual([account.currency, account.last_30_days.spent, account.fault], ['EUR', '23', null])
    const own = { from_day: ago(20), usd_per_unit: '2' }
    const set = await house.call('PUT', '/api/rates/EUR', { cookie: place.cookie, body: own })
    assert.ok(set.statusCode < 300, set.body)
    platforms.books.hours.push(adHour(TODAY, 2, AD, '1.00'), adHour(ago(2), 2, AD, '1.00'))
    await syncSpendAccount(house, place, id, NOW, { days: 3 })
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [
      `${ago(2)} ${place.campaign_id} - 2`,
      rows[0],
      `${TODAY} ${place.campaign_id} - 13.2`,
    ])
    await assertBooks(place)
  })

  test('whose rate is not known for a day has the other days booked, and says which one is missing', async () => {
    const place = await seedSpendPlace(house)
    for (const day of [YESTERDAY, TODAY]) await carry(place, { sub2: AD }, { at: at(day) })
    await rate('PLN', YESTERDAY, '0.25')
    bill('PLN')
    platforms.books.hours = [adHour(YESTERDAY, 1, AD, '10.00'), adHour(TODAY, 1, AD, '10.00')]
    const id = await connected(place)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [`${TODAY} ${place.campaign_id} - 2.5`])
    const { fault, synced_at } = await readSpendAccount(house, place, id)
    assert.deepEqual([fault?.code, synced_at], ['rate_unknown', null])
    assert.equal(fault?.error, `no rate of PLN is known for ${YESTERDAY}`)
    await rate('PLN', ago(3), '0.5')
    await syncSpendAccount(house, place, id, NOW)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [
      `${YESTERDAY} ${place.campaign_id} - 5`,
      `${TODAY} ${place.campaign_id} - 2.5`,
    ])
    assert.equal((await readSpendAccount(house, place, id)).fault, null)
  })
})

describe('TikTok', () => {
  const hour = (day: string, of: number, ad: string, amount: string, more = {}) =>
    adHour(day, of, ad, amount, { account: TIKTOK, ...more })
  const draft = { provider: 'tiktok', external_id: TIKTOK }

  test('is read by ad, ad group or campaign, page by page, with what was deleted', async () => {
    const place = await seedSpendPlace(house)
    platforms.tiktokBooks.accounts[TIKTOK] = { timezone: 'America/Los_Angeles', currency: 'USD' }
    platforms.tiktokBooks.page_rows = 2
    await carry(place, { sub3: `${AD}1` }, { at: at(YESTERDAY) })
    platforms.tiktokBooks.hours = [
      ...[0, 1, 2, 3, 4].map(of => hour(YESTERDAY, of, AD, '1.00')),
      hour(YESTERDAY, 20, AD, '3.00', { is_deleted: true }),
    ]
    await connected(place, { ...draft, id_in: 'sub3', level: 'adset' })
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [
      `${YESTERDAY} ${place.campaign_id} - 5`,
      `${TODAY} ${place.campaign_id} - 3`,
    ])
    assert.deepEqual(platforms.tiktok.refusals, [])
    for (const level of ['ad', 'campaign']) {
      const other = await seedSpendPlace(house)
      const id = await connected(other, { ...draft, level })
      assert.deepEqual([level, (await readSpendAccount(house, other, id)).last_30_days.unmatched], [level, '8'])
    }
    assert.deepEqual(platforms.tiktok.refusals, [])
  })
})
