/**
 * Writes to owners that a certificate has not been renewed: when it nears its expiry, on its last day, and once it has expired; and once that
 * none can be had at all. A look finds what is due. Whoever claims a notice sends it, so no two processes write the same mail. Writes
 * `certificates`.
 */
import { sql } from 'kysely'
import { MINUTE_MS } from '../../contract/days.ts'
import { linkTo } from '../../ground/mail/mail.ts'
import { mailOwners } from '../../ground/mail/owners.ts'
import type { Ground } from '../../ground/room.ts'
import { IS_UNOBTAINABLE } from './attention.ts'
import { whoseName } from './names.ts'

/** Longer than a mail server may take for all of them; a mail that no server took is tried again after it. */
const LEASE_MS = 10 * MINUTE_MS
type Noticing = Pick<Ground, 'db' | 'config' | 'log'>
type Letter = { name: string; not_after: string | null; problem: string | null }

/** Of a certificate in service: how long before its expiry mails are sent. Shares of its life are for lives below 35 and 20 days. */
const TOLD_BEFORE = [
  sql`least(interval '7 days', (not_after - not_before) / 5)`,
  sql`least(interval '1 day', (not_after - not_before) / 20)`,
  sql`interval '0'`,
]

/** Intervals are compared, because Citus refuses an update in which a column's moment is shifted by an interval. */
const IS_DUE = sql.join(
  TOLD_BEFORE.map(
    before => sql`(not_after - now() <= ${before} and (told_at is null or not_after - told_at > ${before}))`,
  ),
  sql` or `,
)

const UNTOLD = sql`
  gone_at is null and (telling_until is null or telling_until < now())
  and (chain is null and told_at is null and ${IS_UNOBTAINABLE} or chain is not null and (${IS_DUE}))`

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
  log.error({ ...letter }, letter.not_after === null ? 'there is no certificate' : 'a certificate is not renewed')
  const org_id = await whoseName(ground, name)
  const outcomes = org_id === undefined ? [] : await mailOwners(ground, org_id, () => words(letter, ground.config))
  if (outcomes.length > 0 && outcomes.every(outcome => outcome === 'failed')) return
  await sql`update certificates set told_at = now() where name = ${name} and telling_until is not null`.execute(db)
}

function words({ name, not_after, problem }: Letter, config: Ground['config']): { subject: string; text: string } {
  const why = problem === null ? 'It has not been tried yet.' : `The reason: ${problem.replace(/\.$/, '')}.`
  const expiry = new Date(not_after ?? 0)
  const at = `${expiry.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const [subject, what] =
    not_after === null
      ? [
          `${name} has no certificate`,
          `Sluice could not get a certificate for ${name}. Links with https do not open; links with http work.`,
        ]
      : expiry.getTime() <= Date.now()
        ? [
            `The certificate of ${name} has expired`,
            `The certificate of ${name} expired at ${at} and could not be renewed. Browsers now warn everyone who opens ${name} by https.`,
          ]
        : [
            `The certificate of ${name} expires soon`,
            `The certificate of ${name} expires at ${at} and could not be renewed. From then on browsers warn everyone who opens ${name} by https.`,
          ]
  const todo = `Sluice goes on trying. Check that ${name} still points to this server and that port 80 is open to everyone.`
  return { subject, text: [what, why, todo, linkTo(config, '/', undefined)].join('\n\n') }
}
