/** How a no travels: thrown by its name in the catalogue with `refuse`, rendered once by the gate. */
import { REFUSALS, type RefusalName } from './refusal-catalogue.ts'

/** What a refusal may say beyond its entry: a more exact sentence, a hint, or headers such as Retry-After. */
export type RefusalDetail = { error?: string; hint?: string; headers?: Record<string, string> }

/** A no on its way to the caller: the name of its entry, and what this time is to be said more exactly. */
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

/** Not done, and worth sending again in a minute: what is needed for it cannot be reached. */
export function tellLater(): Refusal {
  return new Refusal('service_unavailable', { headers: { 'retry-after': '60' } })
}

export type RefusalBody = { error: string; code?: string; hint?: string }

/**
 * The body a refusal is answered with: `{ error, code?, hint? }`. `surface` is where the request came in; intake leaves the code
 * out for 401 and 429, reads always carry all three.
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

// The interface promises a body of only `error` for these two, so that "unknown" and "someone else's" cannot be told apart.
const BARE = new Set<RefusalName>(['click_not_found', 'bot_not_found'])
