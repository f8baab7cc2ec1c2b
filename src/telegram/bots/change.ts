/** Changing a bot: its token, its mode, where it is passed on to; and taking its hook back. What would hurt another program is asked for first. */
import { randomBytes } from 'node:crypto'
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import { botName } from '../../intake/events/intake.ts'
import { keptHook, refuseTaken } from './add.ts'
import type * as api from './api.ts'
import { addressOf, isOurs, secretOf, seeHook, type Seen, UNREACHABLE } from './hooks.ts'
import { announceBots, hashOf } from './live.ts'
import { payDebt } from './owed.ts'
import { requireRelayUrl } from './relay-url.ts'
import { sendingChanges } from './sending.ts'
import { anyBot, formerHook, hookStateOf, liveBot, opened, type Row, shown } from './rows.ts'
import { isReachable } from './telegram.ts'
import { claimNumber, numberOf, refuseAway, requireKnown, whoseToken } from './tokens.ts'
import { lookAtStarsSoon } from './stars.ts'
import { look } from './watch.ts'
import { take, written } from './write.ts'

type Changing = Context<typeof api.updateBot>

/**
 * Changes what is sent. Refuses `object_not_found`; `invalid_request` for another bot's token, for relay without an address and for a welcome that Telegram would refuse; `bot_hook_taken` where a
 * program would lose its hook and nothing says so; `bot_in_use`, `bot_token_revoked`; `telegram_away` where it must be asked and cannot be.
 */
export async function updateBot(context: Changing, { params, body }: Call<typeof api.updateBot>) {
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
  const isMoved = mode !== before.mode || body.token !== undefined || body.take_over === true
  const token = body.token === undefined ? {} : await newToken(context, before, body.token)
  const bare: Row = { ...before, ...plain, ...token }
  if (mode === 'copy') return shown(secrets, await toCopy(context, before, { ...plain, ...token }))
  const seen = isMoved ? await requireSeen(context, bare) : undefined
  const former = seen === undefined ? formerHook(secrets, before) : formerFor(context, before, seen, { ...body, mode })
  const isTold = body.relay_url !== undefined || (mode === 'relay' && before.mode !== 'relay')
  const address = body.relay_url ?? opened(secrets, before.relay_url) ?? former?.url
  const relay = isTold ? { relay_url: secrets.seal(requireRelayUrl(context.config, address, seen !== undefined)) } : {}
  const kept = { former_hook: former === undefined ? null : secrets.seal(JSON.stringify(former)) }
  const changes = {
    ...plain,
    ...token,
    ...relay,
    ...kept,
    mode,
    ...(mode === before.mode ? {} : { hook_state: 'not_set' }),
  }
  const row = await written(context, before, changes)
  if (before.mode === 'copy') await putSecret(context, row, secretOf(secrets, row.id), false)
  if (body.token !== undefined) await announceChange(db, row.org_id, row.id)
  if (!isMoved && relay_types === undefined) return shown(secrets, row)
  if (!isReachable(context.config.baseUrl))
    return shown(secrets, await written(context, row, { hook_state: 'not_set', hook_error: UNREACHABLE }))
  return shown(secrets, await take(context, row))
}

/** A new token, confirmed to be the same bot's. */
async function newToken(context: Pick<Changing, 'config' | 'db' | 'secrets'>, before: Row, token: string) {
  const { telegram_id, username, name } = requireKnown(await whoseToken(context, token))
  if (telegram_id !== (before.telegram_id ?? numberOf(context.secrets.open(before.token))))
    refuse('invalid_request', { error: `token: is that of another bot, @${username}` })
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

/** The hook there is. Refuses `bot_token_revoked`, and `telegram_away` while Telegram cannot be asked. */
async function requireSeen(context: Pick<Changing, 'config' | 'secrets' | 'db'>, row: Row): Promise<Seen> {
  const seen = await seeHook(context, context.secrets.open(row.token))
  if (!('ok' in seen)) return seen
  if (seen.kind !== 'token') refuseAway(seen)
  await written(context, row, { token_state: 'revoked' })
  return refuse('bot_token_revoked')
}

/** Refuses `bot_hook_taken` where own would make deaf who is passed on to, or has the hook. */
function formerFor(context: Changing, before: Row, seen: Seen, body: api.BotChanges & { mode: api.Mode }) {
  const { secrets } = context
  const behind = before.mode === 'relay' ? opened(secrets, before.relay_url) : undefined
  if (behind !== undefined && body.mode === 'own' && body.take_over !== true) refuseTaken(behind)
  // Taken away from us and asked for again with its new token: what it was before ours stays what is given back.
  const isTakenBack = before.mode === body.mode && before.hook_set_at !== null
  if (isTakenBack && (seen.url === '' || before.former_hook !== null)) return formerHook(secrets, before)
  return keptHook(context, before.id, seen, body, before) ?? formerHook(secrets, before)
}

/** Leaves the hook to the program that had it, or to one that polls. */
async function toCopy(context: Changing, before: Row, changes: Partial<Row>): Promise<Row> {
  if (before.mode === 'copy') return await written(context, before, changes)
  await putSecret(context, before, randomBytes(32).toString('base64url'), false)
  const isOwing = isReachable(context.config.baseUrl)
  const row = await written(context, before, {
    ...(changes as object),
    mode: 'copy',
    hook_state: 'copy',
    hook_error: null,
    hook_host: null,
    notice: null,
    hook_check_at: null,
    give_back: isOwing ? 'owed' : null,
  })
  if (isOwing) await payDebt(context, row)
  return (await anyBot(context.db, row)) ?? refuse('object_not_found')
}

/** What updates of the bot are recognized by from now on. */
async function putSecret(
  context: Pick<Changing, 'db'>,
  { org_id, id }: Row,
  secret: string,
  isForCopies: boolean,
): Promise<void> {
  const { db } = context
  await db
    .updateTable('bot_hooks')
    .set({ secret_hash: hashOf(secret) })
    .where('org_id', '=', org_id)
    .where('bot_id', '=', id)
    .execute()
  await written(context, { org_id, id }, { has_copy_secret: isForCopies })
}

/**
 * Asks Telegram again to send the bot's updates here. Refuses `object_not_found`, `bot_token_revoked`, `bot_in_use`; `bot_hook_taken` where another program
 * has a hook that was never Sluice's.
 */
export async function setBotHook(context: Context<typeof api.setBotHook>, { params }: Call<typeof api.setBotHook>) {
  const { db, actor, secrets, config } = context
  const before = await liveBot(db, actor.org_id, idOf(params.id))
  if (before.mode === 'copy') return shown(secrets, before)
  const known = await whoseToken(context, secrets.open(before.token))
  if ('ok' in known) {
    if (known.kind === 'token') {
      await written(context, before, { token_state: 'revoked' })
      refuse('bot_token_revoked')
    }
    const state = hookStateOf(before)
    const isStanding = state === 'stolen' || state === 'removed'
    return shown(
      secrets,
      await written(context, before, { hook_error: known.description, hook_state: isStanding ? state : 'not_set' }),
    )
  }
  if (!(await claimNumber(db, known.telegram_id, before))) refuse('bot_in_use')
  const seen = await requireSeen(context, before)
  const isForeign = seen.url !== '' && !isOurs(seen.url, before.id)
  // One that is kept to be given back was given up for Sluice already.
  const isGivenUp = before.hook_set_at !== null || formerHook(secrets, before)?.url === seen.url
  if (isForeign && !isGivenUp && before.mode === 'own') refuseTaken(seen.url)
  const { url, allowed_updates, max_connections } = seen
  const isKept = isForeign && before.former_hook === null
  const former_hook = isKept
    ? secrets.seal(JSON.stringify({ url, allowed_updates, max_connections }))
    : before.former_hook
  const { telegram_id, name } = known
  const changes = { former_hook, telegram_id, name }
  if (!isReachable(config.baseUrl))
    return shown(
      secrets,
      await written(context, before, { ...changes, hook_state: 'not_set', hook_error: UNREACHABLE }),
    )
  return shown(secrets, await take(context, { ...before, former_hook }, changes))
}

/** Asks Telegram now, and has the list of Stars read soon. Refuses `object_not_found`, and `telegram_away` where it does not answer. */
export async function checkBot(context: Context<typeof api.checkBot>, { params }: Call<typeof api.checkBot>) {
  const { db, actor, secrets } = context
  const before = await liveBot(db, actor.org_id, idOf(params.id))
  const away = await look(context, before)
  if (away !== undefined) refuseAway(away)
  await lookAtStarsSoon(db, before)
  await announceBots(db)
  return shown(secrets, await liveBot(db, actor.org_id, before.id))
}

/**
 * Makes the secret that copies are sent with, and answers it this once; the one before is refused from now on. Refuses `object_not_found` and
 * `bot_not_copied`.
 */
export async function rotateCopySecret(
  context: Context<typeof api.rotateCopySecret>,
  { params }: Call<typeof api.rotateCopySecret>,
) {
  const { db, actor, config, origin } = context
  const row = await liveBot(db, actor.org_id, idOf(params.id))
  if (row.mode !== 'copy') refuse('bot_not_copied')
  const secret = randomBytes(32).toString('base64url')
  await putSecret(context, row, secret, true)
  return { secret, url: addressOf(config.baseUrl ?? origin ?? '', row.id) }
}
