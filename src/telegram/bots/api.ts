/** Bots over HTTP, and the address Telegram calls. No right covers bots: a key is refused everywhere here. */
import { z } from 'zod'
import { startLink } from '../../contract/address.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'

/** Whether Telegram sends us what the bot hears: `set`; `not_set` with the reason in `hook_error`. */
const HookState = z.enum(['set', 'not_set'])

export const Bot = z
  .object({
    id: Id,
    username: z.string().meta({ description: 'Without @' }),
    link: z.string().meta({
      description: 'The address to send visitors to; {click_id} is a macro',
      examples: [startLink('example_bot')],
    }),
    hook_state: HookState,
    hook_error: z.string().nullable(),
    created_at: Instant,
  })
  .meta({ id: 'Bot' })
export type Bot = z.output<typeof Bot>

export const BotDraft = z.object({
  token: z
    .string()
    .trim()
    .regex(/^\d{1,20}:[\w-]{3,256}$/, { message: 'must be the token BotFather gave, such as 123456:ABC-DEF' })
    .meta({ description: 'Kept encrypted and never shown again' }),
  username: z
    .string()
    .trim()
    .regex(/^@?[A-Za-z]\w{2,63}$/, { message: 'must be the name of the bot, with or without @' }),
})
export type BotDraft = z.output<typeof BotDraft>

export const listBots = endpoint({
  route: 'GET /api/bots',
  access: { session: 'member' },
  summary: 'List bots, newest first',
  query: z.object(paging),
  reply: Page(Bot),
})

export const createBot = endpoint({
  route: 'POST /api/bots',
  access: { session: 'admin' },
  summary: 'Add a bot',
  description:
    'Also asks Telegram to send its updates here, where BASE_URL is a public https address; hook_state says whether that worked.',
  body: BotDraft,
  reply: Bot,
  status: 201,
  refuses: ['already_exists'],
})

export const setBotHook = endpoint({
  route: 'POST /api/bots/:id/hook',
  access: { session: 'admin' },
  summary: 'Ask Telegram again to send the updates of a bot here',
  reply: Bot,
  refuses: ['object_not_found'],
})

export const deleteBot = endpoint({
  route: 'DELETE /api/bots/:id',
  access: { session: 'admin' },
  summary: 'Delete a bot',
  description: 'Its clicks and starts stay; a click whose bot was deleted names no bot.',
  reply: Done,
  refuses: ['object_not_found'],
})

export const receiveTelegramUpdate = endpoint({
  route: 'POST /hooks/telegram/:bot',
  access: 'anyone',
  summary: 'What Telegram calls; proves itself with its secret header',
  visit: true,
  reply: Done,
  refuses: ['hook_secret_wrong', 'service_unavailable', 'org_deleted'],
})
