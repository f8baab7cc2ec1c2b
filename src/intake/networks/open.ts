/** The networks while the process runs: their deeds, the calls that wait, and when each was last heard of. */
import { Refusal, refuse } from '../../contract/refusals.ts'
import type { Ground, Visit } from '../../ground/room.ts'
import type { Conversion, Revision } from '../events/items.ts'
import { dollarsOf } from './in-dollars.ts'
import { openHeard } from './heard.ts'
import { refusalOf } from './ignored.ts'
import * as networks from './networks.ts'
import { type Fields, readCall } from './read-call.ts'
import { receiveCall, runner, type Tools } from './receive.ts'
import { tryNetworkCall } from './try-call.ts'
import { openWaitingCalls } from './waiting-calls.ts'

/** Opens them: the deeds on the tools that the process runs, and what goes on behind them until it is closed. */
export function openNetworks(ground: Ground, given: Omit<Tools, 'heard' | 'refusalOf' | 'inDollars'>) {
  const heard = openHeard(ground.database.worker, ground.log)
  const asOf: Tools['refusalOf'] = (call, reading, refusal) => refusalOf(ground.database.keys, call, reading, refusal)
  const asDollars = dollarsOf(ground)
  const tools = { ...given, heard, refusalOf: asOf, inDollars: asDollars }
  const readingOf = (org_id: number, network_id: string) => networks.readingOf(ground.db, org_id, network_id)
  const run = runner(ground, tools, ({ org_id, network_id }) => readingOf(org_id, network_id))
  const waiting = openWaitingCalls(ground, run)
  const receive = (ground: Ground, visit: Visit) => receiveCall(ground, tools, waiting, visit)
  const { readingOf: _, insertNetwork: _made, ...kept } = networks
  const deeds = { ...kept, tryNetworkCall }
  return {
    deeds: { ...deeds, receivePostback: receive, receivePostbackByPost: receive },
    /** A refused call as a conversion or what is said of one, by the maps of today and the rate of the day it came. Refuses `cannot_run_again` for a network that is gone. */
    readCallAgain: async (
      org_id: number,
      network_id: string,
      fields: unknown,
      received: string,
    ): Promise<Conversion | Revision> => {
      const reading = (await readingOf(org_id, network_id)) ?? refuse('cannot_run_again')
      const call = { org_id, network_id, fields: fields as Fields }
      try {
        const read = readCall(call.fields, reading, { org_id, network_id, arrived_at: performance.now() })
        return await asDollars({ ...read, received_at: received }, Date.parse(received))
      } catch (error) {
        throw error instanceof Refusal ? await asOf(call, reading, error) : error
      }
    },
    async close() {
      await waiting.close()
      await heard.close()
    },
  }
}
