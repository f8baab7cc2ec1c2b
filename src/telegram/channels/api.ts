/** Channels and groups over HTTP. No right covers them: a key is refused everywhere here, though it may lead a campaign into one. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { EVENT_TYPES } from '../../contract/event-types.ts'
import { DeletedFromTraffic } from '../../contract/consequences.ts'
import { Id, Instant, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'
import { Message } from '../../contract/telegram-message.ts'

const Kind = z.enum(['channel', 'supergroup', 'group'])
export type ChannelKind = z.output<typeof Kind>

const State = z.enum(['ready', 'no_rights', 'not_admin', 'gone']).meta({
  description:
    'ready: the bot may make invite links. no_rights: it is an administrator without that right. not_admin: it is none. gone: Telegram knows no such chat any more.',
})
export type ChannelState = z.output<typeof State>

const CUSTOM = EVENT_TYPES.filter(type => type.startsWith('custom_'))

const joinMode = z.enum(['open', 'request']).meta({
  description: 'open: a link lets in. request: it asks to be let in, and so the bot may write to who asks',
})
const onRequest = z
  .enum(['leave', 'approve'])
  .meta({ description: 'What is done about a request by rule: leave it to people, or let in' })
const approveAfter = z
  .int()
  .min(0)
  .max(86_400)
  .meta({ description: 'approve: so many seconds after the request, and after the message' })
const linkDays = z.int().min(1).max(30).meta({ description: 'How long a link works that nobody has used' })
const poolMin = z.int().min(10).max(5000).meta({ description: 'How many links are kept ready at least' })
const sharedJoins = z.enum(['attribute', 'organic']).meta({
  description:
    'What a join by the link counts for that clicks of a campaign share: for the newest of them, or for none',
})
const leaveEvent = z.enum(CUSTOM as [string, ...string[]]).meta({ description: 'What a leave is recorded as' })
const leaveWindow = z.int().min(1).max(8760).meta({ description: 'Only a leave within so many hours of the join' })

export const Channel = z
  .object({
    id: Id,
    bot_id: Id.meta({ description: 'The bot that is an administrator there and makes its links' }),
    chat_id: z.string().meta({ description: 'The number Telegram knows it by' }),
    title: z.string(),
    username: z.string().nullable().meta({ description: 'Of a public one, without @' }),
    kind: Kind,
    is_public: z.boolean().meta({
      description:
        'Whether anyone can open it by its name: such a join tells no link, so it is known by the person alone',
    }),
    state: State,
    state_reason: z.string().nullable().meta({ description: 'What is missing, in words' }),
    member_count: z.number().int().nullable(),
    join_mode: joinMode,
    on_request: onRequest,
    approve_after_s: z.number().int(),
    request_message: Message.nullable().meta({
      description: 'Sent to who asks to be let in, before the request is decided',
    }),
    link_days: z.number().int(),
    pool_min: z.number().int(),
    shared_joins: sharedJoins,
    leave_event: z.string().nullable(),
    leave_window_h: z.number().int().nullable(),
    pool: z.object({
      free: z.number().int().meta({ description: 'Links that no click has yet' }),
      leased: z.number().int().meta({ description: 'Links that serving processes hold ready' }),
      granted_24h: z.number().int().meta({ description: 'Clicks that were given one in the last 24 hours' }),
      made_24h: z.number().int(),
      waiting_until: Instant.nullable().meta({ description: 'Telegram has asked to make none until then' }),
    }),
    checked_at: Instant.nullable().meta({ description: 'When Telegram was asked last' }),
    created_at: Instant,
  })
  .meta({ id: 'Channel' })
export type Channel = z.output<typeof Channel>

const ChatId = z
  .union([
    z.int(),
    z
      .string()
      .trim()
      .regex(/^(-?\d{1,19}|@[A-Za-z]\w{3,63})$/, { message: 'must be a number such as -1001234567890, or @name' }),
  ])
  .meta({ description: 'The number of a channel or group, or the @name of a public one' })

const ChannelDraft = z.object({ bot_id: Id, chat_id: ChatId })

export const ChannelChanges = z
  .object({
    join_mode: joinMode.optional(),
    on_request: onRequest.optional(),
    approve_after_s: approveAfter.optional(),
    request_message: Message.nullable().optional(),
    link_days: linkDays.optional(),
    pool_min: poolMin.optional(),
    shared_joins: sharedJoins.optional(),
    leave_event: leaveEvent.nullable().optional(),
    leave_window_h: leaveWindow.nullable().optional(),
  })
  .meta({ id: 'ChannelChanges' })

export const listChannels = endpoint({
  route: 'GET /api/channels',
  access: { session: 'member' },
  summary: 'List channels and groups, newest first',
  query: z.object(paging),
  reply: Page(Channel),
})

export const listOfferedChats = endpoint({
  route: 'GET /api/channels/offered',
  access: { session: 'member' },
  summary: 'List the channels and groups that can be added',
  description:
    'Where one of your bots was made an administrator since it is here; and per bot the links that have its owner add it to another one with the right it needs.',
  reply: z.object({
    data: z.array(
      z.object({
        bot_id: Id,
        chat_id: z.string(),
        title: z.string(),
        username: z.string().nullable(),
        kind: Kind,
        can_invite: z.boolean().meta({ description: 'Whether the bot may make invite links there' }),
        seen_at: Instant,
      }),
    ),
    bots: z.array(
      z.object({
        bot_id: Id,
        username: z.string(),
        channel_link: z.string().meta({ description: 'Opens Telegram, where a channel is chosen' }),
        group_link: z.string(),
      }),
    ),
  }),
})

export const readChannel = endpoint({
  route: 'GET /api/channels/:id',
  access: { session: 'member' },
  summary: 'Read a channel or group',
  reply: Channel,
  refuses: ['object_not_found'],
})

export const createChannel = endpoint({
  route: 'POST /api/channels',
  access: { session: 'admin' },
  summary: 'Add a channel or group',
  description:
    'Asks Telegram what it is and whether the bot is an administrator there who may invite users. One that was deleted is the same again, with its id and its members; one whose bot was deleted goes on over this one.',
  body: ChannelDraft,
  reply: Channel,
  status: 201,
  refuses: [
    'object_not_found',
    'invalid_request',
    'already_exists',
    'bot_not_admin',
    'bot_token_revoked',
    'channel_limit',
    'telegram_away',
  ],
})

export const updateChannel = endpoint({
  route: 'PATCH /api/channels/:id',
  access: { session: 'admin' },
  summary: 'Change the fields of a channel that are sent',
  description: 'With another join_mode links are made anew: what is given from then on asks, or lets in.',
  body: ChannelChanges,
  reply: Channel,
  refuses: ['object_not_found', 'invalid_request'],
})

export const checkChannel = endpoint({
  route: 'POST /api/channels/:id/check',
  access: { session: 'admin' },
  summary: 'Ask Telegram now how a channel is and what the bot may do there',
  reply: Channel,
  refuses: ['object_not_found', 'bot_token_revoked', 'telegram_away'],
})

export const deleteChannel = endpoint({
  route: 'DELETE /api/channels/:id',
  access: { session: 'admin' },
  summary: 'Delete a channel',
  description:
    'Campaigns that lead there go to their fallback. Links that were given work on at Telegram until they end, and what is known of its members stays.',
  reply: DeletedFromTraffic,
  refuses: ['object_not_found'],
})
