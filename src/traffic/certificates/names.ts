/**
 * Which names visitors may come by, so that there have to be certificates for them, what stands in the way of one, and whose they are. Owns
 * no table. Reads `domain_names` and what the checks of `domains` have found.
 */
import { sql } from 'kysely'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'

/** `obstacles`: of names for which an order would fail, so that none is spent, why. They are ordered for once the reason is gone. */
type Names = { readonly names: string[]; readonly obstacles: ReadonlyMap<string, string> }

/** The names of the main host that an authority gives certificates for: no addresses, none of this machine alone. */
export function mainNames({ baseUrl = '', alsoHosts }: Ground['config']): string[] {
  const names = [URL.parse(baseUrl)?.hostname ?? '', ...alsoHosts]
  return names.filter(name => /^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(name))
}

/** What an authority would stumble over too. A record of CAA is held against Let's Encrypt alone. */
const IN_THE_WAY = [
  'no_such_name',
  'points_elsewhere',
  'ipv6_elsewhere',
  'port_80_closed',
  'other_server',
  'host_not_forwarded',
  'redirect_loop',
  'dns_broken',
]

/** By RFC 2606. The demo has such a domain in service. */
const IS_FOR_DOCUMENTS = /\.example(?:\.(?:com|net|org))?$/
const FOR_DOCUMENTS =
  'The name is one that is kept for documents: no authority gives a certificate for it, and none is asked.'

const PROBLEMS = (among: Among) => `
  select d.org_id, d.id, d.found -> 'problems' as problems
  from domains d
  where d.deleted_at is null and d.found -> 'problems' <> '[]'::jsonb${among('d.org_id')}`

type Held = { name: string; org_id: number; domain_id: string }
type Found = { org_id: number; id: string; problems: { code: string; text: string; cure: string }[] }

/** The main host's, and the domains that are proven, by what their last check has found. */
export async function namesToServe({
  config,
  db,
  database,
}: Pick<Ground, 'config' | 'db' | 'database'>): Promise<Names> {
  const { rows: held } = await sql<Held>`select name, org_id, domain_id from domain_names`.execute(db)
  const main = mainNames(config)
  const names = [...new Set([...main, ...held.map(({ name }) => name)])]
  if (held.length === 0) return { names, obstacles: new Map() }
  const { rows: found } = await askEverywhere<Found>(database.worker, PROBLEMS)
  const isOfOurs = new URL(config.acmeDirectory).hostname.endsWith('.letsencrypt.org')
  const blocking = new Set(isOfOurs ? [...IN_THE_WAY, 'caa_forbids'] : IN_THE_WAY)
  const words = new Map(
    found.flatMap(({ org_id, id, problems }) => {
      const problem = problems.find(({ code }) => blocking.has(code))
      return problem === undefined ? [] : [[`${org_id} ${id}`, `${problem.text} ${problem.cure}`]]
    }),
  )
  const obstacles = held.flatMap(({ name, org_id, domain_id }): [string, string][] => {
    const why = IS_FOR_DOCUMENTS.test(name) ? FOR_DOCUMENTS : words.get(`${org_id} ${domain_id}`)
    return why === undefined || main.includes(name) ? [] : [[name, why]]
  })
  return { names, obstacles: new Map(obstacles) }
}

/** The organization whose owners can mend a name: its own, and of the main host the one that Sluice was set up with. */
export async function whoseName({ db }: Pick<Ground, 'db'>, name: string): Promise<number | undefined> {
  const { rows } = await sql<{ org_id: number }>`select org_id from domain_names where name = ${name}`.execute(db)
  return rows[0]?.org_id ?? (await firstOrganization(db))
}

/** The organization that Sluice was set up with; the next one where it is deleted. */
export async function firstOrganization(db: Ground['db']): Promise<number | undefined> {
  const { rows } = await sql<{ org_id: number }>`
    select org_id from organizations where deleted_at is null order by created_at limit 1`.execute(db)
  return rows[0]?.org_id
}
