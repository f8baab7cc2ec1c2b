/** The interface of ad platforms: one adapter object per platform renders conversions, composes calls and judges answers. */
import type { AdId } from '../../contract/ad-platforms.ts'
import type { EventType } from '../../contract/event-types.ts'
import { fieldsOf } from '../../contract/json.ts'
import type { Config } from '../../ground/config.ts'
import type { CallAnswer, FetchAnswer, Judgement, Outgoing } from '../deliveries/lane.ts'
import type { EventMap } from './api.ts'

/** A platform. `Settings` are the settings of its accounts. */
export type Adapter<Settings> = {
  /** The oldest conversion it accepts, in days. */
  readonly max_age_days: number
  /** Whether it accepts another value for a conversion that was reported before. */
  readonly acceptsCorrections: boolean
  /** Whether a test event needs a test code to stay out of the advertiser's figures. */
  readonly needsTestCode: boolean
  /** The event in the platform's format, or why it is not sent. `now` in Unix ms. */
  render(settings: Settings, mapped: MappedEvent, conversion: ConversionToSend, now: number): RenderedEvent
  /** The call that sends an event, with the judgement of its answer. */
  call(sending: EventToSend<Settings>): Outgoing
}

export type EventToSend<Settings> = {
  readonly settings: Settings
  readonly mapped: MappedEvent
  readonly event: Readonly<Record<string, unknown>>
  /** Decrypted. */
  readonly credential: string
  readonly access: PlatformAccess
  /** Set for a test event. */
  readonly test: TestCode | undefined
}

/** How the platforms are reached. */
export type PlatformAccess = {
  readonly config: Config
  readonly tokens: AccessTokens
}

/** Short-lived access tokens for the keys of service accounts. */
export type AccessTokens = {
  /** A token for the key (the JSON key file), or the judgement of a delivery without one. */
  tokenFor(key: string, fetch: FetchAnswer): Promise<string | Judgement>
  /** Drops a token the platform has refused; the next call gets a new one. */
  forget(key: string): void
}

/** A test event, with the code under which Meta and TikTok show it. */
export type TestCode = { readonly test_event_code?: string | undefined }

/** A conversion with the data of its click that an adapter may report. Nothing in it is hashed yet. */
export type ConversionToSend = {
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

type ConversionClick = { readonly [id in AdId]: string | null } & {
  readonly made_ms: number
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
