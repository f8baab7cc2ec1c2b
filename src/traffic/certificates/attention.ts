/** Certificates that need attention, for the list on the dashboard. Owns no table. Reads `certificates` and `domain_names`. */
import { sql } from 'kysely'
import type { Ground, Member } from '../../ground/room.ts'
import { firstOrganization, certifiableMainNames } from './names.ts'

/** The same rule as `expiryWarningAt` in renewal.ts: seven days before the expiry, or a fifth of a shorter lifetime. */
const WARNING_AT = sql`not_after - least(interval '7 days', (not_after - not_before) / 5)`
/** Five tries with their pauses take more than an hour. A DNS record may need that long to spread. */
export const IS_UNOBTAINABLE = sql`attempts >= 5`

type DueCertificate = {
  readonly name: string
  readonly not_after: string | null
  readonly problem: string | null
  /** null: a name of the main host. */
  readonly domain_id: string | null
}

/**
 * The certificates of the organization's domains that could not be obtained in five tries, or expire within seven days (a fifth of a shorter
 * lifetime), earliest expiry first. Owners of the first organization also see those of the main host.
 */
export async function listDueCertificates(
  { db, config }: Pick<Ground, 'db' | 'config'>,
  { org_id, role }: Pick<Member, 'org_id' | 'role'>,
): Promise<DueCertificate[]> {
  if (config.tls !== 'auto') return []
  const { rows: held } = await sql<{ name: string; domain_id: string }>`
    select name, domain_id from domain_names where org_id = ${org_id}`.execute(db)
  const isOurs = role === 'owner' && (await firstOrganization(db)) === org_id
  const domains = new Map<string, string | null>(isOurs ? certifiableMainNames(config).map(name => [name, null]) : [])
  for (const { name, domain_id } of held) domains.set(name, domain_id)
  const { rows } = await sql<Omit<DueCertificate, 'domain_id'>>`
    select name, not_after, problem from certificates
    where name = any(${[...domains.keys()]}) and gone_at is null and (${IS_UNOBTAINABLE} or ${WARNING_AT} <= now())
    order by not_after nulls last, name`.execute(db)
  return rows.map(row => ({ ...row, domain_id: domains.get(row.name) ?? null }))
}
