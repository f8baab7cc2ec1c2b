/**
 * The question Telegram asks before a payment goes through, which must be answered within ten seconds. Answered only where Sluice alone has the bot and its
 * owner says so, and without the database: what is known of the bot is in memory.
 */
import { fieldsOf } from '../../contract/json.ts'
import type { Ground } from '../../ground/room.ts'
import type { UpdateListener, MethodCall, InstantReply } from '../bots/hook.ts'
import type { LiveBot } from '../bots/live.ts'
import { countUnanswered } from '../bots/stars.ts'
import { callWithin } from '../bots/telegram.ts'

/** Twice, and what remains of the ten seconds is for the way here. */
const DEADLINE_MS = 4000

const queryOf = (update: Readonly<Record<string, unknown>>): string | undefined => {
  const { id } = fieldsOf(update['pre_checkout_query'])
  return typeof id === 'string' ? id : undefined
}

/** Lets payments through. Where two calls came to nothing, the hook's own answer makes the third. */
export const answerCheckout =
  (ground: Pick<Ground, 'config' | 'secrets' | 'log'>): InstantReply =>
  (bot, update) => {
    const id = queryOf(update)
    return id === undefined || bot.mode !== 'own' || !bot.accept_payments ? undefined : letThrough(ground, bot, id)
  }

async function letThrough(
  { config, secrets, log }: Pick<Ground, 'config' | 'secrets' | 'log'>,
  bot: LiveBot,
  pre_checkout_query_id: string,
): Promise<MethodCall | true> {
  const params = { pre_checkout_query_id, ok: true as const }
  for (let tries = 0; tries < 2; tries += 1) {
    const { telegramApiRoot } = config
    const said = await callWithin(
      DEADLINE_MS,
      telegramApiRoot,
      secrets.open(bot.token),
      'answerPreCheckoutQuery',
      params,
    )
    if (said.ok) return true
    if (said.kind !== 'unknown' && said.kind !== 'unsent') {
      log.warn({ bot: bot.id, said: said.description }, 'a payment could not be let through')
      return true
    }
  }
  return { method: 'answerPreCheckoutQuery', ...params }
}

/** Counts the questions of a bot that Sluice alone has and that it does not answer: its owner is to see that payments fail. */
export const checkoutListener =
  ({ db }: Pick<Ground, 'db'>): UpdateListener =>
  async (bot, update) => {
    if (bot.mode === 'own' && queryOf(update) !== undefined) await countUnanswered(db, bot, update['update_id'])
    return undefined
  }
