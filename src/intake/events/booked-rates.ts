/**
 * Converts amounts of revisions. If the conversion was booked in the same currency, its rate is used again, so that rejecting and approving it
 * restores the amount exactly; else the rate of the UTC day the revision was received.
 */
import { dayOf } from '../../contract/days.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import { Refusal } from '../../contract/refusals.ts'
import { payoutInDollars } from '../../money/rates/payout.ts'
import { type RatesRead, unknownRate } from '../../money/rates/rate-of-day.ts'

/** An amount above zero in another currency than dollars. Decimal strings; `usd_per_unit` if the rate of its day was already read. */
export type ForeignAmount = { readonly amount: string; readonly currency: string; readonly usd_per_unit?: string }

/** For the events `$2`: the rates of their payouts, then those of their revisions, oldest first. */
export const READ_BOOKED_RATES = `
  select event_id, currency, usd_per_unit, 0 as seq from event_money where org_id = $1 and event_id = any($2::uuid[])
  union all
  select event_id, original_currency, rate, seq from event_revisions
  where org_id = $1 and event_id = any($2::uuid[]) and original_currency is not null
  order by seq`
export type BookedRateRow = { event_id: string; currency: string; usd_per_unit: string }

/** The rates (US dollars per unit) that events were booked by, per event and currency. The first one counts. */
export class BookedRates {
  readonly #rates = new Map<string, string>()

  constructor(rows: readonly BookedRateRow[] = []) {
    for (const { event_id, currency, usd_per_unit } of rows)
      if (this.rateOf(event_id, currency) === undefined) this.put(event_id, currency, usd_per_unit)
  }

  put(event_id: string, currency: string, usd_per_unit: string): void {
    this.#rates.set(`${event_id} ${currency}`, usd_per_unit)
  }

  rateOf(event_id: string, currency: string): string | undefined {
    return this.#rates.get(`${event_id} ${currency}`)
  }
}

/** The rates of bookings, and those of days. */
type Rates = { readonly booked: BookedRates; readonly rateOf: RatesRead }

/** The amount in dollars for an event, and the rate used. Refuses `rate_unknown` and `amount_too_large`. */
export function amountInDollars(
  event_id: string,
  { amount, currency, usd_per_unit }: ForeignAmount,
  { booked, rateOf }: Rates,
  day: string,
): { dollars: string; rate: string } | Refusal {
  const rate = booked.rateOf(event_id, currency) ?? usd_per_unit ?? rateOf({ currency, day })?.usd_per_unit
  if (rate === undefined) return unknownRate({ currency, day })
  const { dollars, isTooMuch } = payoutInDollars(amount, rate)
  if (!isTooMuch) return { dollars, rate }
  return new Refusal('amount_too_large', { error: `the amount is ${amount} ${currency}, which is $${dollars}` })
}

/** The UTC day of `received_at` (ISO 8601), or of the batch's time `at` (text of the database) if it is undefined. */
export function dayReceived(received_at: string | undefined, at: string): string {
  return dayOf(msOfDatabase(received_at ?? at))
}
