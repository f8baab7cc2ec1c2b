/** Deliveries over HTTP: the outgoing calls for each conversion, with the result of each attempt. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Id, Instant, Page } from '../../contract/fields.ts'
import { listFile } from '../../contract/list-files.ts'
import { paging } from '../../contract/paging.ts'
import { NamedCampaigns } from '../../traffic/campaigns/api.ts'

export const DeliveryState = z.enum(['pending', 'held', 'delivered', 'failed', 'skipped'])
const DeliveryKind = z.enum(['postback', 'ad_account'])

/**
 * How an attempt failed: no answer in time, no connection, a private address, a redirect, HTTP 4xx, HTTP 5xx (also a temporary fault that an ad
 * platform reports behind HTTP 200), permanently refused by an ad platform, or its credential or access refused.
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
      description: 'The number of the revision it reports; null: the conversion itself',
    }),
    click_id: Id,
    campaign_id: Id.nullable(),
    state: DeliveryState,
    reason: z.string().nullable().meta({ description: 'Why it was skipped, held or failed' }),
    failure: DeliveryFailure.nullable().meta({ description: 'The kind of failure of the last attempt' }),
    attempts: z.number().int(),
    next_attempt_at: Instant.nullable().meta({ description: 'While pending: the time of the next attempt' }),
    created_at: Instant,
    finished_at: Instant.nullable(),
  })
  .meta({ id: 'Delivery' })
export type Delivery = z.output<typeof Delivery>

/** One call to the target. Without `finished_at` it is in progress, or the process died during it. */
export const DeliveryAttempt = z
  .object({
    number: z.number().int(),
    started_at: Instant,
    finished_at: Instant.nullable(),
    method: z.string(),
    url: z.string(),
    body: z.string().nullable().meta({ description: 'The body sent to an ad platform, without secrets' }),
    status: z.number().int().nullable().meta({ description: 'HTTP status of the answer; null: no answer' }),
    error: z.string().nullable(),
    answer: z.string().nullable().meta({ description: 'The first 16 KiB of the answer' }),
  })
  .meta({ id: 'DeliveryAttempt' })
export type DeliveryAttempt = z.output<typeof DeliveryAttempt>

/** A delivery with its log of attempts. The first `attempts_dropped` attempts are deleted, so numbers in `history` begin after them. */
export const LoggedDelivery = Delivery.extend({
  history: z.array(DeliveryAttempt),
  attempts_dropped: z
    .number()
    .int()
    .meta({ description: 'The number of its first attempts whose log has been deleted' }),
}).meta({ id: 'LoggedDelivery' })

const filters = {
  state: DeliveryState.optional(),
  kind: DeliveryKind.optional(),
  failure: DeliveryFailure.optional(),
  target_id: Id.optional(),
  event_id: Id.optional(),
  click_id: Id.optional(),
  campaign_id: Id.optional(),
  date_from: Instant.optional().meta({ description: 'Created at this time or later' }),
  date_to: Instant.optional().meta({ description: 'Created before this time' }),
}

export const listDeliveries = endpoint({
  route: 'GET /api/deliveries',
  access: { session: 'member' },
  summary: 'List deliveries, newest first',
  query: z.object({ ...paging, ...filters }),
  reply: Page(Delivery).extend({ campaigns: NamedCampaigns }),
})

export const exportDeliveries = endpoint({
  ...listFile,
  route: 'GET /api/deliveries/csv',
  summary: 'Save the listed deliveries as a CSV file',
  query: z.object(filters),
})

export const readDelivery = endpoint({
  route: 'GET /api/deliveries/:id',
  access: { session: 'member' },
  summary: 'Read a delivery with all its attempts',
  description:
    'Its log of attempts is kept for KEEP_ATTEMPTS_DAYS after it ended; attempts_dropped counts the deleted ones.',
  reply: LoggedDelivery,
  refuses: ['object_not_found'],
})

/** A call a run would make. Without an address it would be skipped, for the reason in `skip`. */
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

/** A run over the past. The fields from `target_id` to `date_to` are its filters; null is no filter. */
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
    total: z.number().int().meta({ description: 'The number of matches when it began' }),
    done: z.number().int().meta({ description: 'The number queued so far' }),
    outcome: z.enum(['done', 'stopped']).nullable().meta({ description: 'null while it is in progress' }),
    created_at: Instant,
    finished_at: Instant.nullable(),
  })
  .meta({ id: 'DeliveryRun' })
export type DeliveryRun = z.output<typeof DeliveryRun>

/** The plan of a run: the number of calls, a preview of the first ones, and the run once it is started. */
export const RunPlan = z
  .object({
    count: z.number().int(),
    has_more: z.boolean().meta({ description: 'Too many for one run: choose a shorter period' }),
    calls: z.array(PlannedCall),
    run: DeliveryRun.nullable(),
  })
  .meta({ id: 'RunPlan' })

export const dryRun = z.boolean().default(true).meta({ description: 'true: only preview the calls' })

export const resendDelivery = endpoint({
  route: 'POST /api/deliveries/:id/resend',
  access: { session: 'admin' },
  history: { none: 'a delivery has its own log' },
  summary: 'Send a delivery again',
  description: 'With the same event id, whatever its state. A delivery that waits for a retry is sent now.',
  reply: Delivery,
  refuses: ['object_not_found', 'delivery_under_way'],
})

export const resendDeliveries = endpoint({
  route: 'POST /api/deliveries/resend',
  access: { session: 'admin' },
  history: { none: 'a run has its own record' },
  summary: 'Send many deliveries again',
  description:
    'Resends the deliveries in one state, optionally filtered by rule or ad account, campaign, kind of failure and period. A dry run shows the count and the first 20 addresses; with dry_run false the worker sends them in batches. At most 100,000 per run, one run at a time.',
  body: z.object({
    state: z.enum(['failed', 'skipped', 'delivered']).optional().meta({ description: 'Default: failed' }),
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
  history: { none: 'a run has its own record' },
  summary: 'Stop a run',
  description: 'Deliveries it has already queued are still sent.',
  reply: DeliveryRun,
  refuses: ['object_not_found'],
})
