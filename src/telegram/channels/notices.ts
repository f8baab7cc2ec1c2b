/** Mails owners once when a bot loses its right in a channel or when invite links run out. */
import { sql } from 'kysely'
import { toWireId } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { linkTo } from '../../ground/mail/mail.ts'
import { type NoticeGround, type Notices, openNotices, sendNotices } from '../../ground/mail/notices.ts'
import type { Rounds } from '../../ground/rounds.ts'

type ChannelNotice = {
  org_id: number
  id: string
  title: string
  notice: 'pool' | 'rights'
  state_reason: string | null
}

const DUE = (among: Among) => `
  select c.org_id, c.id, c.title, c.notice, c.state_reason
  from channels c
  where c.notice is not null and c.mailed_at is null and c.deleted_at is null
    and (c.claimed_until is null or c.claimed_until < now())${among('c.org_id')}`

const notices: Notices<ChannelNotice> = {
  readDue: async ({ database }) => (await askEverywhere<ChannelNotice>(database.worker, DUE)).rows,
  async claim(db, { org_id, id, notice }, until) {
    const { numAffectedRows } = await sql`
      update channels set claimed_until = ${until}
      where org_id = ${org_id} and id = ${id} and notice = ${notice} and mailed_at is null
        and (claimed_until is null or claimed_until < now())`.execute(db)
    return numAffectedRows === 1n
  },
  letterOf: async ({ config }, notice) => ({ org_id: notice.org_id, write: () => letterTo(config, notice) }),
  async markSent(db, { org_id, id }, { until, sent_at }) {
    await sql`
      update channels set mailed_at = ${sent_at}, claimed_until = null
      where org_id = ${org_id} and id = ${id} and claimed_until = ${until}`.execute(db)
  },
}

function letterTo(config: NoticeGround['config'], { id, title, notice, state_reason }: ChannelNotice) {
  const link = `Check the channel: ${linkTo(config, `/channels/${toWireId(id)}`, undefined)}`
  if (notice === 'rights')
    return {
      subject: `${title}: no invite links can be created`,
      text: [
        state_reason ?? '',
        'Links that are ready are still given out. When none is left, visitors get the campaign’s shared link, and their joins cannot be attributed with certainty.',
        link,
      ].join('\n\n'),
    }
  return {
    subject: `${title}: invite links run out`,
    text: [
      'Fewer than a tenth of the links that visitors need are ready: visitors come faster than Telegram lets Sluice create links.',
      'When none is left, visitors get the campaign’s shared link, and their joins cannot be attributed with certainty. Raise the minimum of ready links before the next peak.',
      link,
    ].join('\n\n'),
  }
}

/** Sends notices every few seconds until it is closed. */
export function openChannelNotices(ground: NoticeGround): Rounds {
  return openNotices('channels/notices', ground, () => sendNotices(ground, notices))
}
