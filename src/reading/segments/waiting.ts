/**
 * How much waits to be sealed for Explore. It is read with every question, so much of it makes questions slow, and more still leaves days out: what
 * monitoring sees of it, and a word in the log.
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
  help: 'New clicks and changes that wait to be sealed for Explore, by what this process has last found',
  collect() {
    this.set(Math.max(0, ...found.values()))
  },
})

/** Opens the looking, which goes round until it is closed. Not with each scrape: whoever asks is answered while the database is away. */
export function openWaitingWatch({ database, log }: Pick<Ground, 'database' | 'log'>, pause_ms = PAUSE_MS): Rounds {
  const mine = {}
  const told = new Set<number>()
  const look = async () => {
    const waiting = await readWaiting(database.worker)
    found.set(
      mine,
      waiting.reduce((sum, one) => sum + one.waiting, 0),
    )
    const many = waiting.filter(one => one.waiting > MANY_WAITING)
    for (const one of many)
      if (!told.has(one.org_id)) log.warn(one, 'so many clicks wait to be sealed that questions of Explore are slow')
    told.clear()
    for (const { org_id } of many) told.add(org_id)
  }
  const rounds = openRounds('segments/waiting', pause_ms, look, error =>
    log.warn({ err: error }, 'nobody knows how many clicks wait to be sealed for Explore; it is asked again'),
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
