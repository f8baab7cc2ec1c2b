/**
 * What is said of a conversion in another currency goes by the rate it was booked by in that currency, so that what is taken back and
 * approved again is the same to the millionth; else by the rate of the UTC day it was received.
 */
import { dayOf } from '../../contract/days.ts'
import { MAX_PAYOUT } from '../../contract/fields.ts'
import { parseMoment } from '../../contract/moments.ts'
import { Refusal } from '../../contract/refusals.ts'
import { toMillionths } from '../../money/billing/money.ts'
import { inDollars } from '../../money/rates/exact.ts'
import { type RatesRead, unknownRate } from '../../money/rates/rate-of-day.ts'

/** An amount in another currency than dollars, above zero. Decimal strings; `usd_per_unit` where the rate of its day was read already. */
export type Foreign = { readonly amount: string; readonly currency: string; readonly usd_per_unit?: string }

/** Of the events `$2`: the rates of their payouts, then of what was said of them, the first said first. */
export const BOOKED = `
  select event_id, currency, usd_per_unit, 0 as seq from event_money where org_id = $1 and event_id = any($2::uuid[])
  union all
  select event_id, original_currency, rate, seq from event_revisions
  where org_id = $1 and event_id = any($2::uuid[]) and original_currency is not null
  order by seq`
export type BookedRow = { event_id: string; currency: string; usd_per_unit: string }

/** US dollars per unit that events were booked by, currency by currency. */
export class Booked {
  readonly #rates = new Map<string, string>()

  constructor(rows: readonly BookedRow[] = []) {
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

/** The rates there are: those of bookings, and those of days. */
type RatesKnown = { readonly booked: Booked; readonly rateOf: RatesRead }

/** What an amount said of an event comes to in dollars, and by which rate. Refuses `rate_unknown` and `amount_too_large`. */
export function worthOf(
  event_id: string,
  { amount, currency, usd_per_unit }: Foreign,
  { booked, rateOf }: RatesKnown,
  day: string,
): { dollars: string; rate: string } | Refusal {
  const rate = booked.rateOf(event_id, currency) ?? usd_per_unit ?? rateOf({ currency, day })?.usd_per_unit
  if (rate === undefined) return unknownRate({ currency, day })
  const dollars = inDollars(amount, rate)
  if (toMillionths(dollars) <= toMillionths(String(MAX_PAYOUT))) return { dollars, rate }
  return new Refusal('amount_too_large', { error: `the amount is ${amount} ${currency}, which is $${dollars}` })
}

/** The UTC day something was received: that of the moment itself (the database's text) where no other is given. */
export function dayReceived(received_at: string | undefined, at: string): string {
  const moment = parseMoment(received_at ?? at.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
  if (moment === undefined) throw new Error(`no moment: ${received_at ?? at}`)
  return dayOf(moment.ms)
}
