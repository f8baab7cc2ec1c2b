/** Addresses of peers: which network one is counted for, and whether it is this machine. */
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
