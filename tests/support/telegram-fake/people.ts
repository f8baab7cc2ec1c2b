// The bots, chats and people of the fake Bot API, with the actions that tests make them do.
import { randomInt } from 'node:crypto'
import { enqueueUpdate } from './hooks.ts'
import { joined, left, requested, sendOwnMemberUpdate, usableLink } from './membership.ts'
import { head, paid } from './send-methods.ts'
import {
  type Attempt,
  type BotState,
  type ChatState,
  type Hook,
  newToken,
  personUser,
  type PersonState,
  type UpdateDraft,
  type World,
} from './world.ts'

export type FakeBot = {
  readonly id: number
  readonly username: string
  /** The current token. */
  readonly token: string
  readonly hook: Readonly<Hook> | undefined
  /** The subscribed update types; undefined: all but three. */
  readonly allowed: readonly string[] | undefined
  /** The number of updates that wait for the webhook. */
  readonly pending: number
  /** All attempts to send updates to the webhook. */
  readonly attempts: readonly Attempt[]
  /** Sends an update to the bot's webhook. Returns its id; undefined if the bot does not subscribe to the type. */
  sendUpdate(update: UpdateDraft): number | undefined
  /** Revokes the token as BotFather does; the webhook is removed. Returns the new token. */
  revoke(): string
  rename(username: string): void
  /** Sets the webhook as another program does. */
  setHook(
    url: string,
    about?: { secret_token?: string; allowed_updates?: readonly string[]; max_connections?: number },
  ): void
  removeHook(): void
  /** Pays a month of a subscription. Returns the charge id. */
  renew(
    person: FakePerson,
    payment: { payload: string; total_amount: number; currency?: string; is_first?: boolean },
  ): string
  cancel(person: FakePerson, payload: string, state?: 'canceled' | 'active' | 'failed'): void
  refund(charge_id: string): void
  /** Adds a payment in Stars without an update, so that it is only in the list of Stars. `at` in Unix milliseconds. */
  missed(
    person: FakePerson,
    payment: { payload: string; total_amount: number; at: number; period_s?: number; refunded_at?: number },
  ): string
}

export type FakeChat = {
  readonly id: number
  readonly members: ReadonlySet<number>
  /** Makes the bot an administrator with these rights. */
  promote(bot: FakeBot, rights?: readonly string[]): void
  demote(bot: FakeBot, is?: 'left' | 'kicked' | 'member'): void
  /** Sends queries about requests to join to this bot. */
  guardBy(bot: FakeBot | undefined): void
  setUsername(username: string | undefined): void
  /** Turns the group into this supergroup without an update. */
  migrate(to: FakeChat): void
}

export type FakePerson = {
  readonly id: number
  /** Presses Start, by a link with a payload or without. */
  start(bot: FakeBot, payload?: string): void
  say(bot: FakeBot, text: string): void
  /** Presses a button of a message. Returns the query's id. */
  press(bot: FakeBot, message_id: number, data: string): string
  block(bot: FakeBot): void
  unblock(bot: FakeBot): void
  deactivate(): void
  /** Joins or requests to join by a link; without one joins a public chat. Throws TelegramError for an unusable link. */
  join(chat: FakeChat, link?: string): void
  leave(chat: FakeChat): void
  kickedFrom(chat: FakeChat): void
  withdraw(chat: FakeChat): void
  /** Begins a payment, which sends the bot a checkout query. Returns its id. */
  checkout(bot: FakeBot, invoice: { payload: string; total_amount: number; currency?: string }): string
}

const stateOf = (world: World, { id }: { id: number }): BotState => world.bots.get(id) ?? missing()
const chatState = (world: World, { id }: { id: number }): ChatState => world.chats.get(id) ?? missing()
const missing = (): never => {
  throw new Error('this belongs to another fake')
}

export function makeBot(
  world: World,
  { username, name = 'A bot', token }: { username?: string; name?: string; token?: string } = {},
): FakeBot {
  const id = token === undefined ? randomInt(100_000, 9_999_999_999) : Number(token.split(':', 1)[0])
  const bot: BotState = {
    id,
    token: token ?? newToken(id),
    username: username ?? `made_${id}_bot`,
    name,
    hook: undefined,
    allowed: undefined,
    pending: [],
    attempts: [],
    last_error: undefined,
    gone_since: undefined,
    next_update: randomInt(1, 1_000_000_000),
    next_message: 1,
    sent: [],
    payments: [],
    checkouts: new Map(),
    callbacks: new Map(),
    balance: 0,
  }
  world.bots.set(id, bot)
  return {
    id,
    attempts: bot.attempts,
    get username() {
      return bot.username
    },
    get token() {
      return bot.token
    },
    get hook() {
      return bot.hook
    },
    get allowed() {
      return bot.allowed
    },
    get pending() {
      return bot.pending.length
    },
    sendUpdate: update => enqueueUpdate(world, bot, update),
    ...ofOthers(world, bot),
    ...ofMoney(world, bot),
  }
}

/** Actions of its owner, BotFather and other programs. */
function ofOthers(world: World, bot: BotState): Pick<FakeBot, 'revoke' | 'rename' | 'setHook' | 'removeHook'> {
  return {
    revoke() {
      bot.token = newToken(bot.id)
      bot.hook = undefined
      return bot.token
    },
    rename(to) {
      bot.username = to
    },
    setHook: (url, about = {}) => void world.run(bot, 'setWebhook', { url, ...about }),
    removeHook: () => void world.run(bot, 'deleteWebhook', {}),
  }
}

function ofMoney(world: World, bot: BotState): Pick<FakeBot, 'renew' | 'cancel' | 'refund' | 'missed'> {
  return {
    renew({ id: user }, { payload, total_amount, currency = 'XTR', is_first = false }) {
      const expires = Math.floor(world.now() / 1000) + 2_592_000
      const recurring = {
        is_recurring: true,
        ...(is_first ? { is_first_recurring: true } : {}),
        subscription_expiration_date: expires,
      }
      return paid(world, bot, { user, payment: { user, payload, total_amount, currency } }, recurring)
    },
    cancel(person, payload, state = 'canceled') {
      const found = world.people.get(person.id) ?? missing()
      enqueueUpdate(world, bot, { subscription: { user: personUser(found), invoice_payload: payload, state } })
    },
    missed({ id: user }, payment) {
      const charge_id = `charge-${bot.id}-${bot.payments.length + 1}`
      bot.payments.push({ charge_id, user, currency: 'XTR', ...payment })
      return charge_id
    },
    refund(charge_id) {
      const payment = bot.payments.find(one => one.charge_id === charge_id) ?? missing()
      payment.refunded_at = world.now()
      bot.balance -= payment.total_amount
      const { currency, total_amount, payload, user } = payment
      const refunded_payment = {
        currency,
        total_amount,
        invoice_payload: payload,
        telegram_payment_charge_id: charge_id,
      }
      enqueueUpdate(world, bot, {
        message: { ...head(world, bot, world.people.get(user) ?? missing()), refunded_payment },
      })
    },
  }
}

export function makeChat(
  world: World,
  { type = 'channel', title = 'Deals', username }: { type?: ChatState['type']; title?: string; username?: string } = {},
): FakeChat {
  const id = -1_000_000_000_000 - randomInt(1, 999_999_999)
  const chat: ChatState = {
    id,
    type,
    title,
    username,
    admins: new Map(),
    members: new Set(),
    requests: new Map(),
    guard: undefined,
    moved_to: undefined,
  }
  world.chats.set(id, chat)
  return {
    id,
    members: chat.members,
    promote(bot, rights = ['can_invite_users', 'can_post_messages']) {
      const was = chat.admins.has(bot.id) ? 'administrator' : 'left'
      chat.admins.set(bot.id, new Set(rights))
      sendOwnMemberUpdate(world, bot.id, chat, was, 'administrator')
    },
    demote(bot, is = 'left') {
      chat.admins.delete(bot.id)
      sendOwnMemberUpdate(world, bot.id, chat, 'administrator', is)
    },
    guardBy(bot) {
      chat.guard = bot?.id
    },
    setUsername(to) {
      chat.username = to
    },
    migrate(to) {
      chat.moved_to = to.id
    },
  }
}

export function makePerson(
  world: World,
  {
    first_name = 'Ann',
    username,
    language_code = 'en',
  }: { first_name?: string; username?: string; language_code?: string } = {},
): FakePerson {
  const id = randomInt(100_000, 7_000_000_000)
  const person: PersonState = {
    id,
    first_name,
    username,
    language_code,
    wrote_to: new Set(),
    blocked: new Set(),
    is_deactivated: false,
    asked: new Map(),
  }
  world.people.set(id, person)
  return { id, ...inPrivate(world, person), ...inChats(world, person) }
}

function inPrivate(
  world: World,
  person: PersonState,
): Omit<FakePerson, 'id' | 'join' | 'leave' | 'kickedFrom' | 'withdraw'> {
  const say = (bot: FakeBot, words: string) => {
    if (person.blocked.delete(bot.id)) sendOwnMemberUpdate(world, bot.id, person, 'kicked', 'member')
    person.wrote_to.add(bot.id)
    const state = stateOf(world, bot)
    enqueueUpdate(world, state, { message: { ...head(world, state, person), text: words } })
  }
  return {
    say,
    start: (bot, payload) => say(bot, payload === undefined ? '/start' : `/start ${payload}`),
    press(bot, message_id, data) {
      const state = stateOf(world, bot)
      const id = `${person.id}${state.callbacks.size + 1}`
      state.callbacks.set(id, { asked_at: world.now(), is_answered: false })
      const message = { message_id, date: 0, chat: { id: person.id, type: 'private' } }
      enqueueUpdate(world, state, {
        callback_query: { id, from: personUser(person), message, chat_instance: '1', data },
      })
      return id
    },
    block(bot) {
      person.blocked.add(bot.id)
      sendOwnMemberUpdate(world, bot.id, person, 'member', 'kicked')
    },
    unblock(bot) {
      if (person.blocked.delete(bot.id)) sendOwnMemberUpdate(world, bot.id, person, 'kicked', 'member')
    },
    deactivate() {
      person.is_deactivated = true
    },
    checkout(bot, { payload, total_amount, currency = 'XTR' }) {
      const state = stateOf(world, bot)
      const id = `${bot.id}${state.checkouts.size + 1}`
      const payment = { user: person.id, payload, total_amount, currency }
      state.checkouts.set(id, { asked_at: world.now(), user: person.id, payment })
      enqueueUpdate(world, state, {
        pre_checkout_query: { id, from: personUser(person), currency, total_amount, invoice_payload: payload },
      })
      return id
    },
  }
}

function inChats(world: World, person: PersonState): Pick<FakePerson, 'join' | 'leave' | 'kickedFrom' | 'withdraw'> {
  return {
    join(chat, url) {
      const state = chatState(world, chat)
      const link = url === undefined ? undefined : usableLink(world, url)
      if (link?.creates_join_request === true) requested(world, state, person.id, link)
      else joined(world, state, person.id, link)
    },
    leave: chat => left(world, chatState(world, chat), person.id, 'left'),
    kickedFrom: chat => left(world, chatState(world, chat), person.id, 'kicked'),
    withdraw: chat => void chatState(world, chat).requests.delete(person.id),
  }
}
