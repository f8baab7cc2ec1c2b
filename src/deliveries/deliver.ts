/** One claimed delivery: the call, and what becomes of it (decision 37). */
import type { Agent } from 'undici'
import { type Claimed, type Finished, LEASE_MS } from './claim.ts'
import { delayAfter, RETRY_DELAYS_MS } from './schedule.ts'
import { DEADLINES, type Deadlines, isSuccess, type Outcome, send } from './send.ts'

export type Terms = { readonly delays?: readonly number[]; readonly deadlines?: Deadlines; readonly lease_ms?: number }

/**
 * Calls, and answers how it went; undefined when the lease, taken at `claimed_at` (performance clock), leaves no time for a call: a
 * process that was stopped in between would call beside the worker that has taken over.
 */
export async function deliver(
  agent: Agent,
  one: Claimed,
  claimed_at: number,
  signal: AbortSignal,
  terms: Terms,
): Promise<Finished | undefined> {
  const { deadlines = DEADLINES, lease_ms = LEASE_MS } = terms
  if (performance.now() - claimed_at > lease_ms - deadlines.total_ms) return undefined
  const outcome = await send(agent, one.call, { deadlines, signal })
  const { org_id, id, number, token } = one
  const { status, error, answer } = outcome
  const finished_at = new Date().toISOString()
  return { org_id, id, number, token, finished_at, status, error, answer, ...verdict(number, outcome, terms) }
}

type Verdict = Pick<Finished, 'state' | 'reason' | 'delay_ms'>

function verdict(number: number, outcome: Outcome, { delays = RETRY_DELAYS_MS }: Terms): Verdict {
  if (isSuccess(outcome)) return { state: 'delivered', reason: null, delay_ms: 0 }
  const reason = outcome.error ?? `HTTP ${outcome.status}`
  const delay_ms = delayAfter(number, { delays, retry_after_ms: outcome.retry_after_ms })
  return delay_ms === undefined ? { state: 'failed', reason, delay_ms: 0 } : { state: 'pending', reason, delay_ms }
}
