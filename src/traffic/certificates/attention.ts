/** Certificates that somebody has to look at, for the dashboard. Owns no table. Reads `certificates` and `domain_names`. */
import { sql } from 'kysely'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'
import { firstOrganization, mainNames } from './names.ts'

/** As `endIsNear` in renewal.ts: seven days before, or a fifth of a shorter life. */
const NEARS_EXPIRY = sql`not_after - least(interval '7 days', (not_after - not_before) / 5)`
/** Five tries and the pauses between them take over an hour. Until then a DNS record may just be on its way. */
export const IS_UNOBTAINABLE = sql`attempts >= 5`

type NoticeRow = { name: string; not_after: string | null; problem: string | null; next_try_at: string | null }

/**
 * The certificates of the organization's domains that could not be had in five tries, or expire within seven days (a fifth of a shorter life).
 * Those of the main host are shown to the owners of the organization that Sluice was set up with. The earliest expiry first.
 */
export async function listCertificateNotices({ db, config, actor }: Context<typeof api.listCertificateNotices>) {
  if (config.tls !== 'auto') return { data: [], next_cursor: null }
  const { org_id, role } = actor
  const { rows: held } = await sql<{ name: string; domain_id: string }>`
    select name, domain_id from domain_names where org_id = ${org_id}`.execute(db)
  const isOurs = role === 'owner' && (await firstOrganization(db)) === org_id
  const domains = new Map<string, string | null>(isOurs ? mainNames(config).map(name => [name, null]) : [])
  for (const { name, domain_id } of held) domains.set(name, domain_id)
  const { rows } = await sql<NoticeRow>`
    select name, not_after, problem, next_try_at from certificates
    where name = any(${[...domains.keys()]}) and gone_at is null and (${IS_UNOBTAINABLE} or ${NEARS_EXPIRY} <= now())
    order by not_after nulls last, name`.execute(db)
  return { data: rows.map(row => ({ ...row, domain_id: domains.get(row.name) ?? null })), next_cursor: null }
}
