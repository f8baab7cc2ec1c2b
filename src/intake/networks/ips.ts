/** The IP addresses a network may call from: single addresses and ranges, IPv4 and IPv6. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The error of a list, or undefined. */
export function faultOfIps(list: readonly string[]): string | undefined {
  const wrong = list.find(entry => rangeOf(entry) === undefined)
  return wrong === undefined ? undefined : `${wrong} is not an address or a range such as 203.0.113.0/24`
}

/** Whether a caller is on the list; an empty list allows every caller. */
export function isListedIp(list: readonly string[], ip: string): boolean {
  if (list.length === 0) return true
  if (!ipaddr.isValid(ip)) return false
  // Unwraps an IPv4 address that a dual-stack socket shows as IPv6.
  const address = ipaddr.process(ip)
  return list.some(entry => {
    const range = rangeOf(entry)
    return range !== undefined && range[0].kind() === address.kind() && address.match(range)
  })
}

function rangeOf(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  const [text = '', bits] = entry.split('/')
  // The library would read 12 as 0.0.0.12.
  if (isIP(text) === 0) return undefined
  const whole = ipaddr.process(text)
  const most = whole.kind() === 'ipv4' ? 32 : 128
  if (bits === undefined) return [whole, most]
  // The prefix length of an IPv4 range written as IPv6 includes the 96 bits of the IPv6 part.
  const shorter = ipaddr.parse(text).kind() === whole.kind() ? 0 : 96
  const length = Number(bits) - shorter
  return /^\d{1,3}$/.test(bits) && length >= 0 && length <= most ? [whole, length] : undefined
}
