/** Bots over HTTP, and the address Telegram calls. No right covers bots: a key is refused everywhere here. */
import { z } from 'zod'
import { startLink } from '../../contract/address.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { DeletedFromTraffic } from '../../contract/consequences.ts'
import { Amount, Done, Id, Instant, Money, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'
import { Message } from '../../contract/telegram-message.ts'

/** Who hears what Telegram tells the bot: Sluice; Sluice, which passes it on; the bot's own program, which sends Sluice copies. */
const MODES = ['own', 'relay', 'copy'] as const
const Mode = z.enum(MODES).meta({
  description:
    'own: Telegram tells Sluice alone. relay: Sluice passes on every update to your program. copy: your program keeps its hook, or polls, and sends copies.',
})
export type Mode = z.output<typeof Mode>

const HookState = z.enum(['set', 'not_set', 'stolen', 'removed', 'copy']).meta({
  description:
    'set: Telegram tells Sluice. not_set: it does not, hook_error says why. stolen: another program has set its hook since. removed: somebody has removed it. copy: it is your program’s.',
})
export type HookState = z.output<typeof HookState>

export const Bot = z
  .object({
    id: Id,
    username: z.string().meta({ description: 'Without @' }),
    name: z.string().nullable().meta({ description: 'As Telegram shows it' }),
    telegram_id: z.string().nullable().meta({
      description: 'The number Telegram knows it by; null: Telegram has not confirmed the token yet',
    }),
    link: z.string().meta({
      description: 'The address to send visitors to; {click_id} is a macro',
      examples: [startLink('example_bot')],
    }),
    mode: Mode,
    hook_state: HookState,
    hook_error: z.string().nullable(),
    hook_host: z
      .string()
      .nullable()
      .meta({ description: 'The host of the program that has the hook in place of Sluice' }),
    hook_checked_at: Instant.nullable().meta({ description: 'When Telegram was asked last; it is every five minutes' }),
    pending_updates: z.number().int().nullable().meta({ description: 'Updates that wait at Telegram' }),
    last_error: z
      .object({ at: Instant, text: z.string() })
      .nullable()
      .meta({ description: 'What Telegram says went wrong last when it called the hook' }),
    former_host: z.string().nullable().meta({
      description:
        'The host of the hook there was before, which gets it back when the bot is deleted or leaves relay for copy',
    }),
    relay_host: z.string().nullable().meta({ description: 'The host updates are passed on to' }),
    has_relay_secret: z.boolean(),
    relay_types: z.array(z.string()).meta({ description: 'The kinds of updates that are passed on; empty: all' }),
    guard_hook: z.boolean().meta({
      description: 'Whether a hook that was taken away is taken back by itself, at most three times an hour',
    }),
    guarded_at: z.array(Instant).meta({ description: 'When it was taken back by itself within the last hour' }),
    has_copy_secret: z.boolean(),
    token_state: z
      .enum(['ok', 'revoked'])
      .meta({ description: 'revoked: Telegram refuses the token; send the new one' }),
    welcome: Message.nullable().meta({
      description: 'What answers a start where Sluice alone has the bot; null: nothing',
    }),
    opt_out_words: z.array(z.string()).meta({ description: 'Who writes one of them gets no more broadcasts' }),
    keep_names: z.boolean().meta({ description: 'Whether first names are kept' }),
    accept_payments: z
      .boolean()
      .meta({ description: 'Whether payments are let through where Sluice alone has the bot' }),
    stars_rate: Money.nullable().meta({ description: 'US dollars one Star counts for; null: Stars have no payout' }),
    unanswered_payments: z.number().int().meta({
      description:
        'How often somebody wanted to pay and nobody answered, as Sluice alone has the bot and accept_payments is off',
    }),
    stars_looked_at: Instant.nullable().meta({ description: 'When its list of Stars was read last' }),
    send_per_second: z.number().int().meta({ description: 'Messages a second at most' }),
    silent_until: Instant.nullable().meta({ description: 'Telegram has asked for silence until then' }),
    send_after: Instant.nullable().meta({ description: 'The same as silent_until' }),
    last_update_at: Instant.nullable().meta({ description: 'When Sluice heard of the bot last' }),
    created_at: Instant,
  })
  .meta({ id: 'Bot' })
export type Bot = z.output<typeof Bot>

const Token = z
  .string()
  .trim()
  .regex(/^\d{1,19}:[\w-]{3,256}$/, { message: 'must be the token BotFather gave, such as 123456:ABC-DEF' })
  .meta({ description: 'Kept encrypted and never shown again' })

const RelayUrl = z
  .url({ protocol: /^https?$/, message: 'must be an address that begins with https://' })
  .max(2048)
  .meta({
    description:
      'Where your program takes Telegram’s updates, kept encrypted. https, or a private host and port that the operator lists in RELAY_PRIVATE_HOSTS',
  })

const RelaySecret = z
  .string()
  .regex(/^[\w-]{1,256}$/, { message: 'must be 1 to 256 letters, digits, _ and -' })
  .meta({
    description: 'The secret_token your program set its hook with: it is sent along, and given back with the hook',
  })

const TakeOver = z.boolean().meta({
  description: 'true: Sluice takes the hook, and the program that has it hears nothing any more',
})

export const BotDraft = z.object({
  token: Token,
  username: z
    .string()
    .trim()
    .regex(/^@?[A-Za-z]\w{2,63}$/, { message: 'must be the name of the bot, with or without @' })
    .optional()
    .meta({ description: 'Telegram says it; needed only while Telegram cannot be reached' }),
  mode: Mode.optional().meta({ description: 'own unless sent' }),
  relay_url: RelayUrl.optional().meta({ description: 'relay: the hook there is, unless sent' }),
  relay_secret: RelaySecret.optional(),
  take_over: TakeOver.optional(),
})
export type BotDraft = z.output<typeof BotDraft>

/** Telegram's own limit of messages a second is 30; the rest is for the bot's program. */
export const MOST_PER_SECOND = 28
/** What a Star may count for at most, in US dollars. */
const MAX_STARS_RATE = 10

const OptOutWord = z
  .string()
  .trim()
  .toLowerCase()
  .min(1)
  .max(64)
  .refine(word => word !== '/start', { message: 'cannot be /start, which opts in' })

const UpdateKind = z.string().regex(/^[a-z_]{1,64}$/, { message: 'must be a kind of update, such as message' })

export const BotChanges = z
  .object({
    token: Token.optional().meta({ description: 'A new token of the same bot' }),
    mode: Mode.optional(),
    relay_url: RelayUrl.optional(),
    relay_secret: RelaySecret.nullable().optional().meta({ description: 'null: none is sent along' }),
    relay_types: z.array(UpdateKind).max(50).optional(),
    guard_hook: z.boolean().optional(),
    welcome: Message.nullable().optional(),
    opt_out_words: z.array(OptOutWord).max(20).optional(),
    keep_names: z.boolean().optional().meta({ description: 'false: those that were kept are erased' }),
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
  summary: 'Add a bot',
  description:
    'Asks Telegram whose token it is and whether another program has the hook, and takes it only where none has, or where you say so by mode or take_over. A bot that was deleted is the same bot again, with its id.',
  body: BotDraft,
  reply: Bot,
  status: 201,
  refuses: ['already_exists', 'bot_hook_taken', 'bot_in_use', 'bot_limit'],
})

export const updateBot = endpoint({
  route: 'PATCH /api/bots/:id',
  access: { session: 'admin' },
  summary: 'Change the fields of a bot that are sent',
  body: BotChanges,
  reply: Bot,
  refuses: ['object_not_found', 'bot_hook_taken', 'bot_in_use', 'bot_token_revoked', 'telegram_away'],
})

export const setBotHook = endpoint({
  route: 'POST /api/bots/:id/hook',
  access: { session: 'admin' },
  summary: 'Ask Telegram again to send the updates of a bot here',
  description: 'Takes back a hook that was Sluice’s before; where it never was, another program’s is left alone.',
  reply: Bot,
  refuses: ['object_not_found', 'bot_hook_taken', 'bot_in_use', 'bot_token_revoked', 'telegram_away'],
})

export const checkBot = endpoint({
  route: 'POST /api/bots/:id/check',
  access: { session: 'admin' },
  summary: 'Ask Telegram now how a bot and its hook are',
  reply: Bot,
  refuses: ['object_not_found', 'telegram_away'],
})

export const rotateCopySecret = endpoint({
  route: 'POST /api/bots/:id/copy-secret',
  access: { session: 'admin' },
  summary: 'Make the secret that copies of a bot’s updates are sent with',
  description: 'Shown this once. The one before is refused from then on.',
  reply: z.object({
    secret: z.string().meta({ description: 'For the header X-Telegram-Bot-Api-Secret-Token' }),
    url: z.string().meta({ description: 'Where your program posts each update to, as Telegram sent it' }),
  }),
  refuses: ['object_not_found', 'bot_not_copied'],
})

export const listRelays = endpoint({
  route: 'GET /api/bots/:id/relays',
  access: { session: 'member' },
  summary: 'List how updates of a bot were passed on, newest first',
  description: 'The newest 1,000 of seven days. Nothing of what people wrote is in it.',
  query: z.object(paging),
  reply: Page(
    z.object({
      id: Id,
      at: Instant,
      type: z.string().meta({ description: 'The kind of update, such as message' }),
      status: z.number().int().nullable().meta({ description: 'What your program answered; null: nothing' }),
      ms: z.number().int(),
      reason: z
        .string()
        .nullable()
        .meta({ description: 'Why it counts as not taken, and Telegram tells it again; null: it was taken' }),
    }),
  ),
  refuses: ['object_not_found'],
})

export const deleteBot = endpoint({
  route: 'DELETE /api/bots/:id',
  access: { session: 'admin' },
  summary: 'Delete a bot',
  description:
    'Its clicks and starts stay; a click whose bot was deleted names no bot. The hook is given back to the program that had it before.',
  reply: DeletedFromTraffic,
  refuses: ['object_not_found'],
})

export const receiveTelegramUpdate = endpoint({
  route: 'POST /hooks/telegram/:bot',
  access: 'anyone',
  summary: 'What Telegram calls, and programs that send copies; proves itself with its secret header',
  description:
    'Takes one update. Where it is passed on, the answer of the program behind comes back if it is a call of the Bot API.',
  visit: true,
  takesRaw: true,
  reply: z.union([Done, z.looseObject({ method: z.string() })]),
  answers: {
    502: {
      words: 'The program behind has not taken the update: send it again',
      type: 'refusal',
      headers: ['Retry-After'],
    },
  },
  refuses: ['hook_secret_wrong', 'invalid_json', 'service_unavailable', 'org_deleted'],
})
