/** Traces over HTTP: a click with everything that followed it, in one read. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { eachSub, Id, Instant, Money } from '../../contract/fields.ts'
import { LADDER } from '../../contract/ladder.ts'
import { UNTRACKED_REASONS } from '../../contract/page-visits.ts'
import { LoggedEvent } from '../../intake/events/api.ts'
import { EventRevision } from '../../intake/revisions/api.ts'
import { RefusedEvent } from '../../intake/refused-events/api.ts'
import { LoggedDelivery } from '../../outgoing/deliveries/api.ts'
import { NamedCampaigns } from '../../traffic/campaigns/api.ts'

const Text = z.string().nullable()

export const TracedClick = z
  .object({
    id: Id,
    created_at: Instant,
    campaign_id: Id.nullable(),
    offer_id: Id.nullable(),
    landing_id: Id.nullable(),
    bot_id: Id.nullable(),
    path: Text.meta({ description: 'Its path through the click flow' }),
    while_paused: z.boolean().meta({ description: 'Made while the campaign was paused or archived' }),
    status: z.enum(LADDER),
    stages: z.array(z.enum(LADDER)).meta({ description: 'Every stage it has reached' }),
    tracked: z.boolean(),
    untracked_reason: z.enum(UNTRACKED_REASONS).nullable(),
    way: z.enum(['redirect', 'page']).meta({ description: 'page: the page reported the visit itself' }),
    is_left_out: z.boolean().meta({ description: 'Whether the visitor had a left-out value of the campaign' }),
    left_out: z.object({ field: z.string(), value: z.string() }).nullable(),
    page: Text.meta({ description: 'The address of the page that reported it, without query and fragment' }),
    test: z.boolean(),
    revenue: Money.nullable(),
    platform: Text,
    ad_click_ids: z.array(z.string()).meta({ description: 'The names of the ad platforms’ click ids that it has' }),
    geo: Text,
    device: Text,
    os: Text,
    browser: Text,
    ref_id: Text,
    ...eachSub(() => Text),
  })
  .meta({ id: 'TracedClick' })
export type TracedClick = z.output<typeof TracedClick>

export const TracedEvent = LoggedEvent.extend({
  history: z.array(EventRevision).meta({ description: 'Its status changes, newest first' }),
  person_id: Id,
  charge: Money.nullable().meta({ description: 'The charge for its person, on their first event' }),
}).meta({ id: 'TracedEvent' })
export type TracedEvent = z.output<typeof TracedEvent>

export const TracedPerson = z
  .object({
    id: Id,
    telegram_user_id: Text,
    created_at: Instant,
    charged_at: Instant.nullable(),
    charge: Money.nullable(),
    charged_here: z
      .boolean()
      .meta({ description: 'Whether an event of this click was charged; else one of another click was' }),
  })
  .meta({ id: 'TracedPerson' })
export type TracedPerson = z.output<typeof TracedPerson>

export type TracedDelivery = z.output<typeof LoggedDelivery>

export const Trace = z
  .object({
    click_id: Id,
    click: TracedClick.nullable().meta({
      description: 'Null where the click is not (or no longer) stored, but something names it',
    }),
    is_dropped: z.boolean().meta({ description: 'Whether clicks of its month are no longer kept' }),
    campaigns: NamedCampaigns,
    events: z.array(TracedEvent),
    persons: z.array(TracedPerson),
    deliveries: z.array(LoggedDelivery),
    refused: z.array(RefusedEvent).meta({ description: 'Refused intake that named the click' }),
    truncated: z
      .boolean()
      .meta({ description: 'Whether there are more than 100 events, 200 deliveries or 50 refusals' }),
  })
  .meta({ id: 'Trace' })
export type Trace = z.output<typeof Trace>

export const readTrace = endpoint({
  route: 'GET /api/clicks/:id/trace',
  access: { session: 'member' },
  summary: 'Read a click with everything that followed it',
  description:
    'The click, its events, persons and charges, every delivery with its attempts, and refused intake that named it.',
  reply: Trace,
  refuses: ['object_not_found'],
})
