/** Sends one claimed delivery: completes the call, makes it, and decides the next state. */
import type { Agent } from 'undici'
import type { DeliveryFailure } from './api.ts'
import { DELIVERY_LEASE_MS } from './claim.ts'
import type { FinishedDelivery } from './held.ts'
import { type ClaimedDelivery } from './held.ts'
import type { CallAnswer, Judgement, Outgoing } from './lane.ts'
import { redact } from './redact.ts'
import { delayAfter, RETRY_DELAYS_MS, retryAfterMs } from './schedule.ts'
import { DEADLINES, type Deadlines, isSuccess, type CallOutcome, sendCall } from './send.ts'

export type DeliveryTerms = {
  readonly delays?: readonly number[]
  readonly deadlines?: Deadlines
  readonly lease_ms?: number
  /** How long calls in progress may continue when the worker closes; then they are aborted and their deliveries released. */
  readonly closing_ms?: number
}

/** `guarded` calls only public addresses; `trusting` is for addresses from the operator's settings. */
export type Agents = { readonly guarded: Agent; readonly trusting: Agent }

/** The result of a delivery: the outcome of its call, if there was one, and its judgement. */
type DeliveryResult = { outcome: CallOutcome; judgement: Judgement; secrets: readonly string[] }

const NO_CALL: CallOutcome = { status: null, error: null, answer: null, headers: {}, fault: null }

/**
 * Makes the call and returns its result. Undefined if the lease, claimed at `claimed_at` (performance clock), leaves no time for a call: a process
 * that was suspended must not call beside the worker that has claimed the delivery since.
 */
export async function deliver(
  agents: Agents,
  delivery: ClaimedDelivery,
  claimed_at: number,
  signal: AbortSignal,
  terms: DeliveryTerms,
): Promise<FinishedDelivery | undefined> {
  const { deadlines = DEADLINES, lease_ms = DELIVERY_LEASE_MS } = terms
  const isLate = () => performance.now() - claimed_at > lease_ms - deadlines.total_ms
  const makeCall = (call: Outgoing) =>
    sendCall(call.isTrusted === true ? agents.trusting : agents.guarded, call, { deadlines, signal })
  if (isLate()) return undefined
  const ready = await complete(delivery.call, async call => toAnswer(await makeCall(call)))
  if (isLate()) return undefined
  const secrets = [...(delivery.call.secrets ?? []), ...('url' in ready ? (ready.secrets ?? []) : [])]
  const result: DeliveryResult =
    'outcome' in ready
      ? { outcome: NO_CALL, judgement: ready, secrets }
      : await makeCall(ready).then(outcome => ({ outcome, judgement: judge(ready, outcome), secrets }))
  return finished(delivery, result, terms)
}

const toAnswer = ({ status, headers, answer, error }: CallOutcome): CallAnswer => ({
  status,
  headers,
  body: answer ?? '',
  error,
})

async function complete(call: Outgoing, fetch: (call: Outgoing) => Promise<CallAnswer>): Promise<Outgoing | Judgement> {
  try {
    return (await call.complete?.(fetch)) ?? call
  } catch (error) {
    return { outcome: 'retry', reason: String(error) }
  }
}

/** The lane's judgement if it has one; otherwise 2xx is delivered and anything else is retried. */
function judge(call: Outgoing, outcome: CallOutcome): Judgement {
  if (outcome.fault === 'broken_off') return { outcome: 'retry' }
  const retry_after_ms = retryAfterMs(outcome.headers['retry-after'])
  const wait = retry_after_ms === undefined ? {} : { retry_after_ms }
  const byStatus: Judgement = isSuccess(outcome) ? { outcome: 'delivered' } : { outcome: 'retry', ...wait }
  try {
    const judged = call.judge?.(toAnswer(outcome)) ?? byStatus
    return judged.outcome === 'retry' ? { ...wait, ...judged } : judged
  } catch (error) {
    return { ...byStatus, reason: `the answer could not be judged: ${String(error)}` }
  }
}

function finished(
  delivery: ClaimedDelivery,
  { outcome, judgement, secrets }: DeliveryResult,
  terms: DeliveryTerms,
): FinishedDelivery {
  const { org_id, id, kind, target_id, number, token } = delivery
  const isDelivered = judgement.outcome === 'delivered'
  const reason = isDelivered ? null : redact(judgement.reason ?? outcome.error ?? `HTTP ${outcome.status}`, secrets)
  return {
    org_id,
    id,
    kind,
    target_id,
    number,
    token,
    isProbe: delivery.isProbe,
    finished_at: new Date().toISOString(),
    status: outcome.status,
    error: redact(outcome.error ?? (outcome === NO_CALL ? reason : null), secrets),
    answer: redact(outcome.answer, secrets),
    reason,
    failure: isDelivered ? null : failureOf(judgement, outcome),
    ...nextState(delivery, judgement, outcome, terms),
  }
}

type NextState = Pick<FinishedDelivery, 'state' | 'delay_ms' | 'isCounted' | 'isBroken'>

function nextState(
  delivery: ClaimedDelivery,
  judgement: Judgement,
  outcome: CallOutcome,
  { delays = RETRY_DELAYS_MS }: DeliveryTerms,
): NextState {
  const ended = { delay_ms: 0, isCounted: true, isBroken: false }
  if (judgement.outcome === 'delivered') return { ...ended, state: 'delivered' }
  if (judgement.outcome === 'failed') return { ...ended, state: 'failed' }
  // Aborted by this process while closing: released, and due at once for another worker.
  if (outcome.fault === 'broken_off') return { ...ended, state: 'pending', isCounted: false }
  const delay_ms = delayAfter(delivery.tries, { delays, retry_after_ms: judgement.retry_after_ms })
  if (judgement.outcome === 'broken')
    return { state: 'pending', delay_ms: delays[0] ?? 0, isCounted: false, isBroken: true }
  return delay_ms === undefined ? { ...ended, state: 'failed' } : { ...ended, state: 'pending', delay_ms }
}

function failureOf({ outcome }: Judgement, { status, fault }: CallOutcome): DeliveryFailure {
  if (outcome === 'broken') return 'disconnected'
  if (outcome === 'failed') return 'rejected'
  if (status === null) return fault === null || fault === 'broken_off' ? 'connection' : fault
  if (status >= 400 && status < 500) return 'http_4xx'
  // Includes faults that a platform reports behind HTTP 200.
  return status >= 300 && status < 400 ? 'redirect' : 'http_5xx'
}
