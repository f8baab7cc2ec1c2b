/** What the door can tell of intake that it, or the deed behind it, has refused. */
import type { FastifyRequest } from 'fastify'
import { Refusal } from '../contract/refusals.ts'
import { refusalFor } from './answer.ts'
import { headerText } from './read.ts'

export type RefusedIntake = {
  readonly org_id: number
  readonly surface: 'api' | 'dashboard'
  readonly key_id: string | undefined
  readonly refusal: Refusal
  /** What was sent: a JSON value, or the bytes that are none. */
  readonly body: unknown
  readonly idempotency_key: string | undefined
  /** Unix ms. */
  readonly received_at: number
}

/** Sending again mends the others: they are about the moment, the size or the caller, not about what was sent. */
const KEPT = new Set([400, 403, 422])

/** Undefined for what is no intake, is not kept, or is nobody's. */
export function refusedIntake(error: unknown, request: FastifyRequest): RefusedIntake | undefined {
  const { endpoint } = request.routeOptions.config
  if (typeof endpoint !== 'object' || endpoint.quota !== 'events') return undefined
  const refusal = refusalFor(error, 'events')
  const org_id = organizationOf(request)
  if (org_id === undefined || !KEPT.has(refusal.status)) return undefined
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

/** The organization the caller acts in; of a key that may do nothing there, the one it names. */
function organizationOf({ actor, caller }: FastifyRequest): number | undefined {
  if (actor !== undefined && 'org_id' in actor) return actor.org_id
  return caller !== undefined && caller.kind === 'key' ? (caller.record.org_id ?? undefined) : undefined
}
