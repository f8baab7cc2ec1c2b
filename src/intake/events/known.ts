/** What a batch knows of an organization when it decides, and what changes while it does: `read-known.ts` reads it. */
import type { EventType } from '../../contract/event-types.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import type { Conversions } from '../counters/conversions.ts'
import type { RatesRead } from '../../money/rates/rate-of-day.ts'
import type { Booked } from './booked.ts'
import type { CapRow } from './caps.ts'
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
  /** Whose it is, of those that may be told of again. */
  person_id?: string
  /** Whether it was put on hold when it was recorded. */
  is_withheld?: boolean
}

/** How many conversions are approved, pending and rejected, and what is on hold in millionths. */
export type Standings = {
  readonly approved: number
  readonly pending: number
  readonly rejected: number
  readonly held: bigint
}

/** A click with the offer it earns for and the ad account its campaign is bound to. Revenue in millionths. */
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
  /** False: its cost is not counted yet, because it was not tracked, or a process of the version before let it count. */
  cost_counts: boolean | null
  /** How its conversions stand; null: none of them was counted so. */
  standing: Standings | null
  /** How its conversions stand, by type; all of them, also those that pay nothing. */
  conversions: Conversions
  offer_payout: string | null
  /** What the offer's payout is in; null is US dollars. */
  payout_currency: string | null
  payout_types: string[] | null
  ad_account_id: string | null
  /** The traffic source its campaign has now. */
  traffic_source_id: string | null
}

/** An event's last revision; none: `seq` 0. Amounts in millionths, of what is approved what counts, of what is pending what is held. */
export type Present = {
  readonly seq: number
  readonly status: EventStatus
  readonly amount: bigint
  readonly was_held: boolean
}

export type Person = { id: string; telegram_user_id: string | null; is_charged: boolean }
export type Balance = { balance: string; price_per_person: string; hold_when_empty: boolean }

export type Known = {
  balance: Balance
  events: Map<string, StoredEvent>
  /** Events by the identity of a request that became another one. */
  aliased: Map<string, StoredEvent>
  /** The events of each click that is judged, by its id. */
  ofClick: Map<string, StoredEvent[]>
  /** How revised events stand, of those that were looked up; the others stand as they were recorded. */
  revised: Map<string, Present>
  clicks: Map<string, KnownClick>
  /** By person key. */
  people: Map<string, Person>
  peopleById: Map<string, Person>
  rules: Rule[]
  accounts: Account[]
  /** The ad accounts that an event was told to, of the events of clicks that are judged. */
  told: Map<string, string[]>
  caps: CapRow[]
  /** Ids of live bots, by id and by name. */
  bots: Map<string, string>
  /** The rates that offers' payouts and what is said in other currencies need. */
  rateOf: RatesRead
  /** The rates that events were booked by, of those of which something is said in another currency. */
  booked: Booked
}

/** The id of the start a bot_start stands for, where its bot can be named: by the request, else by its click. */
export function startOf(item: Conversion, known: Pick<Known, 'bots' | 'clicks'>): string | undefined {
  const bot_id = item.type === 'bot_start' ? botOf(item, known) : undefined
  if (bot_id === undefined || bot_id === 'unknown' || item.telegram_user_id === undefined) return undefined
  return startId(item.org_id, bot_id, item.telegram_user_id)
}

/** The bot of a start or of Sluice's own event: undefined where nobody names one, `'unknown'` where no live bot here is called so. */
export function botOf(item: Conversion, { bots, clicks }: Pick<Known, 'bots' | 'clicks'>): string | undefined {
  if (item.source === 'service') return item.bot !== undefined && 'id' in item.bot ? item.bot.id : undefined
  if (item.type !== 'bot_start') return undefined
  if (item.bot !== undefined) return bots.get('id' in item.bot ? item.bot.id : item.bot.username) ?? 'unknown'
  const behind = clicks.get(item.click_id)?.bot_id
  return behind === undefined || behind === null ? undefined : bots.get(behind)
}
