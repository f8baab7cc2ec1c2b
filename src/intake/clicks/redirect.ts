// GET /c/{key}: classify, decide, remember, redirect. Whatever a visitor's browser or an ad platform sends, it ends in a redirect, where
// there is nothing to redirect to in a plain 404, or in a page where the campaign is paused; and no id leaves that is not remembered.
import { timingSafeEqual } from 'node:crypto'
import { toWireId } from '../../contract/ids.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import { type Answer, isOfHost, type Visit } from '../../ground/room.ts'
import { plainAddress } from '../../ground/trusted.ts'
import { intoChannel } from '../../traffic/addresses/into-channel.ts'
import type { MacroValues } from '../../traffic/addresses/macros.ts'
import { MOST_CHAINED_OFFERS } from '../../traffic/caps/api.ts'
import { capsOnClick } from '../../traffic/caps/closed.ts'
import type { Spending } from '../../traffic/caps/spending.ts'
import type { Places } from '../../traffic/caps/places.ts'
import type { LiveCampaign, LiveCampaigns, LiveCap } from '../../traffic/campaigns/live.ts'
import type { InviteLinks, Link } from '../../traffic/invite-links/open.ts'
import { agentOf, isAhead, isTracked } from './agent.ts'
import type { Batches } from './batch.ts'
import type { Click } from './click.ts'
import { mintClickId } from './click-id.ts'
import { publicChat } from '../../contract/telegram.ts'
import type { Course, Guest, IntoChannel, Traffic } from './course.ts'
import { decide, trafficOf, unled } from './decide.ts'
import type { FoundClicks } from './found.ts'
import type { CountryOf } from './geo.ts'
import type { IpHashes } from './ip.ts'
import { openingPage } from './opening-page.ts'
import { platformOf } from './parameters.ts'
import type { UsdPerUnit } from './rate.ts'
import type { Unfilled } from './unfilled.ts'
import { linkCookie, linkOfCookie, onwardCookie, type Visitor, type Visits, visitorOf, visitsOf } from './visitor.ts'
import { CLOSED, COME_BACK, PAUSED_PATH } from './while-paused.ts'

type RedirectParts = {
  live: LiveCampaigns
  places: Pick<Places, 'isSpent' | 'take'>
  spending: Pick<Spending, 'note'>
  links: Pick<InviteLinks, 'give' | 'shared'>
  /** What decisions are made by. */
  view: Parameters<typeof decide>[1]
  batches: Pick<Batches, 'store'>
  found: Pick<FoundClicks, 'note'>
  unfilled: Pick<Unfilled, 'note'>
  countryOf: CountryOf
  ipHashes: Pick<IpHashes, 'hash'>
  secrets: Pick<Secrets, 'mac' | 'clickKey' | 'seal'>
  usdPerUnit: UsdPerUnit
}

/** What a visit brings, read but not yet stored. */
type Arrival = Guest & {
  traffic: Traffic
}

/** Sent with every redirect of a visitor. */
export const HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'strict-origin-when-cross-origin' }
const NOT_FOUND: Answer = {
  status: 404,
  headers: { 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8' },
  body: 'This link leads nowhere.\n',
}

/** No campaign has the key, or on a domain none of its organization. */
const UNKNOWN: Answer = { ...NOT_FOUND, is_unknown: true }

const NO_COST = { cost: null, cost_original: null, cost_currency: null }

/** The deed of `GET /c/:key`. */
export function redirector(given: Omit<RedirectParts, 'view'>): (visit: Visit) => Answer | Promise<Answer> {
  const { object, capsOf } = given.live
  const parts = { ...given, view: { object, capsOf, isSpent: given.places.isSpent } }
  return visit => {
    // Networks that change case must not lose visitors; keys are lower case.
    const key = (visit.params['key'] ?? '').toLowerCase()
    const campaign = parts.live.find(key)
    if (campaign !== undefined) return receive(parts, campaign, visit)
    return parts.live.search(key).then(found => (found === undefined ? UNKNOWN : receive(parts, found, visit)))
  }
}

function receive(parts: RedirectParts, campaign: LiveCampaign, visit: Visit): Answer | Promise<Answer> {
  if (!isOfHost(visit.host, campaign.org_id)) return UNKNOWN
  const traffic = trafficOf(campaign, parts.live)
  const agent = agentOf(visit.headers['user-agent'])
  const visitor = agent.kind === 'crawler' ? undefined : visitorOf(visit.headers['cookie'], visit.is_secure)
  const arrival: Arrival = {
    traffic,
    visitor,
    visitor_key: visitor?.id ?? visit.ip,
    parameters: traffic.read(visit.url),
    agent,
    geo: parts.countryOf(visit),
    headers: visit.headers,
    lastSeen: () => (visitor === undefined ? null : visitsHere(parts, traffic, visitor, visit).lastSeen()),
    ms: Date.now(),
  }
  const course = led(parts, arrival, visit)
  return course instanceof Promise
    ? course.then(one => answer(parts, arrival, one, visit))
    : answer(parts, arrival, course, visit)
}

/** Where the visit goes. Where that takes places of caps on clicks they are taken, and while there is none it goes elsewhere. */
function led(parts: RedirectParts, arrival: Arrival, visit: Visit): Course | Promise<Course> {
  const { places, view } = parts
  const course = decide(arrival.traffic, view, arrival)
  const caps = capsTakenBy(parts, arrival, course, visit)
  return caps.length === 0 ? course : withPlaces(course, caps)

  async function withPlaces(first: Course, wanted: LiveCap[]): Promise<Course> {
    let [at, needed] = [first, wanted]
    // Each try finds one more cap spent, and leads on by no more offers than a chain has.
    for (let tries = 0; tries <= MOST_CHAINED_OFFERS + 1 && needed.length > 0; tries += 1) {
      if (await places.take(needed, arrival.ms)) return at
      at = decide(arrival.traffic, view, arrival)
      needed = capsTakenBy(parts, arrival, at, visit)
    }
    return needed.length === 0 ? at : unled(arrival.traffic)
  }
}

/** Of bots, tests and requests that record nothing none: they are no clicks that count. */
function capsTakenBy({ live, secrets }: RedirectParts, arrival: Arrival, course: Course, visit: Visit): LiveCap[] {
  const { traffic, agent } = arrival
  if (!course.is_click || course.is_paused) return []
  const caps = capsOnClick(live, traffic.campaign.id, course.taken_by, 'clicks')
  if (caps.length === 0 || visit.method === 'HEAD') return []
  const isCounted = isTracked(agent.kind, isAhead(visit.headers), traffic.campaign.strict_filter)
  return isCounted && !isTestVisit(secrets, traffic, visit.url) ? caps : []
}

function answer(parts: RedirectParts, arrival: Arrival, course: Course, visit: Visit): Answer | Promise<Answer> {
  if (course.template === undefined && course.into === undefined && !course.is_paused) return NOT_FOUND
  if (!course.is_click || visit.method === 'HEAD')
    return redirect(arrival, course, undefined, course.into && sharedLink(parts, arrival, course.into))
  return record(parts, arrival, course, visit)
}

async function record(parts: RedirectParts, arrival: Arrival, course: Course, visit: Visit): Promise<Answer> {
  const { agent, traffic, visitor, ms } = arrival
  const { campaign } = traffic
  const test = isTestVisit(parts.secrets, traffic, visit.url)
  const { cost, cost_original, cost_currency } = traffic.costOf?.(arrival.parameters, ms, parts.usdPerUnit) ?? NO_COST
  const isCounted = !test && isTracked(agent.kind, isAhead(visit.headers), campaign.strict_filter)
  const tracked = isCounted && !course.is_paused
  if (isCounted) parts.unfilled.note(traffic, arrival.parameters, visit.url, ms)
  const click: Click = {
    org_id: campaign.org_id,
    id: mintClickId(parts.secrets.clickKey, campaign.org_id, ms),
    campaign_id: campaign.id,
    offer_id: course.offer_id,
    landing_id: course.landing_id,
    tracked,
    test,
    geo: arrival.geo,
    device: agent.device,
    os: agent.os,
    browser: agent.browser,
    platform: platformOf(arrival.parameters),
    ...arrival.parameters,
    visitor_id: visitor?.id ?? null,
    visitor_is_new: visitor?.is_new ?? null,
    ip_hash: parts.ipHashes.hash(campaign.org_id, visit.ip, agent.user_agent, ms),
    ip_encrypted: sealedAddress(parts, campaign, visit.ip),
    user_agent: agent.user_agent,
    click_flow_node_path: course.is_paused && isCounted ? PAUSED_PATH : course.path,
    ad_account_id: campaign.ad_account_id,
    bot_id: course.bot_id,
    // Only tests stay out for good: a prefetch may turn out to be a visit, and a conversion proves it.
    suppressed_delivery: test,
    cost,
    cost_original,
    cost_currency,
    cost_counts: traffic.costOf === undefined ? null : tracked,
    link_id: null,
  }
  if (tracked && cost !== null) {
    const caps = capsOnClick(parts.live, campaign.id, course.offer_id, 'cost')
    if (caps.length > 0) parts.spending.note(caps, cost, ms)
  }
  const given = course.into && linkOf(parts, arrival, course.into, tracked)
  // Who need not wait for his link is in the same batch as those who get none.
  const link = given instanceof Promise ? await given : given
  if (link?.own_id !== undefined) click.link_id = link.own_id
  if (link?.shared !== undefined) click.shared = link.shared
  const click_id = await parts.batches.store(click)
  const answer = redirect(arrival, course, click_id, link)
  const cookies = visitor?.cookie === undefined ? [] : [visitor.cookie]
  if (visitor !== undefined && link?.own_id !== undefined)
    cookies.push(linkCookie(link.own_id, visit.url, visit.is_secure))
  if (visitor !== undefined && course.asksLastSeen === true)
    cookies.push(visitsHere(parts, traffic, visitor, visit).cookie(ms))
  if (click_id !== undefined && course.landing_id !== null) {
    parts.found.note({ ...click, id: click_id })
    if (visitor !== undefined) cookies.push(onwardCookie(click_id, visit.is_secure))
  }
  return cookies.length === 0 ? answer : { ...answer, headers: { ...answer.headers, 'set-cookie': cookies } }
}

/** Only who counts gets a link of his own: the others would use them up. */
function linkOf(parts: RedirectParts, arrival: Arrival, into: IntoChannel, tracked: boolean) {
  if (!tracked) return sharedLink(parts, arrival, into)
  const { traffic, headers, ms } = arrival
  return parts.links.give({
    channel: into.channel,
    campaign_id: traffic.campaign.id,
    had: linkOfCookie(headers['cookie']),
    ms,
  })
}

const sharedLink = ({ links }: RedirectParts, { traffic }: Arrival, { channel }: IntoChannel): Link | undefined =>
  links.shared({ channel, campaign_id: traffic.campaign.id })

function visitsHere(
  { secrets }: RedirectParts,
  { campaign }: Traffic,
  visitor: Visitor,
  { url, headers, is_secure }: Visit,
): Visits {
  return visitsOf(
    secrets,
    { campaign_id: campaign.id, visitor_id: visitor.id },
    { cookies: headers['cookie'], url, isSecure: is_secure },
  )
}

/** The address, where the campaign's ad account matches by it: encrypted, and erased after seven days. */
function sealedAddress({ live, secrets }: RedirectParts, campaign: LiveCampaign, ip: string): string | null {
  const { ad_account_id } = campaign
  const isWanted = ad_account_id !== null && live.object('ad_account', ad_account_id)?.wants_ip === true
  return isWanted ? secrets.seal(plainAddress(ip)).toString('hex') : null
}

/**
 * `click_id` undefined: nothing was remembered, so the id stays empty. Without a link, visitors of a channel go where all others of the campaign go
 * who cannot be taken, then to the channel's public address. Without an address the campaign is paused.
 */
function redirect(arrival: Arrival, course: Course, click_id: string | undefined, link?: Link): Answer {
  const { into } = course
  if (into !== undefined) {
    const entrance = link?.url ?? (course.template === undefined ? publicAddress(into) : undefined)
    if (entrance !== undefined) return entered(entrance, into)
    if (course.template === undefined) return COME_BACK
  }
  if (course.template === undefined) return CLOSED
  const location = course.template.fill(valuesOf(arrival, course, click_id))
  if (course.app_link !== undefined)
    return openingPage(location, course.app_link + (click_id === undefined ? '' : toWireId(click_id)))
  return { status: 302, headers: { location, ...HEADERS } }
}

const publicAddress = ({ channel: { username } }: IntoChannel): string | undefined =>
  username === null ? undefined : publicChat(username)

function entered(entrance: string, { place }: IntoChannel): Answer {
  const { url: location, app_link } = intoChannel(entrance, place)
  return app_link === undefined ? { status: 302, headers: { location, ...HEADERS } } : openingPage(location, app_link)
}

function valuesOf(
  { traffic, parameters, agent, geo, ms }: Arrival,
  course: Course,
  click_id: string | undefined,
): MacroValues {
  return {
    ...parameters,
    click_id: click_id === undefined ? null : toWireId(click_id),
    campaign_id: traffic.wire_id,
    offer_id: course.offer_id === null ? null : toWireId(course.offer_id),
    landing_id: course.landing_id === null ? null : toWireId(course.landing_id),
    geo,
    device: agent.device,
    os: agent.os,
    browser: agent.browser,
    timestamp: String(Math.floor(ms / 1000)),
  }
}

/** The query parameter that marks a visit as a test. */
export const TEST_PARAMETER = 'sluice_test'

/**
 * What `sluice_test` must hold for a visit to be a test click, which counts nowhere and never will. Only the dashboard
 * hands it out, so that no traffic source can keep its clicks out of the counts.
 */
export function testToken(secrets: Pick<Secrets, 'mac'>, campaign_id: string): string {
  return secrets.mac('test click', campaign_id).toString('hex').slice(0, 24)
}

function isTestVisit(secrets: Pick<Secrets, 'mac'>, { campaign }: Traffic, url: string): boolean {
  const at = url.indexOf(`${TEST_PARAMETER}=`)
  if (at < 0) return false
  const sent = Buffer.from(url.slice(at + TEST_PARAMETER.length + 1).split(/[&#]/, 1)[0] ?? '')
  const right = Buffer.from(testToken(secrets, campaign.id))
  return sent.length === right.length && timingSafeEqual(sent, right)
}
