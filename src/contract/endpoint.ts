/**
 * A route, declared once: its path, who may call it, what goes in and out. The gate registers it, the documents describe it, the
 * browser calls it with its types. Access has no default, so a route without one does not compile.
 */
import { z } from 'zod'
import './words.ts'
import type { RefusalName } from './refusal-catalogue.ts'
import type { Right } from './rights.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Route = `${Method} /${string}`
export type Role = 'owner' | 'admin' | 'member'

/**
 * - `'anyone'`: visitors, networks, Telegram.
 * - `{ session: 'person' }`: anyone signed in, with or without an organization; a key is refused `api_key_resource_forbidden`.
 * - `{ session: role }`: that role or higher in the active organization; a key is refused likewise.
 * - `{ session, key }`: the same, and keys that hold the right.
 * - `{ key }`: keys that hold the right, never a cookie; `'any'` for every key that is accepted, whatever it holds.
 */
export type Access =
  | 'anyone'
  | { readonly session: 'person' }
  | { readonly session: Role; readonly key?: Right }
  | { readonly key: Right | 'any'; readonly session?: never }

/** Which counter a call spends; declared where it differs from "key writes share 600 a minute". */
export type QuotaName = 'events' | 'clicks' | 'report'

export type Endpoint = {
  readonly route: Route
  readonly access: Access
  readonly summary: string
  readonly description?: string
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  readonly reply?: z.ZodType
  readonly status?: number
  readonly quota?: QuotaName
  readonly once?: boolean
  /** True: the deed reads the request and writes the answer itself (redirects, beacons, sign-in). */
  readonly visit?: boolean
  /**
   * `'any'`: it is open on the domains of organizations too. Nothing else is, because a domain is a name that somebody else may hold tomorrow:
   * no session, key or page may ever be expected there.
   */
  readonly hosts?: 'any'
  /** True, of a visit: its body may be anything, and is handed on as bytes instead of being read as JSON. */
  readonly takesRaw?: boolean
  /**
   * True: the deed answers with the wire's own shape (ids and times as they are sent, exactly the declared fields) and the gate sends it as it
   * is. Only for pages of many rows: encoding 1,000 clicks takes longer than reading them. A test of the room must hold the exact fields.
   */
  readonly replyIsShaped?: boolean
  /**
   * Of a change: the fields of its reply that say the state. A key is answered with these, the id, the fields it has sent, the warnings and
   * the consequences, and with nothing else of the row, because no right reads what stood there before. Without it keys are answered the whole reply.
   */
  readonly receipt?: readonly string[]
  readonly refuses?: readonly RefusalName[]
  /** What a body that does not fit is refused as; `invalid_request` unless given. */
  readonly misfit?: RefusalName
  /** Instead of a reply: the deed answers with a file of this kind, text or bytes, which is sent as it is. */
  readonly file?: FileType
  /** Headers its good answer may carry, beside those of its quota. */
  readonly headers?: readonly HeaderName[]
  /**
   * What it answers by status, where that is more than one good answer and refusals of the catalogue. A text alone: in the form of its
   * reply. Of a visit they stand beside its refusals, of any other endpoint in place of them: a protocol of its own.
   */
  readonly answers?: Readonly<Record<number, string | Said>>
  /** The routes a wildcard stands for, by name: the documents show them in its place. */
  readonly parts?: Readonly<Record<string, Endpoint>>
}

/** An answer in words. `type`: of its body, or `refusal` for the form that refusals have; without one it has none. */
export type Said = {
  readonly words: string
  readonly type?: 'refusal' | `${'text' | 'application' | 'image'}/${string}`
  readonly reply?: z.ZodType
  readonly headers?: readonly HeaderName[]
}

/** What files are. */
export type FileType = 'text/csv' | 'application/vnd.apache.parquet'

/** Headers that somebody reads; the documents explain each once. */
export type HeaderName =
  | 'Retry-After'
  | 'X-RateLimit-Limit'
  | 'X-RateLimit-Remaining'
  | 'X-RateLimit-Reset'
  | 'Idempotent-Replayed'
  | 'Location'
  | 'Set-Cookie'
  | 'Allow'

/** Nothing but what an endpoint has: a word that is misspelt would otherwise be a declaration that nobody reads. */
type Spelt<E extends Endpoint> = {
  readonly [K in Exclude<keyof E, keyof Endpoint>]: never
} & (E['access'] extends string
  ? unknown
  : { readonly access: { readonly [K in Exclude<keyof E['access'], 'session' | 'key'>]: never } })

/** Declares an endpoint. `status` is 200 unless given; `reply` is absent only for visits. */
export function endpoint<const E extends Endpoint>(declaration: E & Spelt<E>): E {
  return declaration
}

type Parameter<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Parameter<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

type Decoded<T> = T extends z.ZodType ? z.output<T> : undefined
type Wire<T> = T extends z.ZodType ? z.input<T> : undefined

/** What a deed is given: path parameters as text, query and body decoded. */
export type Call<E extends Endpoint> = {
  readonly params: { readonly [K in Parameter<E['route']>]: string }
  readonly query: Decoded<E['query']>
  readonly body: Decoded<E['body']>
}

/** What a deed returns; the gate encodes it to the wire and drops what the schema does not name. */
export type Reply<E extends Endpoint> = E['reply'] extends z.ZodType
  ? z.output<E['reply']>
  : E['file'] extends FileType
    ? string | Uint8Array
    : undefined

/** What a caller sends and receives: the wire's side of the same schemas. */
export type WireCall<E extends Endpoint> = {
  readonly params: { readonly [K in Parameter<E['route']>]: string }
  readonly query: Wire<E['query']>
  readonly body: Wire<E['body']>
}
export type WireReply<E extends Endpoint> = E['reply'] extends z.ZodType ? z.input<E['reply']> : undefined

/** Method and path of an endpoint. */
export function routeOf(one: Endpoint): { method: Method; path: string } {
  const [method, path] = one.route.split(' ') as [Method, string]
  return { method, path }
}

/** The right a key needs for the endpoint, if a key may call it at all. */
export function rightOf(access: Access): Right | undefined {
  return access === 'anyone' || !('key' in access) || access.key === 'any' ? undefined : access.key
}
