/**
 * Counts what the recipients of a broadcast did afterwards: blocked the bot within 24 hours, or converted within 72, for whatever reason. Counted
 * every ten minutes until three days after the end, and stored when the recipients are deleted.
 */
import type pg from 'pg'
import { MINUTE_MS } from '../../contract/days.ts'
import type { Ground } from '../../ground/room.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { readGoals } from '../../traffic/event-settings/goals.ts'
import type { BroadcastKey } from './counts.ts'

const PAUSE_MS = MINUTE_MS
const MOST_AT_ONCE = 20

// 73 hours instead of 72, so that the last count includes the last conversion.
const DUE = (among: Among) => `
  select b.org_id, b.id
  from broadcasts b
  where b.sent > 0 and (b.afterwards_at is null
    or b.afterwards_at < now() - interval '10 minutes' and (b.ended_at is null or b.afterwards_at < b.ended_at + interval '73 hours'))${among('b.org_id')}
  order by coalesce(greatest(b.afterwards_at, b.afterwards_tried_at), '1970-01-01')
  limit ${MOST_AT_ONCE}`

// Telegram's time of a block is in whole seconds.
const BLOCKED = `
  select count(*)::int as blocked
  from broadcast_sends d
  join broadcasts b on b.org_id = d.org_id and b.id = d.broadcast_id
  join subscribers s on s.org_id = d.org_id and s.bot_id = b.bot_id and s.telegram_user_id = d.telegram_user_id
  where d.org_id = $1 and d.broadcast_id = $2 and d.state = 'sent'
    and s.state = 'blocked' and s.state_at >= date_trunc('second', d.at) and s.state_at < d.at + interval '24 hours'`

// An event counts once, even if several recipients share its click. Its last revision says what it pays.
const CONVERTED = `
  select count(*) filter (where type = any(coalesce(own.goal, $3::text[])))::int as conversions,
    trim_scale(coalesce(sum(case when status is null then payout when status = 'approved' then amount else 0 end), 0)) as revenue
  from (
    select distinct e.id, e.type, e.campaign_id, e.payout, r.status, r.amount
    from broadcast_sends d
    join events e on e.org_id = d.org_id and e.click_id = d.click_id
    left join lateral (
      select v.status, v.amount from event_revisions v
      where v.org_id = $1 and v.event_id = e.id order by v.seq desc limit 1
    ) r on true
    where d.org_id = $1 and d.broadcast_id = $2 and d.state = 'sent' and not e.test
      and e.created_at >= d.at and e.created_at < d.at + interval '72 hours'
  ) told
  left join json_to_recordset($4::json) as own(id uuid, goal text[]) on own.id = told.campaign_id`

const TRY = `
  update broadcasts set afterwards_tried_at = now() where org_id = $1 and id = $2`
const WRITE = `
  update broadcasts set afterwards = $3, afterwards_at = now() where org_id = $1 and id = $2`

/** Counts one broadcast now. `afterwards_tried_at` puts a broadcast whose count keeps failing behind the others. */
export async function countAfterwards(pool: pg.Pool, { org_id, id }: BroadcastKey): Promise<void> {
  await pool.query(TRY, [org_id, id])
  const { goal, own } = await readGoals(pool, org_id)
  const [blocked, converted] = await Promise.all([
    pool.query<{ blocked: number }>(BLOCKED, [org_id, id]),
    pool.query<{ conversions: number; revenue: string }>(CONVERTED, [org_id, id, goal, JSON.stringify(own)]),
  ])
  await pool.query(WRITE, [org_id, id, JSON.stringify({ ...blocked.rows[0], ...converted.rows[0] })])
}

/** Counts what is due, every minute until it is closed; any number of processes may. */
export function openAfterwards({ database, log }: Pick<Ground, 'database' | 'log'>): Rounds {
  const round = async (signal: AbortSignal) => {
    const { rows } = await askEverywhere<BroadcastKey>(database.worker, DUE)
    for (const key of rows) if (!signal.aborted) await countAfterwards(database.worker, key).catch(warn)
  }
  const warn = (error: unknown) => log.warn({ err: error }, 'could not count conversions after broadcasts; retrying')
  return openRounds('broadcasts/afterwards', PAUSE_MS, round, warn)
}
