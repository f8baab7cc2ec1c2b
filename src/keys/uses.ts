/**
 * When a key was last used, for the list of keys. Owns `api_key_uses`. Written behind the calls, at most once a minute and key, all
 * keys of a moment in one statement; a failure costs nobody anything but a stale time in a list.
 */
import type pg from 'pg'
import type { Logger } from 'pino'

const EVERY_MS = 60_000
/** Keys remembered between two sweeps; each is a few dozen bytes. */
const MOST_KEYS = 100_000

// Sorted by the caller, so that two processes lock the rows in one order; a time never goes back.
const WRITE = `
  insert into api_key_uses (key_id, last_used_at)
  select key_id, used_at from unnest($1::uuid[], $2::timestamptz[]) as used (key_id, used_at)
  on conflict (key_id) do update set last_used_at = greatest(api_key_uses.last_used_at, excluded.last_used_at)`

export type KeyUses = {
  /** Notes a call with an accepted key. Never waits, never throws. */
  note(key_id: string): void
  /** Writes what is left. */
  close(): Promise<void>
}

/** Opens the notes. `pool` is the one for housekeeping; `every_ms` is for tests. */
export function openKeyUses(pool: pg.Pool, log: Logger, every_ms = EVERY_MS): KeyUses {
  const written = new Map<string, number>()
  let waiting = new Map<string, string>()
  let writing: Promise<void> | undefined

  const write = async () => {
    while (waiting.size > 0) {
      const rows = [...waiting].toSorted(([a], [b]) => (a < b ? -1 : 1))
      waiting = new Map()
      try {
        await pool.query(WRITE, [rows.map(([key_id]) => key_id), rows.map(([, used_at]) => used_at)])
      } catch (error) {
        log.debug({ err: error }, 'the last use of keys could not be written')
      }
    }
  }

  return {
    note(key_id) {
      const now = Date.now()
      const last = written.get(key_id)
      if (last !== undefined && now - last < every_ms) return
      if (written.size >= MOST_KEYS) written.clear()
      written.set(key_id, now)
      waiting.set(key_id, new Date(now).toISOString())
      writing ??= write().finally(() => {
        writing = undefined
      })
    },
    close: async () => writing,
  }
}
