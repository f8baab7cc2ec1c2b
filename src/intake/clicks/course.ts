// A visit as it is decided: what is compiled of its campaign, who comes, and where that leads.

import type { Visit } from '../../ground/room.ts'
import type { Template } from '../../traffic/addresses/macros.ts'
import type { ChannelPlace } from '../../traffic/addresses/into-channel.ts'
import type { LiveCampaign, LiveChannel, LiveTrafficSource } from '../../traffic/campaigns/live.ts'
import type { Agent } from './agent.ts'
import type { CostReader } from './cost.ts'
import type { ParameterReader, Parameters } from './parameters.ts'
import type { Visitor } from './visitor.ts'

/** What is compiled of a campaign. */
export type Traffic = {
  readonly campaign: LiveCampaign
  readonly wire_id: string
  /** The traffic source it is compiled with. */
  readonly source: LiveTrafficSource | undefined
  readonly read: ParameterReader
  /** Undefined without a cost model. */
  readonly costOf: CostReader | undefined
  readonly redirect: Template | undefined
  /** Whether visitors go to the address of the campaign's offer, and to `redirect` only while no offer is known. */
  readonly is_following: boolean
  readonly fallback: Template | undefined
}

/** Who visits, as far as a decision depends on it. */
export type Guest = {
  /** The same for all visits of a visitor: what his landing and offer are chosen by. */
  readonly visitor_key: string
  /** Undefined for crawlers, which are given no cookie. */
  readonly visitor: Visitor | undefined
  readonly agent: Agent
  readonly geo: string | null
  readonly parameters: Parameters
  readonly headers: Visit['headers']
  /** When they were last seen in this campaign, Unix; asked only where a condition does. */
  readonly lastSeen?: () => number | null
  /** When they come, Unix. */
  readonly ms: number
}

/** The channel that a visit leads into, and how. */
export type IntoChannel = { readonly channel: LiveChannel; readonly place: ChannelPlace }

/** What a visit comes to. Without a template there is nowhere to go, unless it is a channel. */
export type Course = {
  /** Of a visit into a channel it is where it goes while there is no link. */
  readonly template: Template | undefined
  readonly into?: IntoChannel | undefined
  /** Where a page opens Telegram's app: what it tries, up to the click id. The page stands in for the redirect. */
  readonly app_link?: string | undefined
  /** Whether the visit is a click of the campaign: a deleted one's visits are not. */
  readonly is_click: boolean
  /** Whether its campaign is paused or archived: the click counts in no report. */
  readonly is_paused: boolean
  readonly offer_id: string | null
  /** The offer that takes the visitor: of the offer that a redirect of its own or a bot earns for no place is taken. */
  readonly taken_by: string | null
  readonly landing_id: string | null
  readonly bot_id: string | null
  /** Whether a click flow asks how long ago a visitor was there, so that this visit is to be remembered. */
  readonly asksLastSeen?: boolean
  /** The nodes of a click flow that led here. */
  readonly path: string | null
}
