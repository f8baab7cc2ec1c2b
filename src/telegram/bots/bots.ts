/**
 * Bots: where a click may lead, and whose starts Sluice records itself. Owns `bots` and `bot_hooks`. A bot's token is kept encrypted
 * and never leaves; of live bots an organization has one of a name, because conversions name bots by it. A bot is its number at Telegram:
 * deleted and added again it is the same one, so that nobody is counted twice. Deletion is soft, and gives the hook back.
 */
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
import { secretOf } from './hooks.ts'
import { announceBots, hashOf } from './live.ts'
import { payDebt } from './owed.ts'
import { anyBot, COLUMNS, liveBot, liveBots, NOW, type Row, shown } from './rows.ts'
import { freeNumber } from './tokens.ts'

/** Bots of the organization, newest first. */
export async function listBots(
  { db, actor, secrets }: Context<typeof api.listBots>,
  { query }: Call<typeof api.listBots>,
) {
  const rows = liveBots(db, actor.org_id).select(COLUMNS).$castTo<Row>()
  const { data, next_cursor } = await newestFirst(rows, query)
  return { data: data.map(row => shown(secrets, row)), next_cursor }
}

/** One bot. Refuses `object_not_found`. */
export async function readBot(
  { db, actor, secrets }: Context<typeof api.readBot>,
  { params }: Call<typeof api.readBot>,
) {
  return shown(secrets, await liveBot(db, actor.org_id, idOf(params.id)))
}

type NewBot = { org_id: number; id: string; username: string; token: string; created_at: string }

/** Writes a bot, and what its hook is recognized by. `username` is without @; Telegram is told nothing. */
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
      updated_at: NOW,
      ...rest,
    })
    .execute()
  await trx
    .insertInto('bot_hooks')
    .values({ bot_id: id, org_id, secret_hash: hashOf(secretOf(secrets, id)) })
    .execute()
}

/**
 * Deletes softly: its starts stay, its updates are refused, and the hook is given back to who had it before; where Telegram does not answer that is
 * tried until it does, and what was passed on is passed on meanwhile.
 */
export async function deleteBot(context: Context<typeof api.deleteBot>, { params }: Call<typeof api.deleteBot>) {
  const { db, actor } = context
  const { org_id } = actor
  const id = idOf(params.id)
  const { mode } = await liveBot(db, org_id, id)
  const isGone = await db.transaction().execute(async trx => {
    if (mode !== 'relay')
      await trx.deleteFrom('bot_hooks').where('org_id', '=', org_id).where('bot_id', '=', id).execute()
    if (mode === 'copy') await freeNumber(trx, { org_id, id })
    const { numUpdatedRows } = await trx
      .updateTable('bots')
      .set({
        deleted_at: await readMoment(trx, org_id),
        give_back: mode === 'copy' ? null : 'owed',
        hook_check_at: null,
        notice: null,
        updated_at: NOW,
      })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    return numUpdatedRows > 0n
  })
  if (!isGone) refuse('object_not_found')
  await announceChange(db, org_id, id)
  await announceBots(db)
  const owing = await anyBot(db, { org_id, id })
  if (owing?.give_back === 'owed') await payDebt(context, owing)
  return { ok: true as const, id, campaigns_on_fallback: await campaignsOnFallback(context, 'bot', id) }
}
