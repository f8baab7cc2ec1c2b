// What a conversion counts for after each of its revisions, and what its click counts by the statuses of its conversions.
import { hasAmount } from '../../contract/revisions.ts'
import { toMillionths } from '../../money/billing/money.ts'
import type { EventStanding, OrganizationState, StandingCounts, StoredEvent } from './organization-state.ts'

/** The standing of an event without revisions. */
export function standingAsRecorded(event: Pick<StoredEvent, 'payout'>): EventStanding {
  return { seq: 0, status: 'approved', amount: toMillionths(event.payout ?? '0'), was_held: false }
}

/** The standing of an event. Events whose revisions may matter were read; any other stands as recorded. */
export const standingIn = ({ revised }: Pick<OrganizationState, 'revised'>, event: StoredEvent): EventStanding =>
  revised.get(event.id) ?? standingAsRecorded(event)

/** The revenue an event counts for, in millionths. */
export function countedAmount({ status, amount }: Pick<EventStanding, 'status' | 'amount'>): bigint {
  return status === 'approved' ? amount : 0n
}

/** The standing after a revision. Without an amount it keeps the one that counts or is held; after a rejection, the recorded payout. */
export function nextStanding(
  event: Pick<StoredEvent, 'payout'>,
  present: EventStanding,
  { status, amount }: { readonly status: EventStanding['status']; readonly amount?: string | undefined },
): Pick<EventStanding, 'status' | 'amount'> {
  if (!hasAmount(status)) return { status, amount: 0n }
  if (amount !== undefined) return { status, amount: toMillionths(amount) }
  return { status, amount: hasAmount(present.status) ? present.amount : standingAsRecorded(event).amount }
}

/** Whether a revision would change the status or amount. */
export function isStandingChange(present: EventStanding, next: Pick<EventStanding, 'status' | 'amount'>): boolean {
  return present.status !== next.status || present.amount !== next.amount
}

/** The index of an event's status in the counts by type: approved, pending, or rejected (also refunds and chargebacks). */
export const countIndex = ({ status }: EventStanding): 0 | 1 | 2 =>
  status === 'approved' ? 0 : status === 'pending' ? 1 : 2

/** The counts of a click without conversions. */
export const NO_CONVERSIONS: StandingCounts = { approved: 0, pending: 0, rejected: 0, held: 0n }

/** The counts of one event. Without revisions it is counted only if it pays. */
export function countsOf({ seq, status, amount }: EventStanding): StandingCounts {
  if (status === 'pending') return { ...NO_CONVERSIONS, pending: 1, held: amount }
  if (status !== 'approved') return { ...NO_CONVERSIONS, rejected: 1 }
  return seq > 0 || amount > 0n ? { ...NO_CONVERSIONS, approved: 1 } : NO_CONVERSIONS
}

/** The sum of counts, without those of `less`. */
export function sumOf(all: readonly StandingCounts[], less: StandingCounts = NO_CONVERSIONS): StandingCounts {
  const sum = (of: (one: StandingCounts) => number) => all.reduce((total, one) => total + of(one), -of(less))
  return {
    approved: sum(one => one.approved),
    pending: sum(one => one.pending),
    rejected: sum(one => one.rejected),
    held: all.reduce((total, one) => total + one.held, -less.held),
  }
}

/** Whether two clicks have the same counts. */
export function isSameCounts(one: StandingCounts, other: StandingCounts): boolean {
  const isCountedAlike =
    one.approved === other.approved && one.pending === other.pending && one.rejected === other.rejected
  return isCountedAlike && one.held === other.held
}
