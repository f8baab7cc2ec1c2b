/** What DNS says of a name, asked anew each time, of DNS_SERVERS or the system's: nothing that an older answer has left is in the way. */
import { Resolver } from 'node:dns/promises'
import type { Config } from '../../ground/config.ts'

const TRY_MS = 1500
const TRIES = 2

/** A clear answer (`no_name`: there is no such name), a broken one, or none at all. */
export type Answered<T> =
  | { readonly state: 'found'; readonly values: T[] }
  | { readonly state: 'none' | 'no_name' | 'broken' | 'silent' }

export type Resolving = {
  addresses(name: string): Promise<{ v4: Answered<string>; v6: Answered<string> }>
  /** The name behind an alias, if it is one. */
  alias(name: string): Promise<Answered<string>>
  texts(name: string): Promise<Answered<string>>
  /** Who may issue certificates for the name, by the nearest record above it that says so. `none`: anybody. */
  issuers(name: string): Promise<Answered<string>>
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

async function answered<T>(asked: Promise<T[]>): Promise<Answered<T>> {
  try {
    const values = await asked
    return values.length === 0 ? { state: 'none' } : { state: 'found', values }
  } catch (error) {
    return { state: STATES[(error as NodeJS.ErrnoException).code ?? ''] ?? 'silent' }
  }
}

/** Of an answer the values, where there are some. */
export const valuesOf = <T>(answer: Answered<T>): T[] => (answer.state === 'found' ? answer.values : [])

/** A resolver of its own for one check. */
export function openResolver({ dnsServers }: Pick<Config, 'dnsServers'>): Resolving {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES, maxTimeout: TRY_MS })
  if (dnsServers.length > 0) resolver.setServers(dnsServers)
  return {
    async addresses(name) {
      const [v4, v6] = await Promise.all([answered(resolver.resolve4(name)), answered(resolver.resolve6(name))])
      return { v4, v6 }
    },
    alias: name => answered(resolver.resolveCname(name)),
    texts: name => answered(resolver.resolveTxt(name).then(records => records.map(parts => parts.join('')))),
    async issuers(name) {
      const labels = name.split('.')
      for (let at = 0; at < labels.length; at += 1) {
        const answer = await answered(resolver.resolveCaa(labels.slice(at).join('.')))
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
