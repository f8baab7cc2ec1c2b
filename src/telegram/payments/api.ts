/** Payments through bots over HTTP. No right covers them: a key is refused. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Id, Instant, Money, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'

export const KINDS = ['one_off', 'first', 'renewal'] as const

export const Payment = z
  .object({
    id: Id,
    bot_id: Id,
    bot: z.string().meta({ description: 'The bot’s name, without @' }),
    subscriber_id: Id.nullable().meta({ description: 'null: the person is no subscriber, or was forgotten' }),
    telegram_user_id: z.string().nullable().meta({ description: 'null: the person was forgotten' }),
    charge_id: z.string().meta({ description: 'The payment’s id at Telegram' }),
    kind: z.enum(KINDS).meta({ description: 'first and renewal are payments of a subscription' }),
    amount: z.string().meta({ description: 'In its currency, a decimal string', examples: ['250'] }),
    total_amount: z
      .number()
      .int()
      .meta({ description: 'In the currency’s smallest unit, as Telegram reports it', examples: [250] }),
    currency: z.string().meta({ description: 'XTR is Stars' }),
    payout: Money.nullable().meta({
      description: 'The payout of its conversion; null: Stars without a rate, or another currency than USD',
    }),
    paid_at: Instant,
    expires_at: Instant.nullable().meta({ description: 'The end of the paid period of a subscription' }),
    refunded_at: Instant.nullable(),
    cancelled_at: Instant.nullable().meta({
      description: 'When a subscription was cancelled, or ended without renewal or cancellation',
    }),
    found_by: z
      .enum(['update', 'look'])
      .meta({ description: 'update: reported by Telegram. look: found in the bot’s list of Star transactions' }),
    click_id: Id.nullable(),
    event_id: Id.nullable().meta({ description: 'The conversion; null: there is no click' }),
  })
  .meta({ id: 'Payment' })

export const listPayments = endpoint({
  route: 'GET /api/payments',
  access: { session: 'member' },
  summary: 'List payments through bots, newest first',
  query: z.object({
    ...paging,
    bot_id: Id.optional(),
    kind: z.enum(KINDS).optional(),
    is_refunded: z.enum(['true', 'false']).optional(),
    from: Instant.optional().meta({ description: 'Paid at or after this time' }),
    to: Instant.optional().meta({ description: 'Paid at or before this time' }),
  }),
  reply: Page(Payment),
})
