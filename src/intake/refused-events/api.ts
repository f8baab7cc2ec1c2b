/** Refused intake over HTTP: what was not recorded, why, and running it again after a fix. No right covers it: a key is refused here. */
import { z } from 'zod'
import { Diagnosis } from '../../contract/diagnoses.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Id, Instant, Money, Page } from '../../contract/fields.ts'
import { paging, Search } from '../../contract/paging.ts'
import { EVENT_STATUSES } from '../../contract/revisions.ts'

export const RefusedSurface = z.enum(['api', 'dashboard', 'network'])
export const RefusedState = z.enum(['refused', 'recorded'])

const Status = z.string()

/** What a network's later call says otherwise than the conversion that is recorded. */
export const Difference = z
  .object({
    event_id: Id.meta({ description: 'The event that is recorded' }),
    payout: z
      .object({
        recorded: Money,
        sent: Money.nullable(),
        original: z
          .object({ amount: Money, currency: z.string() })
          .optional()
          .meta({ description: 'What was sent, where that was in another currency than US dollars' }),
      })
      .nullable()
      .meta({
        description:
          'In US dollars; null: it says no other payout. Told with any status that is ignored, of which nothing is converted; `sent` is null where it came with none',
      }),
    status: z
      .object({ recorded: Status.nullable(), sent: Status })
      .nullable()
      .meta({ description: 'null: it says no other status' }),
  })
  .meta({ id: 'RecordedDifference' })

export const RefusedEvent = z
  .object({
    id: Id,
    received_at: Instant,
    surface: RefusedSurface.meta({ description: 'By which way it came' }),
    key_id: Id.nullable(),
    network_id: Id.nullable(),
    status: z
      .number()
      .int()
      .meta({ description: 'The HTTP status a refusal of the API has; a network was answered differently' }),
    error: z.string(),
    diagnosis: Diagnosis,
    click_text: z.string().nullable().meta({ description: 'The click id as it was sent' }),
    click_id: Id.nullable().meta({ description: 'The click id it can be read as' }),
    type: z.string().nullable().meta({ description: 'The type, or a network’s status, as it was sent' }),
    body: z
      .string()
      .nullable()
      .meta({ description: 'What was sent, as JSON, at most 8 KiB, without what looks like a secret' }),
    is_whole: z.boolean().meta({ description: 'Whether that is all of it, so that it can be run again' }),
    state: RefusedState,
    runs: z.number().int().meta({ description: 'How often it was run again' }),
    run_at: Instant.nullable(),
    event_id: Id.nullable().meta({ description: 'The event it has become' }),
    difference: Difference.nullable().meta({
      description:
        'Of a network’s later call for a recorded conversion: what it says otherwise. It cannot be run again.',
    }),
  })
  .meta({ id: 'RefusedEvent' })
export type RefusedEvent = z.output<typeof RefusedEvent>

const filters = {
  q: Search.meta({
    description: 'Part of what was sent (a click id, a transaction id, any field), of the status or of the reason',
  }),
  diagnosis: Diagnosis.optional(),
  surface: RefusedSurface.optional(),
  network_id: Id.optional(),
}

export const listRefusedEvents = endpoint({
  route: 'GET /api/refused-events',
  access: { session: 'member' },
  summary: 'List refused intake, newest first',
  description:
    'Kept 30 days, the newest 10,000 of a workspace. 401, 409, 413, 429, 503 and 504 are not kept: sending again mends them.',
  query: z.object({ ...paging, ...filters, state: RefusedState.optional(), click_id: Id.optional() }),
  reply: Page(RefusedEvent),
})

export const runRefusedEvent = endpoint({
  route: 'POST /api/refused-events/:id/run',
  access: { session: 'admin' },
  summary: 'Run refused intake again',
  description:
    'With the maps, bots and clicks of today, and without the restriction of its key. Its identity is the one it had, so running it twice, or ' +
    'after the sender has sent it again, does nothing more. The event is dated when it is recorded. Refused again, it says why.',
  reply: RefusedEvent,
  refuses: ['object_not_found', 'cannot_run_again', 'service_unavailable'],
})

export const MOST_AT_ONCE = 200

/** What may be run at once: what the filters name and was received in the period. */
const runnable = {
  ...filters,
  from: Instant.nullish().meta({ description: 'Received at or after' }),
  to: Instant.nullish().meta({ description: 'Received at or before' }),
}

const READS_AS =
  'null: it stays refused. A payout of null is the offer’s. Without a type it is a verdict on what is recorded; pending beside one: it is held'

/** How many of a run are shown before it. */
export const SHOWN_BEFORE = 20

export const previewRefusedRun = endpoint({
  route: 'POST /api/refused-events/run/preview',
  access: { session: 'admin' },
  summary: 'Show what running refused intake again would run',
  description: `How many there are, and how the oldest ${SHOWN_BEFORE} are read by the maps of today. Nothing is recorded; whether its click and bot are known shows when it runs.`,
  body: z.object(runnable),
  reply: z.object({
    count: z.number().int(),
    first: z.array(
      z.object({
        id: Id,
        received_at: Instant,
        click_text: z.string().nullable(),
        reads_as: z
          .object({ type: EventType.nullable(), verdict: z.enum(EVENT_STATUSES).nullable(), payout: Money.nullable() })
          .nullable()
          .meta({ description: READS_AS }),
        error: z.string().nullable().meta({ description: 'Why it stays refused' }),
      }),
    ),
  }),
})

export const runRefusedEvents = endpoint({
  route: 'POST /api/refused-events/run',
  access: { session: 'admin' },
  summary: 'Run refused intake again, a portion at a time',
  description:
    'The oldest first. Send next_cursor back as `cursor` until it is null; what stays refused is not met again.',
  body: z.object({
    ...runnable,
    cursor: Id.nullish(),
  }),
  reply: z.object({
    recorded: z.number().int(),
    refused: z.number().int(),
    next_cursor: z.string().nullable(),
  }),
  refuses: ['service_unavailable'],
})
