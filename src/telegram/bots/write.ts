/** How a hook that is taken is written down: on the row, and for every process that is told of updates. */
import { MINUTE_MS } from '../../contract/days.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import type { Kysely, Updateable } from 'kysely'
import { momentIn } from './claims.ts'
import { takeHook } from './hooks.ts'
import { announceBots } from './live.ts'
import { COLUMNS, formerHook, NOW, type Row } from './rows.ts'
import { AWAY_MS, type Failure, isAway } from './telegram.ts'

/** Between two looks at a bot at most, with the pause until somebody looks at what is due. */
const LOOK_EVERY_MS = 5 * MINUTE_MS

/** When a bot is looked at next. */
export const nextLook = (db: Kysely<Tables>): Promise<string> =>
  momentIn(db, LOOK_EVERY_MS * (0.85 + Math.random() / 10))

/** When a Telegram that did not answer is asked again, not before it wants to be. */
export const nextTry = (db: Kysely<Tables>, { retry_after = 0 }: Pick<Failure, 'retry_after'>): Promise<string> =>
  momentIn(db, Math.max(AWAY_MS, retry_after * 1000))

type Writing = Pick<Ground, 'db' | 'config' | 'secrets'>
type Changes = Updateable<Tables['bots']>

/** Writes these columns of a live bot and tells every process. Refuses `object_not_found`. */
export async function written(
  { db }: Pick<Ground, 'db'>,
  { org_id, id }: Pick<Row, 'org_id' | 'id'>,
  changes: Changes,
): Promise<Row> {
  const row = await db
    .updateTable('bots')
    .set({ ...changes, updated_at: NOW })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning(COLUMNS)
    .$castTo<Row>()
    .executeTakeFirst()
  await announceBots(db)
  return row ?? refuse('object_not_found')
}

/** Sets the hook and writes how that went, with what else changes; `instead`: what changes otherwise where it could not be set. */
export async function take(
  ground: Writing,
  row: Row,
  changes: Changes = {},
  instead: (fault: Failure) => Changes = () => ({}),
): Promise<Row> {
  const { secrets } = ground
  const { id, mode, relay_types } = row
  const fault = await takeHook(ground, secrets.open(row.token), {
    id,
    mode,
    relay_types,
    former: formerHook(secrets, row),
  })
  if (fault === undefined)
    return await written(ground, row, {
      hook_state: 'set',
      hook_set_at: new Date().toISOString(),
      hook_error: null,
      hook_host: null,
      hook_check_at: await nextLook(ground.db),
      notice: null,
      mailed_at: null,
      token_state: 'ok',
      ...changes,
    })
  return await written(ground, row, {
    // While Telegram is away nothing is known of the hook: what it was, it may still be.
    hook_state: isAway(fault) && row.hook_state === 'set' ? 'set' : 'not_set',
    hook_error: fault.description,
    ...changes,
    ...(fault.kind === 'token' ? { token_state: 'revoked' as const } : {}),
    ...(isAway(fault) ? { hook_check_at: await nextTry(ground.db, fault) } : {}),
    ...instead(fault),
  })
}
