/**
 * Bots: where a click may lead, and whose starts Sluice records itself. Owns `bots` and `bot_hooks`. A bot's token is kept encrypted
 * and never leaves; of live bots an organization has one of a name, because conversions name bots by it. Deletion is soft.
 */
import type { Kysely, Transaction } from 'kysely'
import { startLink } from '../../contract/address.ts'
import type { Call } from '../../contract/endpoint.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import { fieldsOf } from '../../contract/json.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTaken } from '../../ground/db/faults.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, type Ground, idOf, type Visit } from '../../ground/room.ts'
import type { Conversions } from '../../intake/events/conversions.ts'
import { botName } from '../../intake/events/intake.ts'
import { readMoment } from '../../money/billing/balance.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import type * as api from './api.ts'
import { hashOf, receiveUpdate } from './hook.ts'
import { callTelegram, isReachable } from './telegram.ts'

const COLUMNS = ['id', 'username', 'hook_set_at', 'hook_error', 'created_at'] as const
type Row = Pick<Tables['bots'], (typeof COLUMNS)[number]>

/** Everything Sluice hears of, now or later: what is left out of the list keeps the setting it had. */
const UPDATES = [
  'message',
  'callback_query',
  'my_chat_member',
  'chat_member',
  'chat_join_request',
  'pre_checkout_query',
  'subscription',
  'purchased_paid_media',
]

export const UNREACHABLE = 'BASE_URL is not a public https address: set it, then set the hook again'

/** The deeds of the room, on the queue that records starts. */
export function botDeeds(conversions: Pick<Conversions, 'recordStart' | 'recordOwn'>) {
  return {
    listBots,
    createBot,
    setBotHook,
    deleteBot,
    receiveTelegramUpdate: (ground: Ground, visit: Visit) => receiveUpdate(ground, conversions, visit),
  }
}

/** Bots of the organization, newest first. */
async function listBots({ db, actor }: Context<typeof api.listBots>, { query }: Call<typeof api.listBots>) {
  const rows = live(db, actor.org_id).select(COLUMNS)
  const { data, next_cursor } = await newestFirst(rows, query)
  return { data: data.map(shown), next_cursor }
}

/**
 * Adds a bot and, where Telegram can reach us, sets its hook. Refuses `already_exists` for a name the organization has, and
 * `invalid_request` when Telegram knows no bot of this token, or one of another name.
 */
async function createBot(context: Context<typeof api.createBot>, { body }: Call<typeof api.createBot>) {
  const { db, actor, secrets } = context
  const { org_id } = actor
  const id = newId()
  const username = body.username.replace(/^@/, '')
  const fault = await faultOfBot(context, body.token, username)
  if (fault !== undefined) refuse('invalid_request', { error: fault })
  const row = { org_id, id, username, token: body.token, created_at: await readMoment(db, org_id) }
  try {
    await db.transaction().execute(trx => insertBot(trx, secrets, row))
  } catch (error) {
    if (isTaken(error)) refuse('already_exists', { error: 'username: the organization has this bot already' })
    throw error
  }
  await announceChange(db, org_id, id)
  return shown(await setHook(context, id, body.token))
}

type NewBot = { org_id: number; id: string; username: string; token: string; created_at: string }

/** Writes a bot, and what its hook is recognized by. `username` is without @; Telegram is told nothing. */
export async function insertBot(
  trx: Transaction<Tables>,
  secrets: Pick<Secrets, 'seal' | 'mac'>,
  { org_id, id, username, token, created_at }: NewBot,
): Promise<void> {
  await trx
    .insertInto('bots')
    .values({ org_id, id, username, username_key: botName(username), token: secrets.seal(token), created_at })
    .execute()
  await trx
    .insertInto('bot_hooks')
    .values({ bot_id: id, org_id, secret_hash: hashOf(secretOf({ secrets }, id)) })
    .execute()
}

/** Asks Telegram again to send the bot's updates here; `hook_state` says how that went. Refuses `object_not_found`. */
async function setBotHook(context: Context<typeof api.setBotHook>, { params }: Call<typeof api.setBotHook>) {
  const id = idOf(params.id)
  const bot = await live(context.db, context.actor.org_id).select('token').where('id', '=', id).executeTakeFirst()
  if (bot === undefined) refuse('object_not_found')
  return shown(await setHook(context, id, context.secrets.open(bot.token)))
}

/** Deletes softly: its starts stay, its updates are refused, and Telegram is asked to send no more. */
async function deleteBot(context: Context<typeof api.deleteBot>, { params }: Call<typeof api.deleteBot>) {
  const { db, actor, config, secrets, log } = context
  const { org_id } = actor
  const id = idOf(params.id)
  const gone = await db.transaction().execute(async db => {
    await db.deleteFrom('bot_hooks').where('org_id', '=', org_id).where('bot_id', '=', id).execute()
    return await db
      .updateTable('bots')
      .set({ deleted_at: await readMoment(db, org_id) })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .returning(['token', 'hook_set_at'])
      .executeTakeFirst()
  })
  if (gone === undefined) refuse('object_not_found')
  await announceChange(db, org_id, id)
  if (gone.hook_set_at !== null) {
    const answer = await callTelegram(config.telegramApiRoot, secrets.open(gone.token), 'deleteWebhook')
    if (!answer.ok)
      log.warn({ bot: toWireId(id), reason: answer.description }, 'the hook of a deleted bot could not be removed')
  }
  return { ok: true as const }
}

const live = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('bots').where('org_id', '=', org_id).where('deleted_at', 'is', null)

function shown({ id, username, hook_set_at, hook_error, created_at }: Row): api.Bot {
  const isSet = hook_set_at !== null && hook_error === null
  return {
    id,
    username,
    link: startLink(username),
    hook_state: isSet ? 'set' : 'not_set',
    hook_error: isSet ? null : (hook_error ?? 'not set yet'),
    created_at,
  }
}

/** What Telegram must send along to be believed. */
const secretOf = ({ secrets }: { secrets: Pick<Secrets, 'mac'> }, id: string): string =>
  secrets.mac('telegram hook', id).toString('base64url')

/** What is wrong with a token, where Telegram can be asked: nobody's, or another bot's than the one that was named. */
async function faultOfBot(
  { config }: Pick<Ground, 'config'>,
  token: string,
  username: string,
): Promise<string | undefined> {
  if (!isReachable(config.baseUrl)) return undefined
  const answer = await callTelegram(config.telegramApiRoot, token, 'getMe')
  if (!answer.ok) return answer.isTokenUnknown ? 'token: Telegram knows no bot of this token' : undefined
  const named = fieldsOf(answer.result)['username']
  const isAnother = typeof named === 'string' && named.toLowerCase() !== username.toLowerCase()
  return isAnother ? `username: the bot of this token is @${named}` : undefined
}

type Setting = Pick<Context<typeof api.setBotHook>, 'config' | 'db' | 'secrets' | 'actor'>

async function setHook(context: Setting, id: string, token: string): Promise<Row> {
  const { db, actor } = context
  const fault = await faultOfHook(context, id, token)
  const row = await db
    .updateTable('bots')
    .set(fault === undefined ? { hook_set_at: new Date().toISOString(), hook_error: null } : { hook_error: fault })
    .where('org_id', '=', actor.org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? refuse('object_not_found')
}

/** Sets the hook; answers why it could not be. */
async function faultOfHook({ config, secrets }: Setting, id: string, token: string): Promise<string | undefined> {
  if (!isReachable(config.baseUrl)) return UNREACHABLE
  const answer = await callTelegram(config.telegramApiRoot, token, 'setWebhook', {
    url: `${config.baseUrl}/hooks/telegram/${toWireId(id)}`,
    secret_token: secretOf({ secrets }, id),
    allowed_updates: UPDATES,
  })
  return answer.ok ? undefined : answer.description
}
