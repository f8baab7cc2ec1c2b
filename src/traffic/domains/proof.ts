/**
 * Proves who owns a name. Pointing the name here is enough if no other organization is involved. A TXT record is needed if sign-up is open, and if
 * another organization has or had a name under the same registrable domain: the owner of that domain may point all its names here with one wildcard
 * record, so pointing proves nothing.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { getDomain } from 'tldts'
import type { Config } from '../../ground/config.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { mainNames, namesAbove } from './name.ts'

const TOKEN_LENGTH = 22

/** The value of the TXT record for a name and an organization. It is derived, so nothing is stored. */
export function proofValue({ mac }: Pick<Secrets, 'mac'>, org_id: number, name: string): string {
  return `sluice=${mac('domain owner', `${org_id} ${name}`).toString('base64url').slice(0, TOKEN_LENGTH)}`
}

/**
 * The registrable domain of a name: `go.shop.example.co.uk` → `example.co.uk`. A public suffix is its own. Private suffixes that companies list for
 * their customers (`github.io`) count as names of the company, whose DNS they are in. This asks for a TXT record too often rather than too seldom.
 */
export function zoneOf(name: string): string {
  return getDomain(name, { allowPrivateDomains: false }) ?? name
}

/** Why this organization needs the TXT record; undefined if it does not. The text names no other organization. */
export async function reasonForProof(
  db: Kysely<Tables>,
  config: Pick<Config, 'signUp' | 'baseUrl' | 'alsoHosts'>,
  { org_id, name }: { org_id: number; name: string },
): Promise<string | undefined> {
  if (config.signUp === 'open')
    return 'Sign-up is open on this server, so pointing alone does not prove who owns a name.'
  const zone = zoneOf(name)
  if (mainNames(config).some(main => zoneOf(main) === zone))
    return `${zone} is also the domain of the dashboard’s own address, so pointing alone does not prove who owns this name.`
  const related = [name, ...namesAbove(name)]
  const { rows } = await sql<{ is_related: boolean }>`
    select exists (
      select from domain_names n where n.org_id <> ${org_id} and (n.name = any(${related}) or n.name like ${`%.${zone}`})
    ) or exists (
      select from domain_holders h where h.org_id <> ${org_id} and (h.name = any(${related}) or h.name like ${`%.${zone}`})
    ) as is_related`.execute(db)
  return rows[0]?.is_related === true ? sharedZone(name) : undefined
}

/** The reason if another organization has or had a name under the same registrable domain. */
export function sharedZone(name: string): string {
  return `Another organization on this server has or had ${zoneOf(name)}, or a name under it, so pointing alone does not prove who owns this name.`
}

/** Locks the registrable domain until the transaction ends, so that names under it are decided one after another. */
export async function lockZone(trx: Transaction<Tables>, name: string): Promise<void> {
  const zone = zoneOf(name)
  await sql`insert into domain_zones (name) values (${zone}) on conflict (name) do nothing`.execute(trx)
  await sql`select from domain_zones where name = ${zone} for update`.execute(trx)
}
