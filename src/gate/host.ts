/**
 * Which name a request came by, and what is open there. Before step 1 of the door. `Host` alone says it: X-Forwarded-Host is anybody's
 * to send and is never read, and a Host only chooses among names that are known; no link or mail is made from it.
 *
 *   main    BASE_URL's host and ALSO_HOSTS; a loopback name where the request was made at this machine; without BASE_URL every name that
 *           is no domain
 *   domain  a name that an organization has proven: what is declared `hosts: 'any'`, and only of this organization; gate/domain.ts
 *   other   an unknown name or an address: visitors, networks and keys are let in, because somebody has paid for that link; what a
 *           session opens, and pages, are 421: nobody can be signed in there
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

type Arrived = Pick<IncomingMessage, 'headers' | 'socket'>
type HostOf = (raw: Arrived) => Host

/** The connections to the servers of TLS, which are open to everybody. */
const publicConnections = new WeakSet<Socket>()

/** Notes that a connection was made to a server of TLS: no loopback name is the main host there, but that of BASE_URL. */
export function notePublic(socket: Socket): void {
  publicConnections.add(socket)
}

/** Tells which host a request came to. A request to BASE_URL, spelled as browsers spell it, costs one comparison. */
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

/** Whether a request came to PORT and no proxy says that it has handed it on: anybody on the internet can send a loopback name. */
function isDirect({ headers, socket }: Arrived): boolean {
  return !publicConnections.has(socket) && !isForwarded(headers)
}

/** Whether the Host header stands there more than once: Node takes the first in silence, and a proxy may have meant another. */
function isHostRepeated({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') times += 1
  return times > 1
}

/**
 * Whether an endpoint is the dashboard's alone: no key and no visitor has a use for it, so that it has nothing to say where there is no
 * dashboard. With a key it still says that no right covers it.
 */
export function isOfDashboard({ access, route }: Pick<Endpoint, 'access' | 'route'>): boolean {
  return access === 'anyone' ? route.includes(' /api/') : !('key' in access)
}

/** Refuses 400 for several Host headers, 421 for what is not open on another host. Says which host it is. */
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
 * Tells whether a visitor came by https: on an encrypted connection, or as a trusted proxy's last X-Forwarded-Proto says; undefined where
 * nobody says, and somebody in front of Sluice may serve https.
 */
export function openSecurity(
  config: Pick<Config, 'trustProxy' | 'tls'>,
): (raw: IncomingMessage) => boolean | undefined {
  const unsaid = config.tls === 'off' ? undefined : false
  const isTrusted = trusting(config.trustProxy)
  // One proxy makes nearly all connections, so who was asked about last is asked about again.
  let last = { peer: '', isTrusted: false }
  const isBelieved = (peer: string) => {
    if (peer !== last.peer) last = { peer, isTrusted: isTrusted(peer) }
    return last.isTrusted
  }
  return ({ socket, headers }) => {
    if ((socket as TLSSocket).encrypted === true) return true
    const sent = headers['x-forwarded-proto']
    if (sent === undefined || !isBelieved(socket.remoteAddress ?? '')) return unsaid
    return String(sent).split(',').at(-1)?.trim().toLowerCase() === 'https'
  }
}
