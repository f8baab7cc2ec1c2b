/** The origin of campaign links: the campaign's domain, or else the organization's default domain, or else Sluice's own address. */
import { type Kysely, sql } from 'kysely'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'

/** The origin of a campaign's link; undefined for Sluice's own address. */
type AddressOf = (domain_id: string | null) => { id: string | null; origin: string } | undefined

type LinkDomain = { id: string; name: string; is_default: boolean; is_secure: boolean }

/** Reads the domains that links of an organization may use: proven ones, with https if a certificate is in service. */
export async function domainAddresses(db: Kysely<Tables>, org_id: number): Promise<AddressOf> {
  const { rows } = await sql<LinkDomain>`
    select id, name, is_default, certificate is not null and certificate ->> 'problem' is null as is_secure
    from domains
    where org_id = ${org_id} and deleted_at is null and status in ('active', 'failing')`.execute(db)
  const usual = rows.find(({ is_default }) => is_default)
  return domain_id => {
    const named = domain_id === null ? undefined : rows.find(({ id }) => id === domain_id)
    const row = named ?? usual
    return row && { id: named?.id ?? null, origin: `${row.is_secure ? 'https' : 'http'}://${row.name}` }
  }
}

/** Refuses `invalid_request` for a domain that does not exist or is not in service. */
export async function requireDomain(db: Kysely<Tables>, org_id: number, id: string | null | undefined): Promise<void> {
  if (id == null) return
  const { rows } = await sql<{ status: string }>`
    select status from domains where org_id = ${org_id} and id = ${id} and deleted_at is null`.execute(db)
  const [domain] = rows
  if (domain === undefined) refuse('invalid_request', { error: 'domain_id: no such domain' })
  if (domain.status !== 'active' && domain.status !== 'failing')
    refuse('invalid_request', {
      error: 'domain_id: the domain does not lead here',
      hint: 'It can be chosen once a check has found that requests for it reach Sluice.',
    })
}
