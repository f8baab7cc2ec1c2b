/**
 * A room is a set of endpoints and the deeds behind them. A deed gets the ground (database, settings, log), the actor and the decoded call, and
 * returns the endpoint's reply or refuses. Rooms know nothing of HTTP.
 */
import type { Kysely, Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { Access, Call, Endpoint, Reply, Role } from '../contract/endpoint.ts'
import { toUuid } from '../contract/ids.ts'
import { refuse } from '../contract/refusals.ts'
import type { Config } from './config.ts'
import type { Database } from './db/connect.ts'
import type { Secrets } from './db/secrets.ts'
import type { Tables } from './db/tables.ts'
import type { Act, HistoryObject } from './history/record.ts'

/** Settings, database, log and secrets, made once at the start. */
export type Ground = {
  readonly config: Config
  /** The pools, each for one kind of work. */
  readonly database: Database
  /** Kysely over the general pool, for ordinary reads and writes. */
  readonly db: Kysely<Tables>
  readonly log: Logger
  readonly secrets: Secrets
}

export type Person = {
  readonly user_id: string
  readonly email: string
  readonly name: string
  readonly session_id: string
  /** The password alone does not let them in. */
  readonly has_second_factor: boolean
}

/** Someone signed in, acting in their active organization. `org_id` never leaves the server; `organization_id` is its public id. */
export type Member = Person & {
  readonly kind: 'member'
  readonly org_id: number
  readonly organization_id: string
  readonly role: Role
}

/** A key, acting in its organization for its owner. `campaigns` is the list it is restricted to, or null for all of them. */
export type Key = {
  readonly kind: 'key'
  readonly key_id: string
  readonly user_id: string
  readonly org_id: number
  readonly organization_id: string
  readonly campaigns: readonly string[] | null
  /** An HTTP request, or a call by a tool, which gets no exemption. */
  readonly through: 'http' | 'tool'
  /** When the gate read the grant (performance clock, ms): work that waited over a second reads it again. */
  readonly read_at: number
}

/** The kinds of actor that an endpoint admits. */
type ActorOf<A extends Access> = A extends 'anyone'
  ? undefined
  : A extends { session: 'person' }
    ? Person
    : A extends { session: Role; key: string }
      ? Member | Key
      : A extends { session: Role }
        ? Member
        : Key

/** The answer for a path of a domain that is no link. `campaign_id` is a uuid. */
export type DomainPlace =
  | { readonly type: 'not_found' }
  | { readonly type: 'redirect'; readonly url: string }
  | { readonly type: 'campaign'; readonly campaign_id: string }

/** A domain that an organization has proven, as traffic needs it. */
export type DomainHost = {
  readonly is: 'domain'
  readonly org_id: number
  readonly id: string
  readonly name: string
  readonly https: 'optional' | 'only'
  /** Whether browsers can open the domain by https. */
  readonly has_certificate: boolean
  readonly root: DomainPlace
  readonly unknown_path: DomainPlace
  readonly robots: 'refuse' | 'allow'
}

/** The host of a request: Sluice's own name, a domain of an organization, or another name that points here. */
export type Host = { readonly is: 'main' | 'other' } | DomainHost

/** A raw request from a visitor's browser, a network or Telegram. */
export type Visit = {
  readonly method: string
  /** Path and query as sent. */
  readonly url: string
  readonly params: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The client's address; behind trusted proxies as they report it. */
  readonly ip: string
  /** The address of the machine that connected: a proxy's, or the client's own. */
  readonly peer: string
  readonly host: Host
  /** Whether the visitor came by https, so that cookies can be `Secure`. */
  readonly is_secure: boolean
  readonly body: unknown
}

/**
 * The answer to a visit. A string or bytes are sent as they are, anything else as JSON. `is_unknown`: this host has no such object, so a domain
 * answers as for unknown paths.
 */
export type Answer = {
  status: number
  headers?: Record<string, string | string[]>
  body?: unknown
  is_unknown?: true
}

/** Whether an organization's object can be reached under the host. A domain serves only its own organization's objects. */
export const isOfHost = (host: Host, org_id: number): boolean => host.is !== 'domain' || host.org_id === org_id

/** The circumstances of a call, besides its parsed parts. */
export type CallCircumstances = {
  readonly ip: string
  /** Sluice's address for this caller: BASE_URL, else the loopback address they used, else undefined. */
  readonly origin: string | undefined
  /** The Idempotency-Key header, or undefined; several or an empty one were refused. */
  readonly idempotency_key: string | undefined
  /** When the request arrived (performance clock, ms). */
  readonly arrived_at: number
  /** Sets a header of the answer. */
  header(name: string, value: string): void
  /** What the history says of this call: who acts, and the id that its rows share. */
  readonly act: Act
  readonly recorded: RecordedWrite
}

/**
 * Runs a write in a transaction, and records in it what changed of `objects` (it is also called with the result, for the ids of new objects). For deeds
 * that declare `history: { in: kind }`; the gate calls it for the others.
 */
export type RecordedWrite = <T>(
  objects: (written?: T) => readonly HistoryObject[],
  write: (trx: Transaction<Tables>) => Promise<T>,
  org_id?: number,
) => Promise<T>

/** The first argument of the endpoint's deed. */
export type Context<E extends Endpoint> = Ground & CallCircumstances & { readonly actor: ActorOf<E['access']> }

export type Deed<E extends Endpoint> = E extends { visit: true }
  ? (ground: Ground, visit: Visit) => Answer | Promise<Answer>
  : (context: Context<E>, call: Call<E>) => Reply<E> | Promise<Reply<E>>

type Deeds<Api> = {
  readonly [K in keyof Api as Api[K] extends Endpoint ? K : never]: Api[K] extends Endpoint ? Deed<Api[K]> : never
}

/** An endpoint with the name it is exported under. */
export type Declared = {
  readonly name: string
  readonly endpoint: Endpoint
}

export type Furnished = Declared & {
  readonly deed: (...given: never[]) => unknown
}

/**
 * Joins an api module with its deeds: one deed of the same name for each endpoint. It does not compile if a deed is missing or returns another
 * reply than its endpoint declares.
 */
export function room<const Api extends object>(api: Api, deeds: Deeds<Api>): Furnished[] {
  return Object.entries(api).flatMap(([name, endpoint]) =>
    isEndpoint(endpoint)
      ? [{ name, endpoint, deed: (deeds as Record<string, (...given: never[]) => unknown>)[name] as never }]
      : [],
  )
}

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === 'object' && value !== null && 'route' in value && 'access' in value
}

/** The uuid of an id in a path. Refuses `object_not_found` for text that is no id. */
export function idOf(text: string): string {
  return toUuid(text) ?? refuse('object_not_found')
}
