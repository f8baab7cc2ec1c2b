/** Caps over HTTP: how much an offer or a campaign takes in a period, and where visitors go when it has. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { EVENT_TYPES, EventType } from '../../contract/event-types.ts'
import { Done, Id, Instant, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'
import { TimeZone } from '../../contract/time-zones.ts'

const CAPPED_OBJECTS = ['offer', 'campaign'] as const
const CappedObject = z.enum(CAPPED_OBJECTS)

export const CAP_METRICS = ['conversions', 'clicks', 'cost'] as const
const CapMetric = z.enum(CAP_METRICS)
export type CapMetric = z.infer<typeof CapMetric>

export const CAP_PERIODS = ['day', 'month', 'total'] as const
const CapPeriod = z.enum(CAP_PERIODS)
export type CapPeriod = z.infer<typeof CapPeriod>

const WhenUnknown = z.enum(['closed', 'open']).meta({
  description:
    'Of a cap on clicks, while the database is away and the places at hand are used: take nobody, or everybody',
})

const Limit = z.int().min(1).max(1_000_000_000)

/** How many offers a visitor may be led on by, one full after the other. */
export const MOST_LED_ON = 5

export const Cap = z
  .object({
    id: Id,
    object: CappedObject,
    object_id: Id,
    object_name: z.string(),
    metric: CapMetric,
    event_types: z.array(EventType).meta({ description: 'The types of conversions that count; empty for all' }),
    limit: z.int().meta({ description: 'Of cost: whole US dollars' }),
    period: CapPeriod,
    timezone: z.string().meta({ description: 'Whose midnights days and months begin at' }),
    then_offer_id: Id.nullable(),
    when_unknown: WhenUnknown,
    active: z.boolean(),
    state: z.enum(['open', 'reached']),
    used: z.int().min(0).meta({ description: 'What this period has brought so far' }),
    reserved: z.int().min(0).meta({
      description:
        'Of a cap on clicks: places that processes hold, or held when they ended, without having told what became of them',
    }),
    over_by: z.int().min(0).meta({
      description:
        'How much of it lies above the limit: conversions of clicks that were sent before it was reached, clicks of while nobody could say',
    }),
    reached_at: Instant.nullable().meta({ description: 'When the limit of this period was reached' }),
    reopened_at: Instant.nullable().meta({ description: 'When it was opened again in this period' }),
    reopened_by: z.string().nullable().meta({ description: 'The name of who did' }),
    counted_from: Instant.meta({
      description: 'Since when it counts: the beginning of the period, of a total cap when it was made',
    }),
    resets_at: Instant.nullable().meta({ description: 'When the next period begins; null where the period is total' }),
    created_at: Instant,
  })
  .meta({ id: 'Cap' })
export type Cap = z.output<typeof Cap>

const Then = Id.nullish().meta({
  description:
    'Of an offer: the offer that visitors are led to instead. Without one it is as if the offer were archived',
})
const Types = z
  .array(EventType)
  .transform(types => EVENT_TYPES.filter(type => types.includes(type)))
  .nullish()
  .meta({ description: 'The types of conversions that count; empty for all' })

export const CapDraft = z
  .object({
    object: CappedObject,
    object_id: Id,
    metric: CapMetric,
    event_types: Types,
    limit: Limit,
    period: CapPeriod,
    timezone: TimeZone.nullish().meta({ description: 'Whose midnights days and months begin at; UTC unless given' }),
    then_offer_id: Then,
    when_unknown: WhenUnknown.nullish(),
    active: z.boolean().nullish(),
  })
  .superRefine(({ object, then_offer_id, metric, event_types }, context) => {
    if (metric !== 'conversions' && event_types != null && event_types.length > 0)
      context.addIssue({ code: 'custom', path: ['event_types'], message: WORDS_ON_TYPES })
    if (object === 'campaign' && then_offer_id != null)
      context.addIssue({ code: 'custom', path: ['then_offer_id'], message: WORDS_ON_CAMPAIGNS })
  })
export type CapDraft = z.output<typeof CapDraft>

export const WORDS_ON_TYPES = 'only conversions have types'
export const WORDS_ON_CAMPAIGNS = 'a campaign that is full sends its visitors to its fallback'

const CapChanges = z
  .object({
    event_types: Types,
    limit: Limit,
    period: CapPeriod,
    timezone: TimeZone,
    then_offer_id: Then,
    when_unknown: WhenUnknown,
    active: z.boolean(),
  })
  .partial()

export const listCaps = endpoint({
  route: 'GET /api/caps',
  access: { session: 'member' },
  summary: 'List caps, newest first',
  query: z.object({
    ...paging,
    object_id: Id.optional().meta({ description: 'Of this offer or campaign' }),
  }),
  reply: Page(Cap),
})

export const createCap = endpoint({
  route: 'POST /api/caps',
  access: { session: 'admin' },
  summary: 'Cap an offer or a campaign',
  description:
    'From the limit on new visitors of an offer go to then_offer_id, or as if it were archived; those of a campaign as if it were paused. Nothing is refused or lost: conversions of ' +
    'clicks sent before still count. A cap on a day or month counts what the period has brought before it was made.',
  body: CapDraft,
  reply: Cap,
  status: 201,
  refuses: ['invalid_request', 'cap_cycle'],
})

export const updateCap = endpoint({
  route: 'PATCH /api/caps/:id',
  access: { session: 'admin' },
  summary: 'Change a cap',
  description:
    'Fields that are not sent stay as they are. What it counts is counted anew; another limit closes or opens it at once.',
  body: CapChanges,
  reply: Cap,
  refuses: ['object_not_found', 'invalid_request', 'cap_cycle'],
})

export const deleteCap = endpoint({
  route: 'DELETE /api/caps/:id',
  access: { session: 'admin' },
  summary: 'Delete a cap',
  reply: Done,
  refuses: ['object_not_found'],
})

export const reopenCap = endpoint({
  route: 'POST /api/caps/:id/reopen',
  access: { session: 'admin' },
  summary: 'Open a cap that was reached, until its period ends',
  description: 'It counts on, above its limit. Who did it and when is shown with it. One that is open stays as it is.',
  reply: Cap,
  refuses: ['object_not_found'],
})
