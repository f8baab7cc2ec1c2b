/** Which machines' headers are believed: the operator's own proxies, as TRUST_PROXY names them. */
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** An IPv4 address without the IPv6 clothes that a socket for both gives it. */
export function plainAddress(ip: string): string {
  return /^::ffff:\d/i.test(ip) ? ip.slice(7) : ip
}

/** Tells whether an address is in one of the networks (`127.0.0.1`, `10.0.0.0/8`). */
export function trusting(networks: readonly string[]): (peer: string) => boolean {
  const trusted = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    trusted.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family)
  }
  return peer => {
    const address = plainAddress(peer)
    return isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
}

const FORWARDING =
  /^(?:forwarded|via|x-forwarded(?:-.*)?|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|cf-connecting-ip)$/

/** Whether any header says that a proxy has handed the request on. Saying so opens nothing to anybody, so it is believed whoever sent it. */
export function isForwarded(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some(name => FORWARDING.test(name))
}
