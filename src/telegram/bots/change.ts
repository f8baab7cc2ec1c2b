/** Changes a bot: its token, mode, relay and settings; sets its webhook again. Another program loses the webhook only if the caller says so. */
import { randomBytes } from 'node:crypto'
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import { botName } from '../../intake/events/intake.ts'
import { formerHookToKeep, refuseHookTaken } from './add.ts'
import type * as api from './api.ts'
import { hookUrl, isOurHook, hookSecret, readHook, type HookInfo, UNREACHABLE } from './hooks.ts'
import { announceBots, secretHash } from './live.ts'
import { restoreOwedHook } from './owed.ts'
import { requireRelayUrl } from './relay-url.ts'
import { sendingChanges } from './sending.ts'
import { anyBot, formerHook, hookStateOf, liveBot, openSealed, type StoredBot, botReply } from './rows.ts'
import { isReachable } from './telegram.ts'
import { claimNumber, numberInToken, refuseAway, requireIdentified, identifyToken } from './tokens.ts'
import { readStarsSoon } from './stars.ts'
import { checkHook } from './watch.ts'
import { takeHook, updateBotRow } from './write.ts'

type UpdateContext = Context<typeof api.updateBot>

/**
 * Changes the given fields. Refuses `object_not_found`; `invalid_request` for another bot's token, relay without a URL and a welcome that Telegram
 * would reject; `bot_hook_taken` if a program would lose its webhook without `take_over`; `bot_in_use`, `bot_token_revoked`; `telegram_away` if
 * Telegram has to be asked and cannot be.
 */
export async function updateBot(context: UpdateContext, { params, body }: Call<typeof api.updateBot>) {
  const { db, actor, secrets } = context
  const before = await liveBot(db, actor.org_id, idOf(params.id))
  const { guard_hook, relay_types } = body
  const plain = {
    ...(await sendingChanges(context, body)),
    ...(guard_hook === undefined ? {} : { guard_hook }),
    ...(relay_types === undefined ? {} : { relay_types: [...new Set(relay_types)] }),
    ...(body.relay_secret === undefined
      ? {}
      : { relay_secret: body.relay_secret === null ? null : secrets.seal(body.relay_secret) }),
  }
  const mode = body.mode ?? before.mode
  const isHookAffected = mode !== before.mode || body.token !== undefined || body.take_over === true
  const token = body.token === undefined ? {} : await newToken(context, before, body.token)
  const withToken: StoredBot = { ...before, ...plain, ...token }
  if (mode === 'copy') return botReply(secrets, await changeToCopy(context, before, { ...plain, ...token }))
  const hook = isHookAffected ? await requireHookInfo(context, withToken) : undefined
  const former =
    hook === undefined ? formerHook(secrets, before) : formerHookAfter(context, before, hook, { ...body, mode })
  const isRelayChanged = body.relay_url !== undefined || (mode === 'relay' && before.mode !== 'relay')
  const address = body.relay_url ?? openSealed(secrets, before.relay_url) ?? former?.url
  const relay = isRelayChanged
    ? { relay_url: secrets.seal(requireRelayUrl(context.config, address, hook !== undefined)) }
    : {}
  const formerColumn = { former_hook: former === undefined ? null : secrets.seal(JSON.stringify(former)) }
  const changes = {
    ...plain,
    ...token,
    ...relay,
    ...formerColumn,
    mode,
    ...(mode === before.mode ? {} : { hook_state: 'not_set' }),
  }
  const row = await context.recorded(
    () => [{ kind: 'bot', id: before.id }],
    async trx => {
      const row = await updateBotRow({ db: trx }, before, changes)
      if (before.mode === 'copy') await storeSecret({ db: trx }, row, hookSecret(secrets, row.id), false)
      return row
    },
  )
  if (body.token !== undefined) await announceChange(db, row.org_id, row.id)
  if (!isHookAffected && relay_types === undefined) return botReply(secrets, row)
  if (!isReachable(context.config.baseUrl))
    return botReply(secrets, await updateBotRow(context, row, { hook_state: 'not_set', hook_error: UNREACHABLE }))
  return botReply(secrets, await takeHook(context, row))
}

/** The columns of a new token, after Telegram has confirmed that it belongs to the same bot. */
async function newToken(context: Pick<UpdateContext, 'config' | 'db' | 'secrets'>, before: StoredBot, token: string) {
  const { telegram_id, username, name } = requireIdentified(await identifyToken(context, token))
  if (telegram_id !== (before.telegram_id ?? numberInToken(context.secrets.open(before.token))))
    refuse('invalid_request', { error: `token: belongs to another bot, @${username}` })
  if (!(await claimNumber(context.db, telegram_id, before))) refuse('bot_in_use')
  return {
    token: context.secrets.seal(token),
    token_state: 'ok' as const,
    telegram_id,
    username,
    username_key: botName(username),
    name,
    notice: null,
    mailed_at: null,
  }
}

/** The bot's current webhook. Refuses `bot_token_revoked`, and `telegram_away` while Telegram cannot be reached. */
async function requireHookInfo(
  context: Pick<UpdateContext, 'config' | 'secrets' | 'db'>,
  row: StoredBot,
): Promise<HookInfo> {
  const hook = await readHook(context, context.secrets.open(row.token))
  if (!('ok' in hook)) return hook
  if (hook.kind !== 'token') refuseAway(hook)
  await updateBotRow(context, row, { token_state: 'revoked' })
  return refuse('bot_token_revoked')
}

/** The webhook to restore later. Refuses `bot_hook_taken` if mode own would cut off the program that has the webhook or gets forwarded updates. */
function formerHookAfter(
  context: UpdateContext,
  before: StoredBot,
  hook: HookInfo,
  body: api.BotChanges & { mode: api.Mode },
) {
  const { secrets } = context
  const program = before.mode === 'relay' ? openSealed(secrets, before.relay_url) : undefined
  if (program !== undefined && body.mode === 'own' && body.take_over !== true) refuseHookTaken(program)
  // Sluice had this webhook and sets it again, so the webhook to restore stays the one from before Sluice.
  const isSetAgain = before.mode === body.mode && before.hook_set_at !== null
  if (isSetAgain && (hook.url === '' || before.former_hook !== null)) return formerHook(secrets, before)
  return formerHookToKeep(context, before.id, hook, body, before) ?? formerHook(secrets, before)
}

/** Changes the bot to copy mode and restores the former webhook, if there was one. */
async function changeToCopy(
  context: UpdateContext,
  before: StoredBot,
  changes: Partial<StoredBot>,
): Promise<StoredBot> {
  const owesHook = isReachable(context.config.baseUrl)
  const row = await context.recorded(
    () => [{ kind: 'bot', id: before.id }],
    async trx => {
      if (before.mode === 'copy') return await updateBotRow({ db: trx }, before, changes)
      await storeSecret({ db: trx }, before, randomBytes(32).toString('base64url'), false)
      return await updateBotRow({ db: trx }, before, {
        ...(changes as object),
        mode: 'copy',
        hook_state: 'copy',
        hook_error: null,
        hook_host: null,
        notice: null,
        hook_check_at: null,
        give_back: owesHook ? 'owed' : null,
      })
    },
  )
  if (before.mode === 'copy') return row
  if (owesHook) await restoreOwedHook(context, row)
  return (await anyBot(context.db, row)) ?? refuse('object_not_found')
}

/** Replaces the secret that authenticates updates of the bot. */
async function storeSecret(
  context: Pick<UpdateContext, 'db'>,
  { org_id, id }: StoredBot,
  secret: string,
  isForCopies: boolean,
): Promise<void> {
  const { db } = context
  await db
    .updateTable('bot_hooks')
    .set({ secret_hash: secretHash(secret) })
    .where('org_id', '=', org_id)
    .where('bot_id', '=', id)
    .execute()
  await updateBotRow(context, { org_id, id }, { has_copy_secret: isForCopies })
}

/**
 * Sets the bot's webhook to Sluice again. Refuses `object_not_found`, `bot_token_revoked`, `bot_in_use`; `bot_hook_taken` if another program has a
 * webhook that was never Sluice's.
 */
export async function setBotHook(context: Context<typeof api.setBotHook>, { params }: Call<typeof api.setBotHook>) {
  const { db, actor, secrets, config } = context
  const before = await liveBot(db, actor.org_id, idOf(params.id))
  if (before.mode === 'copy') return botReply(secrets, before)
  const known = await identifyToken(context, secrets.open(before.token))
  if ('ok' in known) {
    if (known.kind === 'token') {
      await updateBotRow(context, before, { token_state: 'revoked' })
      refuse('bot_token_revoked')
    }
    const state = hookStateOf(before)
    const isLost = state === 'stolen' || state === 'removed'
    return botReply(
      secrets,
      await updateBotRow(context, before, { hook_error: known.description, hook_state: isLost ? state : 'not_set' }),
    )
  }
  if (!(await claimNumber(db, known.telegram_id, before))) refuse('bot_in_use')
  const hook = await requireHookInfo(context, before)
  const isForeign = hook.url !== '' && !isOurHook(hook.url, before.id)
  // The owner has already agreed to replace a webhook that is stored for restoring.
  const isAgreed = before.hook_set_at !== null || formerHook(secrets, before)?.url === hook.url
  if (isForeign && !isAgreed && before.mode === 'own') refuseHookTaken(hook.url)
  const { url, allowed_updates, max_connections } = hook
  const isNewFormer = isForeign && before.former_hook === null
  const former_hook = isNewFormer
    ? secrets.seal(JSON.stringify({ url, allowed_updates, max_connections }))
    : before.former_hook
  const { telegram_id, name } = known
  const changes = { former_hook, telegram_id, name }
  if (!isReachable(config.baseUrl))
    return botReply(
      secrets,
      await updateBotRow(context, before, { ...changes, hook_state: 'not_set', hook_error: UNREACHABLE }),
    )
  return botReply(secrets, await takeHook(context, { ...before, former_hook }, changes))
}

/** Checks the bot at Telegram now, and schedules a read of its Star transactions. Refuses `object_not_found`, and `telegram_away`. */
export async function checkBot(context: Context<typeof api.checkBot>, { params }: Call<typeof api.checkBot>) {
  const { db, actor, secrets } = context
  const before = await liveBot(db, actor.org_id, idOf(params.id))
  const away = await checkHook(context, before)
  if (away !== undefined) refuseAway(away)
  await readStarsSoon(db, before)
  await announceBots(db)
  return botReply(secrets, await liveBot(db, actor.org_id, before.id))
}

/**
 * Creates the secret for copies and returns it, this once. The previous secret stops working. Refuses `object_not_found` and `bot_not_copied`.
 */
export async function rotateCopySecret(
  context: Context<typeof api.rotateCopySecret>,
  { params }: Call<typeof api.rotateCopySecret>,
) {
  const { db, actor, config, origin } = context
  const row = await liveBot(db, actor.org_id, idOf(params.id))
  if (row.mode !== 'copy') refuse('bot_not_copied')
  const secret = randomBytes(32).toString('base64url')
  await storeSecret(context, row, secret, true)
  return { secret, url: hookUrl(config.baseUrl ?? origin ?? '', row.id) }
}
