/** Peer addresses: the network that a quota counts them for, and whether an address or a host is this machine. */
import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The network that quotas count an address for: an IPv4 address itself, even when mapped into IPv6, and the /64 of an IPv6 address, because one
 * customer gets at least that many. Text that is no address is returned unchanged.
 */
export function networkOf(address: string): string {
  // Nearly all addresses; reading them would take longer than the rest of a report's pace.
  if (isIPv4(address) || !ipaddr.isValid(address)) return address
  const read = ipaddr.process(address)
  if (!(read instanceof ipaddr.IPv6)) return read.toString()
  return `${read.parts
    .slice(0, 4)
    .map(part => part.toString(16))
    .join(':')}::/64`
}

/** Whether an address is this machine's loopback, also mapped into IPv6. */
export function isLoopbackAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
}

/** Like `networkOf`, but with the /24 of an IPv4 address. For limits that a whole office does not reach. */
export function wideNetworkOf(address: string): string {
  const network = networkOf(address)
  return isIPv4(network) ? network.slice(0, network.lastIndexOf('.')) : network
}

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i

/** Whether a host, with its port or without, is this machine itself. */
export const isLoopbackHost = (host: string): boolean => LOOPBACK_HOST.test(host)

/** The dashboard's origin for this request: BASE_URL, otherwise the loopback address that the browser used, otherwise undefined. */
export function dashboardOrigin(baseUrl: string | undefined, host: string | undefined): string | undefined {
  if (baseUrl !== undefined) return baseUrl
  return host !== undefined && isLoopbackHost(host) ? `http://${host.toLowerCase()}` : undefined
}
