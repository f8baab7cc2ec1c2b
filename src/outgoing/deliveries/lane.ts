/**
 * What the worker must know about one kind of delivery. The worker claims, sends, retries and gives up; a lane knows who is called and
 * with what, and may know better what an answer means. Lanes are handed to the worker by whoever opens it.
 */
import type pg from 'pg'

/**
 * Something deliveries wait for. `origin` is the place that is called: no place gets more than a few calls at a time. Where one platform
 * serves everyone, the lane names the account instead, so that one organization's calls do not wait for another's.
 */
export type Target = { readonly org_id: number; readonly target_id: string; readonly origin: string }

/** What came back. `status` is null when no answer came, and `error` says why; `body` are its first 16 KiB, "" without one. */
export type Answer = {
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly error: string | null
}

/**
 * What becomes of a delivery:
 * - `delivered`
 * - `retry`: tried again on the schedule, after `retry_after_ms` where that lies between once and twice the wait.
 * - `failed`: given up at once, because it would be refused every time.
 * - `broken`: the connection itself is dead (a revoked token). The target is switched off through the lane; the delivery stays pending,
 *   its attempt does not count, and it goes on once the lane finds the target again.
 */
export type Judgement = {
  readonly outcome: 'delivered' | 'retry' | 'failed' | 'broken'
  readonly reason?: string
  readonly retry_after_ms?: number
}

/** Makes one more call within the same deadlines and under the same guard; never throws, and leaves nothing in the log. */
export type Fetch = (call: Outgoing) => Promise<Answer>

/** A call to the outside. */
export type Outgoing = {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /**
   * True only where the operator has set the address (META_GRAPH_BASE …): it is called without the guard against private addresses.
   * What a user typed never is.
   */
  readonly isTrusted?: boolean
  /** What the log shows: another address than the one called, and the body. Without it the address as it is, and no body. */
  readonly shown?: { readonly url?: string; readonly body?: string }
  /** Tokens and the like. Struck out of whatever the log keeps: address, body, answer, error, reason. */
  readonly secrets?: readonly string[]
  /**
   * Fetches what is still missing, such as an access token; called when the claim is committed, before the call. Answers the complete
   * call (its own `shown` comes too late for the log and is not looked at), or what becomes of the delivery without one. A throw is a retry.
   */
  complete?(fetch: Fetch): Promise<Outgoing | Judgement>
  /** What the answer means; undefined for the worker's own rule: 2xx is delivered, anything else or no answer is a retry. */
  judge?(answer: Answer): Judgement | undefined
}

/** A delivery that is to be sent. Its click's id spares whoever reads the click the partitions of other months. */
export type Due = { readonly id: string; readonly click_id: string }

/** What shall happen to a claimed delivery: a call, or nothing for a reason. */
export type Composed = { readonly id: string } & ({ readonly call: Outgoing } | { readonly skip: string })

export type Lane = {
  readonly kind: 'postback' | 'ad_account'
  /** Every target that has a delivery due now, over all organizations. Deliveries of a target that is left out wait. */
  findTargets(pool: pg.Pool): Promise<Target[]>
  /** What shall happen to these deliveries of one organization; only reads, in the claim's own transaction. One left out is skipped. */
  compose(client: pg.ClientBase, org_id: number, due: readonly Due[]): Promise<Composed[]>
  /**
   * Switches a target off, in the transaction that records why: its connection is dead, or it has only failed for days. Writes the notice
   * the dashboard shows. Called again for one that is off, it changes nothing.
   */
  switchOff(client: pg.ClientBase, org_id: number, target_id: string, reason: string): Promise<void>
  /**
   * What the mail to the owners calls a target that is about to be switched off ("the postback to tracker.example"); undefined for one that
   * is off already or gone, of which nobody is told again.
   */
  nameTarget?(client: pg.ClientBase, org_id: number, target_id: string): Promise<string | undefined>
  /** The next conversions of a target's run over the past, in their order; only for lanes that have such runs. */
  findPast?(client: pg.ClientBase, run: RunPlace, most: number): Promise<PastConversion[]>
}

/** Where a run over the past is: what it is about, and the last one it has looked at. Times as the database writes them. */
export type RunPlace = {
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

/** A conversion a target would have been called for; `person_id` where it is called once per person. */
export type PastConversion = {
  readonly id: string
  readonly created_at: string
  readonly click_id: string
  readonly campaign_id: string | null
  readonly person_id: string | null
}

/** How far a portion of a run came. */
export type Portion = {
  readonly done: number
  readonly after_at: string | null
  readonly after_id: string | null
  readonly isOver: boolean
}
