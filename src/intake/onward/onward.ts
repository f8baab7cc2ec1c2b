/**
 * From a landing page to the offer: the page's script, its beacon, and the link to the offer. A visitor here has been paid for, so they
 * always get to the offer, to the campaign's fallback, or to a page that says what is wrong. The destination never comes from the request.
 */
import { toUuid } from '../../contract/ids.ts'
import { type Answer, type Deed, type Ground, isOfHost, type Visit } from '../../ground/room.ts'
import { publicChat } from '../../contract/telegram.ts'
import { intoTelegram } from '../../traffic/addresses/into-telegram.ts'
import type { AddressTemplate, MacroValues } from '../../traffic/addresses/macros.ts'
import { templateOf } from '../../traffic/addresses/templates.ts'
import type { LiveCampaign, LiveCampaigns } from '../../traffic/campaigns/live.ts'
import { isOpen } from '../../traffic/funnels/choose.ts'
import { agentOf, isAhead } from '../clicks/agent.ts'
import { organizationOfClick } from '../clicks/click-id.ts'
import type { Clicks } from '../clicks/clicks.ts'
import { compiledCampaign } from '../clicks/decide.ts'
import { type FoundClick, valuesOfClick } from '../clicks/found.ts'
import { openingPage } from '../clicks/opening-page.ts'
import { redirectIntoChannel, redirectTo } from '../clicks/redirect-answer.ts'
import { channelOfPath, openChannel, placeOfPath } from '../clicks/through-flow.ts'
import { clickOfCookie } from '../clicks/visitor.ts'
import { COME_BACK } from '../clicks/while-paused.ts'
import type * as api from './api.ts'
import type { Landed } from './landed.ts'
import { channelOfPage, goalOfPage } from './page-goal.ts'
import { serveNeutralScript, serveScript } from './script.ts'

type OnwardParts = {
  live: Pick<LiveCampaigns, 'campaign' | 'object' | 'find' | 'search'>
  clicks: Pick<Clicks, 'find' | 'linkFor' | 'sharedLink' | 'pages' | 'unsettled'>
  landed: Pick<Landed, 'mark'>
}

type OnwardDeeds = {
  serveScript: Deed<typeof api.serveScript>
  serveNeutralScript: Deed<typeof api.serveNeutralScript>
  landVisitor: Deed<typeof api.landVisitor>
  goOn: Deed<typeof api.goOn>
  goOnWithoutId: Deed<typeof api.goOnWithoutId>
}

/** The way on from a page that reports its visits itself. */
export type WayOn = {
  /** As `/o/{click}`; the id is a uuid. */
  byClick: (visit: Visit, click_id: string) => Promise<Answer>
  /** Without a click: to where a visit of the campaign would lead now, with an empty click id. Nothing is recorded. */
  without: (visit: Visit, campaign: LiveCampaign) => Promise<Answer>
  readonly nowhere: Answer
}

/** The way on for pages. */
export function wayOnOf(parts: OnwardParts): WayOn {
  return {
    byClick: async (visit, click_id) => {
      const { click, isUnsure } = await firstClick(parts, [click_id])
      if (click !== undefined && isOfHost(visit.host, click.org_id)) return await onByClick(parts, visit, click)
      return isUnsure ? LATER : NOT_FOUND
    },
    without: (visit, campaign) => onWithout(parts, visit, campaign),
    nowhere: { ...NOT_FOUND, is_unknown: true },
  }
}

/** The deeds of this room. A raise to landed that cannot be written now is retried. */
export function onwardDeeds(parts: OnwardParts): OnwardDeeds {
  const onward = (ground: Ground, visit: Visit) => goOn(parts, ground, visit)
  return {
    serveScript: (_ground, visit) => serveScript(visit),
    serveNeutralScript,
    landVisitor: (ground, visit) => land(parts, ground, visit),
    goOn: onward,
    goOnWithoutId: onward,
  }
}

const PLAIN = { 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8' }
const HTML = { 'cache-control': 'no-store', 'content-type': 'text/html; charset=utf-8' }

const page = (title: string, text: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`

const NOT_FOUND: Answer = {
  status: 404,
  headers: HTML,
  body: page('This offer is not available', 'Go back to the page you came from and try again.'),
}
/** Makes the browser reload. */
const LATER: Answer = {
  status: 503,
  headers: { ...HTML, refresh: '3', 'retry-after': '3' },
  body: page('One moment', 'You will be taken on in a few seconds.'),
}

/** `isUnsure`: the click may exist, but the database could not be asked, or a journal may have it. */
type ClickLookup = { click: FoundClick | undefined; isUnsure: boolean }

async function land(parts: OnwardParts, { secrets }: Ground, visit: Visit): Promise<Answer> {
  const id = toUuid(visit.params['click'] ?? '')
  const org_id = id === undefined ? undefined : organizationOfClick(secrets.clickKey, id)
  if (id === undefined || org_id === undefined || !isOfHost(visit.host, org_id)) return UNKNOWN_CLICK
  const { click, isUnsure } = await firstClick(parts, [id])
  if (click === undefined && !isUnsure) return UNKNOWN_CLICK
  if (click === undefined ? isPerson(visit) : isSeen(parts, click, visit)) await parts.landed.mark(org_id, id)
  return { status: 204, headers: { 'cache-control': 'no-store' } }
}

const UNKNOWN_CLICK: Answer = { status: 404, headers: PLAIN, body: 'No such click.\n' }

async function goOn(parts: OnwardParts, { secrets }: Ground, visit: Visit): Promise<Answer> {
  const campaign = await campaignNamed(parts, visit)
  // On a domain, only clicks of the domain's organization.
  const isOpenHere = (id: string) => {
    const org_id = organizationOfClick(secrets.clickKey, id) ?? 0
    return isOfHost(visit.host, org_id) && (campaign === undefined || org_id === campaign.org_id)
  }
  const named = await firstClick(parts, idsOf(visit).filter(isOpenHere))
  if (named.click !== undefined) return await onByClick(parts, visit, named.click)
  const last = await firstClick(parts, lastClickOf(visit).filter(isOpenHere))
  // The visitor's last click may be of another campaign than the page.
  if (last.click !== undefined && (campaign === undefined || last.click.campaign_id === campaign.id))
    return await onByClick(parts, visit, last.click)
  if (campaign !== undefined) return await onWithout(parts, visit, campaign)
  return named.isUnsure || last.isUnsure ? LATER : { ...NOT_FOUND, is_unknown: true }
}

async function onByClick(parts: OnwardParts, visit: Visit, click: FoundClick): Promise<Answer> {
  const isVisit = visit.method !== 'HEAD' && isSeen(parts, click, visit)
  const answer = (await toChannel(parts, click, isVisit)) ?? toOffer(parts, click)
  if (answer === undefined) return NOT_FOUND
  // A page's own click is landed from the start.
  if (isVisit && click.way !== 'page') await parts.landed.mark(click.org_id, click.id)
  return answer
}

/** The campaign that a page's link names (`k`), for visitors whose click is unknown. */
async function campaignNamed({ live }: OnwardParts, { url, host, params }: Visit): Promise<LiveCampaign | undefined> {
  const key = params['click'] === undefined ? queryOf(url).get('k')?.toLowerCase() : undefined
  if (key === undefined) return undefined
  const campaign = live.find(key) ?? (await live.search(key))
  if (campaign === undefined || campaign.is_deleted || campaign.organization.is_deleted) return undefined
  return isOfHost(host, campaign.org_id) ? campaign : undefined
}

async function onWithout(parts: OnwardParts, visit: Visit, campaign: LiveCampaign): Promise<Answer> {
  const click = await parts.clicks.pages.unrecorded(campaign, visit)
  const values = { ...valuesOfClick(click), click_id: null }
  return (await toChannel(parts, click, false, values)) ?? toOffer(parts, click, values) ?? NOT_FOUND
}

/** To the offer or bot that was chosen at the click, with this click's values; else to the campaign's fallback. */
function toOffer({ live }: OnwardParts, click: FoundClick, values = valuesOfClick(click)): Answer | undefined {
  const campaign = click.campaign_id === null ? undefined : live.campaign(click.campaign_id)
  const offer = click.offer_id === null ? undefined : live.object('offer', click.offer_id)
  const bot = offer !== undefined || click.bot_id === null ? undefined : live.object('bot', click.bot_id)
  const isGone = campaign?.organization.is_deleted === true
  const onPage = click.way === 'page' && !isGone ? goalOfPage(campaign, click, live) : undefined
  if (onPage !== undefined) return 'answer' in onPage ? onPage.answer : ledTo(onPage.template, values)
  if (isOpen(offer) && !isGone) return ledTo(templateOf(offer), values)
  if (bot?.is_deleted === false && !isGone) {
    const { template, app_link } = intoTelegram(placeOfPath(campaign, click, live), bot)
    return ledTo(template, values, app_link)
  }
  return campaign && ledTo(compiledCampaign(campaign, live).fallback, values)
}

/**
 * Into the channel at the end of the click's path through a flow, by an invite link of the click's own, which it gets now. Crawlers, prefetches and HEAD
 * get the link that the campaign shares.
 */
async function toChannel(
  { live, clicks }: OnwardParts,
  click: FoundClick,
  isVisit: boolean,
  values = valuesOfClick(click),
): Promise<Answer | undefined> {
  const { org_id, id: click_id, campaign_id } = click
  const campaign = campaign_id === null ? undefined : live.campaign(campaign_id)
  if (campaign === undefined || campaign.organization.is_deleted) return undefined
  const place = channelOfPath(campaign, click, live) ?? channelOfPage(campaign, click)
  const { fallback } = compiledCampaign(campaign, live)
  const channel = place && openChannel(place.channel_id, fallback, live)
  if (place === undefined || channel === undefined) return undefined
  const shared = () => clicks.sharedLink({ channel, campaign_id: campaign.id })?.url
  const own = isVisit ? await clicks.linkFor({ org_id, channel_id: channel.id, click_id, campaign_id }) : shared()
  const open = own ?? (fallback === undefined && channel.username !== null ? publicChat(channel.username) : undefined)
  if (open === undefined) return fallback === undefined ? COME_BACK : ledTo(fallback, values)
  return redirectIntoChannel(open, place)
}

function ledTo(template: AddressTemplate | undefined, values: MacroValues, app_link?: string): Answer | undefined {
  const location = template?.fill(values)
  if (location === undefined) return undefined
  if (app_link !== undefined) return openingPage(location, app_link + (values.click_id ?? ''))
  return redirectTo(location)
}

/** Whether the visit raises the click to landed: not by a crawler or a prefetch, and not of a deleted organization. */
function isSeen({ live }: OnwardParts, { campaign_id }: FoundClick, visit: Visit): boolean {
  const campaign = campaign_id === null ? undefined : live.campaign(campaign_id)
  return isPerson(visit) && campaign?.organization.is_deleted !== true
}

function isPerson({ headers }: Visit): boolean {
  return agentOf(headers['user-agent']).kind !== 'crawler' && !isAhead(headers)
}

/** The first of these ids that is a click. */
async function firstClick({ clicks }: OnwardParts, ids: readonly string[]): Promise<ClickLookup> {
  let isUnsure = false
  // Asked first: a journal may be stored between the two questions.
  const isUnsettled = clicks.unsettled()
  for (const id of ids) {
    try {
      const click = await clicks.find(id)
      if (click !== undefined) return { click, isUnsure: false }
      isUnsure ||= isUnsettled(id)
    } catch {
      isUnsure = true
    }
  }
  return { click: undefined, isUnsure }
}

const QUERY_NAMES = ['click_id', 'clickid', 'sluice_click']

/** The click ids that a request names, most certain first: in the path, the query, the landing page's URL. */
function idsOf({ params, url, headers }: Visit): string[] {
  const { referer } = headers
  const sent = [
    params['click'],
    ...QUERY_NAMES.map(name => queryOf(url).get(name)),
    ...QUERY_NAMES.map(name => queryOf(typeof referer === 'string' ? referer : '').get(name)),
  ]
  const ids = sent.map(text => (text == null ? undefined : toUuid(text)))
  return [...new Set(ids)].filter(id => id !== undefined)
}

/** The id of the visitor's last click with a landing page, from their cookie. */
const lastClickOf = ({ headers }: Visit): string[] => [clickOfCookie(headers['cookie'])].filter(id => id !== undefined)

/** The parameters of an address. */
export function queryOf(url: string): URLSearchParams {
  const at = url.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1).split('#', 1)[0])
}
