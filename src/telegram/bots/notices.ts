/**
 * Mails to owners that a bot's webhook was taken over or removed, or that Telegram rejects its token, each once.
 */
import { sql } from 'kysely'
import { toWireId } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { linkTo } from '../../ground/mail/mail.ts'
import { type NoticeGround, type Notices, openNotices, sendNotices } from '../../ground/mail/notices.ts'
import type { Rounds } from '../../ground/rounds.ts'

type BotNotice = {
  org_id: number
  id: string
  username: string
  notice: 'stolen' | 'removed' | 'revoked'
  hook_error: string | null
}

const DUE = (among: Among) => `
  select b.org_id, b.id, b.username, b.notice, b.hook_error
  from bots b
  where b.notice is not null and b.mailed_at is null and b.deleted_at is null
    and (b.claimed_until is null or b.claimed_until < now())${among('b.org_id')}`

const notices: Notices<BotNotice> = {
  readDue: async ({ database }) => (await askEverywhere<BotNotice>(database.worker, DUE)).rows,
  async claim(db, { org_id, id, notice }, until) {
    const { numAffectedRows } = await sql`
      update bots set claimed_until = ${until}
      where org_id = ${org_id} and id = ${id} and notice = ${notice} and mailed_at is null
        and (claimed_until is null or claimed_until < now())`.execute(db)
    return numAffectedRows === 1n
  },
  letterOf: async ({ config }, notice) => ({ org_id: notice.org_id, write: () => letterTo(config, notice) }),
  async markSent(db, { org_id, id }, { until, sent_at }) {
    await sql`
      update bots set mailed_at = ${sent_at}, claimed_until = null
      where org_id = ${org_id} and id = ${id} and claimed_until = ${until}`.execute(db)
  },
}

const SUBJECTS = {
  stolen: 'another program has taken its webhook',
  removed: 'its webhook was removed',
  revoked: 'Telegram rejects its token',
} as const

function letterTo(config: NoticeGround['config'], { id, username, notice, hook_error }: BotNotice) {
  const link = linkTo(config, `/bots/${toWireId(id)}`, undefined)
  const what =
    notice === 'revoked'
      ? 'Its token was revoked. Sluice receives no updates of the bot until you enter the new token; links and data stay.'
      : (hook_error ?? '')
  return {
    subject: `@${username}: ${SUBJECTS[notice]}`,
    text: [
      what,
      'Until then starts, joins and payments of this bot are not recorded.',
      `Check the bot or take the webhook back: ${link}`,
    ].join('\n\n'),
  }
}

/** Sends notices every few seconds until it is closed. */
export function openBotNotices(ground: NoticeGround): Rounds {
  return openNotices('bots/notices', ground, () => sendNotices(ground, notices))
}
