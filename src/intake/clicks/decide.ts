// Where a visit goes. Everything a campaign leads to is compiled once per version, at its first visit.

import { toWireId } from '../../contract/ids.ts'
import { hashOf } from '../../ground/stable-hash.ts'
import { intoTelegram } from '../../traffic/addresses/into-telegram.ts'
import { compileTemplate, type Template } from '../../traffic/addresses/macros.ts'
import { templateOf } from '../../traffic/addresses/templates.ts'
import { type ChannelDestination, isFollowing, type TelegramDestination } from '../../traffic/campaigns/destination.ts'
import { namesOf } from '../../traffic/campaigns/link.ts'
import { isClosed, type Live, offerTaking } from '../../traffic/caps/closed.ts'
import type { LiveCampaign, LiveFunnel, LiveOffer, LiveTrafficSource } from '../../traffic/campaigns/live.ts'
import { type CompiledFunnel, choose, compileFunnel } from '../../traffic/funnels/choose.ts'
import { costReader } from './cost.ts'
import type { Course, Guest, Traffic } from './course.ts'
import { parameterReader } from './parameters.ts'
import { openChannel, openOfferOf, throughFlow } from './through-flow.ts'

const NOWHERE = { offer_id: null, taken_by: null, landing_id: null, bot_id: null, path: null, is_paused: false }

const compiled = new WeakMap<LiveCampaign, Traffic>()
const funnels = new WeakMap<LiveFunnel, CompiledFunnel>()

/** What a campaign does with its visitors, compiled once for each version of it and of its traffic source in memory. */
export function trafficOf(campaign: LiveCampaign, live: Pick<Live, 'object'>): Traffic {
  const known = compiled.get(campaign)
  const { destination, fallback_url, traffic_source_id } = campaign
  const source = traffic_source_id === null ? undefined : live.object('traffic_source', traffic_source_id)
  if (known !== undefined && known.source === source) return known
  const traffic = {
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
  compiled.set(campaign, traffic)
  return traffic
}

const CONSTANT = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/

/** A plain word in the address is a constant: it comes as it stands there, and is kept. */
export const isConstant = (macro: string): boolean => CONSTANT.test(macro)

/** What a source replaces in the address, by our fields. */
function macrosOf(source: LiveTrafficSource | undefined): ReadonlyMap<string, string> | undefined {
  const macros = source?.parameters.flatMap(({ field, macro }): [string, string][] =>
    macro === null || isConstant(macro) ? [] : [[field, macro]],
  )
  return macros && new Map(macros)
}

/** Decides for one visit. What cannot take visitors sends them to the campaign's fallback. */
export function decide(traffic: Traffic, live: Live, guest: Guest): Course {
  const { campaign, fallback } = traffic
  if (campaign.is_deleted || campaign.organization.is_deleted)
    return { ...NOWHERE, template: fallback, is_click: false }
  if (campaign.status !== 'active' || isClosed(live, campaign.id, guest.ms))
    return { ...NOWHERE, template: fallback, is_click: true, is_paused: true }
  const { destination } = campaign
  if (destination.type === 'redirect') {
    const { telegram, channel } = destination
    if (telegram !== undefined) return toTelegram(traffic, telegram, live) ?? unled(traffic)
    if (channel !== undefined) return toChannel(traffic, channel, live) ?? unled(traffic)
    return redirected(traffic, live, guest.ms)
  }
  const course =
    destination.type === 'funnel'
      ? throughFunnel(traffic, live.object('funnel', destination.funnel_id), live, guest)
      : throughFlow(traffic, live.object('click_flow', destination.click_flow_id), live, guest)
  return course ?? unled(traffic)
}

/** To the fallback, for no offer. */
export const unled = ({ fallback }: Traffic): Course => ({ ...NOWHERE, template: fallback, is_click: true })

/**
 * An offer that is archived or deleted gets no new clicks, nor one that is full: its visitors go to the offer its cap leads to, else to the
 * fallback, and only where there is none they go on, without the offer, because someone has paid for them.
 */
function redirected(traffic: Traffic, live: Live, ms: number): Course {
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

/** Into Telegram, bound to the bot. The visitors are the bot's, whatever becomes of the offer that they earn for. */
function toTelegram({ campaign }: Traffic, place: TelegramDestination, live: Pick<Live, 'object'>): Course | undefined {
  const bot = live.object('bot', place.bot_id)
  if (bot === undefined || bot.is_deleted) return undefined
  const { template, app_link } = intoTelegram(place, bot)
  return {
    ...NOWHERE,
    template,
    app_link,
    is_click: true,
    offer_id: openOfferOf(campaign.offer_id, live),
    bot_id: bot.id,
  }
}

/** Into a channel. One that is gone takes nobody, unless there is nowhere else. */
function toChannel(
  { campaign, fallback }: Traffic,
  place: ChannelDestination,
  live: Pick<Live, 'object'>,
): Course | undefined {
  const channel = openChannel(place.channel_id, fallback, live)
  if (channel === undefined) return undefined
  const offer_id = openOfferOf(campaign.offer_id, live)
  return { ...NOWHERE, template: fallback, into: { channel, place }, is_click: true, offer_id }
}

/** The offer's address as it is now, where the campaign follows it; else its own. */
function addressOf({ is_following, redirect }: Traffic, offer: LiveOffer | undefined): Template | undefined {
  return is_following && offer !== undefined ? (templateOf(offer) ?? redirect) : redirect
}

/** Landing and offer of a funnel, both chosen at the click; straight to the offer where no landing is open. */
function throughFunnel(
  { fallback }: Traffic,
  funnel: LiveFunnel | undefined,
  live: Live,
  guest: Guest,
): Course | undefined {
  if (funnel === undefined || funnel.is_deleted) return undefined
  const { landings, offers } = funnelOf(funnel)
  const visitor = hashOf(guest.visitor_key)
  const offer =
    choose(offers, visitor, 'offer', live, ({ id }) => !isClosed(live, id, guest.ms)) ??
    offerTaking(
      live,
      choose(offers, visitor, 'offer', live, full => offerTaking(live, full, guest.ms) !== undefined),
      guest.ms,
    )
  // A landing whose offers are all closed leads nowhere; with nothing else to show it is better than no page.
  if (offer === undefined && offers.length > 0 && fallback !== undefined) return undefined
  const landing = choose(landings, visitor, 'landing', live)
  const shown = landing ?? offer
  if (shown === undefined) return undefined
  const [offer_id, landing_id] = [offer?.id ?? null, landing?.id ?? null]
  return { ...NOWHERE, template: templateOf(shown), is_click: true, offer_id, landing_id, taken_by: offer_id }
}

function funnelOf(funnel: LiveFunnel): CompiledFunnel {
  let known = funnels.get(funnel)
  if (known === undefined) {
    known = compileFunnel(funnel)
    funnels.set(funnel, known)
  }
  return known
}
