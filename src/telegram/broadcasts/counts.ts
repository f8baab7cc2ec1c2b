/**
 * The counts and the end of broadcasts. A count changes in the same transaction as the rows it counts, so a page reads one row however many
 * recipients there are.
 */
import type pg from 'pg'
import { inTransaction } from '../../ground/db/transaction.ts'
import { recordOwnChange } from '../../ground/history/own-changes.ts'
import type { BroadcastState, SendState } from './api.ts'

export type BroadcastKey = { readonly org_id: number; readonly id: string }

const COUNT = `
  update broadcasts
  set sent = sent + $3, blocked = blocked + $4, gone = gone + $5, failed = failed + $6, unknown = unknown + $7, skipped = skipped + $8
  where org_id = $1 and id = $2`

/** Adds to the counts of a broadcast, in the transaction that changes its rows. */
export async function addToCounts(
  client: pg.ClientBase,
  { org_id, id }: BroadcastKey,
  changed: Partial<Record<SendState, number>>,
): Promise<void> {
  const { sent = 0, blocked = 0, gone = 0, failed = 0, unknown = 0, skipped = 0 } = changed
  const counts = [sent, blocked, gone, failed, unknown, skipped]
  if (counts.some(change => change !== 0)) await client.query(COUNT, [org_id, id, ...counts])
}

type StateChange = { readonly name: string; readonly was: BroadcastState; readonly state: BroadcastState }

/**
 * Changes the state of a broadcast without a person, and records that; false if it is in another state. `text` returns a StateChange. `hold` locks the
 * row first.
 */
export async function changeByItself(
  client: pg.ClientBase,
  { org_id, id }: BroadcastKey,
  text: string,
  { hold, values = [] }: { hold?: string; values?: readonly unknown[] } = {},
): Promise<boolean> {
  let isChanged = false
  const object = { kind: 'broadcast', id } as const
  await recordOwnChange(client, org_id, { because: 'schedule', object }, async () => {
    if (hold !== undefined && (await client.query(hold, [org_id, id])).rowCount === 0) return undefined
    const [row] = (await client.query<StateChange>(text, [org_id, id, ...values])).rows
    isChanged = row !== undefined
    return row && { name: row.name, before: { state: row.was }, after: { state: row.state } }
  })
  return isChanged
}

const BEGIN = `
  update broadcasts set state = 'preparing', started_at = now(), updated_at = now()
  where org_id = $1 and id = $2 and state = 'scheduled' and starts_at <= now()
  returning name, 'scheduled' as was, state`

/** Starts a scheduled broadcast that is due; false if it is not. */
export async function beginScheduled(pool: pg.Pool, key: BroadcastKey): Promise<boolean> {
  return await inTransaction(pool, client => changeByItself(client, key, BEGIN))
}

// `resendUnknown` locks the broadcast's row before it requeues rows. So the row is locked first, and a second statement sees the requeued rows.
const HOLD = `
  select 1 from broadcasts where org_id = $1 and id = $2 and state in ('sending', 'stopped') and ended_at is null for update`
const END = `
  update broadcasts
  set state = case when state = 'sending' then 'done' else state end, ended_at = now(), updated_at = now()
  where org_id = $1 and id = $2 and state in ('sending', 'stopped') and ended_at is null
    and not exists (select 1 from broadcast_sends s where s.org_id = $1 and s.broadcast_id = $2 and s.state in ('queued', 'sending'))
  returning name, case when state = 'done' then 'sending' else state end as was, state`

/** Ends a broadcast without queued or sending rows. */
export async function endIfDone(pool: pg.Pool, key: BroadcastKey): Promise<boolean> {
  return await inTransaction(pool, client => changeByItself(client, key, END, { hold: HOLD }))
}

const PAUSE = `
  update broadcasts set state = 'paused', pause_reason = $3, updated_at = now()
  from (select state as was from broadcasts where org_id = $1 and id = $2) before
  where org_id = $1 and id = $2 and state in ('preparing', 'sending')
  returning name, was, state`

/** Pauses a broadcast with a reason, until a person resumes it. */
export async function pauseFor(pool: pg.Pool, key: BroadcastKey, reason: string): Promise<void> {
  await inTransaction(pool, client => changeByItself(client, key, PAUSE, { values: [reason.slice(0, 500)] }))
}
