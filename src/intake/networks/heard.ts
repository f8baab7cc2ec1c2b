/** When a network was last heard of, for the list of networks: `networks.last_received_at`. */
import type pg from 'pg'
import type { Logger } from 'pino'
import { type LastTimes, openLastTimes } from '../../ground/last-times.ts'

// A time never goes back.
const WRITE = `
  update networks set last_received_at = heard.at
  from unnest($2::uuid[], $3::timestamptz[]) as heard (id, at)
  where networks.org_id = $1 and networks.id = heard.id
    and (networks.last_received_at is null or networks.last_received_at < heard.at)`

export type Heard = LastTimes<{ id: string; org_id: number }>

/** Opens the notes of calls of known networks. `pool` is the one for housekeeping. */
export function openHeard(pool: pg.Pool, log: Logger): Heard {
  return openLastTimes({
    async write(times) {
      for (const [org_id, own] of Map.groupBy(times, one => one.org_id))
        await pool.query(WRITE, [org_id, own.map(({ id }) => id), own.map(({ at }) => at)])
    },
    onError: error => log.debug({ err: error }, 'when a network was last heard of could not be written'),
  })
}
