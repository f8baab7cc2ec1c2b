/** The search parameters of lists: filters and the position in the list. */
import { z } from 'zod'
import { Diagnosis } from '../../contract/diagnoses.ts'
import { EventType } from '../../contract/event-types.ts'
import { HISTORY_KINDS } from '../../contract/history.ts'
import { EVENT_STATUSES } from '../../contract/revisions.ts'
import { Country } from '../../contract/telegram-audience.ts'
import { RefusedState, RefusedSurface } from '../../intake/refused-events/api.ts'
import { LedgerEntry } from '../../money/billing/api.ts'
import { DeliveryFailure, DeliveryState } from '../../outgoing/deliveries/api.ts'
import { SEND_STATES } from '../../telegram/broadcasts/api.ts'
import { KINDS as PAYMENT_KINDS } from '../../telegram/payments/api.ts'
import { SOURCES as SUBSCRIBER_SOURCES, SUBSCRIBER_STATES } from '../../telegram/subscribers/api.ts'
import { CAMPAIGN_STATUSES } from '../../traffic/campaigns/api.ts'
import { FlowStatus } from '../../traffic/click-flows/api.ts'
import { DOMAIN_STATUSES } from '../../traffic/domains/api.ts'
import { LandingStatus } from '../../traffic/landings/api.ts'
import { OfferStatus } from '../../traffic/offers/api.ts'
import { FiguresSearch, WindowSearch } from './figures/search.ts'

const text = z.string().optional().catch(undefined)

/** A text that may be digits, which the router reads as a number. */
export const typed = z.string().or(z.int().transform(String)).optional().catch(undefined)

const amount = z.string().or(z.number().transform(String)).optional().catch(undefined)
/** The filters that the logs of clicks and of conversions share. */
export const SoughtSearch = z.object({
  network: text,
  source: text,
  offer: text,
  landing: text,
  least: amount,
  most: amount,
})
export type SoughtSearch = z.output<typeof SoughtSearch>

const eventType = EventType.optional().catch(undefined)
const day = z.iso.date().optional().catch(undefined)

/** For the form that creates: the id of the object to copy. */
export const CloneSearch = z.object({ clone: text })

/** A list without filters. */
export const PagedSearch = z.object({ cursor: text })
/** The history: of one kind or object, by one person or key, or of one act. */
export const HistorySearch = PagedSearch.extend({
  kind: z.enum(HISTORY_KINDS).optional().catch(undefined),
  id: text,
  actor: text,
  act: text,
})
/** For one broadcast: the state of the recipients shown. */
export const BroadcastSearch = z.object({ state: z.enum(SEND_STATES).optional().catch(undefined) })
/** A list of objects that have a name and can be cloned. */
const ListSearch = PagedSearch.extend({ q: text, ...CloneSearch.shape })
export const BillingSearch = z.object({ kind: LedgerEntry.shape.kind.optional().catch(undefined), cursor: text })
/** A list with figures of the chosen days. */
export const FunnelsSearch = ListSearch.extend({ ...FiguresSearch.shape, tag: text })
export const OffersSearch = FunnelsSearch.extend({ status: OfferStatus.optional().catch(undefined) })
export const LandingsSearch = FunnelsSearch.extend({ status: LandingStatus.optional().catch(undefined) })
export const ClickFlowsSearch = FunnelsSearch.extend({ status: FlowStatus.optional().catch(undefined) })
export const ConversionsSearch = SoughtSearch.extend({
  campaign: text,
  type: eventType,
  status: z.enum(EVENT_STATUSES).optional().catch(undefined),
  q: typed,
  /** A click id, in old addresses. */
  click: text,
  from: day,
  to: day,
  cursor: text,
})
export const SubscribersSearch = z.object({
  bot: text,
  campaign: text,
  state: z.enum(SUBSCRIBER_STATES).optional().catch(undefined),
  source: z.enum(SUBSCRIBER_SOURCES).optional().catch(undefined),
  event: eventType,
  /** The conversion they do not have. */
  lacks: eventType,
  country: Country.optional().catch(undefined),
  sub1: typed,
  language: text,
  /** The channel they are in, and the one they are not in. */
  channel: text,
  outside: text,
  q: text,
  from: day,
  to: day,
  cursor: text,
})
export type SubscribersSearch = z.output<typeof SubscribersSearch>
export const PaymentsSearch = z.object({
  bot: text,
  kind: z.enum(PAYMENT_KINDS).optional().catch(undefined),
  refunded: z.enum(['yes', 'no']).optional().catch(undefined),
  from: day,
  to: day,
  cursor: text,
})
export const PostbacksSearch = z.object({
  campaign: text,
  source: text,
  type: eventType,
  cursor: text,
  ...CloneSearch.shape,
})
export const DeliveriesSearch = z.object({
  campaign: text,
  state: DeliveryState.optional().catch(undefined),
  failure: DeliveryFailure.optional().catch(undefined),
  from: day,
  to: day,
  target: text,
  event: text,
  cursor: text,
})
export const ReconcileSearch = z.object({ file: text, heap: text, cursor: text })
export const RefusedSearch = z.object({
  q: text,
  diagnosis: Diagnosis.optional().catch(undefined),
  surface: RefusedSurface.optional().catch(undefined),
  state: RefusedState.optional().catch(undefined),
  network: text,
  cursor: text,
})
export const CampaignsSearch = FiguresSearch.extend({
  q: text,
  status: z.enum(CAMPAIGN_STATUSES).optional().catch(undefined),
  tag: text,
  source: text,
  cursor: text,
})
export const DomainsSearch = PagedSearch.extend({
  q: text,
  status: z.enum(DOMAIN_STATUSES).optional().catch(undefined),
})
export const AdSpendSearch = WindowSearch.extend({ campaign: text, cursor: text })
export type DeliveriesSearch = z.output<typeof DeliveriesSearch>
