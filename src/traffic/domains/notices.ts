/**
 * Mails to owners that a domain has been failing for an hour, or that another organization has proven it, each once. Checks only write `notice`; a
 * periodic job finds it.
 */
import { sql } from 'kysely'
import { toWireId } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { linkTo } from '../../ground/mail/mail.ts'
import { type NoticeGround, type Notices, openNotices, sendNotices } from '../../ground/mail/notices.ts'
import type { Rounds } from '../../ground/rounds.ts'
import { unicodeName } from './name.ts'
import type { StoredCheck } from './rows.ts'

type DomainNotice = { org_id: number; id: string; name: string; notice: 'failing' | 'lost'; found: StoredCheck | null }

const DUE = (among: Among) => `
  select d.org_id, d.id, d.name, d.notice, d.found
  from domains d
  where d.notice is not null and d.mailed_at is null and d.deleted_at is null
    and (d.claimed_until is null or d.claimed_until < now())${among('d.org_id')}`

const notices: Notices<DomainNotice> = {
  readDue: async ({ database }) => (await askEverywhere<DomainNotice>(database.worker, DUE)).rows,
  async claim(db, { org_id, id, notice }, until) {
    const { numAffectedRows } = await sql`
      update domains set claimed_until = ${until}
      where org_id = ${org_id} and id = ${id} and notice = ${notice} and mailed_at is null
        and (claimed_until is null or claimed_until < now())`.execute(db)
    return numAffectedRows === 1n
  },
  letterOf: async ({ config }, notice) => ({ org_id: notice.org_id, write: () => letterTo(config, notice) }),
  async markSent(db, { org_id, id }, { until, sent_at }) {
    await sql`
      update domains set mailed_at = ${sent_at}, claimed_until = null
      where org_id = ${org_id} and id = ${id} and claimed_until = ${until}`.execute(db)
  },
}

/** Sends the mails that are due. */
const sendDomainNotices = (ground: NoticeGround): Promise<void> => sendNotices(ground, notices)

function letterTo(config: NoticeGround['config'], { id, name, notice, found }: DomainNotice) {
  const readable = unicodeName(name)
  const link = linkTo(config, `/settings/domains/${toWireId(id)}`, undefined)
  if (notice === 'lost')
    return {
      subject: `${readable} belongs to another organization`,
      text: [
        `Another organization on this server has proven by a TXT record that ${readable} is theirs. Its links no longer open your campaigns.`,
        'If the name is yours, set the TXT record that is shown, delete the other value, and check the domain again.',
        link,
      ].join('\n\n'),
    }
  const problems = (found?.problems ?? []).map(({ text, cure }) => `${text} ${cure}`)
  return {
    subject: `${readable} no longer leads here`,
    text: [
      `For an hour, no check of ${readable} has reached this server. Visitors who still reach it are served as before.`,
      ...problems,
      `See the result of the last check, or use another domain for your campaigns: ${link}`,
    ].join('\n\n'),
  }
}

/** Sends notices every few seconds until it is closed. */
export function openDomainNotices(ground: NoticeGround): Rounds {
  return openNotices('domains/notices', ground, () => sendDomainNotices(ground))
}
