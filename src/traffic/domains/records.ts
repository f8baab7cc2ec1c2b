/** What to set in DNS for a domain, with what is found there instead. */
import { isIP } from 'node:net'
import type { Config } from '../../ground/config.ts'
import type { DnsRecord } from './api.ts'
import { type Answered, valuesOf } from './resolver.ts'

type There = {
  v4: Answered<string>
  v6: Answered<string>
  alias: Answered<string>
  /** The addresses of BASE_URL's host. */
  base: readonly string[]
}

/** Before anything was asked. */
export const NOTHING_FOUND: Omit<There, 'base'> = {
  v4: { state: 'none' },
  v6: { state: 'none' },
  alias: { state: 'none' },
}

/**
 * The records that point a name at BASE_URL's host: an alias where the name may have one, which follows the host wherever it moves; else its
 * addresses. A name of two labels is the top of its zone, where no alias may stand. Without BASE_URL nobody here knows where it is.
 */
export function pointingRecords(
  { baseUrl }: Pick<Config, 'baseUrl'>,
  name: string,
  { v4, v6, alias, base }: There,
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

/** The record that proves whose the name is. */
export function proofRecord(name: string, value: string, reason: string, texts: Answered<string>): DnsRecord {
  const found = valuesOf(texts)
  return { type: 'TXT', name: `_sluice.${name}`, value, why: 'proof', reason, is_needed: true, found }
}
