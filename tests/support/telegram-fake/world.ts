// The state of the fake Bot API: bots, chats, people and its own clock. Other files change it and answer calls.
import { randomBytes } from 'node:crypto'
import type { Update } from '@grammyjs/types'
import type { Faults } from './faults.ts'

export type UpdateType = Exclude<keyof Update, 'update_id'>
/** An update as a test writes it, with only the fields that matter. */
export type UpdateDraft = { readonly [Type in UpdateType]?: object } & { readonly update_id?: number }

/** A call of the Bot API. `via` hook: it came in the body of a webhook's answer. */
export type Call = {
  readonly at: number
  readonly method: string
  readonly token: string
  readonly params: Readonly<Record<string, unknown>>
  readonly via: 'http' | 'hook'
  /** The status of the answer; 0 without one, also if the connection was cut. */
  status: number
  description?: string
}

export type Hook = { url: string; secret: string | undefined; max_connections: number; set_at: number }

/** An update that waits for the webhook or is on its way. */
export type Pending = {
  readonly update: Readonly<Record<string, unknown>> & { update_id: number }
  readonly bytes: string
  /** Telegram keeps order within one queue only. */
  readonly queue: string
  readonly gives_up_at: number
  tries: number
  due_at: number
  is_under_way: boolean
}

/** The webhook's answer to one attempt; status 0: none. */
export type Attempt = { readonly update_id: number; readonly at: number; readonly status: number }

export type Payment = {
  readonly charge_id: string
  readonly user: number
  readonly currency: string
  readonly total_amount: number
  readonly payload: string
  readonly at: number
  /** The period of a subscription in seconds. */
  readonly period_s?: number
  refunded_at?: number
}

export type BotState = {
  readonly id: number
  token: string
  username: string
  name: string
  hook: Hook | undefined
  /** The subscribed update types; undefined: all but three. */
  allowed: readonly string[] | undefined
  readonly pending: Pending[]
  readonly attempts: Attempt[]
  last_error: { at: number; message: string } | undefined
  gone_since: number | undefined
  next_update: number
  next_message: number
  /** The messages of the last second, for the limits. */
  readonly sent: { at: number; chat: number }[]
  readonly payments: Payment[]
  readonly checkouts: Map<
    string,
    { asked_at: number; answer?: boolean; user: number; payment: Omit<Payment, 'at' | 'charge_id'> }
  >
  readonly callbacks: Map<string, { asked_at: number; is_answered: boolean }>
  balance: number
}

export type Link = {
  readonly url: string
  readonly chat: number
  readonly creator: number
  name: string | undefined
  expires_at: number | undefined
  member_limit: number | undefined
  creates_join_request: boolean
  is_revoked: boolean
  /** The members who joined by it. */
  readonly inside: Set<number>
}

export type ChatState = {
  readonly id: number
  readonly type: 'channel' | 'supergroup' | 'group'
  title: string
  username: string | undefined
  /** Bots that are administrators, with their rights. */
  readonly admins: Map<number, Set<string>>
  readonly members: Set<number>
  readonly requests: Map<number, { asked_at: number; query_id: string | undefined; link: Link | undefined }>
  /** The supergroup that the group has become. */
  moved_to: number | undefined
  /** The bot that gets queries about requests. */
  guard: number | undefined
}

export type PersonState = {
  readonly id: number
  readonly first_name: string
  readonly username: string | undefined
  readonly language_code: string
  /** Bots this person has messaged. */
  readonly wrote_to: Set<number>
  readonly blocked: Set<number>
  is_deactivated: boolean
  /** Requests to join by bot: they let a bot write to a person who has not messaged it. */
  readonly asked: Map<number, { chat: number; at: number }>
}

export type Message = {
  readonly message_id: number
  readonly bot: number
  readonly chat: number
  readonly at: number
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

export type World = {
  readonly bots: Map<number, BotState>
  readonly chats: Map<number, ChatState>
  readonly people: Map<number, PersonState>
  readonly links: Map<string, Link>
  readonly messages: Message[]
  readonly calls: Call[]
  readonly faults: Faults
  /** The real origins of public origins in this test. */
  readonly reach: Map<string, string>
  /** Unix milliseconds by the fake's clock. */
  readonly now: () => number
  /** Sends due updates; set by hooks.ts. */
  pump(bot: BotState): void
  /** Runs one method. */
  run(bot: BotState, method: string, params: Readonly<Record<string, unknown>>): unknown
}

/** A refusal of the Bot API. */
export class TelegramError extends Error {
  readonly code: number
  readonly parameters: Readonly<Record<string, number>> | undefined
  constructor(code: number, description: string, parameters?: Readonly<Record<string, number>>) {
    super(description)
    this.code = code
    this.parameters = parameters
  }
}

export function fail(code: number, description: string, parameters?: Readonly<Record<string, number>>): never {
  throw new TelegramError(code, description, parameters)
}

/** A parameter as text; empty if it is neither text nor a number. */
export const words = (sent: unknown): string => (typeof sent === 'string' || typeof sent === 'number' ? `${sent}` : '')

export const seconds = (ms: number): number => Math.floor(ms / 1000)

export const newToken = (id: number): string => `${id}:AA${randomBytes(25).toString('base64url').slice(0, 33)}`

/** The beginning of a URL, as Telegram shows another administrator's link. */
export const cut = (url: string): string => `${url.slice(0, 20)}…`

/** The chat with this id or @name. */
export function chatOf(world: World, sent: unknown): ChatState {
  const found =
    typeof sent === 'string' && sent.startsWith('@')
      ? [...world.chats.values()].find(({ username }) => username?.toLowerCase() === sent.slice(1).toLowerCase())
      : world.chats.get(Number(sent))
  if (found?.moved_to !== undefined)
    fail(400, 'Bad Request: group chat was upgraded to a supergroup chat', { migrate_to_chat_id: found.moved_to })
  return found ?? fail(400, 'Bad Request: chat not found')
}

/** Refuses a bot that is no administrator there or lacks the right. */
export function requireRight(bot: BotState, chat: ChatState, right: string, words: string): void {
  if (chat.admins.get(bot.id)?.has(right) !== true) fail(400, `Bad Request: ${words}`)
}

export const botUser = ({ id, username, name }: BotState) => ({ id, is_bot: true, first_name: name, username })

export const personUser = ({ id, first_name, username, language_code }: PersonState) => ({
  id,
  is_bot: false,
  first_name,
  ...(username === undefined ? {} : { username }),
  language_code,
})

export const chatJson = ({ id, type, title, username }: ChatState) => ({
  id,
  type,
  title,
  ...(username === undefined ? {} : { username }),
})

export const privateChat = ({ id, first_name }: PersonState) => ({ id, type: 'private' as const, first_name })
