/** Addresses of peers: which network one is counted for, and whether an address or a host is this machine. */
import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The network that quotas count an address for: an IPv4 address itself, also where it is mapped into IPv6; of an IPv6 address its /64,
 * because one customer is given at least that many. What is no address is answered as it is.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
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

/** As `networkOf`, but an IPv4 address is counted by its /24. For limits so high that a whole office does not reach them. */
export function wideNetworkOf(address: string): string {
  const network = networkOf(address)
  return isIPv4(network) ? network.slice(0, network.lastIndexOf('.')) : network
}

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i

/** Whether a host, with its port or without, is this machine itself. */
export const isLoopbackHost = (host: string): boolean => LOOPBACK_HOST.test(host)
