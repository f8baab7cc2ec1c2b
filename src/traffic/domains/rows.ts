/** Domains as they are shown: a row with what the last check has found. Reads `campaigns`. */
import { type Kysely, sql } from 'kysely'
import type { Config } from '../../ground/config.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { ownCertificates } from '../certificates/shown.ts'
import type * as api from './api.ts'
import { unicodeName } from './name.ts'

/** What the last check wrote down. */
export type StoredCheck = Pick<NonNullable<api.Domain['check']>, 'arrived' | 'addresses' | 'problems'>
/** What it was shown by https. */
type StoredCertificate = Pick<api.Certificate, 'issuer' | 'not_after' | 'problem'>

/** What Google suspects. */
export type StoredFlag = { readonly threats: string[]; readonly since: string }

export const COLUMNS = [
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

/** A domain's row as its deeds read it. */
export type Row = Omit<api.Domain, 'unicode_name' | 'check' | 'certificate' | 'campaigns'> & {
  found: StoredCheck | null
  certificate: StoredCertificate | null
  checked_at: string | null
  next_check_at: string | null
}

/** The rows of an organization as they are shown. */
export async function shown(
  db: Kysely<Tables>,
  { tls }: Pick<Config, 'tls'>,
  org_id: number,
  rows: readonly Row[],
): Promise<api.Domain[]> {
  if (rows.length === 0) return []
  const held = rows.filter(({ status }) => status === 'active' || status === 'failing').map(({ name }) => name)
  const own = tls === 'auto' ? await ownCertificates(db, org_id, held) : undefined
  const counts = await campaignsOf(db, org_id)
  return rows.map(({ found, certificate, checked_at, next_check_at, ...row }) => ({
    ...row,
    unicode_name: unicodeName(row.name),
    check: found === null || checked_at === null ? null : { ...found, checked_at, next_at: next_check_at },
    certificate: own?.get(row.name) ?? shownCertificate(certificate),
    campaigns: (counts.get(row.id) ?? 0) + (row.is_default ? (counts.get('') ?? 0) : 0),
  }))
}

/** By https somebody else answers, or nobody does. */
function shownCertificate(certificate: StoredCertificate | null): api.Certificate {
  const nothing = { issuer: null, not_after: null, renews_at: null, problem: null, next_try_at: null }
  return certificate === null ? { state: 'off', ...nothing } : { state: 'external', ...nothing, ...certificate }
}

/** How many campaigns name each domain, by its id; under '' those that name none, or one that is gone or lost. */
async function campaignsOf(db: Kysely<Tables>, org_id: number): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string | null; campaigns: number }>`
    select d.id, count(*)::int as campaigns
    from campaigns c
    left join domains d on d.org_id = ${org_id} and d.id = c.domain_id and d.deleted_at is null and d.status <> 'lost'
    where c.org_id = ${org_id} and c.deleted_at is null
    group by d.id`.execute(db)
  return new Map(rows.map(({ id, campaigns }) => [id ?? '', campaigns]))
}
