/** Offers over HTTP: what a conversion pays. */
import { z } from 'zod'
import { Address, Preview, UnknownMacros } from '../../contract/address.ts'
import { DeletedFromTraffic, OnFallback } from '../../contract/consequences.ts'
import { Currency, USD } from '../../contract/currencies.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { EVENT_TYPES, EventType } from '../../contract/event-types.ts'
import { Amount, Id, Instant, MAX_PAYOUT, Name, Page } from '../../contract/fields.ts'
import { paging, Search } from '../../contract/paging.ts'
import { Warnings } from '../../contract/warnings.ts'

export const OFFER_STATUSES = ['active', 'archived'] as const
export const OfferStatus = z.enum(OFFER_STATUSES)
export type OfferStatus = z.infer<typeof OfferStatus>

/** How many campaigns that are not deleted lead to an offer: themselves, by a funnel, and by a click flow. */
const Leading = z.object({
  following: z.int().meta({ description: 'Campaigns that lead to the offer, and so to its address as it is' }),
  own_address: z
    .int()
    .meta({ description: 'Campaigns that earn for it and redirect to an address of their own, which stays as it is' }),
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
    campaigns: Leading,
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'Offer' })
export type Offer = z.output<typeof Offer>

const WrittenOffer = Offer.extend({ warnings: Warnings }).meta({ id: 'WrittenOffer' })

export const OfferDraft = z.object({
  name: Name(),
  url: Address,
  payout: Amount(MAX_PAYOUT).nullish().meta({ description: 'What a conversion without a payout of its own inherits' }),
  payout_currency: Currency.nullish()
    .transform(code => (code === undefined || code === USD ? null : code))
    .meta({
      description:
        'What the payout is in; left out or null: US dollars. Another is turned into dollars by the rate of the UTC day a conversion is received.',
    }),
  payout_types: z
    .array(EventType)
    .nullish()
    .transform(types => EVENT_TYPES.filter(type => types?.includes(type)))
    .meta({ description: 'The event types that earn the payout; empty for all' }),
})
export type OfferDraft = z.output<typeof OfferDraft>

export const listOffers = endpoint({
  route: 'GET /api/offers',
  access: { session: 'member' },
  summary: 'List offers, newest first',
  query: z.object({
    ...paging,
    q: Search.meta({ description: 'Part of the name' }),
    status: OfferStatus.optional(),
  }),
  reply: Page(Offer),
})

export const readOffer = endpoint({
  route: 'GET /api/offers/:id',
  access: { session: 'member' },
  summary: 'Read an offer',
  reply: Offer,
  refuses: ['object_not_found'],
})

/** The conversions that are looked through for payouts earned twice: a third of a second where all of them are the offer's. */
export const MOST_LOOKED_AT = 50_000

export const readRepeatedPayouts = endpoint({
  route: 'GET /api/offers/:id/repeated-payouts',
  access: { session: 'member' },
  summary: 'Tell on how many clicks an offer earned its payout more than once, and whether it is earned at all',
  description:
    `Of the conversions of the last 30 days, at most the newest ${MOST_LOOKED_AT.toLocaleString('en-US')} of the workspace: the clicks on which conversions of ` +
    'two or more types took the payout of the offer. A payout that came with the conversion does not count, nor do test clicks.',
  reply: z.object({
    from: Instant.meta({ description: 'Conversions recorded from then on were looked at' }),
    clicks: z.int(),
    together: z
      .array(z.object({ types: z.array(EventType), clicks: z.int() }))
      .meta({ description: 'Which types earned it together on how many clicks, the most usual first' }),
    unearned: z.array(z.object({ type: EventType, conversions: z.int() })).meta({
      description:
        'Where no conversion of the offer brought any payout, its conversions by type, the most usual first; else empty',
    }),
  }),
  refuses: ['object_not_found'],
})

export const createOffer = endpoint({
  route: 'POST /api/offers',
  access: { session: 'admin', key: 'offers' },
  summary: 'Create an offer',
  body: OfferDraft,
  reply: WrittenOffer,
  status: 201,
})

export const previewOffer = endpoint({
  route: 'POST /api/offers/preview',
  access: { session: 'member' },
  summary: "Fill in an address's macros by example",
  body: z.object({ url: Address }),
  reply: Preview,
  refuses: ['invalid_request'],
})

export const replaceOffer = endpoint({
  route: 'PUT /api/offers/:id',
  access: { session: 'admin', key: 'offers:update' },
  summary: 'Replace an offer whole',
  description:
    'Fields that are not sent are cleared. The status is not part of it. What is equal already is left as it is.',
  body: OfferDraft,
  reply: WrittenOffer,
  receipt: ['unknown_macros', 'status'],
  refuses: ['object_not_found'],
})

export const setOfferStatus = endpoint({
  route: 'PUT /api/offers/:id/status',
  access: { session: 'admin', key: 'offers:status' },
  summary: 'Archive or unarchive an offer',
  description:
    'An archived offer gets no new clicks: campaigns that name it send their visitors to the fallback, funnels to the other offers. Clicks made before keep it: their late conversions still earn its payout.',
  body: z.object({ status: OfferStatus }),
  reply: Offer.extend({ campaigns_on_fallback: OnFallback }),
  receipt: ['status'],
  refuses: ['object_not_found'],
})

export const deleteOffer = endpoint({
  route: 'DELETE /api/offers/:id',
  access: { session: 'admin', key: 'offers:delete' },
  summary: 'Delete an offer',
  description:
    'Gets no new clicks, like an archived one. Clicks made before keep it: their late conversions still earn its payout.',
  reply: DeletedFromTraffic,
  refuses: ['object_not_found'],
})
