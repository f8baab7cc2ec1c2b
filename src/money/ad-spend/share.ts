/** Divides an amount so that its parts add up to it exactly, and says what is booked of them. */
import { fromUnits, toUnits } from '../../contract/decimals.ts'
import type { Booking } from './booked.ts'

const PLACES = 6
const byRemainder = (one: Share, other: Share) =>
  one.left === other.left ? one.at - other.at : one.left > other.left ? -1 : 1
type Share = { readonly at: number; readonly left: bigint; units: bigint }

/**
 * The parts of an amount (a plain decimal, to 6 decimals) by weights, whole numbers of which one is above 0: each rounded down, and what is then
 * left goes by one millionth to those with the largest remainder, the first of equal ones first.
 */
export function sharedBy(amount: string, weights: readonly number[]): string[] {
  const whole = toUnits(amount, PLACES)
  const sum = weights.reduce((all, weight) => all + BigInt(weight), 0n)
  const shares = weights.map((weight, at): Share => {
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

/** What an amount is of: a campaign, or one sub1 of it, and the UTC days that its window touches. */
type Spread = { readonly campaign_id: string; readonly sub1: string; readonly days: readonly string[] }

/** What is booked: the shares, and where none is of the whole on a day, one of nothing, so that every day is covered alike. */
export function bookingsOf(
  shares: readonly Pick<Booking, 'day' | 'sub1' | 'amount'>[],
  { campaign_id, sub1, days }: Spread,
): Booking[] {
  const booked = shares.map(share => ({ day: share.day, campaign_id, sub1: share.sub1, amount: share.amount }))
  const covered = new Set(shares.flatMap(share => (share.sub1 === sub1 ? [share.day] : [])))
  const rest = days.filter(day => !covered.has(day)).map(day => ({ day, campaign_id, sub1, amount: '0' }))
  return [...booked, ...rest]
}
