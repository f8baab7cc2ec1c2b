/** The items of an organization's queue: conversions, revisions, and rises of clicks. */
import type { Act } from '../../ground/history/record.ts'
import type { EventType } from '../../contract/event-types.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import type { Key } from '../../ground/room.ts'
import type { ForeignMoney } from '../../money/rates/rate-of-day.ts'
import type { ForeignAmount } from './booked-rates.ts'

/** The API key a conversion came with, to be checked again after a wait. */
export type UsedKey = Pick<Key, 'key_id' | 'through' | 'read_at'>

/** The bot a bot_start names, by name (lower case, without @) or by id. */
export type NamedBot = { readonly username: string } | { readonly id: string }

export type ConversionSource = 'api' | 'dashboard' | 'service' | 'network' | 'browser'

/** A conversion to record, checked as far as possible without the database. */
export type Conversion = {
  readonly kind: 'conversion'
  readonly org_id: number
  /** The identity of the request. A bot_start that names a bot is stored under the start's identity. */
  readonly id: string
  readonly click_id: string
  readonly type: EventType
  /** The call names no event: it gets a type that the click's offer pays on, or `type` if the offer names none. */
  readonly isByOffer?: boolean
  /** Decimal string; undefined if none was sent. */
  readonly payout: string | undefined
  /** It earns nothing: the offer's payout does not apply either. */
  readonly isUnpaid?: boolean
  /** The payout in its own currency, if that is not dollars. */
  readonly money?: ForeignMoney | undefined
  /** When it was received, ISO 8601, if not now: its payout is converted at the rate of that UTC day. */
  readonly received_at?: string | undefined
  readonly nonce: string | null
  readonly payload: Readonly<Record<string, unknown>> | null
  readonly telegram_user_id: string | undefined
  readonly bot: NamedBot | undefined
  /** For joins, which happen once on whatever click: the identity without the click, and the key that finds events of older versions. */
  readonly once?: { readonly id: string; readonly found_by: string }
  readonly source: ConversionSource
  /** The campaigns the sender is restricted to, or null. */
  readonly campaigns: readonly string[] | null
  readonly key: UsedKey | undefined
  /** For a network's call: whether the conversion is paid or on hold, for one that is new or already recorded. */
  readonly standing?: NetworkVerdict
  /** For a browser's report: the value and currency that it named. */
  readonly claimed?: ClaimedValue | null
  /** Anybody can forge a browser's report: it stands on hold and counts nothing until it is confirmed. */
  readonly isUnconfirmed?: boolean
  /** For a conversion that a person records from a file: what the history says of the call. */
  readonly act?: Act
  /** Performance clock, ms. */
  readonly arrived_at: number
}

/** What a browser says that a conversion is worth. It is shown and never booked. */
export type ClaimedValue = { readonly value: string; readonly currency: string | null }

/** A network's verdict with a conversion: `pending` records it on hold, `paid` approves a held one with the same transaction id. */
export type NetworkVerdict = {
  readonly network_id: string
  readonly says: 'pending' | 'paid'
  /** Whether a paid status with another amount changes an approved conversion. */
  readonly amend: boolean
  /** Days after which a held conversion is approved; null: never automatically. */
  readonly hold_days: number | null
  /** The network's status, as sent. */
  readonly reason: string | null
}

/** Raises a click to a rung without an event, for a landing's beacon or a visit to the offer link. */
export type Rise = {
  readonly kind: 'rise'
  readonly org_id: number
  readonly click_id: string
  readonly rung: number
  readonly arrived_at: number
}

/** How a network refers to a conversion: by transaction id, else the only paid one it reported on the click. */
export type NetworkReference = { readonly network_id: string; readonly nonce: string | null }

/** A status change of a recorded conversion. */
export type Revision = {
  readonly kind: 'revision'
  readonly org_id: number
  readonly click_id: string
  readonly of: { readonly event_id: string } | NetworkReference
  readonly status: EventStatus
  /** Decimal string in US dollars; undefined: `foreign` converted, else the amount it had before. */
  readonly amount: string | undefined
  /** The amount in another currency. */
  readonly foreign?: ForeignAmount | undefined
  /** When it was received, ISO 8601, if not now. */
  readonly received_at?: string | undefined
  readonly reason: string | null
  readonly source: 'network' | 'dashboard' | 'import' | 'hold' | 'browser' | 'api'
  readonly network_id: string | null
  /** The person who made the change. */
  readonly actor: string | null
  /** For a change by a person: what the history says of the call. */
  readonly act?: Act
  /** With `pending`: days after which it is approved. */
  readonly hold_days?: number | null
  /** Applies only if the event's last revision has this number. */
  readonly follows?: number
  readonly arrived_at: number
}

export type Item = Conversion | Rise | Revision
