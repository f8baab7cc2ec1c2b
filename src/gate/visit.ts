/** Visits: requests that reach a deed without the checks for keys and sessions. Builds the visit from a request and sends its answer. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../ground/config.ts'
import type { Answer, DomainHost, Host, Visit } from '../ground/room.ts'
import { answerOnDomain, type Domains, httpsRedirect } from './domain.ts'
import { admitHost, openHosts, openSecurity } from './host.ts'

const NO_DOMAINS: Domains = {
  find: () => undefined,
  open: () => ({ status: 404 }),
  keyOf: () => undefined,
  isCertified: () => false,
  noteVisit: () => {},
}

export type HostAdmission = {
  readonly domains: Domains
  /** Step 0 of the gate: finds the host of a request. Refuses, or returns an answer if no route is to run. */
  readonly admit: (request: FastifyRequest) => { host: Host; answer?: Answer | Promise<Answer> }
  readonly visitOf: (request: FastifyRequest) => Visit
}

/** Opens visits for a process. Without `domains` there are no custom domains. */
export function openVisits(
  config: Pick<Config, 'baseUrl' | 'alsoHosts' | 'trustProxy' | 'tls'>,
  domains: Domains = NO_DOMAINS,
): HostAdmission {
  const hostOf = openHosts(config, domains.find)
  const isByHttps = openSecurity(config)
  const isBaseSecure = config.baseUrl?.startsWith('https:') ?? false
  const visitOf = (request: FastifyRequest): Visit => {
    const { raw, method, headers, ip, body, url, visited: host } = request
    const params = request.params as Visit['params']
    const peer = raw.socket.remoteAddress ?? ip
    return { method, url, params, headers, ip, peer, host, is_secure: isByHttps(raw) ?? isBaseSecure, body }
  }
  const answerEarly = (request: FastifyRequest, host: DomainHost) => {
    domains.noteVisit(host)
    const { method, url, raw, routeOptions } = request
    const { endpoint } = routeOptions.config
    const redirect = httpsRedirect(domains, host, isByHttps(raw), method, url)
    if (redirect !== undefined) return redirect
    if (typeof endpoint === 'object' && endpoint.hosts === 'any' && !request.is404) return undefined
    return answerOnDomain(domains, host, { ...visitOf(request), host })
  }
  return {
    domains,
    visitOf,
    admit(request) {
      const host = admitHost(hostOf, request)
      const answer = host.is === 'domain' ? answerEarly(request, host) : undefined
      return answer === undefined ? { host } : { host, answer }
    },
  }
}

/** Sends the answer to a visit. */
export function sendAnswer(reply: FastifyReply, { status, headers, body }: Answer): FastifyReply {
  reply.code(status)
  for (const name in headers) reply.header(name, headers[name])
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return reply.send(body)
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(body))
}
