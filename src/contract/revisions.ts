/** What can be said of a conversion after it was recorded. */

/** `approved` counts with its amount; all others count for nothing. `pending` may still come to be worth its amount. */
export const EVENT_STATUSES = ['approved', 'pending', 'rejected', 'refunded', 'chargeback'] as const
export type EventStatus = (typeof EVENT_STATUSES)[number]

/** How a network's status map writes a verdict on a conversion that is recorded, and what it says of it. */
export const VERDICTS = {
  '!approve': 'approved',
  '!pend': 'pending',
  '!reject': 'rejected',
  '!refund': 'refunded',
  '!chargeback': 'chargeback',
} as const satisfies Record<string, EventStatus>

/** More is no verdict any more but a quarrel between two systems. */
export const MOST_REVISIONS = 100

export const REASON_LENGTH = 200

/** Whether an amount can be said with it: a refusal is worth nothing. */
export function hasAmount(status: EventStatus): boolean {
  return status === 'approved' || status === 'pending'
}
