/** A bot's row, and the bot as the API shows it: without its token, and with only the host of other programs' URLs. */
import type { Kysely } from 'kysely'
import { HOUR_MS } from '../../contract/days.ts'
import { startLink } from '../../contract/address.ts'
import { fromUnits, toUnits } from '../../contract/decimals.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type * as api from './api.ts'

export const BOT_COLUMNS = [
  'org_id',
  'id',
  'username',
  'name',
  'telegram_id',
  'token',
  'token_state',
  'mode',
  'hook_state',
  'hook_set_at',
  'hook_error',
  'hook_host',
  'hook_checked_at',
  'notice',
  'pending_updates',
  'last_error',
  'former_hook',
  'give_back',
  'relay_url',
  'relay_secret',
  'relay_types',
  'guard_hook',
  'guarded_at',
  'has_copy_secret',
  'welcome',
  'opt_out_words',
  'keep_names',
  'accept_payments',
  'stars_rate',
  'unanswered_payments',
  'stars_looked_at',
  'send_per_second',
  'send_after',
  'last_update_at',
  'created_at',
  'deleted_at',
] as const satisfies (keyof Tables['bots'])[]

/** A bot's row, without columns that only other rooms need. */
export type StoredBot = Omit<
  Pick<Tables['bots'], (typeof BOT_COLUMNS)[number]>,
  | 'welcome'
  | 'opt_out_words'
  | 'keep_names'
  | 'accept_payments'
  | 'unanswered_payments'
  | 'send_per_second'
  | 'mode'
  | 'relay_types'
  | 'guard_hook'
  | 'guarded_at'
  | 'has_copy_secret'
  | 'last_error'
  | 'token_state'
> & {
  readonly mode: api.Mode
  readonly welcome: api.Bot['welcome']
  readonly opt_out_words: string[]
  readonly keep_names: boolean
  readonly accept_payments: boolean
  readonly unanswered_payments: number
  readonly send_per_second: number
  readonly relay_types: string[]
  readonly guard_hook: boolean
  readonly guarded_at: string[]
  readonly has_copy_secret: boolean
  readonly last_error: { at: string; text: string } | null
  readonly token_state: 'ok' | 'revoked'
}

/** The webhook before ours; `allowed_updates` null: Telegram's default list. */
export type FormerHook = {
  readonly url: string
  readonly allowed_updates: readonly string[] | null
  readonly max_connections: number | null
}

/** Bots of the organization that are not deleted. */
export const liveBots = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('bots').where('org_id', '=', org_id).where('deleted_at', 'is', null)

/** One live bot. Refuses `object_not_found`. */
export async function liveBot(db: Kysely<Tables>, org_id: number, id: string): Promise<StoredBot> {
  const row = await liveBots(db, org_id)
    .select(BOT_COLUMNS)
    .where('id', '=', id)
    .$castTo<StoredBot>()
    .executeTakeFirst()
  return row ?? refuse('object_not_found')
}

/** A bot, deleted or not. */
export async function anyBot(db: Kysely<Tables>, { org_id, id }: BotId): Promise<StoredBot | undefined> {
  return await db
    .selectFrom('bots')
    .select(BOT_COLUMNS)
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .$castTo<StoredBot>()
    .executeTakeFirst()
}

export type BotId = { readonly org_id: number; readonly id: string }

/** The times within the last hour. */
export const withinLastHour = (times: readonly string[]): string[] =>
  times.filter(at => Date.now() - Date.parse(at) < HOUR_MS)

/** The state found last. Rows of earlier versions have no `hook_state`, so it is derived from their other columns. */
export function hookStateOf({
  hook_state,
  hook_set_at,
  hook_error,
  mode,
}: Pick<StoredBot, 'hook_state' | 'hook_set_at' | 'hook_error' | 'mode'>): api.HookState {
  if (mode === 'copy') return 'copy'
  return (hook_state as api.HookState | null) ?? (hook_set_at !== null && hook_error === null ? 'set' : 'not_set')
}

/** Decrypts a sealed text; undefined for null. */
export const openSealed = (secrets: Pick<Secrets, 'open'>, sealed: Buffer | null): string | undefined =>
  sealed === null ? undefined : secrets.open(sealed)

export function formerHook(
  secrets: Pick<Secrets, 'open'>,
  { former_hook }: Pick<StoredBot, 'former_hook'>,
): FormerHook | undefined {
  const text = openSealed(secrets, former_hook)
  return text === undefined ? undefined : (JSON.parse(text) as FormerHook)
}

const hostOf = (url: string | undefined): string | null => (url === undefined ? null : (URL.parse(url)?.host ?? null))

export function botReply(secrets: Pick<Secrets, 'open'>, row: StoredBot): api.Bot {
  const state = hookStateOf(row)
  const { id, username, name, telegram_id, mode, hook_host, hook_checked_at, pending_updates, last_error } = row
  const { welcome, opt_out_words, keep_names, accept_payments, stars_rate, unanswered_payments, send_after } = row
  const { stars_looked_at, send_per_second } = row
  const { relay_types, guard_hook, has_copy_secret, token_state, last_update_at, created_at } = row
  const silent_until = send_after !== null && Date.parse(send_after) > Date.now() ? send_after : null
  return {
    id,
    username,
    name,
    telegram_id,
    link: startLink(username),
    mode,
    hook_state: state,
    hook_error: state === 'set' || state === 'copy' ? null : (row.hook_error ?? 'not set yet'),
    hook_host,
    hook_checked_at,
    pending_updates,
    last_error,
    former_host: hostOf(formerHook(secrets, row)?.url),
    relay_host: mode === 'relay' ? hostOf(openSealed(secrets, row.relay_url)) : null,
    has_relay_secret: row.relay_secret !== null,
    relay_types,
    guard_hook,
    guarded_at: withinLastHour(row.guarded_at),
    has_copy_secret,
    token_state,
    welcome,
    opt_out_words,
    keep_names,
    accept_payments,
    stars_rate: stars_rate === null ? null : fromUnits(toUnits(stars_rate, 6), 6),
    unanswered_payments,
    stars_looked_at,
    send_per_second,
    silent_until,
    send_after: silent_until,
    last_update_at,
    created_at,
  }
}
