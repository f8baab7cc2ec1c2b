/** Which addresses a network may call from: single ones and ranges, IPv4 and IPv6. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** What is wrong with a list, or undefined. */
export function faultOfIps(list: readonly string[]): string | undefined {
  const wrong = list.find(entry => rangeOf(entry) === undefined)
  return wrong === undefined ? undefined : `${wrong} is no address and no range such as 203.0.113.0/24`
}

/** Whether a caller is on the list; an empty one lets everyone in. */
export function isListed(list: readonly string[], ip: string): boolean {
  if (list.length === 0) return true
  if (!ipaddr.isValid(ip)) return false
  // An IPv4 address without the IPv6 clothes that a socket for both gives it.
  const address = ipaddr.process(ip)
  return list.some(entry => {
    const range = rangeOf(entry)
    return range !== undefined && range[0].kind() === address.kind() && address.match(range)
  })
}

function rangeOf(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  const [text = '', bits] = entry.split('/')
  // The library also takes 12 for 0.0.0.12.
  if (isIP(text) === 0) return undefined
  const whole = ipaddr.process(text)
  const most = whole.kind() === 'ipv4' ? 32 : 128
  if (bits === undefined) return [whole, most]
  // A range of IPv4 in IPv6 clothes counts its bits from there.
  const shorter = ipaddr.parse(text).kind() === whole.kind() ? 0 : 96
  const length = Number(bits) - shorter
  return /^\d{1,3}$/.test(bits) && length >= 0 && length <= most ? [whole, length] : undefined
}
