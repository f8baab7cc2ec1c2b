/**
 * What an update of Telegram's says of people in chats: that somebody is in or out now, asks to be let in, or has started the bot over a click. Nothing
 * else of it is read.
 */
import { toUuid } from '../../contract/ids.ts'
import { fieldsOf } from '../../contract/json.ts'
import { clickOfStart } from '../../contract/telegram.ts'
import { orderedTime } from '../bots/update.ts'

type Fields = Readonly<Record<string, unknown>>

export type EventChat = { readonly id: number; readonly title: string | undefined }

/** The link somebody came by, as this bot is shown it: of one that another administrator has made only the beginning of the address. */
export type UsedLink = { readonly url: string; readonly name: string; readonly isRevoked: boolean }

type OfPerson = {
  readonly telegram_user_id: string
  /** Telegram's own time, ISO 8601 with microseconds: within its second, updates of a bot follow each other. */
  readonly at: string
}
type InChat = OfPerson & { readonly chat: EventChat; readonly link: UsedLink | undefined }

export type ChatEvent =
  | (InChat & { readonly kind: 'joined' })
  | (InChat & { readonly kind: 'left' | 'kicked'; readonly wasIn: boolean })
  | (InChat & { readonly kind: 'asked'; readonly user_chat_id: string; readonly query_id: string | undefined })
  | (OfPerson & { readonly kind: 'started'; readonly click_id: string })

/** What the update tells, or undefined. */
export function chatEventIn(update: Fields): ChatEvent | undefined {
  const { message, chat_member, chat_join_request, update_id } = update
  return (
    changeOf(fieldsOf(chat_member), update_id) ??
    requestOf(fieldsOf(chat_join_request), update_id) ??
    startOf(fieldsOf(message), update_id)
  )
}

const CHATS = new Set<unknown>(['channel', 'supergroup', 'group'])
const INSIDE = new Set<unknown>(['creator', 'administrator', 'member'])

const isIn = ({ status, is_member }: Fields): boolean =>
  INSIDE.has(status) || (status === 'restricted' && is_member === true)

function changeOf({ chat, old_chat_member, new_chat_member, invite_link, date }: Fields, number: unknown) {
  const [before, after] = [fieldsOf(old_chat_member), fieldsOf(new_chat_member)]
  const told = inChat(chat, after['user'], { date, invite_link }, number)
  if (told === undefined) return undefined
  const wasIn = isIn(before)
  if (isIn(after)) return wasIn ? undefined : { ...told, kind: 'joined' as const }
  const kind = after['status'] === 'kicked' ? ('kicked' as const) : ('left' as const)
  return { ...told, kind, wasIn }
}

function requestOf({ chat, from, invite_link, date, user_chat_id, query_id }: Fields, number: unknown) {
  const told = inChat(chat, from, { date, invite_link }, number)
  if (told === undefined) return undefined
  const isKnown = typeof user_chat_id === 'number' && Number.isSafeInteger(user_chat_id)
  return {
    ...told,
    kind: 'asked' as const,
    user_chat_id: isKnown ? String(user_chat_id) : told.telegram_user_id,
    query_id: typeof query_id === 'string' && query_id !== '' ? query_id.slice(0, 256) : undefined,
  }
}

function inChat(chat: unknown, user: unknown, { date, invite_link }: Fields, number: unknown): InChat | undefined {
  const { id, type, title } = fieldsOf(chat)
  const telegram_user_id = personOf(user)
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || telegram_user_id === undefined) return undefined
  if (type !== undefined && !CHATS.has(type)) return undefined
  const { invite_link: url, name, is_revoked } = fieldsOf(invite_link)
  const link = { url: textOf(url) ?? '', name: textOf(name) ?? '', isRevoked: is_revoked === true }
  return {
    telegram_user_id,
    at: orderedTime(date, number),
    chat: { id, title: textOf(title) },
    link: link.url === '' && link.name === '' ? undefined : link,
  }
}

const START = /^\/start(?:@\w+)? (\S+)\s*$/

/** A private message `/start <parameter>` by a person, whose parameter hands on a click. */
function startOf({ text, chat, from, date }: Fields, number: unknown) {
  if (fieldsOf(chat)['type'] !== 'private' || typeof text !== 'string') return undefined
  const click_id = clickOfStart(START.exec(text)?.[1] ?? '')
  const telegram_user_id = personOf(from)
  if (click_id === undefined || telegram_user_id === undefined) return undefined
  return { kind: 'started' as const, telegram_user_id, click_id, at: orderedTime(date, number) }
}

/** Undefined unless it is a person Telegram knows. */
function personOf(user: unknown): string | undefined {
  const { id, is_bot } = fieldsOf(user)
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 && is_bot !== true ? String(id) : undefined
}

/** The second a moment lies in, as Telegram says it. */
export const wholeSecond = (at: string): string => `${at.slice(0, 19)}.000Z`

/** As it can be stored. */
const textOf = (said: unknown): string | undefined =>
  typeof said === 'string' ? said.toWellFormed().replaceAll('\0', '').slice(0, 256) : undefined

/** A click's id in any form; its short one fits the 32 characters of an invite link's name. */
export const clickInLinkName = (link: UsedLink | undefined): string | undefined =>
  link === undefined ? undefined : toUuid(link.name)
