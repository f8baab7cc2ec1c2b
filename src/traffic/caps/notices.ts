/**
 * Mails to owners and admins that a cap is reached, one per period. Conversions and clicks only write `reached_at`; a periodic job finds it.
 */
import { sql } from 'kysely'
import { toWireId } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { linkTo } from '../../ground/mail/mail.ts'
import { type NoticeGround, type Notices, openNotices, sendNotices } from '../../ground/mail/notices.ts'
import type { Rounds } from '../../ground/rounds.ts'
import type * as api from './api.ts'
import { msOf } from './period.ts'
import { CAP_COLUMNS, type CapRow, describeCaps } from './rows.ts'

type ReachedCap = { org_id: number; cap_id: string; period_start: string }

/** A cap that was reached more than a day ago is no news. */
const DUE = (among: Among) => `
  select n.org_id, n.cap_id, n.period_start
  from cap_counts n
  where n.reached_at is not null and n.mailed_at is null and n.reached_at > now() - interval '1 day'
    and (n.claimed_until is null or n.claimed_until < now())${among('n.org_id')}`

const notices: Notices<ReachedCap> = {
  readDue: async ({ database }) => (await askEverywhere<ReachedCap>(database.worker, DUE)).rows,
  async claim(db, { org_id, cap_id, period_start }, until) {
    const { numAffectedRows } = await sql`
      update cap_counts set claimed_until = ${until}
      where org_id = ${org_id} and cap_id = ${cap_id} and period_start = ${period_start} and mailed_at is null
        and (claimed_until is null or claimed_until < now())`.execute(db)
    return numAffectedRows === 1n
  },
  async letterOf({ db, config }, { org_id, cap_id }) {
    const cap = await reachedCap(db, org_id, cap_id)
    if (cap === undefined) return undefined
    return { org_id, write: () => letterTo(config, cap), roles: ['owner', 'admin'] }
  },
  async markSent(db, { org_id, cap_id, period_start }, { until, sent_at }) {
    await sql`
      update cap_counts set mailed_at = ${sent_at}, claimed_until = null
      where org_id = ${org_id} and cap_id = ${cap_id} and period_start = ${period_start} and claimed_until = ${until}`.execute(
      db,
    )
  },
}

/** Sends the mails that are due. */
export const sendCapNotices = (ground: NoticeGround): Promise<void> => sendNotices(ground, notices)

/** The cap; undefined if it was deleted or is open by now. */
async function reachedCap(db: NoticeGround['db'], org_id: number, id: string): Promise<api.Cap | undefined> {
  const rows = db
    .selectFrom('caps')
    .select(CAP_COLUMNS)
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .$castTo<CapRow>()
  const [cap] = await describeCaps(db, org_id, await rows.execute())
  return cap?.state === 'reached' ? cap : undefined
}

function letterTo(config: NoticeGround['config'], cap: api.Cap): { subject: string; text: string } {
  const { object, object_id, object_name, limit, metric, period, resets_at, then_offer_id } = cap
  const per = period === 'total' ? 'in all' : `a ${period}`
  const consequence =
    object === 'campaign'
      ? 'Its visitors go to its fallback, as if it were paused.'
      : then_offer_id === null
        ? 'It gets no new visitors: campaigns send them to their fallback.'
        : 'Its visitors go to the offer that the cap names.'
  const reset =
    resets_at === null
      ? ''
      : ` It opens again at ${new Date(msOf(resets_at)).toISOString().slice(0, 16).replace('T', ' ')} UTC.`
  const path = object === 'campaign' ? `/campaigns/${toWireId(object_id)}` : '/offers'
  return {
    subject: `${object_name} has reached its cap`,
    text: [
      `The ${object} ${object_name} has reached its cap of ${metric === 'cost' ? `$${limit} of cost` : `${limit} ${metric}`} ${per}.`,
      `${consequence}${reset} Conversions of earlier clicks still count.`,
      `Change the cap, or open it again: ${linkTo(config, path, undefined)}`,
    ].join('\n\n'),
  }
}

/** Sends notices every few seconds until it is closed. */
export function openCapNotices(ground: NoticeGround): Rounds {
  return openNotices('caps/notices', ground, () => sendCapNotices(ground))
}
