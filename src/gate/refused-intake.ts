/** Describes a refused conversion, so that it can be listed under Refused. */
import type { FastifyRequest } from 'fastify'
import { Refusal } from '../contract/refusals.ts'
import { refusalFor } from './answer.ts'
import { headerText } from './read.ts'

export type RefusedIntake = {
  readonly org_id: number
  readonly surface: 'api' | 'dashboard'
  readonly key_id: string | undefined
  readonly refusal: Refusal
  /** The body that was sent: a JSON value, or the bytes if they are not JSON. */
  readonly body: unknown
  readonly idempotency_key: string | undefined
  /** Unix ms. */
  readonly received_at: number
}

/** The statuses that are recorded. The others concern the moment, the size or the caller, so sending again is the remedy. */
const RECORDED = new Set([400, 403, 422])

/** The refused conversion. Undefined for other requests, other statuses, and callers without an organization. */
export function refusedIntake(error: unknown, request: FastifyRequest): RefusedIntake | undefined {
  const { endpoint } = request.routeOptions.config
  if (typeof endpoint !== 'object' || endpoint.quota !== 'events') return undefined
  const refusal = refusalFor(error, 'events')
  const org_id = organizationOf(request)
  if (org_id === undefined || !RECORDED.has(refusal.status)) return undefined
  const { caller, headers, body, unread } = request
  const idempotency_key = headers['idempotency-key']
  return {
    org_id,
    surface: caller.kind === 'key' ? 'api' : 'dashboard',
    key_id: caller.kind === 'key' ? caller.record.key_id : undefined,
    refusal,
    body: unread ?? body,
    idempotency_key: typeof idempotency_key === 'string' ? headerText(idempotency_key) : undefined,
    received_at: Date.now(),
  }
}

/** The caller's organization. For a key that was not permitted, the organization of its record. */
function organizationOf({ actor, caller }: FastifyRequest): number | undefined {
  if (actor !== undefined && 'org_id' in actor) return actor.org_id
  return caller !== undefined && caller.kind === 'key' ? (caller.record.org_id ?? undefined) : undefined
}
