/**
 * An endpoint, declared once: its path, access, input and output. The gate registers it, the API reference describes it, the browser calls it with its
 * types. Access has no default, so an endpoint without it does not compile.
 */
import { z } from 'zod'
import './words.ts'
import type { HistoryDeclaration } from './history.ts'
import type { RefusalName } from './refusal-catalogue.ts'
import type { Right } from './rights.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Route = `${Method} /${string}`
export type Role = 'owner' | 'admin' | 'member'

/**
 * - `'anyone'`: visitors, networks, Telegram.
 * - `{ session: 'person' }`: anyone signed in, with or without an organization. Keys are refused `api_key_resource_forbidden`.
 * - `{ session: role }`: that role or higher in the active organization. Keys are refused likewise.
 * - `{ session, key }`: the same, and keys that have the right.
 * - `{ key }`: keys that have the right, never a cookie. `'any'`: every valid key.
 */
export type Access =
  | 'anyone'
  | { readonly session: 'person' }
  | { readonly session: Role; readonly key?: Right }
  | { readonly key: Right | 'any'; readonly session?: never }

/** The quota that a call counts against, if not the shared one of key writes (600 a minute). */
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
  /** True, for a creation: a key may repeat it with the same Idempotency-Key within a day, which answers the first object. See `createOnce`. */
  readonly repeatable?: true
  /** True, for a POST: it only reads, so no refusal of it says that something may have been saved. */
  readonly reads?: true
  /** True: the deed reads the request and writes the answer itself (redirects, beacons, sign-in). */
  readonly visit?: boolean
  /**
   * `'any'`: also open on domains of organizations. No other endpoint is, because a domain may belong to somebody else tomorrow, so it must never
   * serve sessions, keys or pages.
   */
  readonly hosts?: 'any'
  /** True, for a visit: its body may be anything, and is passed on as bytes instead of being parsed as JSON. */
  readonly takesRaw?: boolean
  /** The body is a file of this type, up to `FILE_LIMIT`, which the deed gets as bytes. */
  readonly takesFile?: 'text/csv'
  /** Pages of every origin may call it and read its answers, without cookies. */
  readonly cors?: Cors
  /**
   * True: the deed returns the wire format (wire ids and times, exactly the declared fields), and the gate sends it unchanged. Only for pages of many
   * rows, because encoding 1,000 clicks takes longer than reading them. A test of the room must check the exact fields.
   */
  readonly replyIsShaped?: boolean
  /**
   * For a change: the fields of its reply that tell the state. A key gets these, the id, the fields it has sent, the warnings and the consequences, but
   * no other fields, because no right allows reading the earlier values. Without a receipt, keys get the whole reply.
   */
  readonly receipt?: readonly string[]
  /** What the history records of a write. Without it, an endpoint that writes keeps the server from starting. */
  readonly history?: HistoryDeclaration
  readonly refuses?: readonly RefusalName[]
  /** The refusal of an invalid body; `invalid_request` by default. */
  readonly misfit?: RefusalName
  /** The deed returns a file of this type instead of a reply, as text, bytes or a stream that is sent unchanged, or as a stream of text. */
  readonly file?: FileType
  /** Headers of the successful answer, in addition to those of its quota. */
  readonly headers?: readonly HeaderName[]
  /**
   * Answers by status, for an endpoint with several successful answers or its own protocol. A text alone: the answer has the form of the reply. For a
   * visit they are added to its refusals, for another endpoint they replace them.
   */
  readonly answers?: Readonly<Record<number, string | DescribedAnswer>>
  /** The routes that a wildcard stands for, by name. The API reference shows them instead of the wildcard. */
  readonly parts?: Readonly<Record<string, Endpoint>>
}

/** The headers that pages of other origins may send and read, besides those that browsers always allow. */
type Cors = { readonly sends: readonly string[]; readonly exposes?: readonly string[] }

/** The most bytes of a file in a request: 32 MiB. */
export const FILE_LIMIT = 33_554_432

/** A described answer. `type` is the type of its body, or `refusal` for a refusal's body; without it there is no body. */
export type DescribedAnswer = {
  readonly words: string
  readonly type?: 'refusal' | `${'text' | 'application' | 'image'}/${string}`
  readonly reply?: z.ZodType
  readonly headers?: readonly HeaderName[]
}

export type FileType = 'text/csv' | 'text/plain' | 'application/vnd.apache.parquet' | 'application/octet-stream'

/** Headers that callers read. The API reference explains each once. */
export type HeaderName =
  | 'Retry-After'
  | 'X-RateLimit-Limit'
  | 'X-RateLimit-Remaining'
  | 'X-RateLimit-Reset'
  | 'Idempotent-Replayed'
  | 'Location'
  | 'ETag'
  | 'Set-Cookie'
  | 'Allow'
  | 'WWW-Authenticate'

/** Refuses unknown fields, so that a misspelt one does not compile. */
type Spelt<E extends Endpoint> = {
  readonly [K in Exclude<keyof E, keyof Endpoint>]: never
} & (E['access'] extends string
  ? unknown
  : { readonly access: { readonly [K in Exclude<keyof E['access'], 'session' | 'key'>]: never } })

/** The fields of a creation that a key may repeat. */
export const REPEATABLE = { repeatable: true, headers: ['Idempotent-Replayed'] } as const satisfies Partial<Endpoint>

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

type DecodedBody<E extends Endpoint> = E['takesFile'] extends string ? Uint8Array : Decoded<E['body']>
type WireBody<E extends Endpoint> = E['takesFile'] extends string ? Blob : Wire<E['body']>

/** The input of a deed: path parameters as text, query and body decoded, a file as its bytes. */
export type Call<E extends Endpoint> = {
  readonly params: { readonly [K in Parameter<E['route']>]: string }
  readonly query: Decoded<E['query']>
  readonly body: DecodedBody<E>
}

/** The result of a deed. The gate encodes it for the wire and drops fields that the schema does not name. */
export type Reply<E extends Endpoint> = E['reply'] extends z.ZodType
  ? z.output<E['reply']>
  : E['file'] extends FileType
    ? string | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<string>
    : undefined

/** The same schemas in wire format, as a caller sends and receives them. */
export type WireCall<E extends Endpoint> = {
  readonly params: { readonly [K in Parameter<E['route']>]: string }
  readonly query: Wire<E['query']>
  readonly body: WireBody<E>
}
export type WireReply<E extends Endpoint> = E['reply'] extends z.ZodType ? z.input<E['reply']> : undefined

export function routeOf(one: Pick<Endpoint, 'route'>): { method: Method; path: string } {
  const [method, path] = one.route.split(' ') as [Method, string]
  return { method, path }
}

/** Whether a call changes nothing. */
export const isReading = ({ route, reads }: Endpoint): boolean => route.startsWith('GET ') || reads === true

/** The right that a key needs for the endpoint. Undefined if keys may not call it, or need no right. */
export function rightOf(access: Access): Right | undefined {
  return access === 'anyone' || !('key' in access) || access.key === 'any' ? undefined : access.key
}
