/** Broadcasts over HTTP: one message of a bot to many of its subscribers. Sessions only. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Money, Name, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'
import { Audience, AudienceAsked, HoursOfDay } from '../../contract/telegram-audience.ts'
import { Message } from '../../contract/telegram-message.ts'

const BROADCAST_STATES = ['draft', 'scheduled', 'preparing', 'sending', 'paused', 'done', 'stopped'] as const
export type BroadcastState = (typeof BROADCAST_STATES)[number]
export const SEND_STATES = ['queued', 'sending', 'sent', 'blocked', 'gone', 'failed', 'unknown', 'skipped'] as const
export type SendState = (typeof SEND_STATES)[number]

/** Free messages per second. Telegram's own limit is 30. */
export const MOST_FREE = 28
export const MOST_PAID = 1000

const fields = {
  name: Name(),
  message: Message,
  audience: Audience,
  starts_at: Instant.nullable().meta({
    description: 'When it starts automatically after it was scheduled; null: at once',
  }),
  window: HoursOfDay.nullable().meta({ description: 'The hours in which it is sent; null: any time' }),
  per_second: z
    .number()
    .int()
    .min(1)
    .max(MOST_PAID)
    .nullable()
    .meta({
      description: `Messages per second, up to ${MOST_FREE}, paid up to ${MOST_PAID}; null: the bot’s own limit`,
    }),
  paid: z.boolean().meta({
    description: 'Telegram charges the bot’s balance 0.1 Star for each message beyond its free limit',
  }),
  on_unknown: z.enum(['skip', 'resend']).meta({
    description:
      'What happens if Telegram’s answer to a message was lost. skip: the message counts as unknown. resend: it is sent once more and may arrive twice',
  }),
}

const SendCounts = z
  .object({
    recipients: z.number().int().meta({ description: 'All of them' }),
    queued: z.number().int().meta({ description: 'Not sent yet, or being sent' }),
    sent: z.number().int(),
    blocked: z.number().int().meta({ description: 'They had blocked the bot' }),
    gone: z.number().int().meta({ description: 'Their account was deleted' }),
    failed: z.number().int().meta({ description: 'Telegram rejected the message' }),
    unknown: z.number().int().meta({ description: 'Telegram’s answer was lost: the message may have arrived' }),
    skipped: z
      .number()
      .int()
      .meta({ description: 'They unsubscribed or blocked the bot before their turn, or the broadcast was stopped' }),
  })
  .meta({ id: 'BroadcastCounts' })

const Afterwards = z
  .object({
    blocked: z.number().int().meta({ description: 'Recipients who blocked the bot within 24 hours' }),
    conversions: z.number().int().meta({ description: 'Conversions on their clicks within 72 hours' }),
    revenue: Money.meta({ description: 'The revenue of these conversions' }),
    at: Instant.meta({ description: 'When this was counted' }),
  })
  .meta({ id: 'BroadcastAfterwards', description: 'What recipients did afterwards, whatever the reason' })

export const Broadcast = z
  .object({
    id: Id,
    bot_id: Id,
    ...fields,
    state: z.enum(BROADCAST_STATES),
    pause_reason: z.string().nullable(),
    message_fault: z.string().nullable().meta({ description: 'Why the message cannot be sent' }),
    recipients: z.number().int().meta({ description: 'Number of recipients; while preparing, the number so far' }),
    counts: SendCounts,
    pace: z.number().int().meta({ description: 'Messages per second it aims for' }),
    started_by: z.string().nullable().meta({ description: 'The name of the person who started it' }),
    afterwards: Afterwards.nullable(),
    created_at: Instant,
    updated_at: Instant,
    started_at: Instant.nullable(),
    ended_at: Instant.nullable(),
  })
  .meta({ id: 'Broadcast' })
export type Broadcast = z.output<typeof Broadcast>

const BroadcastDraft = z
  .strictObject({
    bot_id: Id,
    name: fields.name,
    message: Message,
    audience: AudienceAsked.optional(),
    starts_at: fields.starts_at.optional(),
    window: fields.window.optional(),
    per_second: fields.per_second.optional(),
    paid: fields.paid.optional(),
    on_unknown: fields.on_unknown.optional(),
  })
  .meta({ id: 'BroadcastDraft' })

const BroadcastChanges = BroadcastDraft.omit({ bot_id: true }).partial().meta({ id: 'BroadcastChanges' })

export const listBroadcasts = endpoint({
  route: 'GET /api/broadcasts',
  access: { session: 'member' },
  summary: 'List broadcasts, newest first',
  query: z.object({ ...paging, bot_id: Id.optional(), state: z.enum(BROADCAST_STATES).optional() }),
  reply: Page(Broadcast),
})

export const createBroadcast = endpoint({
  route: 'POST /api/broadcasts',
  access: { session: 'admin' },
  history: 'broadcast',
  summary: 'Create a broadcast as a draft',
  description:
    'Nothing is sent before it is started. A draft may have a message that cannot be sent yet; message_fault says why.',
  body: BroadcastDraft,
  reply: Broadcast,
  status: 201,
  refuses: ['object_not_found'],
})

export const countAudience = endpoint({
  route: 'POST /api/broadcasts/audience',
  access: { session: 'member' },
  history: { none: 'it only counts' },
  summary: 'Count the audience of a broadcast, with ten examples',
  body: z.strictObject({
    bot_id: Id,
    audience: AudienceAsked.optional(),
    per_second: fields.per_second.optional(),
    paid: z.boolean().optional(),
  }),
  reply: z.object({
    count: z.number().int(),
    seconds: z.number().int().meta({ description: 'How long sending takes at this speed, without waiting hours' }),
    stars: z.number().int().nullable().meta({ description: 'The highest cost in Stars; null: free' }),
    examples: z.array(
      z.object({
        id: Id,
        telegram_user_id: z.string(),
        name: z.string().nullable(),
        language: z.string().nullable(),
        campaign_id: Id.nullable(),
        started_at: Instant.nullable(),
      }),
    ),
  }),
  refuses: ['object_not_found'],
})

export const readBroadcast = endpoint({
  route: 'GET /api/broadcasts/:id',
  access: { session: 'member' },
  summary: 'Read a broadcast and its progress',
  reply: Broadcast,
  refuses: ['object_not_found'],
})

export const updateBroadcast = endpoint({
  route: 'PATCH /api/broadcasts/:id',
  access: { session: 'admin' },
  history: 'broadcast',
  summary: 'Change fields of a broadcast',
  description:
    'Only before it has started. A scheduled broadcast becomes a draft again if starts_at becomes null or if audience, paid or a higher speed change what was confirmed.',
  body: BroadcastChanges,
  reply: Broadcast,
  refuses: ['object_not_found', 'broadcast_state', 'broadcast_message_invalid'],
})

export const deleteBroadcast = endpoint({
  route: 'DELETE /api/broadcasts/:id',
  access: { session: 'admin' },
  history: 'broadcast',
  summary: 'Delete a draft',
  description: 'Stop a scheduled broadcast first. A broadcast that has started cannot be deleted.',
  reply: Done,
  refuses: ['object_not_found', 'broadcast_state'],
})

export const testBroadcast = endpoint({
  route: 'POST /api/broadcasts/:id/test',
  access: { session: 'admin' },
  history: { none: 'it sends a test message and stores nothing' },
  summary: 'Send the message to one subscriber now, marked [Test]',
  description: 'The test is not counted. Send the subscriber’s id, or their Telegram user id.',
  body: z
    .strictObject({
      subscriber: Id.optional(),
      user: z
        .union([z.int().positive().transform(String), z.string().regex(/^\d{1,19}$/), Id])
        .optional()
        .meta({ description: 'The person’s Telegram id, or the subscriber’s id' }),
    })
    .refine(({ subscriber, user }) => (subscriber === undefined) !== (user === undefined), {
      message: 'send one of subscriber and user',
    }),
  reply: z.object({
    is_sent: z.boolean(),
    reason: z.string().nullable().meta({ description: 'Why it was not, in Telegram’s words' }),
  }),
  refuses: ['object_not_found', 'broadcast_message_invalid', 'bot_token_revoked', 'telegram_away'],
})

export const startBroadcast = endpoint({
  route: 'POST /api/broadcasts/:id/start',
  access: { session: 'admin' },
  history: 'broadcast',
  summary: 'Start a broadcast, or schedule it for starts_at',
  description: 'A second start is a no-op that answers the current state.',
  body: z.strictObject({
    expected_recipients: z
      .number()
      .int()
      .min(0)
      .meta({ description: 'The number of recipients you expect; a difference of more than 5 % is refused' }),
    confirmation: z.string().optional().meta({ description: 'PAID, for a paid broadcast' }),
  }),
  reply: Broadcast,
  refuses: [
    'object_not_found',
    'broadcast_state',
    'broadcast_limit',
    'broadcast_audience_changed',
    'broadcast_message_invalid',
    'broadcast_payment_unconfirmed',
    'bot_token_revoked',
    'telegram_away',
  ],
})

export const pauseBroadcast = endpoint({
  route: 'POST /api/broadcasts/:id/pause',
  access: { session: 'admin' },
  history: 'broadcast',
  summary: 'Pause a broadcast after the messages being sent',
  reply: Broadcast,
  refuses: ['object_not_found', 'broadcast_state'],
})

export const resumeBroadcast = endpoint({
  route: 'POST /api/broadcasts/:id/resume',
  access: { session: 'admin' },
  history: 'broadcast',
  summary: 'Resume a paused broadcast',
  reply: Broadcast,
  refuses: ['object_not_found', 'broadcast_state', 'bot_token_revoked', 'telegram_away'],
})

export const stopBroadcast = endpoint({
  route: 'POST /api/broadcasts/:id/stop',
  access: { session: 'admin' },
  history: { in: 'broadcast' },
  summary: 'Stop a broadcast and skip the remaining recipients',
  description: 'A scheduled broadcast ends without sending. Stopping an ended broadcast is a no-op.',
  reply: Broadcast,
  refuses: ['object_not_found'],
})

export const resendUnknown = endpoint({
  route: 'POST /api/broadcasts/:id/unknown',
  access: { session: 'admin' },
  history: { none: 'it sends messages again; each recipient has a record of its own' },
  summary: 'Send again to recipients whose outcome is unknown',
  description: 'Recipients who already have the message get it twice.',
  reply: Broadcast,
  refuses: ['object_not_found', 'broadcast_state', 'bot_token_revoked', 'telegram_away'],
})

export const listSends = endpoint({
  route: 'GET /api/broadcasts/:id/sends',
  access: { session: 'member' },
  summary: 'List the recipients of a broadcast, of one state or all',
  description: 'Stored until 90 days after the end; the counts stay.',
  query: z.object({ ...paging, state: z.enum(SEND_STATES).optional() }),
  reply: Page(
    z.object({
      id: Id.meta({ description: 'The subscriber' }),
      telegram_user_id: z.string(),
      name: z.string().nullable(),
      state: z.enum(SEND_STATES),
      reason: z.string().nullable(),
      click_id: Id.nullable(),
      message_id: z.string().nullable().meta({ description: 'The message id at Telegram' }),
      at: Instant,
    }),
  ),
  refuses: ['object_not_found'],
})
