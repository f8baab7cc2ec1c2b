// What the fake Bot API knows: bots, chats, people and a clock of its own. Its parts change it; nothing here answers calls.
import { randomBytes } from 'node:crypto'
import type { Update } from '@grammyjs/types'
import type { Faults } from './faults.ts'

export type UpdateType = Exclude<keyof Update, 'update_id'>
/** An update as a test writes it: of its fields only those that matter. */
export type Told = { readonly [Type in UpdateType]?: object } & { readonly update_id?: number }

/** A call of the Bot API as it arrived. `via` hook: it stood in the body that a hook was answered with. */
export type Call = {
  readonly at: number
  readonly method: string
  readonly token: string
  readonly params: Readonly<Record<string, unknown>>
  readonly via: 'http' | 'hook'
  /** What it was answered; 0 while it was not, or when the connection was cut instead. */
  status: number
  description?: string
}

export type Hook = { url: string; secret: string | undefined; max_connections: number; set_at: number }

/** An update that waits for its hook, or is on its way. */
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

/** What a hook answered to one attempt; status 0: nothing. */
export type Attempt = { readonly update_id: number; readonly at: number; readonly status: number }

export type Payment = {
  readonly charge_id: string
  readonly user: number
  readonly currency: string
  readonly total_amount: number
  readonly payload: string
  readonly at: number
  /** Of a subscription, in seconds. */
  readonly period_s?: number
  refunded_at?: number
}

export type BotState = {
  readonly id: number
  token: string
  username: string
  name: string
  hook: Hook | undefined
  /** Undefined: never said, which is all but three. */
  allowed: readonly string[] | undefined
  readonly pending: Pending[]
  readonly attempts: Attempt[]
  last_error: { at: number; message: string } | undefined
  gone_since: number | undefined
  next_update: number
  next_message: number
  /** Times of what was sent lately, for the limits. */
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
  /** Who is in by it. */
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
  /** The bot that is asked about requests itself. */
  /** The supergroup that it has become. */
  moved_to: number | undefined
  guard: number | undefined
}

export type PersonState = {
  readonly id: number
  readonly first_name: string
  readonly username: string | undefined
  readonly language_code: string
  /** Bots this person has written to, and those that are blocked. */
  readonly wrote_to: Set<number>
  readonly blocked: Set<number>
  is_deactivated: boolean
  /** When a bot may write to them without having been written to: a request to join, by the chat it is for. */
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
  /** Where public origins lead in this test. */
  readonly reach: Map<string, string>
  /** Unix milliseconds by the fake's clock. */
  readonly now: () => number
  /** Looks at what is due; set by the part that delivers. */
  pump(bot: BotState): void
  /** Runs one method; set by the part that knows them. */
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

/** A parameter as text; what is neither text nor a number is none. */
export const words = (sent: unknown): string => (typeof sent === 'string' || typeof sent === 'number' ? `${sent}` : '')

export const seconds = (ms: number): number => Math.floor(ms / 1000)

export const newToken = (id: number): string => `${id}:AA${randomBytes(25).toString('base64url').slice(0, 33)}`

/** The first characters of a link another administrator made, as Telegram shows it. */
export const cut = (url: string): string => `${url.slice(0, 20)}…`

/** The chat of an id or of an @name; a person's private chat has the person's number. */
export function chatOf(world: World, sent: unknown): ChatState {
  const found =
    typeof sent === 'string' && sent.startsWith('@')
      ? [...world.chats.values()].find(({ username }) => username?.toLowerCase() === sent.slice(1).toLowerCase())
      : world.chats.get(Number(sent))
  if (found?.moved_to !== undefined)
    fail(400, 'Bad Request: group chat was upgraded to a supergroup chat', { migrate_to_chat_id: found.moved_to })
  return found ?? fail(400, 'Bad Request: chat not found')
}

/** Refuses a bot that is no administrator there, or has not the right. */
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

export const chatShown = ({ id, type, title, username }: ChatState) => ({
  id,
  type,
  title,
  ...(username === undefined ? {} : { username }),
})

export const privateChat = ({ id, first_name }: PersonState) => ({ id, type: 'private' as const, first_name })
