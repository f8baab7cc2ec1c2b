// Clicks and spend for tests of costs: clicks of four days and three campaigns, and amounts that are entered, spread or synced.
import assert from 'node:assert/strict'
import { DAY_MS, dayOf } from '../../src/contract/days.ts'
import { storeClicks } from '../../src/intake/clicks/store.ts'
import { newId, type TestHouse, toWireId } from './house.ts'
import { seedOffer } from './intake.ts'
import { type SignedIn, seedSignedIn } from './people.ts'
import { aClick, seedCampaign } from './visits.ts'

export const DAYS = 4
export const TODAY = Date.now() - (Date.now() % DAY_MS)
export const FIRST = TODAY - DAYS * DAY_MS
export const SPEND_DAYS = Array.from({ length: DAYS }, (_, at) => dayOf(FIRST + at * DAY_MS))
export const ALL_SPEND_DAYS = { date_from: new Date(FIRST).toISOString(), date_to: new Date(TODAY - 1).toISOString() }

export const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T

export type CostStock = SignedIn & {
  readonly house: TestHouse
  readonly campaigns: readonly string[]
  readonly offers: readonly string[]
}

export async function seedCostStock(house: TestHouse): Promise<CostStock> {
  const person = await seedSignedIn(house)
  const campaigns = await Promise.all(
    [1, 2, 3, 4].map(async () => (await seedCampaign(house.database, person.org_id)).id),
  )
  const offers = await Promise.all([1, 2].map(() => seedOffer(house.database, person.org_id)))
  return { ...person, house, campaigns, offers }
}

/** Clicks of any of the days and of all campaigns but the last. */
export async function storeClicksOf(
  { house, org_id, cookie, campaigns, offers }: CostStock,
  count: number,
): Promise<void> {
  const clicks = Array.from({ length: count }, () => ({
    ...aClick(house.ground.secrets.clickKey, org_id, {
      campaign_id: pick([...campaigns.slice(0, -1), null]),
      offer_id: pick([...offers, null]),
      sub1: pick([null, null, 'a', 'b', 'ünï']),
      sub2: pick([null, 'one', 'two', 'three']),
      geo: pick([null, 'DE', 'FR', 'UA']),
      visitor_id: pick([null, newId()]),
    }),
    id: newId(FIRST + Math.floor(Math.random() * DAYS * DAY_MS)),
    ...pick([
      { tracked: true, cost: '0.000000007', cost_counts: true },
      { tracked: true, cost: '0.25', cost_counts: true },
      { tracked: true, cost: null, cost_counts: true },
      { tracked: true },
      { tracked: false, cost: '3', cost_counts: false },
    ]),
  }))
  await storeClicks(house.database.clicks, clicks)
  // Each eighth click converts, so its old fact is taken out again.
  for (const { id } of clicks.filter((_, at) => at % 8 === 0)) {
    const body = { clickId: toWireId(id), type: pick(['lead', 'ftd']), nonce: newId(), payout: '1.234567', payload: {} }
    const response = await house.call('POST', '/api/events', { cookie, body })
    assert.ok(response.statusCode < 300, response.body)
  }
}

type SpendCell = { readonly day: string; readonly campaign_id: string; readonly sub1: string; readonly amount: string }
export const anySpendCell = ({ campaigns }: CostStock): SpendCell => ({
  day: pick(SPEND_DAYS),
  campaign_id: pick(campaigns),
  sub1: pick(['', '', 'a', 'b', 'nobody']),
  amount: pick(['10', '0.01', '7.777777', '0', '100.005', '0.000001']),
})

export const enterSpend = ({ house, org_id }: CostStock, { day, campaign_id, sub1, amount }: SpendCell) =>
  house.database.worker.query(
    `insert into ad_spend (org_id, day, campaign_id, sub1, amount, source, updated_at) values ($1, $2, $3, $4, $5, 'manual', now())
    on conflict (org_id, day, campaign_id, sub1) do update set amount = excluded.amount`,
    [org_id, day, campaign_id, sub1, amount],
  )
export const bookSpend = (
  { house, org_id }: CostStock,
  origin: string,
  { day, campaign_id, sub1, amount }: SpendCell,
) =>
  house.database.worker.query(
    `insert into booked_spend (org_id, day, campaign_id, sub1, amount, origin) values ($1, $2, $3, $4, $5, $6)
    on conflict (org_id, day, campaign_id, sub1, origin) do update set amount = excluded.amount`,
    [org_id, day, campaign_id, sub1, amount, origin],
  )

/** Four clicks of a campaign on the first day, of two countries and two values of sub1, and another campaign without any. */
export async function seedFour(house: TestHouse) {
  const stock = await seedCostStock(house)
  const { org_id, campaigns } = stock
  const [busy = '', quiet = ''] = campaigns
  const kinds = [
    ['DE', 'a'],
    ['DE', 'a'],
    ['FR', 'b'],
    ['FR', null],
  ] as const
  const clicks = kinds.map(([geo, sub1], at) => ({
    ...aClick(house.ground.secrets.clickKey, org_id, { campaign_id: busy, geo, sub1 }),
    id: newId(FIRST + at * 3_600_000),
    tracked: true,
  }))
  await storeClicks(house.database.clicks, clicks)
  return { stock, busy, quiet, day: SPEND_DAYS[0] ?? '' }
}
