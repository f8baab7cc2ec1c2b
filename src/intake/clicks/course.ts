// The types of a decision: the compiled campaign, the visitor, and where the visit goes.

import type { Visit } from '../../ground/room.ts'
import type { AddressTemplate } from '../../traffic/addresses/macros.ts'
import type { ChannelPlace } from '../../traffic/addresses/into-channel.ts'
import type { LiveCampaign, LiveCap, LiveChannel, LiveTrafficSource } from '../../traffic/campaigns/live.ts'
import type { Agent } from './agent.ts'
import type { CostReader } from './cost.ts'
import type { ParameterReader, Parameters } from './parameters.ts'
import type { Visitor } from './visitor.ts'

/** A campaign, with everything a visit needs compiled once. */
export type CompiledCampaign = {
  readonly campaign: LiveCampaign
  readonly wire_id: string
  /** The traffic source it is compiled with. */
  readonly source: LiveTrafficSource | undefined
  readonly read: ParameterReader
  /** Undefined without a cost model. */
  readonly costOf: CostReader | undefined
  readonly redirect: AddressTemplate | undefined
  /** Whether visitors go to the URL of the campaign's offer, and to `redirect` only while no offer is known. */
  readonly is_following: boolean
  readonly fallback: AddressTemplate | undefined
}

/** The visitor, with what a decision depends on. */
export type Guest = {
  /** The same for all visits of a visitor; their landing and offer are chosen by it. */
  readonly visitor_key: string
  /** Undefined for crawlers, which get no cookie. */
  readonly visitor: Visitor | undefined
  readonly agent: Agent
  readonly geo: string | null
  readonly parameters: Parameters
  readonly headers: Visit['headers']
  /** When they last visited this campaign, Unix milliseconds. Called only if a condition needs it. */
  readonly lastSeen?: () => number | null
  /** The time of the visit, Unix milliseconds. */
  readonly ms: number
}

/** The channel that a visit leads into, and how it opens. */
export type IntoChannel = { readonly channel: LiveChannel; readonly place: ChannelPlace }

/** Where a visit goes. Without a template it has no destination, unless it goes into a channel. */
export type Course = {
  /** The destination; for a visit into a channel, the destination if there is no invite link. */
  readonly template: AddressTemplate | undefined
  readonly into?: IntoChannel | undefined
  /** If a page opens Telegram's app instead of a redirect: the link it opens, up to the click id. */
  readonly app_link?: string | undefined
  /** Whether the visit is a click of the campaign. Visits of a deleted campaign are not. */
  readonly is_click: boolean
  /** Whether its campaign is paused or archived; then no report counts the click. */
  readonly is_paused: boolean
  readonly offer_id: string | null
  /** The offer whose cap the visitor takes a place of. Null if they go to a URL or a bot that only credits the offer. */
  readonly taken_by: string | null
  /** The caps on clicks that the visit took a place of. */
  readonly caps?: readonly LiveCap[]
  readonly landing_id: string | null
  readonly bot_id: string | null
  /** Whether the click flow has a condition on the last visit, so that this visit must be remembered. */
  readonly asksLastSeen?: boolean
  /** Set for a visitor with a left-out value: the mark that the click stores. */
  readonly left_out?: string | undefined
  /** The nodes of the click flow that the visit passed. */
  readonly path: string | null
}
