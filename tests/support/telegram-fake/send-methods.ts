// Methods of the fake Bot API that send messages and answer queries, with Telegram's limits of content, recipients and speed.
import type { Method, Params } from './bot-methods.ts'
import { enqueueUpdate } from './hooks.ts'
import {
  type BotState,
  chatOf,
  fail,
  type PersonState,
  personUser,
  privateChat,
  seconds,
  type World,
  words,
} from './world.ts'

const ANSWER_MS = 10_000
const REQUESTER_MS = 300_000
/** Messages per second to all chats, free and paid. To one chat it is one. */
const FREE_A_SECOND = 30
const PAID_A_SECOND = 1000

const text = (params: Params) => length(params, 'text', 4096, true)
const caption = (kind: string) => (params: Params) => {
  if (typeof params[kind] !== 'string' || params[kind] === '')
    fail(400, `Bad Request: there is no ${kind} in the request`)
  length(params, 'caption', 1024, false)
}

const CONTENTS: Readonly<Record<string, (params: Params) => void>> = {
  sendMessage: text,
  sendPhoto: caption('photo'),
  sendVideo: caption('video'),
  sendAnimation: caption('animation'),
  sendDocument: caption('document'),
}

const sends: Record<string, Method> = Object.fromEntries(
  Object.entries(CONTENTS).map(([method, check]): [string, Method] => [
    method,
    (world, bot, params) => {
      check(params)
      return sent(world, bot, method, params)
    },
  ]),
)

export const SEND_METHODS: Readonly<Record<string, Method>> = {
  ...sends,

  copyMessage(world, bot, params) {
    const { from_chat_id, message_id } = params
    // Telegram checks the source before the recipient.
    requireSource(world, bot, Number(from_chat_id))
    const isThere = world.messages.some(
      one => one.chat === Number(from_chat_id) && one.message_id === Number(message_id),
    )
    if (!isThere) fail(400, 'Bad Request: message to copy not found')
    return { message_id: sent(world, bot, 'copyMessage', params).message_id }
  },

  editMessageReplyMarkup(world, bot, params) {
    const { chat_id, message_id, reply_markup } = params
    checkButtons(reply_markup)
    const isThere = world.messages.some(
      one => one.bot === bot.id && one.chat === Number(chat_id) && one.message_id === Number(message_id),
    )
    return isThere ? true : fail(400, 'Bad Request: message to edit not found')
  },

  answerCallbackQuery(world, bot, { callback_query_id: id }) {
    const query = bot.callbacks.get(words(id))
    if (query === undefined || world.now() - query.asked_at > ANSWER_MS * 3)
      fail(400, 'Bad Request: query is too old and response timeout expired or query ID is invalid')
    query.is_answered = true
    return true
  },

  answerPreCheckoutQuery(world, bot, { pre_checkout_query_id: id, ok, error_message }) {
    const asked = bot.checkouts.get(words(id))
    if (asked === undefined || asked.answer !== undefined || world.now() - asked.asked_at > ANSWER_MS)
      fail(400, 'Bad Request: query is too old and response timeout expired or query ID is invalid')
    if (ok !== true && (typeof error_message !== 'string' || error_message === ''))
      fail(400, 'Bad Request: error message must be non-empty')
    asked.answer = ok === true
    if (ok === true) paid(world, bot, asked)
    return true
  },
}

/** Adds a payment and sends its update. Returns the charge id. */
export function paid(
  world: World,
  bot: BotState,
  {
    user,
    payment,
  }: { user: number; payment: BotState['payments'][number] | Omit<BotState['payments'][number], 'at' | 'charge_id'> },
  recurring: object = {},
): string {
  const person = world.people.get(user) ?? fail(400, 'Bad Request: user not found')
  const at = world.now()
  const charge_id = `charge-${bot.id}-${bot.payments.length + 1}`
  const { currency, total_amount, payload } = payment
  const isRecurring = 'is_recurring' in recurring
  bot.payments.push({
    charge_id,
    user,
    currency,
    total_amount,
    payload,
    at,
    ...(isRecurring ? { period_s: 2_592_000 } : {}),
  })
  if (currency === 'XTR') bot.balance += total_amount
  enqueueUpdate(world, bot, {
    message: {
      ...head(world, bot, person),
      successful_payment: {
        currency,
        total_amount,
        invoice_payload: payload,
        telegram_payment_charge_id: charge_id,
        provider_payment_charge_id: '',
        ...recurring,
      },
    },
  })
  return charge_id
}

/** The common fields of a person's private message. */
export const head = (world: World, bot: BotState, person: PersonState) => ({
  message_id: bot.next_message++,
  date: seconds(world.now()),
  chat: privateChat(person),
  from: personUser(person),
})

function sent(world: World, bot: BotState, method: string, params: Params) {
  const chat = Number(params['chat_id'])
  const person = world.people.get(chat)
  checkButtons(params['reply_markup'])
  if (person !== undefined) requireReachable(world, bot, person)
  else if (!chatOf(world, params['chat_id']).admins.has(bot.id)) fail(400, 'Bad Request: chat not found')
  keepPace(world, bot, chat, params['allow_paid_broadcast'] === true)
  const at = world.now()
  const message_id = bot.next_message++
  world.messages.push({ message_id, bot: bot.id, chat, at, method, params })
  return {
    message_id,
    date: seconds(at),
    chat: { id: chat, type: person === undefined ? 'channel' : 'private' },
    text: params['text'],
  }
}

function requireSource(world: World, { id }: BotState, chat: number): void {
  const isSeen = world.people.get(chat)?.wrote_to.has(id) ?? world.chats.get(chat)?.admins.has(id) ?? false
  if (!isSeen) fail(400, 'Bad Request: chat not found')
}

function requireReachable(world: World, { id }: BotState, person: PersonState): void {
  if (person.is_deactivated) fail(403, 'Forbidden: user is deactivated')
  if (person.blocked.has(id)) fail(403, 'Forbidden: bot was blocked by the user')
  if (person.wrote_to.has(id)) return
  const asked = person.asked.get(id)
  const isOpen =
    asked !== undefined &&
    world.now() - asked.at <= REQUESTER_MS &&
    world.chats.get(asked.chat)?.requests.has(person.id) === true
  if (!isOpen) fail(403, "Forbidden: bot can't initiate conversation with a user")
}

function keepPace(world: World, bot: BotState, chat: number, isPaid: boolean): void {
  const now = world.now()
  const lately = bot.sent.filter(({ at }) => now - at < 1000)
  bot.sent.splice(0, bot.sent.length, ...lately)
  const isTooMany = lately.length >= (isPaid ? PAID_A_SECOND : FREE_A_SECOND)
  if (isTooMany || lately.some(one => one.chat === chat))
    fail(429, 'Too Many Requests: retry after 1', { retry_after: 1 })
  bot.sent.push({ at: now, chat })
}

const TAGS = /^(b|strong|i|em|u|ins|s|strike|del|code|pre|a|span|tg-spoiler|tg-emoji|blockquote)$/

/** Checks the length of the displayed text: without tags, and with an entity as one letter. */
function length(params: Params, field: 'text' | 'caption', most: number, isNeeded: boolean): void {
  const value = params[field]
  if (value === undefined && !isNeeded) return
  if (typeof value !== 'string' || value.trim() === '') fail(400, 'Bad Request: message text is empty')
  const shown = params['parse_mode'] === 'HTML' ? shownOfHtml(value) : value
  if (shown.length > most)
    fail(400, field === 'text' ? 'Bad Request: message is too long' : 'Bad Request: message caption is too long')
}

function shownOfHtml(html: string): string {
  const open: string[] = []
  for (const [whole, slash, name = ''] of html.matchAll(/<(\/?)([^\s>]*)[^>]*>?/g)) {
    if (!whole.endsWith('>') || !TAGS.test(name.toLowerCase()))
      fail(
        400,
        `Bad Request: can't parse entities: Unsupported start tag "${name}" at byte offset ${html.indexOf(whole)}`,
      )
    if (slash !== '/') open.push(name.toLowerCase())
    else if (open.pop() !== name.toLowerCase())
      fail(400, `Bad Request: can't parse entities: Unexpected end tag at byte offset ${html.indexOf(whole)}`)
  }
  if (open.length > 0)
    fail(400, `Bad Request: can't parse entities: Can't find end tag corresponding to start tag "${open.at(-1)}"`)
  return html.replace(/<[^>]*>/g, '').replace(/&(lt|gt|amp|quot|#\d+|#x[\da-f]+);/gi, '.')
}

type Button = { text?: unknown; url?: unknown; callback_data?: unknown }

function checkButtons(markup: unknown): void {
  if (markup === undefined) return
  const rows = (markup as { inline_keyboard?: unknown }).inline_keyboard
  if (!Array.isArray(rows)) fail(400, "Bad Request: can't parse reply keyboard markup JSON object")
  const buttons = rows.flat() as Button[]
  if (buttons.length > 100) fail(400, 'Bad Request: reply markup is too long')
  for (const { text: label, url, callback_data } of buttons) {
    if (typeof label !== 'string' || label === '')
      fail(400, 'Bad Request: text buttons are unallowed in the inline keyboard')
    if (
      callback_data !== undefined &&
      !(Buffer.byteLength(words(callback_data)) >= 1 && Buffer.byteLength(words(callback_data)) <= 64)
    )
      fail(400, 'Bad Request: BUTTON_DATA_INVALID')
    if (url !== undefined && !/^(https?|tg):\/\//.test(words(url)))
      fail(400, `Bad Request: inline keyboard button URL '${words(url)}' is invalid`)
  }
}
