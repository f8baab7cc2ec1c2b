/**
 * Records payments as conversions. Owns `payments`. Bot and charge id identify a payment, so that a repeated update or an entry in the list of Stars is the
 * same payment. It counts on the click in its invoice, for a renewal on the click of the subscription's first payment, otherwise on the click of the
 * person's start. Its payout is the amount paid, not the offer's payout.
 */
import { hash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { newId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import type { Conversions } from '../../intake/events/conversions.ts'
import { clickOfBotStart } from '../bots/hook.ts'
import { isOrganic } from '../bots/organic.ts'
import { clickIdIn, storableText } from '../bots/update.ts'
import { payoutOf } from './amounts.ts'

export type PaymentRecording = Pick<Ground, 'db'> & { readonly conversions: Pick<Conversions, 'recordOwn'> }

export type PayingBot = { readonly org_id: number; readonly id: string; readonly stars_rate: string | null }

/** A payment as Telegram reports it. `total_amount` is in the currency's smallest unit; times are ISO 8601. */
export type Payment = {
  readonly telegram_user_id: string
  readonly charge_id: string
  readonly currency: string
  readonly total_amount: number
  readonly invoice_payload: string
  readonly kind: 'one_off' | 'first' | 'renewal'
  readonly paid_at: string
  readonly expires_at: string | null
  readonly found_by: 'update' | 'look'
}

/** Identifies what an invoice was for. The payload itself is the seller's and is not stored. */
export const payloadHash = (invoice_payload: string): Buffer => hash('sha256', invoice_payload, 'buffer')

/** Records a payment and its conversion; false if it was recorded before. */
export async function recordPayment(
  { db, conversions }: PaymentRecording,
  bot: PayingBot,
  payment: Payment,
): Promise<boolean> {
  const { org_id, id: bot_id } = bot
  const { charge_id, telegram_user_id, currency, total_amount, invoice_payload, kind, ...times } = payment
  const known = await db
    .selectFrom('payments')
    .select('id')
    .where('org_id', '=', org_id)
    .where('bot_id', '=', bot_id)
    .where('charge_id', '=', charge_id)
    .executeTakeFirst()
  if (known !== undefined) return false
  const payload_hash = payloadHash(invoice_payload)
  const person = { org_id, bot_id, telegram_user_id }
  const clicks = [
    async () => clickIdIn(invoice_payload),
    async () => (kind === 'renewal' ? await firstClick(db, person, payload_hash) : undefined),
    async () => await clickOfBotStart(db, person),
  ]
  const payout = payoutOf(currency, total_amount, bot.stars_rate)
  const event = await recordOnFirstClick(conversions, clicks, {
    ...person,
    type: kind === 'renewal' ? 'subscription_renewed' : 'purchase',
    nonce: charge_id,
    payload: { currency: storableText(currency), total_amount },
    payout,
  })
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('payments')
    .values({
      ...person,
      ...times,
      charge_id,
      id: newId(),
      click_id: event?.click_id ?? null,
      event_id: event?.id ?? null,
      currency,
      total_amount: String(total_amount),
      payout,
      kind,
      payload_hash,
    })
    .onConflict(on => on.columns(['org_id', 'bot_id', 'charge_id']).doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

type Person = { readonly org_id: number; readonly bot_id: string; readonly telegram_user_id: string }

/** The click of the person's first payment with the same payload. */
async function firstClick(db: Kysely<Tables>, person: Person, payload_hash: Buffer): Promise<string | undefined> {
  const first = await db
    .selectFrom('payments')
    .select('click_id')
    .where('org_id', '=', person.org_id)
    .where('bot_id', '=', person.bot_id)
    .where('telegram_user_id', '=', person.telegram_user_id)
    .where('payload_hash', '=', payload_hash)
    .where('click_id', 'is not', null)
    .orderBy('paid_at')
    .limit(1)
    .executeTakeFirst()
  return first?.click_id ?? undefined
}

type PaymentEvent = Person & {
  readonly type: 'purchase' | 'subscription_renewed' | 'subscription_cancelled'
  readonly nonce: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly payout: string | null
}

/**
 * Records the conversion on the first of these clicks that exists: an id in an invoice may look like a click id and be an order's. Undefined if the person
 * has no click of this organization.
 */
async function recordOnFirstClick(
  conversions: PaymentRecording['conversions'],
  clicks: readonly (() => Promise<string | undefined>)[],
  event: PaymentEvent,
): Promise<{ id: string; click_id: string } | undefined> {
  for (const clickOf of clicks) {
    const click_id = await clickOf()
    if (click_id === undefined) continue
    try {
      const { id } = (await conversions.recordOwn({ ...event, click_id })).event
      return { id, click_id }
    } catch (error) {
      if (!isOrganic(error)) throw error
    }
  }
  return undefined
}

/** Records the time of a refund. The payout and the conversion stay as they were recorded. */
export async function noteRefund(
  db: Kysely<Tables>,
  { org_id, id: bot_id }: Pick<PayingBot, 'org_id' | 'id'>,
  { charge_id, at }: { charge_id: string; at: string },
): Promise<void> {
  await db
    .updateTable('payments')
    .set({ refunded_at: at })
    .where('org_id', '=', org_id)
    .where('bot_id', '=', bot_id)
    .where('charge_id', '=', charge_id)
    .where('refunded_at', 'is', null)
    .execute()
}

type Subscription = { readonly telegram_user_id: string; readonly payload_hash: Buffer }

/** Records that a subscription was cancelled, or ended without renewal. `nonce` tells repeated cancellations apart. */
export async function recordCancellation(
  { db, conversions }: PaymentRecording,
  { org_id, id: bot_id }: Pick<PayingBot, 'org_id' | 'id'>,
  {
    telegram_user_id,
    payload_hash,
    nonce,
    named_click,
  }: Subscription & { nonce: string; named_click?: string | undefined },
): Promise<void> {
  const person = { org_id, bot_id, telegram_user_id }
  const clicks = [
    async () => named_click,
    () => firstClick(db, person, payload_hash),
    () => clickOfBotStart(db, person),
  ]
  const event = { ...person, type: 'subscription_cancelled', nonce, payload: {}, payout: null } as const
  await recordOnFirstClick(conversions, clicks, event)
  await noteCancelled(db, { org_id, id: bot_id }, { telegram_user_id, payload_hash }, new Date().toISOString())
}

/** Sets the time of cancellation on the subscription's payments; null for a resumed subscription. */
export async function noteCancelled(
  db: Kysely<Tables>,
  { org_id, id: bot_id }: Pick<PayingBot, 'org_id' | 'id'>,
  { telegram_user_id, payload_hash }: Subscription,
  at: string | null,
): Promise<void> {
  await sql`
    update payments set cancelled_at = ${at}
    where org_id = ${org_id} and bot_id = ${bot_id} and telegram_user_id = ${telegram_user_id}
      and payload_hash = ${payload_hash} and expires_at is not null`.execute(db)
}
