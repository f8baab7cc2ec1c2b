/**
 * What a process keeps in memory of rows that change. NOTIFY brings changes at once, a look at what has changed lately is the truth behind
 * it, and while the database is away what is here goes on being served. It stands beside the memory itself, in which visitors find things
 * without coming by here.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { listen } from './db/listen.ts'
import type { Tables } from './db/tables.ts'
import { inTurn } from './in-turn.ts'
import type { Ground } from './room.ts'

const POLL_MS = 1000
/** A database that hangs must not hold the answer to a change that was made. */
const ANNOUNCE_MS = 2000

type Memory = {
  /** Brings what has changed; at first, everything. It never meets itself. */
  readonly read: () => Promise<void>
  /** Is told what was said of a change, before the read that is to bring it. */
  readonly told?: (said: string) => void
  /** Anything may have been missed: the next read brings everything anew. */
  readonly missed: () => void
}

type Following = {
  /** Reads what has changed; resolves when the memory has it. */
  readonly refresh: () => Promise<void>
  readonly close: () => Promise<void>
}

type Followed = {
  /** Fills the memory and keeps it fresh until it is closed. */
  follow(ground: Pick<Ground, 'database' | 'db' | 'log'>, memory: Memory): Promise<Following>
  /**
   * Says in every process what has changed. To be called after the commit and awaited before the answer: then this process serves the change
   * before its author is told that it was made, and the others within a second. Never rejects.
   */
  announce(db: Kysely<Tables>, said?: string): Promise<void>
}

/** What is followed on a channel of NOTIFY. The log calls it `things`. */
export function followed(channel: string, things: string): Followed {
  const opened = new WeakMap<Kysely<Tables>, Set<(said: string) => Promise<void>>>()
  return {
    async follow({ database, db, log }, { read, told, missed }) {
      const refresh = inTurn(read)
      let isStale = false
      const refreshed = () =>
        void refresh().then(
          () => {
            isStale = false
          },
          (error: unknown) => {
            // Said once: at every look it would fill the log for as long as it lasts.
            if (!isStale) log.warn({ err: error }, `${things} cannot be refreshed; traffic goes by what is in memory`)
            isStale = true
          },
        )
      const hear = (said: string) => {
        told?.(said)
        return refresh()
      }
      // Listening first: what is said while the first load runs is then heard.
      const listening = await listen(database, channel, {
        told: said => {
          told?.(said)
          refreshed()
        },
        again: () => {
          missed()
          refreshed()
        },
      })
      await refresh()
      const poll = setInterval(refreshed, POLL_MS)
      poll.unref()
      opened.set(db, (opened.get(db) ?? new Set()).add(hear))
      return {
        refresh,
        async close() {
          clearInterval(poll)
          opened.get(db)?.delete(hear)
          await listening.close()
          await refresh.idle()
        },
      }
    },
    async announce(db, said = '') {
      const here = [...(opened.get(db) ?? [])].map(hear => hear(said))
      const elsewhere = sql`select pg_notify(${channel}, ${said})`.execute(db)
      // What fails or hangs here is made good by the next look at what has changed.
      await Promise.race([Promise.allSettled([...here, elsewhere]), sleep(ANNOUNCE_MS, undefined, { ref: false })])
    },
  }
}
