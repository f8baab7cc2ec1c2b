/**
 * Mails to owners that a certificate has not been renewed: when its expiry is near, on its last day, and once it has expired; and one mail that a
 * certificate could not be obtained at all. Writes `certificates`.
 */
import { sql } from 'kysely'
import { linkTo } from '../../ground/mail/mail.ts'
import { type NoticeGround, type Notices, sendNotices } from '../../ground/mail/notices.ts'
import { IS_UNOBTAINABLE } from './attention.ts'
import { whoseName } from './names.ts'

type CertificateFault = { name: string; not_after: string | null; problem: string | null }

/** How long before the expiry of a certificate in service a mail is sent. The shares of its life are for lives below 35 and 20 days. */
const MAILED_BEFORE = [
  sql`least(interval '7 days', (not_after - not_before) / 5)`,
  sql`least(interval '1 day', (not_after - not_before) / 20)`,
  sql`interval '0'`,
]

/** Compares intervals, because Citus refuses an update that adds an interval to a column's time. */
const IS_EXPIRY_DUE = sql.join(
  MAILED_BEFORE.map(
    before => sql`(not_after - now() <= ${before} and (told_at is null or not_after - told_at > ${before}))`,
  ),
  sql` or `,
)

const IS_DUE = sql`
  gone_at is null and (telling_until is null or telling_until < now())
  and (chain is null and told_at is null and ${IS_UNOBTAINABLE} or chain is not null and (${IS_EXPIRY_DUE}))`

const notices: Notices<CertificateFault> = {
  async readDue({ db }) {
    const { rows } = await sql<CertificateFault>`
      select name, not_after, problem from certificates where ${IS_DUE}`.execute(db)
    return rows
  },
  async claim(db, { name }, until) {
    const { numAffectedRows } = await sql`
      update certificates set telling_until = ${until} where name = ${name} and ${IS_DUE}`.execute(db)
    return numAffectedRows === 1n
  },
  async letterOf(ground, fault) {
    ground.log.error(
      { ...fault },
      fault.not_after === null ? 'there is no certificate' : 'a certificate is not renewed',
    )
    const org_id = await whoseName(ground, fault.name)
    return org_id === undefined ? undefined : { org_id, write: () => letterTo(ground.config, fault) }
  },
  async markSent(db, { name }, { until, sent_at }) {
    await sql`
      update certificates set told_at = ${sent_at}, telling_until = null
      where name = ${name} and telling_until = ${until}`.execute(db)
  },
}

/** Sends the mails that are due. */
export const sendCertificateNotices = (ground: NoticeGround): Promise<void> => sendNotices(ground, notices)

function letterTo(
  config: NoticeGround['config'],
  { name, not_after, problem }: CertificateFault,
): { subject: string; text: string } {
  const reason = problem === null ? 'It has not been tried yet.' : `The reason: ${problem.replace(/\.$/, '')}.`
  const expiry = new Date(not_after ?? 0)
  const at = `${expiry.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const [subject, fault] =
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
            `The certificate of ${name} expires at ${at} and could not be renewed. After that, browsers warn everyone who opens ${name} by https.`,
          ]
  const advice = `Sluice keeps trying. Check that ${name} still points to this server and that port 80 is open to everyone.`
  return { subject, text: [fault, reason, advice, linkTo(config, '/', undefined)].join('\n\n') }
}
