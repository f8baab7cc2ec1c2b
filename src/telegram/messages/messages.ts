/** Sends a bot's own messages by the Bot API, with macros and buttons for each recipient. Owns no table. */
import { toWireId } from '../../contract/ids.ts'
import { escapedHtml } from '../../contract/telegram-html.ts'
import {
  mediumOf,
  type Message,
  MESSAGE_MACRO,
  type MessageButton,
  type MessageMacro,
  messageText,
} from '../../contract/telegram-message.ts'
import { callTelegram } from '../bots/telegram.ts'

/** The values of macros; ids are wire ids. Null becomes empty; for the first name it becomes the text after the bar. */
export type MessageValues = { readonly [M in MessageMacro | 'first_name']?: string | null }

/**
 * The recipient and the options of one message. `links`: the channel links by channel id (uuid); a button without a link is left out. `opt_out`: the callback
 * of the unsubscribe button, which is added if the message has none.
 */
export type MessageDelivery = {
  readonly chat_id: string | number
  readonly values: MessageValues
  readonly links?: ReadonlyMap<string, string>
  readonly opt_out?: string
  readonly paid?: boolean
  readonly is_test?: boolean
}

/** The callback of the unsubscribe button, with the id (uuid) of a broadcast. Telegram allows 64 bytes. */
export const optOutCallback = (broadcast_id?: string): string =>
  broadcast_id === undefined ? 'sluice:out' : `sluice:out:${toWireId(broadcast_id)}`

const UNSUBSCRIBE: MessageButton = { text: 'Unsubscribe', opt_out: true }

/** Sends a message within ten seconds; never throws. */
export function sendMessage(
  root: string,
  token: string,
  message: Message,
  delivery: MessageDelivery,
): ReturnType<typeof callTelegram> {
  const common = commonOf(message, delivery)
  if ('copy' in message) {
    const { chat_id, message_id } = message.copy
    return callTelegram(root, token, 'copyMessage', { ...common, from_chat_id: numbered(chat_id), message_id })
  }
  const words = filledWords(message, delivery)
  const parse_mode = message.format === 'plain' ? {} : { parse_mode: 'HTML' as const }
  const medium = mediumOf(message)
  if (medium === undefined) {
    const preview = message.preview === false ? { link_preview_options: { is_disabled: true } } : {}
    return callTelegram(root, token, 'sendMessage', { ...common, ...parse_mode, ...preview, text: words })
  }
  const captioned = { ...common, ...(words === '' ? {} : { ...parse_mode, caption: words }) }
  const { kind, file } = medium
  if (kind === 'photo') return callTelegram(root, token, 'sendPhoto', { ...captioned, photo: file })
  if (kind === 'video') return callTelegram(root, token, 'sendVideo', { ...captioned, video: file })
  if (kind === 'animation') return callTelegram(root, token, 'sendAnimation', { ...captioned, animation: file })
  return callTelegram(root, token, 'sendDocument', { ...captioned, document: file })
}

/** A chat id as a number, as the Bot API documents it. A name, or a number beyond JSON's safe range, stays a string. */
function numbered(chat_id: string | number): string | number {
  const number = typeof chat_id === 'string' && /^-?\d+$/.test(chat_id) ? Number(chat_id) : chat_id
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : chat_id
}

function commonOf(message: Message, { chat_id, values, links, opt_out, paid }: MessageDelivery) {
  const buttons = [...(message.buttons ?? [])]
  if (opt_out !== undefined && !buttons.flat().some(button => 'opt_out' in button)) buttons.push([UNSUBSCRIBE])
  const inline_keyboard = buttons
    .map(row => row.flatMap(button => buttonFor(button, values, links, opt_out)))
    .filter(row => row.length > 0)
  return {
    chat_id: numbered(chat_id),
    ...(inline_keyboard.length === 0 ? {} : { reply_markup: { inline_keyboard } }),
    ...(message.silent === true ? { disable_notification: true } : {}),
    ...(message.protect === true ? { protect_content: true } : {}),
    ...(paid === true ? { allow_paid_broadcast: true as const } : {}),
  }
}

function buttonFor(
  button: MessageButton,
  values: MessageValues,
  links: MessageDelivery['links'],
  opt_out: string | undefined,
): ({ text: string; url: string } | { text: string; callback_data: string })[] {
  const { text } = button
  if ('opt_out' in button) return [{ text, callback_data: opt_out ?? optOutCallback() }]
  const url = 'url' in button ? filled(button.url, values, encodeURIComponent) : links?.get(button.channel_id)
  return url === undefined ? [] : [{ text, url }]
}

function filledWords(message: Message, { values, is_test }: MessageDelivery): string {
  const isPlain = 'format' in message && message.format === 'plain'
  const words = filled(messageText(message), values, isPlain ? value => value : escapedHtml)
  return is_test === true ? `[Test] ${words}` : words
}

const filled = (text: string, values: MessageValues, escape: (value: string) => string): string =>
  text.replace(MESSAGE_MACRO, (_, macro: string, fallback = '') => {
    const value = values[macro.toLowerCase() as keyof MessageValues]
    return value ? escape(value.toWellFormed()) : fallback
  })
