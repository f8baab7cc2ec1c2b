/**
 * Pages: what they report themselves, without a redirect between the ad and the page. Owns `page_servers`; the clicks room stores the visits.
 * A page never waits for an answer and never loses its visitor: whatever fails, the way on leads on.
 */
import { randomUUID } from 'node:crypto'
import { toWireId } from '../../contract/ids.ts'
import { Refusal, refuse, retryInAMinute } from '../../contract/refusals.ts'
import type { Answer, Deed, Visit } from '../../ground/room.ts'
import { isAhead } from '../clicks/agent.ts'
import { isPageToken, tokenKey } from '../clicks/page-tokens.ts'
import { queryOf, type WayOn } from '../onward/onward.ts'
import { JSON_HEADERS, pixel } from './answers.ts'
import type * as api from './api.ts'
import { listArrivals, readPageTag } from './arrivals.ts'
import { type ConversionTools, conversionDeeds } from './conversions.ts'
import { asVisit, isListed, readBody, siteOfRequest, webAddress } from './report.ts'
import { createPageServer, deletePageServer, listPageServers } from './servers.ts'
import { admitReport, campaignOfKey, type PageTools, recordReport } from './visits.ts'

type VisitDeeds = {
  countVisit: Deed<typeof api.countVisit>
  countVisitByImage: Deed<typeof api.countVisitByImage>
  goOnFromPage: Deed<typeof api.goOnFromPage>
}

/** Deeds for the dashboard. */
const TAG_DEEDS = { readPageTag, listArrivals, listPageServers, createPageServer, deletePageServer }

type PageDeeds = VisitDeeds & typeof TAG_DEEDS & ReturnType<typeof conversionDeeds>

/** The deeds of the room. */
export function pageDeeds(tools: ConversionTools, wayOn: WayOn): PageDeeds {
  return {
    ...TAG_DEEDS,
    ...conversionDeeds(tools),
    countVisit: (_ground, visit) => countVisit(tools, visit),
    countVisitByImage: (_ground, visit) => countByImage(tools, visit),
    goOnFromPage: (_ground, visit) => goOn(tools, wayOn, visit),
  }
}

async function countVisit(tools: PageTools, visit: Visit): Promise<Answer> {
  const campaign = (await campaignOfKey(tools.live, visit.params['key'] ?? '', visit)) ?? refuse('object_not_found')
  const { t, u, c } = readBody(visit.body)
  if (!isPageToken(t)) refuse('invalid_request', { error: 't: must be 22 to 43 of A-Z a-z 0-9 _ -' })
  const page = webAddress(u)
  const report = { campaign, visit, token: tokenKey(t), via: 'script' as const, page, known: c }
  const stored = await recordReport(tools, report, await admitReport(tools, report))
  if (stored === undefined) throw retryInAMinute()
  const click_id = toWireId(stored.click_id)
  return {
    status: 200,
    headers: JSON_HEADERS,
    body: JSON.stringify({ click_id, onward: `${originOf(visit)}/o/${click_id}` }),
  }
}

/** The address under which the page reached Sluice. */
const originOf = ({ headers, is_secure }: Visit): string =>
  `${is_secure ? 'https' : 'http'}://${String(headers['host'] ?? '')}`

async function countByImage(tools: PageTools, visit: Visit): Promise<Answer> {
  const campaign = await campaignOfKey(tools.live, visit.params['key'] ?? '', visit)
  if (campaign === undefined) return pixel(404)
  const query = queryOf(visit.url)
  const page = webAddress(query.get('u')) ?? webAddress(visit.headers['referer'])
  const t = query.get('t')
  const token = isPageToken(t) ? tokenKey(t) : randomUUID()
  const sent = visit.url.slice(visit.url.indexOf('?') + 1 || visit.url.length)
  const report = {
    campaign,
    visit,
    token,
    via: 'image' as const,
    page,
    query: `?${sent}&${page?.search.slice(1) ?? ''}`,
  }
  try {
    const admitted = await admitReport(tools, report)
    if (visit.method !== 'HEAD') await recordReport(tools, report, admitted)
    return pixel(200)
  } catch (error) {
    return pixel(error instanceof Refusal && error.status === 403 ? 403 : 200)
  }
}

/** From a page to its offer by the page token. A visit that cannot be recorded leads on without a click id. */
async function goOn(tools: PageTools, wayOn: WayOn, visit: Visit): Promise<Answer> {
  const t = visit.params['token'] ?? ''
  if (!isPageToken(t)) return wayOn.nowhere
  const token = tokenKey(t)
  const query = queryOf(visit.url)
  const key = query.get('k')
  const campaign = key === null ? undefined : await campaignOfKey(tools.live, key, visit)
  const known = await tools.clicks.pages.find(token, campaign?.id)
  if (known !== undefined) return await wayOn.byClick(visit, known)
  if (campaign === undefined) return wayOn.nowhere
  const page = webAddress(query.get('u'))
  const site = siteOfRequest(visit, page)
  const isRecorded = visit.method !== 'HEAD' && !isAhead(visit.headers) && isListed(campaign, site)
  const asOnPage = asVisit(visit, page?.href ?? '')
  if (!isRecorded) return await wayOn.without(asOnPage, campaign)
  const report = { campaign, visit, token, via: 'onward' as const, page, known: query.get('c') ?? undefined }
  const stored = await recordReport(tools, report, { site, isServer: false })
  return stored === undefined ? await wayOn.without(asOnPage, campaign) : await wayOn.byClick(visit, stored.click_id)
}
