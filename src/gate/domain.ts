/**
 * How a domain of an organization answers. Its own links open, at `/c/:key` and at `/:key`; what else there is on it is said by two places, `/`
 * and every unknown path. The dashboard, its API and whatever tells that this is Sluice are not there.
 */
import type { Answer, DomainHost, DomainPlace, Visit } from '../ground/room.ts'

/** What the door is given to answer for domains. */
export type Domains = {
  /** The domain of a name, if an organization has proven it. */
  readonly find: (name: string) => DomainHost | undefined
  /** The deed of `GET /c/:key`. */
  readonly open: (visit: Visit) => Answer | Promise<Answer>
  /** The key of a campaign, also of a deleted one. */
  readonly keyOf: (campaign_id: string) => string | undefined
  /** Whether this process answers by https under a name, with a certificate of its own. */
  readonly isCertified: (name: string) => boolean
  /** Notes that somebody came. Must neither wait nor throw. */
  readonly noteVisit: (host: DomainHost) => void
}

const PLAIN = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
const NOT_FOUND: Answer = { status: 404, headers: PLAIN, body: 'not found\n' }

/** A link without /c/ in front, as people and programs rewrite addresses: see gate/spelling.ts. */
const LINK = /^\/+([a-z0-9-]{3,64})\/*(?:(&)|(?=[?#]|$))/i

const isRead = ({ method }: Pick<Visit, 'method'>): boolean => method === 'GET' || method === 'HEAD'

/** What is answered at a path that no route of this host has. */
export async function answerOnDomain(domains: Domains, host: DomainHost, visit: Visit): Promise<Answer> {
  const [path = ''] = visit.url.split(/[?#]/, 1)
  if (!isRead(visit) || !path.startsWith('/') || path.startsWith('/.well-known/')) return marked(host, NOT_FOUND)
  if (path === '/') return marked(host, await placed(domains, host.root, visit))
  if (path === '/robots.txt') return robots(host)
  const [sent, key, ampersand] = LINK.exec(visit.url) ?? []
  if (sent === undefined || key === undefined) return await answerUnknown(domains, host, visit)
  const url = `/${key}${ampersand === undefined ? '' : '?'}${visit.url.slice(sent.length)}`
  return await checked(domains, host, visit, await domains.open({ ...visit, url, params: { key } }))
}

/** What a deed has answered on this host: where it knows nothing of the kind, what stands at unknown paths. */
export function checked(domains: Domains, host: DomainHost, visit: Visit, answer: Answer): Answer | Promise<Answer> {
  return answer.is_unknown && isRead(visit) ? answerUnknown(domains, host, visit) : marked(host, answer)
}

async function answerUnknown(domains: Domains, host: DomainHost, visit: Visit): Promise<Answer> {
  return marked(host, await placed(domains, host.unknown_path, visit))
}

async function placed({ open, keyOf }: Domains, place: DomainPlace, visit: Visit): Promise<Answer> {
  if (place.type === 'not_found') return NOT_FOUND
  // As it stands there: what visitors bring along is not passed on, so that it leads nobody anywhere else.
  if (place.type === 'redirect') return { status: 302, headers: { location: place.url, 'cache-control': 'no-store' } }
  const key = keyOf(place.campaign_id)
  return key === undefined ? NOT_FOUND : await open({ ...visit, params: { key } })
}

/** Search engines are kept out of whatever is shown here. */
function marked(host: DomainHost, answer: Answer): Answer {
  if (host.robots === 'allow' || (answer.status >= 300 && answer.status < 400)) return answer
  return { ...answer, headers: { ...answer.headers, 'x-robots-tag': 'noindex' } }
}

function robots({ robots }: DomainHost): Answer {
  const body = `User-agent: *\nDisallow:${robots === 'refuse' ? ' /' : ''}\n`
  return { status: 200, headers: { ...PLAIN, 'cache-control': 'public, max-age=3600' }, body }
}

/**
 * Where a visit by http goes on by https, if the domain wants that and a certificate is in service. The probes of certificates and of
 * domains are answered as they come, and what is sent is taken, because a redirect would lose it.
 */
export function secured(
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
