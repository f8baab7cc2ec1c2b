/** Converts Telegram's amounts, which are whole numbers of a currency's smallest unit. Never through a float. */
import { MAX_PAYOUT } from '../../contract/fields.ts'
import { fromUnits, toUnits } from '../../contract/decimals.ts'

/** The code of Telegram Stars. */
export const STARS = 'XTR'

const PLACES = 6

/** The amount in its currency, a decimal string. */
export function paidAmountOf(currency: string, total_amount: number): string {
  return fromUnits(BigInt(total_amount), currency === STARS ? 0 : placesOf(currency))
}

function placesOf(currency: string): number {
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2
  } catch {
    return 2
  }
}

/**
 * The payout of a payment in US dollars, a decimal string: Stars by the bot's rate, dollars as they are. Null for other currencies, and for amounts beyond
 * the largest payout of a conversion.
 */
export function payoutOf(currency: string, total_amount: number, stars_rate: string | null): string | null {
  const units =
    currency === STARS && stars_rate !== null
      ? BigInt(total_amount) * toUnits(stars_rate, PLACES)
      : currency === 'USD'
        ? BigInt(total_amount) * 10n ** BigInt(PLACES - 2)
        : undefined
  if (units === undefined || units < 0n || units > toUnits(String(MAX_PAYOUT), PLACES)) return null
  return fromUnits(units, PLACES)
}
