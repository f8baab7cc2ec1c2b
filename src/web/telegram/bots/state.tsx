/** The state and mode of a bot in words: whether its starts are recorded, and who runs it. */
import type { z } from 'zod'
import { type Bot, listBots, readBot } from '../../../telegram/bots/api.ts'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'

export type BotRow = z.input<typeof Bot>
export type Mode = BotRow['mode']

/** The queries that show a bot, reloaded when it changes. */
export const SHOW_BOTS = [listBots, readBot]

const STATES: Record<BotRow['hook_state'], [tone: Tone, words: string]> = {
  set: ['good', 'Recorded'],
  not_set: ['warn', 'Not recorded'],
  stolen: ['bad', 'Stolen'],
  removed: ['bad', 'Removed'],
  copy: ['good', 'By copies'],
}

export function StartsBadge({ bot }: { bot: BotRow }) {
  if (bot.token_state === 'revoked') return <Badge tone="bad">Token revoked</Badge>
  if (bot.mode === 'copy' && !bot.has_copy_secret) return <Badge tone="warn">No secret yet</Badge>
  const [tone, words] = STATES[bot.hook_state]
  return <Badge tone={tone}>{words}</Badge>
}

export const MODE_WORDS: Record<Mode, { title: string; words: string }> = {
  own: {
    title: 'Sluice alone',
    words: 'Telegram sends updates to Sluice only. For a bot without a program of your own.',
  },
  relay: {
    title: 'Forward to my program',
    words:
      'Telegram sends updates to Sluice, which forwards each one unchanged. Your program works as before while Sluice is running.',
  },
  copy: {
    title: 'My program sends copies',
    words:
      'Sluice does not touch the webhook. For a program that polls (getUpdates) or must keep its webhook: add a few lines to it.',
  },
}
