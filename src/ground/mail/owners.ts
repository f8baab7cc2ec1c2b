/** Mail to who runs an organization, for what nobody would else see in time. */
import { sql } from 'kysely'
import type { Role } from '../../contract/endpoint.ts'
import type { Ground } from '../room.ts'
import { type MailOutcome, sendMail } from './mail.ts'

/**
 * Writes to each owner, or to all of these roles, and answers what became of each mail. `write` is given the organization's name. Nobody is written to in a deleted
 * organization.
 */
export async function mailOwners(
  ground: Pick<Ground, 'db' | 'config' | 'log'>,
  org_id: number,
  write: (organization: string) => { subject: string; text: string },
  roles: readonly Role[] = ['owner'],
): Promise<MailOutcome[]> {
  const { rows } = await sql<{ email: string; name: string }>`
    select u.email, o.name
    from members m
    join users u on u.id = m.user_id
    join organizations o on o.org_id = m.org_id
    where m.org_id = ${org_id} and m.role = any(${roles}) and o.deleted_at is null`.execute(ground.db)
  return Promise.all(rows.map(({ email, name }) => sendMail(ground, { to: email, ...write(name) })))
}
