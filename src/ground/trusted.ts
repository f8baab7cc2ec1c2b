/** The operator's own proxies (TRUST_PROXY), whose forwarding headers are believed. */
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** An IPv4 address without the `::ffff:` prefix that a dual-stack socket gives it. */
export function plainAddress(ip: string): string {
  return /^::ffff:\d/i.test(ip) ? ip.slice(7) : ip
}

/** Returns a test of whether an address is in one of the networks (`127.0.0.1`, `10.0.0.0/8`). */
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

/** Whether a header says that a proxy has forwarded the request. It grants nothing, so it is believed from any sender. */
export function isForwarded(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some(name => FORWARDING.test(name))
}
