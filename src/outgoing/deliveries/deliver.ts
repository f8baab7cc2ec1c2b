/** One claimed delivery: what is missing is fetched, the call made, and it is decided what becomes of it. */
import type { Agent } from 'undici'
import type { DeliveryFailure } from './api.ts'
import { LEASE_MS } from './claim.ts'
import type { Finished } from './held.ts'
import { type Claimed } from './held.ts'
import type { Answer, Judgement, Outgoing } from './lane.ts'
import { redact } from './redact.ts'
import { delayAfter, RETRY_DELAYS_MS, retryAfterMs } from './schedule.ts'
import { DEADLINES, type Deadlines, isSuccess, type Outcome, send } from './send.ts'

export type Terms = {
  readonly delays?: readonly number[]
  readonly deadlines?: Deadlines
  readonly lease_ms?: number
  /** How long calls in hand may go on when the worker closes; then they are broken off and given back. */
  readonly closing_ms?: number
}

/** `guarded` calls public addresses only; `trusting` is for what the operator set. */
export type Agents = { readonly guarded: Agent; readonly trusting: Agent }

/** What was learned about a delivery: how the call went, where there was one, and what it means. */
type Learned = { outcome: Outcome; judgement: Judgement; secrets: readonly string[] }

const NO_CALL: Outcome = { status: null, error: null, answer: null, headers: {}, fault: null }

/**
 * Calls, and answers how it went; undefined when the lease, taken at `claimed_at` (performance clock), leaves no time for a call: a
 * process that was stopped in between would call beside the worker that has taken over.
 */
export async function deliver(
  agents: Agents,
  one: Claimed,
  claimed_at: number,
  signal: AbortSignal,
  terms: Terms,
): Promise<Finished | undefined> {
  const { deadlines = DEADLINES, lease_ms = LEASE_MS } = terms
  const isLate = () => performance.now() - claimed_at > lease_ms - deadlines.total_ms
  const go = (call: Outgoing) =>
    send(call.isTrusted === true ? agents.trusting : agents.guarded, call, { deadlines, signal })
  if (isLate()) return undefined
  const ready = await complete(one.call, async call => answerOf(await go(call)))
  if (isLate()) return undefined
  const secrets = [...(one.call.secrets ?? []), ...('url' in ready ? (ready.secrets ?? []) : [])]
  const learned: Learned =
    'outcome' in ready
      ? { outcome: NO_CALL, judgement: ready, secrets }
      : await go(ready).then(outcome => ({ outcome, judgement: judge(ready, outcome), secrets }))
  return finished(one, learned, terms)
}

const answerOf = ({ status, headers, answer, error }: Outcome): Answer => ({
  status,
  headers,
  body: answer ?? '',
  error,
})

async function complete(call: Outgoing, fetch: (call: Outgoing) => Promise<Answer>): Promise<Outgoing | Judgement> {
  try {
    return (await call.complete?.(fetch)) ?? call
  } catch (error) {
    return { outcome: 'retry', reason: String(error) }
  }
}

/** The lane's word where it has one, else: 2xx is delivered, anything else comes again. */
function judge(call: Outgoing, outcome: Outcome): Judgement {
  if (outcome.fault === 'broken_off') return { outcome: 'retry' }
  const retry_after_ms = retryAfterMs(outcome.headers['retry-after'])
  const wait = retry_after_ms === undefined ? {} : { retry_after_ms }
  const own: Judgement = isSuccess(outcome) ? { outcome: 'delivered' } : { outcome: 'retry', ...wait }
  try {
    const judged = call.judge?.(answerOf(outcome)) ?? own
    return judged.outcome === 'retry' ? { ...wait, ...judged } : judged
  } catch (error) {
    return { ...own, reason: `the answer could not be read: ${String(error)}` }
  }
}

function finished(one: Claimed, { outcome, judgement, secrets }: Learned, terms: Terms): Finished {
  const { org_id, id, kind, target_id, number, token } = one
  const isDelivered = judgement.outcome === 'delivered'
  const reason = isDelivered ? null : redact(judgement.reason ?? outcome.error ?? `HTTP ${outcome.status}`, secrets)
  return {
    org_id,
    id,
    kind,
    target_id,
    number,
    token,
    isProbe: one.isProbe,
    finished_at: new Date().toISOString(),
    status: outcome.status,
    error: redact(outcome.error ?? (outcome === NO_CALL ? reason : null), secrets),
    answer: redact(outcome.answer, secrets),
    reason,
    failure: isDelivered ? null : failureOf(judgement, outcome),
    ...fate(one, judgement, outcome, terms),
  }
}

type Fate = Pick<Finished, 'state' | 'delay_ms' | 'isCounted' | 'isBroken'>

function fate(one: Claimed, judgement: Judgement, outcome: Outcome, { delays = RETRY_DELAYS_MS }: Terms): Fate {
  const plain = { delay_ms: 0, isCounted: true, isBroken: false }
  if (judgement.outcome === 'delivered') return { ...plain, state: 'delivered' }
  if (judgement.outcome === 'failed') return { ...plain, state: 'failed' }
  // Nobody's fault but this process's: due again at once, for whoever works on.
  if (outcome.fault === 'broken_off') return { ...plain, state: 'pending', isCounted: false }
  const delay_ms = delayAfter(one.tries, { delays, retry_after_ms: judgement.retry_after_ms })
  if (judgement.outcome === 'broken')
    return { state: 'pending', delay_ms: delays[0] ?? 0, isCounted: false, isBroken: true }
  return delay_ms === undefined ? { ...plain, state: 'failed' } : { ...plain, state: 'pending', delay_ms }
}

function failureOf({ outcome }: Judgement, { status, fault }: Outcome): DeliveryFailure {
  if (outcome === 'broken') return 'disconnected'
  if (outcome === 'failed') return 'rejected'
  if (status === null) return fault === null || fault === 'broken_off' ? 'connection' : fault
  if (status >= 400 && status < 500) return 'http_4xx'
  // A platform says what went wrong on its side behind a 200 as well.
  return status >= 300 && status < 400 ? 'redirect' : 'http_5xx'
}
