/**
 * Hooks that are to be given back: of bots that were deleted or leave relay, and of those whose organization is deleted, which get theirs again when it
 * is restored. Tried until Telegram answers.
 */
import { MINUTE_MS } from '../../contract/days.ts'
import { toWireId } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { claimCheck, type Looking } from './claims.ts'
import { giveHookBack, isOurs, seeHook } from './hooks.ts'
import { announceBots } from './live.ts'
import { anyBot, type BotId, formerHook, NOW, opened, type Row } from './rows.ts'
import { freeNumber } from './tokens.ts'
import { take, written } from './write.ts'

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

/** Gives back what is due, and takes again what belongs to an organization that was restored. */
export async function payDebts(ground: Looking): Promise<void> {
  const { rows: fresh } = await askEverywhere<BotId>(ground.database.worker, OF_DELETED)
  for (const bot of fresh) await owe(ground.db, bot)
  const { rows: owed } = await askEverywhere<BotId>(ground.database.worker, OWED)
  for (const bot of owed) await claimed(ground, bot, row => payDebt(ground, row))
  const { rows: again } = await askEverywhere<BotId>(ground.database.worker, AGAIN)
  for (const bot of again) await claimed(ground, bot, row => takeAgain(ground, row))
}

async function owe(db: Ground['db'], { org_id, id }: BotId): Promise<void> {
  await db
    .updateTable('bots')
    .set({ give_back: 'owed', hook_check_at: null })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('give_back', 'is', null)
    .where('deleted_at', 'is', null)
    .execute()
}

async function claimed(ground: Looking, bot: BotId, work: (row: Row) => Promise<void>): Promise<void> {
  if (!(await claimCheck(ground.db, bot, MINUTE_MS))) return
  const row = await anyBot(ground.db, bot)
  if (row !== undefined) await work(row)
}

/** Gives the hook of one bot back, and notes that it was; where Telegram does not answer it is due again in a minute. */
export async function payDebt(ground: Pick<Ground, 'db' | 'config' | 'secrets' | 'log'>, row: Row): Promise<void> {
  const { db, secrets, log } = ground
  const { org_id, id, token } = row
  const former = formerHook(secrets, row)
  const secret = opened(secrets, row.relay_secret)
  if (!(await giveHookBack(ground, secrets.open(token), { id, former, secret }))) {
    log.warn({ bot: toWireId(id) }, 'the hook of a bot could not be given back; it is tried again every minute')
    return
  }
  await db.transaction().execute(async trx => {
    const isDeleted = row.deleted_at !== null
    // Owed for the organization alone, it is done, and remembered for its return: then it is asked for again at once.
    const next = isDeleted || row.mode === 'copy' ? null : 'done'
    const { numUpdatedRows } = await trx
      .updateTable('bots')
      .set({
        give_back: next,
        hook_set_at: null,
        hook_check_at: null,
        updated_at: NOW,
        ...(next === null ? { former_hook: null } : {}),
      })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .where('give_back', '=', 'owed')
      .where('deleted_at', isDeleted ? 'is not' : 'is', null)
      .executeTakeFirst()
    // Added again meanwhile, it keeps what it has.
    if (numUpdatedRows === 0n || !isDeleted) return
    await trx.deleteFrom('bot_hooks').where('org_id', '=', org_id).where('bot_id', '=', id).execute()
    await freeNumber(trx, { org_id, id })
  })
  await announceBots(db)
}

/** The organization is back: its bot's hook is asked for anew, unless somebody else has it by now. */
async function takeAgain(ground: Looking, row: Row): Promise<void> {
  const { secrets } = ground
  const token = secrets.open(row.token)
  const seen = await seeHook(ground, token)
  if ('ok' in seen) {
    if (seen.kind === 'token') await written(ground, row, { give_back: null, token_state: 'revoked' })
    return
  }
  const former = formerHook(secrets, row)
  const isFree = seen.url === '' || seen.url === former?.url || isOurs(seen.url, row.id)
  if (!isFree) {
    const hook_host = URL.parse(seen.url)?.host ?? null
    // It was ours, and is to be taken back like any other that was taken.
    await written(ground, row, { give_back: null, hook_state: 'stolen', hook_host, hook_set_at: row.created_at })
  } else if ((await take(ground, row)).hook_state === 'set') await written(ground, row, { give_back: null })
}
