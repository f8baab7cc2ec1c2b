/**
 * Configures the library acme-client. It is loaded when the first certificate is ordered, does not retry, has a timeout for every answer, and its
 * errors carry the authority's words or the network error. By default it would wait through a Retry-After of any length during an order, and then
 * report only a sentence (docs/decisions/017-certificates.md).
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type * as acme from 'acme-client'
import { retryAfter_ms } from './retry-after.ts'

/** An authority's refusal. `type` has no `urn:ietf:params:acme:error:` prefix; the message is the authority's own. */
export class AuthorityRefusal extends Error {
  readonly type: string
  readonly status: number
  readonly retry_ms: number | undefined
  constructor(type: string, status: number, detail: string, retry_ms?: number) {
    super(detail)
    this.type = type
    this.status = status
    this.retry_ms = retry_ms
  }
}

type ProblemDocument = { type?: unknown; detail?: unknown; subproblems?: unknown }

/** The refusal of an authority's problem document: its details in one line, including those of each name. */
export function authorityRefusalOf(status: number, problem: ProblemDocument, retry_ms?: number): AuthorityRefusal {
  const parts = Array.isArray(problem.subproblems) ? (problem.subproblems as ProblemDocument[]) : []
  const words = [problem, ...parts].map(({ detail }) => (typeof detail === 'string' ? detail : '')).filter(Boolean)
  const type = typeof problem.type === 'string' ? problem.type.replace('urn:ietf:params:acme:error:', '') : ''
  const line = words.join('; ').replace(/\s+/g, ' ').slice(0, 1000)
  return new AuthorityRefusal(type, status, line === '' ? `it answered with ${status}` : line, retry_ms)
}

/** The time and size limits of an answer. The largest answer is a certificate chain. */
const ANSWER_MS = 30_000
const MOST_BYTES = 1024 * 1024

/** The abort signal of all requests that are made inside `run`. */
export const authoritySignal = new AsyncLocalStorage<AbortSignal>()

/** How long to wait before asking for an object again, if the authority said so in its answer. */
const pauses = new WeakMap<object, number>()
export const pauseOf = (answer: object): number | undefined => pauses.get(answer)

let loaded: Promise<typeof acme> | undefined

/** The library. There is one per process, because its settings apply to all clients. */
export function loadLibrary(): Promise<typeof acme> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<typeof acme> {
  const library = await import('acme-client')
  const { defaults, interceptors } = library.axios
  Object.assign(defaults, { timeout: ANSWER_MS, maxContentLength: MOST_BYTES, maxRedirects: 0 })
  // The library's own interceptors retry with growing pauses and lose the cause of a network error.
  interceptors.request.clear()
  interceptors.response.clear()
  interceptors.request.use(config => {
    const signal = authoritySignal.getStore()
    return signal === undefined ? config : { ...config, signal }
  })
  interceptors.response.use(response => {
    const { status, data, headers } = response as { status: number; data: unknown; headers: Record<string, unknown> }
    const retry_ms = retryAfter_ms(headers['retry-after'])
    const isObject = typeof data === 'object' && data !== null
    if (isObject && retry_ms !== undefined) pauses.set(data, retry_ms)
    if (status < 400) return response
    const refusal = authorityRefusalOf(status, isObject ? data : {}, retry_ms)
    // The library repeats the request with a new nonce.
    if (refusal.type === 'badNonce') return response
    throw refusal
  })
  return library
}
