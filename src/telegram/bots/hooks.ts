/**
 * The webhook calls to Telegram: read it, set it to Sluice, restore the former one. Nothing here writes a row, and updates waiting at Telegram are
 * never dropped.
 */
import { toWireId } from '../../contract/ids.ts'
import { fieldsOf } from '../../contract/json.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { Ground } from '../../ground/room.ts'
import type { Mode } from './api.ts'
import type { FormerHook } from './rows.ts'
import { callTelegram, type Failure, isAway, isReachable } from './telegram.ts'

export const UNREACHABLE = 'BASE_URL is not a public https address: set it, then set the webhook again'

/** All update types Sluice uses or will use. Telegram keeps the old setting of a list that is left out. */
const OUR_UPDATE_TYPES = [
  'message',
  'callback_query',
  'my_chat_member',
  'chat_member',
  'chat_join_request',
  'pre_checkout_query',
  'subscription',
  'purchased_paid_media',
] as const

/** The types Telegram sends to a program without a list: all but chat_member and the two types of reactions. */
const DEFAULT_UPDATE_TYPES = [
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

type UpdateType = (typeof OUR_UPDATE_TYPES)[number] | (typeof DEFAULT_UPDATE_TYPES)[number]

/** Parallel calls by Telegram in relay mode, where each call also waits for the bot's program. */
const RELAY_CONNECTIONS = 100

type Asking = Pick<Ground, 'config'>

/** A bot's hook as Telegram has it: an empty `url` means none. */
export type HookInfo = FormerHook & {
  readonly pending: number
  readonly last_error: { at: string; text: string } | null
}

/** Reads the bot's webhook; returns the failure if Telegram does not say. */
export async function readHook({ config }: Asking, token: string): Promise<HookInfo | Failure> {
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

/** The URL Telegram calls for the bot. */
export const hookUrl = (baseUrl: string, id: string): string => `${baseUrl}${pathOf(id)}`

/** Whether a webhook is this bot's at Sluice, also under a former BASE_URL. */
export const isOurHook = (url: string, id: string): boolean => URL.parse(url)?.pathname === pathOf(id)

/** The secret that authenticates Telegram's calls. */
export const hookSecret = (secrets: Pick<Secrets, 'mac'>, id: string): string =>
  secrets.mac('telegram hook', id).toString('base64url')

/** The fields of a bot that decide how its webhook is set. */
type Hooked = {
  readonly id: string
  readonly mode: Mode
  readonly relay_types: readonly string[]
  readonly former: FormerHook | undefined
}

/** Sets the webhook; returns the failure. In relay mode it also asks for the update types of the bot's program. */
export async function setHook(
  { config, secrets }: Pick<Ground, 'config' | 'secrets'>,
  token: string,
  { id, mode, relay_types, former }: Hooked,
): Promise<Failure | undefined> {
  if (!isReachable(config.baseUrl)) return { ok: false, kind: 'refused', description: UNREACHABLE }
  const wanted = relay_types.length > 0 ? relay_types : (former?.allowed_updates ?? DEFAULT_UPDATE_TYPES)
  const types = mode === 'relay' ? new Set([...OUR_UPDATE_TYPES, ...wanted]) : new Set(OUR_UPDATE_TYPES)
  const answer = await callTelegram(config.telegramApiRoot, token, 'setWebhook', {
    url: hookUrl(config.baseUrl, id),
    secret_token: hookSecret(secrets, id),
    // A program's own list may hold types that are unknown here; it is passed unchanged.
    allowed_updates: [...types] as UpdateType[],
    ...(mode === 'relay' ? { max_connections: RELAY_CONNECTIONS } : {}),
  })
  return answer.ok ? undefined : answer
}

/**
 * Restores the former webhook with its update types and secret, or removes ours if there was none. Does nothing if the webhook is no longer ours.
 * Returns false if Telegram did not answer, so that the caller must retry.
 */
export async function restoreHook(
  ground: Pick<Ground, 'config' | 'log'>,
  token: string,
  { id, former, secret }: { id: string; former: FormerHook | undefined; secret: string | undefined },
): Promise<boolean> {
  const seen = await readHook(ground, token)
  if ('ok' in seen) return !isAway(seen)
  if (!isOurHook(seen.url, id)) return true
  const { telegramApiRoot } = ground.config
  if (former !== undefined) {
    const given = await callTelegram(telegramApiRoot, token, 'setWebhook', {
      url: former.url,
      // An absent list would keep ours; an empty list means Telegram's default.
      allowed_updates: (former.allowed_updates ?? []) as UpdateType[],
      ...(secret === undefined ? {} : { secret_token: secret }),
      ...(former.max_connections === null ? {} : { max_connections: former.max_connections }),
    })
    if (given.ok) return true
    if (isAway(given)) return false
    ground.log.warn(
      { bot: toWireId(id), reason: given.description },
      'could not restore the former webhook of a bot; removing the webhook',
    )
  }
  const removed = await callTelegram(telegramApiRoot, token, 'deleteWebhook')
  return removed.ok || !isAway(removed)
}
