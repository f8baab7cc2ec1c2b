/** Subscribers of bots over HTTP. No right covers them: a key is refused everywhere here. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Done, Id, Instant, Money, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'
import { Country } from '../../contract/telegram-audience.ts'

const STANDINGS = ['reachable', 'blocked', 'gone', 'unreachable'] as const
export type Reachability = (typeof STANDINGS)[number]

/** Those who can be written to and want no broadcasts are told apart from those who can. */
export const STATES = [...STANDINGS, 'opted_out'] as const
const State = z.enum(STATES).meta({
  description:
    'reachable: the bot may write to them. opted_out: they asked for no more broadcasts. blocked: they have blocked the bot. gone: the account is deleted. unreachable: Telegram does not let the bot write to them',
})

export const SOURCES = ['start', 'message', 'payment', 'mini_app', 'import'] as const
const Source = z.enum(SOURCES).meta({ description: 'How Sluice first heard of the person' })
export type Source = z.output<typeof Source>

const PersonNumber = z.string().meta({ description: 'Telegram’s number of the person' })

export const Subscriber = z
  .object({
    id: Id,
    bot_id: Id,
    telegram_user_id: PersonNumber,
    state: State,
    state_at: Instant.nullable().meta({
      description: 'Telegram’s time of it; null: nothing has been heard since an import',
    }),
    since: Instant.meta({
      description:
        'Since when they are in this state, as far as it is known: when it was last told, else when Sluice first heard of the person',
    }),
    opted_out_at: Instant.nullable(),
    source: Source,
    created_at: Instant.meta({ description: 'When Sluice first heard of the person' }),
    started_at: Instant.nullable().meta({ description: 'The newest start' }),
    last_seen_at: Instant.nullable(),
    language: z.string().nullable().meta({ description: 'As the person’s app is set, such as en' }),
    name: z.string().nullable().meta({ description: 'First name; only where the bot keeps names' }),
    click_id: Id.nullable().meta({ description: 'The click of the newest start, launch or payment that named one' }),
    campaign_id: Id.nullable(),
  })
  .meta({ id: 'Subscriber' })

const Moment = Instant.optional()

export const listSubscribers = endpoint({
  route: 'GET /api/subscribers',
  access: { session: 'member' },
  summary: 'List who bots may write to, newest first',
  query: z.object({
    ...paging,
    bot_id: Id.optional(),
    state: z.enum(STATES).optional(),
    source: z.enum(SOURCES).optional(),
    campaign_id: Id.optional(),
    language: z.string().min(1).max(35).optional(),
    event: EventType.optional().meta({ description: 'Who has such a conversion on the click they came over' }),
    has_no_event: EventType.optional().meta({ description: 'Who has none such on it' }),
    geo: Country.optional().meta({ description: 'Whose click came from this country' }),
    sub1: z.string().min(1).max(500).optional().meta({ description: 'Whose click has this sub1' }),
    channel_in: Id.optional().meta({ description: 'Who is in this channel' }),
    channel_not_in: Id.optional().meta({ description: 'Who is not in this channel' }),
    started_from: Moment.meta({ description: 'Whose newest start is not before' }),
    started_to: Moment.meta({ description: 'Whose newest start is before' }),
    from: Moment.meta({ description: 'First heard of from then on' }),
    to: Moment.meta({ description: 'And until then, inclusive' }),
    telegram_user_id: z
      .string()
      .regex(/^\d{1,19}$/, { message: 'must be a number of Telegram’s' })
      .optional(),
  }),
  reply: Page(Subscriber),
})

export const countSubscribers = endpoint({
  route: 'GET /api/subscribers/counts',
  access: { session: 'member' },
  summary: 'How many subscribers each bot has, by state',
  reply: z.object({
    data: z.array(
      z.object({
        bot_id: Id,
        reachable: z.number().int(),
        opted_out: z.number().int(),
        blocked: z.number().int(),
        gone: z.number().int(),
        unreachable: z.number().int(),
        started_7d: z.number().int().meta({ description: 'Whose newest start is of the last seven days' }),
      }),
    ),
  }),
})

const Step = z.object({ id: Id, at: Instant })

export const readSubscriber = endpoint({
  route: 'GET /api/subscribers/:id',
  access: { session: 'member' },
  summary: 'Read a subscriber, and what is known of the person',
  description: 'The newest 100 of each kind.',
  reply: z.object({
    subscriber: Subscriber,
    bots: z
      .array(z.object({ id: Id, subscriber_id: Id, username: z.string(), state: State }))
      .meta({ description: 'Every bot of the workspace that knows the person' }),
    click: z
      .object({
        id: Id,
        at: Instant,
        campaign_id: Id.nullable(),
        campaign: z.string().nullable(),
        country: z.string().nullable(),
      })
      .nullable(),
    events: z.array(Step.extend({ type: EventType, click_id: Id, payout: Money.nullable() })),
    payments: z.array(
      Step.extend({
        bot_id: Id,
        amount: z.string(),
        currency: z.string(),
        payout: Money.nullable(),
        refunded_at: Instant.nullable(),
      }),
    ),
    tasks: z.array(
      Step.extend({
        bot_id: Id,
        kind: z.string(),
        state: z.enum(['waiting', 'done', 'gone', 'failed']),
        reason: z.string().nullable(),
      }),
    ),
    channels: z.array(
      Step.extend({ channel_id: Id, title: z.string(), state: z.string(), certainty: z.string().nullable() }),
    ),
    broadcasts: z.array(
      z.object({ broadcast_id: Id, name: z.string(), at: Instant, state: z.string(), reason: z.string().nullable() }),
    ),
  }),
  refuses: ['object_not_found'],
})

export const forgetSubscriber = endpoint({
  route: 'DELETE /api/subscribers/:id',
  access: { session: 'admin' },
  summary: 'Forget a person',
  description:
    'In every bot, channel and broadcast of the workspace. Payments lose the person; conversions and charges keep the number, because people are counted by it. Who writes to a bot again is a new subscriber.',
  reply: Done,
  refuses: ['object_not_found'],
})

/** Of one call. */
export const MOST_IMPORTED = 50_000

export const SubscriberImport = z.object({
  user_ids: z
    .array(
      z
        .union([z.number(), z.string().trim()])
        .transform(String)
        .pipe(z.string().regex(/^[1-9]\d{0,15}$/, { message: 'must be the number of a person at Telegram' }))
        .meta({ description: 'A number or a text of digits' }),
    )
    .min(1, { message: 'must hold somebody' })
    .max(MOST_IMPORTED, { message: `may hold ${MOST_IMPORTED.toLocaleString('en-US')} people a call` })
    .meta({ description: 'Telegram’s numbers of people' }),
  started_the_bot: z.literal(true, { message: 'must be true: say that these people have started this very bot' }).meta({
    description: 'Your word that these people have started this very bot: Telegram lets it write to no others',
  }),
})

export const importSubscribers = endpoint({
  route: 'POST /api/bots/:id/subscribers',
  access: { session: 'admin' },
  summary: 'Take in people who have started a bot before Sluice knew it',
  description: 'Those who are known already stay as they are.',
  body: SubscriberImport,
  reply: z.object({ added: z.number().int(), known: z.number().int() }),
  refuses: ['object_not_found', 'subscriber_limit'],
})
