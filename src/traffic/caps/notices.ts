/**
 * Writes to owners and admins that a cap is reached, once in a period. A look every few seconds finds what conversions have come to; whoever
 * claims a notice sends it, so that no two processes write the same mail.
 */
import { sql } from 'kysely'
import { MINUTE_MS } from '../../contract/days.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { linkTo } from '../../ground/mail/mail.ts'
import { mailOwners } from '../../ground/mail/owners.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { toWireId } from '../../contract/ids.ts'
import { msOf } from './period.ts'
import { COLUMNS, type Row, shown } from './shown.ts'

const POLL_MS = 5000
/** Longer than a mail server may take for all of them; a mail that no server took is tried again after it. */
const LEASE_MS = 10 * MINUTE_MS

type Noticing = Pick<Ground, 'db' | 'database' | 'config' | 'log'>
type Unsent = { org_id: number; cap_id: string; period_start: string }

/** Of what was reached long ago nobody wants to hear any more. */
const UNSENT = (among: Among) => `
  select n.org_id, n.cap_id, n.period_start
  from cap_counts n
  where n.reached_at is not null and n.mailed_at is null and n.reached_at > now() - interval '1 day'
    and (n.claimed_until is null or n.claimed_until < now())${among('n.org_id')}`

/** Sends the mails that are due. */
export async function noticeReachedCaps(ground: Noticing): Promise<void> {
  const unsent = await askEverywhere<Unsent>(ground.database.worker, UNSENT)
  for (const one of unsent.rows) await sendNotice(ground, one)
}

async function sendNotice(ground: Noticing, { org_id, cap_id, period_start }: Unsent): Promise<void> {
  const { db } = ground
  const { rows: clock } = await sql<{ until: string }>`
    select now() + ${LEASE_MS}::int * interval '1 millisecond' as until`.execute(db)
  const claimed = await sql`
    update cap_counts set claimed_until = ${clock[0]?.until}
    where org_id = ${org_id} and cap_id = ${cap_id} and period_start = ${period_start} and mailed_at is null
      and (claimed_until is null or claimed_until < now())`.execute(db)
  if (claimed.numAffectedRows !== 1n) return
  const letter = await letterOf(ground, org_id, cap_id)
  const outcomes = letter === undefined ? [] : await mailOwners(ground, org_id, () => letter, ['owner', 'admin'])
  if (outcomes.length > 0 && outcomes.every(outcome => outcome === 'failed')) return
  await sql`
    update cap_counts set mailed_at = ${new Date().toISOString()}
    where org_id = ${org_id} and cap_id = ${cap_id} and period_start = ${period_start}`.execute(db)
}

/** Undefined for a cap that is gone or open by now: there is nothing to be done about it. */
async function letterOf({ db, config }: Noticing, org_id: number, id: string) {
  const rows = db
    .selectFrom('caps')
    .select(COLUMNS)
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .$castTo<Row>()
  const [cap] = await shown(db, org_id, await rows.execute())
  if (cap?.state !== 'reached') return undefined
  const { object, object_id, object_name, limit, metric, period, resets_at, then_offer_id } = cap
  const per = period === 'total' ? 'in all' : `a ${period}`
  const led =
    object === 'campaign'
      ? 'Its visitors go to its fallback, as if it were paused.'
      : then_offer_id === null
        ? 'It gets no new visitors: campaigns send them to their fallback.'
        : 'Its visitors go to the offer that its cap leads to.'
  const again =
    resets_at === null
      ? ''
      : ` It opens again at ${new Date(msOf(resets_at)).toISOString().slice(0, 16).replace('T', ' ')} UTC.`
  const path = object === 'campaign' ? `/campaigns/${toWireId(object_id)}` : '/offers'
  return {
    subject: `${object_name} has reached its cap`,
    text: [
      `The ${object} ${object_name} has reached its cap of ${metric === 'cost' ? `$${limit} of cost` : `${limit} ${metric}`} ${per}.`,
      `${led}${again} Conversions of clicks that were sent before still count.`,
      `Change the cap, or open it again: ${linkTo(config, path, undefined)}`,
    ].join('\n\n'),
  }
}

/** Looks every few seconds until it is closed; any number of processes may. */
export function openCapNotices(ground: Noticing): Rounds {
  return openRounds(
    'caps/notices',
    POLL_MS,
    () => noticeReachedCaps(ground),
    error => ground.log.warn({ err: error }, 'caps could not be looked at for notices; it is tried again'),
  )
}
