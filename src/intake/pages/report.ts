/** Reads what a page reports: its address, its site, and the visit as if the visitor had opened the campaign link with the page's parameters. */
import { isIP } from 'node:net'
import { AD_IDS } from '../../contract/ad-platforms.ts'
import { fieldsOf } from '../../contract/json.ts'
import { toUuid } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { isOfSites } from '../../contract/sites.ts'
import { cut } from '../../contract/texts.ts'
import type { Visit } from '../../ground/room.ts'
import type { LiveCampaign } from '../../traffic/campaigns/live.ts'

const BODY_BYTES = 16_384
/** Longer addresses are read up to here. */
const URL_BYTES = 8192
const PAGE_LENGTH = 500
/** No name of a host is longer. */
const SITE_LENGTH = 255
/** Of the forms of click ids: on the wire, and as a uuid without and with dashes. */
const ID_LENGTHS: ReadonlySet<number> = new Set([26, 32, 36])
/** No page passes on more ids. */
const MOST_IDS = 10

const isWeb = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:'

/** An address of the web; undefined for anything else. */
export function webAddress(sent: unknown): URL | undefined {
  const url = typeof sent === 'string' ? URL.parse(cut(sent, URL_BYTES)) : null
  return url !== null && isWeb(url) ? url : undefined
}

/** The fields of a JSON body. Refuses `payload_too_large`, `invalid_json` and `invalid_request`. */
export function readBody(body: unknown): Readonly<Record<string, unknown>> {
  const bytes = body instanceof Uint8Array ? body : new Uint8Array()
  if (bytes.length > BODY_BYTES) refuse('payload_too_large', { hint: 'Send at most 16 KiB.' })
  let sent: unknown
  try {
    sent = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
  } catch {
    refuse('invalid_json')
  }
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
    refuse('invalid_request', { error: 'the body must be an object' })
  return fieldsOf(sent)
}

/** The site that a request names: by Origin, else by Referer, else by the address of the page. */
export function siteOfRequest({ headers }: Pick<Visit, 'headers'>, page: URL | undefined): URL | undefined {
  const { origin, referer } = headers
  // Almost always the page's own.
  if (origin !== undefined && origin === page?.origin) return page
  if (typeof origin === 'string' && origin !== '' && origin !== 'null') return webAddress(origin)
  return typeof referer === 'string' && referer !== '' ? webAddress(referer) : page
}

/** Whether the campaign lists the site. */
export const isListed = ({ sites }: Pick<LiveCampaign, 'sites'>, site: URL | undefined): boolean =>
  site !== undefined && isOfSites(sites, site)

/** The address of a page without query and fragment, as it is stored. An address that was read has only ASCII. */
export const pageText = (page: URL | undefined): string | null =>
  page === undefined ? null : `${page.origin}${page.pathname}`.slice(0, PAGE_LENGTH)

/** The site as it is stored. */
export const siteText = (site: URL | undefined): string | null => site?.host.slice(0, SITE_LENGTH) ?? null

/**
 * The visit with the parameters of `query`, the address of a page. `visitor_id` continues a visitor who was here before, because a page of another site
 * has no cookie of Sluice's. `address` is the visitor's if a page's server reports the visit.
 */
export function asVisit(
  visit: Visit,
  query: string,
  { visitor_id, address }: { visitor_id?: string | null | undefined; address?: string | undefined } = {},
): Visit {
  const { params, headers, peer, host, is_secure, body } = visit
  const cookie = visitor_id == null ? undefined : `vis_id=${visitor_id}`
  // Cookies of the request are of another page, if there are any.
  const own = headers['cookie'] === cookie ? headers : { ...headers, cookie }
  const visitor = address !== undefined && isIP(address) !== 0 ? address : undefined
  return {
    method: 'GET',
    url: query,
    params,
    headers: own,
    ip: visitor ?? visit.ip,
    // As its own peer, so that the country is that of the address, not what a proxy says of the server.
    peer: visitor ?? peer,
    host,
    is_secure,
    body,
  }
}

/** The texts in the query of a page that could be click ids, as uuids. */
export function idsIn(page: URL | undefined): string[] {
  const query = page?.search ?? ''
  const ids: string[] = []
  // Each value begins behind the last `=` before its end. A pattern would try every `=` of every visit.
  for (let start = 1; start < query.length && ids.length < MOST_IDS; ) {
    const at = query.indexOf('&', start)
    const end = at < 0 ? query.length : at
    const value = query.lastIndexOf('=', end - 1) + 1
    const id = value > start && ID_LENGTHS.has(end - value) ? toUuid(query.slice(value, end)) : undefined
    if (id !== undefined) ids.push(id)
    start = end + 1
  }
  return ids
}

/** The ids by which a source tells its clicks apart. */
const SOURCE_IDS = [...AD_IDS, 'ref_id'] as const
type SourceIds = { readonly [name in (typeof SOURCE_IDS)[number]]: string | null }

/** Whether the address of a page has an id of a source that the click does not have: then it is another click. */
export const hasOtherIds = (sent: SourceIds, click: SourceIds): boolean =>
  SOURCE_IDS.some(name => sent[name] !== null && sent[name] !== click[name])
