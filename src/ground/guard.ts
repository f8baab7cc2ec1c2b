/**
 * Stops addresses that users enter from reaching the internal network: outgoing connections go to public addresses only. The check is in the
 * connector, because a name may resolve to another address after any earlier check.
 */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { Agent, buildConnector } from 'undici'

const CONNECT_TIMEOUT_MS = 5000

// The library counts these as ordinary unicast: IPv4 in its oldest IPv6 form, and Azure's metadata address.
const OLD_IPV4_FORM = ipaddr.parseCIDR('::/96')
const AZURE_METADATA = '168.63.129.16'

/** True for an address in public use that is not one of this machine's own. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const raw = ipaddr.parse(text)
  if (raw.kind() === 'ipv6' && raw.match(OLD_IPV4_FORM)) return false
  const address = ipaddr.process(text)
  if (address.range() !== 'unicast' || address.toString() === AZURE_METADATA) return false
  return !isOwnAddress(address.toNormalizedString())
}

function isOwnAddress(normalized: string): boolean {
  return Object.values(networkInterfaces())
    .flatMap(list => list ?? [])
    .some(({ address }) => ipaddr.isValid(address) && ipaddr.process(address).toNormalizedString() === normalized)
}

/** True for an address that a domain may point to: a public one, or one of this machine's own except loopback. */
export function mayBePointedAt(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  return isPublicAddress(text) || (address.range() !== 'loopback' && isOwnAddress(address.toNormalizedString()))
}

const PRIVATE_NAME = /(^|\.)(localhost|local|internal|home\.arpa)\.?$/i

/** True for a host that is private without a DNS query: an address literal that is not public, or a name such as `localhost`. */
export function isPrivateHost(hostname: string): boolean {
  const literal = hostname.replace(/^\[|\]$/g, '')
  return isIP(literal) === 0 ? PRIVATE_NAME.test(hostname) : !isPublicAddress(literal)
}

/** The target was not called because its address is not public. */
export class PrivateTargetError extends Error {
  constructor(address: string) {
    super(`${address} is not a public address`)
  }
}

type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** A lookup that fails if any address of the name is not public, because a mixed answer is an attack. */
function publicLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error !== null || first === undefined)
        return callback(error ?? new Error(`${hostname} has no address`), '', 0)
      const bad = addresses.find(({ address }) => !isPublicAddress(address))
      if (bad !== undefined) return callback(new PrivateTargetError(bad.address), '', 0)
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family)
    })
  }
}

const POOL = { pipelining: 1, keepAliveTimeout: 10_000 }

/** A client without the guard, for addresses that the operator has set. It follows no redirects either. */
export function plainAgent({ connections }: { connections: number }): Agent {
  return new Agent({ ...POOL, connections, connect: { timeout: CONNECT_TIMEOUT_MS } })
}

/**
 * An HTTP client that follows no redirects and connects to public addresses only, unless `allowPrivate`. `connections` is the most it opens to
 * one origin. `resolve` replaces the system's resolver in tests.
 */
export function guardedAgent({
  allowPrivate,
  connections,
  resolve = lookup,
}: {
  allowPrivate: boolean
  connections: number
  resolve?: Resolve
}): Agent {
  if (allowPrivate) return plainAgent({ connections })
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: publicLookup(resolve) })
  const guarded: buildConnector.connector = (target, callback) => {
    // An address literal is not looked up, so it is checked here.
    const literal = target.hostname.replace(/^\[|\]$/g, '')
    if (isIP(literal) !== 0 && !isPublicAddress(literal)) return callback(new PrivateTargetError(literal), null)
    return connect(target, (error, socket) => {
      if (error !== null) return callback(error, null)
      const reached = socket.remoteAddress ?? 'an unknown address'
      if (isPublicAddress(reached)) return callback(null, socket)
      socket.destroy()
      return callback(new PrivateTargetError(reached), null)
    })
  }
  return new Agent({ ...POOL, connections, connect: guarded })
}
