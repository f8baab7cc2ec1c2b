/** Lists the recipients of a broadcast by outcome, and deletes them after 90 days. */
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import type { Call } from '../../contract/endpoint.ts'
import { sql } from 'kysely'
import type pg from 'pg'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import { type Context, type Ground, idOf } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import type * as api from './api.ts'
import type { BroadcastKey } from './counts.ts'
import { storedBroadcast } from './rows.ts'
import { eachSubscriber } from './sends.ts'

type ListedSend = {
  id: string
  telegram_user_id: string
  name: string | null
  state: api.SendState
  reason: string | null
  click_id: string | null
  message_id: string | null
  at: string
}

/** Recipients of one state or all, newest subscriber first. Refuses `object_not_found`. */
export async function listSends(
  { db, actor }: Context<typeof api.listSends>,
  { params, query }: Call<typeof api.listSends>,
) {
  const { org_id } = actor
  const { id, bot_id } = await storedBroadcast(db, org_id, idOf(params.id))
  const rows = db
    .selectFrom('broadcast_sends')
    .select(['subscriber_id as id', 'telegram_user_id', 'state', 'reason', 'click_id', 'message_id', 'at'])
    .where('org_id', '=', org_id)
    .where('broadcast_id', '=', id)
  const rowsInState = query.state === undefined ? rows : rows.where('state', '=', query.state)
  const { data, next_cursor } = await newestFirst(
    rowsInState.$castTo<Omit<ListedSend, 'name'>>(),
    query,
    'subscriber_id',
  )
  if (data.length === 0) return { data: [], next_cursor }
  const ids = data.map(({ telegram_user_id }) => telegram_user_id)
  const { rows: people } = await sql<Pick<ListedSend, 'telegram_user_id' | 'name'>>`
    select s.telegram_user_id, s.name from ${eachSubscriber(org_id, bot_id, ids)}`.execute(db)
  const names = new Map(people.map(({ telegram_user_id, name }) => [telegram_user_id, name]))
  return { data: data.map(row => ({ ...row, name: names.get(row.telegram_user_id) ?? null })), next_cursor }
}

const KEPT_DAYS = 90
const PORTION = 5000
const MOST_AT_ONCE = 100

const OLD = (among: Among) => `
  select b.org_id, b.id
  from broadcasts b
  where b.ended_at < $1
    and exists (select 1 from broadcast_sends s where s.org_id = b.org_id and s.broadcast_id = b.id${among('s.org_id')})${among('b.org_id')}
  limit ${MOST_AT_ONCE}`

const SOME = `select telegram_user_id from broadcast_sends where org_id = $1 and broadcast_id = $2 limit ${PORTION}`
const DROP = `
  delete from broadcast_sends where org_id = $1 and broadcast_id = $2 and telegram_user_id = any($3::text[])`

/** Deletes the recipients of broadcasts that ended more than 90 days before `now`; returns how many. The counts stay. */
export async function dropOldSends(pool: pg.Pool, now = Date.now(), signal?: AbortSignal): Promise<number> {
  const until = new Date(now - KEPT_DAYS * DAY_MS).toISOString()
  let dropped = 0
  for (;;) {
    const { rows } = await askEverywhere<BroadcastKey>(pool, OLD, [until])
    for (const { org_id, id } of rows)
      for (let last = PORTION; last === PORTION && signal?.aborted !== true; ) {
        const some = await pool.query<{ telegram_user_id: string }>(SOME, [org_id, id])
        last = some.rows.length
        if (last > 0) await pool.query(DROP, [org_id, id, some.rows.map(({ telegram_user_id }) => telegram_user_id)])
        dropped += last
      }
    if (rows.length < MOST_AT_ONCE || signal?.aborted === true) return dropped
  }
}

/** Deletes every hour until it is closed. Any number of processes may run it. */
export function openSendRetention({ database, log }: Pick<Ground, 'database' | 'log'>): Rounds {
  return openRounds(
    'broadcasts/listing',
    HOUR_MS,
    signal => dropOldSends(database.worker, Date.now(), signal),
    error => log.warn({ err: error }, 'could not delete recipients of old broadcasts; retrying'),
  )
}
