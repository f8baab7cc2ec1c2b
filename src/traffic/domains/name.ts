/** Names of domains as people write them: pasted with a scheme and a path, in other letters, in capitals. */
import { isIP } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import { refuse } from '../../contract/refusals.ts'
import type { Config } from '../../ground/config.ts'

const LONGEST = 253
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

const wrong = (words: string, hint?: string): never =>
  refuse('invalid_request', { error: `name: ${words}`, ...(hint === undefined ? {} : { hint }) })

/**
 * The name in DNS that is meant: in ASCII and lower case, without a scheme, path or last dot. Refuses `invalid_request`, each fault in its
 * own words.
 */
export function domainName(text: string, config: Pick<Config, 'baseUrl' | 'alsoHosts'>): string {
  const host = text
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/[/?#].*$/s, '')
    .replace(/\.$/, '')
  if (host.includes('@')) wrong('must not hold a user name')
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0) wrong('must be a name, not an address')
  if (host.includes(':')) wrong('must not hold a port', 'Visitors come by the ports of http and https.')
  if (host.includes('*')) wrong('must be a single name', 'Add each name by itself: wildcards are not served.')
  if (host.includes('_')) wrong('must not hold an underscore')
  const name = domainToASCII(host)
  if (name === '' || isIP(name) !== 0) wrong('is not a host name')
  if (name.length > LONGEST) wrong(`must be at most ${LONGEST} characters`)
  const labels = name.split('.')
  if (labels.length < 2) wrong('must have a dot in it, such as go.example.com')
  if (!labels.every(label => LABEL.test(label)) || /^\d+$/.test(labels.at(-1) ?? '')) wrong('is not a host name')
  if (mainNames(config).includes(name))
    wrong('is the address of Sluice itself', 'Campaigns open there without a domain.')
  return name
}

/** The name in a Host header: without its port and last dot, in lower case. */
export function nameOfHost(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
}

/** The names that are Sluice's own. */
export function mainNames({ baseUrl, alsoHosts }: Pick<Config, 'baseUrl' | 'alsoHosts'>): string[] {
  return [...(baseUrl === undefined ? [] : [new URL(baseUrl).hostname]), ...alsoHosts]
}

/** As people read it. */
export const unicodeName = (name: string): string => domainToUnicode(name) || name

/** The names above one, without the last label: `a.b.example` → `b.example`. */
export function namesAbove(name: string): string[] {
  const labels = name.split('.')
  return labels.slice(1, -1).map((_, at) => labels.slice(at + 1).join('.'))
}
