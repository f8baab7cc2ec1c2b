/**
 * Step 2 of the gate: identify the caller. A key takes precedence over a cookie. Without a key, a request that changes something must come
 * from the dashboard's own pages.
 */
import type { Access, Endpoint } from '../contract/endpoint.ts'
import { rightOf, routeOf } from '../contract/endpoint.ts'
import { Refusal, refuse, retryInAMinute } from '../contract/refusals.ts'
import type { Person, Visit } from '../ground/room.ts'
import type { KeyRecord } from '../people/keys/verify.ts'
import { requireOrigin } from './origin.ts'
import type { ToolCall } from './tool-call.ts'

export type Caller = { kind: 'key'; record: KeyRecord } | { kind: 'person'; person: Person } | { kind: 'anyone' }

/** The functions by which the gate looks up keys and sessions. */
export type Identities = {
  verifyKey(secret: string): Promise<KeyRecord | undefined>
  /** The key behind a connection's access token. */
  verifyToken(token: string): Promise<KeyRecord | undefined>
  whoIs(headers: Visit['headers']): Promise<Person | undefined>
}

type IncomingCall = { method: string; headers: Visit['headers'] }

const ANYONE: Caller = { kind: 'anyone' }

/** The kind of endpoint, which decides the shape of its refusals. */
export type Surface = 'events' | 'reads' | 'other'

/** Conversion intake is recognized by its quota and key reads by accepting no session. All others belong to the dashboard. */
export function surfaceOf(endpoint: Pick<Endpoint, 'access' | 'quota'>): Surface {
  if (endpoint.quota === 'events') return 'events'
  return isKeyOnly(endpoint.access) ? 'reads' : 'other'
}

/** Whether the endpoint accepts only keys and no session. */
export function isKeyOnly(access: Access): boolean {
  return access !== 'anyone' && access.session === undefined
}

/** The key that was sent. Undefined for a missing or empty header. */
export function keyOf(headers: Visit['headers']): string | undefined {
  const sent = headers['x-api-key']
  return typeof sent === 'string' && sent !== '' ? sent : undefined
}

/** Identifies the caller or refuses. A database error is thrown on for sessions and becomes a refusal for keys. */
export async function identify(
  endpoint: Endpoint,
  request: IncomingCall,
  identities: Identities,
  baseUrl: string | undefined,
  tool?: ToolCall,
): Promise<Caller> {
  const { access } = endpoint
  // The declared path is used, because the sent one may contain escapes.
  const { path } = routeOf(endpoint)
  const secret = keyOf(request.headers)
  if (secret !== undefined && path.startsWith('/api/auth/')) refuse('auth_route_closed')
  // The call of a tool brings its key's record, because a connection has no secret to send.
  if (tool !== undefined) return byKey(endpoint, tool.record)
  if (secret !== undefined && access !== 'anyone') return byKey(endpoint, await verified(endpoint, secret, identities))
  if (isKeyOnly(access)) refuse('api_key_required')
  if (changesSomething(request.method, path)) requireOrigin(request.headers, baseUrl)
  if (access === 'anyone') return ANYONE
  const person = await identities.whoIs(request.headers)
  return person === undefined ? refuse('sign_in_required') : { kind: 'person', person }
}

function changesSomething(method: string, path: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && path.startsWith('/api/')
}

function byKey(endpoint: Endpoint, record: KeyRecord): Caller {
  if (rightOf(endpoint.access) === undefined) refuse('api_key_resource_forbidden')
  return { kind: 'key', record }
}

/** The key's record. A database failure is never a 401, because people would then replace working keys. */
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
    throw retryInAMinute()
  }
  return record?.accepted ? record : refuse('key_not_accepted')
}
