/** Finds bots with running broadcasts that no process sends for, and sends for them. Any number of processes may run it. */
import { sql } from 'kysely'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { listen } from '../../ground/db/listen.ts'
import { afterCommit } from '../../ground/db/one-transaction.ts'
import { type NextDue, openQuiet } from '../../ground/db/quiet.ts'
import { openRounds } from '../../ground/rounds.ts'
import { openSendingPace, type SendingPace } from './pace.ts'
import { runBot, type SendGround } from './run.ts'
import { type BotKey, wakeBot, claimBot } from './senders.ts'
import { type SendTerms, TERMS } from './terms.ts'

const CHANNEL = 'sluice_broadcasts'
/** Bots per process. Each waits most of the time; resting bots do not count. */
const MOST_BOTS = 50

const FIND = (among: Among) => `
  select b.org_id, b.bot_id
  from broadcasts b
  join organizations o on o.org_id = b.org_id
  where o.deleted_at is null and b.ended_at is null and b.state <> 'draft'
    and (b.state in ('preparing', 'sending', 'stopped') or b.state = 'scheduled' and b.starts_at <= now()
      or b.state = 'paused' and exists (
        select 1 from broadcast_sends s
        where s.org_id = b.org_id and s.broadcast_id = b.id and s.state = 'sending'${among('s.org_id')}))
    and not exists (
      select 1 from bot_senders l
      where l.org_id = b.org_id and l.bot_id = b.bot_id and (l.lease_until > now() or l.next_at > now())${among('l.org_id')})${among('b.org_id')}
  group by b.org_id, b.bot_id
  order by min(coalesce(b.started_at, b.starts_at))
  limit ${MOST_BOTS}`

const NEXT_DUE: NextDue = among => `
  select min(starts_at) as at from broadcasts where state = 'scheduled' and starts_at > now()${among('org_id')}
  union all
  select min(least(case when lease_until > now() then lease_until end, case when next_at > now() then next_at end))
  from bot_senders where (lease_until > now() or next_at > now())${among('org_id')}`

type BroadcastWorker = {
  /** Waits for the messages being sent, and starts nothing more. */
  close(): Promise<void>
}

/** Sends until it is closed. */
export function openBroadcastWorker(ground: SendGround, given: Partial<SendTerms> = {}): BroadcastWorker {
  const { database, log } = ground
  const terms: SendTerms = { ...TERMS, ...given }
  const closing = new AbortController()
  const { signal } = closing
  const running = new Map<string, Promise<void>>()
  // Paces outlive rests, because Telegram's limits do too.
  const paces = new Map<string, SendingPace>()
  let woken = Promise.withResolvers<void>()
  const wake = () => {
    woken.resolve()
    woken = Promise.withResolvers()
    rounds.wake()
  }

  const send = async (place: BotKey) => {
    try {
      const sender = await claimBot(database.worker, place, terms)
      if (sender === undefined) return
      const pace = paces.get(place.bot_id) ?? openSendingPace()
      paces.set(place.bot_id, pace)
      const end = await runBot(ground, sender, { terms, signal, pace, woken: () => woken.promise })
      if (end === 'over') paces.delete(place.bot_id)
    } catch (error) {
      log.warn({ err: error, bot: place.bot_id }, 'could not send the broadcasts of a bot; retrying')
    } finally {
      running.delete(place.bot_id)
    }
  }
  const rounds = openRounds(
    'broadcasts/worker',
    terms.poll_ms,
    async () => {
      const { rows } = await askEverywhere<BotKey>(database.worker, FIND)
      for (const bot of rows) {
        if (running.size >= MOST_BOTS) return
        if (!running.has(bot.bot_id)) running.set(bot.bot_id, send(bot))
      }
    },
    error => log.warn({ err: error }, 'could not look for running broadcasts; retrying'),
    openQuiet(database.worker, NEXT_DUE),
  )
  const ear = listen(database, CHANNEL, { onNotify: wake, onReconnect: wake })
  return {
    async close() {
      closing.abort()
      wake()
      await rounds.close()
      await Promise.all(running.values())
      await ear.then(one => one.close())
    },
  }
}

/** Tells every process that a broadcast of the bot has changed, once that is committed. */
export const announceBroadcasts = (
  { db: changed, database }: Pick<SendGround, 'db' | 'database'>,
  place: BotKey,
): Promise<void> =>
  afterCommit(changed, async db => {
    await wakeBot(database.worker, place)
    await sql`select pg_notify(${CHANNEL}, '')`.execute(db)
  })
