/** Reads from updates what people do in chats: joins, leaves, requests to join, and starts of the bot over a click. Nothing else is read. */
import { toUuid } from '../../contract/ids.ts'
import { fieldsOf } from '../../contract/json.ts'
import { orderedTime, personId, startIn, storableText } from '../bots/update.ts'

type Fields = Readonly<Record<string, unknown>>

export type EventChat = { readonly id: number; readonly title: string | undefined }

/** The link of a join or request. Telegram shows a bot only the beginning of a URL that another administrator created. */
export type UsedLink = { readonly url: string; readonly name: string; readonly isRevoked: boolean }

type OfPerson = {
  readonly telegram_user_id: string
  /** Telegram's time, ISO 8601; the microseconds order a bot's updates within one second. */
  readonly at: string
}
type InChat = OfPerson & { readonly chat: EventChat; readonly link: UsedLink | undefined }

export type ChatEvent =
  | (InChat & { readonly kind: 'joined' })
  | (InChat & { readonly kind: 'left' | 'kicked'; readonly wasIn: boolean })
  | (InChat & { readonly kind: 'asked'; readonly user_chat_id: string; readonly query_id: string | undefined })
  | (OfPerson & { readonly kind: 'started'; readonly click_id: string })

/** The event in an update; undefined if there is none. */
export function chatEventIn(update: Fields): ChatEvent | undefined {
  const { chat_member, chat_join_request, update_id } = update
  return (
    changeOf(fieldsOf(chat_member), update_id) ?? requestOf(fieldsOf(chat_join_request), update_id) ?? startOf(update)
  )
}

const CHATS = new Set<unknown>(['channel', 'supergroup', 'group'])
const INSIDE = new Set<unknown>(['creator', 'administrator', 'member'])

const isIn = ({ status, is_member }: Fields): boolean =>
  INSIDE.has(status) || (status === 'restricted' && is_member === true)

function changeOf({ chat, old_chat_member, new_chat_member, invite_link, date }: Fields, number: unknown) {
  const [before, after] = [fieldsOf(old_chat_member), fieldsOf(new_chat_member)]
  const event = inChat(chat, after['user'], { date, invite_link }, number)
  if (event === undefined) return undefined
  const wasIn = isIn(before)
  if (isIn(after)) return wasIn ? undefined : { ...event, kind: 'joined' as const }
  const kind = after['status'] === 'kicked' ? ('kicked' as const) : ('left' as const)
  return { ...event, kind, wasIn }
}

function requestOf({ chat, from, invite_link, date, user_chat_id, query_id }: Fields, number: unknown) {
  const event = inChat(chat, from, { date, invite_link }, number)
  if (event === undefined) return undefined
  const isKnown = typeof user_chat_id === 'number' && Number.isSafeInteger(user_chat_id)
  return {
    ...event,
    kind: 'asked' as const,
    user_chat_id: isKnown ? String(user_chat_id) : event.telegram_user_id,
    query_id: typeof query_id === 'string' && query_id !== '' ? query_id.slice(0, 256) : undefined,
  }
}

function inChat(chat: unknown, user: unknown, { date, invite_link }: Fields, number: unknown): InChat | undefined {
  const { id, type, title } = fieldsOf(chat)
  const telegram_user_id = personId(user)
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || telegram_user_id === undefined) return undefined
  if (type !== undefined && !CHATS.has(type)) return undefined
  const { invite_link: url, name, is_revoked } = fieldsOf(invite_link)
  const link = { url: storableText(url) ?? '', name: storableText(name) ?? '', isRevoked: is_revoked === true }
  return {
    telegram_user_id,
    at: orderedTime(date, number),
    chat: { id, title: storableText(title) ?? undefined },
    link: link.url === '' && link.name === '' ? undefined : link,
  }
}

function startOf(update: Fields) {
  const start = startIn(update)
  if (start === undefined) return undefined
  const { date } = fieldsOf(update['message'])
  return { kind: 'started' as const, ...start, at: orderedTime(date, update['update_id']) }
}

/** The time without its fraction, as Telegram reports it. */
export const wholeSecond = (at: string): string => `${at.slice(0, 19)}.000Z`

/** The click id in a link's name. The short form of an id fits the 32 characters that Telegram allows. */
export const clickInLinkName = (link: UsedLink | undefined): string | undefined =>
  link === undefined ? undefined : toUuid(link.name)
