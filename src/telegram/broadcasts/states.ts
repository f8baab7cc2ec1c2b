/** Starts, pauses, resumes and stops broadcasts. Asking for the current state is a no-op. */
import { CompiledQuery } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import { inTransaction } from '../../ground/db/transaction.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { liveBots } from '../bots/rows.ts'
import type * as api from './api.ts'
import { audienceSize } from '../subscribers/audience.ts'
import { refuseState, requireMessage } from './broadcasts.ts'
import { endIfDone, type BroadcastKey } from './counts.ts'
import { BOT_UNCONFIRMED } from './sending-state.ts'
import { type StoredBroadcast, storedBroadcast, broadcastReply } from './rows.ts'
import { requeueUnknown, skipQueued } from './sends.ts'
import { TERMS } from './terms.ts'
import { announceBroadcasts } from './worker.ts'

/** Waiting broadcasts of a bot, besides the running one. */
const MOST_WAITING = 20
/** The accepted difference between the expected and the counted audience. */
const TOLERANCE = 0.05

const START = `
  update broadcasts
  set state = case when starts_at > $5 then 'scheduled' else 'preparing' end,
    started_at = case when starts_at > $5 then null else $5::timestamptz end, started_by = $4, updated_at = $5
  where org_id = $1 and id = $2 and state = 'draft' and updated_at = $6 and (
    select case when starts_at > $5 or open.under_way > 0 then open.total - least(open.under_way, 1) < ${MOST_WAITING} else true end
    from (
      select count(*) as total, count(*) filter (where b.state in ('preparing', 'sending')) as under_way
      from broadcasts b
      where b.org_id = $1 and b.bot_id = $3 and b.ended_at is null and b.state <> 'draft') open)`

type BroadcastContext = Pick<Context<typeof api.startBroadcast>, 'db' | 'database' | 'actor'>

async function announced(context: BroadcastContext, id: string) {
  const { org_id } = context.actor
  const row = await storedBroadcast(context.db, org_id, id)
  await announceBroadcasts(context, { org_id, bot_id: row.bot_id })
  return broadcastReply(row)
}

/** Refuses `object_not_found` for a deleted bot, `bot_token_revoked`, and `telegram_away` for a bot that Telegram has not confirmed. */
async function requireBot({ db, actor }: BroadcastContext, bot_id: string): Promise<void> {
  const bot = await liveBots(db, actor.org_id)
    .select(['token_state', 'telegram_id'])
    .where('id', '=', bot_id)
    .executeTakeFirst()
  if (bot === undefined) refuse('object_not_found', { error: 'the bot was deleted' })
  if (bot.token_state === 'revoked') refuse('bot_token_revoked')
  if (bot.telegram_id === null)
    refuse('telegram_away', {
      error: `${BOT_UNCONFIRMED}: it could not be reached when the bot was added`,
      hint: 'Run a check of the bot (POST /api/bots/:id/check), then try again.',
    })
}

/**
 * Starts or schedules a broadcast. Refuses `object_not_found`, `broadcast_state` (paused, ended, or changed in the meantime), `broadcast_limit`, `broadcast_audience_changed`,
 * `broadcast_message_invalid`, `broadcast_payment_unconfirmed`, `bot_token_revoked`, `telegram_away`.
 */
export async function startBroadcast(
  context: Context<typeof api.startBroadcast>,
  { params, body }: Call<typeof api.startBroadcast>,
) {
  const { db, actor } = context
  const id = idOf(params.id)
  const row = await storedBroadcast(db, actor.org_id, id)
  if (row.state !== 'draft') return isUnderWay(row) ? broadcastReply(row) : refuseState(row)
  await requireBot(context, row.bot_id)
  await requireMessage(db, actor.org_id, row.message)
  if (row.paid && body.confirmation !== 'PAID') refuse('broadcast_payment_unconfirmed')
  await requireAudience(context, row, body.expected_recipients)
  const now = await databaseTimeIn(db, 0)
  const parameters = [actor.org_id, id, row.bot_id, actor.user_id, now, row.updated_at]
  const { numAffectedRows } = await db.executeQuery(CompiledQuery.raw(START, parameters))
  if (numAffectedRows === 0n) {
    const { state, updated_at } = await storedBroadcast(db, actor.org_id, id)
    if (state === 'draft' && updated_at !== row.updated_at)
      refuse('broadcast_state', {
        error: 'the broadcast was changed in the meantime',
        hint: 'Read it again, then start it.',
      })
    if (state === 'draft') refuse('broadcast_limit')
  }
  return await announced(context, id)
}

const isUnderWay = ({ state }: StoredBroadcast): boolean => ['scheduled', 'preparing', 'sending'].includes(state)

async function requireAudience(
  { db, database, actor }: BroadcastContext,
  { bot_id, audience }: StoredBroadcast,
  expected: number,
) {
  const count = await audienceSize({ db, worker: database.worker }, { org_id: actor.org_id, bot_id }, audience)
  if (Math.abs(count - expected) > expected * TOLERANCE)
    refuse('broadcast_audience_changed', { error: `the audience has ${count} people now, not ${expected}` })
}

/** Changes the state if the current state is one of `from`. */
async function changeState(
  { db, actor }: BroadcastContext,
  id: string,
  from: readonly api.BroadcastState[],
  to: Partial<StoredBroadcast>,
) {
  await db
    .updateTable('broadcasts')
    .set({ ...to, updated_at: new Date().toISOString() } as object)
    .where('org_id', '=', actor.org_id)
    .where('id', '=', id)
    .where('state', 'in', from)
    .execute()
}

/** Refuses `object_not_found`, and `broadcast_state` for a broadcast that is not running. */
export async function pauseBroadcast(
  context: Context<typeof api.pauseBroadcast>,
  { params }: Call<typeof api.pauseBroadcast>,
) {
  const id = idOf(params.id)
  await changeState(context, id, ['preparing', 'sending'], { state: 'paused', pause_reason: null })
  const row = await storedBroadcast(context.db, context.actor.org_id, id)
  if (row.state !== 'paused') refuseState(row)
  return await announced(context, id)
}

/** Refuses `object_not_found`, `broadcast_state` for one that is not paused, `bot_token_revoked`, `telegram_away`. */
export async function resumeBroadcast(
  context: Context<typeof api.resumeBroadcast>,
  { params }: Call<typeof api.resumeBroadcast>,
) {
  const id = idOf(params.id)
  const row = await storedBroadcast(context.db, context.actor.org_id, id)
  if (row.state === 'paused') {
    await requireBot(context, row.bot_id)
    await changeState(context, id, ['paused'], { state: row.is_prepared ? 'sending' : 'preparing', pause_reason: null })
  } else if (row.state !== 'preparing' && row.state !== 'sending') refuseState(row)
  return await announced(context, id)
}

/** Refuses `object_not_found`. */
export async function stopBroadcast(
  context: Context<typeof api.stopBroadcast>,
  { params }: Call<typeof api.stopBroadcast>,
) {
  const { actor, database } = context
  const id = idOf(params.id)
  const stopped = { state: 'stopped', pause_reason: null } as const
  // Sending holds the broadcast's row, so the rest of the stop waits for it outside of this transaction.
  await context.recorded(
    () => [{ kind: 'broadcast', id }],
    db => changeState({ ...context, db }, id, ['scheduled', 'preparing', 'sending', 'paused'], stopped),
  )
  const { state, ended_at } = await storedBroadcast(context.db, actor.org_id, id)
  if (state === 'stopped' && ended_at === null) {
    const key: BroadcastKey = { org_id: actor.org_id, id }
    // One portion is skipped at once; the sending process skips the rest.
    await skipQueued(database.worker, key, TERMS.portion)
    await endIfDone(database.worker, key)
  }
  return await announced(context, id)
}

const GO_ON = `
  update broadcasts
  set state = case when state = 'done' then 'sending' else state end, ended_at = null, updated_at = $3
  where org_id = $1 and id = $2 and state in ('sending', 'paused', 'done') and is_prepared and unknown > 0`

/** Refuses `object_not_found`, `broadcast_state` for a broadcast that has not started or was stopped, `bot_token_revoked`, `telegram_away`. */
export async function resendUnknown(
  context: Context<typeof api.resendUnknown>,
  { params }: Call<typeof api.resendUnknown>,
) {
  const { db, database, actor } = context
  const id = idOf(params.id)
  const row = await storedBroadcast(db, actor.org_id, id)
  if (!['sending', 'paused', 'done'].includes(row.state)) refuseState(row)
  await requireBot(context, row.bot_id)
  await inTransaction(database.worker, async client => {
    const { rowCount } = await client.query(GO_ON, [actor.org_id, id, new Date().toISOString()])
    if (rowCount === 1) await requeueUnknown(client, { org_id: actor.org_id, id })
  })
  return await announced(context, id)
}
