/** Subscribers of bots over HTTP. No right covers them: a key is refused everywhere here. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Done, Id, Instant, Money, Page } from '../../contract/fields.ts'
import { listFile, pickedFile } from '../../contract/list-files.ts'
import { paging } from '../../contract/paging.ts'
import { Country } from '../../contract/telegram-audience.ts'

const REACHABILITIES = ['reachable', 'blocked', 'gone', 'unreachable'] as const
export type Reachability = (typeof REACHABILITIES)[number]

/** `opted_out` replaces `reachable` for people who want no broadcasts. */
export const SUBSCRIBER_STATES = [...REACHABILITIES, 'opted_out'] as const
const State = z.enum(SUBSCRIBER_STATES).meta({
  description:
    'reachable: the bot may message them. opted_out: they want no more broadcasts. blocked: they have blocked the bot. gone: the account is deleted. unreachable: Telegram does not let the bot message them',
})

export const SOURCES = ['start', 'message', 'payment', 'mini_app', 'import'] as const
const SubscriberSource = z.enum(SOURCES).meta({ description: 'What made the person a subscriber' })
export type SubscriberSource = z.output<typeof SubscriberSource>

const PersonNumber = z.string().meta({ description: 'The person’s user id at Telegram' })

export const Subscriber = z
  .object({
    id: Id,
    bot_id: Id,
    telegram_user_id: PersonNumber,
    state: State,
    state_at: Instant.nullable().meta({
      description: 'When Telegram last reported the state; null: not since an import',
    }),
    since: Instant.meta({
      description:
        'The start of the state as far as it is known: the opt-out, the last report of the state, or else created_at',
    }),
    opted_out_at: Instant.nullable(),
    source: SubscriberSource,
    created_at: Instant.meta({ description: 'When the person became a subscriber' }),
    started_at: Instant.nullable().meta({ description: 'The newest start' }),
    last_seen_at: Instant.nullable(),
    language: z.string().nullable().meta({ description: 'The language of the person’s app, such as en' }),
    name: z.string().nullable().meta({ description: 'First name; only if the bot keeps names' }),
    click_id: Id.nullable().meta({ description: 'The click of the newest start, launch or payment that has one' }),
    campaign_id: Id.nullable(),
  })
  .meta({ id: 'Subscriber' })

const Moment = Instant.optional()

const filters = {
  bot_id: Id.optional(),
  state: z.enum(SUBSCRIBER_STATES).optional(),
  source: z.enum(SOURCES).optional(),
  campaign_id: Id.optional(),
  language: z.string().min(1).max(35).optional(),
  event: EventType.optional().meta({ description: 'Their click has a conversion of this type' }),
  has_no_event: EventType.optional().meta({ description: 'Their click has no conversion of this type' }),
  geo: Country.optional().meta({ description: 'Their click came from this country' }),
  sub1: z.string().min(1).max(500).optional().meta({ description: 'Their click has this sub1' }),
  channel_in: Id.optional().meta({ description: 'They are in this channel' }),
  channel_not_in: Id.optional().meta({ description: 'They are not in this channel' }),
  started_from: Moment.meta({ description: 'Newest start at or after this time' }),
  started_to: Moment.meta({ description: 'Newest start before this time' }),
  from: Moment.meta({ description: 'created_at at or after this time' }),
  to: Moment.meta({ description: 'created_at at or before this time' }),
  telegram_user_id: z
    .string()
    .regex(/^\d{1,19}$/, { message: 'must be a Telegram user id' })
    .optional(),
}

export const listSubscribers = endpoint({
  route: 'GET /api/subscribers',
  access: { session: 'member' },
  summary: 'List the subscribers of bots, newest first',
  query: z.object({ ...paging, ...filters }),
  reply: Page(Subscriber),
})

export const exportSubscribers = endpoint({
  ...listFile,
  route: 'GET /api/subscribers/csv',
  summary: 'Save the listed subscribers as a CSV file',
  query: z.object(filters),
})

export const exportPickedSubscribers = endpoint({
  ...pickedFile(filters),
  route: 'POST /api/subscribers/csv',
  summary: 'Save picked subscribers as a CSV file',
})

export const countSubscribers = endpoint({
  route: 'GET /api/subscribers/counts',
  access: { session: 'member' },
  summary: 'Count the subscribers of each bot by state',
  reply: z.object({
    data: z.array(
      z.object({
        bot_id: Id,
        reachable: z.number().int(),
        opted_out: z.number().int(),
        blocked: z.number().int(),
        gone: z.number().int(),
        unreachable: z.number().int(),
        started_7d: z.number().int().meta({ description: 'Subscribers whose newest start is in the last seven days' }),
      }),
    ),
  }),
})

const Step = z.object({ id: Id, at: Instant })

export const readSubscriber = endpoint({
  route: 'GET /api/subscribers/:id',
  access: { session: 'member' },
  summary: 'Read a subscriber and the person’s history',
  description: 'Each list holds the newest 100 entries.',
  reply: z.object({
    subscriber: Subscriber,
    bots: z
      .array(z.object({ id: Id, subscriber_id: Id, username: z.string(), state: State }))
      .meta({ description: 'Every bot that has this person as a subscriber' }),
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
  history: 'subscriber',
  summary: 'Forget a person',
  description:
    'Deletes the person from every bot, channel and broadcast of the organization and from its payments. Conversions and charges keep the user id, because people are counted by it. A person who messages a bot again is a new subscriber.',
  reply: Done,
  refuses: ['object_not_found'],
})

/** People per call. */
export const MOST_IMPORTED = 50_000

export const SubscriberImport = z.object({
  user_ids: z
    .array(
      z
        .union([z.number(), z.string().trim()])
        .transform(String)
        .pipe(z.string().regex(/^[1-9]\d{0,15}$/, { message: 'must be a Telegram user id' }))
        .meta({ description: 'A number, or digits as a string' }),
    )
    .min(1, { message: 'must not be empty' })
    .max(MOST_IMPORTED, { message: `may hold ${MOST_IMPORTED.toLocaleString('en-US')} people per call` })
    .meta({ description: 'User ids at Telegram' }),
  started_the_bot: z.literal(true, { message: 'must be true: confirm that these people have started this bot' }).meta({
    description: 'Confirms that these people have started this bot: Telegram lets it message no others',
  }),
})

export const importSubscribers = endpoint({
  route: 'POST /api/bots/:id/subscribers',
  access: { session: 'admin' },
  history: { none: 'each imported person carries that source and the day; the history holds no lists of people' },
  summary: 'Import people who started a bot before it was added',
  description: 'Existing subscribers stay unchanged.',
  body: SubscriberImport,
  reply: z.object({ added: z.number().int(), known: z.number().int() }),
  refuses: ['object_not_found', 'subscriber_limit'],
})
