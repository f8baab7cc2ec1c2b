/**
 * Inserts the recipients of a broadcast before anything is sent: in the order of subscriber ids, one portion per transaction together with the position
 * reached. After a restart it continues from that position.
 */
import { type Kysely, sql } from 'kysely'
import type pg from 'pg'
import { NIL_ID } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { inTransaction } from '../../ground/db/transaction.ts'
import type { Audience } from '../../contract/telegram-audience.ts'
import { audienceOf } from '../subscribers/audience.ts'
import { changeByItself } from './counts.ts'
import type { SenderLease } from './senders.ts'

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

// The last id of the portion; no row if fewer subscribers are left.
const END = `
  select id from subscribers where org_id = $1 and bot_id = $2 and id > $3 order by id offset $4 limit 1`

const MOVE = `
  update broadcasts
  set prepared_to = $4, recipients = recipients + $5, is_prepared = $6, state = case when $6 then 'sending' else state end
  where org_id = $1 and id = $2 and state = 'preparing' and prepared_to is not distinct from $3
    and exists (select 1 from bot_senders b where b.org_id = $1 and b.bot_id = broadcasts.bot_id and b.token = $7)
  returning name, 'preparing' as was, state`

const recipientsOf = (
  { org_id, bot_id }: SenderLease,
  { id, audience }: PreparingBroadcast,
  from: string,
  to: string,
) => sql`
  insert into broadcast_sends (org_id, broadcast_id, telegram_user_id, subscriber_id, state, click_id, at)
  select s.org_id, ${id}::uuid, s.telegram_user_id, s.id, 'queued', s.click_id, now()
  from subscribers s
  where s.org_id = ${org_id} and s.bot_id = ${bot_id} and s.id > ${from} and s.id <= ${to} and ${audienceOf(org_id, audience)}
  on conflict do nothing`

type PreparingBroadcast = {
  readonly id: string
  readonly audience: Audience
  readonly prepared_to: string | null
}

class Overtaken extends Error {}

/** Inserts one portion; false if another process has taken over the bot or the broadcast's state has changed. */
export async function preparePortion(
  { db, pool }: { db: Kysely<Tables>; pool: pg.Pool },
  sender: SenderLease,
  broadcast: PreparingBroadcast,
  portion: number,
): Promise<boolean> {
  const { org_id, bot_id, token } = sender
  const from = broadcast.prepared_to ?? NIL_ID
  try {
    await inTransaction(pool, async client => {
      const { rows } = await client.query<{ id: string }>(END, [org_id, bot_id, from, portion - 1])
      const to = rows[0]?.id
      const { sql: text, parameters } = recipientsOf(sender, broadcast, from, to ?? LAST_ID).compile(db)
      const { rowCount } = await client.query(text, [...parameters])
      const values = [broadcast.prepared_to, to ?? broadcast.prepared_to, rowCount, to === undefined, token]
      const hasMoved = await changeByItself(client, { org_id, id: broadcast.id }, MOVE, { values })
      if (!hasMoved) throw new Overtaken()
    })
    return true
  } catch (error) {
    if (error instanceof Overtaken) return false
    throw error
  }
}
