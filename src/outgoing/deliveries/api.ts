/** Deliveries over HTTP: what was put out for each conversion, and how each attempt went. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Id, Instant, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'
import { NamedCampaigns } from '../../traffic/campaigns/api.ts'

export const DeliveryState = z.enum(['pending', 'held', 'delivered', 'failed', 'skipped'])
const DeliveryKind = z.enum(['postback', 'ad_account'])

/**
 * How an attempt failed: no answer in time, no connection, an address the guard refuses, a redirect, a refusal or a fault of the other side
 * (behind a 200 too, where an ad platform could not take it now), refused for good by an ad platform, its connection dead.
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

export const Delivery = z
  .object({
    id: Id,
    kind: DeliveryKind,
    target_id: Id.meta({ description: 'The postback rule or ad account' }),
    event_id: Id,
    event_type: EventType,
    revision: z.number().int().nullable().meta({
      description: 'The number of the revision it tells of; null: the conversion itself',
    }),
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
  .meta({ id: 'Delivery' })
export type Delivery = z.output<typeof Delivery>

/** One call to the target. Without `finished_at` it is under way, or the process died in the middle of it. */
export const DeliveryAttempt = z
  .object({
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
  .meta({ id: 'DeliveryAttempt' })
export type DeliveryAttempt = z.output<typeof DeliveryAttempt>

/** A delivery with its log. What its numbers begin after is no longer kept: `attempts_dropped` says how many that are. */
export const LoggedDelivery = Delivery.extend({
  history: z.array(DeliveryAttempt),
  attempts_dropped: z
    .number()
    .int()
    .meta({ description: 'Of its attempts, how many are no longer kept: the first ones' }),
}).meta({ id: 'LoggedDelivery' })

export const listDeliveries = endpoint({
  route: 'GET /api/deliveries',
  access: { session: 'member' },
  summary: 'List deliveries, newest first',
  query: z.object({
    ...paging,
    state: DeliveryState.optional(),
    kind: DeliveryKind.optional(),
    failure: DeliveryFailure.optional(),
    target_id: Id.optional(),
    event_id: Id.optional(),
    click_id: Id.optional(),
    campaign_id: Id.optional(),
    date_from: Instant.optional().meta({ description: 'Put out at this time or later' }),
    date_to: Instant.optional().meta({ description: 'Put out before this time' }),
  }),
  reply: Page(Delivery).extend({ campaigns: NamedCampaigns }),
})

export const readDelivery = endpoint({
  route: 'GET /api/deliveries/:id',
  access: { session: 'member' },
  summary: 'Read a delivery with all its attempts',
  description:
    'Its log is kept for KEEP_ATTEMPTS_DAYS after it ended; attempts_dropped counts the attempts that are gone from it.',
  reply: LoggedDelivery,
  refuses: ['object_not_found'],
})

/** A call a run would make; without an address it would be skipped, and `skip` says why. */
export const PlannedCall = z
  .object({
    event_id: Id,
    click_id: Id,
    method: z.string().nullable(),
    url: z.string().nullable(),
    skip: z.string().nullable(),
  })
  .meta({ id: 'PlannedCall' })
export type PlannedCall = z.output<typeof PlannedCall>

/** A run over the past. Its fields from `target_id` to `date_to` say what it is about; null is no restriction. */
export const DeliveryRun = z
  .object({
    id: Id,
    kind: z.enum(['resend', 'backfill']),
    target_id: Id.nullable(),
    campaign_id: Id.nullable(),
    only_state: z.string().nullable(),
    only_failure: z.string().nullable(),
    date_from: Instant.nullable(),
    date_to: Instant.nullable(),
    total: z.number().int().meta({ description: 'How many there were when it began' }),
    done: z.number().int().meta({ description: 'How many were put out so far' }),
    outcome: z.enum(['done', 'stopped']).nullable().meta({ description: 'null while it is under way' }),
    created_at: Instant,
    finished_at: Instant.nullable(),
  })
  .meta({ id: 'DeliveryRun' })
export type DeliveryRun = z.output<typeof DeliveryRun>

/** What a run would call: how many, the first of them exactly, and the run itself once it is started. */
export const RunPlan = z
  .object({
    count: z.number().int(),
    has_more: z.boolean().meta({ description: 'More than one run may hold: narrow the period' }),
    calls: z.array(PlannedCall),
    run: DeliveryRun.nullable(),
  })
  .meta({ id: 'RunPlan' })

export const dryRun = z.boolean().default(true).meta({ description: 'true: only show what would be called' })

export const resendDelivery = endpoint({
  route: 'POST /api/deliveries/:id/resend',
  access: { session: 'admin' },
  summary: 'Send a delivery again',
  description: 'With the same event id, whatever became of it. One that waits for its next try is brought forward.',
  reply: Delivery,
  refuses: ['object_not_found', 'delivery_under_way'],
})

export const resendDeliveries = endpoint({
  route: 'POST /api/deliveries/resend',
  access: { session: 'admin' },
  summary: 'Send many deliveries again',
  description:
    'Of one state, and as far as given of one rule or ad account, campaign, kind of failure, period. Shows the first 20 addresses and the count; with dry_run false the worker sends them in portions. At most 100,000 in a run, one run at a time.',
  body: z.object({
    state: z.enum(['failed', 'skipped', 'delivered']).optional().meta({ description: 'failed unless given' }),
    failure: DeliveryFailure.nullish(),
    target_id: Id.nullish(),
    campaign_id: Id.nullish(),
    date_from: Instant.nullish(),
    date_to: Instant.nullish(),
    dry_run: dryRun,
  }),
  reply: RunPlan,
  refuses: ['invalid_request', 'run_under_way'],
})

export const listDeliveryRuns = endpoint({
  route: 'GET /api/delivery-runs',
  access: { session: 'member' },
  summary: 'List runs over the past, newest first',
  query: z.object({ ...paging }),
  reply: Page(DeliveryRun),
})

export const stopDeliveryRun = endpoint({
  route: 'POST /api/delivery-runs/:id/stop',
  access: { session: 'admin' },
  summary: 'Stop a run',
  description: 'What it has put out already is still sent.',
  reply: DeliveryRun,
  refuses: ['object_not_found'],
})
