/** What every platform's adapter is given and answers: a conversion, a body to send or a reason not to, and what an answer means. */
import type { EventType } from '../../contract/event-types.ts'
import { fieldsOf } from '../../contract/json.ts'
import type { CallAnswer, Judgement } from '../deliveries/lane.ts'
import type { EventMap } from './api.ts'

/** A conversion with the data of its click that an adapter may report. Nothing in it is hashed yet. */
export type Conversion = {
  /** The same for every attempt and every account. Platforms detect duplicates by it. */
  readonly event_id: string
  readonly type: EventType
  readonly happened_ms: number
  /** USD, a decimal string. */
  readonly payout: string | null
  /** Identifies the person within the organization only. */
  readonly person_id: string
  /** Whether it happened in a messenger rather than in a browser. */
  readonly is_chat: boolean
  /** The page it happened on, or null if only a Telegram address is known. */
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
  /** A public IP address, or null if none is stored. */
  readonly ip: string | null
}

/** An event type's entry in the event map: the platform's name for it. */
export type MappedEvent = NonNullable<EventMap[EventType]>

/** The event in the platform's format, or why it is not sent. */
export type RenderedEvent = { readonly event: Readonly<Record<string, unknown>> } | { readonly skip: string }

/** The answer's JSON object, or undefined if it is not JSON, such as a proxy's page. */
export function jsonOf({ body }: CallAnswer): Readonly<Record<string, unknown>> | undefined {
  try {
    return fieldsOf(JSON.parse(body))
  } catch {
    return undefined
  }
}

type WithoutNulls<T> = { [K in keyof T]?: NonNullable<T[K]> }

/** The fields of an object that have a value. Platforms accept missing fields but refuse null. */
export function withoutNulls<T extends object>(fields: T): WithoutNulls<T> {
  const filled = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(filled) as WithoutNulls<T>
}

/** The judgement of an answer that says nothing about the event: no answer, a proxy's page, an overloaded server. */
export function judgeUnreadable({ status, error }: CallAnswer): Judgement {
  if (status === null) return { outcome: 'retry', reason: error ?? 'no answer' }
  return { outcome: 'retry', reason: `HTTP ${status} without a readable answer from the platform` }
}
