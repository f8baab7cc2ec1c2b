/** Tells the owners of an organization by mail that something was switched off; the dashboard says it as well. */
import type pg from 'pg'
import { linkTo, sendMail } from '../mail/mail.ts'
import type { Ground } from '../room.ts'

const OWNERS = `
  select u.email, o.name
  from members m
  join users u on u.id = m.user_id
  join organizations o on o.org_id = m.org_id
  where m.org_id = $1 and m.role = 'owner' and o.deleted_at is null`

/** What was switched off, in words that end a sentence, and why. */
export type Notice = { readonly org_id: number; readonly what: string; readonly reason: string }

/** Sends the mails; what goes wrong is only logged, because the notice is stored already. */
export async function sendNotice(
  ground: Pick<Ground, 'config' | 'log'>,
  pool: pg.Pool,
  { org_id, what, reason }: Notice,
): Promise<void> {
  const { log, config } = ground
  log.warn({ org_id, what, reason }, 'a target of deliveries was switched off')
  try {
    const { rows } = await pool.query<{ email: string; name: string }>(OWNERS, [org_id])
    for (const { email, name } of rows)
      await sendMail(ground, {
        to: email,
        subject: `Sluice has switched off ${what}`,
        text: `In ${name}, Sluice has switched off ${what}: ${reason}.\n\nWhat waited for it is kept in the log of deliveries and can be sent again:\n${linkTo(config, '/deliveries', undefined)}\n`,
      })
  } catch (error) {
    log.error({ err: error, org_id }, 'the owners could not be told what was switched off')
  }
}
