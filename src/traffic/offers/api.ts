/** The endpoints of offers: their address and payout. */
import { z } from 'zod'
import { Address, Preview, UnknownMacros } from '../../contract/address.ts'
import { DeletedFromTraffic, OnFallback } from '../../contract/consequences.ts'
import { Currency, USD } from '../../contract/currencies.ts'
import { endpoint, REPEATABLE } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Amount, Id, Instant, MAX_PAYOUT, Name, Page } from '../../contract/fields.ts'
import { pickedFile } from '../../contract/list-files.ts'
import { LABELS, noteEndpoint, TagFilter, tagsEndpoint } from '../../contract/labels.ts'
import { paging, Search } from '../../contract/paging.ts'
import { Warnings } from '../../contract/warnings.ts'

export const OFFER_STATUSES = ['active', 'archived'] as const
export const OfferStatus = z.enum(OFFER_STATUSES)
export type OfferStatus = z.infer<typeof OfferStatus>

/** How many campaigns lead to an offer: directly, through a funnel, and through a click flow. Deleted campaigns are not counted. */
const LeadingCampaigns = z.object({
  following: z.int().meta({ description: 'Campaigns that lead to the offer’s current address' }),
  own_address: z.int().meta({ description: 'Campaigns with this offer that redirect to their own address' }),
  by_funnel: z.int().meta({ description: 'Campaigns that lead to a funnel which has the offer' }),
  by_click_flow: z
    .int()
    .meta({ description: 'Campaigns that lead to a click flow whose published version has the offer' }),
})

export const Offer = z
  .object({
    id: Id,
    name: z.string(),
    url: z.string(),
    unknown_macros: UnknownMacros,
    payout: z
      .string()
      .nullable()
      .meta({ description: 'A decimal string, in `payout_currency`', examples: ['12.50'] }),
    payout_currency: z.string().nullable().meta({ description: 'null: US dollars' }),
    payout_types: z.array(EventType),
    status: OfferStatus,
    campaigns: LeadingCampaigns,
    created_at: Instant,
    ...LABELS,
    updated_at: Instant,
  })
  .meta({ id: 'Offer' })
export type Offer = z.output<typeof Offer>

const WrittenOffer = Offer.extend({ warnings: Warnings }).meta({ id: 'WrittenOffer' })

export const OfferDraft = z.object({
  name: Name(),
  url: Address,
  payout: Amount(MAX_PAYOUT).nullish().meta({ description: 'The payout of conversions that come without one' }),
  payout_currency: Currency.nullish()
    .transform(code => (code === undefined || code === USD ? null : code))
    .meta({
      description:
        'The currency of the payout; missing or null: US dollars. Other currencies are converted into dollars at the rate of the UTC day on which a conversion is received.',
    }),
  payout_types: z
    .array(EventType)
    .nullish()
    .meta({ description: 'The event types that earn the payout; empty for all' }),
})
export type OfferDraft = z.output<typeof OfferDraft>

const filters = {
  tag_id: TagFilter,
  q: Search.meta({ description: 'Part of the name' }),
  status: OfferStatus.optional(),
}

export const listOffers = endpoint({
  route: 'GET /api/offers',
  access: { session: 'member' },
  summary: 'List offers, newest first',
  query: z.object({ ...paging, ...filters }),
  reply: Page(Offer),
})

export const exportOffers = endpoint({
  ...pickedFile(filters),
  route: 'POST /api/offers/csv',
  summary: 'Save offers as a CSV file',
})

export const readOffer = endpoint({
  route: 'GET /api/offers/:id',
  access: { session: 'member' },
  summary: 'Read an offer',
  reply: Offer,
  refuses: ['object_not_found'],
})

/** How many conversions are searched for repeated payouts. It takes a third of a second if all of them belong to the offer. */
export const MOST_CONVERSIONS_READ = 50_000

export const readRepeatedPayouts = endpoint({
  route: 'GET /api/offers/:id/repeated-payouts',
  access: { session: 'member' },
  summary: 'Count the clicks that earned an offer’s payout more than once, and conversions that did not earn it',
  description:
    `Searches the conversions of the last 30 days, at most the newest ${MOST_CONVERSIONS_READ.toLocaleString('en-US')} of the workspace, for clicks on which conversions of ` +
    'two or more types earned the payout of the offer. Payouts that came with a conversion and test clicks do not count.',
  reply: z.object({
    from: Instant.meta({ description: 'Conversions recorded since then were searched' }),
    clicks: z.int(),
    together: z
      .array(z.object({ types: z.array(EventType), clicks: z.int() }))
      .meta({ description: 'The combinations of types that earned it on one click, most frequent first' }),
    unearned: z.array(z.object({ type: EventType, conversions: z.int() })).meta({
      description:
        'If no conversion of the offer had a payout: its conversions by type, most frequent first; otherwise empty',
    }),
  }),
  refuses: ['object_not_found'],
})

export const createOffer = endpoint({
  route: 'POST /api/offers',
  access: { session: 'admin', key: 'offers' },
  history: 'offer',
  summary: 'Create an offer',
  body: OfferDraft,
  reply: WrittenOffer,
  status: 201,
  ...REPEATABLE,
})

export const previewOffer = endpoint({
  route: 'POST /api/offers/preview',
  access: { session: 'member' },
  reads: true,
  summary: 'Preview an address with sample values',
  body: z.object({ url: Address }),
  reply: Preview,
  refuses: ['invalid_request'],
})

export const replaceOffer = endpoint({
  route: 'PUT /api/offers/:id',
  access: { session: 'admin', key: 'offers:update' },
  history: 'offer',
  summary: 'Replace an offer',
  description: 'Fields that are not sent are cleared; the status does not change. Equal values change nothing.',
  body: OfferDraft,
  reply: WrittenOffer,
  receipt: ['unknown_macros', 'payout', 'payout_currency', 'payout_types', 'status'],
  refuses: ['object_not_found'],
})

export const setOfferStatus = endpoint({
  route: 'PUT /api/offers/:id/status',
  access: { session: 'admin', key: 'offers:status' },
  history: 'offer',
  summary: 'Archive or unarchive an offer',
  description:
    'An archived offer gets no new clicks: its campaigns send visitors to the fallback, its funnels to their other offers. Late conversions of earlier clicks still earn its payout.',
  body: z.object({ status: OfferStatus }),
  reply: Offer.extend({ campaigns_on_fallback: OnFallback }),
  receipt: ['status'],
  refuses: ['object_not_found'],
})

export const deleteOffer = endpoint({
  route: 'DELETE /api/offers/:id',
  access: { session: 'admin', key: 'offers:delete' },
  history: 'offer',
  summary: 'Delete an offer',
  description:
    'It gets no new clicks, like an archived offer. Late conversions of earlier clicks still earn its payout.',
  reply: DeletedFromTraffic,
  refuses: ['object_not_found'],
})

export const setOfferTags = tagsEndpoint('PUT /api/offers/:id/tags', 'offer', 'an offer')
export const setOfferNote = noteEndpoint('PUT /api/offers/:id/note', 'offer', 'an offer')
