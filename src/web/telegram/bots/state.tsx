/** What a bot is to Sluice, in a word: whether it hears it, and by which way. */
import type { z } from 'zod'
import { type Bot, listBots, readBot } from '../../../telegram/bots/api.ts'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'

export type BotRow = z.input<typeof Bot>
export type Mode = BotRow['mode']

/** What shows a bot, and is read anew when it changes. */
export const SHOW_BOTS = [listBots, readBot]

const STATES: Record<BotRow['hook_state'], [tone: Tone, words: string]> = {
  set: ['good', 'Recorded'],
  not_set: ['warn', 'Not recorded'],
  stolen: ['bad', 'Stolen'],
  removed: ['bad', 'Removed'],
  copy: ['good', 'By copies'],
}

export function HearsBadge({ bot }: { bot: BotRow }) {
  if (bot.token_state === 'revoked') return <Badge tone="bad">Token revoked</Badge>
  if (bot.mode === 'copy' && !bot.has_copy_secret) return <Badge tone="warn">No secret yet</Badge>
  const [tone, words] = STATES[bot.hook_state]
  return <Badge tone={tone}>{words}</Badge>
}

export const MODE_WORDS: Record<Mode, { title: string; words: string }> = {
  own: {
    title: 'Sluice alone',
    words: 'Telegram tells Sluice, and nobody else. For a bot that no program of yours runs.',
  },
  relay: {
    title: 'Passed on to my program',
    words:
      'Telegram tells Sluice, which posts every update on, unchanged. Your program goes on as before, as long as Sluice runs.',
  },
  copy: {
    title: 'My program sends copies',
    words:
      'Sluice leaves the hook alone. For a program that polls (getUpdates), or whose hook you do not want touched: add a few lines to it.',
  },
}
