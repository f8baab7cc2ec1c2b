/**
 * acme-client with its manners set: it is loaded when the first certificate is ordered, tries nothing again by itself, waits for nobody for ever,
 * and its errors say what the authority has said, or what the connection was ended by. As it comes, it would sleep through a Retry-After
 * of any length with the order in its hands, and then leave nothing of it but a sentence (docs/decisions/018-acme-client.md).
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type * as acme from 'acme-client'
import { retryAfter_ms } from './retry-after.ts'

/** An authority's refusal. `type` without its `urn:ietf:params:acme:error:`; the message is the authority's own. */
export class Refused extends Error {
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

type Problem = { type?: unknown; detail?: unknown; subproblems?: unknown }

/** An authority's problem document in one line, with what it says of each name. */
export function refusedOf(status: number, problem: Problem, retry_ms?: number): Refused {
  const parts = Array.isArray(problem.subproblems) ? (problem.subproblems as Problem[]) : []
  const words = [problem, ...parts].map(({ detail }) => (typeof detail === 'string' ? detail : '')).filter(Boolean)
  const type = typeof problem.type === 'string' ? problem.type.replace('urn:ietf:params:acme:error:', '') : ''
  const line = words.join('; ').replace(/\s+/g, ' ').slice(0, 1000)
  return new Refused(type, status, line === '' ? `it answered with ${status}` : line, retry_ms)
}

/** Each answer, the largest of which is a chain of certificates, has to come whole in this time. */
const ANSWER_MS = 30_000
const MOST_BYTES = 1024 * 1024

/** Whose wish to end holds for the requests made inside. */
export const within = new AsyncLocalStorage<AbortSignal>()

/** When an answer's object is to be asked for again at the soonest, where the authority has said so. */
const pauses = new WeakMap<object, number>()
export const pauseOf = (answer: object): number | undefined => pauses.get(answer)

let loaded: Promise<typeof acme> | undefined

/** The library, the same for the whole process: its settings are of all its clients. */
export function loadLibrary(): Promise<typeof acme> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<typeof acme> {
  const library = await import('acme-client')
  const { defaults, interceptors } = library.axios
  Object.assign(defaults, { timeout: ANSWER_MS, maxContentLength: MOST_BYTES, maxRedirects: 0 })
  // They try again, each time longer, and lose what a connection was ended by.
  interceptors.request.clear()
  interceptors.response.clear()
  interceptors.request.use(config => {
    const signal = within.getStore()
    return signal === undefined ? config : { ...config, signal }
  })
  interceptors.response.use(response => {
    const { status, data, headers } = response as { status: number; data: unknown; headers: Record<string, unknown> }
    const retry_ms = retryAfter_ms(headers['retry-after'])
    const isObject = typeof data === 'object' && data !== null
    if (isObject && retry_ms !== undefined) pauses.set(data, retry_ms)
    if (status < 400) return response
    const refused = refusedOf(status, isObject ? data : {}, retry_ms)
    // The library asks again by itself, with a new nonce.
    if (refused.type === 'badNonce') return response
    throw refused
  })
  return library
}
