/**
 * GET /c/{key}: classify, decide, store, redirect. Whatever the visitor's browser or an ad platform sends, it ends in a redirect; in a plain
 * 404 if there is no destination; or in a page if the campaign is paused. No click id leaves before its click is stored.
 */
import { toWireId } from '../../contract/ids.ts'
import { publicChat } from '../../contract/telegram.ts'
import { type Answer, isOfHost, type Visit } from '../../ground/room.ts'
import type { MacroValues } from '../../traffic/addresses/macros.ts'
import type { LiveCampaign } from '../../traffic/campaigns/live.ts'
import type { Link } from '../../traffic/invite-links/open.ts'
import {
  type Arrival,
  arrivalOf,
  clickOfVisit,
  courseWithinCaps,
  outcomeOf,
  settleCaps,
  type VisitParts,
  visitsHere,
} from './arrival.ts'
import type { Click } from './click.ts'
import type { CompiledCampaign, Course, IntoChannel } from './course.ts'
import { chooseLink, sharedLink } from './link-choice.ts'
import { visits } from './metrics.ts'
import { openingPage } from './opening-page.ts'
import { redirectIntoChannel, redirectTo } from './redirect-answer.ts'
import { mayBeOfPage } from './store-visits.ts'
import { linkCookie, onwardCookie } from './visitor.ts'
import { CLOSED, COME_BACK } from './while-paused.ts'

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

/** The deed of `GET /c/:key`. */
export function redirector(parts: VisitParts): (visit: Visit) => Answer | Promise<Answer> {
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

function receive(parts: VisitParts, campaign: LiveCampaign, visit: Visit): Answer | Promise<Answer> {
  if (!isOfHost(visit.host, campaign.org_id)) return notFound(UNKNOWN)
  const arrival = arrivalOf(parts, campaign, visit)
  const course = courseWithinCaps(parts, arrival)
  return course instanceof Promise ? course.then(one => answer(parts, arrival, one)) : answer(parts, arrival, course)
}

function answer(parts: VisitParts, arrival: Arrival, course: Course): Answer | Promise<Answer> {
  const isLeftOut = course.left_out !== undefined
  if (course.template === undefined && course.into === undefined && !course.is_paused && !isLeftOut)
    return notFound(NOT_FOUND)
  const isRecorded = course.is_click && arrival.visit.method !== 'HEAD'
  visits[outcomeOf(arrival, course, isRecorded)] += 1
  if (isRecorded) return record(parts, arrival, course)
  return redirect(arrival, course, undefined, course.into && sharedLink(parts.links, arrival, course.into))
}

async function record(parts: VisitParts, arrival: Arrival, course: Course): Promise<Answer> {
  const { traffic, parameters, visit, ms, isCounted } = arrival
  if (isCounted) parts.unfilled.note(traffic, parameters, visit.url, ms)
  const click = clickOfVisit(parts, arrival, course)
  const chosen = course.into && chooseLink(parts.links, arrival, course.into, click.tracked)
  // Awaits only a promise: any other wait could move the click to a later batch than clicks without a link.
  const link = chosen instanceof Promise ? await chosen : chosen
  if (link?.own_id !== undefined) click.link_id = link.own_id
  if (link?.shared !== undefined) click.shared = link.shared
  const click_id = await (isJoinable(traffic, click) ? storeJoinable(parts, click) : parts.batches.store(click))
  if (click_id !== undefined) settleCaps(parts, click, course, ms)
  if (click_id !== undefined && click.landing_id !== null && click.joined_to === undefined)
    parts.found.note({ ...click, id: click_id })
  const answer = redirect(arrival, course, click_id, link)
  const cookies = cookiesFor(parts, arrival, course, click_id, link)
  return cookies.length === 0 ? answer : { ...answer, headers: { ...answer.headers, 'set-cookie': cookies } }
}

/** Whether a page of the campaign may report the same visit: the ad platform loads the campaign link beside the page. */
const isJoinable = ({ campaign }: CompiledCampaign, click: Click): boolean =>
  campaign.sites.length > 0 && mayBeOfPage(click)

async function storeJoinable({ joining }: VisitParts, click: Click): Promise<string | undefined> {
  click.isJoinable = true
  const click_id = await joining.store(click)
  return click.joined_to ?? click_id
}

function cookiesFor(
  parts: VisitParts,
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
