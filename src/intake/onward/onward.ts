/**
 * From a landing page to the offer: the page's script, its beacon, and the link to the offer. A visitor here has been paid for, so they
 * always get to the offer, to the campaign's fallback, or to a page that says what is wrong. The destination never comes from the request.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { type Answer, type Deed, type Ground, isOfHost, type Visit } from '../../ground/room.ts'
import { publicChat } from '../../contract/telegram.ts'
import { intoTelegram } from '../../traffic/addresses/into-telegram.ts'
import type { AddressTemplate } from '../../traffic/addresses/macros.ts'
import { templateOf } from '../../traffic/addresses/templates.ts'
import type { LiveCampaigns } from '../../traffic/campaigns/live.ts'
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

type OnwardParts = {
  live: Pick<LiveCampaigns, 'campaign' | 'object'>
  clicks: Pick<Clicks, 'find' | 'linkFor' | 'sharedLink'>
  landed: Pick<Landed, 'mark'>
}

type OnwardDeeds = {
  serveScript: Deed<typeof api.serveScript>
  landVisitor: Deed<typeof api.landVisitor>
  goOn: Deed<typeof api.goOn>
  goOnWithoutId: Deed<typeof api.goOnWithoutId>
}

/** The deeds of this room. A raise to landed that cannot be written now is retried. */
export function onwardDeeds(parts: OnwardParts): OnwardDeeds {
  const onward = (ground: Ground, visit: Visit) => goOn(parts, ground, visit)
  return {
    serveScript: () => SCRIPT,
    landVisitor: (ground, visit) => land(parts, ground, visit),
    goOn: onward,
    goOnWithoutId: onward,
  }
}

const PLAIN = { 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8' }
const HTML = { 'cache-control': 'no-store', 'content-type': 'text/html; charset=utf-8' }

/** Read once, at the start. Browsers cache it for an hour, so a new version reaches every page within an hour. */
const SCRIPT: Answer = {
  status: 200,
  headers: {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=3600',
    'cross-origin-resource-policy': 'cross-origin',
  },
  body: readFileSync(join(import.meta.dirname, 'sluice.js'), 'utf8'),
}

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

/** `isUnsure`: the click may exist, but the database could not be asked. */
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
  // On a domain, only clicks of the domain's organization.
  const ids = idsOf(visit).filter(id => isOfHost(visit.host, organizationOfClick(secrets.clickKey, id) ?? 0))
  const { click, isUnsure } = await firstClick(parts, ids)
  if (click === undefined) return isUnsure ? LATER : { ...NOT_FOUND, is_unknown: true }
  const isVisit = visit.method !== 'HEAD' && isSeen(parts, click, visit)
  const answer = (await toChannel(parts, click, isVisit)) ?? toOffer(parts, click)
  if (answer === undefined) return NOT_FOUND
  if (isVisit) await parts.landed.mark(click.org_id, click.id)
  return answer
}

/** To the offer or bot that was chosen at the click, with this click's values; else to the campaign's fallback. */
function toOffer({ live }: OnwardParts, click: FoundClick): Answer | undefined {
  const campaign = click.campaign_id === null ? undefined : live.campaign(click.campaign_id)
  const offer = click.offer_id === null ? undefined : live.object('offer', click.offer_id)
  const bot = offer !== undefined || click.bot_id === null ? undefined : live.object('bot', click.bot_id)
  const isGone = campaign?.organization.is_deleted === true
  if (isOpen(offer) && !isGone) return ledTo(templateOf(offer), click)
  if (bot?.is_deleted === false && !isGone) {
    const { template, app_link } = intoTelegram(placeOfPath(campaign, click, live), bot)
    return ledTo(template, click, app_link)
  }
  return campaign && ledTo(compiledCampaign(campaign, live).fallback, click)
}

/**
 * Into the channel at the end of the click's path through a flow, by an invite link of the click's own, which it gets now. Crawlers, prefetches and HEAD
 * get the link that the campaign shares.
 */
async function toChannel(
  { live, clicks }: OnwardParts,
  click: FoundClick,
  isVisit: boolean,
): Promise<Answer | undefined> {
  const { org_id, id: click_id, campaign_id } = click
  const campaign = campaign_id === null ? undefined : live.campaign(campaign_id)
  if (campaign === undefined || campaign.organization.is_deleted) return undefined
  const place = channelOfPath(campaign, click, live)
  const { fallback } = compiledCampaign(campaign, live)
  const channel = place && openChannel(place.channel_id, fallback, live)
  if (place === undefined || channel === undefined) return undefined
  const shared = () => clicks.sharedLink({ channel, campaign_id: campaign.id })?.url
  const own = isVisit ? await clicks.linkFor({ org_id, channel_id: channel.id, click_id, campaign_id }) : shared()
  const open = own ?? (fallback === undefined && channel.username !== null ? publicChat(channel.username) : undefined)
  if (open === undefined) return fallback === undefined ? COME_BACK : ledTo(fallback, click)
  return redirectIntoChannel(open, place)
}

function ledTo(template: AddressTemplate | undefined, click: FoundClick, app_link?: string): Answer | undefined {
  const location = template?.fill(valuesOfClick(click))
  if (location === undefined) return undefined
  if (app_link !== undefined) return openingPage(location, app_link + toWireId(click.id))
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
  for (const id of ids) {
    try {
      const click = await clicks.find(id)
      if (click !== undefined) return { click, isUnsure: false }
    } catch {
      isUnsure = true
    }
  }
  return { click: undefined, isUnsure }
}

const QUERY_NAMES = ['click_id', 'clickid', 'sluice_click']

/** The click ids of a request, most certain first: from the path, the query, the landing page's URL, the visitor's cookie. */
function idsOf({ params, url, headers }: Visit): string[] {
  const { referer } = headers
  const sent = [
    params['click'],
    ...QUERY_NAMES.map(name => queryOf(url).get(name)),
    ...QUERY_NAMES.map(name => queryOf(typeof referer === 'string' ? referer : '').get(name)),
  ]
  const ids = sent.map(text => (text == null ? undefined : toUuid(text)))
  return [...new Set([...ids, clickOfCookie(headers['cookie'])])].filter(id => id !== undefined)
}

function queryOf(url: string): URLSearchParams {
  const at = url.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1).split('#', 1)[0])
}
