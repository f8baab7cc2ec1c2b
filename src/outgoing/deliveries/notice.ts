/** Mails the owners of an organization that a target was switched off. The dashboard shows it too. */
import { linkTo } from '../../ground/mail/mail.ts'
import { mailOwners } from '../../ground/mail/owners.ts'
import type { Ground } from '../../ground/room.ts'

/** The name of the target (`what`), as it is put into a sentence, and the reason. */
export type SwitchOffNotice = { readonly org_id: number; readonly what: string; readonly reason: string }

/** Sends the mails. Failures are only logged, because the dashboard shows the notice anyway. */
export async function sendSwitchOffNotice(
  ground: Pick<Ground, 'db' | 'config' | 'log'>,
  { org_id, what, reason }: SwitchOffNotice,
): Promise<void> {
  const { log, config } = ground
  log.warn({ org_id, what, reason }, 'switched off a target of deliveries')
  const waiting = linkTo(config, '/deliveries', undefined)
  try {
    await mailOwners(ground, org_id, name => ({
      subject: `Sluice has switched off ${what}`,
      text: `In ${name}, Sluice has switched off ${what}: ${reason}.\n\nIts waiting deliveries are kept and can be sent again:\n${waiting}\n`,
    }))
  } catch (error) {
    log.error({ err: error, org_id }, 'could not mail the owners that a target was switched off')
  }
}
