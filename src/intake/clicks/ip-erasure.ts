/**
 * Erases the IP addresses that clicks keep for an ad account, seven days after the click: within the hour after that, or at the next
 * start. Works in portions, so that it holds no lock on clicks for long.
 */
import type pg from 'pg'
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'

const KEPT_MS = 7 * DAY_MS
/** Clicks per statement: few enough for a fraction of a second. */
const PORTION = 1000

// Only campaigns with an ad account store IP addresses, and a deleted account keeps its row.
const ORGANIZATIONS = (among: Among) => `select distinct org_id from ad_accounts where true${among('org_id')}`
const FIND = `
  select id from clicks where org_id = $1 and ip_encrypted is not null and id < $2 order by id limit ${PORTION}`
const ERASE = `
  update clicks set ip_encrypted = null where org_id = $1 and id = any($2) and id between $3 and $4`

/** Erases now and every hour until it is closed. A failure is logged and retried. */
export function openIpErasure({ database, log }: Pick<Ground, 'database' | 'log'>): Rounds {
  const erase = async (signal: AbortSignal) => {
    const erased = await eraseAddresses(database.worker, Date.now(), signal)
    if (erased > 0) log.info({ erased }, 'erased the IP addresses of clicks older than seven days')
  }
  return openRounds('clicks/ip-erasure', HOUR_MS, erase, error =>
    log.error({ err: error }, 'could not erase IP addresses older than seven days; retrying'),
  )
}

/** Erases the IP addresses of all clicks made seven days before `now` or earlier; returns how many. */
export async function eraseAddresses(pool: pg.Pool, now: number, signal?: AbortSignal): Promise<number> {
  const before = firstIdAt(now - KEPT_MS)
  const { rows: organizations } = await askEverywhere<{ org_id: number }>(pool, ORGANIZATIONS)
  let erased = 0
  for (const { org_id } of organizations) {
    for (let foundInPortion = PORTION; foundInPortion === PORTION && signal?.aborted !== true; ) {
      const { rows } = await pool.query<{ id: string }>(FIND, [org_id, before])
      foundInPortion = rows.length
      if (foundInPortion === 0) break
      const ids = rows.map(({ id }) => id)
      await pool.query(ERASE, [org_id, ids, ids[0], ids.at(-1)])
      erased += foundInPortion
    }
  }
  return erased
}
