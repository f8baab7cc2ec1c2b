// A delivery as the worker that sends it holds it, and how it went.
import type { DeliveryFailure } from './api.ts'
import type { Lane, Outgoing } from './lane.ts'

/**
 * A delivery that is this worker's to send, its attempt already written. `number` is that attempt's, `tries` counts those that count
 * towards giving up, this one included.
 */
export type Claimed = {
  readonly org_id: number
  readonly id: string
  readonly kind: Lane['kind']
  readonly target_id: string
  readonly number: number
  readonly tries: number
  /** Whether it tries on behalf of a target whose breaker is open. */
  readonly isProbe: boolean
  readonly token: string
  readonly call: Outgoing
}

/** How a claimed delivery went, and what becomes of it: `delay_ms` is the wait to the next attempt where the state is pending. */
export type Finished = Pick<Claimed, 'org_id' | 'id' | 'kind' | 'target_id' | 'number' | 'token' | 'isProbe'> & {
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
  /** Whether the target's connection is dead. */
  readonly isBroken: boolean
}
