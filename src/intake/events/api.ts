/** Conversions over HTTP: recording one, for servers and the dashboard, and the conversion log. */
import { z } from 'zod'
import { OriginalMoney } from '../../contract/currencies.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Amount, Id, Instant, isFaithful, MAX_PAYOUT, Money, Page } from '../../contract/fields.ts'
import { listFile } from '../../contract/list-files.ts'
import { paging } from '../../contract/paging.ts'
import { sought } from '../../contract/sought.ts'
import { Warnings } from '../../contract/warnings.ts'
import { NamedCampaigns } from '../../traffic/campaigns/api.ts'
import { EVENT_STATUSES } from '../../contract/revisions.ts'

const NONCE_LENGTH = 128

/** 1 to 128 code points, stored as sent: nothing is trimmed or folded, so similar nonces stay different. */
export const Nonce = z
  .string({ error: 'must be a text' })
  .refine(text => text !== '' && Array.from(text).length <= NONCE_LENGTH && isFaithful(text), {
    message: `must be a text of 1 to ${NONCE_LENGTH} characters without U+0000`,
  })
  .meta({ description: 'Tells two conversions of one type on one click apart', minLength: 1, maxLength: NONCE_LENGTH })

/** Not `z.record`, which would copy tens of thousands of keys on the way in and out and block other requests. */
const Payload: z.ZodType<Record<string, unknown>, Record<string, unknown>> = z
  .any()
  .refine(sent => typeof sent === 'object' && sent !== null && !Array.isArray(sent), { error: 'must be an object' })
  .meta({ type: 'object', additionalProperties: {} })

/** The request that reports a conversion, in the contract's spelling. Null counts as not sent, unknown fields are ignored. */
export const ConversionDraft = z.object({
  clickId: z
    .string({ error: 'must be the click id Sluice issued, a text' })
    .min(1, { error: 'must be the click id Sluice issued, a text' })
    .meta({ description: 'The value of {click_id}', examples: ['01h455vb4pex5vsknk084sn02q'] }),
  type: EventType,
  payout: Amount(MAX_PAYOUT)
    .nullish()
    .meta({ description: `US dollars, 0 to ${MAX_PAYOUT.toLocaleString('en-US')}; left out: the offer's payout` }),
  nonce: Nonce.nullish(),
  payload: Payload.nullish().meta({
    description:
      'Stored with the event. Sluice reads telegram_user_id, bot_username and bot_id from it, and removes custom_data.',
  }),
})
export type ConversionDraft = z.output<typeof ConversionDraft>

const ConversionEvent = z
  .object({
    id: Id,
    created_at: Instant,
    click_id: Id,
    campaign_id: Id.nullable(),
    offer_id: Id.nullable(),
    type: EventType,
    payout: Money.nullable(),
    nonce: z.string().nullable(),
    payload: Payload.nullable(),
  })
  .meta({ id: 'ConversionEvent' })

export const recordConversion = endpoint({
  route: 'POST /api/events',
  access: { session: 'admin', key: 'events' },
  history: { none: 'intake' },
  summary: 'Record a conversion',
  description:
    'Charges the balance once per person, forwards to the ad account, fires postbacks. Sending the same clickId, type and nonce again ' +
    'answers the stored event with Idempotent-Replayed: true and does nothing else. Idempotency-Key is used if the nonce is missing.',
  body: ConversionDraft,
  reply: ConversionEvent.extend({ warnings: Warnings.optional() }).meta({ id: 'RecordedConversion' }),
  status: 201,
  quota: 'events',
  once: true,
  headers: ['Idempotent-Replayed'],
  refuses: [
    'click_not_found',
    'bot_not_found',
    'campaign_scope_forbidden',
    'bot_start_missing_telegram_user_id',
    'rate_unknown',
    'service_unavailable',
  ],
})

export const EventStatus = z.enum(EVENT_STATUSES).meta({
  description:
    'Only approved counts as revenue, with its amount. pending is on hold; the others count as nothing. What a browser reported counts nowhere until it is approved',
})

/** A row of the conversion log: the event, where it came from, and whether its click is a test. */
export const LoggedEvent = ConversionEvent.extend({
  source: z
    .enum(['api', 'dashboard', 'service', 'network', 'browser'])
    .meta({ description: 'service: recorded by Sluice itself. browser: a page reported it' }),
  claimed: z
    .object({ value: Money, currency: z.string().nullable() })
    .nullable()
    .meta({ description: 'What a browser said that it is worth. It is never booked' }),
  test: z.boolean().meta({ description: 'On a test click: not billed and not delivered' }),
  status: EventStatus,
  amount: Money.meta({ description: 'US dollars that count as revenue; with pending the amount on hold, else 0' }),
  revisions: z.number().int().meta({ description: 'Number of status changes; 0: as recorded' }),
  original: OriginalMoney.nullable().meta({
    description: 'The payout in its own currency; null: it was in US dollars',
  }),
}).meta({ id: 'LoggedEvent' })
export type LoggedEvent = z.output<typeof LoggedEvent>

const filters = {
  ...sought,
  q: sought.q.meta({
    description:
      'Exactly the id of a conversion or click (in any case and form), a transaction id (nonce), the click id of the traffic source (ref_id) or a Telegram user id',
  }),
  click_id: Id.optional(),
  campaign_id: Id.optional(),
  status: EventStatus.optional().meta({ description: 'Current status; a conversion without revisions is approved' }),
  date_from: Instant.optional().meta({ description: 'Recorded at this time or later' }),
  date_to: Instant.optional().meta({ description: 'Recorded before this time' }),
}

export const listEvents = endpoint({
  route: 'GET /api/events',
  access: { session: 'member' },
  summary: 'List conversions, newest first',
  query: z.object({ ...paging, ...filters }),
  reply: Page(LoggedEvent).extend({ campaigns: NamedCampaigns }),
})

export const exportEvents = endpoint({
  ...listFile,
  route: 'GET /api/events/csv',
  summary: 'Save the listed conversions as a CSV file',
  query: z.object(filters),
})
