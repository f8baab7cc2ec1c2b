/**
 * The answers on a custom domain of an organization. Its campaign links work at `/c/:key` and `/:key`; two settings of the domain decide the
 * answers at `/` and at unknown paths. The dashboard and the API do not exist on it, and nothing reveals that Sluice serves it.
 */
import type { Answer, DomainHost, DomainPlace, Visit } from '../ground/room.ts'

/** The functions by which the gate answers on custom domains. */
export type Domains = {
  /** The domain with this name, if an organization has proven it. */
  readonly find: (name: string) => DomainHost | undefined
  /** The deed of `GET /c/:key`. */
  readonly open: (visit: Visit) => Answer | Promise<Answer>
  /** The key in a campaign's link, also for a deleted campaign. */
  readonly keyOf: (campaign_id: string) => string | undefined
  /** Whether this process serves HTTPS for the name with its own certificate. */
  readonly isCertified: (name: string) => boolean
  /** Records a visit to the domain. Must neither wait nor throw. */
  readonly noteVisit: (host: DomainHost) => void
}

const PLAIN = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
const NOT_FOUND: Answer = { status: 404, headers: PLAIN, body: 'not found\n' }

/** A campaign link without `/c/`, with the misspellings that gate/spelling.ts corrects. */
const LINK = /^\/+([a-z0-9-]{3,64})\/*(?:(&)|(?=[?#]|$))/i

const isRead = ({ method }: Pick<Visit, 'method'>): boolean => method === 'GET' || method === 'HEAD'

/** Answers at a path that is not a route of this host. */
export async function answerOnDomain(domains: Domains, host: DomainHost, visit: Visit): Promise<Answer> {
  const [path = ''] = visit.url.split(/[?#]/, 1)
  if (!isRead(visit) || !path.startsWith('/') || path.startsWith('/.well-known/')) return withNoindex(host, NOT_FOUND)
  if (path === '/') return withNoindex(host, await answerBySetting(domains, host.root, visit))
  if (path === '/robots.txt') return robots(host)
  const [sent, key, ampersand] = LINK.exec(visit.url) ?? []
  if (sent === undefined || key === undefined) return await answerUnknown(domains, host, visit)
  const url = `/${key}${ampersand === undefined ? '' : '?'}${visit.url.slice(sent.length)}`
  return await replacingUnknown(domains, host, visit, await domains.open({ ...visit, url, params: { key } }))
}

/** A deed's answer on this host. If the deed does not know the object, the answer for unknown paths replaces it. */
export function replacingUnknown(
  domains: Domains,
  host: DomainHost,
  visit: Visit,
  answer: Answer,
): Answer | Promise<Answer> {
  return answer.is_unknown && isRead(visit) ? answerUnknown(domains, host, visit) : withNoindex(host, answer)
}

async function answerUnknown(domains: Domains, host: DomainHost, visit: Visit): Promise<Answer> {
  return withNoindex(host, await answerBySetting(domains, host.unknown_path, visit))
}

async function answerBySetting({ open, keyOf }: Domains, setting: DomainPlace, visit: Visit): Promise<Answer> {
  if (setting.type === 'not_found') return NOT_FOUND
  // The address is used as it is. The visitor's query is not added, so that nobody can change the target with it.
  if (setting.type === 'redirect')
    return { status: 302, headers: { location: setting.url, 'cache-control': 'no-store' } }
  const key = keyOf(setting.campaign_id)
  return key === undefined ? NOT_FOUND : await open({ ...visit, params: { key } })
}

/** Adds `noindex` for search engines, unless the domain allows them. */
function withNoindex(host: DomainHost, answer: Answer): Answer {
  if (host.robots === 'allow' || (answer.status >= 300 && answer.status < 400)) return answer
  return { ...answer, headers: { ...answer.headers, 'x-robots-tag': 'noindex' } }
}

function robots({ robots }: DomainHost): Answer {
  const body = `User-agent: *\nDisallow:${robots === 'refuse' ? ' /' : ''}\n`
  return { status: 200, headers: { ...PLAIN, 'cache-control': 'public, max-age=3600' }, body }
}

/**
 * The redirect of an HTTP visit to HTTPS, if the domain is set to HTTPS only and a certificate is in use; otherwise undefined. Probes of
 * certificates and domains are not redirected, nor are POSTs, because a redirect would lose their body.
 */
export function httpsRedirect(
  { isCertified }: Pick<Domains, 'isCertified'>,
  host: DomainHost,
  isSecure: boolean | undefined,
  method: string,
  url: string,
): Answer | undefined {
  if (host.https !== 'only' || isSecure !== false || !isRead({ method })) return undefined
  if (!host.has_certificate && !isCertified(host.name)) return undefined
  if (!url.startsWith('/') || url.startsWith('/.well-known/')) return undefined
  return { status: 302, headers: { location: `https://${host.name}${url}`, 'cache-control': 'no-store' } }
}
