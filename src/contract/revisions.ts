/** The statuses a conversion may have, and the verdicts with which a network changes them. */

/** Only `approved` counts, with its amount. `pending` may still be approved with its amount. */
export const EVENT_STATUSES = ['approved', 'pending', 'rejected', 'refunded', 'chargeback'] as const
export type EventStatus = (typeof EVENT_STATUSES)[number]

/** A network's status map writes these verdicts on a recorded conversion; each sets a status. */
export const VERDICTS = {
  '!approve': 'approved',
  '!pend': 'pending',
  '!reject': 'rejected',
  '!refund': 'refunded',
  '!chargeback': 'chargeback',
} as const satisfies Record<string, EventStatus>

/** More revisions than this mean that two systems contradict each other. */
export const MOST_REVISIONS = 100

export const REASON_LENGTH = 200

/** Whether a revision to this status may have an amount. */
export function hasAmount(status: EventStatus): boolean {
  return status === 'approved' || status === 'pending'
}
