/**
 * GET /c/{key}: classify, decide, store, redirect. Whatever the visitor's browser or an ad platform sends, it ends in a redirect; in a plain
 * 404 if there is no destination; or in a page if the campaign is paused. No click id leaves before its click is stored.
 */
import { toWireId } from '../../contract/ids.ts'
import { publicChat } from '../../contract/telegram.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import { type Answer, isOfHost, type Visit } from '../../ground/room.ts'
import { plainAddress } from '../../ground/trusted.ts'
import type { MacroValues } from '../../traffic/addresses/macros.ts'
import { MOST_CHAINED_OFFERS } from '../../traffic/caps/api.ts'
import { capsOnClick } from '../../traffic/caps/closed.ts'
import type { Places } from '../../traffic/caps/places.ts'
import type { Spending } from '../../traffic/caps/spending.ts'
import type { LiveCampaign, LiveCampaigns, LiveCap } from '../../traffic/campaigns/live.ts'
import type { InviteLinks, Link } from '../../traffic/invite-links/open.ts'
import { agentOf, isAhead, isTracked } from './agent.ts'
import type { Batches } from './batch.ts'
import type { Click } from './click.ts'
import { mintClickId } from './click-id.ts'
import type { CompiledCampaign, Course, Guest, IntoChannel } from './course.ts'
import { compiledCampaign, courseToFallback, decide } from './decide.ts'
import type { FoundClicks } from './found.ts'
import type { CountryOf } from './geo.ts'
import type { IpHashes } from './ip.ts'
import { chooseLink, sharedLink } from './link-choice.ts'
import { type VisitOutcome, visits } from './metrics.ts'
import { openingPage } from './opening-page.ts'
import { platformOf } from './parameters.ts'
import type { UsdPerUnit } from './rate.ts'
import { redirectIntoChannel, redirectTo } from './redirect-answer.ts'
import { isTestVisit } from './test-visits.ts'
import type { Unfilled } from './unfilled.ts'
import { linkCookie, onwardCookie, type Visitor, type VisitHistory, visitorOf, visitsOf } from './visitor.ts'
import { CLOSED, COME_BACK, PAUSED_PATH } from './while-paused.ts'

type RedirectParts = {
  live: LiveCampaigns
  places: Pick<Places, 'isSpent' | 'take'>
  spending: Pick<Spending, 'note'>
  links: Pick<InviteLinks, 'give' | 'shared'>
  /** What `decide` reads. */
  view: Parameters<typeof decide>[1]
  batches: Pick<Batches, 'store'>
  found: Pick<FoundClicks, 'note'>
  unfilled: Pick<Unfilled, 'note'>
  countryOf: CountryOf
  ipHashes: Pick<IpHashes, 'hash'>
  secrets: Pick<Secrets, 'mac' | 'clickKey' | 'seal'>
  usdPerUnit: UsdPerUnit
}

/** A visit as it was read, before anything is stored. */
type Arrival = Guest & {
  readonly traffic: CompiledCampaign
  readonly visit: Visit
  readonly isTest: boolean
  /** Whether its click counts in reports if the campaign takes traffic: neither a bot nor a prefetch nor a test. */
  readonly isCounted: boolean
}

const NOT_FOUND: Answer = {
  status: 404,
  headers: { 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8' },
  body: 'This link leads nowhere.\n',
}

/** No campaign has the key; on a domain, no campaign of the domain's organization. */
const UNKNOWN: Answer = { ...NOT_FOUND, is_unknown: true }

function notFound(answer: Answer): Answer {
  visits.not_found += 1
  return answer
}

const NO_COST = { cost: null, cost_original: null, cost_currency: null }

/** The deed of `GET /c/:key`. */
export function redirector(given: Omit<RedirectParts, 'view'>): (visit: Visit) => Answer | Promise<Answer> {
  const { object, capsOf } = given.live
  const parts = { ...given, view: { object, capsOf, isSpent: given.places.isSpent } }
  return visit => {
    // Keys are lower case, and some networks change the case of links.
    const key = (visit.params['key'] ?? '').toLowerCase()
    const campaign = parts.live.find(key)
    if (campaign !== undefined) return receive(parts, campaign, visit)
    return parts.live
      .search(key)
      .then(found => (found === undefined ? notFound(UNKNOWN) : receive(parts, found, visit)))
  }
}

function receive(parts: RedirectParts, campaign: LiveCampaign, visit: Visit): Answer | Promise<Answer> {
  if (!isOfHost(visit.host, campaign.org_id)) return notFound(UNKNOWN)
  const arrival = arrivalOf(parts, campaign, visit)
  const course = courseWithinCaps(parts, arrival)
  return course instanceof Promise ? course.then(one => answer(parts, arrival, one)) : answer(parts, arrival, course)
}

function arrivalOf(parts: RedirectParts, campaign: LiveCampaign, visit: Visit): Arrival {
  const traffic = compiledCampaign(campaign, parts.live)
  const agent = agentOf(visit.headers['user-agent'])
  const visitor = agent.kind === 'crawler' ? undefined : visitorOf(visit.headers['cookie'], visit.is_secure)
  const isTest = isTestVisit(parts.secrets, campaign.id, visit.url)
  return {
    traffic,
    visit,
    isTest,
    isCounted: !isTest && isTracked(agent.kind, isAhead(visit.headers), campaign.strict_filter),
    visitor,
    visitor_key: visitor?.id ?? visit.ip,
    parameters: traffic.read(visit.url),
    agent,
    geo: parts.countryOf(visit),
    headers: visit.headers,
    lastSeen: () => (visitor === undefined ? null : visitsHere(parts, traffic, visitor, visit).lastSeen()),
    ms: Date.now(),
  }
}

/** Where the visit goes. If that takes places of caps on clicks, it takes them; if none is left, the visit goes elsewhere. */
function courseWithinCaps(parts: RedirectParts, arrival: Arrival): Course | Promise<Course> {
  const { places, view } = parts
  const course = decide(arrival.traffic, view, arrival)
  const caps = capsTakenBy(parts, arrival, course)
  return caps.length === 0 ? course : withPlaces(course, caps)

  async function withPlaces(first: Course, wanted: LiveCap[]): Promise<Course> {
    let [at, needed] = [first, wanted]
    // Each try finds one more cap that is used up; a chain of offers is no longer than MOST_CHAINED_OFFERS.
    for (let tries = 0; tries <= MOST_CHAINED_OFFERS + 1 && needed.length > 0; tries += 1) {
      if (await places.take(needed, arrival.ms)) return at
      at = decide(arrival.traffic, view, arrival)
      needed = capsTakenBy(parts, arrival, at)
    }
    return needed.length === 0 ? at : courseToFallback(arrival.traffic)
  }
}

/** The caps on clicks that the visit takes a place of. Bots, tests and unrecorded requests take none. */
function capsTakenBy({ live }: RedirectParts, { traffic, visit, isCounted }: Arrival, course: Course): LiveCap[] {
  if (!course.is_click || course.is_paused || !isCounted || visit.method === 'HEAD') return []
  return capsOnClick(live, traffic.campaign.id, course.taken_by, 'clicks')
}

function answer(parts: RedirectParts, arrival: Arrival, course: Course): Answer | Promise<Answer> {
  if (course.template === undefined && course.into === undefined && !course.is_paused) return notFound(NOT_FOUND)
  const isRecorded = course.is_click && arrival.visit.method !== 'HEAD'
  visits[outcomeOf(arrival, course, isRecorded)] += 1
  if (isRecorded) return record(parts, arrival, course)
  return redirect(arrival, course, undefined, course.into && sharedLink(parts.links, arrival, course.into))
}

function outcomeOf({ isCounted }: Arrival, course: Course, isRecorded: boolean): VisitOutcome {
  if (course.is_paused) return 'paused'
  if (!isRecorded) return 'unrecorded'
  return isCounted ? 'counted' : 'filtered'
}

async function record(parts: RedirectParts, arrival: Arrival, course: Course): Promise<Answer> {
  const { traffic, parameters, visit, ms, isCounted } = arrival
  if (isCounted) parts.unfilled.note(traffic, parameters, visit.url, ms)
  const click = clickOf(parts, arrival, course)
  noteSpending(parts, click, ms)
  const chosen = course.into && chooseLink(parts.links, arrival, course.into, click.tracked)
  // Awaits only a promise: any other wait could move the click to a later batch than clicks without a link.
  const link = chosen instanceof Promise ? await chosen : chosen
  if (link?.own_id !== undefined) click.link_id = link.own_id
  if (link?.shared !== undefined) click.shared = link.shared
  const click_id = await parts.batches.store(click)
  if (click_id !== undefined && click.landing_id !== null) parts.found.note({ ...click, id: click_id })
  const answer = redirect(arrival, course, click_id, link)
  const cookies = cookiesFor(parts, arrival, course, click_id, link)
  return cookies.length === 0 ? answer : { ...answer, headers: { ...answer.headers, 'set-cookie': cookies } }
}

function clickOf(parts: RedirectParts, arrival: Arrival, course: Course): Click {
  const { agent, traffic, visitor, visit, ms, isTest, isCounted } = arrival
  const { campaign } = traffic
  const { cost, cost_original, cost_currency } = traffic.costOf?.(arrival.parameters, ms, parts.usdPerUnit) ?? NO_COST
  const tracked = isCounted && !course.is_paused
  return {
    org_id: campaign.org_id,
    id: mintClickId(parts.secrets.clickKey, campaign.org_id, ms),
    campaign_id: campaign.id,
    offer_id: course.offer_id,
    landing_id: course.landing_id,
    tracked,
    test: isTest,
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
    // Only tests are never delivered: a conversion can prove that a prefetch was a visit.
    suppressed_delivery: isTest,
    cost,
    cost_original,
    cost_currency,
    cost_counts: traffic.costOf === undefined ? null : tracked,
    link_id: null,
  }
}

/** Adds the click's cost to the caps on spend. */
function noteSpending({ live, spending }: RedirectParts, click: Click, ms: number): void {
  if (!click.tracked || click.cost === null || click.campaign_id === null) return
  const caps = capsOnClick(live, click.campaign_id, click.offer_id, 'cost')
  if (caps.length > 0) spending.note(caps, click.cost, ms)
}

function cookiesFor(
  parts: RedirectParts,
  { traffic, visitor, visit, ms }: Arrival,
  course: Course,
  click_id: string | undefined,
  link: Link | undefined,
): string[] {
  if (visitor === undefined) return []
  const cookies = visitor.cookie === undefined ? [] : [visitor.cookie]
  if (link?.own_id !== undefined) cookies.push(linkCookie(link.own_id, visit.url, visit.is_secure))
  if (course.asksLastSeen === true) cookies.push(visitsHere(parts, traffic, visitor, visit).cookie(ms))
  if (click_id !== undefined && course.landing_id !== null) cookies.push(onwardCookie(click_id, visit.is_secure))
  return cookies
}

function visitsHere(
  { secrets }: RedirectParts,
  { campaign }: CompiledCampaign,
  visitor: Visitor,
  { url, headers, is_secure }: Visit,
): VisitHistory {
  return visitsOf(
    secrets,
    { campaign_id: campaign.id, visitor_id: visitor.id },
    { cookies: headers['cookie'], url, isSecure: is_secure },
  )
}

/** The visitor's IP address if the campaign's ad account matches by it: encrypted, and erased after seven days. */
function sealedAddress({ live, secrets }: RedirectParts, campaign: LiveCampaign, ip: string): string | null {
  const { ad_account_id } = campaign
  const isWanted = ad_account_id !== null && live.object('ad_account', ad_account_id)?.wants_ip === true
  return isWanted ? secrets.seal(plainAddress(ip)).toString('hex') : null
}

/**
 * `click_id` undefined: nothing was stored, so the id in the URL stays empty. Without an invite link, visitors of a channel go to the fallback, else to
 * the channel's public address. Without a template the campaign is paused.
 */
function redirect(arrival: Arrival, course: Course, click_id: string | undefined, link?: Link): Answer {
  const { into } = course
  if (into !== undefined) {
    const entrance = link?.url ?? (course.template === undefined ? publicAddress(into) : undefined)
    if (entrance !== undefined) return redirectIntoChannel(entrance, into.place)
    if (course.template === undefined) return COME_BACK
  }
  if (course.template === undefined) return CLOSED
  const location = course.template.fill(valuesOf(arrival, course, click_id))
  if (course.app_link !== undefined)
    return openingPage(location, course.app_link + (click_id === undefined ? '' : toWireId(click_id)))
  return redirectTo(location)
}

const publicAddress = ({ channel: { username } }: IntoChannel): string | undefined =>
  username === null ? undefined : publicChat(username)

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
