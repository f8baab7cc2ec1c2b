/** The state and source of a subscriber in words. */
import type { z } from 'zod'
import type { SOURCES, SUBSCRIBER_STATES, Subscriber } from '../../../telegram/subscribers/api.ts'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'

export type SubscriberRow = z.input<typeof Subscriber>
type State = (typeof SUBSCRIBER_STATES)[number]

const STATE_WORDS: Record<State, [tone: Tone, words: string, title: string]> = {
  reachable: ['good', 'Reachable', 'The bot can message them'],
  opted_out: ['plain', 'Unsubscribed', 'They get no more broadcasts'],
  blocked: ['warn', 'Blocked', 'They have blocked the bot'],
  gone: ['bad', 'Account gone', 'The Telegram account was deleted'],
  unreachable: ['warn', 'Unreachable', 'They have not started the bot, so Telegram rejects its messages'],
}

export const stateWords = (state: State): string => STATE_WORDS[state][1]

export function SubscriberBadge({ state }: { state: State }) {
  const [tone, words, title] = STATE_WORDS[state]
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
