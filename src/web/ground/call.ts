/**
 * Requests to the server: `call` calls an endpoint with the types of its declaration, `ask` makes a query of it. An error answer is
 * thrown as `Refused`, so that its words can be shown where it happened.
 */
import { queryOptions } from '@tanstack/react-query'
import { type Endpoint, isReading, routeOf, type WireCall, type WireReply } from '../../contract/endpoint.ts'

export class Refused extends Error {
  readonly status: number
  readonly code: string | undefined
  readonly hint: string | undefined
  constructor(status: number, body: { error?: unknown; message?: unknown; code?: unknown; hint?: unknown }) {
    // The sign-in library answers `message` instead of `error`.
    const words = body.error ?? body.message
    super(typeof words === 'string' ? words : `the server answered ${status} and gave no reason`)
    this.status = status
    this.code = typeof body.code === 'string' ? body.code : undefined
    this.hint = typeof body.hint === 'string' ? body.hint : undefined
  }
}

type Part<Name extends string, T> = [T] extends [undefined]
  ? unknown
  : Record<never, never> extends T
    ? { readonly [K in Name]?: T }
    : { readonly [K in Name]: T }

/** The parts that an endpoint declares. A part without required fields may be left out. */
type Given<E extends Endpoint> = Part<'params', WireCall<E>['params']> &
  Part<'query', WireCall<E>['query']> &
  Part<'body', WireCall<E>['body']>

type Loose = {
  params?: Record<string, string>
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
}
type Arguments<E extends Endpoint> = Record<never, never> extends Given<E> ? [given?: Given<E>] : [given: Given<E>]

/** Calls an endpoint as the person signed in. Throws `Refused`, also when the server cannot be reached (status 0). */
export async function call<E extends Endpoint>(endpoint: E, ...[given]: Arguments<E>): Promise<WireReply<E>> {
  const loose = (given ?? {}) as Loose
  const { method } = routeOf(endpoint)
  return (await send(method, addressOfCall(endpoint, loose), loose.body, isReading(endpoint))) as WireReply<E>
}

/** The address of a call. */
export function addressOfCall(endpoint: Endpoint, { params = {}, query = {} }: Omit<Loose, 'body'>): string {
  const { path } = routeOf(endpoint)
  const address = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
  return search.size > 0 ? `${address}?${search}` : address
}

/** Sends JSON or a file, and reads JSON. Used by `call`, and for the sign-in routes, which are not declared as endpoints. `reads`: nothing can be saved by it. */
export async function send(
  method: string,
  address: string,
  body?: unknown,
  reads = method === 'GET',
): Promise<unknown> {
  const content =
    body === undefined
      ? {}
      : body instanceof Blob
        ? { body, headers: { 'content-type': body.type } }
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await fetch(address, { method, ...content }).catch(() => {
    throw new Refused(0, { error: 'Sluice cannot be reached', hint: 'Check the connection, then try again.' })
  })
  const reply: unknown = await response.json().catch(() => undefined)
  if (response.ok) return reply
  if (response.status === 503 && !isReasoned(reply)) throw new Refused(503, unavailable(reads))
  if (response.status === 401 && (reply as { code?: string } | undefined)?.code === 'sign_in_required')
    throw sessionEnded()
  throw new Refused(response.status, typeof reply === 'object' && reply !== null ? reply : {})
}

/** Shown where a button was pressed. It stays after the person has signed in again. */
const sessionEnded = () =>
  new Refused(401, {
    code: 'sign_in_required',
    error: 'Your session has ended',
    hint: 'Nothing was done. Sign in, then try again.',
  })

/** Whether a 503 gives a reason other than an unreachable database, such as a queue. */
function isReasoned(reply: unknown): boolean {
  const code = (reply as { code?: unknown } | undefined)?.code
  return typeof code === 'string' && code !== 'service_unavailable'
}

/** The dashboard's words for a 503 from Sluice, or from a proxy that gives no reason. */
const unavailable = (reads: boolean) => ({
  code: 'service_unavailable',
  error: 'Sluice cannot reach its database right now',
  hint: reads
    ? 'Clicks are still recorded. Try again in a moment.'
    : 'Check whether it was saved before you try again.',
})

/** Whether an amount could not be shown in another currency. */
export const isRateUnknown = (error: Error | null): boolean => error instanceof Refused && error.code === 'rate_unknown'

/** The query of an endpoint, keyed by its route and what it was given. */
export function ask<E extends Endpoint>(endpoint: E, ...args: Arguments<E>) {
  return queryOptions({ queryKey: [endpoint.route, args[0] ?? {}] as const, queryFn: () => call(endpoint, ...args) })
}
