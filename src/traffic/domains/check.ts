/**
 * One check of a domain: its DNS records, whether requests for it reach Sluice, and its certificate. It writes nothing. It sends a real request
 * instead of comparing addresses, because behind a router, a proxy or a CDN addresses prove nothing.
 */
import { isIP } from 'node:net'
import type { Config } from '../../ground/config.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { DnsRecord, DomainProblem } from './api.ts'
import { mainNames } from './name.ts'
import { probe, type ProbeResult, readCertificate, type SeenCertificate } from './probe.ts'
import { CERTIFICATE_AUTHORITY, problem } from './problems.ts'
import { pointingRecords } from './records.ts'
import { type DnsAnswer, openResolver, type DnsResolver, valuesOf } from './resolver.ts'

type CheckGround = {
  config: Pick<Config, 'baseUrl' | 'alsoHosts' | 'dnsServers' | 'checkPorts' | 'allowPrivateTargets'>
  secrets: Pick<Secrets, 'mac'>
}

/** The result of a check. */
export type CheckResult = {
  /** How requests for the name reach Sluice; undefined if they do not. */
  readonly way: 'pointing' | 'address' | undefined
  /** Whether the resolver did not answer, so that nothing is known. */
  readonly isSilent: boolean
  readonly addresses: string[]
  readonly problems: DomainProblem[]
  readonly records: DnsRecord[]
  readonly certificate: SeenCertificate | undefined
  /** The TXT records of `_sluice.<name>`. */
  readonly texts: DnsAnswer<string>
}

/** Limits how many hosts a check can be made to call. */
const MOST_ADDRESSES = 8

/** Top-level domains that browsers open only with https. */
const HTTPS_ONLY = new Set(
  'android app bank boo channel chrome dad day dev esq foo gle google ing insurance meme mov new nexus page phd play prof rsvp search youtube zip'.split(
    ' ',
  ),
)

/** Checks a name. Takes at most ten seconds; never rejects. */
export async function checkName(ground: CheckGround, name: string): Promise<CheckResult> {
  const resolver = openResolver(ground.config)
  const [{ v4, v6 }, alias, texts, issuers, base] = await Promise.all([
    resolver.addresses(name),
    resolver.alias(name),
    resolver.texts(`_sluice.${name}`),
    resolver.issuers(name),
    baseAddresses(ground.config, resolver),
  ])
  const addresses = [...valuesOf(v4), ...valuesOf(v6)].slice(0, MOST_ADDRESSES)
  const dns = { v4, v6, alias, base }
  const records = pointingRecords(ground.config, name, dns)
  const shared = { addresses, records, texts, isSilent: false }
  if (addresses.length === 0) {
    const states = [v4.state, v6.state]
    const code = states.includes('broken') ? 'dns_broken' : states.includes('silent') ? 'dns_silent' : 'no_such_name'
    const isSilent = code === 'dns_silent'
    return { ...shared, isSilent, way: undefined, problems: [problem(code, { name })], certificate: undefined }
  }
  const probes = await Promise.all(addresses.map(address => probe(ground, name, address)))
  const isHere = (at: number) => probes[at]?.is === 'here'
  const first = addresses.find((_, at) => isHere(at)) ?? addresses[0] ?? ''
  const certificate = await readCertificate(ground.config, name, first)
  const isByAddress = !probes.some(({ is }) => is === 'here') && (await isSameAsBase(ground, base, addresses, probes))
  const way = probes.some(({ is }) => is === 'here') ? 'pointing' : isByAddress ? 'address' : undefined
  const problems = [
    ...(isByAddress ? [] : pointingProblems(name, addresses, probes)),
    ...httpsProblems(name, certificate, issuers),
  ]
  return { ...shared, way, problems, certificate }
}

/** The addresses of BASE_URL's host. */
export async function baseAddresses({ baseUrl }: Pick<Config, 'baseUrl'>, resolver: DnsResolver): Promise<string[]> {
  if (baseUrl === undefined) return []
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0) return [host]
  const { v4, v6 } = await resolver.addresses(host)
  return [...valuesOf(v4), ...valuesOf(v6)]
}

/**
 * Whether the name has only addresses of BASE_URL's host, and that host cannot be reached from here either. Then the name counts as leading here:
 * the router probably does not route its own public address back inside, so that no probe can succeed.
 */
async function isSameAsBase(
  ground: CheckGround,
  base: readonly string[],
  addresses: readonly string[],
  probes: readonly ProbeResult[],
): Promise<boolean> {
  const [host] = mainNames(ground.config)
  if (host === undefined || !addresses.every(address => base.includes(address))) return false
  if (!probes.every(({ is }) => is === 'closed')) return false
  const ours = await Promise.all(base.slice(0, MOST_ADDRESSES).map(address => probe(ground, host, address)))
  return ours.every(({ is }) => is === 'closed')
}

function pointingProblems(name: string, addresses: readonly string[], probes: readonly ProbeResult[]): DomainProblem[] {
  const of = (...kinds: ProbeResult['is'][]) => addresses.filter((_, at) => kinds.includes(probes[at]?.is ?? 'closed'))
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
    ...(probes.some(({ isPort80Closed }) => isPort80Closed) ? [problem('port_80_closed', { name })] : []),
  ]
}

/** Problems that prevent https, if the name has no valid certificate. */
function httpsProblems(
  name: string,
  certificate: SeenCertificate | undefined,
  issuers: DnsAnswer<string>,
): DomainProblem[] {
  if (certificate?.problem === null) return []
  const allowed = valuesOf(issuers)
  const isForbidden = issuers.state === 'found' && !allowed.includes(CERTIFICATE_AUTHORITY)
  return [
    ...(HTTPS_ONLY.has(name.split('.').at(-1) ?? '') ? [problem('https_only_zone', { name })] : []),
    ...(isForbidden ? [problem('caa_forbids', { name, issuers: allowed.map(one => one || 'nobody') })] : []),
  ]
}
