/**
 * Step 2 of the door: who is asking. A key counts before a cookie; without a key, whatever changes something must come from the
 * dashboard's own pages.
 */
import type { Access, Endpoint } from '../contract/endpoint.ts'
import { rightOf, routeOf } from '../contract/endpoint.ts'
import { Refusal, refuse, tellLater } from '../contract/refusals.ts'
import type { Person, Visit } from '../ground/room.ts'
import type { KeyRecord } from '../people/keys/verify.ts'
import { requireOrigin } from './origin.ts'
import type { ToolCall } from './tool-call.ts'

export type Caller = { kind: 'key'; record: KeyRecord } | { kind: 'person'; person: Person } | { kind: 'anyone' }

/** What the gate asks of the rooms that know people and keys. */
export type Identities = {
  verifyKey(secret: string): Promise<KeyRecord | undefined>
  whoIs(headers: Visit['headers']): Promise<Person | undefined>
}

type Asking = { method: string; headers: Visit['headers'] }

const ANYONE: Caller = { kind: 'anyone' }

/** Where a request came in, which decides the shape of its refusals. */
export type Surface = 'events' | 'reads' | 'other'

/** Intake is told by its quota, the reads for keys by taking no cookie; all else is the dashboard's. */
export function surfaceOf(endpoint: Pick<Endpoint, 'access' | 'quota'>): Surface {
  if (endpoint.quota === 'events') return 'events'
  return isKeyOnly(endpoint.access) ? 'reads' : 'other'
}

/** Whether no session opens the endpoint, so that a missing key is what is wrong. */
export function isKeyOnly(access: Access): boolean {
  return access !== 'anyone' && access.session === undefined
}

/** The key that was sent, or undefined; an empty header is none. */
export function keyOf(headers: Visit['headers']): string | undefined {
  const sent = headers['x-api-key']
  return typeof sent === 'string' && sent !== '' ? sent : undefined
}

/** Refuses or answers who it is. Throws what the database threw for sessions; for keys that is turned into its refusal. */
export async function identify(
  endpoint: Endpoint,
  asking: Asking,
  identities: Identities,
  baseUrl: string | undefined,
  tool?: ToolCall,
): Promise<Caller> {
  const { access } = endpoint
  // By the path that was declared: the one that was sent may spell it with escapes.
  const { path } = routeOf(endpoint)
  const secret = keyOf(asking.headers)
  if (secret !== undefined && path.startsWith('/api/auth/')) refuse('auth_route_closed')
  if (secret !== undefined && access !== 'anyone')
    return byKey(endpoint, tool?.record ?? (await verified(endpoint, secret, identities)))
  if (isKeyOnly(access)) refuse('api_key_required')
  if (changesSomething(asking.method, path)) requireOrigin(asking.headers, baseUrl)
  if (access === 'anyone') return ANYONE
  const person = await identities.whoIs(asking.headers)
  return person === undefined ? refuse('sign_in_required') : { kind: 'person', person }
}

function changesSomething(method: string, path: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && path.startsWith('/api/')
}

function byKey(endpoint: Endpoint, record: KeyRecord): Caller {
  if (rightOf(endpoint.access) === undefined) refuse('api_key_resource_forbidden')
  return { kind: 'key', record }
}

/** The key's record. Never 401 because the database could not be read: that would make people replace working keys. */
export async function verified(
  endpoint: Pick<Endpoint, 'access' | 'quota'>,
  secret: string,
  identities: Identities,
): Promise<KeyRecord> {
  let record: KeyRecord | undefined
  try {
    record = await identities.verifyKey(secret)
  } catch (error) {
    if (error instanceof Refusal) throw error
    if (surfaceOf(endpoint) === 'reads') refuse('api_key_scope_unverifiable')
    throw tellLater()
  }
  return record?.accepted ? record : refuse('key_not_accepted')
}
