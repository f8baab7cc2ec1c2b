/** The endpoints of caps: limits of an offer or a campaign per period, and where visitors go once a limit is reached. */
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
    'For a cap on clicks, once this server has used up its reserved clicks while the database is down: take no visitors, or all',
})

const Limit = z.int().min(1).max(1_000_000_000)

/** How many capped offers a visitor may pass through, one leading to the next. */
export const MOST_CHAINED_OFFERS = 5

export const Cap = z
  .object({
    id: Id,
    object: CappedObject,
    object_id: Id,
    object_name: z.string(),
    metric: CapMetric,
    event_types: z.array(EventType).meta({ description: 'The types of conversions that count; empty for all' }),
    limit: z.int().meta({ description: 'For a cap on cost: whole US dollars' }),
    period: CapPeriod,
    timezone: z.string().meta({ description: 'Days and months begin at midnight in this zone' }),
    then_offer_id: Id.nullable(),
    when_unknown: WhenUnknown,
    active: z.boolean(),
    state: z.enum(['open', 'reached']),
    used: z.int().min(0).meta({ description: 'The count of this period so far' }),
    reserved: z.int().min(0).meta({
      description:
        'For a cap on clicks: clicks that running servers have reserved, or that a server had reserved when it crashed',
    }),
    over_by: z.int().min(0).meta({
      description:
        'How much is above the limit: conversions of clicks from before it was reached, or clicks while the database was down',
    }),
    reached_at: Instant.nullable().meta({ description: 'When the limit of this period was reached' }),
    reopened_at: Instant.nullable().meta({ description: 'When the cap was opened again in this period' }),
    reopened_by: z.string().nullable().meta({ description: 'The name of the person who opened it again' }),
    counted_from: Instant.meta({
      description: 'The start of the count: the start of the period, or the creation of a total cap',
    }),
    resets_at: Instant.nullable().meta({ description: 'When the next period begins; null for a total cap' }),
    created_at: Instant,
  })
  .meta({ id: 'Cap' })
export type Cap = z.output<typeof Cap>

const ThenOffer = Id.nullish().meta({
  description:
    'For an offer: the offer that visitors go to instead. Without one, the capped offer acts as if it were archived',
})
const EventTypes = z
  .array(EventType)
  .transform(types => EVENT_TYPES.filter(type => types.includes(type)))
  .nullish()
  .meta({ description: 'The types of conversions that count; empty for all' })

export const CapDraft = z
  .object({
    object: CappedObject,
    object_id: Id,
    metric: CapMetric,
    event_types: EventTypes,
    limit: Limit,
    period: CapPeriod,
    timezone: TimeZone.nullish().meta({
      description: 'Days and months begin at midnight in this zone; UTC if missing',
    }),
    then_offer_id: ThenOffer,
    when_unknown: WhenUnknown.nullish(),
    active: z.boolean().nullish(),
  })
  .superRefine(({ object, then_offer_id, metric, event_types }, context) => {
    if (metric !== 'conversions' && event_types != null && event_types.length > 0)
      context.addIssue({ code: 'custom', path: ['event_types'], message: TYPES_FAULT })
    if (object === 'campaign' && then_offer_id != null)
      context.addIssue({ code: 'custom', path: ['then_offer_id'], message: CAMPAIGN_FAULT })
  })
export type CapDraft = z.output<typeof CapDraft>

export const TYPES_FAULT = 'only conversions have types'
export const CAMPAIGN_FAULT = 'a capped campaign sends its visitors to its fallback'

const CapChanges = z
  .object({
    event_types: EventTypes,
    limit: Limit,
    period: CapPeriod,
    timezone: TimeZone,
    then_offer_id: ThenOffer,
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
    object_id: Id.optional().meta({ description: 'Only caps of this offer or campaign' }),
  }),
  reply: Page(Cap),
})

export const createCap = endpoint({
  route: 'POST /api/caps',
  access: { session: 'admin' },
  history: 'cap',
  summary: 'Cap an offer or a campaign',
  description:
    'Once the limit is reached, new visitors of an offer go to then_offer_id, or, without it, where they go if the offer is archived. New visitors of a campaign go where they go while it is paused. No conversion is refused: ' +
    'those of earlier clicks still count. A daily or monthly cap on conversions also counts what the period had before the cap was created.',
  body: CapDraft,
  reply: Cap,
  status: 201,
  refuses: ['invalid_request', 'cap_cycle'],
})

export const updateCap = endpoint({
  route: 'PATCH /api/caps/:id',
  access: { session: 'admin' },
  history: 'cap',
  summary: 'Change a cap',
  description:
    'Fields that are not sent do not change. The count is made again; another limit closes or opens the cap at once.',
  body: CapChanges,
  reply: Cap,
  refuses: ['object_not_found', 'invalid_request', 'cap_cycle'],
})

export const deleteCap = endpoint({
  route: 'DELETE /api/caps/:id',
  access: { session: 'admin' },
  history: 'cap',
  summary: 'Delete a cap',
  reply: Done,
  refuses: ['object_not_found'],
})

export const reopenCap = endpoint({
  route: 'POST /api/caps/:id/reopen',
  access: { session: 'admin' },
  history: 'cap',
  summary: 'Open a reached cap again, until its period ends',
  description:
    'It keeps counting above its limit. The cap shows who opened it and when. Nothing changes if it is open.',
  reply: Cap,
  refuses: ['object_not_found'],
})
