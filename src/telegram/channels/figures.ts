/** The metric of free invite links per channel, as this process last counted them. */
import { Gauge } from 'prom-client'
import { toWireId } from '../../contract/ids.ts'

const free = new Gauge({
  name: 'sluice_telegram_pool_free',
  help: 'Invite links of a channel that no click has yet',
  labelNames: ['channel'],
})

export const setFreeLinks = (channel_id: string, count: number): void =>
  free.set({ channel: toWireId(channel_id) }, count)
