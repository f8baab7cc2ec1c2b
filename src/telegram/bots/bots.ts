/**
 * Telegram bots that clicks can lead to and whose starts Sluice records. Owns `bots` and `bot_hooks`. A bot's token is stored encrypted
 * and never shown. Usernames of live bots are unique in an organization, because conversions name bots by username. A bot is identified by its
 * number at Telegram: deleted and added again it is the same bot, so that nobody is counted twice. Deletion is soft and restores the webhook.
 */
import { CHANGED_NOW } from '../../ground/db/clock.ts'
import type { Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { botName } from '../../intake/events/intake.ts'
import { readMoment } from '../../money/billing/balance.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import { campaignsOnFallback } from '../../traffic/campaigns/on-fallback.ts'
import type * as api from './api.ts'
import { hookSecret } from './hooks.ts'
import { announceBots, secretHash } from './live.ts'
import { restoreOwedHook } from './owed.ts'
import { anyBot, BOT_COLUMNS, liveBot, liveBots, type StoredBot, botReply } from './rows.ts'
import { releaseNumber } from './tokens.ts'

/** Bots of the organization, newest first. */
export async function listBots(
  { db, actor, secrets }: Context<typeof api.listBots>,
  { query }: Call<typeof api.listBots>,
) {
  const rows = liveBots(db, actor.org_id).select(BOT_COLUMNS).$castTo<StoredBot>()
  const { data, next_cursor } = await newestFirst(rows, query)
  return { data: data.map(row => botReply(secrets, row)), next_cursor }
}

/** One bot. Refuses `object_not_found`. */
export async function readBot(
  { db, actor, secrets }: Context<typeof api.readBot>,
  { params }: Call<typeof api.readBot>,
) {
  return botReply(secrets, await liveBot(db, actor.org_id, idOf(params.id)))
}

type NewBot = { org_id: number; id: string; username: string; token: string; created_at: string }

/** Inserts a bot and the hash of its webhook secret. `username` is without @. Makes no call to Telegram. */
export async function insertBot(
  trx: Transaction<Tables>,
  secrets: Pick<Secrets, 'seal' | 'mac'>,
  {
    org_id,
    id,
    username,
    token,
    created_at,
    ...rest
  }: NewBot & Partial<Pick<Tables['bots'], 'telegram_id' | 'name'>> & { mode?: api.Mode },
): Promise<void> {
  await trx
    .insertInto('bots')
    .values({
      org_id,
      id,
      username,
      username_key: botName(username),
      token: secrets.seal(token),
      created_at,
      updated_at: CHANGED_NOW,
      ...rest,
    })
    .execute()
  await trx
    .insertInto('bot_hooks')
    .values({ bot_id: id, org_id, secret_hash: secretHash(hookSecret(secrets, id)) })
    .execute()
}

/**
 * Deletes a bot softly: its starts stay, its updates are refused, and its former webhook is restored. While Telegram is away that is retried, and
 * a relay keeps forwarding until it succeeds. Refuses `object_not_found`.
 */
export async function deleteBot(context: Context<typeof api.deleteBot>, { params }: Call<typeof api.deleteBot>) {
  const { db, actor } = context
  const { org_id } = actor
  const id = idOf(params.id)
  const { mode } = await liveBot(db, org_id, id)
  const isDeleted = await context.recorded(
    () => [{ kind: 'bot', id }],
    async trx => {
      if (mode !== 'relay')
        await trx.deleteFrom('bot_hooks').where('org_id', '=', org_id).where('bot_id', '=', id).execute()
      if (mode === 'copy') await releaseNumber(trx, { org_id, id })
      const { numUpdatedRows } = await trx
        .updateTable('bots')
        .set({
          deleted_at: await readMoment(trx, org_id),
          give_back: mode === 'copy' ? null : 'owed',
          hook_check_at: null,
          notice: null,
          updated_at: CHANGED_NOW,
        })
        .where('org_id', '=', org_id)
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
  )
  if (!isDeleted) refuse('object_not_found')
  await announceChange(db, org_id, id)
  await announceBots(db)
  const deleted = await anyBot(db, { org_id, id })
  if (deleted?.give_back === 'owed') await restoreOwedHook(context, deleted)
  return { ok: true as const, id, campaigns_on_fallback: await campaignsOnFallback(context, 'bot', id) }
}
