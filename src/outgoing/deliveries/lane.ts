/**
 * The interface of a lane, one kind of delivery. The worker claims, sends, retries and gives up. A lane finds targets, composes calls and may judge
 * answers. Lanes are passed to `openWorker`.
 */
import type pg from 'pg'

/**
 * A receiver of deliveries. `origin` is the server that is called, which gets only a few calls at a time. For a platform shared by all organizations
 * the lane sets the account instead, so that organizations do not wait for each other.
 */
export type DeliveryTarget = { readonly org_id: number; readonly target_id: string; readonly origin: string }

/** An answer. `status` is null if none came, and `error` says why. `body` has the first 16 KiB, or is "". */
export type CallAnswer = {
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly error: string | null
}

/**
 * The judgement of a delivery:
 * - `delivered`
 * - `retry`: retried on the schedule, or after `retry_after_ms` limited to between once and twice the scheduled wait.
 * - `failed`: given up at once, because every attempt would be refused.
 * - `broken`: the platform refuses the target as a whole, such as for a revoked token. The lane switches the target off. The delivery stays
 *   pending, its attempt does not count, and it continues once the lane finds the target again.
 */
export type Judgement = {
  readonly outcome: 'delivered' | 'retry' | 'failed' | 'broken'
  readonly reason?: string
  readonly retry_after_ms?: number
}

/** Makes an additional call with the same deadlines and the same guard. Never throws, and writes no attempt. */
export type FetchAnswer = (call: Outgoing) => Promise<CallAnswer>

/** A call to the outside. */
export type Outgoing = {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /**
   * True only for an address from the operator's settings (META_GRAPH_BASE …), which is called without the guard against private addresses.
   * Never true for an address that a user entered.
   */
  readonly isTrusted?: boolean
  /** What the log of attempts stores instead: an address and a body. Without it, the address as called and no body. */
  readonly shown?: { readonly url?: string; readonly body?: string }
  /** Tokens and other secrets, which are removed from all that the log stores: address, body, answer, error, reason. */
  readonly secrets?: readonly string[]
  /**
   * Completes the call, such as by fetching an access token. Runs after the claim is committed and before the call. Returns the complete call (its
   * `shown` is ignored, because the log is already written) or a judgement without a call. A throw means a retry.
   */
  complete?(fetch: FetchAnswer): Promise<Outgoing | Judgement>
  /** Judges the answer. Undefined means the worker's own rule: 2xx is delivered, anything else is a retry. */
  judge?(answer: CallAnswer): Judgement | undefined
}

/** A delivery to send. With its click's id a lane reads the click from its month's partition only. */
export type DueDelivery = { readonly id: string; readonly click_id: string }

/** The call of a delivery, or why it is skipped. */
export type ComposedDelivery = { readonly id: string } & ({ readonly call: Outgoing } | { readonly skip: string })

export type Lane = {
  readonly kind: 'postback' | 'ad_account'
  /** Finds every target with due deliveries, over all organizations. Deliveries of other targets wait. */
  findTargets(pool: pg.Pool): Promise<DeliveryTarget[]>
  /** Composes the calls of one organization's deliveries. Only reads, in the claim's transaction. A delivery it leaves out is skipped. */
  compose(client: pg.ClientBase, org_id: number, due: readonly DueDelivery[]): Promise<ComposedDelivery[]>
  /**
   * Switches a target off, in the transaction that writes the outcome: the target is broken or has failed every time for days. Stores the reason for
   * the dashboard. Does nothing for a target that is already off.
   */
  switchOff(client: pg.ClientBase, org_id: number, target_id: string, reason: string): Promise<void>
  /**
   * The name for a target in the mail about switching it off ("the postback to tracker.example"); undefined if it is already off or deleted, in which
   * case no mail is sent.
   */
  nameTarget?(client: pg.ClientBase, org_id: number, target_id: string): Promise<string | undefined>
  /** The next conversions of a target's run over the past, in order; only for lanes with such runs. */
  findPast?(client: pg.ClientBase, run: RunPosition, most: number): Promise<PastConversion[]>
}

/** A run over the past: its filters and its position. Times in the database's text. */
export type RunPosition = {
  readonly org_id: number
  readonly id: string
  readonly target_id: string | null
  readonly campaign_id: string | null
  readonly only_state: string | null
  readonly only_failure: string | null
  readonly date_from: string | null
  readonly date_to: string | null
  readonly after_at: string | null
  readonly after_id: string | null
  readonly created_at: string
}

/** A past conversion that a target is to be called for; `person_id` is set if it is called once per person. */
export type PastConversion = {
  readonly id: string
  readonly created_at: string
  readonly click_id: string
  readonly campaign_id: string | null
  readonly person_id: string | null
}

/** The result of a batch of a run: its deliveries and the new position. */
export type RunBatch = {
  readonly done: number
  readonly after_at: string | null
  readonly after_id: string | null
  readonly isOver: boolean
}
