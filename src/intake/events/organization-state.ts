/** The state of an organization that a batch decides by and changes; `read-state.ts` reads it. */
import type { EventType } from '../../contract/event-types.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import type { StatusCountsByType } from '../counters/conversions.ts'
import type { RatesRead } from '../../money/rates/rate-of-day.ts'
import type { BookedRates } from './booked-rates.ts'
import type { ConversionCap } from './caps.ts'
import { startId } from './identity.ts'
import type { Conversion } from './items.ts'
import type { Account, Rule } from './targets.ts'

/** An event as it is stored and answered. */
export type StoredEvent = {
  id: string
  created_at: string
  click_id: string
  campaign_id: string | null
  offer_id: string | null
  type: EventType
  payout: string | null
  payout_is_explicit: boolean
  nonce: string | null
  payload: Readonly<Record<string, unknown>> | null
  /** Who reported it first. */
  source: Conversion['source']
  /** For a browser's report: since when it counts, `UNCONFIRMED` for never. Null for any other. */
  confirmed_at: string | null
  /** The person; read only for events of clicks with a revision or a network's conversion. */
  person_id?: string
  /** Whether it was put on hold when it was recorded. */
  is_withheld?: boolean
}

/** The database's text for a time that never comes. */
export const UNCONFIRMED = 'infinity'

/** Whether a browser reported the conversion and nobody has confirmed it: then it is outside the books. */
export const isUnconfirmed = ({ confirmed_at }: Pick<StoredEvent, 'confirmed_at'>): boolean =>
  confirmed_at === UNCONFIRMED

/** Whether a browser's report counted at once, and no sender who can be trusted has reported it since. */
export const awaitsPayout = ({
  source,
  confirmed_at,
  payout_is_explicit,
}: Pick<StoredEvent, 'source' | 'confirmed_at' | 'payout_is_explicit'>): boolean =>
  source === 'browser' && confirmed_at === null && !payout_is_explicit

/** How many conversions are approved, pending and rejected, and the amount on hold in millionths. */
export type StandingCounts = {
  readonly approved: number
  readonly pending: number
  readonly rejected: number
  readonly held: bigint
}

/** A click with its offer and its campaign's ad account. Revenue in millionths. */
export type KnownClick = {
  id: string
  campaign_id: string | null
  offer_id: string | null
  stages: number
  tracked: boolean
  test: boolean
  revenue: bigint | null
  geo: string | null
  sub1: string | null
  visitor_id: string | null
  bot_id: string | null
  /** The ad platform whose click id it carries. */
  platform: string | null
  suppressed_delivery: boolean
  cost: string | null
  /** False: its cost is not counted yet, because the click was not tracked, or a process of the previous version tracked it. */
  cost_counts: boolean | null
  /** Its conversions by status; null: none was counted by status. */
  standing: StandingCounts | null
  /** All its conversions by type and status, also those that pay nothing. */
  conversions: StatusCountsByType
  offer_payout: string | null
  /** The currency of the offer's payout; null is US dollars. */
  payout_currency: string | null
  payout_types: string[] | null
  ad_account_id: string | null
  /** The traffic source its campaign has now. */
  traffic_source_id: string | null
}

/** The current status of an event, by its last revision (`seq` 0: it has none). `amount` is in millionths: what counts if approved, what is held if pending. */
export type EventStanding = {
  readonly seq: number
  readonly status: EventStatus
  readonly amount: bigint
  readonly was_held: boolean
}

export type ConvertingPerson = { id: string; telegram_user_id: string | null; is_charged: boolean }
export type Balance = { balance: string; price_per_person: string; hold_when_empty: boolean }

export type OrganizationState = {
  balance: Balance
  events: Map<string, StoredEvent>
  /** Events by the identity of a request that was merged into another event. */
  aliased: Map<string, StoredEvent>
  /** By click id, the events of each click whose conversions may be revised. */
  ofClick: Map<string, StoredEvent[]>
  /** The standing of revised events, of those that were read; the others stand as recorded. */
  revised: Map<string, EventStanding>
  clicks: Map<string, KnownClick>
  /** By person key. */
  people: Map<string, ConvertingPerson>
  peopleById: Map<string, ConvertingPerson>
  rules: Rule[]
  accounts: Account[]
  /** The ad accounts each event was delivered to, for the events in `ofClick`. */
  deliveredTo: Map<string, string[]>
  caps: ConversionCap[]
  /** Ids of live bots, by id and by name. */
  bots: Map<string, string>
  /** The rates of days, for offers' payouts and for revisions in other currencies. */
  rateOf: RatesRead
  /** The rates that events were booked by, for events that are revised in another currency. */
  booked: BookedRates
}

/** The event id of a bot_start; undefined if neither the request nor its click names a bot. */
export function startOf(item: Conversion, known: Pick<OrganizationState, 'bots' | 'clicks'>): string | undefined {
  const bot_id = item.type === 'bot_start' ? botOf(item, known) : undefined
  if (bot_id === undefined || bot_id === 'unknown' || item.telegram_user_id === undefined) return undefined
  return startId(item.org_id, bot_id, item.telegram_user_id)
}

/** The bot of a start or of Sluice's own event: undefined if none is named, `'unknown'` if the organization has no such bot. */
export function botOf(
  item: Conversion,
  { bots, clicks }: Pick<OrganizationState, 'bots' | 'clicks'>,
): string | undefined {
  if (item.source === 'service') return item.bot !== undefined && 'id' in item.bot ? item.bot.id : undefined
  if (item.type !== 'bot_start') return undefined
  if (item.bot !== undefined) return bots.get('id' in item.bot ? item.bot.id : item.bot.username) ?? 'unknown'
  const behind = clicks.get(item.click_id)?.bot_id
  return behind === undefined || behind === null ? undefined : bots.get(behind)
}
