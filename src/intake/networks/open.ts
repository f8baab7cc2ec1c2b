/** Opens the room for the process: its deeds, stored postbacks, and the times of the last postbacks. */
import { Refusal, refuse } from '../../contract/refusals.ts'
import type { Ground, Visit } from '../../ground/room.ts'
import type { Conversion, Revision } from '../events/items.ts'
import { payoutConverter } from './in-dollars.ts'
import { openLastReceived } from './last-received.ts'
import { ignoredCallRefusal } from './ignored.ts'
import * as networks from './networks.ts'
import { type Fields, readCall } from './read-call.ts'
import { type PostbackTools, receiveCall, runner } from './receive.ts'
import { tryNetworkCall } from './try-call.ts'
import { openWaitingCalls } from './waiting-calls.ts'

/** Opens the deeds, and the periodic jobs behind them until it is closed. */
export function openNetworks(ground: Ground, given: Omit<PostbackTools, 'lastReceived' | 'refusalOf' | 'inDollars'>) {
  const lastReceived = openLastReceived(ground.database.worker, ground.log)
  const refusalToKeep: PostbackTools['refusalOf'] = (call, maps, refusal) =>
    ignoredCallRefusal(ground.database.keys, call, maps, refusal)
  const inDollars = payoutConverter(ground)
  const tools = { ...given, lastReceived, refusalOf: refusalToKeep, inDollars }
  const mapsOf = (org_id: number, network_id: string) => networks.mapsOf(ground.db, org_id, network_id)
  const run = runner(ground, tools, ({ org_id, network_id }) => mapsOf(org_id, network_id))
  const waiting = openWaitingCalls(ground, run)
  const receive = (ground: Ground, visit: Visit) => receiveCall(ground, tools, waiting, visit)
  const { mapsOf: _, insertNetwork: _insert, ...networkDeeds } = networks
  const deeds = { ...networkDeeds, tryNetworkCall }
  return {
    deeds: { ...deeds, receivePostback: receive, receivePostbackByPost: receive },
    /** Reads a refused postback again, by today's maps and the rate of the day it arrived. Refuses `cannot_run_again` if its network no longer exists. */
    readCallAgain: async (
      org_id: number,
      network_id: string,
      fields: unknown,
      received: string,
    ): Promise<Conversion | Revision> => {
      const maps = (await mapsOf(org_id, network_id)) ?? refuse('cannot_run_again')
      const call = { org_id, network_id, fields: fields as Fields }
      try {
        const read = readCall(call.fields, maps, { org_id, network_id, arrived_at: performance.now() })
        return await inDollars({ ...read, received_at: received }, Date.parse(received))
      } catch (error) {
        throw error instanceof Refusal ? await refusalToKeep(call, maps, error) : error
      }
    },
    async close() {
      await waiting.close()
      await lastReceived.close()
    },
  }
}
