/** How a hook that is taken is written down: on the row, and for every process that is told of updates. */
import { MINUTE_MS } from '../../contract/days.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import type { Updateable } from 'kysely'
import { momentIn } from './claims.ts'
import { takeHook } from './hooks.ts'
import { announceBots } from './live.ts'
import { COLUMNS, formerHook, NOW, type Row } from './rows.ts'
import { isAway } from './telegram.ts'

/** Between two looks at a bot. */
export const LOOK_EVERY_MS = 5 * MINUTE_MS

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

/** Sets the hook and writes how that went, with what else changes. */
export async function take(ground: Writing, row: Row, changes: Changes = {}): Promise<Row> {
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
      hook_check_at: await momentIn(ground.db, LOOK_EVERY_MS),
      notice: null,
      mailed_at: null,
      token_state: 'ok',
      ...changes,
    })
  const isRevoked = fault.kind === 'token'
  // While Telegram is away nothing is known of the hook: what it was, it may still be.
  const state = isAway(fault) && row.hook_state === 'set' ? 'set' : 'not_set'
  return await written(ground, row, {
    hook_state: state,
    hook_error: fault.description,
    ...(isRevoked ? { token_state: 'revoked' as const } : {}),
    ...changes,
  })
}
