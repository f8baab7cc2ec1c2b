/** The answers to requests that match no route. */
import type { FastifyRequest } from 'fastify'
import { refuse } from '../contract/refusals.ts'
import { type Identities, keyOf, verified } from './identify.ts'

const UNKNOWN = { access: { session: 'person' } } as const

const UNKNOWN_TO_KEYS = {
  hint: 'No right covers this route. Compare its method and path with /api/docs, or use a dashboard session.',
}

/** Refuses an unknown route below /api and the other paths without pages. A key must be valid to learn that no right covers the route. */
export async function refuseUnknownRoute(request: FastifyRequest, identities: Identities): Promise<never> {
  const secret = keyOf(request.headers)
  if (secret !== undefined && request.url.startsWith('/api/auth/')) refuse('auth_route_closed')
  if (secret !== undefined && request.url.startsWith('/api/')) {
    await verified(UNKNOWN, secret, identities)
    refuse('api_key_resource_forbidden', UNKNOWN_TO_KEYS)
  }
  return refuse('route_not_found')
}
