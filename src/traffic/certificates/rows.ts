/** The state of the certificates that Sluice orders, for domains. Owns no table; reads `certificates` and `acme_orders`. */
import { X509Certificate } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import { MOST_NEW_A_DAY } from './api.ts'

/**
 * `waiting`: it will be ordered; `limited`: the workspace has used its orders of the day for new names, and `next_try_at` says when it continues;
 * `ordering`: an order is under way; `failing`: there is none, or it has expired, and `problem` says why; `active`: it is in service, even if
 * `problem` says why its renewal failed.
 */
type OrderedCertificate = {
  readonly state: 'waiting' | 'limited' | 'ordering' | 'active' | 'failing'
  readonly issuer: string | null
  readonly not_after: string | null
  readonly renews_at: string | null
  readonly problem: string | null
  readonly next_try_at: string | null
}

type CertificateRow = Omit<OrderedCertificate, 'state' | 'issuer'> & {
  name: string
  chain: string | null
  is_leased: boolean
  is_ended: boolean | null
}

/** The certificate of each name. A name without a row is waiting to be ordered. */
export async function orderedCertificates(
  db: Kysely<Tables>,
  org_id: number,
  names: readonly string[],
): Promise<ReadonlyMap<string, OrderedCertificate>> {
  if (names.length === 0) return new Map()
  const { rows } = await sql<CertificateRow>`
    select name, chain, not_after, renew_at as renews_at, problem, next_try_at, not_after <= now() as is_ended,
      leased_until is not null and leased_until > now() as is_leased
    from certificates where name = any(${names}) and gone_at is null`.execute(db)
  const limited_until = await limitedUntil(db, org_id)
  const found = new Map(rows.map(row => [row.name, withLimit(describe(row), limited_until)]))
  const waiting = { issuer: null, not_after: null, renews_at: null, problem: null, next_try_at: null }
  return new Map(
    names.map(name => [name, found.get(name) ?? withLimit({ state: 'waiting', ...waiting }, limited_until)]),
  )
}

function describe(row: CertificateRow): OrderedCertificate {
  const { chain, is_leased, is_ended, not_after, renews_at, problem, next_try_at } = row
  const idle = problem === null ? ('waiting' as const) : ('failing' as const)
  const state = chain !== null && is_ended !== true ? ('active' as const) : is_leased ? ('ordering' as const) : idle
  return { state, issuer: issuerOf(chain), not_after, renews_at, problem, next_try_at }
}

/** When the workspace may order for new names again; undefined if it may now. */
async function limitedUntil(db: Kysely<Tables>, org_id: number): Promise<string | undefined> {
  const { rows } = await sql<{ until: string }>`
    select ordered_at + interval '1 day' as until from acme_orders
    where org_id = ${org_id} and is_new and ordered_at > now() - interval '1 day'
    order by ordered_at desc offset ${MOST_NEW_A_DAY - 1} limit 1`.execute(db)
  return rows[0]?.until
}

function withLimit(certificate: OrderedCertificate, until: string | undefined): OrderedCertificate {
  const { state, not_after, next_try_at } = certificate
  const isNew = not_after === null && (state === 'waiting' || state === 'failing')
  if (until === undefined || !isNew || Date.parse(next_try_at ?? '') > Date.parse(until)) return certificate
  return { ...certificate, state: 'limited', next_try_at: until }
}

/** The organization of the issuer, or else its common name. */
function issuerOf(chain: string | null): string | null {
  if (chain === null) return null
  const { issuer } = new X509Certificate(chain)
  return /^O=(.+)$/m.exec(issuer)?.[1] ?? /^CN=(.+)$/m.exec(issuer)?.[1] ?? null
}
