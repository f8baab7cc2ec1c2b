/**
 * What is asked of Telegram about a bot's hook: whose it is, that it be ours, that it be again whose it was. Nothing here writes a row, and no
 * update that waits at Telegram is ever dropped.
 */
import { toWireId } from '../../contract/ids.ts'
import { fieldsOf } from '../../contract/json.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { Ground } from '../../ground/room.ts'
import type { Mode } from './api.ts'
import type { FormerHook } from './rows.ts'
import { callTelegram, type Failure, isAway, isReachable } from './telegram.ts'

export const UNREACHABLE = 'BASE_URL is not a public https address: set it, then set the hook again'

/** Everything Sluice hears of, now or later: what is left out of the list keeps the setting it had. */
const HEARD = [
  'message',
  'callback_query',
  'my_chat_member',
  'chat_member',
  'chat_join_request',
  'pre_checkout_query',
  'subscription',
  'purchased_paid_media',
] as const

/** What Telegram tells a program that names no list: all but chat_member and two of reactions. */
const UNLESS_NAMED = [
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'business_connection',
  'business_message',
  'edited_business_message',
  'deleted_business_messages',
  'inline_query',
  'chosen_inline_result',
  'callback_query',
  'shipping_query',
  'pre_checkout_query',
  'purchased_paid_media',
  'poll',
  'poll_answer',
  'my_chat_member',
  'chat_join_request',
  'chat_boost',
  'removed_chat_boost',
  'subscription',
] as const

type Kind = (typeof HEARD)[number] | (typeof UNLESS_NAMED)[number]

/** Most calls of Telegram's at a time where a program behind takes its time too. */
const RELAY_CONNECTIONS = 100

type Asking = Pick<Ground, 'config'>

/** A bot's hook as Telegram has it: an empty `url` means none. */
export type Seen = FormerHook & {
  readonly pending: number
  readonly last_error: { at: string; text: string } | null
}

/** Asks whose the hook is, or answers why that cannot be known. */
export async function seeHook({ config }: Asking, token: string): Promise<Seen | Failure> {
  const answer = await callTelegram(config.telegramApiRoot, token, 'getWebhookInfo')
  if (!answer.ok) return answer
  const { url, allowed_updates, max_connections, pending_update_count, last_error_date, last_error_message } = fieldsOf(
    answer.result,
  )
  return {
    url: typeof url === 'string' ? url : '',
    allowed_updates: Array.isArray(allowed_updates) ? allowed_updates.filter(one => typeof one === 'string') : null,
    max_connections: typeof max_connections === 'number' ? max_connections : null,
    pending: typeof pending_update_count === 'number' ? pending_update_count : 0,
    last_error:
      typeof last_error_date === 'number' && typeof last_error_message === 'string'
        ? {
            at: new Date(last_error_date * 1000).toISOString(),
            text: last_error_message.slice(0, 300).replaceAll('\0', ''),
          }
        : null,
  }
}

const pathOf = (id: string): string => `/hooks/telegram/${toWireId(id)}`

/** Where Telegram is to call for the bot. */
export const addressOf = (baseUrl: string, id: string): string => `${baseUrl}${pathOf(id)}`

/** Whether a hook is this bot's here, also under an address that Sluice had before. */
export const isOurs = (url: string, id: string): boolean => URL.parse(url)?.pathname === pathOf(id)

/** What Telegram must send along to be believed. */
export const secretOf = (secrets: Pick<Secrets, 'mac'>, id: string): string =>
  secrets.mac('telegram hook', id).toString('base64url')

/** What of a bot decides how its hook is set. */
type Hooked = {
  readonly id: string
  readonly mode: Mode
  readonly relay_types: readonly string[]
  readonly former: FormerHook | undefined
}

/** Sets the hook; answers why it could not be. In relay the kinds that the program behind hears of are asked for as well. */
export async function takeHook(
  { config, secrets }: Pick<Ground, 'config' | 'secrets'>,
  token: string,
  { id, mode, relay_types, former }: Hooked,
): Promise<Failure | undefined> {
  if (!isReachable(config.baseUrl)) return { ok: false, kind: 'refused', description: UNREACHABLE }
  const behind = relay_types.length > 0 ? relay_types : (former?.allowed_updates ?? UNLESS_NAMED)
  const kinds = mode === 'relay' ? new Set([...HEARD, ...behind]) : new Set(HEARD)
  const answer = await callTelegram(config.telegramApiRoot, token, 'setWebhook', {
    url: addressOf(config.baseUrl, id),
    secret_token: secretOf(secrets, id),
    // Telegram has kinds that no list here knows yet; a program's own list goes on as it is.
    allowed_updates: [...kinds] as Kind[],
    ...(mode === 'relay' ? { max_connections: RELAY_CONNECTIONS } : {}),
  })
  return answer.ok ? undefined : answer
}

/**
 * Gives the hook back to who had it before us, with its list and secret, or removes it; leaves it alone where it is not ours any more. Answers
 * `false` while Telegram says nothing of it, so that it has to be tried again.
 */
export async function giveHookBack(
  ground: Pick<Ground, 'config' | 'log'>,
  token: string,
  { id, former, secret }: { id: string; former: FormerHook | undefined; secret: string | undefined },
): Promise<boolean> {
  const seen = await seeHook(ground, token)
  if ('ok' in seen) return !isAway(seen)
  if (!isOurs(seen.url, id)) return true
  const { telegramApiRoot } = ground.config
  if (former !== undefined) {
    const given = await callTelegram(telegramApiRoot, token, 'setWebhook', {
      url: former.url,
      // Left out, it would stay ours; empty it is Telegram's own.
      allowed_updates: (former.allowed_updates ?? []) as Kind[],
      ...(secret === undefined ? {} : { secret_token: secret }),
      ...(former.max_connections === null ? {} : { max_connections: former.max_connections }),
    })
    if (given.ok) return true
    if (isAway(given)) return false
    ground.log.warn(
      { bot: toWireId(id), reason: given.description },
      'the hook a bot had before could not be set again; it is removed',
    )
  }
  const removed = await callTelegram(telegramApiRoot, token, 'deleteWebhook')
  return removed.ok || !isAway(removed)
}
