/** Mail to the owners of an organization. */
import { sql } from 'kysely'
import type { Role } from '../../contract/endpoint.ts'
import type { Ground } from '../room.ts'
import { type MailOutcome, sendMail } from './mail.ts'

/**
 * Mails each owner, or each member with one of these roles, and returns the outcome of each mail. `write` gets the organization's name. A deleted
 * organization gets no mail.
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
