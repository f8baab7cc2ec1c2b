/** Deliveries over HTTP: what was put out for each conversion, and how each attempt went. */
import { z } from 'zod'
import { endpoint } from '../contract/endpoint.ts'
import { Id, Instant, Page } from '../contract/fields.ts'
import { paging } from '../contract/paging.ts'
import { EventType } from '../contract/event-types.ts'

export const DeliveryState = z.enum(['pending', 'held', 'delivered', 'failed', 'skipped'])
export const DeliveryKind = z.enum(['postback', 'ad_account'])

/**
 * How an attempt failed: no answer in time, no connection, an address the guard refuses, a redirect, a refusal or a fault of the other side,
 * refused for good by an ad platform, its connection dead.
 */
export const DeliveryFailure = z.enum([
  'timeout',
  'connection',
  'blocked',
  'redirect',
  'http_4xx',
  'http_5xx',
  'rejected',
  'disconnected',
])
export type DeliveryFailure = z.output<typeof DeliveryFailure>

export const Delivery = z.object({
  id: Id,
  kind: DeliveryKind,
  target_id: Id.meta({ description: 'The postback rule or ad account' }),
  event_id: Id,
  event_type: EventType,
  click_id: Id,
  campaign_id: Id.nullable(),
  state: DeliveryState,
  reason: z.string().nullable().meta({ description: 'Why it was skipped, held or given up' }),
  failure: DeliveryFailure.nullable().meta({ description: 'The kind of failure of the last attempt' }),
  attempts: z.number().int(),
  next_attempt_at: Instant.nullable().meta({ description: 'While pending: when it is tried next' }),
  created_at: Instant,
  finished_at: Instant.nullable(),
})
export type Delivery = z.output<typeof Delivery>

/** One call to the target. Without `finished_at` it is under way, or the process died in the middle of it. */
export const DeliveryAttempt = z.object({
  number: z.number().int(),
  started_at: Instant,
  finished_at: Instant.nullable(),
  method: z.string(),
  url: z.string(),
  body: z.string().nullable().meta({ description: 'What was sent to an ad platform, without its secrets' }),
  status: z.number().int().nullable().meta({ description: 'HTTP status of the answer, null when there was none' }),
  error: z.string().nullable(),
  answer: z.string().nullable().meta({ description: 'The first 16 KiB of the answer' }),
})
export type DeliveryAttempt = z.output<typeof DeliveryAttempt>

export const listDeliveries = endpoint({
  route: 'GET /api/deliveries',
  access: { session: 'member' },
  summary: 'List deliveries, newest first',
  query: z.object({
    ...paging,
    state: DeliveryState.optional(),
    kind: DeliveryKind.optional(),
    target_id: Id.optional(),
    event_id: Id.optional(),
    click_id: Id.optional(),
    campaign_id: Id.optional(),
  }),
  reply: Page(Delivery),
})

export const readDelivery = endpoint({
  route: 'GET /api/deliveries/:id',
  access: { session: 'member' },
  summary: 'Read a delivery with all its attempts',
  reply: Delivery.extend({ history: z.array(DeliveryAttempt) }),
  refuses: ['object_not_found'],
})
