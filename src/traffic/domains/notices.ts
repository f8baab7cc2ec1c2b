/**
 * Writes to owners that a domain has been failing for an hour, or that another organization has proven it; each once. A look every few seconds
 * finds what checks have come to; whoever claims a notice sends it, so that no two processes write the same mail.
 */
import { sql } from 'kysely'
import { MINUTE_MS } from '../../contract/days.ts'
import { toWireId } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { linkTo } from '../../ground/mail/mail.ts'
import { mailOwners } from '../../ground/mail/owners.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { unicodeName } from './name.ts'
import type { StoredCheck } from './shown.ts'

const POLL_MS = 5000
/** Longer than a mail server may take for all owners; a mail that no server took is tried again after it. */
const LEASE_MS = 10 * MINUTE_MS

type Noticing = Pick<Ground, 'db' | 'database' | 'config' | 'log'>
type Due = { org_id: number; id: string; name: string; notice: 'failing' | 'lost'; found: StoredCheck | null }

const UNSENT = (among: Among) => `
  select d.org_id, d.id, d.name, d.notice, d.found
  from domains d
  where d.notice is not null and d.mailed_at is null and d.deleted_at is null
    and (d.claimed_until is null or d.claimed_until < now())${among('d.org_id')}`

/** Sends the mails that are due. */
async function noticeDomains(ground: Noticing): Promise<void> {
  const { rows } = await askEverywhere<Due>(ground.database.worker, UNSENT)
  for (const due of rows) await sendNotice(ground, due)
}

async function sendNotice(ground: Noticing, due: Due): Promise<void> {
  const { db } = ground
  const { org_id, id, notice } = due
  const { rows: clock } = await sql<{ until: string }>`
    select now() + ${LEASE_MS}::int * interval '1 millisecond' as until`.execute(db)
  const claimed = await sql`
    update domains set claimed_until = ${clock[0]?.until}
    where org_id = ${org_id} and id = ${id} and notice = ${notice} and mailed_at is null
      and (claimed_until is null or claimed_until < now())`.execute(db)
  if (claimed.numAffectedRows !== 1n) return
  const outcomes = await mailOwners(ground, org_id, () => words(due, ground.config))
  if (outcomes.length > 0 && outcomes.every(outcome => outcome === 'failed')) return
  await sql`
    update domains set mailed_at = ${new Date().toISOString()}
    where org_id = ${org_id} and id = ${id} and notice = ${notice}`.execute(db)
}

function words({ id, name, notice, found }: Due, config: Ground['config']): { subject: string; text: string } {
  const shown = unicodeName(name)
  const link = linkTo(config, `/settings/domains/${toWireId(id)}`, undefined)
  if (notice === 'lost')
    return {
      subject: `${shown} belongs to another organization`,
      text: [
        `Another organization on this server has proven by a TXT record that ${shown} is theirs. Its links do not open your campaigns any more.`,
        'If the name is yours, set the TXT record that is shown, delete the other value, and check the domain again.',
        link,
      ].join('\n\n'),
    }
  const problems = (found?.problems ?? []).map(({ text, cure }) => `${text} ${cure}`)
  return {
    subject: `${shown} does not lead here any more`,
    text: [
      `For an hour no request for ${shown} has come through when it was tried. Visitors who do come are served as ever.`,
      ...problems,
      `See what was found, or show your campaigns on another domain: ${link}`,
    ].join('\n\n'),
  }
}

/** Looks every few seconds until it is closed; any number of processes may. */
export function openDomainNotices(ground: Noticing): Rounds {
  return openRounds(
    'domains/notices',
    POLL_MS,
    () => noticeDomains(ground),
    error => ground.log.warn({ err: error }, 'domains could not be looked at for notices; it is tried again'),
  )
}
