/** The state of a broadcast in words, and its progress as a bar. */
import type { z } from 'zod'
import { type Broadcast, type BroadcastState, listBroadcasts, readBroadcast } from '../../../telegram/broadcasts/api.ts'
import { count, percent, ratio } from '../../ground/figures/figures.ts'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'

export type BroadcastRow = z.input<typeof Broadcast>

/** The queries that show a broadcast, reloaded when it changes. */
export const SHOW_BROADCASTS = [listBroadcasts, readBroadcast]

const STATES: Record<BroadcastState, [tone: Tone, words: string]> = {
  draft: ['plain', 'Draft'],
  scheduled: ['accent', 'Scheduled'],
  preparing: ['accent', 'Preparing'],
  sending: ['accent', 'Sending'],
  paused: ['warn', 'Paused'],
  done: ['good', 'Done'],
  stopped: ['plain', 'Stopped'],
}

export function BroadcastStateBadge({ broadcast: { state, pause_reason } }: { broadcast: BroadcastRow }) {
  const [tone, words] = STATES[state]
  return (
    <Badge tone={pause_reason === null ? tone : 'bad'} {...(pause_reason === null ? {} : { title: pause_reason })}>
      {words}
    </Badge>
  )
}

export const isUnderWay = ({ state }: Pick<BroadcastRow, 'state'>): boolean =>
  state === 'preparing' || state === 'sending'

/** Whether it can still be changed. */
export const isOpen = ({ state }: Pick<BroadcastRow, 'state'>): boolean => state === 'draft' || state === 'scheduled'

/** Recipients with an outcome, whichever it is. */
export const decided = ({ recipients, counts: { queued } }: BroadcastRow): number => recipients - queued

export function Progress({ broadcast, wide = false }: { broadcast: BroadcastRow; wide?: boolean }) {
  const { recipients, name } = broadcast
  const share = ratio(decided(broadcast), recipients) ?? 0
  return (
    <span className={wide ? 'flex flex-col gap-1.5' : 'flex items-center gap-2'}>
      <progress className="sr-only" max={1} value={share} aria-label={`Progress of ${name}`} />
      <span aria-hidden className={wide ? 'h-2 rounded-full bg-sunken' : 'h-1.5 w-20 rounded-full bg-sunken'}>
        <span className="block h-full rounded-full bg-accent" style={{ width: `${share * 100}%` }} />
      </span>
      <span className="text-sm whitespace-nowrap text-ink-soft">
        {count(decided(broadcast))} of {count(recipients)}
        {wide && ` · ${percent(share)}`}
      </span>
    </span>
  )
}
