/**
 * The host that a request names, and what is open there; step 0 of the gate. Only the Host header decides: anybody can send
 * X-Forwarded-Host, so it is never read. A Host only selects among known names; no link or mail is made from it.
 *
 *   main    BASE_URL's host and ALSO_HOSTS; a loopback name if the request was made on this machine; without BASE_URL every name that is
 *           not a custom domain
 *   domain  a name that an organization has proven: endpoints declared `hosts: 'any'` are open, for this organization only; gate/domain.ts
 *   other   an unknown name or an IP address: visitors, networks and keys are let in, because somebody paid for that link; pages and
 *           endpoints for sessions answer 421, because nobody can be signed in there
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { FastifyRequest } from 'fastify'
import type { Endpoint } from '../contract/endpoint.ts'
import { refuse } from '../contract/refusals.ts'
import type { Config } from '../ground/config.ts'
import { isLoopbackAddress, isLoopbackHost } from '../ground/network.ts'
import type { DomainHost, Host } from '../ground/room.ts'
import { isForwarded, trusting } from '../ground/trusted.ts'
import { mainNames, nameOfHost } from '../traffic/domains/name.ts'
import { keyOf } from './identify.ts'

const MAIN: Host = { is: 'main' }
const OTHER: Host = { is: 'other' }

type RawRequest = Pick<IncomingMessage, 'headers' | 'socket'>
type HostOf = (raw: RawRequest) => Host

/** The connections to the public TLS servers. */
const publicConnections = new WeakSet<Socket>()

/** Marks a connection to a public TLS server. On it a loopback name is not the main host, unless BASE_URL is that name. */
export function markPublic(socket: Socket): void {
  publicConnections.add(socket)
}

/** Opens the function that finds a request's host. For BASE_URL, spelled as browsers spell it, one comparison is enough. */
export function openHosts(
  config: Pick<Config, 'baseUrl' | 'alsoHosts'>,
  domainOf: (name: string) => DomainHost | undefined,
): HostOf {
  const base = config.baseUrl === undefined ? undefined : new URL(config.baseUrl)
  const names = new Set(mainNames(config))
  return raw => {
    const { host: sent } = raw.headers
    if (sent !== undefined && sent === base?.host) return MAIN
    const name = nameOfHost(sent ?? '')
    if (base !== undefined && name !== base.hostname && isLoopbackHost(name))
      return isDirect(raw) && (names.has(name) || isLoopbackAddress(raw.socket.remoteAddress ?? '')) ? MAIN : OTHER
    if (names.has(name)) return MAIN
    return domainOf(name) ?? (base === undefined ? MAIN : OTHER)
  }
}

/** Whether a request came to PORT without a proxy. Only then can a loopback name be trusted: anybody on the internet can send one. */
function isDirect({ headers, socket }: RawRequest): boolean {
  return !publicConnections.has(socket) && !isForwarded(headers)
}

/** Whether the Host header was sent more than once. Node silently takes the first, while a proxy may have used another. */
function isHostRepeated({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') times += 1
  return times > 1
}

/**
 * Whether only the dashboard uses an endpoint. Where there is no dashboard such an endpoint answers 421, except to a key, which is told that no
 * right covers it.
 */
export function isOfDashboard({ access, route }: Pick<Endpoint, 'access' | 'route'>): boolean {
  return access === 'anyone' ? route.includes(' /api/') : !('key' in access)
}

/** Returns the host of a request. Refuses 400 for several Host headers and 421 for an endpoint that is not open on that host. */
export function admitHost(hostOf: HostOf, request: FastifyRequest): Host {
  const { raw } = request
  if (isHostRepeated(raw)) refuse('invalid_request', { error: 'Host: must be sent once' })
  const host = hostOf(raw)
  if (host.is !== 'other') return host
  const { endpoint } = request.routeOptions.config
  if (typeof endpoint === 'object' && isOfDashboard(endpoint) && keyOf(raw.headers) === undefined)
    refuse('misdirected_request')
  return host
}

/**
 * Opens the function that tells whether a visitor came over HTTPS: by the connection itself, or by a trusted proxy's last X-Forwarded-Proto.
 * Undefined when neither says and a proxy in front of Sluice may serve HTTPS.
 */
export function openSecurity(
  config: Pick<Config, 'trustProxy' | 'tls'>,
): (raw: IncomingMessage) => boolean | undefined {
  const whenUnknown = config.tls === 'off' ? undefined : false
  const isTrusted = trusting(config.trustProxy)
  // One proxy makes nearly all connections, so the last result is cached.
  let last = { peer: '', isTrusted: false }
  const isTrustedPeer = (peer: string) => {
    if (peer !== last.peer) last = { peer, isTrusted: isTrusted(peer) }
    return last.isTrusted
  }
  return ({ socket, headers }) => {
    if ((socket as TLSSocket).encrypted === true) return true
    const sent = headers['x-forwarded-proto']
    if (sent === undefined || !isTrustedPeer(socket.remoteAddress ?? '')) return whenUnknown
    return String(sent).split(',').at(-1)?.trim().toLowerCase() === 'https'
  }
}
