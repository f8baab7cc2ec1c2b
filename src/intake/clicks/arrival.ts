/**
 * A visit of a campaign: reads it, decides where it goes within the caps on clicks, and makes its click. The campaign link and pages that report their
 * own visits share this.
 */
import type { Secrets } from '../../ground/db/secrets.ts'
import type { Visit } from '../../ground/room.ts'
import { plainAddress } from '../../ground/trusted.ts'
import { MOST_CHAINED_OFFERS } from '../../traffic/caps/api.ts'
import { capsOnClick } from '../../traffic/caps/closed.ts'
import type { Places } from '../../traffic/caps/places.ts'
import type { Spending } from '../../traffic/caps/spending.ts'
import type { LiveCampaign, LiveCampaigns, LiveCap } from '../../traffic/campaigns/live.ts'
import type { InviteLinks } from '../../traffic/invite-links/open.ts'
import { agentOf, isAhead, isTracked } from './agent.ts'
import type { Batches } from './batch.ts'
import type { Click } from './click.ts'
import { mintClickId } from './click-id.ts'
import type { CompiledCampaign, Course, Guest } from './course.ts'
import { compiledCampaign, courseToFallback, decide } from './decide.ts'
import type { FoundClicks } from './found.ts'
import type { CountryOf } from './geo.ts'
import type { IpHashes } from './ip.ts'
import type { VisitOutcome } from './metrics.ts'
import { platformOf } from './parameters.ts'
import type { UsdPerUnit } from './rate.ts'
import { isTestVisit } from './test-visits.ts'
import type { Unfilled } from './unfilled.ts'
import { type Visitor, type VisitHistory, visitorOf, visitsOf } from './visitor.ts'
import { PAUSED_PATH } from './while-paused.ts'

/** What a visit is read, decided and stored with. */
export type VisitParts = {
  live: LiveCampaigns
  places: Pick<Places, 'isSpent' | 'take' | 'putBack'>
  spending: Pick<Spending, 'note'>
  links: Pick<InviteLinks, 'give' | 'shared'>
  /** What `decide` reads. */
  view: Parameters<typeof decide>[1]
  batches: Pick<Batches, 'store'>
  /** Stores clicks that may be a click which is there already. */
  joining: Pick<Batches, 'store'>
  found: Pick<FoundClicks, 'note'>
  unfilled: Pick<Unfilled, 'note'>
  countryOf: CountryOf
  ipHashes: Pick<IpHashes, 'hash'>
  secrets: Pick<Secrets, 'mac' | 'clickKey' | 'seal'>
  usdPerUnit: UsdPerUnit
}

/** A visit as it was read, before anything is stored. */
export type Arrival = Guest & {
  readonly traffic: CompiledCampaign
  readonly visit: Visit
  readonly isTest: boolean
  /** Whether its click counts in reports if the campaign takes traffic: neither a bot nor a prefetch nor a test. */
  readonly isCounted: boolean
}

const NO_COST = { cost: null, cost_original: null, cost_currency: null }

/** Reads a visit of a campaign. */
export function arrivalOf(parts: VisitParts, campaign: LiveCampaign, visit: Visit): Arrival {
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
export function courseWithinCaps(parts: VisitParts, arrival: Arrival): Course | Promise<Course> {
  const { places, view } = parts
  const course = decide(arrival.traffic, view, arrival)
  const caps = capsTakenBy(parts, arrival, course)
  return caps.length === 0 ? course : withPlaces(course, caps)

  async function withPlaces(first: Course, wanted: LiveCap[]): Promise<Course> {
    let [at, needed] = [first, wanted]
    // Each try finds one more cap that is used up; a chain of offers is no longer than MOST_CHAINED_OFFERS.
    for (let tries = 0; tries <= MOST_CHAINED_OFFERS + 1 && needed.length > 0; tries += 1) {
      if (await places.take(needed, arrival.ms)) return { ...at, caps: needed }
      at = decide(arrival.traffic, view, arrival)
      needed = capsTakenBy(parts, arrival, at)
    }
    return needed.length === 0 ? at : { ...courseToFallback(arrival.traffic), left_out: at.left_out }
  }
}

/** The caps on clicks that the visit takes a place of. Bots, tests and unrecorded requests take none. */
function capsTakenBy({ live }: VisitParts, { traffic, visit, isCounted }: Arrival, course: Course): LiveCap[] {
  if (!course.is_click || course.is_paused || !isCounted || visit.method === 'HEAD') return []
  return capsOnClick(live, traffic.campaign.id, course.taken_by, 'clicks')
}

/** The click of a visit, to be stored. */
export function clickOfVisit(parts: VisitParts, arrival: Arrival, course: Course): Click {
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
    way: null,
    left_out: course.left_out ?? null,
  }
}

/**
 * Adds the cost of a click that was stored to the caps on cost. A visit that turned out to be a click which was there before adds nothing, and gives its
 * places back.
 */
export function settleCaps({ live, spending, places }: VisitParts, click: Click, { caps }: Course, ms: number): void {
  if (click.joined_to !== undefined) {
    if (caps !== undefined) places.putBack(caps, ms)
    return
  }
  if (!click.tracked || click.cost === null || click.campaign_id === null) return
  const onCost = capsOnClick(live, click.campaign_id, click.offer_id, 'cost')
  if (onCost.length > 0) spending.note(onCost, click.cost, ms)
}

/** The visitor's visits of this campaign. */
export function visitsHere(
  { secrets }: VisitParts,
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
function sealedAddress({ live, secrets }: VisitParts, campaign: LiveCampaign, ip: string): string | null {
  const { ad_account_id } = campaign
  const isWanted = ad_account_id !== null && live.object('ad_account', ad_account_id)?.wants_ip === true
  return isWanted ? secrets.seal(plainAddress(ip)).toString('hex') : null
}

/** How the visit ended, for the metrics. */
export function outcomeOf({ isCounted }: Arrival, course: Course, isRecorded: boolean): VisitOutcome {
  if (course.is_paused) return 'paused'
  if (!isRecorded) return 'unrecorded'
  return isCounted ? 'counted' : 'filtered'
}
