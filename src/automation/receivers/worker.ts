/**
 * The worker of receivers: sends their waiting messages, one after another to each receiver. Any number of processes may run it. A message is sent at
 * least once: if a process dies after a message was sent and before that is written, another one sends it again, a webhook with the same id.
 */
import type pg from 'pg'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { type NextDue, openQuiet } from '../../ground/db/quiet.ts'
import { guardedAgent } from '../../ground/guard.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds } from '../../ground/rounds.ts'
import { type Channels, sendByChannel } from './channels.ts'
import { recordOutcome } from './outcomes.ts'
import { claimNext, type ReceiverId } from './turns.ts'

const POLL_MS = 1000
/** Receivers that one process sends to at the same time. */
const MOST_RECEIVERS = 50

const DUE = (among: Among) => `
  select m.org_id, m.receiver_id
  from receiver_messages m
  join organizations o on o.org_id = m.org_id
  where m.state = 'waiting' and m.due_at <= $1 and (m.lease_until is null or m.lease_until <= now())
    and o.deleted_at is null${among('m.org_id')}
    and not exists (
      select from receiver_messages e
      where e.org_id = m.org_id and e.receiver_id = m.receiver_id and e.episode_id = m.episode_id
        and e.number < m.number and e.state = 'waiting'${among('e.org_id')})
  group by m.org_id, m.receiver_id
  limit ${MOST_RECEIVERS}`

/** When the next message is due by the clock of this process. */
const NEXT = (among: Among) => `
  select extract(epoch from min(due_at))::float8 * 1000 as ms from receiver_messages
  where state = 'waiting' and due_at > $1${among('org_id')}`

/** Leases of dead processes end by the database's clock. */
const NEXT_DUE: NextDue = among => `
  select min(lease_until) as at from receiver_messages where state = 'waiting' and lease_until > now()${among('org_id')}`

/** Sends messages until it is closed. */
export function openReceiverWorker(ground: Ground) {
  const { database, log, config } = ground
  const agent = guardedAgent({ allowPrivate: config.allowPrivateTargets, connections: MOST_RECEIVERS })
  const lanes = new Map<string, Promise<void>>()
  let next_ms: number | undefined
  const work = async (due: ReceiverId, signal: AbortSignal) => {
    try {
      if (await sendWaiting({ ...ground, agent, signal }, due)) rounds.wake()
    } catch (error) {
      log.warn({ err: error, receiver: due.receiver_id }, 'could not send to a receiver; retrying')
    } finally {
      lanes.delete(due.receiver_id)
    }
  }
  const rounds = openRounds(
    'receivers/worker',
    POLL_MS,
    async signal => {
      const now = new Date().toISOString()
      const { rows } = await askEverywhere<ReceiverId>(database.worker, DUE, [now])
      next_ms = rows.length > 0 ? undefined : await nextDue(database.worker, now)
      for (const due of rows)
        if (!lanes.has(due.receiver_id) && lanes.size < MOST_RECEIVERS) lanes.set(due.receiver_id, work(due, signal))
    },
    error => log.warn({ err: error }, 'could not look for messages to receivers; retrying'),
    openQuiet(database.worker, NEXT_DUE),
  )
  // The quiet of the database knows only the database's clock.
  const watching = setInterval(() => {
    if (next_ms !== undefined && Date.now() >= next_ms) rounds.wake()
  }, POLL_MS).unref()
  return {
    /** Breaks off the calls in progress, whose messages wait for another process. */
    async close() {
      clearInterval(watching)
      await rounds.close()
      await Promise.all(lanes.values())
      await agent.close()
    },
  }
}

async function nextDue(pool: pg.Pool, now: string): Promise<number | undefined> {
  const { rows } = await askEverywhere<{ ms: number | null }>(pool, NEXT, [now])
  return rows[0]?.ms ?? undefined
}

/** Sends the messages of a receiver that are due. Returns whether there were any. */
export async function sendWaiting(
  channels: Channels & { readonly signal: AbortSignal },
  of: ReceiverId,
): Promise<boolean> {
  let hasWorked = false
  while (!channels.signal.aborted) {
    const next = await claimNext(channels.db, of)
    if (next === undefined) break
    hasWorked = true
    if (next !== 'moved') await recordOutcome(channels.db, next, await sendByChannel(channels, next))
  }
  return hasWorked
}
