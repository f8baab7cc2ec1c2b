/** Sends a broadcast's message to one subscriber as a test. */
import { sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { liveBot } from '../bots/rows.ts'
import { silenceBot } from '../bots/silence.ts'
import { markSubscriber, reachabilityAfter } from '../subscribers/reachability.ts'
import type * as api from './api.ts'
import { requireMessage } from './broadcasts.ts'
import { storedBroadcast } from './rows.ts'
import { readFillings, sendOne } from './sending.ts'

/**
 * Sends at once, in any state of the broadcast. Refuses `object_not_found`, also for a person who is not a subscriber of the bot,
 * `broadcast_message_invalid`, `bot_token_revoked`, and `telegram_away` if the answer is lost or the bot is rate limited.
 */
export async function testBroadcast(
  context: Context<typeof api.testBroadcast>,
  { params, body }: Call<typeof api.testBroadcast>,
): Promise<{ is_sent: boolean; reason: string | null }> {
  const { db, actor, secrets } = context
  const { org_id } = actor
  const { id, bot_id, message, paid } = await storedBroadcast(db, org_id, idOf(params.id))
  const bot = await liveBot(db, org_id, bot_id)
  if (bot.token_state === 'revoked') refuse('bot_token_revoked')
  const to = await subscriberOf(context, bot_id, body)
  await requireMessage(db, org_id, message)
  await requireNoSilence(context, bot_id)
  const outgoing = { org_id, broadcast_id: id, token: secrets.open(bot.token), message, paid, is_test: true }
  const answer = await sendOne(context, outgoing, to, await readFillings(context, outgoing, [to]))
  if (answer.ok) return { is_sent: true, reason: null }
  const { kind, description, retry_after } = answer
  if (kind === 'later') await silenceBot(db, bot, await databaseTimeIn(db, (retry_after ?? 1) * 1000))
  const state = reachabilityAfter(answer, message)
  const { telegram_user_id } = to
  if (state !== undefined)
    await markSubscriber(db, { org_id, bot_id, telegram_user_id, state, at: new Date().toISOString() })
  if (kind === 'token') refuse('bot_token_revoked')
  if (kind === 'refused') return { is_sent: false, reason: description }
  const error = kind === 'unknown' ? `${description}: the message may have arrived` : description
  return refuse('telegram_away', { error, headers: { 'retry-after': String(retry_after ?? 60) } })
}

type TestContext = Context<typeof api.testBroadcast>

const isNumber = (user: string | undefined): boolean => user === undefined || /^\d{1,19}$/.test(user)

async function subscriberOf(
  { db, actor }: TestContext,
  bot_id: string,
  { subscriber, user }: Call<typeof api.testBroadcast>['body'],
) {
  const subscribersOfBot = db
    .selectFrom('subscribers')
    .select(['telegram_user_id', 'click_id', 'name'])
    .where('org_id', '=', actor.org_id)
    .where('bot_id', '=', bot_id)
  const id = subscriber ?? (isNumber(user) ? undefined : user)
  const subscribers =
    id === undefined
      ? subscribersOfBot.where('telegram_user_id', '=', user ?? '')
      : subscribersOfBot.where('id', '=', id)
  return (await subscribers.executeTakeFirst()) ?? refuse('object_not_found')
}

async function requireNoSilence({ db, actor }: TestContext, bot_id: string): Promise<void> {
  const silent = await db
    .selectFrom('bots')
    .select('send_after')
    .where('org_id', '=', actor.org_id)
    .where('id', '=', bot_id)
    .where('send_after', '>', sql<string>`now()`)
    .executeTakeFirst()
  if (silent?.send_after != null)
    refuse('telegram_away', {
      error: 'Telegram has rate limited this bot',
      headers: { 'retry-after': String(Math.max(1, Math.ceil((Date.parse(silent.send_after) - Date.now()) / 1000))) },
    })
}
