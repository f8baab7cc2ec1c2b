/** Tells the owners of an organization by mail that something was switched off; the dashboard says it as well. */
import { linkTo } from '../../ground/mail/mail.ts'
import { mailOwners } from '../../ground/mail/owners.ts'
import type { Ground } from '../../ground/room.ts'

/** What was switched off, in words that end a sentence, and why. */
export type Notice = { readonly org_id: number; readonly what: string; readonly reason: string }

/** Sends the mails; what goes wrong is only logged, because the notice is stored already. */
export async function sendNotice(
  ground: Pick<Ground, 'db' | 'config' | 'log'>,
  { org_id, what, reason }: Notice,
): Promise<void> {
  const { log, config } = ground
  log.warn({ org_id, what, reason }, 'a target of deliveries was switched off')
  const waiting = linkTo(config, '/deliveries', undefined)
  try {
    await mailOwners(ground, org_id, name => ({
      subject: `Sluice has switched off ${what}`,
      text: `In ${name}, Sluice has switched off ${what}: ${reason}.\n\nWhat waited for it is kept in the log of deliveries and can be sent again:\n${waiting}\n`,
    }))
  } catch (error) {
    log.error({ err: error, org_id }, 'the owners could not be told what was switched off')
  }
}
