/** How a subscriber stands, in a word. */
import type { z } from 'zod'
import type { SOURCES, STATES, Subscriber } from '../../../telegram/subscribers/api.ts'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'

export type SubscriberRow = z.input<typeof Subscriber>
type State = (typeof STATES)[number]

const SAID: Record<State, [tone: Tone, words: string, title: string]> = {
  reachable: ['good', 'Reachable', 'The bot may write to them'],
  opted_out: ['plain', 'Unsubscribed', 'They asked for no more broadcasts'],
  blocked: ['warn', 'Blocked', 'They have blocked the bot'],
  gone: ['bad', 'Account gone', 'Telegram has no such account any more'],
  unreachable: ['warn', 'Unreachable', 'Telegram does not let the bot write to them: they have not started it'],
}

export const stateWords = (state: State): string => SAID[state][1]

export function SubscriberBadge({ state }: { state: State }) {
  const [tone, words, title] = SAID[state]
  return (
    <Badge tone={tone} title={title}>
      {words}
    </Badge>
  )
}

const SOURCE_WORDS: Record<(typeof SOURCES)[number], string> = {
  start: 'Started',
  message: 'Wrote',
  payment: 'Paid',
  mini_app: 'Mini App',
  import: 'Imported',
}
export const sourceWords = (source: keyof typeof SOURCE_WORDS): string => SOURCE_WORDS[source]
