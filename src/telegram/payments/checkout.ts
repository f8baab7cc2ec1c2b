/**
 * Answers the checkout query that Telegram sends before a payment, within ten seconds. Only in mode `own` with `accept_payments`, and without the database:
 * the bot is in memory.
 */
import { fieldsOf } from '../../contract/json.ts'
import type { Ground } from '../../ground/room.ts'
import type { UpdateListener, MethodCall, InstantReply } from '../bots/hook.ts'
import type { LiveBot } from '../bots/live.ts'
import { countUnanswered } from '../bots/stars.ts'
import { callWithin } from '../bots/telegram.ts'

/** Two calls, and two of the ten seconds for the update's own delivery. */
const DEADLINE_MS = 4000

const queryOf = (update: Readonly<Record<string, unknown>>): string | undefined => {
  const { id } = fieldsOf(update['pre_checkout_query'])
  return typeof id === 'string' ? id : undefined
}

/** Approves payments. If two calls get no answer, the hook's own answer is the third attempt. */
export const answerCheckout =
  (ground: Pick<Ground, 'config' | 'secrets' | 'log'>): InstantReply =>
  (bot, update) => {
    const id = queryOf(update)
    return id === undefined || bot.mode !== 'own' || !bot.accept_payments ? undefined : approve(ground, bot, id)
  }

async function approve(
  { config, secrets, log }: Pick<Ground, 'config' | 'secrets' | 'log'>,
  bot: LiveBot,
  pre_checkout_query_id: string,
): Promise<MethodCall | true> {
  const params = { pre_checkout_query_id, ok: true as const }
  for (let tries = 0; tries < 2; tries += 1) {
    const { telegramApiRoot } = config
    const answer = await callWithin(
      DEADLINE_MS,
      telegramApiRoot,
      secrets.open(bot.token),
      'answerPreCheckoutQuery',
      params,
    )
    if (answer.ok) return true
    if (answer.kind !== 'unknown' && answer.kind !== 'unsent') {
      log.warn({ bot: bot.id, reason: answer.description }, 'could not approve a payment')
      return true
    }
  }
  return { method: 'answerPreCheckoutQuery', ...params }
}

/** Counts checkout queries that nobody answers, so that the owner of a bot in mode `own` sees that payments fail. */
export const checkoutListener =
  ({ db }: Pick<Ground, 'db'>): UpdateListener =>
  async (bot, update) => {
    if (bot.mode === 'own' && queryOf(update) !== undefined) await countUnanswered(db, bot, update['update_id'])
    return undefined
  }
