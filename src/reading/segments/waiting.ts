/**
 * Watches how many clicks wait to be sealed for Explore, for monitoring and the log. Every question reads them, so many of them make questions slow,
 * and with too many, answers leave days out.
 */
import { Gauge } from 'prom-client'
import type pg from 'pg'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { MANY_WAITING, WAITING_COUNT } from './seal.ts'

const PAUSE_MS = 20_000
const WAITING = (among: Among) => `
  select org_id, ${WAITING_COUNT} from click_sheet where org_id > $1${among('org_id')} group by org_id`

const found = new Map<object, number>()
new Gauge({
  name: 'sluice_explore_waiting_clicks',
  help: 'New clicks and changes that wait to be sealed for Explore, when this process last counted',
  collect() {
    this.set(Math.max(0, ...found.values()))
  },
})

/** Opens the periodic count. It is not made with each scrape, so that monitoring is answered while the database is away. */
export function openWaitingWatch({ database, log }: Pick<Ground, 'database' | 'log'>, pause_ms = PAUSE_MS): Rounds {
  const mine = {}
  const warned = new Set<number>()
  const count = async () => {
    const waiting = await readWaiting(database.worker)
    found.set(
      mine,
      waiting.reduce((sum, one) => sum + one.waiting, 0),
    )
    const many = waiting.filter(one => one.waiting > MANY_WAITING)
    for (const one of many)
      if (!warned.has(one.org_id)) log.warn(one, 'so many clicks wait to be sealed that questions of Explore are slow')
    warned.clear()
    for (const { org_id } of many) warned.add(org_id)
  }
  const rounds = openRounds('segments/waiting', pause_ms, count, error =>
    log.warn({ err: error }, 'could not count the clicks that wait to be sealed for Explore; retrying'),
  )
  return {
    async close() {
      await rounds.close()
      found.delete(mine)
    },
  }
}

async function readWaiting(pool: pg.Pool): Promise<{ org_id: number; waiting: number }[]> {
  const { rows } = await askEverywhere<{ org_id: number; waiting: number }>(pool, WAITING, [0])
  return rows
}
