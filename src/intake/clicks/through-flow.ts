// Sends a visit through a campaign's click flow. Each published version of a flow is compiled once.
import { LRUCache } from 'lru-cache'
import type { TelegramPlace } from '../../contract/telegram.ts'
import { intoTelegram } from '../../traffic/addresses/into-telegram.ts'
import { compileTemplate, type AddressTemplate } from '../../traffic/addresses/macros.ts'
import { templateOf } from '../../traffic/addresses/templates.ts'
import type { LiveCampaign, LiveChannel, LiveFlow } from '../../traffic/campaigns/live.ts'
import { type Live, offerTaking } from '../../traffic/caps/closed.ts'
import { type FlowNode, isInTelegram } from '../../traffic/click-flows/api.ts'
import { type FlowVisitor, languageOf } from '../../traffic/click-flows/conditions.ts'
import { type CompiledFlow, compileFlow, earnsForCampaign, type Walk, walk } from '../../traffic/click-flows/walk.ts'
import { isOpen } from '../../traffic/funnels/choose.ts'
import { isAhead, isTracked } from './agent.ts'
import type { Click } from './click.ts'
import type { Course, Guest, CompiledCampaign } from './course.ts'

/** A published version, compiled. Versions never change, so it is kept until the next version is published. */
type CompiledVersion = {
  readonly version: number
  readonly flow: CompiledFlow
  readonly asksLastSeen: boolean
  readonly redirects: ReadonlyMap<FlowNode, AddressTemplate | undefined>
}

/** More flows than this rarely have traffic at once. A flow that was evicted is compiled again. */
const MOST_KEPT = 5000

const compiledVersions = new LRUCache<string, CompiledVersion>({ max: MOST_KEPT })

function compiledVersionOf({ id, version, graph }: LiveFlow): CompiledVersion | undefined {
  if (version === null || graph === null) return undefined
  const known = compiledVersions.get(id)
  if (known?.version === version) return known
  const redirects = graph.nodes.flatMap(node =>
    node.type === 'redirect' && node.url ? [[node, compileTemplate(node.url)] as const] : [],
  )
  const asksLastSeen = graph.nodes.some(({ field, within_hours }) => field === 'uniqueness' && within_hours != null)
  const compiled = { version, flow: compileFlow(id, graph), asksLastSeen, redirects: new Map(redirects) }
  compiledVersions.set(id, compiled)
  return compiled
}

/**
 * The course of a visit through a flow. Undefined while the flow is not active: then the visitor goes to the campaign's fallback. If a landing,
 * offer, bot or channel on the path is archived or deleted, they also go to the fallback, and the path ends with `!`.
 */
export function throughFlow(
  { campaign, fallback }: CompiledCampaign,
  flow: LiveFlow | undefined,
  live: Live,
  guest: Guest,
): Course | undefined {
  if (flow === undefined || flow.is_deleted) return undefined
  const version = compiledVersionOf(flow)
  if (version === undefined) return undefined
  const { asksLastSeen } = version
  const ends = live.object('test_ends', flow.id)?.tests
  const visitor = flowVisitorOf(guest, campaign.strict_filter, asksLastSeen)
  const way = walk(version.flow, ends === undefined ? visitor : { ...visitor, ends })
  const path = `${version.version}:${way.stops.map(({ node }) => node.id).join('>')}`
  const end = endOf(way, version, fallback, live, guest.ms)
  if (end === undefined)
    return {
      ...endWithout(way, fallback, live),
      taken_by: null,
      is_click: true,
      is_paused: false,
      asksLastSeen,
      path: `${path}!`,
    }
  const offer_id = earnsForCampaign(way) ? offerOfCampaign(way, campaign.offer_id, live, guest.ms) : end.offer_id
  const isTaken = way.end?.type === 'offer' || (way.landing !== undefined && way.end === undefined)
  return { ...end, offer_id, taken_by: isTaken ? offer_id : null, is_click: true, is_paused: false, asksLastSeen, path }
}

/**
 * The campaign's offer if it takes traffic. Behind a landing, a full offer is replaced by the offer that takes its visitors; without a landing it is
 * not replaced.
 */
function offerOfCampaign({ landing }: Walk, offer_id: string | null, live: Live, ms: number): string | null {
  if (landing === undefined || offer_id === null) return openOfferOf(offer_id, live)
  return offerTaking(live, live.object('offer', offer_id), ms)?.id ?? null
}

/** The offer's id if it takes traffic, else null. */
export function openOfferOf(offer_id: string | null | undefined, live: Pick<Live, 'object'>): string | null {
  return offer_id != null && isOpen(live.object('offer', offer_id)) ? offer_id : null
}

/** The channel if visitors can be sent into it. A channel that the bot can no longer reach takes visitors only if there is no fallback. */
export function openChannel(
  id: string | null | undefined,
  fallback: AddressTemplate | undefined,
  live: Pick<Live, 'object'>,
): LiveChannel | undefined {
  const channel = id == null ? undefined : live.object('channel', id)
  if (channel === undefined || channel.is_deleted) return undefined
  return channel.state === 'gone' && fallback !== undefined ? undefined : channel
}

type End = Pick<Course, 'template' | 'app_link' | 'into' | 'offer_id' | 'landing_id' | 'bot_id'>

/** Where a visitor goes if their path is closed: to the fallback, else to the landing of the path, even if its offer is closed. */
function endWithout({ landing }: Walk, fallback: AddressTemplate | undefined, live: Live): End {
  const page = landing?.landing_id == null ? undefined : live.object('landing', landing.landing_id)
  if (fallback !== undefined || !isOpen(page))
    return { template: fallback, offer_id: null, landing_id: null, bot_id: null }
  return { template: templateOf(page), offer_id: null, landing_id: page.id, bot_id: null }
}

/** Where the path leads; undefined if something on it takes no traffic. */
function endOf(
  { landing, end }: Walk,
  { redirects }: CompiledVersion,
  fallback: AddressTemplate | undefined,
  live: Live,
  ms: number,
): End | undefined {
  const page = landing?.landing_id == null ? undefined : live.object('landing', landing.landing_id)
  if (landing !== undefined && !isOpen(page)) return undefined
  const named = end?.type === 'offer' && end.offer_id != null ? live.object('offer', end.offer_id) : undefined
  const offer = offerTaking(live, named, ms)
  if (end?.type === 'offer' && offer === undefined) return undefined
  const place = end !== undefined && isInTelegram(end) ? end : undefined
  const bot = place?.bot_id == null ? undefined : live.object('bot', place.bot_id)
  if (place !== undefined && (bot === undefined || bot.is_deleted)) return undefined
  const channel = end?.type === 'channel' ? openChannel(end.channel_id, fallback, live) : undefined
  if (end?.type === 'channel' && channel === undefined) return undefined
  const earns = offer?.id ?? (end?.type === 'redirect' ? openOfferOf(end.earns_for_offer_id, live) : null)
  const ids = { offer_id: earns, landing_id: page?.id ?? null, bot_id: bot?.id ?? null }
  if (page !== undefined) return { template: templateOf(page), ...ids }
  if (channel !== undefined && end !== undefined) return { template: fallback, into: { channel, place: end }, ...ids }
  if (place !== undefined && bot !== undefined) return { ...intoTelegram(place, bot), ...ids }
  return { template: offer !== undefined ? templateOf(offer) : end && redirects.get(end), ...ids }
}

const PLAIN_BOT: TelegramPlace = { type: 'bot' }

/**
 * The place in Telegram that a click leads to, by the present campaign or last node of its path. The click stores only its bot; if the campaign or node
 * now names another bot, the click's bot is opened without further settings.
 */
export function placeOfPath(
  campaign: LiveCampaign | undefined,
  { bot_id, click_flow_node_path }: Pick<Click, 'bot_id' | 'click_flow_node_path'>,
  live: Pick<Live, 'object'>,
): TelegramPlace {
  const destination = campaign?.destination
  if (destination?.type === 'redirect' && destination.telegram?.bot_id === bot_id)
    return destination.telegram ?? PLAIN_BOT
  const node = endOfPath(campaign, click_flow_node_path, live)
  return node !== undefined && isInTelegram(node) && node.bot_id === bot_id ? node : PLAIN_BOT
}

/** The channel node at the end of a click's path, as it is now: the destination behind the click's landing. */
export function channelOfPath(
  campaign: LiveCampaign | undefined,
  { click_flow_node_path }: Pick<Click, 'click_flow_node_path'>,
  live: Pick<Live, 'object'>,
): (FlowNode & { channel_id: string }) | undefined {
  const node = endOfPath(campaign, click_flow_node_path, live)
  return node?.type === 'channel' && node.channel_id != null ? { ...node, channel_id: node.channel_id } : undefined
}

/** The last node of a click's path, as it is now. */
export function endOfPath(
  campaign: LiveCampaign | undefined,
  path: string | null,
  live: Pick<Live, 'object'>,
): FlowNode | undefined {
  const destination = campaign?.destination
  if (destination?.type !== 'click_flow' || path === null) return undefined
  const id = path.slice(path.lastIndexOf('>') + 1)
  return live.object('click_flow', destination.click_flow_id)?.graph?.nodes.find(one => one.id === id)
}

function flowVisitorOf(
  { visitor_key, visitor, agent, geo, parameters, headers, ms, lastSeen }: Guest,
  isStrict: boolean,
  asksLastSeen: boolean,
): FlowVisitor {
  return {
    ...parameters,
    geo,
    device: agent.device,
    os: agent.os,
    browser: agent.browser,
    language: languageOf(headers['accept-language']),
    is_new: visitor?.is_new ?? false,
    // A crawler keeps no cookie, but is not a new visitor.
    seen_ms: visitor === undefined ? ms : asksLastSeen ? (lastSeen?.() ?? null) : null,
    is_bot: !isTracked(agent.kind, isAhead(headers), isStrict),
    ms,
    seed: visitor_key,
  }
}
