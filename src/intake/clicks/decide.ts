// Decides where a visit goes. Each version of a campaign is compiled once, at its first visit.

import { toWireId } from '../../contract/ids.ts'
import { stableHashOf } from '../../ground/stable-hash.ts'
import { intoTelegram } from '../../traffic/addresses/into-telegram.ts'
import { compileTemplate, type AddressTemplate } from '../../traffic/addresses/macros.ts'
import { templateOf } from '../../traffic/addresses/templates.ts'
import { type ChannelDestination, isFollowing, type TelegramDestination } from '../../traffic/campaigns/destination.ts'
import { namesOf } from '../../traffic/campaigns/link.ts'
import { isClosed, type Live, offerTaking } from '../../traffic/caps/closed.ts'
import type { LiveCampaign, LiveFunnel, LiveOffer, LiveTrafficSource } from '../../traffic/campaigns/live.ts'
import { type CompiledFunnel, choose, compileFunnel, keptOf } from '../../traffic/funnels/choose.ts'
import { winnerFor } from '../../traffic/test-ends/winner.ts'
import { costReader } from './cost.ts'
import type { Course, Guest, CompiledCampaign } from './course.ts'
import { type LeftOut, leftOutOf } from './left-out.ts'
import { parameterReader } from './parameters.ts'
import { openChannel, openOfferOf, throughFlow } from './through-flow.ts'

const NOWHERE = { offer_id: null, taken_by: null, landing_id: null, bot_id: null, path: null, is_paused: false }

const compiledCampaigns = new WeakMap<LiveCampaign, CompiledCampaign>()
const funnels = new WeakMap<LiveFunnel, CompiledFunnel>()

/** The campaign, compiled once for each version of it and of its traffic source in memory. */
export function compiledCampaign(campaign: LiveCampaign, live: Pick<Live, 'object'>): CompiledCampaign {
  const known = compiledCampaigns.get(campaign)
  const { destination, fallback_url, traffic_source_id } = campaign
  const source = traffic_source_id === null ? undefined : live.object('traffic_source', traffic_source_id)
  if (known !== undefined && known.source === source) return known
  const compiled = {
    campaign,
    wire_id: toWireId(campaign.id),
    source,
    read: parameterReader(namesOf(campaign.source, source), {
      macros: macrosOf(source),
      withCost: campaign.cost?.model === 'link',
    }),
    costOf: costReader(campaign, source),
    redirect: destination.type === 'redirect' ? compileTemplate(destination.url) : undefined,
    is_following: isFollowing(campaign),
    fallback: fallback_url === null ? undefined : compileTemplate(fallback_url),
  }
  compiledCampaigns.set(campaign, compiled)
  return compiled
}

const CONSTANT = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/

/** Whether a parameter's value in the campaign link is a plain word, which the source sends as it is. */
export const isConstant = (macro: string): boolean => CONSTANT.test(macro)

/** The macros that the source replaces in the campaign link, by our fields. */
function macrosOf(source: LiveTrafficSource | undefined): ReadonlyMap<string, string> | undefined {
  const macros = source?.parameters.flatMap(({ field, macro }): [string, string][] =>
    macro === null || isConstant(macro) ? [] : [[field, macro]],
  )
  return macros && new Map(macros)
}

/** Decides for one visit. If the destination takes no visitors, they go to the campaign's fallback. */
export function decide(traffic: CompiledCampaign, live: Live, guest: Guest): Course {
  const { campaign, fallback } = traffic
  if (campaign.is_deleted || campaign.organization.is_deleted)
    return { ...NOWHERE, template: fallback, is_click: false }
  if (campaign.status !== 'active' || isClosed(live, campaign.id, guest.ms))
    return { ...NOWHERE, template: fallback, is_click: true, is_paused: true }
  const leftOut = leftOutOf(traffic, live, guest)
  if (leftOut !== undefined) return leaveOut(traffic, live, leftOut, guest.ms)
  const { destination } = campaign
  if (destination.type === 'redirect') {
    const { telegram, channel } = destination
    if (telegram !== undefined) return toTelegram(traffic, telegram, live) ?? courseToFallback(traffic)
    if (channel !== undefined) return toChannel(traffic, channel, live) ?? courseToFallback(traffic)
    return throughRedirect(traffic, live, guest.ms)
  }
  const course =
    destination.type === 'funnel'
      ? throughFunnel(traffic, live.object('funnel', destination.funnel_id), live, guest)
      : throughFlow(traffic, live.object('click_flow', destination.click_flow_id), live, guest)
  return course ?? courseToFallback(traffic)
}

/** To the offer that the left-out value leads to, or else to the fallback. */
function leaveOut({ fallback }: CompiledCampaign, live: Live, { mark, offer_id }: LeftOut, ms: number): Course {
  const taking = offerTaking(live, offer_id === null ? undefined : live.object('offer', offer_id), ms)
  const id = taking?.id ?? null
  const template = (taking && templateOf(taking)) ?? fallback
  return { ...NOWHERE, template, is_click: true, offer_id: id, taken_by: id, left_out: mark }
}

/** The course to the campaign's fallback, for no offer. */
export const courseToFallback = ({ fallback }: CompiledCampaign): Course => ({
  ...NOWHERE,
  template: fallback,
  is_click: true,
})

/**
 * An offer that is archived, deleted or full gets no new clicks. Its visitors go to the offer its cap leads to, else to the fallback. Without
 * a fallback they go to the campaign's URL without the offer, because the visit has been paid for.
 */
function throughRedirect(traffic: CompiledCampaign, live: Live, ms: number): Course {
  const { campaign, fallback } = traffic
  const { offer_id } = campaign
  const offer = offer_id === null ? undefined : live.object('offer', offer_id)
  const taking = offerTaking(live, offer, ms)
  if (taking !== undefined && taking !== offer)
    return {
      ...NOWHERE,
      template: templateOf(taking) ?? fallback,
      is_click: true,
      offer_id: taking.id,
      taken_by: taking.id,
    }
  const isWithoutOffer = offer !== undefined && taking === undefined
  const redirect = addressOf(traffic, offer)
  const template = isWithoutOffer ? (fallback ?? redirect) : (redirect ?? fallback)
  return {
    ...NOWHERE,
    template,
    is_click: true,
    offer_id: isWithoutOffer ? null : offer_id,
    taken_by: taking?.id ?? null,
  }
}

/** Into Telegram, with the click bound to the bot. Visitors go there even if the credited offer takes no clicks. */
function toTelegram(
  { campaign }: CompiledCampaign,
  destination: TelegramDestination,
  live: Pick<Live, 'object'>,
): Course | undefined {
  const bot = live.object('bot', destination.bot_id)
  if (bot === undefined || bot.is_deleted) return undefined
  const { template, app_link } = intoTelegram(destination, bot)
  return {
    ...NOWHERE,
    template,
    app_link,
    is_click: true,
    offer_id: openOfferOf(campaign.offer_id, live),
    bot_id: bot.id,
  }
}

/** Into a channel. A channel that the bot can no longer reach takes visitors only if there is no fallback. */
function toChannel(
  { campaign, fallback }: CompiledCampaign,
  destination: ChannelDestination,
  live: Pick<Live, 'object'>,
): Course | undefined {
  const channel = openChannel(destination.channel_id, fallback, live)
  if (channel === undefined) return undefined
  const offer_id = openOfferOf(campaign.offer_id, live)
  return { ...NOWHERE, template: fallback, into: { channel, place: destination }, is_click: true, offer_id }
}

/** The offer's current URL if the campaign follows it, else the campaign's own URL. */
function addressOf(
  { is_following, redirect }: CompiledCampaign,
  offer: LiveOffer | undefined,
): AddressTemplate | undefined {
  return is_following && offer !== undefined ? (templateOf(offer) ?? redirect) : redirect
}

/** To the landing and offer of a funnel, both chosen at the click. If no landing is open, straight to the offer. */
function throughFunnel(
  { fallback }: CompiledCampaign,
  funnel: LiveFunnel | undefined,
  live: Live,
  guest: Guest,
): Course | undefined {
  if (funnel === undefined || funnel.is_deleted) return undefined
  const { landings, offers } = funnelOf(funnel)
  const visitor = stableHashOf(guest.visitor_key)
  const ends = live.object('test_ends', funnel.id)?.tests
  const offer =
    keptOf(
      offers,
      winnerFor(ends, 'offers', guest.visitor_key),
      'offer',
      live,
      ({ id }) => !isClosed(live, id, guest.ms),
    ) ??
    choose(offers, visitor, 'offer', live, ({ id }) => !isClosed(live, id, guest.ms)) ??
    offerTaking(
      live,
      choose(offers, visitor, 'offer', live, full => offerTaking(live, full, guest.ms) !== undefined),
      guest.ms,
    )
  // A landing whose offers are all closed leads nowhere. It is shown only if there is no fallback.
  if (offer === undefined && offers.length > 0 && fallback !== undefined) return undefined
  const landing =
    keptOf(landings, winnerFor(ends, 'landings', guest.visitor_key), 'landing', live) ??
    choose(landings, visitor, 'landing', live)
  const firstStop = landing ?? offer
  if (firstStop === undefined) return undefined
  const [offer_id, landing_id] = [offer?.id ?? null, landing?.id ?? null]
  return { ...NOWHERE, template: templateOf(firstStop), is_click: true, offer_id, landing_id, taken_by: offer_id }
}

function funnelOf(funnel: LiveFunnel): CompiledFunnel {
  let known = funnels.get(funnel)
  if (known === undefined) {
    known = compileFunnel(funnel)
    funnels.set(funnel, known)
  }
  return known
}
