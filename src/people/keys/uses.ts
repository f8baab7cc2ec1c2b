/** The time each key was last used, for the list of keys. Owns `api_key_uses`. */
import type pg from 'pg'
import type { Logger } from 'pino'
import { type LastTimes, openLastTimes } from '../../ground/last-times.ts'

// `greatest`, because several processes write and a time must never go back.
const WRITE = `
  insert into api_key_uses (key_id, last_used_at)
  select key_id, used_at from unnest($1::uuid[], $2::timestamptz[]) as used (key_id, used_at)
  on conflict (key_id) do update set last_used_at = greatest(api_key_uses.last_used_at, excluded.last_used_at)`

/** Opens the recorder of last uses, for calls with accepted keys. `pool` is the housekeeping pool; `every_ms` is for tests. */
export function openKeyUses(pool: pg.Pool, log: Logger, every_ms?: number): LastTimes<{ id: string }> {
  return openLastTimes({
    write: times => pool.query(WRITE, [times.map(({ id }) => id), times.map(({ at }) => at)]),
    onError: error => log.debug({ err: error }, 'could not write the last use of keys'),
    every_ms,
  })
}
