/**
 * Writes to owners that a bot has lost its right in a channel, or that its links run out; each once. Whoever claims a notice sends it, so that no two
 * processes write the same mail.
 */
import { sql } from 'kysely'
import { MINUTE_MS } from '../../contract/days.ts'
import { toWireId } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { linkTo } from '../../ground/mail/mail.ts'
import { mailOwners } from '../../ground/mail/owners.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { momentIn } from '../bots/claims.ts'

const POLL_MS = 5000
/** Longer than a mail server may take for all owners; a mail that no server took is tried again after it. */
const LEASE_MS = 10 * MINUTE_MS

type Noticing = Pick<Ground, 'db' | 'database' | 'config' | 'log'>
type Due = { org_id: number; id: string; title: string; notice: 'pool' | 'rights'; state_reason: string | null }

const UNSENT = (among: Among) => `
  select c.org_id, c.id, c.title, c.notice, c.state_reason
  from channels c
  where c.notice is not null and c.mailed_at is null and c.deleted_at is null
    and (c.claimed_until is null or c.claimed_until < now())${among('c.org_id')}`

async function sendNotice(ground: Noticing, due: Due): Promise<void> {
  const { db } = ground
  const { org_id, id, notice } = due
  const until = await momentIn(db, LEASE_MS)
  const { numAffectedRows } = await sql`
    update channels set claimed_until = ${until}
    where org_id = ${org_id} and id = ${id} and notice = ${notice} and mailed_at is null
      and (claimed_until is null or claimed_until < now())`.execute(db)
  if (numAffectedRows !== 1n) return
  const outcomes = await mailOwners(ground, org_id, () => words(due, ground.config))
  if (outcomes.length > 0 && outcomes.every(outcome => outcome === 'failed')) return
  await sql`
    update channels set mailed_at = ${new Date().toISOString()}, claimed_until = null
    where org_id = ${org_id} and id = ${id} and notice = ${notice}`.execute(db)
}

function words({ id, title, notice, state_reason }: Due, config: Ground['config']): { subject: string; text: string } {
  const link = `See how it is: ${linkTo(config, `/channels/${toWireId(id)}`, undefined)}`
  if (notice === 'rights')
    return {
      subject: `${title}: no invite links can be made`,
      text: [
        state_reason ?? '',
        'Links that are ready are still given. When they are used up, visitors get the link that all of a campaign share, and nobody is sure whose join it was.',
        link,
      ].join('\n\n'),
    }
  return {
    subject: `${title}: invite links run out`,
    text: [
      'Fewer than a tenth of the links that its visitors need are ready: more come than Telegram lets links be made.',
      'With none left visitors get the link that all of a campaign share, and nobody is sure whose join it was. A larger pool helps before the next peak.',
      link,
    ].join('\n\n'),
  }
}

/** Looks every few seconds until it is closed; any number of processes may. */
export function openChannelNotices(ground: Noticing): Rounds {
  return openRounds(
    'channels/notices',
    POLL_MS,
    async () => {
      const { rows } = await askEverywhere<Due>(ground.database.worker, UNSENT)
      for (const due of rows) await sendNotice(ground, due)
    },
    error => ground.log.warn({ err: error }, 'channels could not be looked at for notices; it is tried again'),
  )
}
