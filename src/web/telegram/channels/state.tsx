/** The state of a channel in words, and its supply of invite links. */
import type { z } from 'zod'
import { type Channel, listChannels, listOfferedChats, readChannel } from '../../../telegram/channels/api.ts'
import { count } from '../../ground/figures/figures.ts'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'

export type ChannelRow = z.input<typeof Channel>

/** The queries that show a channel, reloaded when it changes. */
export const SHOW_CHANNELS = [listChannels, readChannel, listOfferedChats]

const STATES: Record<ChannelRow['state'], [tone: Tone, words: string]> = {
  ready: ['good', 'Ready'],
  no_rights: ['bad', 'Right missing'],
  not_admin: ['bad', 'Not an admin'],
  gone: ['bad', 'Gone'],
}

export function ChannelStateBadge({ channel: { state, state_reason } }: { channel: ChannelRow }) {
  const [tone, words] = STATES[state]
  return (
    <Badge tone={tone} {...(state_reason === null ? {} : { title: state_reason })}>
      {words}
    </Badge>
  )
}

export const KIND_WORDS: Record<ChannelRow['kind'], string> = {
  channel: 'Channel',
  supergroup: 'Group',
  group: 'Group',
}

/** Links that are ready, as a share of the minimum. */
export function PoolGauge({ channel: { pool, pool_min, state } }: { channel: ChannelRow }) {
  const ready = pool.free + pool.leased
  const share = Math.min(1, ready / pool_min)
  const tone = share < 0.1 && state !== 'ready' ? 'bg-bad' : share < 0.5 ? 'bg-warn' : 'bg-good'
  return (
    <span className="inline-flex items-center gap-2" title={`${count(ready)} ready, minimum ${count(pool_min)}`}>
      <span aria-hidden className="h-1.5 w-16 overflow-hidden rounded-full bg-sunken">
        <span className={`block h-full rounded-full ${tone}`} style={{ width: `${Math.round(share * 100)}%` }} />
      </span>
      <span className="tabular-nums">{count(ready)}</span>
    </span>
  )
}
