/**
 * What a room is: endpoints and the deeds behind them. A deed gets the ground it stands on (database, settings, log), who is asking
 * and the decoded call; it answers with what the endpoint's reply names, or refuses. Rooms know nothing of HTTP.
 */
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Access, Call, Endpoint, Reply, Role } from '../contract/endpoint.ts'
import { toUuid } from '../contract/ids.ts'
import { refuse } from '../contract/refusals.ts'
import type { Config } from './config.ts'
import type { Database } from './db/connect.ts'
import type { Secrets } from './db/secrets.ts'
import type { Tables } from './db/tables.ts'

/** What everything stands on; made once at the start. */
export type Ground = {
  readonly config: Config
  /** The pools, for statements that need one of their own. */
  readonly database: Database
  /** Queries of the dashboard's kind: Kysely over the general pool. */
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
  /** How the call came: as a request of its own, or made by a tool, where no exemption holds. */
  readonly through: 'http' | 'tool'
  /** When the gate read the grant (performance clock, ms): work that waited over a second reads it again. */
  readonly read_at: number
}

/** Who acts, narrowed by what the endpoint lets in. */
type ActorOf<A extends Access> = A extends 'anyone'
  ? undefined
  : A extends { session: 'person' }
    ? Person
    : A extends { session: Role; key: string }
      ? Member | Key
      : A extends { session: Role }
        ? Member
        : Key

/** What is answered at a place of a domain that is no link; `campaign_id` is a uuid. */
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
  /** Whether a browser that comes by https is let in. */
  readonly has_certificate: boolean
  readonly root: DomainPlace
  readonly unknown_path: DomainPlace
  readonly robots: 'refuse' | 'allow'
}

/** What the name a request came by is to Sluice: its own, a domain of an organization, or any other that leads here. */
export type Host = { readonly is: 'main' | 'other' } | DomainHost

/** The request as a visit sees it: raw, because a visitor's browser, a network or Telegram sent it. */
export type Visit = {
  readonly method: string
  /** Path and query as sent. */
  readonly url: string
  readonly params: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The peer's address, behind trusted proxies the client's. */
  readonly ip: string
  /** The address of the machine that connected: a proxy's, or the client's own. */
  readonly peer: string
  readonly host: Host
  /** Whether the visitor came by https, so that cookies may say so. */
  readonly is_secure: boolean
  readonly body: unknown
}

/**
 * What a visit is answered with. A string or bytes are sent as they are, anything else as JSON. `is_unknown`: nothing of the kind is of this host, so that a
 * domain answers what it does at unknown paths.
 */
export type Answer = {
  status: number
  headers?: Record<string, string | string[]>
  body?: unknown
  is_unknown?: true
}

/** Whether something of an organization may be found under the host: on a domain only what is of its own. */
export const isOfHost = (host: Host, org_id: number): boolean => host.is !== 'domain' || host.org_id === org_id

/** What accompanies a call besides its parsed parts. */
export type Asked = {
  readonly ip: string
  /** Where Sluice is for this caller: BASE_URL, else the loopback address they used, else unknown. */
  readonly origin: string | undefined
  /** The Idempotency-Key header, or undefined; several or an empty one were refused. */
  readonly idempotency_key: string | undefined
  /** When the request arrived (performance clock, ms). */
  readonly arrived_at: number
  /** Sets a header of the answer. */
  header(name: string, value: string): void
}

/** What a deed of this endpoint is given beside the call. */
export type Context<E extends Endpoint> = Ground & Asked & { readonly actor: ActorOf<E['access']> }

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
 * Joins an api module with its deeds: one deed of the same name for each endpoint. A missing deed, or one that answers something
 * else than its endpoint says, does not compile.
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

/** The uuid behind an id as it stands in a path. What is no id names nothing: refuses `object_not_found`. */
export function idOf(text: string): string {
  return toUuid(text) ?? refuse('object_not_found')
}
