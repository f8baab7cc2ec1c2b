/** Payouts in another currency, in dollars: the one place that limits what a conversion may be worth. */
import { MAX_PAYOUT } from '../../contract/fields.ts'
import { toMillionths } from '../billing/money.ts'
import { inDollars } from './exact.ts'

const MOST = toMillionths(String(MAX_PAYOUT))

/** The amount in US dollars at this rate, and whether that is more than a conversion may be worth. Decimal strings. */
export function payoutInDollars(amount: string, usd_per_unit: string): { dollars: string; isTooMuch: boolean } {
  const dollars = inDollars(amount, usd_per_unit)
  return { dollars, isTooMuch: toMillionths(dollars) > MOST }
}
