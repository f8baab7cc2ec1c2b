/** Writes bots' rows, and announces the changes to every process. */
import { MINUTE_MS } from '../../contract/days.ts'
import { refuse } from '../../contract/refusals.ts'
import { CHANGED_NOW, databaseTimeIn } from '../../ground/db/clock.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import type { Kysely, Updateable } from 'kysely'
import { setHook } from './hooks.ts'
import { announceBots } from './live.ts'
import { BOT_COLUMNS, formerHook, type StoredBot } from './rows.ts'
import { AWAY_MS, type Failure, isAway } from './telegram.ts'

/** The longest time between two checks of a bot, including the poll for due checks. */
const CHECK_EVERY_MS = 5 * MINUTE_MS

/** The time of a bot's next regular check. */
export const nextCheckTime = (db: Kysely<Tables>): Promise<string> =>
  databaseTimeIn(db, CHECK_EVERY_MS * (0.85 + Math.random() / 10))

/** The time of the next check after a failure, not before Telegram's rate limit ends. */
export const nextRetryTime = (db: Kysely<Tables>, { retry_after = 0 }: Pick<Failure, 'retry_after'>): Promise<string> =>
  databaseTimeIn(db, Math.max(AWAY_MS, retry_after * 1000))

type Writing = Pick<Ground, 'db' | 'config' | 'secrets'>
type BotColumns = Updateable<Tables['bots']>

/** Updates columns of a live bot. Refuses `object_not_found`. */
export async function updateBotRow(
  { db }: Pick<Ground, 'db'>,
  { org_id, id }: Pick<StoredBot, 'org_id' | 'id'>,
  changes: BotColumns,
): Promise<StoredBot> {
  const row = await db
    .updateTable('bots')
    .set({ ...changes, updated_at: CHANGED_NOW })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning(BOT_COLUMNS)
    .$castTo<StoredBot>()
    .executeTakeFirst()
  await announceBots(db)
  return row ?? refuse('object_not_found')
}

/** Sets the webhook and stores the result together with `changes`; `instead` overrides columns if setting failed. */
export async function takeHook(
  ground: Writing,
  row: StoredBot,
  changes: BotColumns = {},
  instead: (fault: Failure) => BotColumns = () => ({}),
): Promise<StoredBot> {
  const { secrets } = ground
  const { id, mode, relay_types } = row
  const fault = await setHook(ground, secrets.open(row.token), {
    id,
    mode,
    relay_types,
    former: formerHook(secrets, row),
  })
  if (fault === undefined)
    return await updateBotRow(ground, row, {
      hook_state: 'set',
      hook_set_at: new Date().toISOString(),
      hook_error: null,
      hook_host: null,
      hook_check_at: await nextCheckTime(ground.db),
      notice: null,
      mailed_at: null,
      token_state: 'ok',
      ...changes,
    })
  return await updateBotRow(ground, row, {
    // While Telegram is away, a webhook that was set may still be set.
    hook_state: isAway(fault) && row.hook_state === 'set' ? 'set' : 'not_set',
    hook_error: fault.description,
    ...changes,
    ...(fault.kind === 'token' ? { token_state: 'revoked' as const } : {}),
    ...(isAway(fault) ? { hook_check_at: await nextRetryTime(ground.db, fault) } : {}),
    ...instead(fault),
  })
}
