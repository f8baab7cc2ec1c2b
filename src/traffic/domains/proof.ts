/**
 * Whose a name is. Pointing it here is enough for a name that nobody else here has to do with. A TXT record has to say it where strangers may
 * sign up, and where anybody else has or had a name under the same registrable domain: who keeps the DNS of that domain may have pointed all
 * names of it here with one wildcard record, so pointing shows nothing.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { getDomain } from 'tldts'
import type { Config } from '../../ground/config.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { mainNames, namesAbove } from './name.ts'

const TOKEN_LENGTH = 22

/** The value of the TXT record that says a name is an organization's. Nothing is stored: it can be told again at any time. */
export function proofValue({ mac }: Pick<Secrets, 'mac'>, org_id: number, name: string): string {
  return `sluice=${mac('domain owner', `${org_id} ${name}`).toString('base64url').slice(0, TOKEN_LENGTH)}`
}

/**
 * The registrable domain of a name: `go.shop.example.co.uk` → `example.co.uk`; a public suffix is its own. Suffixes that companies have put on
 * the list for their customers (`github.io`) count as names of those companies, whose DNS they are in: so a TXT record is asked for once too
 * often rather than once too seldom.
 */
export function zoneOf(name: string): string {
  return getDomain(name, { allowPrivateDomains: false }) ?? name
}

/** Why the TXT record is needed of this organization, in words that name nobody else; undefined where it is not needed. */
export async function reasonForProof(
  db: Kysely<Tables>,
  config: Pick<Config, 'signUp' | 'baseUrl' | 'alsoHosts'>,
  { org_id, name }: { org_id: number; name: string },
): Promise<string | undefined> {
  if (config.signUp === 'open')
    return 'Anybody may sign up on this server, so pointing alone does not show whose a name is.'
  const zone = zoneOf(name)
  if (mainNames(config).some(main => zoneOf(main) === zone))
    return `${zone} is also the domain of the dashboard’s own address, so pointing alone does not show whose this name is.`
  const related = [name, ...namesAbove(name)]
  const { rows } = await sql<{ is_related: boolean }>`
    select exists (
      select from domain_names n where n.org_id <> ${org_id} and (n.name = any(${related}) or n.name like ${`%.${zone}`})
    ) or exists (
      select from domain_holders h where h.org_id <> ${org_id} and (h.name = any(${related}) or h.name like ${`%.${zone}`})
    ) as is_related`.execute(db)
  return rows[0]?.is_related === true ? sharedZone(name) : undefined
}

/** The reason where somebody else has or had a name under the same registrable domain. */
export function sharedZone(name: string): string {
  return `Somebody else on this server has or had ${zoneOf(name)}, or a name under it, so pointing alone does not show whose this name is.`
}

/** Waits for whoever decides on another name of the same registrable domain, until the transaction ends. */
export async function lockZone(trx: Transaction<Tables>, name: string): Promise<void> {
  const zone = zoneOf(name)
  await sql`insert into domain_zones (name) values (${zone}) on conflict (name) do nothing`.execute(trx)
  await sql`select from domain_zones where name = ${zone} for update`.execute(trx)
}
