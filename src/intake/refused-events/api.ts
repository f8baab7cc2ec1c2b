/** Refused conversions over HTTP: what was not recorded, why, and running it again after a fix. API keys cannot use these routes. */
import { z } from 'zod'
import { Diagnosis } from '../../contract/diagnoses.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Id, Instant, Money, Page } from '../../contract/fields.ts'
import { listFile } from '../../contract/list-files.ts'
import { paging, Search } from '../../contract/paging.ts'
import { EVENT_STATUSES } from '../../contract/revisions.ts'

export const RefusedSurface = z.enum(['api', 'dashboard', 'network', 'page'])
export const RefusedState = z.enum(['refused', 'recorded'])

const Status = z.string()

/** How a network's later postback differs from the recorded conversion. */
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
          .meta({ description: 'The payout as sent, if it was not in US dollars' }),
      })
      .nullable()
      .meta({
        description:
          'In US dollars; null: the payout does not differ. An ignored status always has it, with its payout unconverted; `sent` is null if it came without one',
      }),
    status: z
      .object({ recorded: Status.nullable(), sent: Status })
      .nullable()
      .meta({ description: 'null: the status does not differ' }),
  })
  .meta({ id: 'RecordedDifference' })

export const RefusedEvent = z
  .object({
    id: Id,
    received_at: Instant,
    surface: RefusedSurface.meta({
      description: 'Where it arrived. page: a visit or a conversion that a page reported; it is never run again',
    }),
    key_id: Id.nullable(),
    network_id: Id.nullable(),
    status: z
      .number()
      .int()
      .meta({ description: 'The HTTP status of the refusal in the API; a network gets another one' }),
    error: z.string(),
    diagnosis: Diagnosis,
    click_text: z.string().nullable().meta({ description: 'The click id as sent' }),
    click_id: Id.nullable().meta({ description: 'The click id it was read as' }),
    type: z.string().nullable().meta({ description: 'The type, or a network’s status, as sent' }),
    body: z
      .string()
      .nullable()
      .meta({ description: 'What was sent, as JSON, at most 8 KiB, without values that look like secrets' }),
    is_whole: z.boolean().meta({ description: 'Whether `body` holds all that was sent, so that it can be run again' }),
    state: RefusedState,
    runs: z.number().int().meta({ description: 'How often it was run again' }),
    run_at: Instant.nullable(),
    event_id: Id.nullable().meta({ description: 'The event it was recorded as' }),
    difference: Difference.nullable().meta({
      description:
        'For a network’s later postback of a recorded conversion: how it differs. Such a row cannot be run again.',
    }),
  })
  .meta({ id: 'RefusedEvent' })
export type RefusedEvent = z.output<typeof RefusedEvent>

const filters = {
  q: Search.meta({
    description:
      'Text to find in what was sent (a click id, a transaction id, any field), in the status or in the reason',
  }),
  diagnosis: Diagnosis.optional(),
  surface: RefusedSurface.optional(),
  network_id: Id.optional(),
}

const listFilters = { ...filters, state: RefusedState.optional(), click_id: Id.optional() }

export const listRefusedEvents = endpoint({
  route: 'GET /api/refused-events',
  access: { session: 'member' },
  summary: 'List refused conversions, newest first',
  description:
    'Kept for 30 days, at most the newest 10,000 of a workspace. 401, 409, 413, 429, 503 and 504 are not kept: the sender should retry those.',
  query: z.object({ ...paging, ...listFilters }),
  reply: Page(RefusedEvent),
})

export const exportRefusedEvents = endpoint({
  ...listFile,
  route: 'GET /api/refused-events/csv',
  summary: 'Save the listed refused conversions as a CSV file',
  query: z.object(listFilters),
})

export const runRefusedEvent = endpoint({
  route: 'POST /api/refused-events/:id/run',
  access: { session: 'admin' },
  history: { none: 'intake' },
  summary: 'Run a refused conversion again',
  description:
    'Uses the maps, bots and clicks of today, and ignores the restriction of its key. It keeps its identity, so running it twice, or ' +
    'after the sender has sent it again, records it once. The event is dated when it is recorded. If it is refused again, the row has the new reason.',
  reply: RefusedEvent,
  refuses: ['object_not_found', 'cannot_run_again', 'service_unavailable'],
})

export const MOST_AT_ONCE = 200

/** The filters of a run, and the period in which the rows were received. */
const runnable = {
  ...filters,
  from: Instant.nullish().meta({ description: 'Received at or after' }),
  to: Instant.nullish().meta({ description: 'Received at or before' }),
}

const READS_AS =
  'null: it is refused again. A payout of null is the offer’s. Without a type it changes the recorded conversion; with a type and pending it is recorded on hold'

/** How many rows the preview of a run returns. */
export const MOST_PREVIEWED = 20

export const previewRefusedRun = endpoint({
  route: 'POST /api/refused-events/run/preview',
  access: { session: 'admin' },
  reads: true,
  summary: 'Preview running refused conversions again',
  description: `Returns how many there are, and how today’s maps read the oldest ${MOST_PREVIEWED}. Nothing is recorded. Clicks and bots are looked up only when they run.`,
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
        error: z.string().nullable().meta({ description: 'Why it is refused again' }),
      }),
    ),
  }),
})

export const runRefusedEvents = endpoint({
  route: 'POST /api/refused-events/run',
  access: { session: 'admin' },
  history: { none: 'intake' },
  summary: 'Run refused conversions again, one portion at a time',
  description:
    'Oldest first. Send next_cursor back as `cursor` until it is null; rows that are refused again are not repeated.',
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
