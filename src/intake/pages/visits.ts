/**
 * Records visits that pages report. Anybody can send such a report, so it moves no money: it is a click, and no more. A report of a page whose site is
 * not listed is refused and kept under Refused.
 */
import { MINUTE_MS } from '../../contract/days.ts'
import { timeOfId, toUuid } from '../../contract/ids.ts'
import { Refusal } from '../../contract/refusals.ts'
import { type Ground, isOfHost, type Visit } from '../../ground/room.ts'
import type { LiveCampaign, LiveCampaigns } from '../../traffic/campaigns/live.ts'
import type { PageVisit } from '../clicks/click.ts'
import { organizationOfClick } from '../clicks/click-id.ts'
import type { Clicks } from '../clicks/clicks.ts'
import { compiledCampaign } from '../clicks/decide.ts'
import type { FoundClick } from '../clicks/found.ts'
import type { StoredVisit } from '../clicks/page-visits.ts'
import type { Landed } from '../onward/landed.ts'
import type { Keeper } from '../refused-events/keep.ts'
import { asVisit, hasOtherIds, idsIn, isListed, pageText, siteOfRequest, siteText } from './report.ts'
import type { PageServers } from './servers.ts'

export type PageTools = {
  readonly ground: Ground
  readonly live: LiveCampaigns
  readonly clicks: Pick<Clicks, 'find' | 'pages' | 'unsettled'>
  readonly landed: Pick<Landed, 'mark'>
  readonly keeper: Pick<Keeper, 'keep'>
  readonly servers: Pick<PageServers, 'isKnown'>
}

/** What a page says about its visit. `query` is the address with its parameters, if they are not in the page's own. */
type PageReport = {
  readonly campaign: LiveCampaign
  readonly visit: Visit
  readonly token: string
  readonly via: PageVisit['via']
  readonly page: URL | undefined
  readonly query?: string
  /** A click id that the browser already has. */
  readonly known?: unknown
}

/** So much of a refused page's address is kept: even if each character is escaped, the whole report fits into what is kept of a body. */
const KEPT_URL = 3500
/** A visitor who comes back to a page within this time is on the same visit. */
const SAME_VISIT_MS = 30 * MINUTE_MS

/** The campaign of a key, if visitors of this host can reach it. */
export function campaignOfKey(
  live: LiveCampaigns,
  sent: string,
  visit: Visit,
): LiveCampaign | undefined | Promise<LiveCampaign | undefined> {
  const key = sent.toLowerCase()
  const reached = (campaign: LiveCampaign | undefined) => {
    if (campaign === undefined || campaign.is_deleted || campaign.organization.is_deleted) return undefined
    return isOfHost(visit.host, campaign.org_id) ? campaign : undefined
  }
  const known = live.find(key)
  return known === undefined ? live.search(key).then(reached) : reached(known)
}

type Admission = { readonly site: URL | undefined; readonly isServer: boolean }

/**
 * The site of a report, and how it arrived. A page server with its secret stands in for the site. Refuses `site_not_listed` and `page_server_unknown`,
 * and keeps the refused report.
 */
export function admitReport(
  tools: Pick<PageTools, 'servers' | 'keeper'>,
  { campaign, visit, page, via }: Pick<PageReport, 'campaign' | 'visit' | 'page' | 'via'>,
  about: { readonly click_text?: string; readonly type?: string } = {},
): Admission | Promise<Admission> {
  const secret = visit.headers['x-sluice-secret']
  const site = siteOfRequest(visit, page)
  if (secret === undefined && isListed(campaign, site)) return { site, isServer: false }
  const refused = (refusal: Refusal): never => {
    const body = { via, site: siteText(site), page: pageText(page), u: page?.href.slice(0, KEPT_URL) ?? null }
    const { org_id, id: campaign_id } = campaign
    void tools.keeper.keep({ org_id, surface: 'page', campaign_id, refusal, body, ...about, received_at: Date.now() })
    throw refusal
  }
  if (secret === undefined) return refused(new Refusal('site_not_listed'))
  return tools.servers
    .isKnown(campaign, String(secret))
    .then(isKnown => (isKnown ? { site: page, isServer: true } : refused(new Refusal('page_server_unknown'))))
}

/** Records an admitted report, or finds the click that it belongs to. Undefined if it could not be stored. */
export async function recordReport(
  tools: PageTools,
  report: PageReport,
  { site, isServer }: Admission,
): Promise<StoredVisit | undefined> {
  const { clicks } = tools
  const { campaign, visit, token, page, query = page?.href ?? '' } = report
  const recent = clicks.pages.recent(campaign.id, token)
  if (recent !== undefined) return await recent
  // Most visits know no click: they wait for nothing but their own storing.
  const had = report.known == null ? undefined : await clickInBrowser(tools, report.known, campaign)
  const address = isServer ? String(visit.headers['x-visitor-address'] ?? '').trim() : undefined
  const sent = {
    campaign,
    visit: asVisit(visit, query, { visitor_id: had?.visitor_id, address }),
    token,
    via: isServer ? ('server' as const) : report.via,
    page: pageText(page),
    site: siteText(site),
  }
  const ids = idsIn(page)
  const inAddress = ids.length === 0 ? undefined : await clickInAddress(tools, campaign, ids)
  const joined = inAddress ?? clickStillOpen(tools, campaign, query, had)
  const stored = joined === undefined ? await clicks.pages.record(sent) : await clicks.pages.join(sent, joined)
  if (stored?.isJoined) await landJoined(tools, campaign, stored.click_id)
  return stored
}

/** A redirect's click was not landed when its page opened; a page's own click is landed from the start. */
async function landJoined({ clicks, landed }: PageTools, { org_id }: LiveCampaign, click_id: string): Promise<void> {
  const click = await clicks.find(click_id).catch(() => undefined)
  if (click?.way !== 'page') await landed.mark(org_id, click_id)
}

/** The click that the browser has, if it is of this organization. */
async function clickInBrowser(
  { ground, clicks }: PageTools,
  sent: unknown,
  { org_id }: LiveCampaign,
): Promise<FoundClick | undefined> {
  const id = typeof sent === 'string' ? toUuid(sent) : undefined
  if (id === undefined || organizationOfClick(ground.secrets.clickKey, id) !== org_id) return undefined
  return await clicks.find(id).catch(() => undefined)
}

/** The click whose id is among those in the address of the page, because a redirect led there. While the database is away the id is believed. */
async function clickInAddress(
  { ground, clicks }: PageTools,
  { org_id }: LiveCampaign,
  ids: readonly string[],
): Promise<string | undefined> {
  for (const id of ids) {
    if (organizationOfClick(ground.secrets.clickKey, id) !== org_id) continue
    try {
      const click = await clicks.find(id)
      if (click !== undefined) return click.id
    } catch {
      return id
    }
  }
  return undefined
}

/** The click that the browser has, if it is of this campaign and recent, and the source did not bring another click. */
function clickStillOpen(
  { live }: PageTools,
  campaign: LiveCampaign,
  query: string,
  had: FoundClick | undefined,
): string | undefined {
  if (had?.campaign_id !== campaign.id || timeOfId(had.id) < Date.now() - SAME_VISIT_MS) return undefined
  return hasOtherIds(compiledCampaign(campaign, live).read(query), had) ? undefined : had.id
}
