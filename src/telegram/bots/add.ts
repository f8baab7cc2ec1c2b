/** Adding a bot: looks whose token it is and whose hook, and takes it only where nobody is hurt or the person says so. */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTaken } from '../../ground/db/faults.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import { botName } from '../../intake/events/intake.ts'
import { readMoment } from '../../money/billing/balance.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import type * as api from './api.ts'
import { insertBot } from './bots.ts'
import { momentIn } from './claims.ts'
import { isOurs, secretOf, seeHook, type Seen, UNREACHABLE } from './hooks.ts'
import { announceBots, hashOf } from './live.ts'
import { requireRelayUrl } from './relay-url.ts'
import { COLUMNS, formerHook, type FormerHook, liveBot, NOW, type Row, shown } from './rows.ts'
import { AWAY, AWAY_MS, isReachable } from './telegram.ts'
import { holderOf, type Known, numberOf, requireKnown, whoseToken } from './tokens.ts'
import { nextLook, take, written } from './write.ts'

/** Each is looked at every five minutes. */
const MOST_BOTS = 50

type Adding = Context<typeof api.createBot>

/**
 * Adds a bot, or makes one that was deleted live again, with its id. Refuses `invalid_request` for a token that is nobody's, a name that is another
 * bot's, and for relay without an address; `already_exists`; `bot_in_use` where another organization has it; `bot_hook_taken` where another program has its hook
 * and nothing says what to do; `bot_limit`.
 */
export async function createBot(context: Adding, { body }: Call<typeof api.createBot>) {
  const { db, actor, secrets } = context
  const { org_id } = actor
  const { token, mode = 'own' } = body
  const known = await knownBot(context, body)
  const username = known?.username ?? body.username?.replace(/^@/, '') ?? ''
  const before = await deletedBot(context, known?.telegram_id ?? numberOf(token), known !== undefined)
  if (known !== undefined) await requireFree(db, org_id, known, before)
  const id = before?.id ?? newId()
  // Without a look nobody knows whose hook would be taken.
  const seen = known === undefined ? undefined : await seeHook(context, token)
  const isSeen = seen !== undefined && !('ok' in seen)
  const former = isSeen ? keptHook(context, id, seen, body, before) : undefined
  const relay = mode === 'relay' ? requireRelayUrl(context.config, body.relay_url ?? former?.url, isSeen) : undefined
  const sealed = (text: string | undefined) => (text === undefined ? null : secrets.seal(text))
  const kept: Kept = {
    token,
    username,
    telegram_id: known?.telegram_id ?? null,
    name: known?.name ?? null,
    mode,
    former_hook: sealed(former === undefined ? undefined : JSON.stringify(former)),
    relay_url: sealed(relay),
    relay_secret: sealed(body.relay_secret),
  }
  await store(context, id, kept, before !== undefined)
  await announceChange(db, org_id, id)
  await announceBots(db)
  return shown(secrets, await firstHook(context, await liveBot(db, org_id, id), isSeen))
}

/** What Telegram says of the token; undefined while it cannot be asked. Refuses what it says no to. */
async function knownBot(context: Adding, { token, username }: api.BotDraft): Promise<Known | undefined> {
  const known = await whoseToken(context, token)
  if ('ok' in known && known.kind !== 'token') {
    if (username === undefined)
      refuse('invalid_request', { error: 'username: Telegram could not be reached, so say the name of the bot' })
    return undefined
  }
  const found = requireKnown(known)
  const named = username?.replace(/^@/, '').toLowerCase()
  if (named !== undefined && named !== found.username.toLowerCase())
    refuse('invalid_request', { error: `username: the bot of this token is @${found.username}` })
  return found
}

/** A bot of this number that the organization has deleted, the newest of them. One of a version before is known by its token alone. */
async function deletedBot(
  { db, actor, secrets }: Adding,
  telegram_id: string,
  isConfirmed: boolean,
): Promise<Row | undefined> {
  // A number that nobody has confirmed would bring another bot's past back.
  if (!isConfirmed) return undefined
  const rows = await db
    .selectFrom('bots')
    .select(COLUMNS)
    .where('org_id', '=', actor.org_id)
    .where('deleted_at', 'is not', null)
    .where(eb => eb.or([eb('telegram_id', '=', telegram_id), eb('telegram_id', 'is', null)]))
    .orderBy('deleted_at', 'desc')
    .$castTo<Row>()
    .execute()
  return rows.find(row => row.telegram_id === telegram_id || numberOf(secrets.open(row.token)) === telegram_id)
}

async function requireFree(
  db: Kysely<Tables>,
  org_id: number,
  { telegram_id }: Known,
  before: Row | undefined,
): Promise<void> {
  const holder = await holderOf(db, telegram_id)
  if (holder === undefined || (holder.org_id === org_id && holder.id === before?.id)) return
  if (holder.org_id === org_id) refuse('already_exists', { error: 'token: the organization has this bot already' })
  refuse('bot_in_use')
}

/**
 * The hook there is, to be kept for the day it is given back: by the mode that is asked for. Refuses `bot_hook_taken` where nothing says what is to
 * become of it.
 */
export function keptHook(
  { secrets }: Pick<Adding, 'secrets'>,
  id: string,
  seen: Seen,
  { mode = 'own', take_over = false }: { mode?: api.Mode | undefined; take_over?: boolean | undefined },
  before: Pick<Row, 'former_hook'> | undefined,
): FormerHook | undefined {
  const isFree = seen.url === '' || isOurs(seen.url, id)
  if (isFree || mode === 'copy') return before === undefined ? undefined : formerHook(secrets, before)
  if (mode === 'own' && !take_over) refuseTaken(seen.url)
  const { url, allowed_updates, max_connections } = seen
  return { url, allowed_updates, max_connections }
}

/** Refuses `bot_hook_taken`, naming whose hook it is. */
export function refuseTaken(url: string): never {
  const host = URL.parse(url)?.host ?? 'another program'
  return refuse('bot_hook_taken', {
    error: `${host} has the hook of this bot: what Telegram tells the bot goes there`,
    hint: `Choose: mode relay: Sluice takes the hook and passes every update on to ${host}. mode copy: ${host} keeps it and sends Sluice copies. take_over: true: Sluice takes it, and ${host} hears nothing any more.`,
  })
}

type Kept = Pick<Tables['bots'], 'username' | 'telegram_id' | 'name' | 'former_hook' | 'relay_url' | 'relay_secret'> & {
  token: string
  mode: api.Mode
}

/** Writes the bot with its number, or makes it live again. Refuses `already_exists`, `bot_in_use`, `bot_limit`. */
async function store(context: Adding, id: string, kept: Kept, wasHere: boolean): Promise<void> {
  const { db, actor } = context
  const { org_id } = actor
  try {
    await db.transaction().execute(async trx => {
      await requireRoom(trx, org_id)
      if (wasHere) await revive(trx, context, id, kept)
      else await insertBot(trx, context.secrets, { org_id, id, created_at: await readMoment(trx, org_id), ...kept })
      const { telegram_id } = kept
      if (telegram_id === null || (await holderOf(trx, telegram_id))?.id === id) return
      await trx.insertInto('bot_numbers').values({ telegram_id, org_id, bot_id: id }).execute()
    })
  } catch (error) {
    if (!isTaken(error)) throw error
    const holder = kept.telegram_id === null ? undefined : await holderOf(db, kept.telegram_id)
    if (holder !== undefined && holder.org_id !== org_id) refuse('bot_in_use')
    refuse('already_exists', { error: 'username: the organization has this bot already' })
  }
}

async function revive(
  trx: Transaction<Tables>,
  { actor, secrets }: Adding,
  id: string,
  { token, ...kept }: Kept,
): Promise<void> {
  const { org_id } = actor
  const { numUpdatedRows } = await trx
    .updateTable('bots')
    .set({
      ...kept,
      username_key: botName(kept.username),
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
      // What campaigns are served by is looked up by when it came.
      created_at: await readMoment(trx, org_id),
      updated_at: NOW,
    })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is not', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) refuse('already_exists', { error: 'token: the organization has this bot already' })
  const secret_hash = hashOf(secretOf(secrets, id))
  await trx.deleteFrom('bot_hooks').where('org_id', '=', org_id).where('bot_id', '=', id).execute()
  await trx.insertInto('bot_hooks').values({ bot_id: id, org_id, secret_hash }).execute()
}

/** Held by the lock of the organization's balance row, which every organization has. */
async function requireRoom(trx: Transaction<Tables>, org_id: number): Promise<void> {
  await sql`select from balances where org_id = ${org_id} for update`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from bots where org_id = ${org_id} and deleted_at is null`.execute(trx)
  if ((rows[0]?.count ?? 0) >= MOST_BOTS) refuse('bot_limit')
}

/** Sets the hook of a bot that has just been added, unless it is another program's, or Telegram cannot be asked or cannot reach us. */
async function firstHook(context: Adding, row: Row, isSeen: boolean): Promise<Row> {
  if (row.mode === 'copy') {
    const hook_check_at = await nextLook(context.db)
    return await written(context, row, { hook_state: 'copy', hook_error: null, hook_check_at })
  }
  if (!isReachable(context.config.baseUrl))
    return await written(context, row, { hook_state: 'not_set', hook_error: UNREACHABLE })
  if (!isSeen) {
    const hook_check_at = await momentIn(context.db, AWAY_MS)
    return await written(context, row, { hook_state: 'not_set', hook_error: AWAY, hook_check_at })
  }
  return await take(context, row)
}
