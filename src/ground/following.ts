/**
 * Keeps a process's in-memory copy of rows up to date. NOTIFY brings changes at once, and a look within a second of each commit is authoritative. While the database is away,
 * traffic is served from the copy.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { listen } from './db/listen.ts'
import { afterCommit } from './db/one-transaction.ts'
import type { Tables } from './db/tables.ts'
import { openQuiet, QUIET_MS } from './db/quiet.ts'
import { inTurn } from './in-turn.ts'
import type { Ground } from './room.ts'

/** A database that hangs must not delay the answer to a change for longer. */
const ANNOUNCE_MS = 2000

type FollowedCopy = {
  /** Reads the changed rows; the first time, all rows. Two reads never run at once. */
  readonly read: () => Promise<void>
  /** Gets the payload of a notification before the read that it triggers. */
  readonly onNotify?: (payload: string) => void
  /** Notifications may have been lost: the next read must read all rows. */
  readonly onGap: () => void
}

type Following = {
  /** Reads the changed rows; resolves when the copy has them. */
  readonly refresh: () => Promise<void>
  readonly close: () => Promise<void>
}

type ChangeChannel = {
  /** Fills the copy and keeps it up to date until it is closed. */
  follow(ground: Pick<Ground, 'database' | 'db' | 'log'>, copy: FollowedCopy): Promise<Following>
  /**
   * Announces a change to every process. Call it after the commit, or with the transaction of `inOneTransaction`, and await it before the answer: then
   * this process already serves the change when the answer arrives, and the others do within a second. Never rejects.
   */
  announce(db: Kysely<Tables>, payload?: string): Promise<void>
}

/** Changes announced on a NOTIFY channel. `things` is their name in the log. */
export function channelFor(channel: string, things: string): ChangeChannel {
  const opened = new WeakMap<Kysely<Tables>, Set<(payload: string) => Promise<void>>>()
  return {
    async follow({ database, db, log }, { read, onNotify, onGap }) {
      const refresh = inTurn(read)
      let isStale = false
      let again: NodeJS.Timeout | undefined
      const refreshed = () =>
        void refresh().then(
          () => {
            isStale = false
          },
          (error: unknown) => {
            // Logged once per outage, not at every poll.
            if (!isStale) log.warn({ err: error }, `${things} cannot be refreshed; traffic goes by what is in memory`)
            isStale = true
            clearTimeout(again)
            again = setTimeout(refreshed, QUIET_MS).unref()
          },
        )
      const applyChange = (payload: string) => {
        onNotify?.(payload)
        return refresh()
      }
      // Listens before the first load, so that no change made during it is missed.
      const listening = await listen(database, channel, {
        onNotify: payload => {
          onNotify?.(payload)
          refreshed()
        },
        onReconnect: () => {
          onGap()
          refreshed()
        },
      })
      await refresh()
      const quiet = openQuiet(database.worker)
      quiet.onMove(refreshed)
      opened.set(db, (opened.get(db) ?? new Set()).add(applyChange))
      return {
        refresh,
        async close() {
          quiet.close()
          clearTimeout(again)
          opened.get(db)?.delete(applyChange)
          await listening.close()
          await refresh.idle()
        },
      }
    },
    announce: (changed, payload = '') =>
      afterCommit(changed, async db => {
        const here = [...(opened.get(db) ?? [])].map(applyChange => applyChange(payload))
        const elsewhere = sql`select pg_notify(${channel}, ${payload})`.execute(db)
        // The look after the commit makes up for a failure or a hang here.
        await Promise.race([Promise.allSettled([...here, elsewhere]), sleep(ANNOUNCE_MS, undefined, { ref: false })])
      }),
  }
}
