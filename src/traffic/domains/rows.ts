/** The rows of domains, and domains as the API shows them, with the last check and the certificate. Reads `campaigns`. */
import { type Kysely, sql } from 'kysely'
import type { Config } from '../../ground/config.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { orderedCertificates } from '../certificates/rows.ts'
import type * as api from './api.ts'
import { unicodeName } from './name.ts'

/** The stored result of the last check. */
export type StoredCheck = Pick<NonNullable<api.Domain['check']>, 'arrived' | 'addresses' | 'problems'>
/** The certificate that the last check saw. */
type StoredCertificate = Pick<api.Certificate, 'issuer' | 'not_after' | 'problem'>

/** The threats that Google Web Risk lists. */
export type StoredFlag = { readonly threats: string[]; readonly since: string }

export const DOMAIN_COLUMNS = [
  'id',
  'name',
  'status',
  'is_default',
  'https',
  'root',
  'unknown_path',
  'robots',
  'records',
  'found',
  'certificate',
  'checked_at',
  'next_check_at',
  'flagged',
  'last_visit_at',
  'proven_at',
  'created_at',
  'updated_at',
] as const

/** A domain's row in the database. */
export type DomainRow = Omit<api.Domain, 'unicode_name' | 'check' | 'certificate' | 'campaigns'> & {
  found: StoredCheck | null
  certificate: StoredCertificate | null
  checked_at: string | null
  next_check_at: string | null
}

/** Domains as the API shows them. */
export async function describeDomains(
  db: Kysely<Tables>,
  { tls }: Pick<Config, 'tls'>,
  org_id: number,
  rows: readonly DomainRow[],
): Promise<api.Domain[]> {
  if (rows.length === 0) return []
  const held = rows.filter(({ status }) => status === 'active' || status === 'failing').map(({ name }) => name)
  const ordered = tls === 'auto' ? await orderedCertificates(db, org_id, held) : undefined
  const counts = await campaignsOf(db, org_id)
  return rows.map(({ found, certificate, checked_at, next_check_at, ...row }) => ({
    ...row,
    unicode_name: unicodeName(row.name),
    check: found === null || checked_at === null ? null : { ...found, checked_at, next_at: next_check_at },
    certificate: ordered?.get(row.name) ?? externalCertificate(certificate),
    campaigns: (counts.get(row.id) ?? 0) + (row.is_default ? (counts.get('') ?? 0) : 0),
  }))
}

/** The certificate of a server in front of Sluice, or `off` if the last check saw none. */
function externalCertificate(certificate: StoredCertificate | null): api.Certificate {
  const nothing = { issuer: null, not_after: null, renews_at: null, problem: null, next_try_at: null }
  return certificate === null ? { state: 'off', ...nothing } : { state: 'external', ...nothing, ...certificate }
}

/** The number of campaigns by domain id. The key '' is for campaigns without a domain, or with a deleted or lost one. */
async function campaignsOf(db: Kysely<Tables>, org_id: number): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string | null; campaigns: number }>`
    select d.id, count(*)::int as campaigns
    from campaigns c
    left join domains d on d.org_id = ${org_id} and d.id = c.domain_id and d.deleted_at is null and d.status <> 'lost'
    where c.org_id = ${org_id} and c.deleted_at is null
    group by d.id`.execute(db)
  return new Map(rows.map(({ id, campaigns }) => [id ?? '', campaigns]))
}
