/** What waits in an organization's queue. */
import type { EventType } from '../../contract/event-types.ts'
import type { Key } from '../../ground/room.ts'

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
  /** Decimal string, or undefined where none was sent. */
  readonly payout: string | undefined
  readonly nonce: string | null
  readonly payload: Readonly<Record<string, unknown>> | null
  readonly telegram_user_id: string | undefined
  readonly bot: NamedBot | undefined
  readonly source: Source
  /** The campaigns the sender is restricted to, or null. */
  readonly campaigns: readonly string[] | null
  readonly key: UsedKey | undefined
  /** Performance clock, ms. */
  readonly arrived_at: number
}

/** A click that has been seen further on, without an event: a landing's beacon, a visit to the offer link. */
export type Rise = {
  readonly kind: 'rise'
  readonly org_id: number
  readonly click_id: string
  readonly rung: number
  readonly arrived_at: number
}

export type Item = Conversion | Rise
