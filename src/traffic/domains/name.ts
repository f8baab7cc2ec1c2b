/** Parses the names of domains that people type: with a scheme or a path, in Unicode, in upper case. */
import { isIP } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import { refuse } from '../../contract/refusals.ts'
import type { Config } from '../../ground/config.ts'

const LONGEST = 253
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

const refuseName = (words: string, hint?: string): never =>
  refuse('invalid_request', { error: `name: ${words}`, ...(hint === undefined ? {} : { hint }) })

/**
 * The DNS name of a typed text: in lower case ASCII, without scheme, path and final dot. Refuses `invalid_request` with a message for each fault.
 */
export function domainName(text: string, config: Pick<Config, 'baseUrl' | 'alsoHosts'>): string {
  const host = text
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/[/?#].*$/s, '')
    .replace(/\.$/, '')
  if (host.includes('@')) refuseName('must not contain a user name')
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0) refuseName('must be a name, not an address')
  if (host.includes(':')) refuseName('must not contain a port', 'Visitors use the ports of http and https.')
  if (host.includes('*')) refuseName('must be a single name', 'Wildcards are not supported: add each name separately.')
  if (host.includes('_')) refuseName('must not contain an underscore')
  const name = domainToASCII(host)
  if (name === '' || isIP(name) !== 0) refuseName('is not a host name')
  if (name.length > LONGEST) refuseName(`must be at most ${LONGEST} characters`)
  const labels = name.split('.')
  if (labels.length < 2) refuseName('must contain a dot, such as go.example.com')
  if (!labels.every(label => LABEL.test(label)) || /^\d+$/.test(labels.at(-1) ?? '')) refuseName('is not a host name')
  if (mainNames(config).includes(name))
    refuseName('is the address of Sluice itself', 'Campaign links work there without a domain.')
  return name
}

/** The name in a Host header, in lower case, without port and final dot. */
export function nameOfHost(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
}

/** The names of Sluice's own address. */
export function mainNames({ baseUrl, alsoHosts }: Pick<Config, 'baseUrl' | 'alsoHosts'>): string[] {
  return [...(baseUrl === undefined ? [] : [new URL(baseUrl).hostname]), ...alsoHosts]
}

/** The name in Unicode. */
export const unicodeName = (name: string): string => domainToUnicode(name) || name

/** The parent names, without the top-level domain: `a.b.example` → `b.example`. */
export function namesAbove(name: string): string[] {
  const labels = name.split('.')
  return labels.slice(1, -1).map((_, at) => labels.slice(at + 1).join('.'))
}
