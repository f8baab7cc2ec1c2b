/** Looks up DNS records at DNS_SERVERS or the system's servers, without a cache. */
import { Resolver } from 'node:dns/promises'
import type { Config } from '../../ground/config.ts'

const TRY_MS = 1500
const TRIES = 2

/** The answer to a look-up. `none`: no such record; `no_name`: no such name; `broken`: the server answered with an error; `silent`: no answer. */
export type DnsAnswer<T> =
  | { readonly state: 'found'; readonly values: T[] }
  | { readonly state: 'none' | 'no_name' | 'broken' | 'silent' }

export type DnsResolver = {
  addresses(name: string): Promise<{ v4: DnsAnswer<string>; v6: DnsAnswer<string> }>
  /** The target of an alias. */
  alias(name: string): Promise<DnsAnswer<string>>
  texts(name: string): Promise<DnsAnswer<string>>
  /** The authorities that may issue certificates for the name, by the nearest CAA record at or above it. `none`: any authority. */
  issuers(name: string): Promise<DnsAnswer<string>>
}

const STATES: Readonly<Record<string, 'none' | 'no_name' | 'broken'>> = {
  ENODATA: 'none',
  ENOTFOUND: 'no_name',
  ESERVFAIL: 'broken',
  EFORMERR: 'broken',
  ENOTIMP: 'broken',
  EBADRESP: 'broken',
  EBADNAME: 'no_name',
}

async function answerOf<T>(lookUp: Promise<T[]>): Promise<DnsAnswer<T>> {
  try {
    const values = await lookUp
    return values.length === 0 ? { state: 'none' } : { state: 'found', values }
  } catch (error) {
    return { state: STATES[(error as NodeJS.ErrnoException).code ?? ''] ?? 'silent' }
  }
}

/** The values of an answer; empty if there are none. */
export const valuesOf = <T>(answer: DnsAnswer<T>): T[] => (answer.state === 'found' ? answer.values : [])

/** A new resolver, for one check. */
export function openResolver({ dnsServers }: Pick<Config, 'dnsServers'>): DnsResolver {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES, maxTimeout: TRY_MS })
  if (dnsServers.length > 0) resolver.setServers(dnsServers)
  return {
    async addresses(name) {
      const [v4, v6] = await Promise.all([answerOf(resolver.resolve4(name)), answerOf(resolver.resolve6(name))])
      return { v4, v6 }
    },
    alias: name => answerOf(resolver.resolveCname(name)),
    texts: name => answerOf(resolver.resolveTxt(name).then(records => records.map(parts => parts.join('')))),
    async issuers(name) {
      const labels = name.split('.')
      for (let at = 0; at < labels.length; at += 1) {
        const answer = await answerOf(resolver.resolveCaa(labels.slice(at).join('.')))
        if (answer.state === 'broken' || answer.state === 'silent') return { state: answer.state }
        if (answer.state !== 'found') continue
        const issuers = answer.values.flatMap(({ issue }) =>
          issue === undefined ? [] : [(issue.split(';', 1)[0] ?? '').trim().toLowerCase()],
        )
        return issuers.length === 0 ? { state: 'none' } : { state: 'found', values: issuers }
      }
      return { state: 'none' }
    },
  }
}
