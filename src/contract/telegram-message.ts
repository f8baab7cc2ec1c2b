/**
 * A message of a bot: a reply to a start, an answer to a join request, a broadcast. Lengths are those of the Bot API (sendMessage, sendPhoto,
 * InlineKeyboardButton). A draft may be faulty; `messageFault` says why it cannot be sent.
 */
import { z } from 'zod'
import { Id, SUBS } from './fields.ts'
import { readHtml } from './telegram-html.ts'

const LONGEST_TEXT = 4096
const LONGEST_CAPTION = 1024
/** Includes tags and entities, which are not visible. */
const LONGEST_WRITTEN = 16_384
const LONGEST_URL = 2048
const ROWS = 8
/** Per message, including the button to unsubscribe. */
const MOST_BUTTONS = 64

/** Macros in texts and in addresses of buttons. */
export const MESSAGE_MACROS = ['click_id', ...SUBS, 'campaign_id', 'broadcast_id'] as const
export type MessageMacro = (typeof MESSAGE_MACROS)[number]

export const MEDIA = ['photo', 'video', 'animation', 'document'] as const
export type Medium = (typeof MEDIA)[number]

const Label = z.string().trim().min(1).max(64)
const MessageButton = z.union([
  z.strictObject({
    text: Label,
    url: z.string().trim().min(1).max(LONGEST_URL).meta({ description: 'The address it opens; may hold macros' }),
  }),
  z.strictObject({
    text: Label,
    channel_id: Id.meta({ description: 'A channel that the button opens by the recipient’s own invite link' }),
  }),
  z.strictObject({
    text: Label,
    opt_out: z.literal(true).meta({ description: 'A recipient who presses it gets no more broadcasts of this bot' }),
  }),
])

const shared = {
  buttons: z.array(z.array(MessageButton).min(1).max(ROWS)).max(ROWS).optional(),
  silent: z.boolean().optional().meta({ description: 'Arrives without a sound' }),
  protect: z.boolean().optional().meta({ description: 'Cannot be forwarded or saved' }),
  preview: z.boolean().optional().meta({ description: 'false: links in the text show no preview' }),
}
const Format = z.enum(['html', 'plain']).optional().meta({ description: 'By default html' })
const Written = z.string().max(LONGEST_WRITTEN)
const Media = z.string().trim().min(1).max(LONGEST_URL)
const caption = { caption: Written.optional(), format: Format }
const Copied = z.strictObject({
  chat_id: z.union([
    z.number().int(),
    z
      .string()
      .trim()
      .regex(/^(@\w{4,32}|-?\d{1,16})$/, { message: 'must be the number of a chat, or the @name of a public one' }),
  ]),
  message_id: z.number().int().positive(),
})

/** A text; a photo, video, animation or document with a caption; or a copy of a message that the bot can see. */
export const Message = z
  .union([
    z.strictObject({ text: Written, format: Format, ...shared }),
    z.strictObject({ photo: Media, ...caption, ...shared }),
    z.strictObject({ video: Media, ...caption, ...shared }),
    z.strictObject({ animation: Media, ...caption, ...shared }),
    z.strictObject({ document: Media, ...caption, ...shared }),
    z.strictObject({ copy: Copied, ...shared }),
  ])
  .meta({
    id: 'Message',
    description:
      'A text, or a photo, video, animation or document by https address or file_id with a caption, or a copy of a message. Texts may hold {click_id}, {sub1} to {sub9}, {campaign_id}, {broadcast_id} and {first_name|fallback text}; addresses of buttons may hold all but the last',
  })
export type Message = z.output<typeof Message>

export type MessageButton = z.output<typeof MessageButton>

/** Its text or caption. */
export function messageText(message: Message): string {
  if ('text' in message) return message.text
  return 'copy' in message ? '' : (message.caption ?? '')
}

/** The kind of its file, and the file. */
export function mediumOf(message: Message): { kind: Medium; file: string } | undefined {
  const said: Readonly<Record<string, unknown>> = message
  const kind = MEDIA.find(one => typeof said[one] === 'string')
  return kind === undefined ? undefined : { kind, file: String(said[kind]) }
}

/** The channels that its buttons open, each once. */
export const channelsIn = ({ buttons = [] }: Message): string[] => [
  ...new Set(buttons.flat().flatMap(button => ('channel_id' in button ? [button.channel_id] : []))),
]

/** A macro: its name, and its fallback text. */
export const MESSAGE_MACRO = /\{([a-z][a-z0-9_]*)(?:\|([^{}]*))?\}/gi
const known: ReadonlySet<string> = new Set(MESSAGE_MACROS)

/** The fault that keeps a message from being sent, in a sentence that says what to do; undefined if there is none. */
export function messageFault(message: Message): string | undefined {
  return wordsFault(message) ?? mediaFault(message) ?? buttonsFault(message)
}

/** The same for a broadcast, which gets a button to unsubscribe if it has none. */
export function broadcastFault(message: Message): string | undefined {
  const all = (message.buttons ?? []).flat()
  const isFull = all.length >= MOST_BUTTONS && !all.some(button => 'opt_out' in button)
  return (
    messageFault(message) ??
    (isFull
      ? `with the button to unsubscribe these are ${all.length + 1} buttons; ${MOST_BUTTONS} are the most`
      : undefined)
  )
}

function wordsFault(message: Message): string | undefined {
  const words = messageText(message)
  const isText = 'text' in message
  const [what, most] = isText ? ['text', LONGEST_TEXT] : ['caption', LONGEST_CAPTION]
  if (isText && words.trim() === '') return 'the text is empty'
  const isHtml = !('format' in message) || message.format !== 'plain'
  const read = isHtml ? readHtml(words) : { length: words.length }
  if ('fault' in read) return `the ${what}: ${read.fault}`
  if (read.length > most)
    return `the ${what} shows ${read.length} characters; Telegram takes ${most.toLocaleString('en-US')}`
  for (const [whole, name = '', other] of words.matchAll(MESSAGE_MACRO)) {
    if (known.has(name.toLowerCase())) continue
    if (name.toLowerCase() !== 'first_name') return `the ${what}: there is no macro ${whole}`
    if (!other) return `the ${what}: add a fallback for unknown names, such as {first_name|friend}`
  }
  return undefined
}

const FILE_ID = /^[\w-]{10,250}$/

function mediaFault(message: Message): string | undefined {
  const medium = mediumOf(message)
  if (medium === undefined || FILE_ID.test(medium.file)) return undefined
  return URL.parse(medium.file)?.protocol === 'https:'
    ? undefined
    : `the ${medium.kind} must be an https address, or the file_id of one that was sent`
}

function buttonsFault({ buttons = [] }: Message): string | undefined {
  const all = buttons.flat()
  if (all.filter(button => 'opt_out' in button).length > 1) return 'one button to unsubscribe is enough'
  for (const button of all) {
    if (!('url' in button)) continue
    const { text, url } = button
    // The value of a macro is percent-encoded and never a part of the host.
    const isAddress = /^(https?|tg):\/\/[^{}\s]+/i.test(url) && URL.canParse(url.replace(MESSAGE_MACRO, 'x'))
    if (!isAddress) return `the button "${text}" must lead to an http, https or tg address`
    for (const [whole, name = ''] of url.matchAll(MESSAGE_MACRO))
      if (!known.has(name.toLowerCase())) return `the button "${text}": there is no macro ${whole} in addresses`
  }
  return undefined
}
