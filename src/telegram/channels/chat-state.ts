/** What Telegram says of a chat, and of what our bot may do there. */
import { fieldsOf } from '../../contract/json.ts'
import type { Ground } from '../../ground/room.ts'
import { callTelegram, type Failure, isAway } from '../bots/telegram.ts'
import type { ChannelKind, ChannelState } from './api.ts'

/** The bot that asks: its number, and the name that people know it by. */
export type BotCredentials = { readonly token: string; readonly telegram_id: string; readonly username: string }

/** A chat as Telegram knows it. */
export type TelegramChat = {
  readonly chat_id: string
  readonly kind: ChannelKind
  readonly title: string
  readonly username: string | null
}

/** How a channel is. `reason` says what is missing, in words for its owner; null where nothing is. */
type Standing = { readonly state: ChannelState; readonly reason: string | null }

export type ChatState = Standing & {
  readonly chat: TelegramChat | undefined
  readonly member_count: number | null
  readonly isPerson?: true
}

const KINDS: readonly unknown[] = ['channel', 'supergroup', 'group']

const wordsOf = (said: unknown): string | undefined =>
  typeof said === 'string' ? said.toWellFormed().replaceAll('\0', '').slice(0, 256) : undefined

/** The chat of an update or an answer; undefined where it is a person's. */
export function chatIn(said: unknown): TelegramChat | undefined {
  const { id, type, title, username } = fieldsOf(said)
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || !KINDS.includes(type)) return undefined
  return {
    chat_id: String(id),
    kind: type as ChannelKind,
    title: wordsOf(title) ?? '',
    username: wordsOf(username) ?? null,
  }
}

/** What a bot may do by what Telegram says it is there. */
export function botRights(member: unknown, username: string): Standing {
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
 * Asks what the chat is and what the bot may do there; answers why that cannot be known. `chat` undefined: there is none of that name or number. Of a
 * group that has become a supergroup it is that one.
 */
export async function readChatState(
  ground: Pick<Ground, 'config'>,
  bot: BotCredentials,
  chat_id: string,
): Promise<ChatState | Failure> {
  const seen = await lookAt(ground, bot, chat_id)
  if (!('ok' in seen)) return seen
  const { migrate_to_chat_id: to, ...failure } = seen
  return to === undefined ? failure : await lookAt(ground, bot, to)
}

async function lookAt(
  { config }: Pick<Ground, 'config'>,
  { token, telegram_id, username }: BotCredentials,
  chat_id: string,
): Promise<ChatState | Failure> {
  const root = config.telegramApiRoot
  const asked = chat_id.startsWith('@') ? chat_id : Number(chat_id)
  const found = await callTelegram(root, token, 'getChat', { chat_id: asked })
  if (!found.ok)
    return found.kind === 'refused' && found.migrate_to_chat_id === undefined
      ? { ...absent(found, username), chat: undefined, member_count: null }
      : found
  const chat = chatIn(found.result)
  if (chat === undefined)
    return { state: 'gone', reason: 'It is a person’s chat.', chat, member_count: null, isPerson: true }
  const member = await callTelegram(root, token, 'getChatMember', { chat_id: asked, user_id: Number(telegram_id) })
  if (!member.ok && (isAway(member) || member.kind === 'token' || member.migrate_to_chat_id !== undefined))
    return member
  const standing = member.ok ? botRights(member.result, username) : absent(member, username)
  const count = await callTelegram(root, token, 'getChatMemberCount', { chat_id: asked })
  return { ...standing, chat, member_count: count.ok && typeof count.result === 'number' ? count.result : null }
}

/** A refusal tells whether the chat is gone, or the bot is. */
function absent({ description }: Failure, username: string): Standing {
  if (/chat not found|deleted|upgraded/i.test(description))
    return { state: 'gone', reason: `Telegram shows @${username} no such chat: ${description}` }
  return { state: 'not_admin', reason: `@${username} is no administrator there. Telegram says: ${description}` }
}
