/** Adds a bot. Asks Telegram for the token's bot and its webhook, and takes the webhook only if it is free or the caller says so. */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { CHANGED_NOW, databaseTimeIn } from '../../ground/db/clock.ts'
import { isTaken } from '../../ground/db/faults.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import { botName } from '../../intake/events/intake.ts'
import { readMoment } from '../../money/billing/balance.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import type * as api from './api.ts'
import { insertBot } from './bots.ts'
import { isOurHook, hookSecret, readHook, type HookInfo, UNREACHABLE } from './hooks.ts'
import { announceBots, secretHash } from './live.ts'
import { requireRelayUrl } from './relay-url.ts'
import { BOT_COLUMNS, formerHook, type FormerHook, liveBot, type StoredBot, botReply } from './rows.ts'
import { AWAY, AWAY_MS, isReachable } from './telegram.ts'
import { numberHolder, type TelegramBot, numberInToken, requireIdentified, identifyToken } from './tokens.ts'
import { nextCheckTime, takeHook, updateBotRow } from './write.ts'

/** Bots of one organization. Each is checked every five minutes. */
const MOST_BOTS = 50

type CreateContext = Context<typeof api.createBot>

/**
 * Adds a bot. A deleted bot is restored with its id. Refuses `invalid_request` for an unknown token, another bot's username, and relay without a
 * URL; `already_exists`; `bot_in_use` if another organization has the bot; `bot_hook_taken` if another program has the webhook and neither `mode`
 * nor `take_over` says what to do; `bot_limit`.
 */
export async function createBot(context: CreateContext, { body }: Call<typeof api.createBot>) {
  const { db, actor, secrets } = context
  const { org_id } = actor
  const { token, mode = 'own' } = body
  const known = await botOfToken(context, body)
  const username = known?.username ?? body.username?.replace(/^@/, '') ?? ''
  const before = await deletedBot(context, known?.telegram_id ?? numberInToken(token), known !== undefined)
  if (known !== undefined) await requireFree(db, org_id, known, before)
  const id = before?.id ?? newId()
  // While Telegram is away it is unknown whose webhook would be taken.
  const hook = known === undefined ? undefined : await readHook(context, token)
  const isHookKnown = hook !== undefined && !('ok' in hook)
  const former = isHookKnown ? formerHookToKeep(context, id, hook, body, before) : undefined
  const relay =
    mode === 'relay' ? requireRelayUrl(context.config, body.relay_url ?? former?.url, isHookKnown) : undefined
  const sealed = (text: string | undefined) => (text === undefined ? null : secrets.seal(text))
  const columns: NewBotColumns = {
    token,
    username,
    telegram_id: known?.telegram_id ?? null,
    name: known?.name ?? null,
    mode,
    former_hook: sealed(former === undefined ? undefined : JSON.stringify(former)),
    relay_url: sealed(relay),
    relay_secret: sealed(body.relay_secret),
  }
  await storeBot(context, id, columns, before !== undefined)
  await announceChange(db, org_id, id)
  await announceBots(db)
  return botReply(secrets, await setFirstHook(context, await liveBot(db, org_id, id), isHookKnown))
}

/** The token's bot by Telegram; undefined while Telegram is away and a username is given. Refuses a token that Telegram rejects. */
async function botOfToken(context: CreateContext, { token, username }: api.BotDraft): Promise<TelegramBot | undefined> {
  const known = await identifyToken(context, token)
  if ('ok' in known && known.kind !== 'token') {
    if (username === undefined)
      refuse('invalid_request', { error: 'username: Telegram could not be reached, so send the name of the bot' })
    return undefined
  }
  const found = requireIdentified(known)
  const named = username?.replace(/^@/, '').toLowerCase()
  if (named !== undefined && named !== found.username.toLowerCase())
    refuse('invalid_request', { error: `username: the bot of this token is @${found.username}` })
  return found
}

/** The latest deleted bot with this number. Bots deleted by earlier versions have no stored number and are found by their token. */
async function deletedBot(
  { db, actor, secrets }: CreateContext,
  telegram_id: string,
  isConfirmed: boolean,
): Promise<StoredBot | undefined> {
  // With an unconfirmed number another bot's history could be restored.
  if (!isConfirmed) return undefined
  const rows = await db
    .selectFrom('bots')
    .select(BOT_COLUMNS)
    .where('org_id', '=', actor.org_id)
    .where('deleted_at', 'is not', null)
    .where(eb => eb.or([eb('telegram_id', '=', telegram_id), eb('telegram_id', 'is', null)]))
    .orderBy('deleted_at', 'desc')
    .$castTo<StoredBot>()
    .execute()
  return rows.find(row => row.telegram_id === telegram_id || numberInToken(secrets.open(row.token)) === telegram_id)
}

async function requireFree(
  db: Kysely<Tables>,
  org_id: number,
  { telegram_id }: TelegramBot,
  before: StoredBot | undefined,
): Promise<void> {
  const holder = await numberHolder(db, telegram_id)
  if (holder === undefined || (holder.org_id === org_id && holder.id === before?.id)) return
  if (holder.org_id === org_id) refuse('already_exists', { error: 'token: the organization has this bot already' })
  refuse('bot_in_use')
}

/**
 * The current webhook, stored so that it can be restored later; what happens to it depends on `mode`. Refuses `bot_hook_taken` for mode own without
 * `take_over`.
 */
export function formerHookToKeep(
  { secrets }: Pick<CreateContext, 'secrets'>,
  id: string,
  hook: HookInfo,
  { mode = 'own', take_over = false }: { mode?: api.Mode | undefined; take_over?: boolean | undefined },
  before: Pick<StoredBot, 'former_hook'> | undefined,
): FormerHook | undefined {
  const isFree = hook.url === '' || isOurHook(hook.url, id)
  if (isFree || mode === 'copy') return before === undefined ? undefined : formerHook(secrets, before)
  if (mode === 'own' && !take_over) refuseHookTaken(hook.url)
  const { url, allowed_updates, max_connections } = hook
  return { url, allowed_updates, max_connections }
}

/** Refuses `bot_hook_taken`, naming the host that has the webhook. */
export function refuseHookTaken(url: string): never {
  const host = URL.parse(url)?.host ?? 'another program'
  return refuse('bot_hook_taken', {
    error: `${host} has the webhook of this bot and receives its updates`,
    hint: `Choose one. mode relay: Sluice takes the webhook and forwards every update to ${host}. mode copy: ${host} keeps the webhook and sends copies to Sluice. take_over: true: Sluice takes the webhook, and ${host} receives nothing any more.`,
  })
}

type NewBotColumns = Pick<
  Tables['bots'],
  'username' | 'telegram_id' | 'name' | 'former_hook' | 'relay_url' | 'relay_secret'
> & {
  token: string
  mode: api.Mode
}

/** Inserts the bot with its number, or restores it. Refuses `already_exists`, `bot_in_use`, `bot_limit`. */
async function storeBot(context: CreateContext, id: string, columns: NewBotColumns, isDeleted: boolean): Promise<void> {
  const { db, actor } = context
  const { org_id } = actor
  try {
    await context.recorded(
      () => [{ kind: 'bot', id }],
      async trx => {
        await requireBelowLimit(trx, org_id)
        if (isDeleted) await restoreBot(trx, context, id, columns)
        else
          await insertBot(trx, context.secrets, { org_id, id, created_at: await readMoment(trx, org_id), ...columns })
        const { telegram_id } = columns
        if (telegram_id === null || (await numberHolder(trx, telegram_id))?.id === id) return
        await trx.insertInto('bot_numbers').values({ telegram_id, org_id, bot_id: id }).execute()
      },
    )
  } catch (error) {
    if (!isTaken(error)) throw error
    const holder = columns.telegram_id === null ? undefined : await numberHolder(db, columns.telegram_id)
    if (holder !== undefined && holder.org_id !== org_id) refuse('bot_in_use')
    refuse('already_exists', { error: 'username: the organization has this bot already' })
  }
}

async function restoreBot(
  trx: Transaction<Tables>,
  { actor, secrets }: CreateContext,
  id: string,
  { token, ...columns }: NewBotColumns,
): Promise<void> {
  const { org_id } = actor
  const { numUpdatedRows } = await trx
    .updateTable('bots')
    .set({
      ...columns,
      username_key: botName(columns.username),
      token: secrets.seal(token),
      token_state: 'ok',
      hook_state: null,
      hook_set_at: null,
      hook_error: null,
      hook_host: null,
      hook_check_at: null,
      give_back: null,
      has_copy_secret: false,
      notice: null,
      mailed_at: null,
      deleted_at: null,
      // The cache that serves campaigns finds new bots by this time.
      created_at: await readMoment(trx, org_id),
      updated_at: CHANGED_NOW,
    })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is not', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) refuse('already_exists', { error: 'token: the organization has this bot already' })
  const secret_hash = secretHash(hookSecret(secrets, id))
  await trx.deleteFrom('bot_hooks').where('org_id', '=', org_id).where('bot_id', '=', id).execute()
  await trx.insertInto('bot_hooks').values({ bot_id: id, org_id, secret_hash }).execute()
}

/** Locks the organization's balance row, which always exists, so that two calls cannot both take the last place. Refuses `bot_limit`. */
async function requireBelowLimit(trx: Transaction<Tables>, org_id: number): Promise<void> {
  await sql`select from balances where org_id = ${org_id} for update`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from bots where org_id = ${org_id} and deleted_at is null`.execute(trx)
  if ((rows[0]?.count ?? 0) >= MOST_BOTS) refuse('bot_limit')
}

/** Sets the webhook of a new bot, except in copy mode, without a public address, or while Telegram is away. */
async function setFirstHook(context: CreateContext, row: StoredBot, isHookKnown: boolean): Promise<StoredBot> {
  if (row.mode === 'copy') {
    const hook_check_at = await nextCheckTime(context.db)
    return await updateBotRow(context, row, { hook_state: 'copy', hook_error: null, hook_check_at })
  }
  if (!isReachable(context.config.baseUrl))
    return await updateBotRow(context, row, { hook_state: 'not_set', hook_error: UNREACHABLE })
  if (!isHookKnown) {
    const hook_check_at = await databaseTimeIn(context.db, AWAY_MS)
    return await updateBotRow(context, row, { hook_state: 'not_set', hook_error: AWAY, hook_check_at })
  }
  return await takeHook(context, row)
}
