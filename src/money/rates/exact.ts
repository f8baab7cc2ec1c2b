/** Exact arithmetic with rates on decimal strings, without floats. */
import { fromUnits, toUnits } from '../../contract/decimals.ts'
import { fromMillionths, toMillionths } from '../billing/money.ts'

/** Significant digits of a rate, whatever its size: a dong is 0.0000384615384615 dollars. */
const SIGNIFICANT = 12

/** The digits of a plain decimal as a whole number, and the number of decimal places. */
function partsOf(text: string): { units: bigint; places: number } {
  const places = text.split('.')[1]?.length ?? 0
  return { units: toUnits(text, places), places }
}

/** `dividend` by `divisor`, both above zero, to 12 significant digits, rounded half up. @throws RangeError for anything else. */
export function quotient(dividend: string, divisor: string): string {
  const [a, b] = [partsOf(dividend), partsOf(divisor)]
  if (a.units <= 0n || b.units <= 0n) throw new RangeError(`no rate: ${dividend} / ${divisor}`)
  const over = a.units * 10n ** BigInt(b.places)
  const under = b.units * 10n ** BigInt(a.places)
  // The quotient is between 10^(size - 1) and 10^(size + 1); `isLarger` says on which side of 10^size.
  const size = over.toString().length - under.toString().length
  const isLarger = size >= 0 ? over >= under * 10n ** BigInt(size) : over * 10n ** BigInt(-size) >= under
  const places = Math.max(0, SIGNIFICANT - size - (isLarger ? 1 : 0))
  const doubled = (2n * over * 10n ** BigInt(places)) / under
  return fromUnits((doubled + 1n) / 2n, places)
}

/** Dollars converted into another currency: `dollars` divided by `usd_per_unit`, rounded half up, with two decimals. */
export function inCurrency(dollars: string, usd_per_unit: string): string {
  const [a, rate] = [partsOf(dollars), partsOf(usd_per_unit)]
  const over = 2n * a.units * 100n * 10n ** BigInt(rate.places)
  const under = rate.units * 10n ** BigInt(a.places)
  const hundredths = (over / under + 1n) / 2n
  const digits = hundredths.toString().padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** An amount in US dollars: `amount` times `usd_per_unit`, rounded half up to the millionth, without trailing zeros. */
export function inDollars(amount: string, usd_per_unit: string): string {
  const [a, rate] = [partsOf(amount), partsOf(usd_per_unit)]
  return fromMillionths(toMillionths(fromUnits(a.units * rate.units, a.places + rate.places)))
}
