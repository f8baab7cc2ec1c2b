/** Divides an amount into parts that add up to it exactly, and makes the rows to book from them. */
import { fromUnits, toUnits } from '../../contract/decimals.ts'
import type { BookedCell } from './booked.ts'

const PLACES = 6
const byRemainder = (one: RoundedShare, other: RoundedShare) =>
  one.left === other.left ? one.at - other.at : one.left > other.left ? -1 : 1
type RoundedShare = { readonly at: number; readonly left: bigint; units: bigint }

/**
 * Divides an amount (a plain decimal, to 6 decimals) by weights (whole numbers, at least one above 0). Each part is rounded down. The rest goes,
 * a millionth each, to the parts with the largest remainder; among equal ones the first comes first.
 */
export function divideByWeights(amount: string, weights: readonly number[]): string[] {
  const whole = toUnits(amount, PLACES)
  const sum = weights.reduce((all, weight) => all + BigInt(weight), 0n)
  const shares = weights.map((weight, at): RoundedShare => {
    const exact = whole * BigInt(weight)
    return { at, units: exact / sum, left: exact % sum }
  })
  let rest = whole - shares.reduce((all, { units }) => all + units, 0n)
  for (const share of shares.toSorted(byRemainder)) {
    if (rest === 0n) break
    share.units += 1n
    rest -= 1n
  }
  return shares.map(({ units }) => fromUnits(units, PLACES))
}

/** The scope of a spread: a campaign or one of its sub1, and the UTC days its window touches. */
type SpreadScope = { readonly campaign_id: string; readonly sub1: string; readonly days: readonly string[] }

/** The rows to book: the shares, and an amount of 0 for each day without a share of the whole scope, so that the spread overrides other costs on every day. */
export function rowsToBook(
  shares: readonly Pick<BookedCell, 'day' | 'sub1' | 'amount'>[],
  { campaign_id, sub1, days }: SpreadScope,
): BookedCell[] {
  const booked = shares.map(share => ({ day: share.day, campaign_id, sub1: share.sub1, amount: share.amount }))
  const covered = new Set(shares.flatMap(share => (share.sub1 === sub1 ? [share.day] : [])))
  const rest = days.filter(day => !covered.has(day)).map(day => ({ day, campaign_id, sub1, amount: '0' }))
  return [...booked, ...rest]
}
