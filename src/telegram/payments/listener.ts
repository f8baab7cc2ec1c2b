/** Records payments, refunds and cancelled subscriptions from updates. */
import { fieldsOf } from '../../contract/json.ts'
import type { UpdateListener } from '../bots/hook.ts'
import { telegramTime, clickIdIn, personId } from '../bots/update.ts'
import {
  noteCancelled,
  noteRefund,
  payloadHash,
  type Payment,
  recordCancellation,
  recordPayment,
  type PaymentRecording,
} from './recording.ts'

export const paymentListener =
  (recording: PaymentRecording): UpdateListener =>
  async (bot, update) => {
    const message = fieldsOf(update['message'])
    const payment = paymentOf(message)
    if (payment !== undefined) await recordPayment(recording, bot, payment)
    const { telegram_payment_charge_id: refunded } = fieldsOf(message['refunded_payment'])
    if (typeof refunded === 'string')
      await noteRefund(recording.db, bot, { charge_id: refunded, at: telegramTime(message['date']) })
    await recordSubscription(recording, bot, fieldsOf(update['subscription']), update['update_id'])
    return undefined
  }

function paymentOf({ successful_payment, from, date }: Readonly<Record<string, unknown>>): Payment | undefined {
  const paid = fieldsOf(successful_payment)
  const { telegram_payment_charge_id: charge_id, currency, total_amount, invoice_payload } = paid
  const telegram_user_id = personId(from)
  if (typeof charge_id !== 'string' || charge_id === '' || telegram_user_id === undefined) return undefined
  const expires = paid['subscription_expiration_date']
  return {
    telegram_user_id,
    charge_id,
    currency: typeof currency === 'string' ? currency : '',
    total_amount: Number.isSafeInteger(total_amount) ? Number(total_amount) : 0,
    invoice_payload: typeof invoice_payload === 'string' ? invoice_payload : '',
    kind: paid['is_recurring'] !== true ? 'one_off' : paid['is_first_recurring'] === true ? 'first' : 'renewal',
    paid_at: telegramTime(date),
    expires_at: typeof expires === 'number' ? telegramTime(expires) : null,
    found_by: 'update',
  }
}

/** A subscription can be cancelled, resumed and cancelled again; only the update id tells these cancellations apart. */
async function recordSubscription(
  recording: PaymentRecording,
  bot: Parameters<UpdateListener>[0],
  { user, state, invoice_payload }: Readonly<Record<string, unknown>>,
  update_id: unknown,
): Promise<void> {
  const telegram_user_id = personId(user)
  if (telegram_user_id === undefined || typeof update_id !== 'number') return
  const payload_hash = payloadHash(typeof invoice_payload === 'string' ? invoice_payload : '')
  const subscription = { telegram_user_id, payload_hash }
  if (state === 'active') await noteCancelled(recording.db, bot, subscription, null)
  if (state !== 'canceled') return
  await recordCancellation(recording, bot, {
    ...subscription,
    nonce: `${update_id}`,
    named_click: clickIdIn(invoice_payload),
  })
}
