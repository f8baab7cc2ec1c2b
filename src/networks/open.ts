/** The networks while the process runs: their deeds, the calls that wait, and when each was last heard of. */
import { refuse } from '../contract/refusals.ts'
import type { Conversion } from '../events/items.ts'
import type { Ground, Visit } from '../room.ts'
import * as networks from './networks.ts'
import { type Fields, readCall } from './read-call.ts'
import { receiveCall, runner, type Tools } from './receive.ts'
import { openWaitingCalls } from './waiting-calls.ts'

/** Opens them; `poll_ms` is for tests. */
export function openNetworks(ground: Ground, given: Omit<Tools, 'noteReceived'>, poll_ms?: number) {
  const tools = { ...given, noteReceived: openReceived(ground) }
  const readingOf = (org_id: number, network_id: string) => networks.readingOf(ground.db, org_id, network_id)
  const run = runner(ground, tools, ({ org_id, network_id }) => readingOf(org_id, network_id))
  const waiting = openWaitingCalls(ground, run, poll_ms)
  const receive = (ground: Ground, visit: Visit) => receiveCall(ground, tools, waiting, visit)
  const { readingOf: _, ...deeds } = networks
  return {
    deeds: { ...deeds, receivePostback: receive, receivePostbackByPost: receive },
    /** A refused call as a conversion, by the maps of today. Refuses `cannot_run_again` for a network that is gone. */
    readCallAgain: async (org_id: number, network_id: string, fields: unknown): Promise<Conversion> => {
      const reading = (await readingOf(org_id, network_id)) ?? refuse('cannot_run_again')
      return readCall(fields as Fields, reading, { org_id, network_id, arrived_at: performance.now() })
    },
    close: () => waiting.close(),
  }
}

const EVERY_MS = 60_000
const MOST_NOTED = 10_000

const NOTE = `
  update networks set last_received_at = $3
  where org_id = $1 and id = $2 and (last_received_at is null or last_received_at < $3)`

/** Notes when a network was heard of, at most once a minute; a failure costs nobody anything but a stale time in a list. */
function openReceived({ database, log }: Pick<Ground, 'database' | 'log'>): Tools['noteReceived'] {
  const noted = new Map<string, number>()
  return (org_id, network_id) => {
    const now = Date.now()
    const last = noted.get(network_id)
    if (last !== undefined && now - last < EVERY_MS) return
    if (noted.size >= MOST_NOTED) noted.clear()
    noted.set(network_id, now)
    database.worker
      .query(NOTE, [org_id, network_id, new Date(now).toISOString()])
      .catch((error: unknown) => log.debug({ err: error }, 'when a network was last heard of could not be written'))
  }
}
