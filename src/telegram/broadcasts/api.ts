/** Broadcasts over HTTP: one message of a bot to many of its subscribers. Sessions only. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Money, Name, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'
import { Audience, AudienceAsked, HoursOfDay } from '../../contract/telegram-audience.ts'
import { Message } from '../../contract/telegram-message.ts'

export const STATES = ['draft', 'scheduled', 'preparing', 'sending', 'paused', 'done', 'stopped'] as const
export type BroadcastState = (typeof STATES)[number]
export const SEND_STATES = ['queued', 'sending', 'sent', 'blocked', 'gone', 'failed', 'unknown', 'skipped'] as const
export type SendState = (typeof SEND_STATES)[number]

/** What a bot may send in a second for nothing; thirty is Telegram's own limit. */
export const MOST_FREE = 28
export const MOST_PAID = 1000

const fields = {
  name: Name(),
  message: Message,
  audience: Audience,
  starts_at: Instant.nullable().meta({ description: 'When it begins by itself once it is started; null: at once' }),
  window: HoursOfDay.nullable().meta({ description: 'The hours in which it is sent; null: all' }),
  per_second: z
    .number()
    .int()
    .min(1)
    .max(MOST_PAID)
    .nullable()
    .meta({ description: `Messages a second, up to ${MOST_FREE}, paid up to ${MOST_PAID}; null: as fast as the bot` }),
  paid: z.boolean().meta({
    description: 'Telegram takes 0.1 Star for each message beyond its free limits, from the bot’s balance',
  }),
  on_unknown: z.enum(['skip', 'resend']).meta({
    description:
      'What is done where nobody knows whether a message arrived, because the answer was lost. skip: it is counted, resend: it is sent once more and may arrive twice',
  }),
}

export const Counts = z
  .object({
    recipients: z.number().int().meta({ description: 'All of them' }),
    queued: z.number().int().meta({ description: 'Not sent yet, or on the way' }),
    sent: z.number().int(),
    blocked: z.number().int().meta({ description: 'Have blocked the bot, as the attempt has shown' }),
    gone: z.number().int().meta({ description: 'Have deleted their account' }),
    failed: z.number().int().meta({ description: 'Telegram has refused the message' }),
    unknown: z.number().int().meta({ description: 'The answer was lost: it has arrived or it has not' }),
    skipped: z.number().int().meta({ description: 'Opted out or blocked meanwhile, or it was stopped' }),
  })
  .meta({ id: 'BroadcastCounts' })

const Afterwards = z
  .object({
    blocked: z.number().int().meta({ description: 'Have blocked the bot within 24 hours' }),
    conversions: z.number().int().meta({ description: 'Conversions of their clicks within 72 hours' }),
    revenue: Money.meta({ description: 'What these pay' }),
    at: Instant.meta({ description: 'When this was counted' }),
  })
  .meta({ id: 'BroadcastAfterwards', description: 'What those it was sent to did afterwards, whatever the reason' })

export const Broadcast = z
  .object({
    id: Id,
    bot_id: Id,
    ...fields,
    state: z.enum(STATES),
    pause_reason: z.string().nullable(),
    message_fault: z.string().nullable().meta({ description: 'Why the message cannot be sent' }),
    recipients: z.number().int().meta({ description: 'How many it is for; while it is prepared, so far' }),
    counts: Counts,
    pace: z.number().int().meta({ description: 'Messages a second it is to go at' }),
    started_by: z.string().nullable().meta({ description: 'The name of who started it' }),
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
  query: z.object({ ...paging, bot_id: Id.optional(), state: z.enum(STATES).optional() }),
  reply: Page(Broadcast),
})

export const createBroadcast = endpoint({
  route: 'POST /api/broadcasts',
  access: { session: 'admin' },
  summary: 'Create a broadcast as a draft',
  description:
    'Nothing is sent before it is started. A draft may hold a message that cannot be sent yet: message_fault.',
  body: BroadcastDraft,
  reply: Broadcast,
  status: 201,
  refuses: ['object_not_found'],
})

export const countAudience = endpoint({
  route: 'POST /api/broadcasts/audience',
  access: { session: 'member' },
  summary: 'Count who a broadcast would be for, with ten examples',
  body: z.strictObject({
    bot_id: Id,
    audience: AudienceAsked.optional(),
    per_second: fields.per_second.optional(),
    paid: z.boolean().optional(),
  }),
  reply: z.object({
    count: z.number().int(),
    seconds: z.number().int().meta({ description: 'How long it takes at this pace, outside of closed hours' }),
    stars: z.number().int().nullable().meta({ description: 'What it costs at most, in Stars; null: nothing' }),
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
  summary: 'Read a broadcast, with how far it is',
  reply: Broadcast,
  refuses: ['object_not_found'],
})

export const updateBroadcast = endpoint({
  route: 'PATCH /api/broadcasts/:id',
  access: { session: 'admin' },
  summary: 'Change the fields of a broadcast that are sent',
  description:
    'Only before it has begun. A scheduled one is a draft again, to be started anew, where starts_at becomes null, or where audience, paid or a higher speed change what was confirmed.',
  body: BroadcastChanges,
  reply: Broadcast,
  refuses: ['object_not_found', 'broadcast_state', 'broadcast_message_invalid'],
})

export const deleteBroadcast = endpoint({
  route: 'DELETE /api/broadcasts/:id',
  access: { session: 'admin' },
  summary: 'Delete a draft',
  description: 'A scheduled one is stopped first; what has begun is kept.',
  reply: Done,
  refuses: ['object_not_found', 'broadcast_state'],
})

export const testBroadcast = endpoint({
  route: 'POST /api/broadcasts/:id/test',
  access: { session: 'admin' },
  summary: 'Send the message to one subscriber now, marked [Test]',
  description: 'Counts nowhere. Send the subscriber’s id, or their Telegram user id.',
  body: z
    .strictObject({
      subscriber: Id.optional(),
      user: z
        .union([z.int().positive().transform(String), z.string().regex(/^\d{1,19}$/), Id])
        .optional()
        .meta({ description: 'The number Telegram knows the person by, or the subscriber’s id' }),
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
  summary: 'Start a broadcast, or have it start by itself at starts_at',
  description: 'Started twice it runs once: the second answer is how it stands.',
  body: z.strictObject({
    expected_recipients: z
      .number()
      .int()
      .min(0)
      .meta({ description: 'How many it is for, as you have seen it: more than 5 % beside it is refused' }),
    confirmation: z.string().optional().meta({ description: 'PAID, where it is paid' }),
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
  summary: 'Pause a broadcast: what is on its way is the last',
  reply: Broadcast,
  refuses: ['object_not_found', 'broadcast_state'],
})

export const resumeBroadcast = endpoint({
  route: 'POST /api/broadcasts/:id/resume',
  access: { session: 'admin' },
  summary: 'Go on with a paused broadcast',
  reply: Broadcast,
  refuses: ['object_not_found', 'broadcast_state', 'bot_token_revoked', 'telegram_away'],
})

export const stopBroadcast = endpoint({
  route: 'POST /api/broadcasts/:id/stop',
  access: { session: 'admin' },
  summary: 'End a broadcast: who is left is skipped',
  description: 'A scheduled one ends without having begun. What has ended stays as it is.',
  reply: Broadcast,
  refuses: ['object_not_found'],
})

export const resendUnknown = endpoint({
  route: 'POST /api/broadcasts/:id/unknown',
  access: { session: 'admin' },
  summary: 'Send once more to those of whom nobody knows whether it arrived',
  description: 'Whoever has it already gets it twice.',
  reply: Broadcast,
  refuses: ['object_not_found', 'broadcast_state', 'bot_token_revoked', 'telegram_away'],
})

export const listSends = endpoint({
  route: 'GET /api/broadcasts/:id/sends',
  access: { session: 'member' },
  summary: 'List the recipients of a broadcast, of one state or all',
  description: 'Kept until 90 days after its end; the counts stay.',
  query: z.object({ ...paging, state: z.enum(SEND_STATES).optional() }),
  reply: Page(
    z.object({
      id: Id.meta({ description: 'The subscriber' }),
      telegram_user_id: z.string(),
      name: z.string().nullable(),
      state: z.enum(SEND_STATES),
      reason: z.string().nullable(),
      click_id: Id.nullable(),
      message_id: z.string().nullable().meta({ description: 'The number of the message at Telegram' }),
      at: Instant,
    }),
  ),
  refuses: ['object_not_found'],
})
