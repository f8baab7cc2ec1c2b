/** Refusals: `refuse` throws one by its name in the catalogue, and the gate turns it into an answer. */
import { REFUSALS, type RefusalName } from './refusal-catalogue.ts'

/** Replaces the text or the hint of the entry by a more exact one, or adds headers such as Retry-After. */
export type RefusalDetail = { error?: string; hint?: string; headers?: Record<string, string> }

export class Refusal extends Error {
  readonly refusal: RefusalName
  readonly status: number
  readonly detail: RefusalDetail
  constructor(refusal: RefusalName, detail: RefusalDetail = {}) {
    super(detail.error ?? REFUSALS[refusal].error)
    this.refusal = refusal
    this.status = REFUSALS[refusal].status
    this.detail = detail
  }
}

/** Ends the request with the named refusal. */
export function refuse(refusal: RefusalName, detail: RefusalDetail = {}): never {
  throw new Refusal(refusal, detail)
}

/** The 503 for a request that needs something unreachable, with the advice to retry in a minute. */
export function retryInAMinute(): Refusal {
  return new Refusal('service_unavailable', { headers: { 'retry-after': '60' } })
}

export type RefusalBody = { error: string; code?: string; hint?: string }

/**
 * The body of a refusal: `{ error, code?, hint? }`. `surface` is the kind of route. `events` leaves the code out for 401 and 429, `reads` always has all
 * three.
 */
export function refusalBody(refusal: Refusal, surface: 'events' | 'reads' | 'other'): RefusalBody {
  const entry = REFUSALS[refusal.refusal]
  const code = entry.uncodedOnEvents && surface === 'events' ? undefined : entry.code
  const hint = refusal.detail.hint ?? entry.hint
  const body: RefusalBody = { error: refusal.message }
  if (code !== undefined) body.code = code
  else if (surface === 'reads') body.code = refusal.refusal
  if (hint !== undefined && !BARE.has(refusal.refusal)) body.hint = hint
  else if (surface === 'reads') body.hint = 'See the API reference at /api/docs.'
  return body
}

// The interface promises a body with only `error` for these two, so that an unknown object looks like another organization's.
const BARE = new Set<RefusalName>(['click_not_found', 'bot_not_found'])
