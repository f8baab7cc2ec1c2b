// Where a visit goes. Everything a campaign leads to is compiled once per version of the campaign, at its first visit.
import type { LiveCampaign, LiveCampaigns } from '../campaigns/live.ts'
import { toWireId } from '../contract/ids.ts'
import { compileTemplate, type Template } from './macros.ts'
import { type ParameterReader, parameterReader } from './parameters.ts'

/** What is compiled of a campaign. */
export type Traffic = {
  readonly campaign: LiveCampaign
  readonly wire_id: string
  readonly read: ParameterReader
  readonly redirect: Template | undefined
  readonly fallback: Template | undefined
}

/** What a visit comes to. Without a template there is nowhere to go. */
export type Course = {
  readonly template: Template | undefined
  /** Whether the visit is a click of the campaign: a deleted one's visits are not (decision 11). */
  readonly is_click: boolean
  readonly offer_id: string | null
  readonly landing_id: string | null
  readonly bot_id: string | null
  /** The nodes of a click flow that led here. */
  readonly path: string | null
}

const compiled = new WeakMap<LiveCampaign, Traffic>()

export function trafficOf(campaign: LiveCampaign): Traffic {
  const known = compiled.get(campaign)
  if (known !== undefined) return known
  const { destination, fallback_url } = campaign
  const traffic = {
    campaign,
    wire_id: toWireId(campaign.id),
    read: parameterReader(campaign.source),
    redirect: destination.type === 'redirect' ? compileTemplate(destination.url) : undefined,
    fallback: fallback_url === null ? undefined : compileTemplate(fallback_url),
  }
  compiled.set(campaign, traffic)
  return traffic
}

/** Decides for one visit. What cannot take visitors sends them to the campaign's fallback. */
export function decide({ campaign, redirect, fallback }: Traffic, live: Pick<LiveCampaigns, 'offer'>): Course {
  const nowhere = { offer_id: null, landing_id: null, bot_id: null, path: null }
  if (campaign.is_deleted || campaign.organization.is_deleted)
    return { ...nowhere, template: fallback, is_click: false }
  if (redirect === undefined) return { ...nowhere, template: fallback, is_click: true }
  const { offer_id } = campaign
  // Campaigns that named a deleted offer go on without it.
  const isEarning = offer_id !== null && live.offer(offer_id)?.is_deleted !== true
  return { ...nowhere, template: redirect, is_click: true, offer_id: isEarning ? offer_id : null }
}
