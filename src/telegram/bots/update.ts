/**
 * What an update of Telegram's says that is a conversion: a start, a join or a request to join, a payment, a subscription that ends. The
 * click is named by the start's payload, by the name of the invite link or by the invoice's payload; else it is that of the person's start.
 */
import type { EventType } from '../../contract/event-types.ts'
import { toUuid } from '../../contract/ids.ts'
import { fieldsOf } from '../../contract/json.ts'
import { clickOfStart } from '../../contract/telegram.ts'

/** `click_id` as the update names it; `nonce` tells two of one type on one click apart, and is the same however often Telegram tells. */
export type Told = {
  readonly type: EventType
  readonly click_id: string | undefined
  readonly telegram_user_id: string
  readonly nonce: string
  readonly payload: Readonly<Record<string, unknown>>
}
type Fields = Readonly<Record<string, unknown>>

/** The conversion an update tells of, or undefined. */
export function toldBy(update: unknown): Told | undefined {
  const { message, chat_member, chat_join_request, subscription, update_id } = fieldsOf(update)
  return (
    startOf(fieldsOf(message)) ??
    paymentOf(fieldsOf(message)) ??
    joinOf(fieldsOf(chat_member)) ??
    requestOf(fieldsOf(chat_join_request)) ??
    cancellationOf(fieldsOf(subscription), update_id)
  )
}

const START = /^\/start(?:@\w+)? (\S+)\s*$/

/** A private message `/start <parameter>` by a person, whose parameter hands on a click. */
function startOf({ text, chat, from }: Fields): Told | undefined {
  if (fieldsOf(chat)['type'] !== 'private' || typeof text !== 'string') return undefined
  const click_id = clickOfStart(START.exec(text)?.[1] ?? '')
  if (click_id === undefined) return undefined
  return told('bot_start', from, { click_id, nonce: '', payload: {} })
}

/** Stars or money that has arrived: a purchase, or a subscription's next month. The amount is in the smallest unit, as Telegram gives it. */
function paymentOf({ successful_payment, from }: Fields): Told | undefined {
  const payment = fieldsOf(successful_payment)
  const { telegram_payment_charge_id: nonce, currency, total_amount, invoice_payload } = payment
  if (typeof nonce !== 'string' || nonce === '') return undefined
  const isRenewal = payment['is_recurring'] === true && payment['is_first_recurring'] !== true
  return told(isRenewal ? 'subscription_renewed' : 'purchase', from, {
    click_id: named(invoice_payload),
    nonce,
    payload: { currency: textOf(currency), total_amount: typeof total_amount === 'number' ? total_amount : null },
  })
}

/** As it can be stored. */
const textOf = (said: unknown): string | null =>
  typeof said === 'string' ? said.toWellFormed().replaceAll('\0', '').slice(0, 256) : null

const CHATS = new Set<unknown>(['channel', 'supergroup', 'group'])

/** Somebody who was outside of a channel or group is in it. Who leaves and joins again has joined once. */
function joinOf({ chat, old_chat_member, new_chat_member, invite_link }: Fields): Told | undefined {
  const { id, type, title } = fieldsOf(chat)
  const { user } = fieldsOf(new_chat_member)
  if (!CHATS.has(type) || isIn(fieldsOf(old_chat_member)) || !isIn(fieldsOf(new_chat_member))) return undefined
  return inChat('channel_join', user, { id, title }, invite_link)
}

function requestOf({ chat, from, invite_link }: Fields): Told | undefined {
  const { id, title } = fieldsOf(chat)
  return inChat('join_request', from, { id, title }, invite_link)
}

function inChat(type: EventType, user: unknown, { id, title }: Fields, link: unknown): Told | undefined {
  if (typeof id !== 'number') return undefined
  return told(type, user, {
    click_id: named(fieldsOf(link)['name']),
    nonce: `${id} ${String(fieldsOf(user)['id'])}`,
    payload: { chat_id: id, ...(typeof title === 'string' ? { chat_title: textOf(title) } : {}) },
  })
}

/** A subscription may be cancelled, taken up and cancelled again: nothing but the update tells one time from the other. */
function cancellationOf({ user, state, invoice_payload }: Fields, update_id: unknown): Told | undefined {
  if (state !== 'canceled' || typeof update_id !== 'number') return undefined
  return told('subscription_cancelled', user, { click_id: named(invoice_payload), nonce: `${update_id}`, payload: {} })
}

/** Undefined unless `user` is a person Telegram knows. */
function told(type: EventType, user: unknown, rest: Omit<Told, 'type' | 'telegram_user_id'>): Told | undefined {
  const { id, is_bot } = fieldsOf(user)
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id <= 0 || is_bot === true) return undefined
  return { type, telegram_user_id: String(id), ...rest }
}

/** A click's id in any form; its short one fits the 32 characters of an invite link's name. */
function named(name: unknown): string | undefined {
  return typeof name === 'string' ? toUuid(name) : undefined
}

const INSIDE = new Set<unknown>(['creator', 'administrator', 'member'])

function isIn({ status, is_member }: Fields): boolean {
  return INSIDE.has(status) || (status === 'restricted' && is_member === true)
}
