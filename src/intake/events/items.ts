/** What waits in an organization's queue. */
import type { EventType } from '../../contract/event-types.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import type { Key } from '../../ground/room.ts'
import type { ForeignMoney } from '../../money/rates/rate-of-day.ts'
import type { Foreign } from './booked.ts'

/** The key a conversion came with, for the second look at it. */
export type UsedKey = Pick<Key, 'key_id' | 'through' | 'read_at'>

/** The bot a bot_start names, by name (lower case, without @) or by id. */
export type NamedBot = { readonly username: string } | { readonly id: string }

export type Source = 'api' | 'dashboard' | 'service' | 'network'

/** A conversion on its way in, checked as far as it can be without the database. */
export type Conversion = {
  readonly kind: 'conversion'
  readonly org_id: number
  /** The identity of the request; a bot_start that names a bot gets the start's. */
  readonly id: string
  readonly click_id: string
  readonly type: EventType
  /** The call names no event: it is of a type that the click's offer pays for, and of `type` where the offer names none. */
  readonly isByOffer?: boolean
  /** Decimal string, or undefined where none was sent. */
  readonly payout: string | undefined
  /** Nothing is earned by it: the offer's payout does not apply either. */
  readonly isUnpaid?: boolean
  /** What the payout was in another currency. */
  readonly money?: ForeignMoney | undefined
  /** When it was received, ISO 8601, where that is not now: what it earns goes by the rate of that UTC day. */
  readonly received_at?: string | undefined
  readonly nonce: string | null
  readonly payload: Readonly<Record<string, unknown>> | null
  readonly telegram_user_id: string | undefined
  readonly bot: NamedBot | undefined
  /** Of what happens once for ever on whatever click: its identity, and what one that was recorded under its click alone is found by. */
  readonly once?: { readonly id: string; readonly found_by: string }
  readonly source: Source
  /** The campaigns the sender is restricted to, or null. */
  readonly campaigns: readonly string[] | null
  readonly key: UsedKey | undefined
  /** Of a network's call: what it says of the conversion's money, where that was recorded before or is to wait. */
  readonly standing?: Standing
  /** Performance clock, ms. */
  readonly arrived_at: number
}

/** How a network's conversion stands: `pending` is recorded and held, `paid` approves what is held under the same transaction id. */
export type Standing = {
  readonly network_id: string
  readonly says: 'pending' | 'paid'
  /** Whether a paid word with another amount changes what is approved. */
  readonly amend: boolean
  /** After so many days what is held is approved; null: never by time alone. */
  readonly hold_days: number | null
  /** The network's word. */
  readonly reason: string | null
}

/** A click that has been seen further on, without an event: a landing's beacon, a visit to the offer link. */
export type Rise = {
  readonly kind: 'rise'
  readonly org_id: number
  readonly click_id: string
  readonly rung: number
  readonly arrived_at: number
}

/** The conversion a network means: by its transaction id, else the only paid one it has on the click. */
export type Meant = { readonly network_id: string; readonly nonce: string | null }

/** What is said of a conversion after it was recorded. */
export type Revision = {
  readonly kind: 'revision'
  readonly org_id: number
  readonly click_id: string
  readonly of: { readonly event_id: string } | Meant
  readonly status: EventStatus
  /** Decimal string in US dollars; undefined: what `foreign` comes to, else what it was worth before. */
  readonly amount: string | undefined
  /** The amount where it was said in another currency. */
  readonly foreign?: Foreign | undefined
  /** When it was received, ISO 8601, where that is not now. */
  readonly received_at?: string | undefined
  readonly reason: string | null
  readonly source: 'network' | 'dashboard' | 'import' | 'hold'
  readonly network_id: string | null
  /** The person who says it. */
  readonly actor: string | null
  /** Days after which what is put on hold is approved. */
  readonly hold_days?: number | null
  /** Only as the answer to the revision with this number. */
  readonly follows?: number
  readonly arrived_at: number
}

export type Item = Conversion | Rise | Revision
