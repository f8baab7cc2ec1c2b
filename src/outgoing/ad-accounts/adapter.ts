/** What every platform's adapter is given and answers: a conversion, a body to send or a reason not to, and what an answer means. */
import type { EventType } from '../../contract/event-types.ts'
import { fieldsOf } from '../../contract/json.ts'
import type { Answer, Judgement } from '../deliveries/lane.ts'
import type { EventMap } from './api.ts'

/** A conversion with what its click knows, as an adapter may tell it. Nothing in it is hashed yet. */
export type Conversion = {
  /** The same for every attempt and every account: what platforms tell doubles by. */
  readonly event_id: string
  readonly type: EventType
  readonly happened_ms: number
  /** USD, a decimal string. */
  readonly payout: string | null
  /** Names the person within the organization and nowhere else. */
  readonly person_id: string
  /** True for what happens in a messenger, not in a browser. */
  readonly is_chat: boolean
  /** The page it happened on, or null where nothing is known but an address of Telegram's. */
  readonly page_url: string | null
  readonly contact: { readonly email: unknown; readonly phone: unknown }
  readonly click: ConversionClick
}

type ConversionClick = {
  readonly made_ms: number
  readonly fbclid: string | null
  readonly gclid: string | null
  readonly gbraid: string | null
  readonly wbraid: string | null
  readonly ttclid: string | null
  readonly user_agent: string | null
  /** A public address, or null where none is kept. */
  readonly ip: string | null
}

/** How our type is called at the platform. */
export type Mapped = NonNullable<EventMap[EventType]>

/** The event as the platform takes it, or why it is not sent. */
export type Rendered = { readonly event: Readonly<Record<string, unknown>> } | { readonly skip: string }

/** The answer as an object, or undefined: a proxy's page is none. */
export function jsonOf({ body }: Answer): Readonly<Record<string, unknown>> | undefined {
  try {
    return fieldsOf(JSON.parse(body))
  } catch {
    return undefined
  }
}

type Filled<T> = { [K in keyof T]?: NonNullable<T[K]> }

/** Of an object, the fields that have a value: platforms refuse null where they take nothing. */
export function withoutNulls<T extends object>(fields: T): Filled<T> {
  const filled = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(filled) as Filled<T>
}

/** What an answer means that says nothing about the event itself: no answer, a proxy's page, an overloaded server. */
export function unreadable({ status, error }: Answer): Judgement {
  if (status === null) return { outcome: 'retry', reason: error ?? 'no answer' }
  return { outcome: 'retry', reason: `HTTP ${status} without an answer of the platform` }
}
