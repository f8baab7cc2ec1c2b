/**
 * Writes to owners that a certificate nears its end without having been renewed, or cannot be had at all: once for each certificate. A look
 * finds what is due; whoever claims a notice sends it, so that no two processes write the same mail. Writes `certificates`.
 */
import { sql } from 'kysely'
import { MINUTE_MS } from '../../contract/days.ts'
import { linkTo } from '../../ground/mail/mail.ts'
import { mailOwners } from '../../ground/mail/owners.ts'
import type { Ground } from '../../ground/room.ts'
import { whoseName } from './names.ts'

/** Longer than a mail server may take for all of them; a mail that no server took is tried again after it. */
const LEASE_MS = 10 * MINUTE_MS
/** With the pauses between them over an hour: until then a record of DNS may just be on its way. */
const TRIES = 5

type Noticing = Pick<Ground, 'db' | 'config' | 'log'>
type Letter = { name: string; not_after: string | null; problem: string | null }

/** As `endIsNear` has it: seven days, or a fifth of a shorter life. */
const UNTOLD = sql`
  gone_at is null and told_at is null and (telling_until is null or telling_until < now())
  and case when chain is null then attempts >= ${TRIES}
    else now() > not_after - least(interval '7 days', (not_after - not_before) / 5) end`

/** Sends the mails that are due. */
export async function noticeCertificates(ground: Noticing): Promise<void> {
  const { rows } = await sql<{ name: string }>`select name from certificates where ${UNTOLD}`.execute(ground.db)
  for (const { name } of rows) await tellOf(ground, name)
}

async function tellOf(ground: Noticing, name: string): Promise<void> {
  const { db, log } = ground
  const { rows } = await sql<Letter>`
    update certificates set telling_until = now() + ${LEASE_MS}::int * interval '1 millisecond'
    where name = ${name} and ${UNTOLD}
    returning name, not_after, problem`.execute(db)
  const [letter] = rows
  if (letter === undefined) return
  log.error({ ...letter }, letter.not_after === null ? 'there is no certificate' : 'a certificate nears its end')
  const org_id = await whoseName(ground, name)
  const outcomes = org_id === undefined ? [] : await mailOwners(ground, org_id, () => words(letter, ground.config))
  if (outcomes.length > 0 && outcomes.every(outcome => outcome === 'failed')) return
  await sql`update certificates set told_at = now() where name = ${name} and telling_until is not null`.execute(db)
}

function words({ name, not_after, problem }: Letter, config: Ground['config']): { subject: string; text: string } {
  const why = problem === null ? 'It has not been tried yet.' : `What stands in the way: ${problem}.`
  const what =
    not_after === null
      ? `There is no certificate for ${name}, so its addresses with https do not open. Those with http work.`
      : `The certificate of ${name} ends at ${new Date(not_after).toISOString().slice(0, 16).replace('T', ' ')} UTC and could not be renewed. ` +
        'From then on browsers warn those who come by https.'
  return {
    subject: not_after === null ? `${name} has no certificate` : `The certificate of ${name} nears its end`,
    text: [
      what,
      why,
      'It is tried again by itself. Whether the name still leads to Sluice, with port 80 open to everybody, is what to look at first.',
      linkTo(config, '/', undefined),
    ].join('\n\n'),
  }
}
