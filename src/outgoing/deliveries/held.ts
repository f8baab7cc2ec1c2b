// A claimed delivery, and its result.
import type { DeliveryFailure } from './api.ts'
import type { Lane, Outgoing } from './lane.ts'

/**
 * A delivery claimed by this worker, its attempt already written. `number` is the number of that attempt, `tries` the number of attempts that count
 * towards giving up, including this one.
 */
export type ClaimedDelivery = {
  readonly org_id: number
  readonly id: string
  readonly kind: Lane['kind']
  readonly target_id: string
  readonly number: number
  readonly tries: number
  /** Whether it probes a target whose breaker is open. */
  readonly isProbe: boolean
  readonly token: string
  readonly call: Outgoing
}

/** The result of a claimed delivery, and its next state. `delay_ms` is the wait for the next attempt if the state is pending. */
export type FinishedDelivery = Pick<
  ClaimedDelivery,
  'org_id' | 'id' | 'kind' | 'target_id' | 'number' | 'token' | 'isProbe'
> & {
  readonly finished_at: string
  readonly status: number | null
  readonly error: string | null
  readonly answer: string | null
  readonly state: 'delivered' | 'failed' | 'pending'
  readonly reason: string | null
  readonly failure: DeliveryFailure | null
  readonly delay_ms: number
  /** Whether the attempt counts towards giving up. */
  readonly isCounted: boolean
  /** Whether the platform refuses the target as a whole. */
  readonly isBroken: boolean
}
