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
    'ready: the bot may create invite links. no_rights: the bot is an administrator without that right. not_admin: the bot is no administrator. gone: the chat no longer exists at Telegram.',
})
export type ChannelState = z.output<typeof State>

const CUSTOM = EVENT_TYPES.filter(type => type.startsWith('custom_'))

const joinMode = z.enum(['open', 'request']).meta({
  description:
    'open: a link lets people in. request: a link sends a request to join, and the bot may message the requester',
})
const onRequest = z
  .enum(['leave', 'approve'])
  .meta({ description: 'leave: requests wait for an admin. approve: the bot approves them' })
const approveAfter = z.int().min(0).max(86_400).meta({
  description: 'With on_request approve: seconds from the request to the approval, which also waits for the message',
})
const linkDays = z.int().min(1).max(30).meta({ description: 'After how many days an unused link expires' })
const poolMin = z.int().min(10).max(5000).meta({ description: 'The minimum of links kept ready' })
const sharedJoins = z.enum(['attribute', 'organic']).meta({
  description:
    'How a join by the campaign’s shared link counts. attribute: for the newest click that got the link. organic: for no click',
})
const leaveEvent = z
  .enum(CUSTOM as [string, ...string[]])
  .meta({ description: 'The event type that a leave is recorded as; null: leaves are not recorded' })
const leaveWindow = z
  .int()
  .min(1)
  .max(8760)
  .meta({ description: 'Only leaves within this many hours of the join are recorded; null: all' })

export const Channel = z
  .object({
    id: Id,
    bot_id: Id.meta({ description: 'The bot that is an administrator there and creates the links' }),
    chat_id: z.string().meta({ description: 'The chat id at Telegram' }),
    title: z.string(),
    username: z.string().nullable().meta({ description: 'The name of a public channel, without @' }),
    kind: Kind,
    is_public: z.boolean().meta({
      description:
        'Whether anyone can open it by its name. Telegram reports no link for joins by name, so only the person identifies their click',
    }),
    state: State,
    state_reason: z.string().nullable().meta({ description: 'What is missing, as a sentence' }),
    member_count: z.number().int().nullable(),
    join_mode: joinMode,
    on_request: onRequest,
    approve_after_s: z.number().int(),
    request_message: Message.nullable().meta({
      description: 'Sent to people who request to join, before the request is decided',
    }),
    link_days: z.number().int(),
    pool_min: z.number().int(),
    shared_joins: sharedJoins,
    leave_event: z.string().nullable(),
    leave_window_h: z.number().int().nullable(),
    pool: z.object({
      free: z.number().int().meta({ description: 'Links that are not given to a click yet' }),
      leased: z.number().int().meta({ description: 'Links that serving processes hold ready' }),
      granted_24h: z.number().int().meta({ description: 'Links given to clicks in the last 24 hours' }),
      made_24h: z.number().int().meta({ description: 'Links created in the last 24 hours' }),
      waiting_until: Instant.nullable().meta({ description: 'Telegram’s rate limit: no link is created until then' }),
    }),
    checked_at: Instant.nullable().meta({ description: 'The last check at Telegram' }),
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
  .meta({ description: 'The chat id of a channel or group, or the @name of a public one' })

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
    'Chats in which one of your bots became an administrator after it was added, and for each bot the Telegram links that add it to a channel or group with the right it needs.',
  reply: z.object({
    data: z.array(
      z.object({
        bot_id: Id,
        chat_id: z.string(),
        title: z.string(),
        username: z.string().nullable(),
        kind: Kind,
        can_invite: z.boolean().meta({ description: 'Whether the bot may create invite links there' }),
        seen_at: Instant,
      }),
    ),
    bots: z.array(
      z.object({
        bot_id: Id,
        username: z.string(),
        channel_link: z.string().meta({ description: 'Opens Telegram to choose a channel' }),
        group_link: z.string().meta({ description: 'Opens Telegram to choose a group' }),
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
  history: { in: 'channel' },
  summary: 'Add a channel or group',
  description:
    'Checks at Telegram that the chat exists and that the bot is an administrator with the right to invite users. A deleted channel comes back with its id and members; a channel whose bot was deleted continues with this bot.',
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
  history: 'channel',
  summary: 'Change the fields of a channel that are sent',
  description: 'After a change of join_mode, new clicks get newly created links of that mode.',
  body: ChannelChanges,
  reply: Channel,
  refuses: ['object_not_found', 'invalid_request'],
})

export const checkChannel = endpoint({
  route: 'POST /api/channels/:id/check',
  access: { session: 'admin' },
  history: { none: 'a check stores what Telegram says, nobody chooses it' },
  summary: 'Check a channel and the bot’s rights there at Telegram now',
  reply: Channel,
  refuses: ['object_not_found', 'bot_token_revoked', 'telegram_away'],
})

export const deleteChannel = endpoint({
  route: 'DELETE /api/channels/:id',
  access: { session: 'admin' },
  history: 'channel',
  summary: 'Delete a channel',
  description:
    'Its campaigns send visitors to their fallback. Links that clicks have got keep working at Telegram until they expire. The records of its members stay.',
  reply: DeletedFromTraffic,
  refuses: ['object_not_found'],
})
