/**
 * The worker of receivers: sends their waiting messages, one after another to each receiver. Any number of processes may run it. A message is sent at
 * least once: if a process dies after a message was sent and before that is written, another one sends it again, a webhook with the same id.
 */
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

/** Due times are by the clock of this process, and are moved to the database's. */
const NEXT_DUE: NextDue = among => {
  const now = `'${new Date().toISOString()}'::timestamptz`
  return `
    select now() + (min(due_at) - ${now}) as at from receiver_messages
    where state = 'waiting' and due_at > ${now}${among('org_id')}
    union all
    select min(lease_until) from receiver_messages where state = 'waiting' and lease_until > now()${among('org_id')}`
}

/** Sends messages until it is closed. */
export function openReceiverWorker(ground: Ground) {
  const { database, log, config } = ground
  const agent = guardedAgent({ allowPrivate: config.allowPrivateTargets, connections: MOST_RECEIVERS })
  const lanes = new Map<string, Promise<void>>()
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
      const { rows } = await askEverywhere<ReceiverId>(database.worker, DUE, [new Date().toISOString()])
      for (const due of rows)
        if (!lanes.has(due.receiver_id) && lanes.size < MOST_RECEIVERS) lanes.set(due.receiver_id, work(due, signal))
    },
    error => log.warn({ err: error }, 'could not look for messages to receivers; retrying'),
    openQuiet(database.worker, NEXT_DUE),
  )
  return {
    /** Breaks off the calls in progress, whose messages wait for another process. */
    async close() {
      await rounds.close()
      await Promise.all(lanes.values())
      await agent.close()
    },
  }
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
