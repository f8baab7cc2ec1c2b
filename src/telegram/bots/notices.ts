/**
 * Writes to owners that a bot's hook was taken or removed, or that Telegram refuses its token; each once. Whoever claims a notice sends it, so that no two
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
import { momentIn } from './claims.ts'

const POLL_MS = 5000
/** Longer than a mail server may take for all owners; a mail that no server took is tried again after it. */
const LEASE_MS = 10 * MINUTE_MS

type Noticing = Pick<Ground, 'db' | 'database' | 'config' | 'log'>
type Due = {
  org_id: number
  id: string
  username: string
  notice: 'stolen' | 'removed' | 'revoked'
  hook_error: string | null
}

const UNSENT = (among: Among) => `
  select b.org_id, b.id, b.username, b.notice, b.hook_error
  from bots b
  where b.notice is not null and b.mailed_at is null and b.deleted_at is null
    and (b.claimed_until is null or b.claimed_until < now())${among('b.org_id')}`

async function noticeBots(ground: Noticing): Promise<void> {
  const { rows } = await askEverywhere<Due>(ground.database.worker, UNSENT)
  for (const due of rows) await sendNotice(ground, due)
}

async function sendNotice(ground: Noticing, due: Due): Promise<void> {
  const { db } = ground
  const { org_id, id, notice } = due
  const until = await momentIn(db, LEASE_MS)
  const claimed = await sql`
    update bots set claimed_until = ${until}
    where org_id = ${org_id} and id = ${id} and notice = ${notice} and mailed_at is null
      and (claimed_until is null or claimed_until < now())`.execute(db)
  if (claimed.numAffectedRows !== 1n) return
  const outcomes = await mailOwners(ground, org_id, () => words(due, ground.config))
  if (outcomes.length > 0 && outcomes.every(outcome => outcome === 'failed')) return
  await sql`
    update bots set mailed_at = ${new Date().toISOString()}, claimed_until = null
    where org_id = ${org_id} and id = ${id} and notice = ${notice}`.execute(db)
}

const SUBJECTS = {
  stolen: 'another program has taken its hook',
  removed: 'its hook was removed',
  revoked: 'Telegram refuses its token',
} as const

function words({ id, username, notice, hook_error }: Due, config: Ground['config']): { subject: string; text: string } {
  const link = linkTo(config, `/bots/${toWireId(id)}`, undefined)
  const what =
    notice === 'revoked'
      ? 'Its token was revoked. Sluice hears nothing of the bot until it has the new one; links and data stay.'
      : (hook_error ?? '')
  return {
    subject: `@${username}: ${SUBJECTS[notice]}`,
    text: [
      what,
      'Until then starts, joins and payments of this bot are not recorded.',
      `See how it is, or take the hook back: ${link}`,
    ].join('\n\n'),
  }
}

/** Looks every few seconds until it is closed; any number of processes may. */
export function openBotNotices(ground: Noticing): Rounds {
  return openRounds(
    'bots/notices',
    POLL_MS,
    () => noticeBots(ground),
    error => ground.log.warn({ err: error }, 'bots could not be looked at for notices; it is tried again'),
  )
}
