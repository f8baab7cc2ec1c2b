/**
 * Warns of a balance below its threshold: every member by a banner while it lasts, the owners by one mail each time it falls below. Owns
 * `low_balance_notices`: a row each time, of which at most one is open, so that no two processes send the same mail. Charges are not slowed
 * down: a periodic job finds the low balances.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { linkTo } from '../../ground/mail/mail.ts'
import { type NoticeGround, type Notices, openNotices, sendNotices } from '../../ground/mail/notices.ts'
import type { Context } from '../../ground/room.ts'
import type { Rounds } from '../../ground/rounds.ts'
import type * as api from './api.ts'

type Standing = { balance: string; low_balance_threshold: string | null; hold_when_empty: boolean }

/** Whether the balance is low or empty now, for the banner. With a price of 0 it counts only if deliveries wait for a top-up. */
export async function readBalanceNotice({ db, actor }: Context<typeof api.readBalanceNotice>) {
  const { rows } = await sql<Standing & { is_charging: boolean; is_empty: boolean; is_low: boolean | null }>`
    select balance, low_balance_threshold, hold_when_empty, price_per_person > 0 as is_charging,
      balance < 0 and (price_per_person > 0 or hold_when_empty) as is_empty,
      balance < low_balance_threshold and price_per_person > 0 as is_low
    from balances
    where org_id = ${actor.org_id}`.execute(db)
  const [standingRow] = rows
  if (standingRow === undefined) throw new Error('the organization has no balance')
  const { is_empty, is_low, ...standing } = standingRow
  return { ...standing, state: is_empty ? ('empty' as const) : is_low ? ('low' as const) : ('fine' as const) }
}

/** Sets the threshold. Ends the open notice if the balance is no longer below it; the periodic job begins a new one if it is. */
export async function setLowBalance(
  { db, actor }: Context<typeof api.setLowBalance>,
  { body }: Call<typeof api.setLowBalance>,
) {
  await db.transaction().execute(async trx => {
    await sql`
      update balances set low_balance_threshold = ${body.low_balance_threshold} where org_id = ${actor.org_id}`.execute(
      trx,
    )
    await endNotices(trx, actor.org_id, new Date().toISOString())
  })
  return { ok: true as const }
}

/** Ends the open notice if the balance is no longer low. Runs under the lock of the balance row, after its change. */
export async function endNotices(trx: Transaction<Tables>, org_id: number, at: string): Promise<void> {
  const { rows } = await sql<{ is_low: boolean | null }>`
    select balance < low_balance_threshold as is_low from balances where org_id = ${org_id}`.execute(trx)
  if (rows[0]?.is_low === true) return
  await sql`
    update low_balance_notices set ended_at = ${at} where org_id = ${org_id} and ended_at is null`.execute(trx)
}

const FALLEN = (among: Among) => `
  select b.org_id
  from balances b
  where b.balance < b.low_balance_threshold and b.price_per_person > 0
    and not exists (select from low_balance_notices n where n.org_id = b.org_id and n.ended_at is null${among('n.org_id')})${among('b.org_id')}`
const UNSENT = (among: Among) => `
  select n.org_id, n.id
  from low_balance_notices n
  where n.ended_at is null and n.mailed_at is null and (n.claimed_until is null or n.claimed_until < now())${among('n.org_id')}`

/** Begins the notices of all low balances and sends the mails that are due. */
export async function noticeLowBalances(ground: NoticeGround): Promise<void> {
  const { db, database } = ground
  const fallen = await askEverywhere<{ org_id: number }>(database.worker, FALLEN)
  for (const { org_id } of fallen.rows) await beginNotice(db, org_id)
  await sendNotices(ground, notices)
}

async function beginNotice(db: Kysely<Tables>, org_id: number): Promise<void> {
  await db.transaction().execute(async trx => {
    // Locked, so that a simultaneous top-up either ends the notice or is seen here.
    const { rows } = await sql<{ balance: string; low_balance_threshold: string }>`
      select balance, low_balance_threshold from balances
      where org_id = ${org_id} and balance < low_balance_threshold and price_per_person > 0
      for update`.execute(trx)
    const [low] = rows
    if (low === undefined) return
    await sql`
      insert into low_balance_notices (org_id, id, threshold, balance, began_at)
      values (${org_id}, ${newId()}, ${low.low_balance_threshold}, ${low.balance}, ${new Date().toISOString()})
      on conflict (org_id) where ended_at is null do nothing`.execute(trx)
  })
}

type LowBalance = { balance: string; threshold: string; price_per_person: string; hold_when_empty: boolean }

type LowBalanceNotice = { org_id: number; id: string }

const notices: Notices<LowBalanceNotice> = {
  readDue: async ({ database }) => (await askEverywhere<LowBalanceNotice>(database.worker, UNSENT)).rows,
  async claim(db, { org_id, id }, until) {
    const { numAffectedRows } = await sql`
      update low_balance_notices set claimed_until = ${until}
      where org_id = ${org_id} and id = ${id} and ended_at is null and mailed_at is null
        and (claimed_until is null or claimed_until < now())`.execute(db)
    return numAffectedRows === 1n
  },
  async letterOf({ db, config }, { org_id, id }) {
    const { rows } = await sql<LowBalance>`
      select b.balance, n.threshold, b.price_per_person, b.hold_when_empty
      from low_balance_notices n
      join balances b on b.org_id = n.org_id
      where n.org_id = ${org_id} and n.id = ${id}`.execute(db)
    const [balance] = rows
    return balance && { org_id, write: name => letterTo(config, name, balance) }
  },
  async markSent(db, { org_id, id }, { until, sent_at }) {
    await sql`
      update low_balance_notices set mailed_at = ${sent_at}, claimed_until = null
      where org_id = ${org_id} and id = ${id} and claimed_until = ${until}`.execute(db)
  },
}

function letterTo(
  config: NoticeGround['config'],
  name: string,
  { balance, threshold, price_per_person, hold_when_empty }: LowBalance,
): { subject: string; text: string } {
  const empty = hold_when_empty
    ? 'Below zero, postbacks and ad account events wait for a top-up.'
    : 'Below zero, conversions are still recorded and deliveries still sent.'
  return {
    subject: `The balance of ${name} is low`,
    text: [
      `The balance of ${name} is $${balance}, below your threshold of $${threshold}.`,
      `Each new person costs $${price_per_person}. ${empty}`,
      `Top it up, or change the threshold: ${linkTo(config, '/billing', undefined)}`,
    ].join('\n\n'),
  }
}

/** Checks all balances every few seconds until it is closed. */
export function openLowBalanceWatch(ground: NoticeGround): Rounds {
  return openNotices('billing/low-balance', ground, () => noticeLowBalances(ground))
}
