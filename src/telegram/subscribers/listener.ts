/**
 * Follows from private updates whether a bot may message a person and whether they want broadcasts. Message texts are read for this alone and stored
 * nowhere.
 */
import { fieldsOf } from '../../contract/json.ts'
import { clickOfStart } from '../../contract/telegram.ts'
import type { Ground } from '../../ground/room.ts'
import type { UpdateListener, MethodCall } from '../bots/hook.ts'
import type { LiveBot } from '../bots/live.ts'
import { telegramTime, clickIdIn, personId, storableText } from '../bots/update.ts'
import type { SubscriberSource } from './api.ts'
import {
  clickOfOrganization,
  type PersonActivity,
  isSubscriber,
  recordReachability,
  recordActivity,
  optOut,
  type SubscriberKey,
} from './reachability.ts'
import { requestWelcome } from './welcome.ts'

type Fields = Readonly<Record<string, unknown>>

export const subscriberListener =
  ({ db }: Pick<Ground, 'db'>): UpdateListener =>
  async (bot, update) => {
    await recordMessage(db, bot, fieldsOf(update['message']))
    await recordBlock(db, bot, fieldsOf(update['my_chat_member']))
    return await unsubscribe(db, bot, fieldsOf(update['callback_query']))
  }

const START = /^\/start(?:@\w+)?(?:\s+(\S+))?\s*$/i

async function recordMessage(db: Ground['db'], bot: LiveBot, message: Fields): Promise<void> {
  const { text, chat, from, date, successful_payment, refunded_payment, write_access_allowed } = message
  const telegram_user_id = personId(from)
  // A refund is reported as a message of the person, but the person did nothing.
  const isPersons = fieldsOf(chat)['type'] === 'private' && refunded_payment === undefined
  if (telegram_user_id === undefined || !isPersons) return
  const words = typeof text === 'string' ? text : ''
  const start = START.exec(words)
  const invoice = fieldsOf(successful_payment)['invoice_payload']
  const click_id = start === null ? clickIdIn(invoice) : clickOfStart(start[1] ?? '')
  const { language_code, first_name } = fieldsOf(from)
  const source: SubscriberSource =
    start !== null
      ? 'start'
      : successful_payment !== undefined
        ? 'payment'
        : write_access_allowed !== undefined
          ? 'mini_app'
          : 'message'
  const activity: PersonActivity = {
    org_id: bot.org_id,
    bot_id: bot.id,
    telegram_user_id,
    at: telegramTime(date),
    source,
    is_start: start !== null,
    opts_out: bot.opt_out_words.includes(wordOf(words)),
    language: storableText(language_code)?.slice(0, 35) ?? null,
    name: bot.keep_names ? (storableText(first_name)?.slice(0, 64) ?? null) : null,
    click: await clickOfOrganization(db, bot.org_id, click_id),
  }
  await recordActivity(db, activity)
  if (start !== null) await requestWelcome(db, bot, activity)
}

/** The text for comparison with opt-out words: in lower case, and a command without the bot's name. */
const wordOf = (text: string): string => {
  const word = text.trim().toLowerCase()
  return word.startsWith('/') ? word.replace(/@\w+$/, '') : word
}

/** In a private chat, `my_chat_member` comes only when the person blocks or unblocks the bot. */
async function recordBlock(db: Ground['db'], bot: LiveBot, change: Fields): Promise<void> {
  const { chat, from, date, new_chat_member } = change
  const telegram_user_id = personId(from)
  if (telegram_user_id === undefined || fieldsOf(chat)['type'] !== 'private') return
  const person = { org_id: bot.org_id, bot_id: bot.id, telegram_user_id }
  const at = telegramTime(date)
  const { status } = fieldsOf(new_chat_member)
  if (status === 'kicked') await recordReachability(db, { ...person, state: 'blocked', at })
  if (status !== 'member') return
  if (await isSubscriber(db, person)) await recordReachability(db, { ...person, state: 'reachable', at })
  else await recordActivity(db, { ...person, at, source: 'message' })
}

/** Shown to the person over the chat. */
const UNSUBSCRIBED = 'You get no more messages of this kind. Send /start if you change your mind.'
const BUTTON = /^sluice:out(?::[0-9a-hjkmnp-tv-z]{26})?$/

/** Handles Sluice's own unsubscribe button. In copy mode the owner's program answers it. */
async function unsubscribe(db: Ground['db'], bot: LiveBot, query: Fields): Promise<MethodCall | undefined> {
  const { id, from, data } = query
  const telegram_user_id = personId(from)
  const isOurs = typeof data === 'string' && BUTTON.test(data)
  if (telegram_user_id === undefined || typeof id !== 'string' || !isOurs) return undefined
  // Telegram does not say when the button was pressed, but delivers this for two and a half minutes at most.
  await optOut(db, { org_id: bot.org_id, bot_id: bot.id, telegram_user_id }, new Date().toISOString())
  if (bot.mode === 'copy') return undefined
  return { method: 'answerCallbackQuery', callback_query_id: id, text: UNSUBSCRIBED }
}

type MiniAppLaunch = SubscriberKey & {
  readonly at: string
  readonly click_id: string | undefined
  readonly may_write: boolean
  readonly language: string | null
}

/** Records the launch of a Mini App as activity. A launch that lets the bot write makes the person a subscriber. */
export async function recordLaunch(db: Ground['db'], { click_id, may_write, ...person }: MiniAppLaunch): Promise<void> {
  if (!may_write && !(await isSubscriber(db, person))) return
  await recordActivity(db, {
    ...person,
    source: 'mini_app',
    click: await clickOfOrganization(db, person.org_id, click_id),
  })
}
