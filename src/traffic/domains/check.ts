/**
 * One check of a domain: what DNS says of it, whether requests for it come here, and what https shows. It finds out and writes nothing. What
 * really arrives is looked at, not what addresses look like: behind a router, a proxy or a CDN they say nothing.
 */
import { isIP } from 'node:net'
import type { Config } from '../../ground/config.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { DnsRecord, Problem } from './api.ts'
import { mainNames } from './name.ts'
import { type Knocked, knock, readCertificate, type Shown } from './probe.ts'
import { CERTIFICATE_AUTHORITY, problem } from './problems.ts'
import { pointingRecords } from './records.ts'
import { type Answered, openResolver, type Resolving, valuesOf } from './resolver.ts'

type Checking = {
  config: Pick<Config, 'baseUrl' | 'alsoHosts' | 'dnsServers' | 'checkPorts' | 'allowPrivateTargets'>
  secrets: Pick<Secrets, 'mac'>
}

/** What a check has found. */
export type Found = {
  /** By which way a request for the name comes here; undefined: it does not. */
  readonly way: 'pointing' | 'address' | undefined
  /** True: our own resolver said nothing, so that nothing is known. */
  readonly isSilent: boolean
  readonly addresses: string[]
  readonly problems: Problem[]
  readonly records: DnsRecord[]
  readonly certificate: Shown | undefined
  /** What stands at `_sluice.<name>`. */
  readonly texts: Answered<string>
}

/** More would be a list of hosts to knock at. */
const MOST_ADDRESSES = 8

/** Zones that browsers open by https alone. */
const HTTPS_ONLY = new Set(
  'android app bank boo channel chrome dad day dev esq foo gle google ing insurance meme mov new nexus page phd play prof rsvp search youtube zip'.split(
    ' ',
  ),
)

/** Checks a name. Takes ten seconds at most; never rejects. */
export async function checkName(checking: Checking, name: string): Promise<Found> {
  const resolver = openResolver(checking.config)
  const [{ v4, v6 }, alias, texts, issuers, base] = await Promise.all([
    resolver.addresses(name),
    resolver.alias(name),
    resolver.texts(`_sluice.${name}`),
    resolver.issuers(name),
    baseAddresses(checking.config, resolver),
  ])
  const addresses = [...valuesOf(v4), ...valuesOf(v6)].slice(0, MOST_ADDRESSES)
  const found = { v4, v6, alias, base }
  const records = pointingRecords(checking.config, name, found)
  const shared = { addresses, records, texts, isSilent: false }
  if (addresses.length === 0) {
    const states = [v4.state, v6.state]
    const code = states.includes('broken') ? 'dns_broken' : states.includes('silent') ? 'dns_silent' : 'no_such_name'
    const isSilent = code === 'dns_silent'
    return { ...shared, isSilent, way: undefined, problems: [problem(code, { name })], certificate: undefined }
  }
  const knocked = await Promise.all(addresses.map(address => knock(checking, name, address)))
  const isHere = (at: number) => knocked[at]?.is === 'here'
  const first = addresses.find((_, at) => isHere(at)) ?? addresses[0] ?? ''
  const certificate = await readCertificate(checking.config, name, first)
  const isByAddress = !knocked.some(({ is }) => is === 'here') && (await isBase(checking, base, addresses, knocked))
  const way = knocked.some(({ is }) => is === 'here') ? 'pointing' : isByAddress ? 'address' : undefined
  const problems = [
    ...(isByAddress ? [] : pointingProblems(name, addresses, knocked)),
    ...httpsProblems(name, certificate, issuers),
  ]
  return { ...shared, way, problems, certificate }
}

/** The addresses of BASE_URL's host. */
export async function baseAddresses({ baseUrl }: Pick<Config, 'baseUrl'>, resolver: Resolving): Promise<string[]> {
  if (baseUrl === undefined) return []
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0) return [host]
  const { v4, v6 } = await resolver.addresses(host)
  return [...valuesOf(v4), ...valuesOf(v6)]
}

/**
 * Second best, for a router that does not lead its own address back inside: the name has no other addresses than BASE_URL's host, and that
 * cannot be reached from here either, so that nothing else can be known.
 */
async function isBase(
  checking: Checking,
  base: readonly string[],
  addresses: readonly string[],
  knocked: readonly Knocked[],
): Promise<boolean> {
  const [host] = mainNames(checking.config)
  if (host === undefined || !addresses.every(address => base.includes(address))) return false
  if (!knocked.every(({ is }) => is === 'closed')) return false
  const ours = await Promise.all(base.slice(0, MOST_ADDRESSES).map(address => knock(checking, host, address)))
  return ours.every(({ is }) => is === 'closed')
}

function pointingProblems(name: string, addresses: readonly string[], knocked: readonly Knocked[]): Problem[] {
  const of = (...kinds: Knocked['is'][]) => addresses.filter((_, at) => kinds.includes(knocked[at]?.is ?? 'closed'))
  const here = of('here')
  if (of('renamed').length > 0) return [problem('host_not_forwarded', { name })]
  if (of('loop').length > 0) return [problem('redirect_loop', { name })]
  if (here.length === 0) {
    const others = of('other')
    if (others.length > 0) return [problem('other_server', { name, addresses: others })]
    return [problem('points_elsewhere', { name, addresses })]
  }
  const astray = addresses.filter(address => !here.includes(address))
  const [six, four] = [astray.filter(one => isIP(one) === 6), astray.filter(one => isIP(one) === 4)]
  return [
    ...(six.length > 0 ? [problem('ipv6_elsewhere', { name, addresses: six })] : []),
    ...(four.length > 0 ? [problem('mixed_addresses', { name, addresses: four })] : []),
    ...(knocked.some(({ isPort80Closed }) => isPort80Closed) ? [problem('port_80_closed', { name })] : []),
  ]
}

/** What stands in the way of https, where it does not work by itself. */
function httpsProblems(name: string, certificate: Shown | undefined, issuers: Answered<string>): Problem[] {
  if (certificate?.problem === null) return []
  const may = valuesOf(issuers)
  const isForbidden = issuers.state === 'found' && !may.includes(CERTIFICATE_AUTHORITY)
  return [
    ...(HTTPS_ONLY.has(name.split('.').at(-1) ?? '') ? [problem('https_only_zone', { name })] : []),
    ...(isForbidden ? [problem('caa_forbids', { name, issuers: may.map(one => one || 'nobody') })] : []),
  ]
}
