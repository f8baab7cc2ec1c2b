/**
 * How far broadcasts are. A count changes in the transaction that changes the rows it counts, so a page reads one row however many recipients
 * there are.
 */
import type pg from 'pg'
import { inTransaction } from '../../ground/db/transaction.ts'
import type { SendState } from './api.ts'

/** A broadcast. */
export type BroadcastKey = { readonly org_id: number; readonly id: string }

const COUNT = `
  update broadcasts
  set sent = sent + $3, blocked = blocked + $4, gone = gone + $5, failed = failed + $6, unknown = unknown + $7, skipped = skipped + $8
  where org_id = $1 and id = $2`

/** Adds to its counts, in the transaction that changes the rows. */
export async function addToCounts(
  client: pg.ClientBase,
  { org_id, id }: BroadcastKey,
  changed: Partial<Record<SendState, number>>,
): Promise<void> {
  const { sent = 0, blocked = 0, gone = 0, failed = 0, unknown = 0, skipped = 0 } = changed
  const counts = [sent, blocked, gone, failed, unknown, skipped]
  if (counts.some(change => change !== 0)) await client.query(COUNT, [org_id, id, ...counts])
}

const BEGIN = `
  update broadcasts set state = 'preparing', started_at = now(), updated_at = now()
  where org_id = $1 and id = $2 and state = 'scheduled' and starts_at <= now()`

/** Begins a scheduled one that is due. */
export async function beginScheduled(pool: pg.Pool, { org_id, id }: BroadcastKey): Promise<boolean> {
  const { rowCount } = await pool.query(BEGIN, [org_id, id])
  return rowCount === 1
}

// Who puts rows in the queue again holds the broadcast's row first: see `resendUnknown`. So they are looked for in a statement of its own behind it.
const HOLD = `
  select 1 from broadcasts where org_id = $1 and id = $2 and state in ('sending', 'stopped') and ended_at is null for update`
const END = `
  update broadcasts
  set state = case when state = 'sending' then 'done' else state end, ended_at = now(), updated_at = now()
  where org_id = $1 and id = $2 and state in ('sending', 'stopped') and ended_at is null
    and not exists (select 1 from broadcast_sends s where s.org_id = $1 and s.broadcast_id = $2 and s.state in ('queued', 'sending'))`

/** Ends a broadcast of which nobody is queued or being sent to any more. */
export async function endIfDone(pool: pg.Pool, { org_id, id }: BroadcastKey): Promise<boolean> {
  return await inTransaction(pool, async client => {
    const held = await client.query(HOLD, [org_id, id])
    return held.rowCount === 1 && (await client.query(END, [org_id, id])).rowCount === 1
  })
}

const PAUSE = `
  update broadcasts set state = 'paused', pause_reason = $3, updated_at = now()
  where org_id = $1 and id = $2 and state in ('preparing', 'sending')`

/** Pauses it until a person goes on, and says why. */
export async function pauseFor(pool: pg.Pool, { org_id, id }: BroadcastKey, reason: string): Promise<void> {
  await pool.query(PAUSE, [org_id, id, reason.slice(0, 500)])
}
