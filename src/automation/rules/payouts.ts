/** Payouts of offers in US dollars, for conditions such as "cost above 3 payouts". Reads `offers`. */
import { USD } from '../../contract/currencies.ts'
import { dayOf } from '../../contract/days.ts'
import { toUnits } from '../../contract/decimals.ts'
import type { Ground } from '../../ground/room.ts'
import { readRates, sourceOrder } from '../../money/rates/rate-of-day.ts'

/** In millionths of a dollar, by the offer's uuid. Offers without a payout, or without a rate of today, are left out. */
export type Payouts = ReadonlyMap<string, bigint>
const PLACES = 6

/** The clicks of an object that led to an offer with a payout, and the sum of these payouts in millionths of a dollar. */
export type PaidClicks = { readonly clicks: bigint; readonly payouts: bigint }

export async function readPayouts({ config, database, db }: Ground, org_id: number): Promise<Payouts> {
  const offers = await db
    .selectFrom('offers')
    .select(['id', 'payout', 'payout_currency'])
    .where('org_id', '=', org_id)
    .where('payout', 'is not', null)
    .execute()
  const day = dayOf(Date.now())
  const currencies = [...new Set(offers.map(({ payout_currency }) => payout_currency ?? USD))].filter(
    name => name !== USD,
  )
  const rateOn = await readRates(
    { pool: database.reads, order: sourceOrder(config) },
    org_id,
    currencies.map(currency => ({ currency, day })),
  )
  const inDollars = (payout: string, currency: string): bigint | undefined => {
    if (currency === USD) return toUnits(payout, PLACES)
    const rate = rateOn({ currency, day })
    const places = 12
    return rate && (toUnits(payout, PLACES) * toUnits(rate.usd_per_unit, places)) / 10n ** BigInt(places)
  }
  return new Map(
    offers.flatMap(({ id, payout, payout_currency }): [string, bigint][] => {
      const amount = inDollars(payout ?? '0', payout_currency ?? USD)
      return amount === undefined ? [] : [[id, amount]]
    }),
  )
}

const HUNDREDTHS = 100
/** A cost has twelve decimals. */
const COST_PLACES = 12

/**
 * Whether a cost is above or below so many payouts of the offer that the clicks led to: of several offers, their mean by clicks. It is neither without
 * a click to an offer with a payout.
 */
export function comparesWithPayout(
  cost: string,
  { is, times_payout }: { readonly is: 'above' | 'below'; readonly times_payout: number },
  { clicks, payouts }: PaidClicks,
): boolean {
  if (clicks <= 0n || payouts <= 0n) return false
  const left = toUnits(cost, COST_PLACES) * clicks * BigInt(HUNDREDTHS)
  const right = payouts * 10n ** BigInt(COST_PLACES - PLACES) * BigInt(Math.round(times_payout * HUNDREDTHS))
  return is === 'above' ? left > right : left < right
}
