/** Reads a chat and the bot's rights in it from Telegram. */
import { fieldsOf } from '../../contract/json.ts'
import type { Ground } from '../../ground/room.ts'
import { callTelegram, type Failure, isAway } from '../bots/telegram.ts'
import { storableText } from '../bots/update.ts'
import type { ChannelKind, ChannelState } from './api.ts'

/** A bot: its token, its number at Telegram and its name without @. */
export type BotCredentials = { readonly token: string; readonly telegram_id: string; readonly username: string }

/** A chat at Telegram. */
export type TelegramChat = {
  readonly chat_id: string
  readonly kind: ChannelKind
  readonly title: string
  readonly username: string | null
}

/** The bot's rights in a chat. `reason` is a sentence for the owner about what is missing; null if nothing is. */
type BotRights = { readonly state: ChannelState; readonly reason: string | null }

export type ChatState = BotRights & {
  readonly chat: TelegramChat | undefined
  readonly member_count: number | null
  readonly isPerson?: true
}

const KINDS: readonly unknown[] = ['channel', 'supergroup', 'group']

/** The chat in an update or an answer; undefined for a person's chat. */
export function chatIn(value: unknown): TelegramChat | undefined {
  const { id, type, title, username } = fieldsOf(value)
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || !KINDS.includes(type)) return undefined
  return {
    chat_id: String(id),
    kind: type as ChannelKind,
    title: storableText(title) ?? '',
    username: storableText(username),
  }
}

/** The rights of a bot, from its ChatMember object. */
export function botRights(member: unknown, username: string): BotRights {
  const { status, can_invite_users } = fieldsOf(member)
  if (status === 'creator' || (status === 'administrator' && can_invite_users === true))
    return { state: 'ready', reason: null }
  if (status === 'administrator')
    return {
      state: 'no_rights',
      reason: `@${username} is an administrator without the right to invite users (Invite Users via Link). Give it that right.`,
    }
  return {
    state: 'not_admin',
    reason: `@${username} is no administrator there. Make it one, with the right to invite users.`,
  }
}

/**
 * Reads a chat and the bot's rights in it; returns the failure if Telegram gives no answer. `chat` is undefined if no chat has that id or name. For a
 * group that has become a supergroup, reads the supergroup.
 */
export async function readChatState(
  ground: Pick<Ground, 'config'>,
  bot: BotCredentials,
  chat_id: string,
): Promise<ChatState | Failure> {
  const seen = await readChat(ground, bot, chat_id)
  if (!('ok' in seen)) return seen
  const { migrate_to_chat_id: to, ...failure } = seen
  return to === undefined ? failure : await readChat(ground, bot, to)
}

async function readChat(
  { config }: Pick<Ground, 'config'>,
  { token, telegram_id, username }: BotCredentials,
  chat_id: string,
): Promise<ChatState | Failure> {
  const root = config.telegramApiRoot
  const sentChatId = chat_id.startsWith('@') ? chat_id : Number(chat_id)
  const chatAnswer = await callTelegram(root, token, 'getChat', { chat_id: sentChatId })
  if (!chatAnswer.ok)
    return chatAnswer.kind === 'refused' && chatAnswer.migrate_to_chat_id === undefined
      ? { ...rightsAfterRefusal(chatAnswer, username), chat: undefined, member_count: null }
      : chatAnswer
  const chat = chatIn(chatAnswer.result)
  if (chat === undefined)
    return { state: 'gone', reason: 'This is a private chat with a person.', chat, member_count: null, isPerson: true }
  const member = await callTelegram(root, token, 'getChatMember', { chat_id: sentChatId, user_id: Number(telegram_id) })
  if (!member.ok && (isAway(member) || member.kind === 'token' || member.migrate_to_chat_id !== undefined))
    return member
  const rights = member.ok ? botRights(member.result, username) : rightsAfterRefusal(member, username)
  const count = await callTelegram(root, token, 'getChatMemberCount', { chat_id: sentChatId })
  return { ...rights, chat, member_count: count.ok && typeof count.result === 'number' ? count.result : null }
}

/** Telegram's refusal tells whether the chat is gone or the bot is no administrator. */
function rightsAfterRefusal({ description }: Failure, username: string): BotRights {
  if (/chat not found|deleted|upgraded/i.test(description))
    return { state: 'gone', reason: `Telegram finds no such chat for @${username}: ${description}` }
  return { state: 'not_admin', reason: `@${username} is no administrator there. Telegram says: ${description}` }
}
