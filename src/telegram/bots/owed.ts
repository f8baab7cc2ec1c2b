/**
 * Restores former webhooks: of bots that were deleted or changed to copy, and of bots whose organization was deleted. If that organization is restored,
 * its bots' webhooks are set again. Retried until Telegram answers.
 */
import { CHANGED_NOW } from '../../ground/db/clock.ts'
import { MINUTE_MS } from '../../contract/days.ts'
import { toWireId } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { claimCheck, type CheckGround } from './claims.ts'
import { restoreHook, isOurHook, readHook } from './hooks.ts'
import { announceBots } from './live.ts'
import { anyBot, type BotId, formerHook, openSealed, type StoredBot } from './rows.ts'
import { releaseNumber } from './tokens.ts'
import { takeHook, updateBotRow } from './write.ts'

const OF_DELETED = (among: Among) => `
  select b.org_id, b.id
  from bots b
  join organizations o on o.org_id = b.org_id
  where o.deleted_at is not null and b.deleted_at is null and b.give_back is null and b.mode <> 'copy'
    and b.hook_set_at is not null${among('b.org_id')}`

const OWED = (among: Among) => `
  select b.org_id, b.id
  from bots b
  join organizations o on o.org_id = b.org_id
  where b.give_back = 'owed' and (b.hook_check_at is null or b.hook_check_at <= now())
    and (b.deleted_at is not null or b.mode = 'copy' or o.deleted_at is not null)${among('b.org_id')}
  limit 20`

const AGAIN = (among: Among) => `
  select b.org_id, b.id
  from bots b
  join organizations o on o.org_id = b.org_id
  where b.give_back is not null and b.deleted_at is null and b.mode <> 'copy' and o.deleted_at is null
    and (b.hook_check_at is null or b.hook_check_at <= now())${among('b.org_id')}
  limit 20`

/** Restores the webhooks that are due, and sets those of restored organizations again. */
export async function restoreOwedHooks(ground: CheckGround): Promise<void> {
  const { rows: fresh } = await askEverywhere<BotId>(ground.database.worker, OF_DELETED)
  for (const bot of fresh) await markOwed(ground.db, bot)
  const { rows: owed } = await askEverywhere<BotId>(ground.database.worker, OWED)
  for (const bot of owed) await withClaim(ground, bot, row => restoreOwedHook(ground, row))
  const { rows: again } = await askEverywhere<BotId>(ground.database.worker, AGAIN)
  for (const bot of again) await withClaim(ground, bot, row => setHookAgain(ground, row))
}

async function markOwed(db: Ground['db'], { org_id, id }: BotId): Promise<void> {
  await db
    .updateTable('bots')
    .set({ give_back: 'owed', hook_check_at: null })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('give_back', 'is', null)
    .where('deleted_at', 'is', null)
    .execute()
}

async function withClaim(ground: CheckGround, bot: BotId, work: (row: StoredBot) => Promise<void>): Promise<void> {
  if (!(await claimCheck(ground.db, bot, MINUTE_MS))) return
  const row = await anyBot(ground.db, bot)
  if (row !== undefined) await work(row)
}

/** Restores the former webhook of one bot and records that; if Telegram does not answer, it is due again in a minute. */
export async function restoreOwedHook(
  ground: Pick<Ground, 'db' | 'config' | 'secrets' | 'log'>,
  row: StoredBot,
): Promise<void> {
  const { db, secrets, log } = ground
  const { org_id, id, token } = row
  const former = formerHook(secrets, row)
  const secret = openSealed(secrets, row.relay_secret)
  if (!(await restoreHook(ground, secrets.open(token), { id, former, secret }))) {
    log.warn({ bot: toWireId(id) }, 'could not restore the former webhook of a bot; retrying every minute')
    return
  }
  await db.transaction().execute(async trx => {
    const isDeleted = row.deleted_at !== null
    // If only the organization is deleted, `done` remembers that the webhook must be set again when the organization is restored.
    const next = isDeleted || row.mode === 'copy' ? null : 'done'
    const { numUpdatedRows } = await trx
      .updateTable('bots')
      .set({
        give_back: next,
        hook_set_at: null,
        hook_check_at: null,
        updated_at: CHANGED_NOW,
        ...(next === null ? { former_hook: null } : {}),
      })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .where('give_back', '=', 'owed')
      .where('deleted_at', isDeleted ? 'is not' : 'is', null)
      .executeTakeFirst()
    // A bot that was added again in the meantime keeps its number and secret.
    if (numUpdatedRows === 0n || !isDeleted) return
    await trx.deleteFrom('bot_hooks').where('org_id', '=', org_id).where('bot_id', '=', id).execute()
    await releaseNumber(trx, { org_id, id })
  })
  await announceBots(db)
}

/** Sets the webhook of a restored organization's bot again, unless another program has it by now. */
async function setHookAgain(ground: CheckGround, row: StoredBot): Promise<void> {
  const { secrets } = ground
  const token = secrets.open(row.token)
  const seen = await readHook(ground, token)
  if ('ok' in seen) {
    if (seen.kind === 'token') await updateBotRow(ground, row, { give_back: null, token_state: 'revoked' })
    return
  }
  const former = formerHook(secrets, row)
  const isFree = seen.url === '' || seen.url === former?.url || isOurHook(seen.url, row.id)
  if (!isFree) {
    const hook_host = URL.parse(seen.url)?.host ?? null
    // With `hook_set_at` it counts as ours before, so that it can be taken back like any stolen webhook.
    await updateBotRow(ground, row, { give_back: null, hook_state: 'stolen', hook_host, hook_set_at: row.created_at })
  } else if ((await takeHook(ground, row)).hook_state === 'set') await updateBotRow(ground, row, { give_back: null })
}
