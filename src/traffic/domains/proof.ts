/**
 * Whose a name is. Pointing it here is enough for a name that nobody else here has to do with; a TXT record says it where strangers may sign
 * up, or where another organization holds or held the name, one above it or one below it: DNS that was left behind proves nothing.
 */
import { type Kysely, sql } from 'kysely'
import type { Config } from '../../ground/config.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { namesAbove } from './name.ts'

const TOKEN_LENGTH = 22

/** The value of the TXT record that says a name is an organization's. Nothing is stored: it can be told again at any time. */
export function proofValue({ mac }: Pick<Secrets, 'mac'>, org_id: number, name: string): string {
  return `sluice=${mac('domain owner', `${org_id} ${name}`).toString('base64url').slice(0, TOKEN_LENGTH)}`
}

/** Whether the TXT record is needed of this organization. */
export async function needsProof(
  db: Kysely<Tables>,
  { signUp }: Pick<Config, 'signUp'>,
  { org_id, name }: { org_id: number; name: string },
): Promise<boolean> {
  if (signUp === 'open') return true
  const related = [name, ...namesAbove(name)]
  const { rows } = await sql<{ is_related: boolean }>`
    select exists (
      select from domain_names n where n.org_id <> ${org_id} and (n.name = any(${related}) or n.name like ${`%.${name}`})
    ) or exists (
      select from domain_holders h where h.org_id <> ${org_id} and (h.name = any(${related}) or h.name like ${`%.${name}`})
    ) as is_related`.execute(db)
  return rows[0]?.is_related === true
}
