/**
 * Where a page's visit leads on to if the campaign does not choose an offer or a bot: a page has no redirect before it, so the address of the campaign,
 * or of the last node of its click flow, comes after it.
 */
import type { ChannelPlace } from '../../traffic/addresses/into-channel.ts'
import type { AddressTemplate } from '../../traffic/addresses/macros.ts'
import { compileTemplate } from '../../traffic/addresses/macros.ts'
import { templateOf } from '../../traffic/addresses/templates.ts'
import type { LiveCampaign, LiveCampaigns } from '../../traffic/campaigns/live.ts'
import { isOpen } from '../../traffic/funnels/choose.ts'
import { compiledCampaign } from '../clicks/decide.ts'
import type { FoundClick } from '../clicks/found.ts'
import { endOfPath } from '../clicks/through-flow.ts'
import { CLOSED, PAUSED_PATH } from '../clicks/while-paused.ts'
import type { Answer } from '../../ground/room.ts'

type Goal = { readonly template: AddressTemplate } | { readonly answer: Answer }

/** The goal of a page's click, by the present campaign; undefined if it leads to its offer or bot, or to the fallback. */
export function goalOfPage(
  campaign: LiveCampaign | undefined,
  click: FoundClick,
  live: Pick<LiveCampaigns, 'object'>,
): Goal | undefined {
  if (campaign === undefined || campaign.is_deleted) return undefined
  const { redirect, fallback, is_following } = compiledCampaign(campaign, live)
  const offer = click.offer_id === null ? undefined : live.object('offer', click.offer_id)
  const isLeftOut = click.left_out !== null
  if (isLeftOut && isOpen(offer)) return undefined
  if (isLeftOut || click.click_flow_node_path === PAUSED_PATH)
    return fallback === undefined ? { answer: CLOSED } : { template: fallback }
  const { destination } = campaign
  const node = endOfPath(campaign, click.click_flow_node_path, live)
  const end = node?.type === 'redirect' && node.url ? compileTemplate(node.url) : undefined
  if (end !== undefined) return { template: end }
  if (destination.type !== 'redirect' || destination.telegram !== undefined || destination.channel !== undefined)
    return undefined
  // Another offer than the campaign's took the visitor, or the campaign follows its offer.
  if (click.offer_id !== campaign.offer_id && offer !== undefined) return undefined
  if (is_following && isOpen(offer)) return { template: templateOf(offer) ?? fallback ?? redirect } as Goal
  const template = click.offer_id === campaign.offer_id ? (redirect ?? fallback) : (fallback ?? redirect)
  return template && { template }
}

/** The channel of a page's click, if its campaign leads into one and the visitor has no left-out value. */
export function channelOfPage(
  { destination }: LiveCampaign,
  { way, left_out }: Pick<FoundClick, 'way' | 'left_out'>,
): (ChannelPlace & { channel_id: string }) | undefined {
  return way === 'page' && left_out === null && destination.type === 'redirect' ? destination.channel : undefined
}
