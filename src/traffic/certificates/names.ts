/**
 * The names that need certificates, the obstacles to ordering one, and the organization of a name. Owns no table. Reads `domain_names` and the
 * results of domain checks.
 */
import { sql } from 'kysely'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'

/** `obstacles`: by name, why an order would fail. Such names are not ordered until the obstacle is gone, because failed orders count against limits. */
type ServedNames = { readonly names: string[]; readonly obstacles: ReadonlyMap<string, string> }

/** The names of the main host for which an authority issues certificates: no IP addresses and no local names. */
export function certifiableMainNames({ baseUrl = '', alsoHosts }: Ground['config']): string[] {
  const names = [URL.parse(baseUrl)?.hostname ?? '', ...alsoHosts]
  return names.filter(name => /^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(name))
}

/** The problems that an authority would meet too. CAA records are only checked for Let's Encrypt. */
const BLOCKING_PROBLEMS = [
  'no_such_name',
  'points_elsewhere',
  'ipv6_elsewhere',
  'port_80_closed',
  'other_server',
  'host_not_forwarded',
  'redirect_loop',
  'dns_broken',
]

/** Names for documentation (RFC 2606). The demo uses such a domain. */
const IS_FOR_DOCUMENTATION = /\.example(?:\.(?:com|net|org))?$/
const FOR_DOCUMENTATION = 'The name is reserved for documentation, so no authority issues a certificate for it.'

const PROBLEMS = (among: Among) => `
  select d.org_id, d.id, d.found -> 'problems' as problems
  from domains d
  where d.deleted_at is null and d.found -> 'problems' <> '[]'::jsonb${among('d.org_id')}`

type HeldName = { name: string; org_id: number; domain_id: string }
type DomainProblems = { org_id: number; id: string; problems: { code: string; text: string; cure: string }[] }

/** The names of the main host and of all proven domains, with obstacles by the last check. */
export async function namesToServe({
  config,
  db,
  database,
}: Pick<Ground, 'config' | 'db' | 'database'>): Promise<ServedNames> {
  const { rows: held } = await sql<HeldName>`select name, org_id, domain_id from domain_names`.execute(db)
  const main = certifiableMainNames(config)
  const names = [...new Set([...main, ...held.map(({ name }) => name)])]
  if (held.length === 0) return { names, obstacles: new Map() }
  const { rows: found } = await askEverywhere<DomainProblems>(database.worker, PROBLEMS)
  const isLetsEncrypt = new URL(config.acmeDirectory).hostname.endsWith('.letsencrypt.org')
  const blocking = new Set(isLetsEncrypt ? [...BLOCKING_PROBLEMS, 'caa_forbids'] : BLOCKING_PROBLEMS)
  const obstacleOf = new Map(
    found.flatMap(({ org_id, id, problems }) => {
      const problem = problems.find(({ code }) => blocking.has(code))
      return problem === undefined ? [] : [[`${org_id} ${id}`, `${problem.text} ${problem.cure}`]]
    }),
  )
  const obstacles = held.flatMap(({ name, org_id, domain_id }): [string, string][] => {
    const why = IS_FOR_DOCUMENTATION.test(name) ? FOR_DOCUMENTATION : obstacleOf.get(`${org_id} ${domain_id}`)
    return why === undefined || main.includes(name) ? [] : [[name, why]]
  })
  return { names, obstacles: new Map(obstacles) }
}

/** The organization whose owners can repair a name: the one that holds it, or the first organization for a name of the main host. */
export async function whoseName({ db }: Pick<Ground, 'db'>, name: string): Promise<number | undefined> {
  const { rows } = await sql<{ org_id: number }>`select org_id from domain_names where name = ${name}`.execute(db)
  return rows[0]?.org_id ?? (await firstOrganization(db))
}

/** The oldest organization that is not deleted: the one that Sluice was set up with, or the next one. */
export async function firstOrganization(db: Ground['db']): Promise<number | undefined> {
  const { rows } = await sql<{ org_id: number }>`
    select org_id from organizations where deleted_at is null order by created_at limit 1`.execute(db)
  return rows[0]?.org_id
}
