/**
 * What the worker must know about one kind of delivery. The worker claims, sends, retries and gives up; a lane knows who is called and
 * with what. Lanes are handed to the worker by whoever opens it.
 */
import type pg from 'pg'

/** Something deliveries wait for. `origin` is the place that is called: no place gets more than a few calls at a time. */
export type Target = { readonly org_id: number; readonly target_id: string; readonly origin: string }

/** A call to the outside, complete. */
export type Outgoing = {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** What shall happen to a claimed delivery: a call, or nothing for a reason. */
export type Composed = { readonly id: string } & ({ readonly call: Outgoing } | { readonly skip: string })

export type Lane = {
  readonly kind: 'postback' | 'ad_account'
  /** Every target that has a delivery due now, over all organizations. */
  findTargets(pool: pg.Pool): Promise<Target[]>
  /** What shall happen to these deliveries of one organization; reads in the claim's own transaction. One left out is skipped. */
  compose(client: pg.ClientBase, org_id: number, ids: readonly string[]): Promise<Composed[]>
}
