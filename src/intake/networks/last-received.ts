/** Writes when each network last called, for the list of networks: `networks.last_received_at`. */
import type pg from 'pg'
import type { Logger } from 'pino'
import { type LastTimes, openLastTimes } from '../../ground/last-times.ts'

// A time never goes back.
const WRITE = `
  update networks set last_received_at = received.at
  from unnest($2::uuid[], $3::timestamptz[]) as received (id, at)
  where networks.org_id = $1 and networks.id = received.id
    and (networks.last_received_at is null or networks.last_received_at < received.at)`

export type LastReceived = LastTimes<{ id: string; org_id: number }>

/** Collects the times of postbacks and writes them in the background; `pool` is the one for background work. */
export function openLastReceived(pool: pg.Pool, log: Logger): LastReceived {
  return openLastTimes({
    async write(times) {
      for (const [org_id, own] of Map.groupBy(times, one => one.org_id))
        await pool.query(WRITE, [org_id, own.map(({ id }) => id), own.map(({ at }) => at)])
    },
    onError: error => log.debug({ err: error }, 'could not write when networks last called'),
  })
}
