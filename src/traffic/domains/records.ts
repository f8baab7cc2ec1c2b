/** The DNS records to set for a domain, with the values that a check found. */
import { isIP } from 'node:net'
import type { Config } from '../../ground/config.ts'
import type { DnsRecord } from './api.ts'
import { type DnsAnswer, valuesOf } from './resolver.ts'

type FoundRecords = {
  v4: DnsAnswer<string>
  v6: DnsAnswer<string>
  alias: DnsAnswer<string>
  /** The addresses of BASE_URL's host. */
  base: readonly string[]
}

/** The records before the first check. */
export const NOTHING_FOUND: Omit<FoundRecords, 'base'> = {
  v4: { state: 'none' },
  v6: { state: 'none' },
  alias: { state: 'none' },
}

/**
 * The records that point a name at BASE_URL's host: an alias, which follows the host when it moves, and the host's addresses as an alternative. A
 * name of two labels is the top of its zone, where no alias is allowed. Without BASE_URL the host is unknown, and there are no records.
 */
export function pointingRecords(
  { baseUrl }: Pick<Config, 'baseUrl'>,
  name: string,
  { v4, v6, alias, base }: FoundRecords,
): DnsRecord[] {
  if (baseUrl === undefined) return []
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')
  const mayAlias = isIP(host) === 0 && host.includes('.') && name.split('.').length > 2
  const record = (type: 'A' | 'AAAA' | 'CNAME', value: string, found: string[]): DnsRecord => ({
    type,
    name,
    value,
    why: 'pointing',
    is_needed: type === 'CNAME' || !mayAlias,
    found,
  })
  return [
    ...(mayAlias ? [record('CNAME', host, valuesOf(alias))] : []),
    ...base.filter(address => isIP(address) === 4).map(address => record('A', address, valuesOf(v4))),
    ...base.filter(address => isIP(address) === 6).map(address => record('AAAA', address, valuesOf(v6))),
  ]
}

/** The TXT record that proves who owns the name. */
export function proofRecord(name: string, value: string, reason: string, texts: DnsAnswer<string>): DnsRecord {
  const found = valuesOf(texts)
  return { type: 'TXT', name: `_sluice.${name}`, value, why: 'proof', reason, is_needed: true, found }
}
