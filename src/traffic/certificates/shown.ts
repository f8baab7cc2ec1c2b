/** What is told of the certificates that Sluice has had itself. Owns no table; reads `certificates`. */
import { X509Certificate } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'

/**
 * `waiting`: to be ordered; `ordering`: it is under way; `failing`: there is none, or it has ended, and `problem` says why. The certificate of
 * an `active` one is in service, also where its renewal meets a `problem`.
 */
type OwnCertificate = {
  readonly state: 'waiting' | 'ordering' | 'active' | 'failing'
  readonly issuer: string | null
  readonly not_after: string | null
  readonly renews_at: string | null
  readonly problem: string | null
  readonly next_try_at: string | null
}

type Row = Omit<OwnCertificate, 'state' | 'issuer'> & {
  name: string
  chain: string | null
  is_leased: boolean
  is_ended: boolean | null
}

/** By name; those of which there is no row are to be ordered too. */
export async function ownCertificates(
  db: Kysely<Tables>,
  names: readonly string[],
): Promise<ReadonlyMap<string, OwnCertificate>> {
  if (names.length === 0) return new Map()
  const { rows } = await sql<Row>`
    select name, chain, not_after, renew_at as renews_at, problem, next_try_at, not_after <= now() as is_ended,
      leased_until is not null and leased_until > now() as is_leased
    from certificates where name = any(${names}) and gone_at is null`.execute(db)
  const found = new Map(rows.map(row => [row.name, shown(row)]))
  const waiting = { issuer: null, not_after: null, renews_at: null, problem: null, next_try_at: null }
  return new Map(names.map(name => [name, found.get(name) ?? { state: 'waiting', ...waiting }]))
}

function shown({ chain, is_leased, is_ended, not_after, renews_at, problem, next_try_at }: Row): OwnCertificate {
  const nothing = problem === null ? ('waiting' as const) : ('failing' as const)
  const state = chain !== null && is_ended !== true ? ('active' as const) : is_leased ? ('ordering' as const) : nothing
  return { state, issuer: issuerOf(chain), not_after, renews_at, problem, next_try_at }
}

/** The organization that has signed it, else its name. */
function issuerOf(chain: string | null): string | null {
  if (chain === null) return null
  const { issuer } = new X509Certificate(chain)
  return /^O=(.+)$/m.exec(issuer)?.[1] ?? /^CN=(.+)$/m.exec(issuer)?.[1] ?? null
}
