/** What monitoring sees of channels: how many links wait for clicks, as this process has counted them last. */
import { Gauge } from 'prom-client'
import { toWireId } from '../../contract/ids.ts'

const free = new Gauge({
  name: 'sluice_telegram_pool_free',
  help: 'Invite links of a channel that no click has yet',
  labelNames: ['channel'],
})

export const noteFree = (channel_id: string, count: number): void => free.set({ channel: toWireId(channel_id) }, count)
