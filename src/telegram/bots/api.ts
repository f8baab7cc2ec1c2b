/** The endpoints of bots, and the webhook that Telegram calls. No right covers bots, so every key is refused. */
import { z } from 'zod'
import { startLink } from '../../contract/address.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { DeletedFromTraffic } from '../../contract/consequences.ts'
import { Amount, Done, Id, Instant, Money, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'
import { Message } from '../../contract/telegram-message.ts'

/** Who receives the bot's updates: Sluice alone; Sluice, which forwards them; or the bot's own program, which sends copies to Sluice. */
const MODES = ['own', 'relay', 'copy'] as const
const Mode = z.enum(MODES).meta({
  description:
    'own: only Sluice receives updates. relay: Sluice forwards every update to your program. copy: your program keeps its webhook, or polls, and sends copies.',
})
export type Mode = z.output<typeof Mode>

const HookState = z.enum(['set', 'not_set', 'stolen', 'removed', 'copy']).meta({
  description:
    'set: Telegram sends updates to Sluice. not_set: it does not; hook_error says why. stolen: another program has set its own webhook. removed: the webhook was removed. copy: the webhook belongs to your program.',
})
export type HookState = z.output<typeof HookState>

export const Bot = z
  .object({
    id: Id,
    username: z.string().meta({ description: 'Without @' }),
    name: z.string().nullable().meta({ description: 'Display name at Telegram' }),
    telegram_id: z.string().nullable().meta({
      description: 'The bot’s id at Telegram; null: Telegram has not confirmed the token yet',
    }),
    link: z.string().meta({
      description: 'The URL to send visitors to; {click_id} is a macro',
      examples: [startLink('example_bot')],
    }),
    mode: Mode,
    hook_state: HookState,
    hook_error: z.string().nullable(),
    hook_host: z
      .string()
      .nullable()
      .meta({ description: 'The host of the program that has the webhook instead of Sluice' }),
    hook_checked_at: Instant.nullable().meta({ description: 'When the webhook was last checked; every five minutes' }),
    pending_updates: z.number().int().nullable().meta({ description: 'Updates waiting at Telegram' }),
    last_error: z
      .object({ at: Instant, text: z.string() })
      .nullable()
      .meta({ description: 'The last error Telegram had when it called the webhook' }),
    former_host: z.string().nullable().meta({
      description:
        'The host that had the webhook before. It gets the webhook back when the bot is deleted or changes to copy',
    }),
    relay_host: z.string().nullable().meta({ description: 'The host that updates are forwarded to' }),
    has_relay_secret: z.boolean(),
    relay_types: z.array(z.string()).meta({ description: 'The types of updates that are forwarded; empty: all' }),
    guard_hook: z.boolean().meta({
      description: 'Whether a stolen webhook is taken back automatically, at most three times an hour',
    }),
    guarded_at: z.array(Instant).meta({ description: 'When it was taken back within the last hour' }),
    has_copy_secret: z.boolean(),
    token_state: z
      .enum(['ok', 'revoked'])
      .meta({ description: 'revoked: Telegram rejects the token; send the new one' }),
    welcome: Message.nullable().meta({
      description: 'The reply to a start, sent in mode own only; null: none',
    }),
    opt_out_words: z.array(z.string()).meta({ description: 'A person who sends one of them gets no more broadcasts' }),
    keep_names: z.boolean().meta({ description: 'Whether first names are stored' }),
    accept_payments: z.boolean().meta({ description: 'Whether Sluice approves checkouts, in mode own only' }),
    stars_rate: Money.nullable().meta({ description: 'US dollars per Star; null: payments in Stars have no payout' }),
    unanswered_payments: z.number().int().meta({
      description: 'Checkouts that failed because Sluice alone has the bot and accept_payments is off',
    }),
    stars_looked_at: Instant.nullable().meta({ description: 'When its Star transactions were last read' }),
    send_per_second: z.number().int().meta({ description: 'Most messages per second' }),
    silent_until: Instant.nullable().meta({ description: 'Telegram’s rate limit: the bot sends nothing until then' }),
    send_after: Instant.nullable().meta({ description: 'The same as silent_until' }),
    last_update_at: Instant.nullable().meta({ description: 'When Sluice received the last update of the bot' }),
    created_at: Instant,
  })
  .meta({ id: 'Bot' })
export type Bot = z.output<typeof Bot>

const Token = z
  .string()
  .trim()
  .regex(/^\d{1,19}:[\w-]{3,256}$/, { message: 'must be the token BotFather gave, such as 123456:ABC-DEF' })
  .meta({ description: 'Stored encrypted and never shown again' })

const RelayUrl = z
  .url({ protocol: /^https?$/, message: 'must be a URL that begins with https://' })
  .max(2048)
  .meta({
    description:
      'The URL where your program receives Telegram’s updates, stored encrypted. https, or a private host and port that the operator lists in RELAY_PRIVATE_HOSTS',
  })

const RelaySecret = z
  .string()
  .regex(/^[\w-]{1,256}$/, { message: 'must be 1 to 256 letters, digits, _ and -' })
  .meta({
    description:
      'The secret_token your program set its webhook with: sent with each update, and restored with the webhook',
  })

const TakeOver = z.boolean().meta({
  description: 'true: Sluice takes the webhook, and the program that has it receives nothing any more',
})

export const BotDraft = z.object({
  token: Token,
  username: z
    .string()
    .trim()
    .regex(/^@?[A-Za-z]\w{2,63}$/, { message: 'must be the name of the bot, with or without @' })
    .optional()
    .meta({ description: 'Needed only while Telegram cannot be reached' }),
  mode: Mode.optional().meta({ description: 'Default: own' }),
  relay_url: RelayUrl.optional().meta({ description: 'For relay. Default: the current webhook' }),
  relay_secret: RelaySecret.optional(),
  take_over: TakeOver.optional(),
})
export type BotDraft = z.output<typeof BotDraft>

/** Telegram allows a bot 30 messages per second; two are left for the bot's own program. */
export const MOST_PER_SECOND = 28
/** The highest value of a Star, in US dollars. */
const MAX_STARS_RATE = 10

const OptOutWord = z
  .string()
  .trim()
  .toLowerCase()
  .min(1)
  .max(64)
  .refine(word => word !== '/start', { message: 'cannot be /start, which opts in' })

const UpdateType = z.string().regex(/^[a-z_]{1,64}$/, { message: 'must be a type of update, such as message' })

export const BotChanges = z
  .object({
    token: Token.optional().meta({ description: 'A new token of the same bot' }),
    mode: Mode.optional(),
    relay_url: RelayUrl.optional(),
    relay_secret: RelaySecret.nullable().optional().meta({ description: 'null: no secret is sent' }),
    relay_types: z.array(UpdateType).max(50).optional(),
    guard_hook: z.boolean().optional(),
    welcome: Message.nullable().optional(),
    opt_out_words: z.array(OptOutWord).max(20).optional(),
    keep_names: z.boolean().optional().meta({ description: 'false: stored names are erased' }),
    accept_payments: z.boolean().optional(),
    stars_rate: Amount(MAX_STARS_RATE).nullable().optional(),
    send_per_second: z
      .number()
      .int()
      .min(1)
      .max(MOST_PER_SECOND, { message: `may be at most ${MOST_PER_SECOND}` })
      .optional(),
    take_over: TakeOver.optional(),
  })
  .meta({ id: 'BotChanges' })
export type BotChanges = z.output<typeof BotChanges>

export const listBots = endpoint({
  route: 'GET /api/bots',
  access: { session: 'member' },
  summary: 'List bots, newest first',
  query: z.object(paging),
  reply: Page(Bot),
})

export const readBot = endpoint({
  route: 'GET /api/bots/:id',
  access: { session: 'member' },
  summary: 'Read a bot',
  reply: Bot,
  refuses: ['object_not_found'],
})

export const createBot = endpoint({
  route: 'POST /api/bots',
  access: { session: 'admin' },
  history: { in: 'bot' },
  summary: 'Add a bot',
  description:
    'Asks Telegram for the token’s bot and its webhook. If another program has the webhook, Sluice takes it only if mode or take_over says so. A deleted bot is restored with its id.',
  body: BotDraft,
  reply: Bot,
  status: 201,
  refuses: ['already_exists', 'bot_hook_taken', 'bot_in_use', 'bot_limit'],
})

export const updateBot = endpoint({
  route: 'PATCH /api/bots/:id',
  access: { session: 'admin' },
  history: { in: 'bot' },
  summary: 'Change fields of a bot',
  body: BotChanges,
  reply: Bot,
  refuses: ['object_not_found', 'bot_hook_taken', 'bot_in_use', 'bot_token_revoked', 'telegram_away'],
})

export const setBotHook = endpoint({
  route: 'POST /api/bots/:id/hook',
  access: { session: 'admin' },
  history: { none: 'it asks Telegram for updates again; the settings of the bot stay' },
  summary: 'Set the webhook of a bot again',
  description:
    'Takes back a webhook that Sluice had before. Another program’s webhook that Sluice never had is not touched.',
  reply: Bot,
  refuses: ['object_not_found', 'bot_hook_taken', 'bot_in_use', 'bot_token_revoked', 'telegram_away'],
})

export const checkBot = endpoint({
  route: 'POST /api/bots/:id/check',
  access: { session: 'admin' },
  history: { none: 'a check stores what Telegram says, nobody chooses it' },
  summary: 'Check a bot and its webhook at Telegram now',
  reply: Bot,
  refuses: ['object_not_found', 'telegram_away'],
})

export const rotateCopySecret = endpoint({
  route: 'POST /api/bots/:id/copy-secret',
  access: { session: 'admin' },
  history: 'bot',
  summary: 'Create a new secret for copies of a bot’s updates',
  description: 'The secret is shown only in this answer. The previous secret stops working at once.',
  reply: z.object({
    secret: z.string().meta({ description: 'For the header X-Telegram-Bot-Api-Secret-Token' }),
    url: z.string().meta({ description: 'The URL your program posts each update to, unchanged' }),
  }),
  refuses: ['object_not_found', 'bot_not_copied'],
})

export const listRelays = endpoint({
  route: 'GET /api/bots/:id/relays',
  access: { session: 'member' },
  summary: 'List forwarded updates of a bot, newest first',
  description: 'The newest 1,000 of the last seven days. It contains no message texts.',
  query: z.object(paging),
  reply: Page(
    z.object({
      id: Id,
      at: Instant,
      type: z.string().meta({ description: 'The type of update, such as message' }),
      status: z.number().int().nullable().meta({ description: 'The status your program answered; null: no answer' }),
      ms: z.number().int(),
      reason: z
        .string()
        .nullable()
        .meta({ description: 'Why forwarding failed, so that Telegram sends the update again; null: it succeeded' }),
    }),
  ),
  refuses: ['object_not_found'],
})

export const deleteBot = endpoint({
  route: 'DELETE /api/bots/:id',
  access: { session: 'admin' },
  history: { in: 'bot' },
  summary: 'Delete a bot',
  description:
    'Its clicks and starts stay; a click whose bot was deleted names no bot. The webhook is restored to the program that had it before.',
  reply: DeletedFromTraffic,
  refuses: ['object_not_found'],
})

export const receiveTelegramUpdate = endpoint({
  route: 'POST /hooks/telegram/:bot',
  access: 'anyone',
  history: { none: 'intake' },
  summary: 'Receive an update from Telegram, or a copy from a bot’s program; authenticated by the secret header',
  description: 'Takes one update. In mode relay, the answer of the bot’s program is returned if it is a Bot API call.',
  visit: true,
  takesRaw: true,
  reply: z.union([Done, z.looseObject({ method: z.string() })]),
  answers: {
    502: {
      words: 'The bot’s program has not accepted the update: send it again',
      type: 'refusal',
      headers: ['Retry-After'],
    },
  },
  refuses: ['hook_secret_wrong', 'invalid_json', 'service_unavailable', 'org_deleted'],
})
